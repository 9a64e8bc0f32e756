/* SPDX-License-Identifier: MIT */
/*
 * Programs of a recorded machine, from its lines
 *
 *     call /PATH ARG… = LINE   it can be started with these arguments, and writes that line when it
 *                              is, or at this time
 *     call /PATH ARG… = !1     it ends, or has ended, with that exit status
 *
 * One at a time; others cannot be started.
 */
#ifndef GTEL_TESTS_HARNESS_TREE_CHILD_H
#define GTEL_TESTS_HARNESS_TREE_CHILD_H

#include "recording/tree.h"

/* Lets the env of that machine start them, as long as *ops exists; in one env of a process. */
void tree_child_play(struct gtel_env *env, const struct gtel_tree *tree, struct gtel_env_ops *ops);

#endif
