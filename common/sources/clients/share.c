/* SPDX-License-Identifier: MIT */
/* The share of an engine class that one client used. */
#include "sources/clients/share.h"

#include <errno.h>

/* Samples below the base until a counter is treated as that of another client. */
enum { BELOW_MAX = 3 };
/* Intervals that make a gap, and parts of one that are too short: as for rates (pipeline/delta.h).
 */
enum { GAP_INTERVALS = 10, SHORT_PARTS = 10 };

/* The two clocks behind it are read one after the other: less is no sleep (as in context.c). */
static const uint64_t suspend_min_ns = 100000000;
static const uint64_t gap_min_ns = 5000000000; /* whatever the interval is */
static const double slack = 0.05;

static void rebase(struct gtel_share *share, const struct gtel_share_counter *sample)
{
    share->kind = (uint8_t)sample->kind;
    share->count = sample->count;
    share->total = sample->total;
    share->below = 0;
}

/* What the counter grows by while all engines work: for dt_ns, or for total cycles; above 0. */
static double full_of(const struct gtel_share_counter *sample, uint64_t dt_ns, uint64_t total)
{
    double capacity = sample->capacity > 0 ? sample->capacity : 1;
    if (sample->kind == GTEL_SHARE_CYCLES)
        return capacity * (double)total;
    return capacity * (double)dt_ns;
}

static int cut(const struct gtel_share_counter *sample, double value, double *ret)
{
    if (value > 1 + slack && !sample->is_lumpy)
        return -ERANGE;
    *ret = value > 1 ? 1 : value;
    return 0;
}

/* Keeps the highest value as base, so that what was counted once does not count again. */
static int stay_below(struct gtel_share *share, const struct gtel_share_counter *sample,
                      double *ret)
{
    if (share->below + 1 >= BELOW_MAX) {
        rebase(share, sample);
        return -EAGAIN;
    }
    share->below++;
    share->total = sample->total;
    *ret = 0;
    return 1;
}

int gtel_share_feed(struct gtel_share *share, const struct gtel_share_counter *sample,
                    uint64_t dt_ns, double *ret)
{
    if (share->kind == GTEL_SHARE_NONE || share->kind != (uint8_t)sample->kind) {
        rebase(share, sample);
        return -EAGAIN;
    }
    bool is_cycles = sample->kind == GTEL_SHARE_CYCLES;
    bool has_clock_moved = is_cycles ? sample->total != share->total : dt_ns > 0;
    if (!has_clock_moved)
        return -EAGAIN; /* the same instant twice */
    if (is_cycles && sample->total < share->total) {
        rebase(share, sample); /* the GPU's clock began again: suspend, reset */
        return -EAGAIN;
    }
    if (sample->count < share->count)
        return stay_below(share, sample, ret);
    double grown = (double)(sample->count - share->count);
    double full = full_of(sample, dt_ns, sample->total - share->total);
    rebase(share, sample);
    return cut(sample, grown / full, ret);
}

int gtel_share_born(struct gtel_share *share, const struct gtel_share_counter *sample,
                    uint64_t dt_ns, uint64_t total_before, double *ret)
{
    rebase(share, sample);
    if (sample->kind == GTEL_SHARE_NONE)
        return -EAGAIN;
    if (sample->count == 0) {
        *ret = 0;
        return 0;
    }
    bool is_total_known = total_before > 0 && total_before < sample->total;
    if (sample->kind == GTEL_SHARE_CYCLES ? !is_total_known : dt_ns == 0)
        return -EAGAIN;
    double full = full_of(sample, dt_ns, sample->total - total_before);
    double value = (double)sample->count / full;
    if (value > 1 + slack)
        return -ERANGE; /* it has worked before: the client is older than its process */
    return cut(sample, value, ret);
}

enum gtel_share_span gtel_share_tick(struct gtel_share_clock *clock, uint64_t now_ns,
                                     uint64_t suspended_ns, uint64_t *ret_dt_ns)
{
    uint64_t interval_ns = clock->interval_ns;
    bool has_last = clock->last != GTEL_SPAN_FIRST;
    uint64_t dt_ns = has_last && now_ns > clock->last_ns ? now_ns - clock->last_ns : 0;
    bool has_slept = has_last && suspended_ns > clock->suspended_ns + suspend_min_ns;
    *ret_dt_ns = dt_ns;
    if (has_last && !has_slept && (dt_ns == 0 || dt_ns < interval_ns / SHORT_PARTS))
        return GTEL_SPAN_SHORT;
    clock->last_ns = now_ns;
    clock->suspended_ns = suspended_ns;
    bool was_gap = clock->last == GTEL_SPAN_GAP;
    clock->last = GTEL_SPAN_WHOLE;
    if (!has_last)
        return GTEL_SPAN_FIRST;
    bool is_long = dt_ns > gap_min_ns && interval_ns > 0 && dt_ns / GAP_INTERVALS > interval_ns;
    /* One long gap is not the interval; twice the same is a new pace. */
    if (!has_slept && (!is_long || was_gap))
        clock->interval_ns = dt_ns;
    if (has_slept || (is_long && !was_gap))
        clock->last = GTEL_SPAN_GAP;
    return clock->last;
}
