/* SPDX-License-Identifier: MIT */
/* A recorded machine as an env. */
#include "host/kernel.h"
#include "host/numbers.h"
#include "parse/words.h"
#include "recording/tree_node.h"
#include "recording/way.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    GROUPS_MAX = 8,
    EARS_MAX = 4, /* listeners to messages about devices */
    INDEX_BITS = 19,
    INDEX_MASK = (1 << INDEX_BITS) - 1,
    GENERATION_MASK = 0xfff /* handles stay positive */
};

/* Time 0 of a stepped machine on its monotonic clock: not 0, which would mean "no time". */
static const uint64_t stepped_base_ns = 1000000000;

/* A group of perf counters; free where n is 0. */
struct tree_group {
    char pmu[GTEL_TREE_PMU_MAX];
    size_t n;
    uint64_t config[GTEL_PMU_EVENTS_MAX];
};

struct tree_env {
    struct gtel_tree *tree;
    uint64_t epoch_ns; /* real monotonic time of time 0; 0: time is stepped */
    uint64_t step_ns;
    struct tree_group group[GROUPS_MAX];
    size_t ear[EARS_MAX];        /* place in the recording + 1; 0: not open */
    struct gtel_numbers numbers; /* memory for the next listing */
};

static uint64_t tree_time(const struct tree_env *env)
{
    if (env->epoch_ns == 0)
        return env->step_ns;
    uint64_t now = gtel_env_real_now();
    return now > env->epoch_ns ? now - env->epoch_ns : 0;
}

static struct gtel_tree *tree_now(struct tree_env *env)
{
    gtel_tree_seek(env->tree, tree_time(env));
    return env->tree;
}

/* Reading the clock moves the machine on, for those who then ask a library and no file. */
static uint64_t monotonic_ns(void *arg)
{
    struct tree_env *env = arg;
    (void)tree_now(env);
    return env->epoch_ns == 0 ? stepped_base_ns + env->step_ns : gtel_env_real_now();
}

static uint64_t wall_ns(void *arg)
{
    struct tree_env *env = arg;
    const struct gtel_tree *tree = tree_now(env);
    return env->epoch_ns == 0 ? tree->wall_s * 1000000000u + tree->now_ns : gtel_env_real_wall();
}

static struct gtel_tree_node *find(struct tree_env *env, const char *path, bool follows, int *error)
{
    return gtel_tree_find(tree_now(env), gtel_str_of(path), follows, error);
}

static int node_handle(const struct tree_env *env, const struct gtel_tree_node *node)
{
    size_t index = (size_t)(node - env->tree->node);
    return (int)((node->generation & GENERATION_MASK) << INDEX_BITS | index);
}

/* The node of a handle, or NULL when it has gone since. */
static const struct gtel_tree_node *handle_node(struct tree_env *env, int handle)
{
    const struct gtel_tree *tree = tree_now(env);
    size_t index = (size_t)(handle & INDEX_MASK);
    const struct gtel_tree_node *node = &tree->node[index];
    bool is_same = index < tree->nodes && node->kind != GTEL_TREE_GONE &&
                   (node->generation & GENERATION_MASK) == (uint32_t)handle >> INDEX_BITS;
    return is_same ? node : NULL;
}

static int file_open(void *arg, const char *path)
{
    struct tree_env *env = arg;
    int r;
    const struct gtel_tree_node *node = find(env, path, true, &r);
    if (!node)
        return r;
    if (node->kind == GTEL_TREE_CHAR)
        return -ENXIO; /* as of a node without a driver behind it */
    if (!gtel_tree_is_file(node->kind))
        return -EISDIR;
    if (node->open_error)
        return -node->open_error;
    return node_handle(env, node);
}

/* What buf has room for; its length. */
static int64_t give(struct gtel_str text, void *buf, size_t n)
{
    text = gtel_str_head(text, n);
    if (text.n > 0)
        memcpy(buf, text.p, text.n);
    return (int64_t)text.n;
}

/* All of it. */
static int64_t give_whole(struct gtel_str text, void *buf, size_t n)
{
    return text.n > n ? -E2BIG : give(text, buf, n);
}

