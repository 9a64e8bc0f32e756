/* SPDX-License-Identifier: MIT */
/*
 * Writes a recorded machine as real files, for tests and benchmarks that must go through the
 * kernel. Only the present state of the env is written; growing numbers stand still.
 */
#ifndef GTEL_TESTS_HARNESS_TREE_FILES_H
#define GTEL_TESTS_HARNESS_TREE_FILES_H

#include "harness/whole_file.h"
#include "host/env.h"

#include <stdlib.h>

/* Writes everything that the env holds below the folder dir, which exists. 0 or a negative errno.
 */
int expand_tree(const struct gtel_env *env, const char *dir);

#endif
