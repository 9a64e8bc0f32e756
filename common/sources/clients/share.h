/* SPDX-License-Identifier: MIT */
/*
 * The share of an engine class that one client used, from two samples of its counter. Pure: no
 * allocation, no input or output, no clock.
 *
 * Differences are taken per client and per engine, never of sums: a client that closes takes its
 * time with it. Counters may go back for a while and must catch up (kernel:
 * Documentation/gpu/drm-usage-stats.rst): meanwhile nothing is added, and the highest value stays
 * the base, so that the sum of all shares is right; the single ones are not, and the caller omits
 * them. A counter that stays below for several samples belongs to another client by now.
 */
#ifndef GTEL_SOURCES_CLIENTS_SHARE_H
#define GTEL_SOURCES_CLIENTS_SHARE_H

#include <stdbool.h>
#include <stdint.h>

/* What a counter counts. */
enum gtel_share_kind {
    GTEL_SHARE_NONE,  /* no counter; of a struct gtel_share: no base yet */
    GTEL_SHARE_TIME,  /* busy nanoseconds, against our clock */
    GTEL_SHARE_CYCLES /* busy cycles, against all cycles of the same clock */
};

/* One sample. */
struct gtel_share_counter {
    enum gtel_share_kind kind;
    uint32_t capacity; /* identical engines behind the counter; at least 1 */
    uint64_t count;    /* busy nanoseconds or cycles */
    uint64_t total;    /* CYCLES: all cycles so far */
    /* Work is counted when it ends, or by an unknown number of engines: a step of more than the
     * interval is no mistake, and counts as all of it. */
    bool is_lumpy;
};

/* The base of the next difference. Zeroed: none. */
struct gtel_share {
    uint64_t count;
    uint64_t total;
    uint8_t kind;  /* enum gtel_share_kind */
    uint8_t below; /* samples in a row that were below the base */
};

/*
 * Feeds a sample that was taken dt_ns after the one before it, and yields the share of the class's
 * capacity in between: 0 to 1, where up to 1.05 is noise and cut. Returns 0; 1 with the share 0
 * when the counter stands below its base; -EAGAIN for a first sample, a clock that did not move or
 * began again, or a counter that is treated as a new one; -ERANGE for more than all engines can do.
 */
int gtel_share_feed(struct gtel_share *share, const struct gtel_share_counter *sample,
                    uint64_t dt_ns, double *ret);
/*
 * The same for the first sample of a client that did not exist dt_ns ago: its whole count is of
 * that time. total_before: CYCLES: what the total was then, as other clients of the GPU showed it;
 * 0: not known. A counter of 0 is a share of 0 at any age. Errors as above.
 */
int gtel_share_born(struct gtel_share *share, const struct gtel_share_counter *sample,
                    uint64_t dt_ns, uint64_t total_before, double *ret);

/* The time between two gathers, as far as shares can be taken over it. */
enum gtel_share_span {
    GTEL_SPAN_FIRST, /* nothing before: only bases are taken */
    GTEL_SPAN_WHOLE,
    GTEL_SPAN_SHORT, /* a late catch-up call, almost no time: neither shares nor new bases */
    GTEL_SPAN_GAP    /* the host slept, or nobody asked for long: new bases */
};

/* Zeroed: no gather yet. */
struct gtel_share_clock {
    uint64_t last_ns;
    uint64_t interval_ns; /* of the gathers so far; 0: not known */
    uint64_t suspended_ns;
    enum gtel_share_span last; /* FIRST: no gather yet, else WHOLE or GAP */
};

/*
 * A gather begins at now_ns on our clock; the host has slept for suspended_ns since it booted.
 * *ret_dt_ns is the time since the last gather that was not SHORT.
 */
enum gtel_share_span gtel_share_tick(struct gtel_share_clock *clock, uint64_t now_ns,
                                     uint64_t suspended_ns, uint64_t *ret_dt_ns);

#endif
