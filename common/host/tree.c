/* SPDX-License-Identifier: MIT */
/* A recorded machine: reading the text, and the state at a time. */
#include "host/tree.h"

#include "base/arena.h"
#include "base/buf.h"
#include "host/tree_node.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUCKETS = 4096,
    NODES_MAX = 1 << 19,
    EVENTS_MAX = 1 << 20,
    PATH_MAX_BYTES = 512,
    LINKS_MAX = 16,           /* links followed in one path */
    DEPTH_MAX = 64,           /* parts of one path */
    WALL_DEFAULT = 1767225600 /* 2026-01-01 00:00:00 UTC */
};

/* One line of the text that changes the machine. */
struct event {
    uint64_t t_ns;
    enum gtel_tree_kind kind;
    struct gtel_str path;
    struct gtel_str text; /* content, target or answer */
    int error;
    double start;
    double per_second;
};

struct gtel_tree {
    struct gtel_arena arena;
    struct event *event;
    size_t events;
    size_t events_size;
    size_t applied; /* events before this one are in force */
    struct gtel_tree_node *node;
    size_t nodes;
    size_t nodes_size;
    uint32_t bucket[BUCKETS]; /* index + 1 of the first node, or 0 */
    uint32_t generation;
    uint64_t now_ns;
    uint64_t wall_s;
};

static const struct {
    struct gtel_str name;
    int value;
} errors[] = {
    {GTEL_STR_INIT("EACCES"), EACCES}, {GTEL_STR_INIT("EAGAIN"), EAGAIN},
    {GTEL_STR_INIT("EBUSY"), EBUSY},   {GTEL_STR_INIT("EINVAL"), EINVAL},
    {GTEL_STR_INIT("EIO"), EIO},       {GTEL_STR_INIT("ENODATA"), ENODATA},
    {GTEL_STR_INIT("ENODEV"), ENODEV}, {GTEL_STR_INIT("ENOENT"), ENOENT},
    {GTEL_STR_INIT("ENXIO"), ENXIO},   {GTEL_STR_INIT("EOPNOTSUPP"), EOPNOTSUPP},
    {GTEL_STR_INIT("EPERM"), EPERM},   {GTEL_STR_INIT("ETIMEDOUT"), ETIMEDOUT},
};

static int error_value(struct gtel_str name)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(errors); i++)
        if (gtel_str_eq(errors[i].name, name))
            return errors[i].value;
    return 0;
}

/* Nodes */

static uint32_t bucket_of(struct gtel_str path)
{
    return (uint32_t)(gtel_hash(GTEL_HASH_SEED, path.p, path.n) % BUCKETS);
}

static struct gtel_tree_node *find(const struct gtel_tree *tree, struct gtel_str path)
{
    for (uint32_t i = tree->bucket[bucket_of(path)]; i != 0; i = tree->node[i - 1].next)
        if (gtel_str_eq(tree->node[i - 1].path, path))
            return &tree->node[i - 1];
    return NULL;
}

static struct gtel_tree_node *add_node(struct gtel_tree *tree, struct gtel_str path)
{
    if (tree->nodes == tree->nodes_size) {
        size_t size = tree->nodes_size ? tree->nodes_size * 2 : 1024;
        struct gtel_tree_node *p =
            size <= NODES_MAX ? realloc(tree->node, size * sizeof(*p)) : NULL;
        if (!p)
            return NULL;
        tree->node = p;
        tree->nodes_size = size;
    }
    struct gtel_str copy;
    if (gtel_arena_str(&tree->arena, path, &copy) < 0)
        return NULL;
    struct gtel_tree_node *node = &tree->node[tree->nodes++];
    uint32_t *bucket = &tree->bucket[bucket_of(path)];
    *node = (struct gtel_tree_node){.path = copy, .next = *bucket};
    *bucket = (uint32_t)tree->nodes;
    return node;
}

static struct gtel_str parent_of(struct gtel_str path)
{
    size_t n = path.n;
    while (n > 0 && path.p[n - 1] != '/')
        n--;
    return (struct gtel_str){path.p, n > 0 ? n - 1 : 0};
}

/* A path under construction: parts without "." and "..", links already replaced. */
struct walk {
    const struct gtel_tree *tree;
    char path[PATH_MAX_BYTES];
    size_t n;
    int links;
};

static int walk_parts(struct walk *walk, struct gtel_str rest, bool follows_last);

