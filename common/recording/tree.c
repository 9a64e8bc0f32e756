/* SPDX-License-Identifier: MIT */
/* A recorded machine: its state at a time. */
#include "recording/tree_node.h"
#include "recording/way.h"

#include "base/grow.h"
#include "host/fs.h"

#include <errno.h>
#include <stdlib.h>

static const struct {
    struct gtel_str name;
    int value;
} errors[] = {
    {GTEL_STR_INIT("EACCES"), EACCES},     {GTEL_STR_INIT("EAGAIN"), EAGAIN},
    {GTEL_STR_INIT("E2BIG"), E2BIG},       {GTEL_STR_INIT("ECANCELED"), ECANCELED},
    {GTEL_STR_INIT("EBUSY"), EBUSY},       {GTEL_STR_INIT("EINVAL"), EINVAL},
    {GTEL_STR_INIT("EIO"), EIO},           {GTEL_STR_INIT("ENODATA"), ENODATA},
    {GTEL_STR_INIT("ENODEV"), ENODEV},     {GTEL_STR_INIT("ENOENT"), ENOENT},
    {GTEL_STR_INIT("ENXIO"), ENXIO},       {GTEL_STR_INIT("EOPNOTSUPP"), EOPNOTSUPP},
    {GTEL_STR_INIT("EPERM"), EPERM},       {GTEL_STR_INIT("ETIMEDOUT"), ETIMEDOUT},
    {GTEL_STR_INIT("ENOTCONN"), ENOTCONN},
};

int gtel_tree_error_value(struct gtel_str name)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(errors); i++)
        if (gtel_str_eq(errors[i].name, name))
            return errors[i].value;
    return 0;
}

const char *gtel_tree_error_name(int error)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(errors); i++)
        if (errors[i].value == error)
            return errors[i].name.p;
    return NULL;
}

/* Nodes */

static uint32_t bucket_of(struct gtel_str path)
{
    return (uint32_t)(gtel_hash(GTEL_HASH_SEED, path.p, path.n) % GTEL_TREE_BUCKETS);
}

static struct gtel_tree_node *find(const struct gtel_tree *tree, struct gtel_str path)
{
    for (uint32_t i = tree->bucket[bucket_of(path)]; i != 0; i = tree->node[i - 1].next)
        if (gtel_str_eq(tree->node[i - 1].path, path))
            return &tree->node[i - 1];
    return NULL;
}

struct gtel_tree_node *gtel_tree_add_node(struct gtel_tree *tree, struct gtel_str path)
{
    struct gtel_str copy;
    if (!gtel_grow(&tree->node, &tree->nodes_size, tree->nodes + 1, GTEL_TREE_NODES_MAX,
                   sizeof(*tree->node)) ||
        gtel_arena_str(&tree->arena, path, &copy) < 0) {
        tree->error = tree->nodes < GTEL_TREE_NODES_MAX ? -ENOMEM : -E2BIG;
        return NULL;
    }
    struct gtel_tree_node *node = &tree->node[tree->nodes++];
    uint32_t *bucket = &tree->bucket[bucket_of(path)];
    *node = (struct gtel_tree_node){.path = copy, .next = *bucket};
    *bucket = (uint32_t)tree->nodes;
    return node;
}

static int64_t link_of(void *arg, const char *path, bool follows, char *buf)
{
    const struct gtel_tree_node *node = follows ? find(arg, gtel_str_of(path)) : NULL;
    if (!node || node->kind != GTEL_TREE_LINK)
        return 0;
    return gtel_str_copy(buf, GTEL_WAY_MAX, node->text) ? (int64_t)node->text.n : -ENAMETOOLONG;
}

