/* SPDX-License-Identifier: MIT */
/*
 * What the core makes of a GPU's parts: gpu.throttled, and gpu.busy_percent where no source reports
 * it.
 *
 * A GPU is throttled while any reason holds on any of its GTs, by its reasons or by a driver's own
 * summary of them; it is not while all of them are known and none does.
 *
 * gpu.busy_percent is made after delta, from the readings of the same sample: the busiest engine
 * class of the best source that has engines; else the share of time in which the graphics part did
 * not sleep, which is an upper bound. A source's own value takes precedence over the first, and
 * that over the second; which one a device has changes only when it has been silent for long, as
 * for every series (pipeline/series.h). Idle time waits for one sample more, in which a measurement
 * that takes a while can show up: a series does not begin with a value that is replaced
 * immediately.
 */
#ifndef GTEL_PIPELINE_HEADLINE_H
#define GTEL_PIPELINE_HEADLINE_H

#include "pipeline/series.h"

/* The origin of a figure that is made from idle residency; its source is GTEL_SOURCE_CORE. */
enum { GTEL_HEADLINE_IDLE = 1 };

/* What one sample has said of a device. */
struct gtel_headline {
    const struct gtel_series *engine; /* the busiest class of the best source; NULL: none */
    uint32_t rank;                    /* of that source */
    bool has_main;                    /* its engines stand for the whole GPU */
    bool is_partial;                  /* it has a class whose figure is missing this time */
    const struct gtel_series *idle;   /* of the graphics part that slept least; NULL: none */
    bool is_counted;                  /* engines are counted, also where no rate is known yet */
    bool has_slept;                   /* a graphics part has ever slept: else the counter is off */
    bool has_waited;                  /* an earlier sample had idle time, too: kept */
    const struct gtel_series *reason; /* to slow down: one that holds, else any; NULL: none */
    bool lacks_reason;                /* one is missing this time */
};

/* By device index. Zeroed: none. */
struct gtel_headlines {
    struct gtel_headline *device;
    size_t n;
};

void gtel_headlines_done(struct gtel_headlines *headlines);
/* A new sample of so many devices begins. 0 or -ENOMEM: then new devices have none. */
int gtel_headlines_begin(struct gtel_headlines *headlines, size_t devices);
/* The source that owns a series. */
struct gtel_headline_source {
    uint32_t rank;
    /* As in sources/source.h: else only render or compute engines stand for a GPU. */
    bool has_all_engines;
};

/* A series that this sample has touched. */
void gtel_headlines_see(struct gtel_headlines *headlines, const struct gtel_series *series,
                        struct gtel_headline_source from);
/*
 * After all of those: a series that the sample has not touched, though its owner has not been
 * silent for long. The busiest of a part of the engines is no figure of the GPU.
 */
void gtel_headlines_miss(struct gtel_headlines *headlines, const struct gtel_series *series,
                         uint32_t source_rank);
/*
 * The figure of a device as a reading. Returns 1 when it is made from engines, 2 from idle time,
 * 0 when there is none.
 */
int gtel_headlines_get(const struct gtel_headlines *headlines, size_t device,
                       struct gtel_reading *ret);
/* Whether a device is throttled, as a reading. False: not known. */
bool gtel_headlines_throttled(const struct gtel_headlines *headlines, size_t device,
                              struct gtel_reading *ret);

#endif
