/* SPDX-License-Identifier: MIT */
/*
 * Pauses that grow while something fails: the next try follows immediately, then after 1, 2, 4 … 64
 * seconds (or gathers).
 *
 * The unit is the caller's: nanoseconds of a clock, or a count of gathers. A back-off is reset when
 * the thing works again, by zeroing it.
 */
#ifndef GTEL_BASE_BACKOFF_H
#define GTEL_BASE_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

/* The usual bounds on a clock. */
#define GTEL_BACKOFF_FIRST_NS UINT64_C(1000000000)
#define GTEL_BACKOFF_LAST_NS UINT64_C(64000000000)

/* Zeroed: nothing has failed. */
struct gtel_backoff {
    uint64_t due;   /* no try before */
    uint64_t pause; /* after the next failure; 0: none */
};

/* Whether a pause is not over yet. */
static inline bool gtel_backoff_is_waiting(const struct gtel_backoff *backoff, uint64_t now)
{
    return now < backoff->due;
}

/*
 * After a failure. next: when the next try would be without a pause (now; in gathers, the next
 * one). The pauses are 0, first, 2 × first, 4 × first … last. To begin with a pause, set
 * backoff->pause beforehand.
 */
static inline void gtel_backoff_fail(struct gtel_backoff *backoff, uint64_t next, uint64_t first,
                                     uint64_t last)
{
    uint64_t pause = backoff->pause;
    backoff->due = next + pause;
    backoff->pause = pause == 0 ? first : pause < last / 2 ? pause * 2 : last;
}

#endif
