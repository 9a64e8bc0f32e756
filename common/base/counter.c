/* SPDX-License-Identifier: MIT */
/* Counters that wrap, begin again or jump, carried on. */
#include "base/counter.h"

static enum gtel_counter_result judge(const struct gtel_counter *counter, uint64_t value,
                                      uint64_t t_ns, uint64_t *ret_step)
{
    double seconds = t_ns > counter->last_ns ? (double)(t_ns - counter->last_ns) / 1e9 : 0;
    bool has_bound = counter->most > 0;
    if (counter->last_ns == 0)
        return GTEL_COUNTER_FIRST;
    if (has_bound && counter->range > 0 && counter->most * seconds > (double)counter->range)
        return GTEL_COUNTER_UNKNOWN;
    if (value >= counter->last)
        *ret_step = value - counter->last;
    else if (counter->range > counter->last)
        *ret_step = counter->range - counter->last + value;
    else
        return GTEL_COUNTER_RESET;
    if (has_bound && (double)*ret_step > counter->most * (seconds > 1 ? seconds : 1))
        return GTEL_COUNTER_IMPOSSIBLE;
    return GTEL_COUNTER_STEP;
}

enum gtel_counter_result gtel_counter_add(struct gtel_counter *counter, uint64_t value,
                                          uint64_t t_ns)
{
    uint64_t step = 0;
    enum gtel_counter_result result = judge(counter, value, t_ns, &step);
    if (result == GTEL_COUNTER_STEP)
        counter->sum += step;
    counter->last = value;
    counter->last_ns = t_ns;
    return result;
}
