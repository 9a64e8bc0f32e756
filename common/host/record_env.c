/* SPDX-License-Identifier: MIT */
/* An env around another one that records what is asked and answered. */
#include "host/record_env.h"

#include "parse/uevent.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PATH_SIZE = 512, /* as in recorded machines */
    HANDLES_MAX = 16384,
    GROUPS_MAX = 256,
    READ_MAX = 65536,
    NAMES_MAX = 65536,
    LINKS_MAX = 16
};

static const char pmu_dir[] = "sys/bus/event_source/devices";

struct handle {
    bool is_open;
    int inner;
    char path[PATH_SIZE]; /* as asked for */
};

struct group {
    bool is_open;
    int inner;
    char pmu[64]; /* empty: its name was not found */
    size_t n;
    uint64_t config[GTEL_PMU_EVENTS_MAX];
};

struct gtel_record_env {
    const struct gtel_env *inner;
    struct gtel_record *record;
    struct handle *handle;
    size_t handles;
    struct group *group;
    char *buf; /* READ_MAX */
    bool lacks_library;
};

static struct gtel_str str(const char *text)
{
    return gtel_str_of(text);
}

/* "Not there" needs no line: what is not in the text is not there. */
static bool is_missing(int r)
{
    return r == -ENOENT || r == -ENOTDIR;
}

/* ---- paths ---- */

struct way {
    char done[PATH_SIZE]; /* no link, no ".." */
    char rest[2 * PATH_SIZE];
    unsigned links;
};

static void drop_last(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
    else
        path[0] = '\0';
}

/* Cuts the next part off the rest. False when nothing is left. */
static bool next_part(struct way *way, char *part, size_t size, bool *ret_is_last)
{
    struct gtel_str rest = str(way->rest);
    while (gtel_str_starts(rest, GTEL_STR("/")))
        rest = gtel_str_skip(rest, 1);
    size_t n = gtel_str_find(rest, '/');
    if (n == 0 || !gtel_str_copy(part, size, (struct gtel_str){rest.p, n}))
        return false;
    rest = gtel_str_skip(rest, n);
    *ret_is_last = rest.n <= 1;
    memmove(way->rest, rest.p, rest.n + 1);
    return true;
}

static bool append(char *path, size_t size, const char *part)
{
    size_t n = strlen(path);
    int r = snprintf(path + n, size - n, "%s%s", n > 0 ? "/" : "", part);
    return r >= 0 && (size_t)r < size - n;
}

/* Goes on at the target of the link at the end of what is done. */
static bool follow(struct way *way, const char *target)
{
    char rest[2 * PATH_SIZE];
    drop_last(way->done);
    if (target[0] == '/')
        way->done[0] = '\0';
    int r = snprintf(rest, sizeof(rest), "%s%s", target, way->rest);
    memcpy(way->rest, rest, sizeof(rest));
    return r >= 0 && (size_t)r < sizeof(rest) && ++way->links <= LINKS_MAX;
}

/* Adds a part; a link is recorded and, when it should be, followed. 0 or a negative errno. */
static int step(struct gtel_record_env *env, struct way *way, const char *part, bool follows)
{
    char target[PATH_SIZE];
    if (strcmp(part, ".") == 0)
        return 0;
    if (strcmp(part, "..") == 0) {
        drop_last(way->done);
        return 0;
    }
    if (!append(way->done, sizeof(way->done), part))
        return -ENAMETOOLONG;
    int64_t n = env->inner->ops->link_read(env->inner->arg, way->done, target, sizeof(target) - 1);
    if (n < 0)
        return n == -ENOENT || n == -ENOTDIR ? (int)n : 0; /* no link, or not to be known */
    target[n] = '\0';
    gtel_record_link(env->record, str(way->done), (struct gtel_str){target, (size_t)n});
    return follows && !follow(way, target) ? -ELOOP : 0;
}

/*
 * Where a path leads. On -ENOENT way->done is the first part that is not there. Recorded links are
 * those on the way.
 */
