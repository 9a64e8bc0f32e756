/* SPDX-License-Identifier: MIT */
/*
 * What a context remembers of each reading's key (device, metric, dimensions) between gathers.
 *
 * One look-up per reading serves three ends: preference between sources (the better-ranked source
 * owns the series; another one takes over only when the owner has been silent for some gathers, so
 * that two sources never mix in one series), delta, and the window. Series that are not seen for a
 * while are forgotten. A steady set of keys allocates nothing, and stays sorted.
 */
#ifndef GTEL_PIPELINE_SERIES_H
#define GTEL_PIPELINE_SERIES_H

#include "base/index.h"
#include "pipeline/delta.h"
#include "pipeline/sink.h"

enum {
    GTEL_SERIES_MAX = 262144, /* more are dropped and counted */
    GTEL_SERIES_AGE = 20 /* gathers without a reading until a series is forgotten, once it is old */
};

/* And the time: beyond two readings of what is read once a minute. */
#define GTEL_SERIES_AGE_NS UINT64_C(150000000000)
/* The same for counters that the core makes: they go on. */
#define GTEL_SERIES_COUNT_AGE_NS UINT64_C(3600000000000)

/*
 * Several samples within one interval are folded by kind: counters and text keep the last, gauges
 * and ratios give mean, minimum and maximum, states the last, minimum and maximum: between "ok" and
 * "critical" is no "warning" that anything was in.
 */
struct gtel_window {
    uint32_t n; /* samples since the last reset */
    double sum;
    double min;
    double max;
};

struct gtel_series {
    struct gtel_reading now; /* the last reading; its dimensions live in this series */
    struct gtel_delta_state delta;
    struct gtel_window window;
    uint64_t hash;
    uint64_t section;     /* the pipeline run that `now` belongs to */
    uint64_t gather;      /* the gather in which it was seen last */
    uint64_t gather_ns;   /* when that was, set by gtel_series_age */
    uint32_t rank;        /* of the owner: lower is preferred */
    uint32_t arrivals;    /* of the device when the counter had its base */
    uint32_t sleeps;      /* the same */
    uint32_t suspends;    /* the same */
    uint64_t sent;        /* bits of the value that was emitted last */
    uint64_t sent_ns;     /* when; 0: never, or as a mean */
    uint64_t seen_ns;     /* when it was there for the sink last, sent or known */
    uint64_t seen_gather; /* the same */
    uint64_t gap;  /* gathers between the last two of them, 0: not known; slow rows skip some */
    bool is_begun; /* a counter of the core: its first value was emitted */
};

struct gtel_series_table {
    struct gtel_index index;
    struct gtel_series **sorted; /* all series, in the order of output when is_sorted */
    size_t n;
    size_t size;
    bool is_sorted;
    uint64_t dropped;
};

void gtel_series_done(struct gtel_series_table *table);

/*
 * Offers a reading of a source of that rank. Returns its series, now holding the reading, or NULL
 * when a better source owns the key, or no room is left (counted). section numbers the pipeline
 * run, gather the gather.
 */
struct gtel_series *gtel_series_offer(struct gtel_series_table *table,
                                      const struct gtel_reading *reading, uint32_t rank,
                                      uint64_t section, uint64_t gather);

/*
 * Adds the reading's value to a counter that the core makes itself, which begins at 0. Returns its
 * series, with the reading in its window, or NULL when no room is left (counted).
 */
struct gtel_series *gtel_series_count(struct gtel_series_table *table,
                                      const struct gtel_reading *reading, uint64_t section,
                                      uint64_t gather);

/* Whether the owner has been silent for so long that a less preferred source may take over. */
bool gtel_series_is_silent(const struct gtel_series *series, uint64_t gather);
/*
 * Remembers what the sink gets now. False: it need not get it, since it is a counter or a state
 * with the value that was sent last, and its next reading will still be at most max_age_ns after
 * that. What was away for longer than it usually is between two readings is sent again, since its
 * absence has ended the value. A state that changed between the samples of an interval is always
 * sent, and once more after it.
 */
bool gtel_series_mark_sent(struct gtel_series *series, uint64_t gather, uint64_t now_ns,
                           uint64_t max_age_ns);
/* Puts all series in the order of output (pipeline/sink.h). 0. */
void gtel_series_sort(struct gtel_series_table *table);
/* At the end of a gather: forgets series not seen since so many gathers and so long as above. */
void gtel_series_age(struct gtel_series_table *table, uint64_t gather, uint64_t now_ns);
/* Takes the base of every counter away: no rate spans what happened now. */
void gtel_series_forget_bases(struct gtel_series_table *table);

/*
 * Several samples are to be emitted, in order: a process did nothing in those in which it was not
 * among all processes of its GPU. Of shares of these sources (a bit each), which have one per
 * sample.
 */
void gtel_series_add_absences(struct gtel_series_table *table, uint32_t sources);

void gtel_window_reset(struct gtel_window *window);
void gtel_window_add(struct gtel_window *window, const struct gtel_reading *sample);
/*
 * Hands the folded readings to the sink: last, or their mean where several samples
 * were taken, then minimum and maximum. Nothing when the window is empty.
 */
void gtel_window_emit(const struct gtel_window *window, const struct gtel_reading *last,
                      const struct gtel_sink *sink);

#endif
