/* SPDX-License-Identifier: MIT */
/* Counters to rates. */
#include "pipeline/delta.h"

#include <errno.h>

enum { GAP_INTERVALS = 10, SHORT_PART = 10 };

static void set_base(struct gtel_delta_state *state, const struct gtel_reading *sample,
                     uint64_t host_ns)
{
    state->last = *sample;
    state->host_ns = host_ns;
}

/* The growth of the value; negative when it went back. Integers are subtracted as integers. */
static double growth(const struct gtel_reading *old, const struct gtel_reading *new)
{
    if (old->value_type != GTEL_VALUE_U64 || new->value_type != GTEL_VALUE_U64)
        return gtel_reading_number(new) - gtel_reading_number(old);
    if (new->value.u64 >= old->value.u64)
        return (double)(new->value.u64 - old->value.u64);
    return -(double)(old->value.u64 - new->value.u64);
}

/* Whether both come from one counter: another path to the same value counts from elsewhere. */
static bool is_same_counter(const struct gtel_reading *old, const struct gtel_reading *new)
{
    return old->source == new->source && old->origin == new->origin &&
           old->has_device_clock == new->has_device_clock;
}

int gtel_delta_rate(struct gtel_delta_state *state, const struct gtel_reading *sample,
                    uint64_t host_ns, uint64_t interval_ns, double *ret_rate)
{
    struct gtel_reading old = state->last;
    uint64_t waited = host_ns - state->host_ns;
    if (state->host_ns == 0 || !is_same_counter(&old, sample) || host_ns <= state->host_ns ||
        (interval_ns > 0 && waited > interval_ns * GAP_INTERVALS)) {
        set_base(state, sample, host_ns);
        return -EAGAIN;
    }
    double grown = growth(&old, sample);
    bool is_back = grown < 0 || sample->t_ns < old.t_ns;
    if (!is_back && waited < interval_ns / SHORT_PART)
        return -EAGAIN; /* the base stays: the next rate covers this time too */
    set_base(state, sample, host_ns);
    if (is_back)
        return -ERANGE;
    if (sample->t_ns == old.t_ns)
        return -EAGAIN;
    *ret_rate = grown / ((double)(sample->t_ns - old.t_ns) / 1e9);
    return 0;
}

int gtel_delta_share(double rate, double *ret)
{
    if (rate < 0 || rate > 1.05)
        return -ERANGE;
    *ret = rate > 1 ? 1 : rate;
    return 0;
}