static int walk_link(struct walk *walk, struct gtel_str target)
{
    if (++walk->links > LINKS_MAX)
        return -ELOOP;
    walk->n = gtel_str_starts(target, GTEL_STR("/"))
                  ? 0
                  : parent_of((struct gtel_str){walk->path, walk->n}).n;
    return walk_parts(walk, target, true);
}

static int walk_part(struct walk *walk, struct gtel_str part, bool follows)
{
    if (part.n == 0 || gtel_str_eq(part, GTEL_STR(".")))
        return 0;
    if (gtel_str_eq(part, GTEL_STR(".."))) {
        walk->n = parent_of((struct gtel_str){walk->path, walk->n}).n;
        return 0;
    }
    if (walk->n + part.n + 1 >= sizeof(walk->path))
        return -ENAMETOOLONG;
    if (walk->n > 0)
        walk->path[walk->n++] = '/';
    memcpy(walk->path + walk->n, part.p, part.n);
    walk->n += part.n;
    const struct gtel_tree_node *node = find(walk->tree, (struct gtel_str){walk->path, walk->n});
    if (follows && node && node->kind == GTEL_TREE_LINK)
        return walk_link(walk, node->text);
    return 0;
}

static int walk_parts(struct walk *walk, struct gtel_str rest, bool follows_last)
{
    struct gtel_str part;
    for (int depth = 0; gtel_str_part(&rest, '/', &part); depth++) {
        if (depth > DEPTH_MAX)
            return -ENAMETOOLONG;
        int r = walk_part(walk, part, rest.n > 0 || follows_last);
        if (r < 0)
            return r;
    }
    return 0;
}

struct gtel_tree_node *gtel_tree_find(struct gtel_tree *tree, struct gtel_str path,
                                      bool follows_last, int *ret_error)
{
    struct walk walk = {.tree = tree};
    *ret_error = walk_parts(&walk, path, follows_last);
    if (*ret_error < 0)
        return NULL;
    struct gtel_tree_node *node = find(tree, (struct gtel_str){walk.path, walk.n});
    if (node && node->kind != GTEL_TREE_GONE && node->kind != GTEL_TREE_CALL)
        return node;
    *ret_error = -ENOENT;
    return NULL;
}

/* Makes the directories above path; a file in the way stays. */
static int make_parents(struct gtel_tree *tree, struct gtel_str path)
{
    for (struct gtel_str up = parent_of(path);; up = parent_of(up)) {
        struct gtel_tree_node *node = find(tree, up);
        if (!node)
            node = add_node(tree, up);
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
        node->generation = ++tree->generation;
    }
}

/* The node that an event is about, made if needed. Links above it are followed, itself is not. */
static struct gtel_tree_node *target_node(struct gtel_tree *tree, const struct event *event)
{
    struct walk walk = {.tree = tree};
    if (walk_parts(&walk, event->path, event->kind == GTEL_TREE_FILE) < 0)
        return NULL;
    struct gtel_str path = {walk.path, walk.n};
    if (event->kind == GTEL_TREE_GONE) {
        remove_below(tree, path);
        return NULL;
    }
    struct gtel_tree_node *node = find(tree, path);
    if (!node)
        node = add_node(tree, path);
    if (!node)
        return NULL;
    size_t index = (size_t)(node - tree->node);
    if (make_parents(tree, path) < 0)
        return NULL;
    return &tree->node[index]; /* making parents may have moved the array */
}