static int resolve(struct gtel_record_env *env, const char *path, bool follows_last,
                   struct way *way)
{
    char part[PATH_SIZE];
    bool is_last = false;
    *way = (struct way){.links = 0};
    if (!gtel_str_copy(way->rest, sizeof(way->rest), str(path)))
        return -ENAMETOOLONG;
    while (next_part(way, part, sizeof(part), &is_last)) {
        int r = step(env, way, part, follows_last || !is_last);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Records that something that may have been there is not. */
static void note_missing(struct gtel_record_env *env, const char *path, bool follows_last)
{
    struct way way;
    if (is_missing(resolve(env, path, follows_last, &way)))
        gtel_record_gone(env->record, str(way.done));
}

static int stop_listing(void *arg, struct gtel_str name)
{
    (void)arg;
    (void)name;
    return 1;
}

/* Records that something is there, whatever it is, unless that is known. path has no links. */
static void note_there(struct gtel_record_env *env, const char *path)
{
    const struct gtel_env *inner = env->inner;
    char target[PATH_SIZE];
    if (path[0] == '\0' || gtel_record_find(env->record, str(path)) != GTEL_RECORD_NOTHING)
        return;
    int64_t n = inner->ops->link_read(inner->arg, path, target, sizeof(target));
    if (n > 0)
        gtel_record_link(env->record, str(path), (struct gtel_str){target, (size_t)n});
    else if (inner->ops->dir_list(inner->arg, path, stop_listing, NULL) >= 0)
        gtel_record_dir(env->record, str(path));
    else
        gtel_record_file(env->record, str(path), GTEL_STR_NONE);
}

/* ---- clocks ---- */

static uint64_t monotonic_ns(void *arg)
{
    const struct gtel_record_env *env = arg;
    return env->inner->ops->monotonic_ns(env->inner->arg);
}

static uint64_t wall_ns(void *arg)
{
    const struct gtel_record_env *env = arg;
    return env->inner->ops->wall_ns(env->inner->arg);
}

static uint64_t suspended_ns(void *arg)
{
    const struct gtel_record_env *env = arg;
    return env->inner->ops->suspended_ns(env->inner->arg);
}

/* ---- files ---- */

static int keep_handle(struct gtel_record_env *env, const char *path, int inner)
{
    size_t i = 0;
    while (i < env->handles && env->handle[i].is_open)
        i++;
    if (i == env->handles) {
        size_t size = env->handles ? env->handles * 2 : 64;
        struct handle *p = size <= HANDLES_MAX ? realloc(env->handle, size * sizeof(*p)) : NULL;
        if (!p)
            return -EMFILE;
        memset(p + env->handles, 0, (size - env->handles) * sizeof(*p));
        env->handle = p;
        env->handles = size;
    }
    env->handle[i].is_open = true;
    env->handle[i].inner = inner;
    if (!gtel_str_copy(env->handle[i].path, PATH_SIZE, str(path)))
        env->record->has_failed = true; /* no path of ours is that long */
    return (int)i;
}

static int file_open(void *arg, const char *path)
{
    struct gtel_record_env *env = arg;
    struct way way;
    int inner = env->inner->ops->file_open(env->inner->arg, path);
    if (is_missing(inner)) {
        note_missing(env, path, true);
        return inner;
    }
    if (resolve(env, path, true, &way) == 0) {
        enum gtel_record_kind kind = gtel_record_find(env->record, str(way.done));
        if (inner >= 0 && (kind == GTEL_RECORD_NOTHING || kind == GTEL_RECORD_REFUSED))
            gtel_record_file(env->record, str(way.done), GTEL_STR_NONE);
        else if (inner == -EISDIR)
            note_there(env, way.done);
        else if (inner < 0)
            gtel_record_refuse(env->record, str(way.done), inner);
    }
    if (inner < 0)
        return inner;
    int handle = keep_handle(env, path, inner);
    if (handle < 0)
        env->inner->ops->file_close(env->inner->arg, inner);
    return handle;
}

/*
 * The device of an open file is gone: its old handles are dead, and the same path may lead to a new
 * file already.
 */
static void note_dead(struct gtel_record_env *env, const char *path)
{
    const struct gtel_env *inner = env->inner;
    struct way way;
    int fresh = inner->ops->file_open(inner->arg, path);
    int64_t n = fresh >= 0 ? inner->ops->file_read(inner->arg, fresh, env->buf, READ_MAX) : fresh;
    if (fresh >= 0)
        inner->ops->file_close(inner->arg, fresh);
    if (fresh < 0) {
        note_missing(env, path, true);
        return;
    }
    if (resolve(env, path, true, &way) < 0)
        return;
    if (n < 0) {
        gtel_record_broken(env->record, str(way.done), (int)n);
        return;
    }
    gtel_record_gone(env->record, str(way.done));
    gtel_record_file(env->record, str(way.done), (struct gtel_str){env->buf, (size_t)n});
}

static int64_t file_read(void *arg, int handle, void *buf, size_t n)
{
    struct gtel_record_env *env = arg;
    struct way way;
    if (handle < 0 || (size_t)handle >= env->handles || !env->handle[handle].is_open)
        return -EBADF;
    const struct handle *file = &env->handle[handle];
    int64_t r = env->inner->ops->file_read(env->inner->arg, file->inner, env->buf, READ_MAX);
    if (r == -ENODEV) {
        note_dead(env, file->path);
        return r;
    }
    if (resolve(env, file->path, true, &way) < 0)
        gtel_record_gone(env->record, str(way.done)); /* gone, though it still answers */
    else if (r >= 0)
        gtel_record_file(env->record, str(way.done), (struct gtel_str){env->buf, (size_t)r});
    else
        gtel_record_broken(env->record, str(way.done), (int)r);
    if (r <= 0)
        return r;
    size_t size = (size_t)r < n ? (size_t)r : n;
    memcpy(buf, env->buf, size);
    return (int64_t)size;
}

static void file_close(void *arg, int handle)
{
    struct gtel_record_env *env = arg;
    if (handle < 0 || (size_t)handle >= env->handles || !env->handle[handle].is_open)
        return;
    env->inner->ops->file_close(env->inner->arg, env->handle[handle].inner);
    env->handle[handle].is_open = false;
}

/* ---- directories and links ---- */

struct listing {
    struct gtel_arena arena;
    struct gtel_str *name;
    size_t n;
    size_t size;
};

static int keep_name(void *arg, struct gtel_str name)
{
    struct listing *listing = arg;
    if (listing->n == listing->size) {
        size_t size = listing->size ? listing->size * 2 : 256;
        struct gtel_str *p = size <= NAMES_MAX ? realloc(listing->name, size * sizeof(*p)) : NULL;
        if (!p)
            return -ENOMEM;
        listing->name = p;
        listing->size = size;
    }
    int r = gtel_arena_str(&listing->arena, name, &listing->name[listing->n]);
    listing->n += r == 0 ? 1 : 0;
    return r;
}

static int compare_names(const void *a, const void *b)
{
    return gtel_str_cmp(*(const struct gtel_str *)a, *(const struct gtel_str *)b);
}

static void record_listing(struct gtel_record_env *env, const char *dir, struct listing *listing)
{
    gtel_record_dir(env->record, str(dir));
    if (listing->n > 0)
        qsort(listing->name, listing->n, sizeof(*listing->name), compare_names);
    gtel_record_keep(env->record, str(dir), listing->name, listing->n);
    for (size_t i = 0; i < listing->n; i++) {
        char path[2 * PATH_SIZE];
        int n = snprintf(path, sizeof(path), "%s/%.*s", dir, GTEL_STR_ARG(listing->name[i]));
        if (n > 0 && n < PATH_SIZE)
            note_there(env, path);
    }
}

static int dir_list(void *arg, const char *path, gtel_dir_fn fn, void *fn_arg)
{
    struct gtel_record_env *env = arg;
    struct listing listing = {0};
    struct way way;
    int r = env->inner->ops->dir_list(env->inner->arg, path, keep_name, &listing);
    if (r == -ENOENT)
        note_missing(env, path, true);
    else if (resolve(env, path, true, &way) == 0 && r == 0)
        record_listing(env, way.done, &listing);
    else if (r == -ENOTDIR)
        note_there(env, way.done);
    else if (r < 0)
        gtel_record_refuse(env->record, str(way.done), r);
    for (size_t i = 0; i < listing.n && r == 0; i++)
        r = fn(fn_arg, listing.name[i]);
    free(listing.name);
    gtel_arena_done(&listing.arena);
    return r;
}

static int64_t link_read(void *arg, const char *path, char *buf, size_t n)
{
    struct gtel_record_env *env = arg;
    struct way way;
    int64_t r = env->inner->ops->link_read(env->inner->arg, path, buf, n);
    if (r < 0 && is_missing((int)r))
        note_missing(env, path, false);
    else if (resolve(env, path, false, &way) == 0 && r == -EINVAL)
        note_there(env, way.done);
    return r;
}

static int exists(void *arg, const char *path)
{
    struct gtel_record_env *env = arg;
    struct way way;
    int r = env->inner->ops->exists(env->inner->arg, path);
    if (is_missing(r))
        note_missing(env, path, true);
    else if (r == 0 && resolve(env, path, true, &way) == 0)
        note_there(env, way.done);
    return r;
}

/* ---- libraries ---- */

static int lib_open(void *arg, const char *const *names, void **ret)
{
    struct gtel_record_env *env = arg;
    (void)names;
    (void)ret;
    env->lacks_library = true;
    return -ENOENT;
}

static void *lib_symbol(void *arg, void *lib, const char *name)
{
    (void)arg;
    (void)lib;
    (void)name;
    return NULL;
}

static void lib_close(void *arg, void *lib)
{
    (void)arg;
    (void)lib;
}

/* ---- counters ---- */

struct pmu_look {
    struct gtel_record_env *env;
    uint32_t type;
    char *name;
    size_t size;
};

static int match_type(void *arg, struct gtel_str name)
{
    struct pmu_look *look = arg;
    const struct gtel_env *inner = look->env->inner;
    char path[256];
    char buf[32];
    uint64_t type;
    int n = snprintf(path, sizeof(path), "%s/%.*s/type", pmu_dir, GTEL_STR_ARG(name));
    int handle = n > 0 && (size_t)n < sizeof(path) ? inner->ops->file_open(inner->arg, path) : -1;
    if (handle < 0)
        return 0;
    int64_t got = inner->ops->file_read(inner->arg, handle, buf, sizeof(buf));
    inner->ops->file_close(inner->arg, handle);
    const struct gtel_str text = {buf, got > 0 ? (size_t)got : 0};
    if (gtel_str_u64(gtel_str_trim(text), &type) < 0 || type != look->type)
        return 0;
    return gtel_str_copy(look->name, look->size, name) ? 1 : 0;
}

/* The name of the PMU of a type; empty when none has it. */
static void find_pmu(struct gtel_record_env *env, uint32_t type, char *name, size_t size)
{
    struct pmu_look look = {env, type, name, size};
    name[0] = '\0';
    if (env->inner->ops->dir_list(env->inner->arg, pmu_dir, match_type, &look) != 1)
        name[0] = '\0';
}

static void answer(struct gtel_record_env *env, const char *key, const char *line)
{
    gtel_record_answer(env->record, str(key), str(line));
}

/* Whether that key's last line is a failure. */
static bool is_known(const struct gtel_record_env *env, const char *key)
{
    return gtel_record_find(env->record, str(key)) == GTEL_RECORD_ANSWER;
}

static void record_pmu_error(struct gtel_record_env *env, const char *pmu, int error)
{
    char key[128];
    char line[192];
    (void)snprintf(key, sizeof(key), "\1pmu_error %s", pmu);
    if (pmu[0] == '\0' || (error == 0 && !is_known(env, key)))
        return;
    /* A counter that the PMU does not have is no failure of the PMU. */
    if (error == -ENOENT || error == -ENODEV || error == -EOPNOTSUPP)
        return;
    (void)snprintf(line, sizeof(line), "pmu_error %s %s", pmu,
                   error == 0 ? "none" : gtel_record_error_name(error));
    answer(env, key, line);
}

static void record_counters(struct gtel_record_env *env, const struct group *group,
                            const uint64_t *values)
{
    for (size_t i = 0; i < group->n && group->pmu[0]; i++) {
        char key[160];
        char line[224];
        (void)snprintf(key, sizeof(key), "\1pmu %s 0x%" PRIx64, group->pmu, group->config[i]);
        (void)snprintf(line, sizeof(line), "%s %" PRIu64 " 0", key + 1, values[i]);
        answer(env, key, line);
    }
}

static int pmu_open(void *arg, uint32_t type, const uint64_t *configs, size_t n, uint32_t cpu)
{
    struct gtel_record_env *env = arg;
    const struct gtel_env *inner = env->inner;
    uint64_t values[GTEL_PMU_EVENTS_MAX];
    uint64_t enabled_ns;
    int i = 0;
    while (i < GROUPS_MAX && env->group[i].is_open)
        i++;
    if (i == GROUPS_MAX || n > GTEL_PMU_EVENTS_MAX)
        return -EMFILE;
    struct group *group = &env->group[i];
    int handle = inner->ops->pmu_open(inner->arg, type, configs, n, cpu);
    find_pmu(env, type, group->pmu, sizeof(group->pmu));
    record_pmu_error(env, group->pmu, handle < 0 ? handle : 0);
    if (handle < 0)
        return handle;
    group->is_open = true;
    group->inner = handle;
    group->n = n;
    memcpy(group->config, configs, n * sizeof(*configs));
    /* The counters must be there when they are opened, so they are read at once. */
    if (inner->ops->pmu_read(inner->arg, handle, values, n, &enabled_ns) == 0)
        record_counters(env, group, values);
    return i;
}

static int pmu_read(void *arg, int handle, uint64_t *values, size_t n, uint64_t *ret_enabled_ns)
{
    struct gtel_record_env *env = arg;
    if (handle < 0 || handle >= GROUPS_MAX || !env->group[handle].is_open)
        return -EBADF;
    const struct group *group = &env->group[handle];
    int r = env->inner->ops->pmu_read(env->inner->arg, group->inner, values, n, ret_enabled_ns);
    if (r == 0 && n == group->n)
        record_counters(env, group, values);
    return r;
}

static void pmu_close(void *arg, int handle)
{
    struct gtel_record_env *env = arg;
    if (handle < 0 || handle >= GROUPS_MAX || !env->group[handle].is_open)
        return;
    env->inner->ops->pmu_close(env->inner->arg, env->group[handle].inner);
    env->group[handle].is_open = false;
}

/* ---- queries ---- */

static size_t count_zeros(const unsigned char *bytes, size_t n)
{
    size_t zeros = 0;
    while (zeros < n && bytes[zeros] == 0)
        zeros++;
    return zeros;
}

/* Bytes as words (parse/words.h): eight at a time, long runs of zero as one. */
static void put_words(struct gtel_buf *out, const unsigned char *bytes, size_t n)
{
    enum { LINE_WORDS = 6 };
    for (size_t i = 0, words = 0; i < n; words++) {
        uint64_t value = 0;
        size_t width = n - i < 8 ? n - i : 8;
        size_t zeros = count_zeros(bytes + i, n - i);
        if (zeros >= 2 * sizeof(value))
            width = zeros - zeros % sizeof(value);
        for (size_t k = 0; k < width && k < sizeof(value); k++)
            value |= (uint64_t)bytes[i + k] << 8 * k;
        gtel_buf_printf(out, "%s%zu:0x%" PRIx64, words % LINE_WORDS == 0 ? "\n| " : " ", width,
                        value);
        i += width;
    }
}

static void record_query(struct gtel_record_env *env, const char *name, const void *bytes,
                         int64_t r)
{
    char key[PATH_SIZE];
    struct gtel_buf lines;
    gtel_buf_init(&lines, 1 << 16);
    (void)snprintf(key, sizeof(key), "\1query_error %s", name);
    if (r >= 0 && is_known(env, key))
        gtel_buf_printf(&lines, "query_error %s none", name);
    else if (r < 0 && r != -ENOENT && r != -E2BIG)
        gtel_buf_printf(&lines, "query_error %s %s", name, gtel_record_error_name((int)r));
    if (lines.n > 0)
        gtel_record_answer(env->record, str(key), gtel_buf_text(&lines));
    gtel_buf_reset(&lines);
    (void)snprintf(key, sizeof(key), "\1query %s", name);
    gtel_buf_printf(&lines, "query %s", name);
    if (r >= 0) {
        put_words(&lines, bytes, (size_t)r);
        gtel_record_answer(env->record, str(key), gtel_buf_text(&lines));
    }
    gtel_buf_done(&lines);
}

static int64_t drm_query(void *arg, const char *node, enum gtel_drm_driver driver, uint32_t item,
                         void *buf, size_t n)
{
    struct gtel_record_env *env = arg;
    char name[PATH_SIZE / 2];
    int64_t r = env->inner->ops->drm_query(env->inner->arg, node, driver, item, buf, n);
    (void)snprintf(name, sizeof(name), "%s %s %" PRIu32, node,
                   driver == GTEL_DRM_XE ? "xe" : "i915", item);
    record_query(env, name, buf, r);
    return r;
}

/* ---- messages of the kernel ---- */

static int uevent_open(void *arg)
{
    struct gtel_record_env *env = arg;
    char line[64];
    int r = env->inner->ops->uevent_open(env->inner->arg);
    if (r == -EOPNOTSUPP)
        return r;
    (void)snprintf(line, sizeof(line), "uevents %s", r >= 0 ? "on" : gtel_record_error_name(r));
    answer(env, "\1uevents", line);
    return r;
}

/* The parts of a message that a line has room for: those without blanks. */
static void record_message(struct gtel_record_env *env, const struct gtel_uevent *event)
{
    struct gtel_buf line;
    struct gtel_str rest = event->values;
    struct gtel_str part;
    gtel_buf_init(&line, 4096);
    gtel_buf_printf(&line, "uevent %.*s %.*s", GTEL_STR_ARG(event->action),
                    GTEL_STR_ARG(event->devpath));
    while (gtel_str_part(&rest, '\0', &part)) {
        bool is_word = part.n > 0;
        for (size_t i = 0; i < part.n; i++)
            is_word = is_word && (unsigned char)part.p[i] > ' ';
        if (is_word && !gtel_str_starts(part, GTEL_STR("ACTION=")) &&
            !gtel_str_starts(part, GTEL_STR("DEVPATH=")))
            gtel_buf_printf(&line, " %.*s", GTEL_STR_ARG(part));
    }
    gtel_record_event(env->record, gtel_buf_text(&line));
    gtel_buf_done(&line);
}

static int64_t uevent_read(void *arg, int handle, void *buf, size_t n)
{
    struct gtel_record_env *env = arg;
    struct gtel_uevent event;
    int64_t r = env->inner->ops->uevent_read(env->inner->arg, handle, buf, n);
    if (r == -ENOBUFS)
        gtel_record_event(env->record, GTEL_STR("uevent lost"));
    else if (r > 0 && gtel_uevent_parse((struct gtel_str){buf, (size_t)r}, &event) == 0)
        record_message(env, &event);
    return r;
}

static void uevent_close(void *arg, int handle)
{
    struct gtel_record_env *env = arg;
    env->inner->ops->uevent_close(env->inner->arg, handle);
}

static void record_counter(struct gtel_record_env *env, const char *device,
                           const struct gtel_ras_counter *counter)
{
    char key[256];
    char line[256];
    (void)snprintf(key, sizeof(key), "\1ras %s %s %s", device, counter->node, counter->name);
    (void)snprintf(line, sizeof(line), "ras %s %s %s %" PRIu32, device, counter->node,
                   counter->name, counter->value);
    answer(env, key, line);
}

static int ras_read(void *arg, const char *device, struct gtel_ras_counter *ret, size_t max,
                    size_t *ret_n)
{
    struct gtel_record_env *env = arg;
    static const char key[] = "\1ras_error";
    char line[64];
    int r = env->inner->ops->ras_read(env->inner->arg, device, ret, max, ret_n);
    if (r == -ENOENT || r == -EOPNOTSUPP)
        return r;
    (void)snprintf(line, sizeof(line), "ras_error %s", r < 0 ? gtel_record_error_name(r) : "none");
    if (r < 0 || is_known(env, key))
        answer(env, key, line);
    for (size_t i = 0; r == 0 && i < *ret_n; i++)
        record_counter(env, device, &ret[i]);
    return r;
}

/* ---- making ---- */

static const struct gtel_env_ops record_ops = {
    .monotonic_ns = monotonic_ns,
    .wall_ns = wall_ns,
    .suspended_ns = suspended_ns,
    .file_open = file_open,
    .file_read = file_read,
    .file_close = file_close,
    .dir_list = dir_list,
    .link_read = link_read,
    .exists = exists,
    .lib_open = lib_open,
    .lib_symbol = lib_symbol,
    .lib_close = lib_close,
    .pmu_open = pmu_open,
    .pmu_read = pmu_read,
    .pmu_close = pmu_close,
    .drm_query = drm_query,
    .uevent_open = uevent_open,
    .uevent_read = uevent_read,
    .uevent_close = uevent_close,
    .ras_read = ras_read,
};

int gtel_record_env_init(const struct gtel_env *inner, struct gtel_record *record,
                         struct gtel_env *ret)
{
    struct gtel_record_env *env = calloc(1, sizeof(*env));
    if (!env)
        return -ENOMEM;
    env->inner = inner;
    env->record = record;
    env->group = calloc(GROUPS_MAX, sizeof(*env->group));
    env->buf = malloc(READ_MAX);
    *ret = (struct gtel_env){.ops = &record_ops, .arg = env, .log = inner->log};
    if (env->group && env->buf)
        return 0;
    gtel_record_env_done(ret);
    return -ENOMEM;
}

void gtel_record_env_done(struct gtel_env *env)
{
    struct gtel_record_env *record_env = env->arg;
    if (!record_env)
        return;
    free(record_env->handle);
    free(record_env->group);
    free(record_env->buf);
    free(record_env);
    *env = (struct gtel_env){0};
}

bool gtel_record_env_lacks_library(const struct gtel_env *env)
{
    const struct gtel_record_env *record_env = env->arg;
    return record_env->lacks_library;
}