/* The integer part, kept within the range of 64 bits. */
static int64_t whole(double value)
{
    const double limit = 9.2e18; /* a little below 2^63 */
    if (value >= limit)
        return INT64_MAX;
    return value > -limit ? (int64_t)value : INT64_MIN;
}

/*
 * A growing number now, cut to an integer. Whole seconds apart from the rest: 4.1 s has no exact
 * double, and a count would lose one.
 */
static int64_t grown(const struct gtel_tree *tree, const struct gtel_tree_node *node)
{
    const uint64_t second_ns = 1000000000;
    uint64_t since_ns = tree->now_ns - node->since_ns;
    uint64_t seconds = since_ns / second_ns;
    uint64_t rest_ns = since_ns % second_ns;
    double value = node->start + node->per_second * (double)seconds;
    return whole(value + node->per_second * (double)rest_ns / (double)second_ns);
}

/* The bytes of a binary file now; buf has GTEL_TREE_BYTES_MAX. Their number. */
static size_t pack(const struct gtel_tree *tree, const struct gtel_tree_node *node,
                   unsigned char *buf)
{
    size_t n = 0; /* words were checked when they were read: only a counter beyond all fails */
    double seconds = (double)(tree->now_ns - node->since_ns) / 1e9;
    (void)gtel_words_pack(node->text, seconds, buf, GTEL_TREE_BYTES_MAX, &n);
    return n;
}

static int64_t file_read(void *arg, int handle, void *buf, size_t n)
{
    struct tree_env *env = arg;
    char bytes[GTEL_TREE_BYTES_MAX];
    const struct gtel_tree_node *node = handle_node(env, handle);
    /* A sysfs file whose device is gone answers ENODEV (kernfs, kernel 6.x). */
    if (!node || !gtel_tree_is_file(node->kind))
        return -ENODEV;
    if (node->read_error)
        return -node->read_error;
    struct gtel_str text = node->text;
    if (node->kind == GTEL_TREE_GROWING)
        text = (struct gtel_str){
            bytes, (size_t)snprintf(bytes, sizeof(bytes), "%" PRId64 "\n", grown(env->tree, node))};
    else if (node->kind == GTEL_TREE_BINARY)
        text = (struct gtel_str){bytes, pack(env->tree, node, (unsigned char *)bytes)};
    return give(text, buf, n);
}

static void file_close(void *arg, int handle)
{
    (void)arg;
    (void)handle;
}

static int dir_list(void *arg, const char *path, gtel_dir_fn fn, void *fn_arg)
{
    struct tree_env *env = arg;
    int r;
    const struct gtel_tree_node *node = find(env, path, true, &r);
    if (!node)
        return r;
    if (node->open_error)
        return -node->open_error;
    if (node->kind != GTEL_TREE_DIR)
        return -ENOTDIR;
    return gtel_tree_list(env->tree, node, fn, fn_arg);
}

static int64_t link_read(void *arg, const char *path, char *buf, size_t n)
{
    struct tree_env *env = arg;
    int r;
    const struct gtel_tree_node *node = find(env, path, false, &r);
    if (!node)
        return r;
    if (node->kind != GTEL_TREE_LINK)
        return -EINVAL;
    return give(node->text, buf, n);
}

static int exists(void *arg, const char *path)
{
    struct tree_env *env = arg;
    int r;
    return find(env, path, true, &r) ? 0 : r;
}

static const struct gtel_env_ops tree_ops;

/* Since Linux 6.2 the directory has the number of its entries as its size (kernel: fs/proc/fd.c).
 */
static bool has_counts(struct tree_env *env)
{
    const struct gtel_env self = {.ops = &tree_ops, .arg = env};
    return !gtel_kernel_is_older(&self, 6, 2);
}

