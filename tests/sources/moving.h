/* SPDX-License-Identifier: MIT */
/*
 * A recorded machine with Level Zero on which everything moves: its first state, and after it as
 * many as a test wants, in which counters have grown, figures have other values, and the GPU works,
 * stands still or sleeps.
 */
#ifndef GTEL_TESTS_SOURCES_MOVING_H
#define GTEL_TESTS_SOURCES_MOVING_H

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

/*
 * Appends the text's first state and one for each step. folders: of the devices that may fall
 * asleep by themselves after a second, NULL at the end.
 */
void moving_machine(struct gtel_buf *buf, const char *text, const char *const *folders,
                    const struct moving_step *step, size_t n);

#endif
