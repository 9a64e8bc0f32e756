/* SPDX-License-Identifier: MIT */
/* The inside of a recorded machine, for tree.c and env_tree.c only. */
#ifndef GTEL_HOST_TREE_NODE_H
#define GTEL_HOST_TREE_NODE_H

#include "host/tree.h"

enum gtel_tree_kind {
    GTEL_TREE_GONE,
    GTEL_TREE_DIR,
    GTEL_TREE_FILE,
    GTEL_TREE_LINK,
    GTEL_TREE_CALL,
    GTEL_TREE_REFUSED /* of events only: the node is a file */
};

struct gtel_tree_node {
    struct gtel_str path; /* canonical: no link, no "..", no slash at either end */
    struct gtel_str text;
    uint32_t next;       /* index + 1 of the next node in the bucket */
    uint32_t generation; /* changes when the node goes and comes: old handles are dead */
    enum gtel_tree_kind kind;
    int open_error; /* positive errno, or 0 */
    int read_error;
    bool is_growing;
    uint64_t since_ns;
    double start;
    double per_second;
};

/* The node of a path at the present time, or NULL with a negative errno in *ret_error. */
struct gtel_tree_node *gtel_tree_find(struct gtel_tree *tree, struct gtel_str path,
                                      bool follows_last, int *ret_error);
/* Nodes by index; indexes stay while the tree lives. NULL beyond the end. */
struct gtel_tree_node *gtel_tree_node_at(struct gtel_tree *tree, size_t index);
size_t gtel_tree_index(const struct gtel_tree *tree, const struct gtel_tree_node *node);
int gtel_tree_list(const struct gtel_tree *tree, const struct gtel_tree_node *dir, gtel_dir_fn fn,
                   void *arg);
/* The value of a growing node at the present time, cut to an integer. */
int64_t gtel_tree_grown(const struct gtel_tree *tree, const struct gtel_tree_node *node);
uint64_t gtel_tree_now(const struct gtel_tree *tree);

#endif
