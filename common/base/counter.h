/* SPDX-License-Identifier: MIT */
/*
 * A counter of hardware or firmware, carried on: it may have few bits and wrap, begin again after a
 * reset, or make steps that cannot be.
 *
 * The sum holds only steps that are known to be right. After any other result the sum lacks what
 * happened since the value before: a caller that reports it as a counter starts it again (at the
 * value or at 0), so that nobody computes a rate over that time. Rates are no matter of this module
 * (pipeline/delta.h).
 */
#ifndef GTEL_BASE_COUNTER_H
#define GTEL_BASE_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/* Set range and most; the rest is zero at first. */
struct gtel_counter {
    uint64_t range; /* it wraps to 0 there: 2^32 for 32 bits; 0: it does not wrap */
    double most;    /* what it can grow by in a second; 0: not known */
    uint64_t last;
    uint64_t last_ns; /* 0: there is no last value */
    uint64_t sum;     /* of the steps */
};

enum gtel_counter_result {
    GTEL_COUNTER_STEP,      /* the step is in the sum; it may be 0 */
    GTEL_COUNTER_FIRST,     /* nothing is known of the time before */
    GTEL_COUNTER_RESET,     /* it went back and does not wrap */
    GTEL_COUNTER_UNKNOWN,   /* it may have wrapped more than once since */
    GTEL_COUNTER_IMPOSSIBLE /* a step that cannot be: most often a reset */
};

/*
 * Adds the value of time t_ns. A step may be as large as that of a second even in less, since
 * firmware updates counters from time to time. The next step is counted from this value, whatever
 * the result; a caller that does not believe it keeps a copy from before.
 */
enum gtel_counter_result gtel_counter_add(struct gtel_counter *counter, uint64_t value,
                                          uint64_t t_ns);

#endif