/* By default 0, root. */
static uint32_t owner_of(const struct gtel_tree *tree, const struct gtel_tree_node *node)
{
    const char *words = GTEL_FS_AT("owner %.*s", GTEL_STR_ARG(node->path));
    struct gtel_str answer;
    uint64_t uid;
    if (gtel_tree_call(tree, gtel_str_of(words), &answer) < 0 || gtel_str_u64(answer, &uid) < 0)
        return 0;
    return (uint32_t)uid;
}

static void stat_node(struct tree_env *env, const struct gtel_tree_node *node,
                      struct gtel_stat *ret)
{
    *ret = (struct gtel_stat){.ino = (uint64_t)node->generation << INDEX_BITS |
                                     (uint64_t)(node - env->tree->node),
                              .uid = owner_of(env->tree, node),
                              .is_char = node->kind == GTEL_TREE_CHAR};
    if (gtel_way_is_descriptors(node->path)) /* also of one that cannot be listed */
        ret->size = has_counts(env) ? gtel_tree_entries(env->tree, node) : 0;
    else if (gtel_tree_is_file(node->kind))
        ret->size = node->text.n;
    if (ret->is_char) {
        ret->major = (uint32_t)node->start;
        ret->minor = (uint32_t)node->per_second;
    }
}

static int stat_file(void *arg, const char *path, struct gtel_stat *ret)
{
    struct tree_env *env = arg;
    int r;
    const struct gtel_tree_node *node = find(env, path, true, &r);
    if (node)
        stat_node(env, node, ret);
    return node ? 0 : r;
}

static int dir_open(void *arg, const char *path)
{
    struct tree_env *env = arg;
    int r;
    const struct gtel_tree_node *node = find(env, path, true, &r);
    return node ? node_handle(env, node) : r;
}

static int dir_stat(void *arg, int handle, const char *name, struct gtel_stat *ret)
{
    struct tree_env *env = arg;
    char path[GTEL_TREE_PATH_MAX];
    const struct gtel_tree_node *node = handle_node(env, handle);
    if (!node)
        return -ENOENT;
    if (name[0] == '\0') {
        stat_node(env, node, ret);
        return 0;
    }
    int n = snprintf(path, sizeof(path), "%.*s/%s", GTEL_STR_ARG(node->path), name);
    return n > 0 && n < GTEL_TREE_PATH_MAX ? stat_file(arg, path, ret) : -ENAMETOOLONG;
}

static int dir_list_from(void *arg, const char *path, uint32_t first, gtel_number_fn fn,
                         void *fn_arg)
{
    struct tree_env *env = arg;
    struct gtel_numbers numbers = env->numbers;
    env->numbers = (struct gtel_numbers){0}; /* fn may list, too */
    numbers.n = 0;
    numbers.first = first;
    int r = dir_list(env, path, gtel_numbers_add, &numbers);
    if (r == 0)
        r = gtel_numbers_each(&numbers, fn, fn_arg);
    gtel_numbers_done(&env->numbers);
    env->numbers = numbers;
    return r;
}

/* What plays them is not part of a recorded machine (tests/harness/tree_library.h). */
static int lib_open(void *arg, const char *const *names, void **ret)
{
    struct tree_env *env = arg;
    (void)ret;
    for (size_t i = 0; names[i]; i++)
        if (gtel_tree_has_library(tree_now(env), gtel_str_of(names[i])))
            return -EPERM;
    return -ENOENT;
}

struct pmu_search {
    const struct gtel_env *env;
    uint32_t type;
    char *name;
};

static int match_type(void *arg, struct gtel_str name)
{
    const struct pmu_search *search = arg;
    uint64_t type;
    return gtel_fs_u64(search->env,
                       GTEL_FS_AT("sys/bus/event_source/devices/%.*s/type", GTEL_STR_ARG(name)),
                       &type) == 0 &&
           type == search->type && gtel_str_copy(search->name, GTEL_TREE_PMU_MAX, name);
}

bool gtel_tree_pmu_name(const struct gtel_env *env, uint32_t type, char ret[GTEL_TREE_PMU_MAX])
{
    struct pmu_search search = {env, type, ret};
    return env->ops->dir_list(env->arg, "sys/bus/event_source/devices", match_type, &search) == 1;
}

