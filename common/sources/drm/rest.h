/* SPDX-License-Identifier: MIT */
/*
 * When to leave an idle GPU alone so that it can fall asleep.
 *
 * Each read of xe's sysfs or of a hwmon file starts the autosuspend delay of the driver again (i915
 * 10 s, xe 1 s): a GPU that is read each second never sleeps. So a GPU that may suspend, and whose
 * GTs have slept for all of that delay, is given a rest in which nothing is read that would start
 * it again. If it is still awake afterwards, something else holds it (a display): the next rest
 * waits for longer and longer.
 *
 * A GPU that begins to work in its rest must not go unseen. Where something that may be read shows
 * (see gtel_rest_delay), the rest ends then; where nothing does, only delays of a few seconds
 * have rests. Nor may energy, a counter of 32 bits, go unread for more than two minutes. A GPU
 * whose delay is too long for that gets no rest, and is kept awake by being read more often than
 * that.
 */
#ifndef GTEL_SOURCES_DRM_REST_H
#define GTEL_SOURCES_DRM_REST_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: never rests, until delay_ns is set. All times on the monotonic clock. */
struct gtel_rest {
    uint64_t delay_ns; /* the driver's autosuspend delay; 0: the GPU does not suspend by itself */
    uint64_t idle_since_ns; /* 0: not idle */
    uint64_t seen_ns;       /* the last cycle that was noted */
    uint64_t until_ns;      /* end of the present rest; 0: none */
    uint64_t retry_ns;      /* no rest before */
    uint64_t pause_ns;      /* wait after the last rest in vain */
};

/*
 * The delay to rest for, or 0: none. is_watched: something shows at each gather whether the GPU is
 * used, without using it.
 */
uint64_t gtel_rest_delay(uint64_t delay_ns, bool is_watched);
/* Whether the GPU is left alone now. */
bool gtel_rest_is_on(struct gtel_rest *rest, uint64_t now_ns);
/* After a full reading: whether all GTs slept (almost) all the time since the one before. */
void gtel_rest_note(struct gtel_rest *rest, bool is_idle, uint64_t now_ns);
/* Something else uses the GPU: a rest that is on ends. */
void gtel_rest_end(struct gtel_rest *rest, uint64_t now_ns);
/* The GPU has fallen asleep. */
void gtel_rest_slept(struct gtel_rest *rest);

#endif
