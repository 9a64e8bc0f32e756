/* SPDX-License-Identifier: MIT */
/*
 * The sources of the kernel lane on a recorded machine, for tests of those that rely on each other:
 * gathers and, between them, what the sources ask for.
 */
#ifndef GTEL_TESTS_HARNESS_SOURCE_LANE_H
#define GTEL_TESTS_HARNESS_SOURCE_LANE_H

#include "lanes/group.h"
#include "harness/env_fault.h"
#include "harness/headlines.h"
#include "recording/tree.h"

struct lane {
    struct gtel_tree *tree;
    struct gtel_env tree_env;
    struct env_fault *fault;
    struct gtel_options options;
    struct gtel_group group;
    struct headlines headlines;
};

/* sources: as in the option. False, and says why, when the text is no tree. */
bool lane_init(struct lane *lane, const char *text, const char *sources);
/* The same with another lane than kernel. */
bool lane_init_in(struct lane *lane, const char *name, const char *text, const char *sources);
/* Before the first gather. */
void lane_set(struct lane *lane, enum gtel_option option, const char *value);
/* The batch has the GPUs' headlines, too. */
void lane_gather(struct lane *lane);
/* Steps the time and calls sources when they ask for it. */
void lane_step(struct lane *lane, uint64_t ms);
/* Closes the sources; what was open must be closed then. */
void lane_done(struct lane *lane);

/* The reading of a metric with that first dimension (NULL: any) and second one (NULL: none). */
const struct gtel_reading *lane_find(const struct lane *lane, enum gtel_metric metric,
                                     const char *dim0, const char *dim1);
/* The device of that PCI address, or NULL. */
struct gtel_device *lane_device(const struct lane *lane, const char *key);

#endif
