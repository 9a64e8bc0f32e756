/* SPDX-License-Identifier: MIT */
/* Stall samples of a recorded machine, for env_tree.c only. As stall_open … of gtel_env_ops. */
#ifndef GTEL_RECORDING_STALL_TREE_H
#define GTEL_RECORDING_STALL_TREE_H

#include "recording/tree.h"

enum { GTEL_STALL_STREAMS = 16 };

/* What is open. A zeroed struct is nothing. */
struct gtel_stall_tree {
    struct {
        char key[64]; /* "NODE GT"; empty: not open */
        uint32_t reads;
    } stream[GTEL_STALL_STREAMS];
};

int gtel_stall_tree_open(struct gtel_stall_tree *stalls, const struct gtel_tree *tree,
                         const char *node, uint32_t gt);
int64_t gtel_stall_tree_read(struct gtel_stall_tree *stalls, const struct gtel_tree *tree,
                             int handle, void *buf, size_t n);
void gtel_stall_tree_close(struct gtel_stall_tree *stalls, int handle);

#endif
