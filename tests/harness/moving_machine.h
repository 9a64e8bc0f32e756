/* SPDX-License-Identifier: MIT */
/*
 * A recorded machine with Level Zero on which everything moves: its first state, and after it as
 * many as a test wants, in which counters have grown, others have changed, and the GPU works,
 * stands still or sleeps.
 */
#ifndef GTEL_TESTS_HARNESS_MOVING_MACHINE_H
#define GTEL_TESTS_HARNESS_MOVING_MACHINE_H

#include "base/buf.h"

enum moving_mood {
    MOVING_WORKS,  /* more and less in turn */
    MOVING_STANDS, /* its clocks are 0 */
    MOVING_SLEEPS  /* and the kernel says that it is suspended */
};

struct moving_step {
    unsigned seconds; /* since the step before */
    enum moving_mood mood;
};

/* A GPU that may fall asleep by itself after a second. */
struct moving_gpu {
    const char *folder; /* of its device; NULL: the end of the list */
    const char *idle;   /* a file below it in which the kernel counts its idle time, or NULL */
};

/* Appends the text's first state and one for each step. */
void moving_machine(struct gtel_buf *buf, const char *text, const struct moving_gpu *gpus,
                    const struct moving_step *step, size_t n);

#endif