static void apply(struct gtel_tree *tree, const struct event *event)
{
    struct gtel_tree_node *node = NULL;
    if (event->kind == GTEL_TREE_CALL) {
        node = find(tree, event->path);
        if (!node)
            node = add_node(tree, event->path);
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
    node->is_growing = event->kind == GTEL_TREE_FILE && event->error == 0 && !event->text.p;
    node->since_ns = event->t_ns;
    node->start = event->start;
    node->per_second = event->per_second;
}

static void forget_state(struct gtel_tree *tree)
{
    for (size_t i = 0; i < tree->nodes; i++) {
        tree->node[i].kind = GTEL_TREE_GONE;
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
    while (tree->applied < tree->events && tree->event[tree->applied].t_ns <= t_ns)
        apply(tree, &tree->event[tree->applied++]);
}

uint64_t gtel_tree_now(const struct gtel_tree *tree)
{
    return tree->now_ns;
}

struct gtel_tree_node *gtel_tree_node_at(struct gtel_tree *tree, size_t index)
{
    return index < tree->nodes ? &tree->node[index] : NULL;
}

size_t gtel_tree_index(const struct gtel_tree *tree, const struct gtel_tree_node *node)
{
    return (size_t)(node - tree->node);
}

int gtel_tree_list(const struct gtel_tree *tree, const struct gtel_tree_node *dir, gtel_dir_fn fn,
                   void *arg)
{
    struct gtel_str path = dir->path;
    for (size_t i = 0; i < tree->nodes; i++) {
        const struct gtel_tree_node *node = &tree->node[i];
        if (node->kind == GTEL_TREE_GONE || node->kind == GTEL_TREE_CALL || node->path.n == 0 ||
            !gtel_str_eq(parent_of(node->path), path))
            continue;
        int r = fn(arg, gtel_str_skip(node->path, path.n > 0 ? path.n + 1 : 0));
        if (r != 0)
            return r;
    }
    return 0;
}

uint64_t gtel_tree_duration(const struct gtel_tree *tree)
{
    return tree->events > 0 ? tree->event[tree->events - 1].t_ns : 0;
}

uint64_t gtel_tree_wall_ns(const struct gtel_tree *tree)
{
    return tree->wall_s * 1000000000u + tree->now_ns;
}

/* Calls and libraries are nodes whose path no file can have: it holds a control character. */
static int answer_key(struct gtel_str words, const char *prefix, char *buf, struct gtel_str *ret)
{
    int n = snprintf(buf, PATH_MAX_BYTES, "\001%s%.*s", prefix, GTEL_STR_ARG(words));
    if (n < 0 || n >= PATH_MAX_BYTES)
        return -ENOENT;
    *ret = (struct gtel_str){buf, (size_t)n};
    return 0;
}

static int find_answer(const struct gtel_tree *tree, struct gtel_str words, const char *prefix,
                       struct gtel_str *ret)
{
    char buf[PATH_MAX_BYTES];
    struct gtel_str key;
    int r = answer_key(words, prefix, buf, &key);
    if (r < 0)
        return r;
    const struct gtel_tree_node *node = find(tree, key);
    if (!node || node->kind != GTEL_TREE_CALL)
        return -ENOENT;
    *ret = node->text;
    return 0;
}

bool gtel_tree_has_library(const struct gtel_tree *tree, struct gtel_str name)
{
    struct gtel_str answer;
    return find_answer(tree, name, "library ", &answer) == 0 &&
           !gtel_str_eq(answer, GTEL_STR("gone"));
}

int gtel_tree_call(const struct gtel_tree *tree, struct gtel_str key, struct gtel_str *ret)
{
    return find_answer(tree, key, "", ret);
}

/* The integer part, kept within the range of 64 bits. */
static int64_t whole(double value)
{
    const double limit = 9.2e18; /* a little below 2^63 */
    if (value >= limit)
        return INT64_MAX;
    return value > -limit ? (int64_t)value : INT64_MIN;
}

int64_t gtel_tree_grown(const struct gtel_tree *tree, const struct gtel_tree_node *node)
{
    double seconds = (double)(tree->now_ns - node->since_ns) / 1e9;
    return whole(node->start + node->per_second * seconds);
}

/* Counters are answers too: one of that text, which grows. */
static int counter_key(struct gtel_str name, uint64_t config, char *buf, struct gtel_str *ret)
{
    int n = snprintf(buf, PATH_MAX_BYTES, "\001pmu %.*s %llx", GTEL_STR_ARG(name),
                     (unsigned long long)config);
    if (n < 0 || n >= PATH_MAX_BYTES)
        return -ENODEV;
    *ret = (struct gtel_str){buf, (size_t)n};
    return 0;
}

int gtel_tree_pmu(const struct gtel_tree *tree, struct gtel_str name, uint64_t config,
                  uint64_t *ret)
{
    char buf[PATH_MAX_BYTES];
    struct gtel_str key;
    if (counter_key(name, config, buf, &key) < 0)
        return -ENODEV;
    const struct gtel_tree_node *node = find(tree, key);
    if (!node || node->kind != GTEL_TREE_CALL)
        return -ENODEV;
    *ret = (uint64_t)gtel_tree_grown(tree, node);
    return 0;
}

int gtel_tree_pmu_error(const struct gtel_tree *tree, struct gtel_str name)
{
    struct gtel_str answer;
    return find_answer(tree, name, "pmu_error ", &answer) < 0 ? 0 : -error_value(answer);
}

/* Reading the text */

struct reader {
    struct gtel_tree *tree;
    struct gtel_str rest;
    size_t line;
    uint64_t t_ns;
    bool has_end;
    char *error;
    size_t error_size;
};

static int fail(const struct reader *reader, const char *what, struct gtel_str word)
{
    int n = (int)(word.n < 80 ? word.n : 80);
    (void)snprintf(reader->error, reader->error_size, "line %zu: %s%s%.*s%s", reader->line, what,
                   n > 0 ? " '" : "", n, n > 0 ? word.p : "", n > 0 ? "'" : "");
    return -EINVAL;
}

static int add_event(struct reader *reader, const struct event *event)
{
    struct gtel_tree *tree = reader->tree;
    if (tree->events == tree->events_size) {
        size_t size = tree->events_size ? tree->events_size * 2 : 256;
        struct event *p = size <= EVENTS_MAX ? realloc(tree->event, size * sizeof(*p)) : NULL;
        if (!p)
            return -ENOMEM;
        tree->event = p;
        tree->events_size = size;
    }
    tree->event[tree->events] = *event;
    tree->event[tree->events++].t_ns = reader->t_ns;
    return 0;
}

/* The lines beginning with '|' that follow, joined; each ends in a newline. */
static int read_content(struct reader *reader, struct gtel_str *ret)
{
    struct gtel_buf buf;
    gtel_buf_init(&buf, 1 << 20);
    while (gtel_str_starts(reader->rest, GTEL_STR("|"))) {
        struct gtel_str line;
        (void)gtel_str_line(&reader->rest, &line); /* not empty: it begins with '|' */
        reader->line++;
        line = gtel_str_skip(line, 1);
        gtel_buf_str(&buf, gtel_str_skip(line, gtel_str_starts(line, GTEL_STR(" "))));
        gtel_buf_char(&buf, '\n');
    }
    int r =
        buf.has_failed ? -ENOMEM : gtel_arena_str(&reader->tree->arena, gtel_buf_text(&buf), ret);
    gtel_buf_done(&buf);
    return r;
}

static int read_path(struct reader *reader, struct gtel_str *args, struct event *event)
{
    if (!gtel_str_word(args, &event->path))
        return fail(reader, "a path is missing", GTEL_STR_NONE);
    if (event->path.p[0] == '/' || event->path.n >= PATH_MAX_BYTES)
        return fail(reader, "a path must be relative and below 512 bytes:", event->path);
    return 0;
}

static int read_file(struct reader *reader, struct gtel_str args)
{
    struct event event = {.kind = GTEL_TREE_FILE};
    int r = read_path(reader, &args, &event);
    if (r < 0)
        return r;
    r = read_content(reader, &event.text);
    return r < 0 ? r : add_event(reader, &event);
}

static int read_dir_or_gone(struct reader *reader, struct gtel_str args, enum gtel_tree_kind kind)
{
    struct event event = {.kind = kind, .text = GTEL_STR("")};
    int r = read_path(reader, &args, &event);
    return r < 0 ? r : add_event(reader, &event);
}

static int read_link(struct reader *reader, struct gtel_str args)
{
    struct event event = {.kind = GTEL_TREE_LINK};
    struct gtel_str arrow;
    int r = read_path(reader, &args, &event);
    if (r < 0)
        return r;
    if (!gtel_str_word(&args, &arrow) || !gtel_str_eq(arrow, GTEL_STR("->")) ||
        !gtel_str_word(&args, &event.text))
        return fail(reader, "expected: link PATH -> TARGET", GTEL_STR_NONE);
    return add_event(reader, &event);
}

static int read_grow(struct reader *reader, struct gtel_str args)
{
    struct event event = {.kind = GTEL_TREE_FILE};
    struct gtel_str word;
    int r = read_path(reader, &args, &event);
    if (r < 0)
        return r;
    if (!gtel_str_word(&args, &word) || gtel_str_f64(word, &event.start) < 0 ||
        !gtel_str_word(&args, &word) || gtel_str_f64(word, &event.per_second) < 0)
        return fail(reader, "expected: grow PATH START PER_SECOND", GTEL_STR_NONE);
    return add_event(reader, &event);
}

static int read_error(struct reader *reader, struct gtel_str args, enum gtel_tree_kind kind)
{
    struct event event = {.kind = kind};
    struct gtel_str word = GTEL_STR_NONE;
    int r = read_path(reader, &args, &event);
    if (r < 0)
        return r;
    (void)gtel_str_word(&args, &word); /* a missing word is no known error */
    event.error = error_value(word);
    if (event.error == 0)
        return fail(reader, "not an error that is known here (EIO, EACCES …):", word);
    return add_event(reader, &event);
}

static int add_answer(struct reader *reader, const char *prefix, struct gtel_str words,
                      struct gtel_str answer)
{
    char buf[PATH_MAX_BYTES];
    struct event event = {.kind = GTEL_TREE_CALL, .text = answer};
    if (answer.n == 0)
        event.text = GTEL_STR("");
    struct gtel_str key;
    if (answer_key(words, prefix, buf, &key) < 0)
        return fail(reader, "this is too long:", words);
    int r = gtel_arena_str(&reader->tree->arena, key, &event.path);
    return r < 0 ? r : add_event(reader, &event);
}

/* call NAME WORD… = ANSWER: the words are joined by one blank. */
static int read_call(struct reader *reader, struct gtel_str args)
{
    char key[PATH_MAX_BYTES];
    size_t n = 0;
    struct gtel_str word;
    while (gtel_str_word(&args, &word)) {
        if (gtel_str_eq(word, GTEL_STR("=")) && n > 0)
            return add_answer(reader, "", (struct gtel_str){key, n}, gtel_str_trim(args));
        if (n + word.n + 1 >= sizeof(key))
            break;
        if (n > 0)
            key[n++] = ' ';
        memcpy(key + n, word.p, word.n);
        n += word.n;
    }
    return fail(reader, "expected: call NAME WORD… = ANSWER", GTEL_STR_NONE);
}

static int read_at(struct reader *reader, struct gtel_str args)
{
    uint64_t t_ns;
    struct gtel_str word = GTEL_STR_NONE;
    (void)gtel_str_word(&args, &word); /* a missing word is no time */
    if (gtel_str_duration(word, &t_ns) < 0)
        return fail(reader, "not a time (as 1s, 500ms):", word);
    if (t_ns < reader->t_ns)
        return fail(reader, "times must grow:", word);
    reader->t_ns = t_ns;
    return 0;
}

static int read_wall(struct reader *reader, struct gtel_str args)
{
    struct gtel_str word = GTEL_STR_NONE;
    (void)gtel_str_word(&args, &word); /* a missing word is no number */
    if (reader->tree->events > 0 || gtel_str_u64(word, &reader->tree->wall_s) < 0 ||
        reader->tree->wall_s > 9000000000u)
        return fail(reader, "expected, before anything else: wall SECONDS", GTEL_STR_NONE);
    return 0;
}

static int read_library(struct reader *reader, struct gtel_str args)
{
    struct gtel_str word;
    if (!gtel_str_word(&args, &word))
        return fail(reader, "expected: library NAME, or library NAME gone", GTEL_STR_NONE);
    return add_answer(reader, "library ", word, gtel_str_trim(args));
}

/* pmu NAME CONFIG START PER_SECOND */
static int read_pmu(struct reader *reader, struct gtel_str args)
{
    char buf[PATH_MAX_BYTES];
    struct event event = {.kind = GTEL_TREE_CALL, .text = GTEL_STR("")};
    struct gtel_str name;
    struct gtel_str word;
    struct gtel_str key;
    uint64_t config;
    if (!gtel_str_word(&args, &name) || !gtel_str_word(&args, &word) ||
        gtel_str_hex(word, &config) < 0 || !gtel_str_word(&args, &word) ||
        gtel_str_f64(word, &event.start) < 0 || !gtel_str_word(&args, &word) ||
        gtel_str_f64(word, &event.per_second) < 0)
        return fail(reader, "expected: pmu NAME CONFIG START PER_SECOND", GTEL_STR_NONE);
    if (counter_key(name, config, buf, &key) < 0)
        return fail(reader, "this is too long:", name);
    int r = gtel_arena_str(&reader->tree->arena, key, &event.path);
    return r < 0 ? r : add_event(reader, &event);
}

static int read_pmu_error(struct reader *reader, struct gtel_str args)
{
    struct gtel_str name;
    struct gtel_str error = GTEL_STR_NONE;
    if (!gtel_str_word(&args, &name))
        return fail(reader, "expected: pmu_error NAME ERROR", GTEL_STR_NONE);
    (void)gtel_str_word(&args, &error); /* a missing word is no known error */
    if (error_value(error) == 0 && !gtel_str_eq(error, GTEL_STR("none")))
        return fail(reader, "not an error that is known here (EIO, EACCES …):", error);
    return add_answer(reader, "pmu_error ", name, error);
}

static int read_line(struct reader *reader, struct gtel_str line)
{
    struct gtel_str word;
    struct gtel_str args = line;
    if (gtel_str_starts(line, GTEL_STR("#")) || !gtel_str_word(&args, &word))
        return 0;
    if (reader->has_end)
        return fail(reader, "text after end:", word);
    if (gtel_str_eq(word, GTEL_STR("file")))
        return read_file(reader, args);
    if (gtel_str_eq(word, GTEL_STR("link")))
        return read_link(reader, args);
    if (gtel_str_eq(word, GTEL_STR("grow")))
        return read_grow(reader, args);
    if (gtel_str_eq(word, GTEL_STR("call")))
        return read_call(reader, args);
    if (gtel_str_eq(word, GTEL_STR("dir")))
        return read_dir_or_gone(reader, args, GTEL_TREE_DIR);
    if (gtel_str_eq(word, GTEL_STR("gone")))
        return read_dir_or_gone(reader, args, GTEL_TREE_GONE);
    if (gtel_str_eq(word, GTEL_STR("error")))
        return read_error(reader, args, GTEL_TREE_FILE);
    if (gtel_str_eq(word, GTEL_STR("refuse")))
        return read_error(reader, args, GTEL_TREE_REFUSED);
    if (gtel_str_eq(word, GTEL_STR("at")))
        return read_at(reader, args);
    if (gtel_str_eq(word, GTEL_STR("wall")))
        return read_wall(reader, args);
    if (gtel_str_eq(word, GTEL_STR("library")))
        return read_library(reader, args);
    if (gtel_str_eq(word, GTEL_STR("pmu")))
        return read_pmu(reader, args);
    if (gtel_str_eq(word, GTEL_STR("pmu_error")))
        return read_pmu_error(reader, args);
    if (gtel_str_eq(word, GTEL_STR("end"))) {
        reader->has_end = true;
        return 0;
    }
    return fail(reader, "unknown word", word);
}

/* Nonsense in the last line of a file without `end`: most likely the rest is missing. */
static void add_hint(const struct reader *reader)
{
    size_t n = strlen(reader->error);
    if (!reader->has_end && reader->rest.n == 0 && n < reader->error_size)
        (void)snprintf(reader->error + n, reader->error_size - n,
                       "; there the file ends without 'end': it has been cut");
}

static int read_all(struct reader *reader)
{
    struct gtel_str line;
    while (gtel_str_line(&reader->rest, &line)) {
        reader->line++;
        int r = read_line(reader, line);
        if (r == -EINVAL)
            add_hint(reader);
        if (r < 0)
            return r;
    }
    if (!reader->has_end)
        return fail(reader, "the last line is not 'end': the file has been cut", GTEL_STR_NONE);
    return 0;
}

int gtel_tree_parse(struct gtel_str text, struct gtel_tree **ret, char *error, size_t size)
{
    (void)snprintf(error, size, "out of memory");
    struct gtel_tree *tree = calloc(1, sizeof(*tree));
    struct reader reader = {.tree = tree, .error = error, .error_size = size};
    int r = -ENOMEM;
    if (!tree)
        goto out;
    tree->wall_s = WALL_DEFAULT;
    r = gtel_arena_str(&tree->arena, text, &reader.rest);
    if (r < 0)
        goto out;
    r = read_all(&reader);
    if (r < 0)
        goto out;
    if (!add_node(tree, GTEL_STR(""))) { /* the root, also of an empty machine */
        r = -ENOMEM;
        goto out;
    }
    tree->node[0].kind = GTEL_TREE_DIR;
    gtel_tree_seek(tree, 0);
    *ret = tree;
    tree = NULL;
out:
    gtel_tree_free(tree);
    return r;
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
