/* SPDX-License-Identifier: MIT */
/*
 * Whether an Intel GPU works, from how long its GTs slept: the files in which the kernel counts
 * that. Reading them wakes a sleeping GPU, so gtel_awake_look comes first.
 */
#ifndef GTEL_SOURCES_LEVEL_ZERO_GTS_H
#define GTEL_SOURCES_LEVEL_ZERO_GTS_H

#include "host/drm.h"

enum { GTEL_GTS_MAX = 16 };

/* A GT takes some milliseconds to fall asleep when it is let go, and the files count in steps. */
#define GTEL_GTS_SETTLE_NS UINT64_C(30000000)

/* Zeroed: not open. */
struct gtel_gts {
    struct gtel_fs_file file[GTEL_GTS_MAX];
    uint64_t idle_ms[GTEL_GTS_MAX]; /* at the last check */
    size_t n;
    bool is_open;
};

enum gtel_gts_state { GTEL_GTS_UNKNOWN, GTEL_GTS_IDLE, GTEL_GTS_WORKING };

/* Opens those files that a card of i915 or xe has, unless that was done; device: its folder. */
void gtel_gts_open(const struct gtel_env *env, struct gtel_gts *gts,
                   const struct gtel_drm_card *drm, const char *device);
void gtel_gts_close(const struct gtel_env *env, struct gtel_gts *gts);
/*
 * Idle: all GTs have slept since the last check for as long as free_ns, the time in which they
 * could. The first check has none before it, and its answer is to be left unused.
 */
enum gtel_gts_state gtel_gts_look(const struct gtel_env *env, struct gtel_gts *gts,
                                  uint64_t free_ns);

#endif
