/* SPDX-License-Identifier: MIT */
/* Vendor libraries of a recorded machine, played by shared objects of their names. */
#ifndef GTEL_TESTS_HARNESS_TREE_LIBRARY_H
#define GTEL_TESTS_HARNESS_TREE_LIBRARY_H

#include "recording/tree.h"

/*
 * Lets the env of that machine open those in a folder, whose path outlives the env: each has a
 * function gtel_play(tree) that gives it the machine to answer from, and takes it back with NULL.
 * Before the env is wrapped or its operations are copied; again for an env of the same address.
 */
void tree_library_play(struct gtel_env *env, const struct gtel_tree *tree, const char *folder);

#endif
