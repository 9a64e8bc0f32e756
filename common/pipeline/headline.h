/* SPDX-License-Identifier: MIT */
/*
 * What the core makes of a GPU's parts: the fields of measurement gpu that no source reads of the
 * whole GPU, by the table in tables/headlines.def. Made after delta, from the readings of the same
 * sample.
 *
 * Which source and part a headline is made from changes only when the one before has been silent
 * for long, as for every series (pipeline/series.h); a part whose name is less preferred never
 * follows on a better one of the same source. A counter never goes on with another part of the same
 * source, better or not: what would be stored is a jump. Both hold until the device has come again.
 * A value that needs several parts is missing when one of them is.
 *
 * Busy: the busiest engine class where the source has render or compute engines, or all of a GPU,
 * which also stands in for classes that a better source lacks; else the share of time in which the
 * GT that slept least was awake, unless engines are counted. Idle time waits for one sample more,
 * in which a measurement that takes a while can show up: a series does not begin with a value that
 * is replaced immediately. A GPU is throttled while any reason holds on any of its GTs; it is not
 * while all of them are known and none does, or the driver's summary of each GT says so: then
 * another source's reasons may be late.
 */
#ifndef GTEL_PIPELINE_HEADLINE_H
#define GTEL_PIPELINE_HEADLINE_H

#include "pipeline/series.h"

/* The origin of a value that is made from idle residency; its source is GTEL_SOURCE_CORE. */
enum { GTEL_HEADLINE_IDLE = 1 };

enum gtel_headline_rule {
#define GTEL_HEADLINE(headline, part, ...) GTEL_HEADLINE_##part,
#include "tables/headlines.def"
#undef GTEL_HEADLINE
    GTEL_HEADLINE_RULES
};

/*
 * A derived rate ranks behind every direct reading of the same key, a headline behind that, and
 * idle time behind all engines. A source's rank is far below the step, and one more than names.
 */
enum { GTEL_RANK_STEP = 1000, GTEL_RANK_HEADLINE = 2 * GTEL_RANK_STEP, GTEL_HEADLINE_NAMES = 6 };

/* What one sample has of the parts of one rule. */
struct gtel_headline_choice {
    const struct gtel_series *series; /* the part that stands for the GPU; NULL: none */
    uint32_t rank;                    /* of its source and name: lower is preferred */
    uint32_t n;                       /* parts of that rank */
    uint32_t missing;                 /* of these, without a value this time */
};

/* What a sample says of how busy a GPU is, besides rates: the last that holds. */
enum gtel_headline_work {
    GTEL_HEADLINE_UNKNOWN,
    GTEL_HEADLINE_SLEPT,     /* a GT has ever slept */
    GTEL_HEADLINE_SLEEPLESS, /* a GT never has: its idle time may not be counted */
    GTEL_HEADLINE_COUNTED    /* engines are counted, also where no rate is known yet */
};

/* Of one device. Zeroed: nothing. */
struct gtel_headline {
    struct gtel_headline_choice choice[GTEL_HEADLINE_RULES];
    struct gtel_headline_choice all;    /* busy engines of sources that have all of a GPU */
    uint32_t best[GTEL_HEADLINE_RULES]; /* rank that stood for the GPU before + 1; 0: none. Kept */
    uint32_t arrivals;                  /* of the device in the last sample: kept */
    uint32_t idle_samples;              /* that had such idle time: kept */
    bool has_main;                      /* its engines stand for the whole GPU */
    uint32_t idle_parts;                /* graphics parts with idle time in this sample */
    enum gtel_headline_work work;
};

/* By device index. Zeroed: none. */
struct gtel_headlines {
    struct gtel_headline *device;
    size_t n;
};

/*
 * Whether a rule makes that metric. A source that reads it of the whole GPU, or knows better which
 * of its parts are there, ranks before what is made of the parts of that source: while it fails to
 * read it, no part stands for the whole.
 */
bool gtel_headline_is_made(enum gtel_metric metric);

void gtel_headlines_done(struct gtel_headlines *headlines);
/* A new sample of so many devices begins. 0 or -ENOMEM: then new devices have none. */
int gtel_headlines_begin(struct gtel_headlines *headlines, size_t devices);
/*
 * One series, in the order of output. is_missing: this sample has not touched it, though its owner
 * has not been silent for long.
 */
void gtel_headlines_add(struct gtel_headlines *headlines, const struct gtel_series *series,
                        bool has_all_engines, bool is_missing);
/*
 * What a rule makes of the parts of a device, as a reading, and the rank to offer it with. False:
 * nothing.
 */
bool gtel_headlines_get(const struct gtel_headlines *headlines, size_t device,
                        enum gtel_headline_rule rule, struct gtel_reading *ret, uint32_t *ret_rank);

#endif