struct gtel_tree_node *gtel_tree_find(struct gtel_tree *tree, struct gtel_str path,
                                      bool follows_last, int *ret_error)
{
    struct gtel_way way = {.link = link_of, .arg = tree};
    *ret_error = gtel_way_go(&way, path, follows_last);
    if (*ret_error < 0)
        return NULL;
    struct gtel_tree_node *node = find(tree, (struct gtel_str){way.path, way.n});
    if (node && node->kind != GTEL_TREE_GONE && node->kind != GTEL_TREE_CALL)
        return node;
    *ret_error = -ENOENT;
    return NULL;
}

/* Makes the directories above path; a file in the way stays. */
static int make_parents(struct gtel_tree *tree, struct gtel_str path)
{
    for (struct gtel_str up = gtel_way_parent(path);; up = gtel_way_parent(up)) {
        struct gtel_tree_node *node = find(tree, up);
        if (!node)
            node = gtel_tree_add_node(tree, up);
        if (!node)
            return -ENOMEM;
        if (node->kind == GTEL_TREE_GONE)
            node->kind = GTEL_TREE_DIR;
        if (up.n == 0)
            return 0;
    }
}

static void remove_below(struct gtel_tree *tree, struct gtel_str path)
{
    for (size_t i = 0; i < tree->nodes; i++) {
        struct gtel_tree_node *node = &tree->node[i];
        bool is_below = node->path.n > 0 && node->kind != GTEL_TREE_CALL &&
                        gtel_str_starts(node->path, path) &&
                        (node->path.n == path.n || node->path.p[path.n] == '/');
        if (!is_below)
            continue;
        node->kind = GTEL_TREE_GONE;
        node->open_error = 0; /* a directory that comes again by itself can be listed */
        node->generation = ++tree->generation;
    }
}

/* The node that an event is about, made if needed. Links above it are followed, itself is not. */
static struct gtel_tree_node *target_node(struct gtel_tree *tree,
                                          const struct gtel_tree_event *event)
{
    struct gtel_way way = {.link = link_of, .arg = tree};
    if (gtel_way_go(&way, event->path, gtel_tree_is_file(event->kind)) < 0)
        return NULL;
    struct gtel_str path = {way.path, way.n};
    if (event->kind == GTEL_TREE_GONE) {
        remove_below(tree, path);
        return NULL;
    }
    struct gtel_tree_node *node = find(tree, path);
    if (!node)
        node = gtel_tree_add_node(tree, path);
    if (!node)
        return NULL;
    size_t index = (size_t)(node - tree->node);
    if (make_parents(tree, path) < 0)
        return NULL;
    return &tree->node[index]; /* making parents may have moved the array */
}

static void apply(struct gtel_tree *tree, const struct gtel_tree_event *event)
{
    struct gtel_tree_node *node = NULL;
    if (event->kind == GTEL_TREE_UEVENT)
        return;
    if (event->kind == GTEL_TREE_CALL) {
        node = find(tree, event->path);
        if (!node)
            node = gtel_tree_add_node(tree, event->path);
    } else {
        node = target_node(tree, event);
    }
    if (!node)
        return;
    if (node->kind == GTEL_TREE_GONE)
        node->generation = ++tree->generation;
    node->kind = event->kind == GTEL_TREE_REFUSED ? GTEL_TREE_FILE : event->kind;
    node->open_error = event->kind == GTEL_TREE_REFUSED ? event->error : 0;
    node->read_error = event->kind == GTEL_TREE_FILE ? event->error : 0;
    if (event->error == 0 || event->text.p)
        node->text = event->text;
    node->since_ns = event->t_ns;
    node->start = event->start;
    node->per_second = event->per_second;
}

static void forget_state(struct gtel_tree *tree)
{
    for (size_t i = 0; i < tree->nodes; i++) {
        tree->node[i].kind = GTEL_TREE_GONE;
        tree->node[i].open_error = 0; /* as in remove_below */
        tree->node[i].generation = ++tree->generation;
    }
    tree->node[0].kind = GTEL_TREE_DIR; /* the root is always there */
    tree->applied = 0;
    tree->now_ns = 0;
}