/* -ENODEV when the PMU has none of that config. */
static int read_counter(const struct gtel_tree *tree, const char *name, uint64_t config,
                        uint64_t *ret)
{
    const char *words = GTEL_FS_AT("pmu %s %" PRIx64, name, config);
    const struct gtel_tree_node *node = gtel_tree_find_answer(tree, gtel_str_of(words));
    if (!node)
        return -ENODEV;
    *ret = (uint64_t)grown(tree, node);
    return 0;
}

static int pmu_open(void *arg, uint32_t type, const uint64_t *configs, size_t n, uint32_t cpu)
{
    struct tree_env *env = arg;
    const struct gtel_env self = {.ops = &tree_ops, .arg = env};
    char name[GTEL_TREE_PMU_MAX];
    int handle = 0;
    uint64_t value;
    (void)cpu;
    if (!gtel_tree_pmu_name(&self, type, name))
        return -ENOENT;
    int r = gtel_tree_error(env->tree, GTEL_FS_AT("pmu_error %s", name));
    if (r < 0)
        return r;
    while (handle < GROUPS_MAX && env->group[handle].n > 0)
        handle++;
    if (handle == GROUPS_MAX || n == 0 || n > GTEL_PMU_EVENTS_MAX)
        return -EMFILE;
    struct tree_group *group = &env->group[handle];
    for (size_t i = 0; i < n; i++) {
        r = read_counter(env->tree, name, configs[i], &value);
        if (r < 0) /* i915 says ENODEV, and xe ENOENT (kernel: i915/i915_pmu.c, xe/xe_pmu.c) */
            return gtel_str_starts(gtel_str_of(name), GTEL_STR("xe_")) ? -ENOENT : r;
        group->config[i] = configs[i];
    }
    memcpy(group->pmu, name, sizeof(name));
    group->n = n;
    return handle;
}

/* As on a machine, a group that is open goes on when its PMU's files are gone. */
static int pmu_read(void *arg, int handle, uint64_t *values, size_t n, uint64_t *ret_enabled_ns)
{
    struct tree_env *env = arg;
    if (handle < 0 || handle >= GROUPS_MAX || env->group[handle].n == 0 ||
        env->group[handle].n != n)
        return -EBADF;
    const struct gtel_tree *tree = tree_now(env);
    for (size_t i = 0; i < n; i++) {
        int r =
            read_counter(tree, env->group[handle].pmu, env->group[handle].config[i], &values[i]);
        if (r < 0)
            return r;
    }
    /* All groups count from a second before time 0, so that it does not matter when they begin. */
    *ret_enabled_ns = stepped_base_ns + tree->now_ns;
    return 0;
}

static void pmu_close(void *arg, int handle)
{
    struct tree_env *env = arg;
    if (handle >= 0 && handle < GROUPS_MAX)
        env->group[handle].n = 0;
}

static int64_t drm_query(void *arg, const char *node, enum gtel_drm_driver driver, uint32_t item,
                         void *buf, size_t n)
{
    struct tree_env *env = arg;
    struct gtel_str answer;
    const char *key =
        GTEL_FS_AT("%s %s %" PRIu32, node, driver == GTEL_DRM_XE ? "xe" : "i915", item);
    int r = gtel_tree_error(tree_now(env), GTEL_FS_AT("query_error %s", key));
    if (r == 0)
        r = gtel_tree_call(env->tree, gtel_str_of(GTEL_FS_AT("query %s", key)), &answer);
    return r < 0 ? r : give_whole(answer, buf, n);
}

static int uevent_open(void *arg)
{
    struct tree_env *env = arg;
    struct gtel_str answer;
    if (gtel_tree_call(tree_now(env), GTEL_STR("uevents"), &answer) < 0)
        return -EOPNOTSUPP;
    if (gtel_tree_error_value(answer) != 0)
        return -gtel_tree_error_value(answer);
    for (int i = 0; i < EARS_MAX; i++) {
        if (env->ear[i] > 0)
            continue;
        env->ear[i] = env->tree->applied + 1;
        return i;
    }
    return -EMFILE;
}

