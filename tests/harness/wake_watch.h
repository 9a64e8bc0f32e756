/* SPDX-License-Identifier: MIT */
/*
 * Watches, from behind a env_fault, what is done to Intel and AMD GPUs that sleep, and for how long
 * the counters of xe, which hold a GPU awake, are open.
 *
 * The test checks the machine itself with wakes_look before each time at which something may be
 * done, since a recorded machine's GPUs fall asleep and wake as its time goes on.
 */
#ifndef GTEL_TESTS_HARNESS_WAKE_WATCH_H
#define GTEL_TESTS_HARNESS_WAKE_WATCH_H

#include "harness/env_fault.h"
#include "host/drm.h"

enum { WAKES_CARDS_MAX = 32 };

/* A card as it is at a time. */
struct wakes_card {
    struct gtel_drm_card drm;
    char node[GTEL_DRM_NODE_MAX]; /* "dev/dri/renderD128", or empty */
    uint32_t xe_pmu;              /* type of its PMU; 0: none */
    bool is_asleep;
};

struct wakes {
    struct env_fault *fault;
    struct wakes_card card[WAKES_CARDS_MAX];
    size_t n;
    uint64_t seen_asleep; /* cards and times */
    uint64_t looks;       /* allowed calls about sleeping cards */
    uint64_t wakes;       /* forbidden ones */
    uint64_t bursts;      /* of counters of xe */
    uint64_t longest_ns;  /* of them */
    char first[FAULT_PATH_MAX + 32];
};

/* From now on, what is done through fault is watched. */
void wakes_init(struct wakes *wakes, struct env_fault *fault);
/* Notes the cards as they are now; env is the machine itself, unwatched. */
void wakes_look(struct wakes *wakes, const struct gtel_env *env);
/* The end of it: nothing that wakes was done, and no counters of xe were open for too long. */
void wakes_check(struct wakes *wakes);

#endif
