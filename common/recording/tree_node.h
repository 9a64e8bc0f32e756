/* SPDX-License-Identifier: MIT */
/* The inside of a recorded machine, for tree.c, tree_text.c and env_tree.c only. */
#ifndef GTEL_RECORDING_TREE_NODE_H
#define GTEL_RECORDING_TREE_NODE_H

#include "base/arena.h"
#include "recording/tree.h"

enum {
    GTEL_TREE_BUCKETS = 16384,
    GTEL_TREE_NODES_MAX = 1 << 19, /* handles of env_tree.c have room for so many */
    GTEL_TREE_PATH_MAX = 512,      /* bytes of a path or a key with its NUL */
    GTEL_TREE_BYTES_MAX = 8192     /* bytes of a driver's answer or a binary file */
};

enum gtel_tree_kind {
    GTEL_TREE_GONE,
    GTEL_TREE_DIR,
    GTEL_TREE_FILE,
    GTEL_TREE_GROWING, /* a file with a number */
    GTEL_TREE_BINARY,  /* a file whose text is words */
    GTEL_TREE_LINK,
    GTEL_TREE_CHAR,
    GTEL_TREE_CALL,
    GTEL_TREE_REFUSED, /* of events only: the node is a file */
    GTEL_TREE_UEVENT   /* of events only: a message, no node */
};

static inline bool gtel_tree_is_file(enum gtel_tree_kind kind)
{
    return kind >= GTEL_TREE_FILE && kind <= GTEL_TREE_BINARY;
}

struct gtel_tree_node {
    /* Canonical: no link, no "..", no slash at either end. Of an answer its words behind "\001",
       which no path has. */
    struct gtel_str path;
    struct gtel_str text;
    uint32_t next;       /* index + 1 of the next node in the bucket */
    uint32_t generation; /* changes when the node goes and comes: old handles are dead */
    enum gtel_tree_kind kind;
    int open_error; /* positive errno, or 0 */
    int read_error;
    uint64_t since_ns;
    double start;
    double per_second;
    uint32_t entries; /* of a directory, see gtel_tree_entries */
};

/* One line of the text that changes the machine. */
struct gtel_tree_event {
    uint64_t t_ns;
    enum gtel_tree_kind kind;
    uint32_t line; /* of the text */
    struct gtel_str path;
    struct gtel_str text; /* content, target or answer */
    int error;
    double start;
    double per_second;
};

struct gtel_tree {
    struct gtel_arena arena;
    struct gtel_tree_event *event;
    size_t events;
    size_t events_size;
    size_t applied;              /* events before this one are in force */
    struct gtel_tree_node *node; /* indexes stay while the tree lives, addresses do not */
    size_t nodes;
    size_t nodes_size;
    uint32_t bucket[GTEL_TREE_BUCKETS]; /* index + 1 of the first node, or 0 */
    uint32_t generation;
    size_t counted; /* applied + 1 when entries were counted last, 0: never */
    uint64_t now_ns;
    uint64_t wall_s;
    int error; /* -ENOMEM, or -E2BIG for more nodes than fit: time stands still from there on */
};

/* The positive errno of a name as EIO, or 0. */
int gtel_tree_error_value(struct gtel_str name);
/* A node of that path, which must not be there yet; NULL when it lacks room. Moves the others. */
struct gtel_tree_node *gtel_tree_add_node(struct gtel_tree *tree, struct gtel_str path);
/* The node of a path at the present time, or NULL with a negative errno in *ret_error. */
struct gtel_tree_node *gtel_tree_find(struct gtel_tree *tree, struct gtel_str path,
                                      bool follows_last, int *ret_error);
int gtel_tree_list(const struct gtel_tree *tree, const struct gtel_tree_node *dir, gtel_dir_fn fn,
                   void *arg);
/* How many names a directory has at the present time. */
uint32_t gtel_tree_entries(struct gtel_tree *tree, const struct gtel_tree_node *dir);
/* The node of the present answer to a line of these words (tree.h, gtel_tree_call), or NULL. */
const struct gtel_tree_node *gtel_tree_find_answer(const struct gtel_tree *tree,
                                                   struct gtel_str words);

#endif