static int64_t uevent_read(void *arg, int handle, void *buf, size_t n)
{
    struct tree_env *env = arg;
    if (handle < 0 || handle >= EARS_MAX || env->ear[handle] == 0)
        return -EBADF;
    const struct gtel_tree *tree = tree_now(env);
    while (env->ear[handle] <= tree->applied) {
        const struct gtel_tree_event *event = &tree->event[env->ear[handle]++ - 1];
        if (event->kind == GTEL_TREE_UEVENT)
            return event->error ? -event->error : give_whole(event->text, buf, n);
    }
    return -EAGAIN;
}

static void uevent_close(void *arg, int handle)
{
    struct tree_env *env = arg;
    if (handle >= 0 && handle < EARS_MAX)
        env->ear[handle] = 0;
}

/* An error counter's node is named "\001ras DEVICE NODE NAME". False when it is none of that
 * device. */
static bool read_ras(const struct gtel_tree_node *node, struct gtel_str prefix,
                     struct gtel_ras_counter *ret)
{
    struct gtel_str rest = gtel_str_skip(node->path, prefix.n);
    struct gtel_str part;
    uint64_t value;
    if (node->kind != GTEL_TREE_CALL || !gtel_str_starts(node->path, prefix) ||
        !gtel_str_word(&rest, &part) || gtel_str_u64(node->text, &value) < 0)
        return false;
    (void)gtel_str_copy(ret->node, sizeof(ret->node), part);
    (void)gtel_str_copy(ret->name, sizeof(ret->name), gtel_str_trim(rest));
    ret->value = (uint32_t)value;
    return true;
}

static int ras_read(void *arg, const char *device, struct gtel_ras_counter *ret, size_t max,
                    size_t *ret_n)
{
    const struct gtel_tree *tree = tree_now(arg);
    const struct gtel_str prefix = gtel_str_of(GTEL_FS_AT("\001ras %s ", device));
    struct gtel_ras_counter counter;
    size_t n = 0;
    int r = gtel_tree_error(tree, "ras_error");
    if (r < 0)
        return r;
    for (size_t i = 0; i < tree->nodes && prefix.n > 0 && n < max; i++)
        if (read_ras(&tree->node[i], prefix, &counter))
            ret[n++] = counter;
    *ret_n = n;
    return n > 0 ? 0 : -ENOENT;
}

static const struct gtel_env_ops tree_ops = {
    .monotonic_ns = monotonic_ns,
    .wall_ns = wall_ns,
    .file_open = file_open,
    .file_read = file_read,
    .file_close = file_close,
    .dir_list = dir_list,
    .link_read = link_read,
    .exists = exists,
    .stat = stat_file,
    .dir_list_from = dir_list_from,
    .dir_open = dir_open,
    .dir_stat = dir_stat,
    .dir_close = file_close,
    .lib_open = lib_open,
    .pmu_open = pmu_open,
    .pmu_read = pmu_read,
    .pmu_close = pmu_close,
    .drm_query = drm_query,
    .uevent_open = uevent_open,
    .uevent_read = uevent_read,
    .uevent_close = uevent_close,
    .ras_read = ras_read,
};

int gtel_env_tree_init(struct gtel_tree *tree, bool is_stepped, uint64_t epoch_ns,
                       struct gtel_env *ret)
{
    struct tree_env *env = calloc(1, sizeof(*env));
    if (!env)
        return -ENOMEM;
    env->tree = tree;
    if (!is_stepped)
        env->epoch_ns = epoch_ns ? epoch_ns : gtel_env_real_now();
    *ret = (struct gtel_env){.ops = &tree_ops, .arg = env};
    return 0;
}

void gtel_env_tree_step(struct gtel_env *env, uint64_t ns)
{
    struct tree_env *tree = env->arg;
    tree->step_ns += ns;
}

void gtel_env_tree_done(struct gtel_env *env)
{
    struct tree_env *tree = env->arg;
    if (tree)
        gtel_numbers_done(&tree->numbers);
    free(tree);
    *env = (struct gtel_env){0};
}
