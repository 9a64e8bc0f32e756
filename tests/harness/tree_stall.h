/* SPDX-License-Identifier: MIT */
/*
 * Stall samples of the xe GPUs of a recorded machine, from its lines:
 *
 * call stall NODE GT = LAYOUT | RECORD | RECORD …: xe can sample why the units of that GT stall.
 * LAYOUT is pvc, xe2 or xe3p. A RECORD is its counters, in the order of enum gtel_eu_stall
 * (parse/eu_stall.h). `next` ends what one read gives, and the last one is given again and again;
 * with `lost` or `reset` alone a read fails so.
 *
 * call stall_error NODE GT = EBUSY: to begin fails; `none`: not any more.
 */
#ifndef GTEL_TESTS_HARNESS_TREE_STALL_H
#define GTEL_TESTS_HARNESS_TREE_STALL_H

#include "recording/tree.h"

/* Lets the env of that machine be asked for them; in one env of a process at a time. */
void tree_stall_play(struct gtel_env *env, const struct gtel_tree *tree);

#endif
