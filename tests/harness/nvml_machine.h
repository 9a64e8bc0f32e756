/* SPDX-License-Identifier: MIT */
/*
 * The NVML source on a recorded machine of two GPUs, with a spy between it and the played library.
 * One machine at a time.
 */
#ifndef GTEL_TESTS_HARNESS_NVML_MACHINE_H
#define GTEL_TESTS_HARNESS_NVML_MACHINE_H

#include "abi/nvml_abi.h"
#include "lanes/group.h"
#include "recording/tree.h"

#define SECOND 1000000000u

/* The library as the source sees it: counts, and makes one call fail. */
struct nvml_spy {
    struct gtel_nvml_calls real;
    const struct gtel_env_ops *ops;
    struct gtel_env_ops with_spy;
    unsigned calls;
    unsigned fail_at; /* 0: never */
    int fail_code;
    unsigned opens;
    unsigned closes;
    int open_error;
    const char *count_name;
    unsigned counted;
    const char *failed_name;
    unsigned logs;
    char last_log[512];
};

extern struct nvml_spy spy;

/* One machine with the source's lane on it. */
struct machine {
    struct gtel_tree *tree;
    struct gtel_env env;
    struct gtel_options options;
    struct gtel_group group;
};

/* Starts the lane again; the spy forgets. */
void start_lane(struct machine *m);
/* text: what differs from the common machine with two GPUs. */
bool begin(struct machine *m, const char *text);
void finish(struct machine *m);
/* Goes on by some seconds and takes a sample. */
void gather(struct machine *m, unsigned seconds);
/* NULL when there is no such reading. */
const struct gtel_reading *find(const struct machine *m, const char *gpu, enum gtel_metric metric,
                                const char *dim, const char *dim_2);
/* Of the first GPU; -1 when there is no such reading. */
double value(const struct machine *m, enum gtel_metric metric, const char *dim);

#endif
