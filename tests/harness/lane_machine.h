/* SPDX-License-Identifier: MIT */
/* A recorded machine with an Intel and an NVIDIA GPU, read by real helper processes. */
#ifndef GTEL_HARNESS_LANE_MACHINE_H
#define GTEL_HARNESS_LANE_MACHINE_H

#include "gtel.h"
#include "recording/tree.h"

/* What one gather said, and what was logged since the start. */
struct lane_view {
    unsigned readings[GTEL_M_COUNT];
    double last[GTEL_M_COUNT];
    unsigned sections;
    unsigned logs;
    char log[4096];
};

struct lane_machine {
    struct gtel_tree *tree;
    struct gtel_env env;
    struct gtel_options options;
    struct gtel_sink sink;
    struct lane_view view;
    struct gtel_context *context;
    char epoch[32];
    const char *helper_args[5];
};

/* helper is the program, tree_path the machine. False: a check has failed. */
bool lane_machine_start(struct lane_machine *machine, const char *helper, const char *tree_path);
void lane_machine_stop(struct lane_machine *machine);
void lane_machine_nap(unsigned ms);

/* One gather, with the view cleared before it; returns how long it took. */
uint64_t lane_machine_gather(struct lane_machine *machine);
/* Gathers until both lanes answer; false after 10 s. */
bool lane_machine_settle(struct lane_machine *machine);
/* Whether the last gather has what the lanes kernel and nvml read. */
bool lane_machine_has_kernel(const struct lane_machine *machine);
bool lane_machine_has_nvml(const struct lane_machine *machine);

#endif