void gtel_tree_seek(struct gtel_tree *tree, uint64_t t_ns)
{
    if (t_ns < tree->now_ns)
        forget_state(tree);
    tree->now_ns = t_ns;
    while (tree->error == 0 && tree->applied < tree->events &&
           tree->event[tree->applied].t_ns <= t_ns)
        apply(tree, &tree->event[tree->applied++]);
}

/* Whether the node is a name in some directory. */
static bool is_name(const struct gtel_tree_node *node)
{
    return node->kind != GTEL_TREE_GONE && node->kind != GTEL_TREE_CALL && node->path.n > 0;
}

int gtel_tree_list(const struct gtel_tree *tree, const struct gtel_tree_node *dir, gtel_dir_fn fn,
                   void *arg)
{
    struct gtel_str path = dir->path;
    for (size_t i = 0; i < tree->nodes; i++) {
        const struct gtel_tree_node *node = &tree->node[i];
        size_t under = path.n > 0 ? path.n + 1 : 0; /* where a name in it begins */
        if (!is_name(node) || node->path.n <= under || (under > 0 && node->path.p[path.n] != '/') ||
            !gtel_str_eq(gtel_way_parent(node->path), path))
            continue;
        int r = fn(arg, gtel_str_skip(node->path, under));
        if (r != 0)
            return r;
    }
    return 0;
}

static void count_entries(struct gtel_tree *tree)
{
    for (size_t i = 0; i < tree->nodes; i++)
        tree->node[i].entries = 0;
    for (size_t i = 0; i < tree->nodes; i++) {
        struct gtel_tree_node *dir =
            is_name(&tree->node[i]) ? find(tree, gtel_way_parent(tree->node[i].path)) : NULL;
        if (dir)
            dir->entries++;
    }
    tree->counted = tree->applied + 1;
}

uint32_t gtel_tree_entries(struct gtel_tree *tree, const struct gtel_tree_node *dir)
{
    if (tree->counted != tree->applied + 1)
        count_entries(tree);
    return dir->entries;
}

uint64_t gtel_tree_lasts(const struct gtel_tree *tree)
{
    size_t i = tree->applied;
    while (i < tree->events && tree->event[i].t_ns <= tree->now_ns)
        i++;
    return i < tree->events ? tree->event[i].t_ns - tree->now_ns : 0;
}

uint64_t gtel_tree_duration(const struct gtel_tree *tree)
{
    return tree->events > 0 ? tree->event[tree->events - 1].t_ns : 0;
}

const struct gtel_tree_node *gtel_tree_find_answer(const struct gtel_tree *tree,
                                                   struct gtel_str words)
{
    const char *path = GTEL_FS_AT("\001%.*s", GTEL_STR_ARG(words));
    const struct gtel_tree_node *node = find(tree, gtel_str_of(path));
    return node && node->kind == GTEL_TREE_CALL ? node : NULL;
}

int gtel_tree_call(const struct gtel_tree *tree, struct gtel_str words, struct gtel_str *ret)
{
    const struct gtel_tree_node *node = gtel_tree_find_answer(tree, words);
    if (node)
        *ret = node->text;
    return node ? 0 : -ENOENT;
}

bool gtel_tree_has_library(const struct gtel_tree *tree, struct gtel_str name)
{
    const char *words = GTEL_FS_AT("library %.*s", GTEL_STR_ARG(name));
    struct gtel_str answer;
    return gtel_tree_call(tree, gtel_str_of(words), &answer) == 0 &&
           !gtel_str_eq(answer, GTEL_STR("gone"));
}

int gtel_tree_error(const struct gtel_tree *tree, const char *words)
{
    struct gtel_str error;
    return gtel_tree_call(tree, gtel_str_of(words), &error) < 0 ? 0 : -gtel_tree_error_value(error);
}

void gtel_tree_free(struct gtel_tree *tree)
{
    if (!tree)
        return;
    gtel_arena_done(&tree->arena);
    free(tree->event);
    free(tree->node);
    free(tree);
}
