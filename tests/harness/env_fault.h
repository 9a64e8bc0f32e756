/* SPDX-License-Identifier: MIT */
/*
 * An env around another one that counts every call to the outside, makes exactly one of them fail,
 * and reports which files were touched.
 *
 * Clocks never fail and are not counted. Also counted: files and groups of counters that are open,
 * so that a test sees leaks.
 */
#ifndef GTEL_TESTS_HARNESS_ENV_FAULT_H
#define GTEL_TESTS_HARNESS_ENV_FAULT_H

#include "host/env.h"

enum { FAULT_HANDLES_MAX = 4352, FAULT_PATH_MAX = 256, FAULT_PMUS_MAX = 64 };

enum fault_op {
    FAULT_OPEN,
    FAULT_READ,
    FAULT_LIST,
    FAULT_LINK,
    FAULT_EXISTS,
    FAULT_STAT,
    FAULT_LIBRARY,
    FAULT_PMU,       /* its path is "counters" */
    FAULT_PMU_CLOSE, /* the same; for watch only */
    FAULT_QUERY,
    FAULT_STALL,   /* its path is the node, or "stalls" for reading */
    FAULT_UEVENT,  /* its path is "uevents" */
    FAULT_RAS,     /* "drm-ras/DEVICE/" */
    FAULT_DRM_FDS, /* "descriptors" */
    FAULT_CHILD,   /* its path is the program, or "child" for reading */
    FAULT_CALL     /* of a played vendor library (fakes/player.h): its name */
};

/* A group of perf counters. */
struct fault_pmu {
    bool is_open;
    int handle;
    uint32_t type;
    uint64_t since_ns; /* on the env's clock */
};

struct env_fault {
    struct gtel_env env; /* what the code under test gets */
    const struct gtel_env *inner;
    uint64_t calls;   /* so far */
    uint64_t fail_at; /* the call that fails, counted from 1; 0: none */
    int error;        /* the negative errno that it fails with */
    bool has_failed;
    bool has_players; /* calls of played vendor libraries count, too */
    uint64_t logs[4]; /* messages by level */
    char last_log[512];
    void (*said)(void *arg, enum gtel_log_level level, const char *text); /* each; NULL: off */
    /* Called for each call that names a file, kept ones included; NULL: off. */
    void (*watch)(void *arg, enum fault_op op, const char *path);
    void *watch_arg;
    uint32_t pmu_type;    /* of the counters that are being opened, read or closed, for watch */
    uint64_t pmu_open_ns; /* for how long those that are being closed were open */
    struct fault_pmu pmu[FAULT_PMUS_MAX];
    uint64_t pmu_opens;      /* groups that were opened */
    uint64_t pmu_longest_ns; /* for which one that is closed was open */
    size_t open_files;       /* and children that run */
    char path[FAULT_HANDLES_MAX][FAULT_PATH_MAX];
    int handle[FAULT_HANDLES_MAX]; /* of the inner env */
    bool is_open[FAULT_HANDLES_MAX];
};

/* The wrapped env lives in *fault, which stays where it is; inner outlives it. */
void env_fault_init(struct env_fault *fault, const struct gtel_env *inner);
/* Counts from 0 and makes call fail_at (0: none) fail with error. */
void env_fault_arm(struct env_fault *fault, uint64_t fail_at, int error);

#endif
