/* SPDX-License-Identifier: MIT */
/* An env around another one that records what is asked and answered. */
#include "recording/record_env.h"
#include "recording/record_pci.h"
#include "recording/record_windows.h"
#include "recording/tree.h"
#include "recording/way.h"

#include "base/grow.h"
#include "host/fs.h"
#include "host/numbers.h"
#include "parse/perf_counters.h"
#include "parse/uevent.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PATH_MAX_BYTES = 512, /* of a path, as in recorded machines */
    GROUPS_MAX = 256,
    HANDLES_MAX = 16384,
    READ_FIRST = 65536, /* bytes of a file that are read in any case */
    READ_MOST = 16 << 20,
    NAMES_MAX = 65536
};

struct handle {
    int inner_plus_1;          /* 0: closed */
    char path[PATH_MAX_BYTES]; /* as asked for */
};

struct group {
    char pmu[GTEL_TREE_PMU_MAX]; /* empty: its name was not found */
    size_t n;
    uint64_t config[GTEL_PMU_EVENTS_MAX];
};

struct gtel_record_env {
    const struct gtel_env *inner;
    struct gtel_record *record;
    struct handle *handle;
    size_t handles;
    struct group *group; /* by the handles of the inner env */
    char *buf;           /* for files; it grows to what a reader asks for */
    size_t buf_size;
    struct gtel_record_pci pci;
    char libraries[256]; /* asked for; with blanks between them */
    bool has_no_links;   /* Windows, some of whose files are in no folder */
    int heard_by_plus_1; /* the handle whose messages of the kernel are written down; 0: none */
};

/* What a descriptor leads to that is no character device. */
static const struct gtel_str other_file = GTEL_STR_INIT("other");

/* "Not there" needs no line: what is not in the text is not there. */
static bool is_missing(int r)
{
    return r == -ENOENT || r == -ENOTDIR;
}

/* The name of a negative errno; what the format has none for becomes EIO. */
static struct gtel_str error_name(int error)
{
    const char *name = gtel_tree_error_name(-error);
    return gtel_str_of(name ? name : "EIO");
}

/* ---- paths ---- */

/*
 * Whether the path is proc/PID/fd/N, what a descriptor leads to: names of people's files are nobody
 * else's business, and of no use.
 */
static bool is_descriptor(const char *path)
{
    struct gtel_str folder = gtel_way_parent(gtel_str_of(path));
    uint64_t number;
    return gtel_way_is_descriptors(folder) &&
           gtel_str_u64(gtel_str_skip(gtel_str_of(path), folder.n + 1), &number) == 0;
}

/* A link on the way is recorded, and followed where it should be. */
static int64_t link_of(void *arg, const char *path, bool follows, char *buf)
{
    struct gtel_record_env *env = arg;
    if (env->has_no_links || is_descriptor(path))
        return 0;
    int64_t n = env->inner->ops->link_read(env->inner->arg, path, buf, GTEL_WAY_MAX - 1);
    if (n < 0)
        return is_missing((int)n) ? n : 0; /* else no link, or not to be known */
    gtel_record_set(env->record, gtel_str_of(path), GTEL_RECORD_LINK,
                    (struct gtel_str){buf, (size_t)n});
    return follows ? n : 0;
}

/* Where a path leads. On -ENOENT way->path is the first part that is not there. */
static int resolve(struct gtel_record_env *env, const char *path, bool follows_last,
                   struct gtel_way *way)
{
    *way = (struct gtel_way){.link = link_of, .arg = env};
    return gtel_way_go(way, gtel_str_of(path), follows_last);
}

/*
 * Where a path leads, of which the machine has said r. False where nothing is there; what may have
 * been there before is recorded as gone.
 */
static bool find_place(struct gtel_record_env *env, const char *path, bool follows_last, int r,
                       struct gtel_way *way)
{
    int found = resolve(env, path, follows_last, way);
    if (is_missing(r) && is_missing(found))
        gtel_record_gone(env->record, gtel_str_of(way->path));
    return found == 0 && !is_missing(r);
}

static int stop_listing(void *arg, struct gtel_str name)
{
    (void)arg;
    (void)name;
    return 1;
}

/* Records that something is there, whatever it is, unless that is known. path has no links. */
static void save_there(struct gtel_record_env *env, const char *path)
{
    const struct gtel_env *inner = env->inner;
    char target[PATH_MAX_BYTES];
    if (path[0] == '\0' || gtel_record_find(env->record, gtel_str_of(path)) != GTEL_RECORD_NOTHING)
        return;
    if (is_descriptor(path)) {
        gtel_record_set(env->record, gtel_str_of(path), GTEL_RECORD_LINK, other_file);
        return;
    }
    int64_t n = inner->ops->link_read(inner->arg, path, target, sizeof(target));
    if (n > 0)
        gtel_record_set(env->record, gtel_str_of(path), GTEL_RECORD_LINK,
                        (struct gtel_str){target, (size_t)n});
    else if (inner->ops->dir_list(inner->arg, path, stop_listing, NULL) >= 0)
        gtel_record_set(env->record, gtel_str_of(path), GTEL_RECORD_DIR, GTEL_STR_NONE);
    else
        gtel_record_set(env->record, gtel_str_of(path), GTEL_RECORD_FILE, GTEL_STR_NONE);
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
    return gtel_env_suspended(env->inner);
}

/* ---- files ---- */

static int keep_handle(struct gtel_record_env *env, const char *path, int inner)
{
    size_t i = 0;
    while (i < env->handles && env->handle[i].inner_plus_1 != 0)
        i++;
    if (!gtel_grow_zeroed(&env->handle, &env->handles, i + 1, HANDLES_MAX, sizeof(*env->handle)))
        return -EMFILE;
    env->handle[i].inner_plus_1 = inner + 1;
    if (!gtel_str_copy(env->handle[i].path, PATH_MAX_BYTES, gtel_str_of(path)))
        env->record->text.has_failed = true; /* no path of ours is that long */
    return (int)i;
}

static int file_open(void *arg, const char *path)
{
    struct gtel_record_env *env = arg;
    struct gtel_way way;
    int inner = env->inner->ops->file_open(env->inner->arg, path);
    if (find_place(env, path, true, inner, &way)) {
        enum gtel_record_kind kind = gtel_record_find(env->record, gtel_str_of(way.path));
        if (inner >= 0 && (kind == GTEL_RECORD_NOTHING || kind == GTEL_RECORD_REFUSED))
            gtel_record_set(env->record, gtel_str_of(way.path), GTEL_RECORD_FILE, GTEL_STR_NONE);
        else if (inner == -EISDIR)
            save_there(env, way.path);
        else if (inner < 0)
            gtel_record_set(env->record, gtel_str_of(way.path), GTEL_RECORD_REFUSED,
                            error_name(inner));
    }
    if (inner < 0)
        return inner;
    int handle = keep_handle(env, path, inner);
    if (handle < 0)
        env->inner->ops->file_close(env->inner->arg, inner);
    return handle;
}

/* ret is the buffer's. */
static int64_t read_inner(struct gtel_record_env *env, int handle, struct gtel_str *ret)
{
    int64_t n = env->inner->ops->file_read(env->inner->arg, handle, env->buf, env->buf_size);
    *ret = (struct gtel_str){env->buf, n > 0 ? (size_t)n : 0};
    return n;
}

/* Counters of Windows, as the text that recorded machines have. */
static void save_counters(struct gtel_record_env *env, struct gtel_str path, struct gtel_str data)
{
    char *text = malloc(READ_MOST);
    size_t n;
    env->record->text.has_failed = env->record->text.has_failed || !text;
    if (text && gtel_perf_print(data, text, READ_MOST, &n) == 0)
        data = (struct gtel_str){text, n};
    gtel_record_set(env->record, path, GTEL_RECORD_FILE, data);
    free(text);
}

/*
 * What was read of a file. A text that fills the buffer may be cut: readers get -E2BIG for it from
 * a record, as they did here, until one that has more room gets all of it.
 */
static void save_read(struct gtel_record_env *env, struct gtel_str path, int64_t n,
                      struct gtel_str text)
{
    if (n >= 0 && text.n == env->buf_size)
        n = -E2BIG;
    if (n < 0) {
        gtel_record_set(env->record, path, GTEL_RECORD_BROKEN, error_name((int)n));
        return;
    }
    if (gtel_str_starts(path, GTEL_STR(GTEL_PERF_FOLDER))) {
        save_counters(env, path, text);
        return;
    }
    gtel_record_pci_learn(&env->pci, path, text);
    if (!gtel_record_pci_is_list(path)) {
        gtel_record_set(env->record, path, GTEL_RECORD_FILE, text);
        return;
    }
    struct gtel_buf list;
    gtel_buf_init(&list, READ_MOST);
    gtel_record_pci_reduce(&env->pci, text, &list);
    gtel_record_set(env->record, path, GTEL_RECORD_FILE, gtel_buf_text(&list));
    env->record->text.has_failed = env->record->text.has_failed || list.has_failed;
    gtel_buf_done(&list);
}

/*
 * The device of an open file is gone: its old handles are dead, and the same path may lead to a new
 * file already.
 */
static void save_dead(struct gtel_record_env *env, const char *path)
{
    const struct gtel_env *inner = env->inner;
    struct gtel_way way;
    int fresh = inner->ops->file_open(inner->arg, path);
    struct gtel_str text;
    int64_t n = fresh >= 0 ? read_inner(env, fresh, &text) : fresh;
    if (fresh >= 0)
        inner->ops->file_close(inner->arg, fresh);
    if (!find_place(env, path, true, fresh, &way) || fresh < 0)
        return;
    if (n >= 0)
        gtel_record_gone(env->record, gtel_str_of(way.path));
    save_read(env, gtel_str_of(way.path), n, text);
}

static int64_t file_read(void *arg, int handle, void *buf, size_t n)
{
    struct gtel_record_env *env = arg;
    struct gtel_way way;
    if (handle < 0 || (size_t)handle >= env->handles || env->handle[handle].inner_plus_1 == 0)
        return -EBADF;
    if (!gtel_grow(&env->buf, &env->buf_size, n, READ_MOST, 1)) {
        env->record->text.has_failed = true;
        return -ENOMEM;
    }
    const struct handle *file = &env->handle[handle];
    struct gtel_str text;
    int64_t r = read_inner(env, file->inner_plus_1 - 1, &text);
    if (r == -ENODEV) {
        save_dead(env, file->path);
        return r;
    }
    if (resolve(env, file->path, true, &way) < 0)
        gtel_record_gone(env->record, gtel_str_of(way.path)); /* gone, though it still answers */
    else
        save_read(env, gtel_str_of(way.path), r, text);
    if (r <= 0)
        return r;
    text = gtel_str_head(text, n);
    memcpy(buf, text.p, text.n);
    return (int64_t)text.n;
}

static void file_close(void *arg, int handle)
{
    struct gtel_record_env *env = arg;
    if (handle < 0 || (size_t)handle >= env->handles || env->handle[handle].inner_plus_1 == 0)
        return;
    env->inner->ops->file_close(env->inner->arg, env->handle[handle].inner_plus_1 - 1);
    env->handle[handle].inner_plus_1 = 0;
}

/* ---- directories and links ---- */

static void record_listing(struct gtel_record_env *env, const char *dir, struct gtel_str *names,
                           size_t n, bool is_numbers)
{
    gtel_record_set(env->record, gtel_str_of(dir), GTEL_RECORD_DIR, GTEL_STR_NONE);
    gtel_record_keep(env->record, gtel_str_of(dir), names, n, is_numbers);
    for (size_t i = 0; i < n; i++)
        save_there(env, GTEL_FS_AT("%s/%.*s", dir, GTEL_STR_ARG(names[i]))); /* too long: none */
}

/*
 * Lists a directory, or of it the names that are numbers, and writes down what that gave: all of
 * these, whatever was asked for, so that those that are gone are known.
 */
static int list(struct gtel_record_env *env, const char *path, bool is_numbers,
                struct gtel_arena *arena, struct gtel_str **ret, size_t *ret_n)
{
    struct gtel_way way;
    uint64_t number;
    size_t n = 0;
    *ret_n = 0;
    int r = gtel_fs_list(env->inner, path, arena, NAMES_MAX + 1, ret, &n);
    if (r == 0 && n > NAMES_MAX)
        r = -ENOMEM;
    for (size_t i = 0; i < n && r == 0; i++)
        if (!is_numbers || (gtel_str_u64((*ret)[i], &number) == 0 && number <= UINT32_MAX))
            (*ret)[(*ret_n)++] = (*ret)[i];
    if (!find_place(env, path, true, r == -ENOTDIR ? 0 : r, &way))
        return r;
    if (r == 0)
        record_listing(env, way.path, *ret, *ret_n, is_numbers);
    else if (r == -ENOTDIR)
        save_there(env, way.path);
    else if (r < 0)
        gtel_record_set(env->record, gtel_str_of(way.path), GTEL_RECORD_REFUSED, error_name(r));
    return r;
}

static int dir_list(void *arg, const char *path, gtel_dir_fn fn, void *fn_arg)
{
    struct gtel_arena arena = {0};
    struct gtel_str *names = NULL;
    size_t n;
    int r = list(arg, path, false, &arena, &names, &n);
    for (size_t i = 0; i < n && r == 0; i++)
        r = fn(fn_arg, names[i]);
    gtel_arena_done(&arena);
    return r;
}

static int dir_list_from(void *arg, const char *path, uint32_t first, gtel_number_fn fn,
                         void *fn_arg)
{
    struct gtel_arena arena = {0};
    struct gtel_numbers numbers = {.first = first};
    struct gtel_str *names = NULL;
    size_t n;
    int r = list(arg, path, true, &arena, &names, &n);
    for (size_t i = 0; i < n && r == 0; i++)
        r = gtel_numbers_add(&numbers, names[i]);
    if (r == 0)
        r = gtel_numbers_each(&numbers, fn, fn_arg);
    gtel_numbers_done(&numbers);
    gtel_arena_done(&arena);
    return r;
}

static int64_t link_read(void *arg, const char *path, char *buf, size_t n)
{
    struct gtel_record_env *env = arg;
    struct gtel_way way;
    int64_t r = env->inner->ops->link_read(env->inner->arg, path, buf, n);
    if (find_place(env, path, false, (int)r, &way) && r == -EINVAL)
        save_there(env, way.path);
    return r;
}

static int exists(void *arg, const char *path)
{
    struct gtel_record_env *env = arg;
    struct gtel_way way;
    int r = env->inner->ops->exists(env->inner->arg, path);
    if (find_place(env, path, true, r, &way) && r == 0)
        save_there(env, way.path);
    return r;
}

static void save_stat(struct gtel_record_env *env, const char *path, const struct gtel_stat *st)
{
    const char *owner = GTEL_FS_AT("owner %s", path);
    const char *first = GTEL_FS_AT("%s/0", path);
    if (st->is_char)
        gtel_record_set(env->record, gtel_str_of(path), GTEL_RECORD_CHAR,
                        gtel_str_of(GTEL_FS_AT("%" PRIu32 ":%" PRIu32, st->major, st->minor)));
    else
        save_there(env, path);
    if (!is_descriptor(path) && (st->uid != 0 || gtel_record_is_answered(env->record, owner)))
        gtel_record_answer(env->record, owner, gtel_str_of(GTEL_FS_AT("%" PRIu32, st->uid)));
    /* One unknown descriptor stands for those of a process that cannot be listed. */
    if (st->size > 0 && is_descriptor(first) &&
        !gtel_record_has_below(env->record, gtel_str_of(path)))
        gtel_record_set(env->record, gtel_str_of(first), GTEL_RECORD_LINK, other_file);
}

static int stat_file(void *arg, const char *path, struct gtel_stat *ret)
{
    struct gtel_record_env *env = arg;
    struct gtel_way way;
    int r = env->inner->ops->stat(env->inner->arg, path, ret);
    if (find_place(env, path, true, r, &way) && r == 0)
        save_stat(env, way.path, ret);
    return r;
}

/* ---- libraries ---- */

/*
 * Those of Windows itself are asked, and what they answer is written down behind each gather
 * (record_windows.h). Of a vendor's the first name is the library's; it is noted once, and not
 * again by its path.
 */
static int lib_open(void *arg, const char *const *names, void **ret)
{
    struct gtel_record_env *env = arg;
    struct gtel_str rest = gtel_str_of(env->libraries);
    struct gtel_str known;
    size_t i = 0;
    do {
        if (strcmp(names[i], GTEL_RECORD_WINDOWS_LIBRARY) == 0)
            return env->inner->ops->lib_open(env->inner->arg, names, ret);
    } while (names[++i]);
    if (names[0][0] == '/')
        return -ENOENT;
    while (gtel_str_word(&rest, &known))
        if (gtel_str_eq(known, gtel_str_of(names[0])))
            return -ENOENT;
    size_t n = strlen(env->libraries);
    (void)snprintf(env->libraries + n, sizeof(env->libraries) - n, "%s%s", n > 0 ? " " : "",
                   names[0]); /* a name that does not fit is cut: for people */
    return -ENOENT;
}

static void *lib_symbol(void *arg, void *lib, const char *name)
{
    const struct gtel_record_env *env = arg;
    return env->inner->ops->lib_symbol(env->inner->arg, lib, name);
}

static void lib_close(void *arg, void *lib)
{
    const struct gtel_record_env *env = arg;
    env->inner->ops->lib_close(env->inner->arg, lib);
}

/* ---- counters ---- */

/* That something fails, or, with r of 0 or more, that it does so no more. */
static void record_error(struct gtel_record_env *env, const char *words, int r)
{
    if (r < 0 || gtel_record_is_answered(env->record, words))
        gtel_record_answer(env->record, words, r < 0 ? error_name(r) : GTEL_STR("none"));
}

/* A counter that the PMU does not have is no failure of the PMU. */
static void record_pmu_error(struct gtel_record_env *env, const char *pmu, int r)
{
    if (pmu[0] != '\0' && r != -ENOENT && r != -ENODEV && r != -EOPNOTSUPP)
        record_error(env, GTEL_FS_AT("pmu_error %s", pmu), r);
}

static void record_counters(struct gtel_record_env *env, const struct group *group,
                            const uint64_t *values)
{
    for (size_t i = 0; i < group->n && group->pmu[0]; i++)
        gtel_record_answer(env->record,
                           GTEL_FS_AT("pmu %s 0x%" PRIx64, group->pmu, group->config[i]),
                           gtel_str_of(GTEL_FS_AT("%" PRIu64 " 0", values[i])));
}

static int pmu_open(void *arg, uint32_t type, const uint64_t *configs, size_t n, uint32_t cpu)
{
    struct gtel_record_env *env = arg;
    const struct gtel_env *inner = env->inner;
    uint64_t values[GTEL_PMU_EVENTS_MAX];
    uint64_t enabled_ns;
    char name[GTEL_TREE_PMU_MAX] = "";
    int handle = gtel_env_pmu_open(inner, type, configs, n, cpu);
    (void)gtel_tree_pmu_name(inner, type, name); /* else it stays empty */
    record_pmu_error(env, name, handle);
    if (handle < 0)
        return handle;
    if (handle >= GROUPS_MAX || n > GTEL_PMU_EVENTS_MAX) {
        inner->ops->pmu_close(inner->arg, handle);
        return -EMFILE;
    }
    struct group *group = &env->group[handle];
    memcpy(group->pmu, name, sizeof(name));
    group->n = n;
    memcpy(group->config, configs, n * sizeof(*configs));
    /* The counters must be there when they are opened, so they are read now. */
    if (inner->ops->pmu_read(inner->arg, handle, values, n, &enabled_ns) == 0)
        record_counters(env, group, values);
    return handle;
}

static int pmu_read(void *arg, int handle, uint64_t *values, size_t n, uint64_t *ret_enabled_ns)
{
    struct gtel_record_env *env = arg;
    int r = env->inner->ops->pmu_read(env->inner->arg, handle, values, n, ret_enabled_ns);
    if (r == 0 && n == env->group[handle].n)
        record_counters(env, &env->group[handle], values);
    return r;
}

static void pmu_close(void *arg, int handle)
{
    struct gtel_record_env *env = arg;
    env->inner->ops->pmu_close(env->inner->arg, handle);
}

/* ---- queries ---- */

enum { LINE_WORDS = 6 };

static void record_query(struct gtel_record_env *env, const char *name, const void *bytes,
                         int64_t r)
{
    struct gtel_buf lines;
    if (r != -ENOENT && r != -E2BIG)
        record_error(env, GTEL_FS_AT("query_error %s", name), (int)r);
    if (r < 0)
        return;
    gtel_buf_init(&lines, 1 << 16);
    gtel_record_words(&lines, bytes, (size_t)r, LINE_WORDS);
    gtel_record_answer(env->record, GTEL_FS_AT("query %s", name), gtel_buf_text(&lines));
    gtel_buf_done(&lines);
}

static int64_t drm_query(void *arg, const char *node, enum gtel_drm_driver driver, uint32_t item,
                         void *buf, size_t n)
{
    struct gtel_record_env *env = arg;
    int64_t r = gtel_env_drm_query(env->inner, node, driver, item, buf, n);
    record_query(env,
                 GTEL_FS_AT("%s %s %" PRIu32, node, driver == GTEL_DRM_XE ? "xe" : "i915", item),
                 buf, r);
    return r;
}

/* ---- messages of the kernel ---- */

static int uevent_open(void *arg)
{
    struct gtel_record_env *env = arg;
    int r = gtel_env_uevent_open(env->inner);
    if (r != -EOPNOTSUPP)
        gtel_record_answer(env->record, "uevents", r >= 0 ? GTEL_STR("on") : error_name(r));
    return r;
}

/* Whether a message is about a card, or a driver and its device. */
static bool is_about_gpus(const struct gtel_uevent *event)
{
    struct gtel_str text;
    return gtel_uevent_card(event->devpath, &text) == 0 ||
           gtel_uevent_value(event, GTEL_STR("WEDGED"), &text) == 0 ||
           (gtel_uevent_value(event, GTEL_STR("SUBSYSTEM"), &text) == 0 &&
            (gtel_str_eq(text, GTEL_STR("pci")) || gtel_str_eq(text, GTEL_STR("drm"))));
}

/*
 * The parts of a message that a line has room for: those without blanks. Of other devices only that
 * something was heard.
 */
static void record_message(struct gtel_record_env *env, const struct gtel_uevent *event)
{
    struct gtel_buf line;
    struct gtel_str rest = event->values;
    struct gtel_str part;
    if (!is_about_gpus(event)) {
        gtel_record_event(env->record, GTEL_STR("uevent change /devices/other"));
        return;
    }
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
    if (env->heard_by_plus_1 == 0)
        env->heard_by_plus_1 = handle + 1;
    if (env->heard_by_plus_1 != handle + 1)
        return r; /* the same messages again */
    if (r == -ENOBUFS)
        gtel_record_event(env->record, GTEL_STR("uevent lost"));
    else if (r > 0 && gtel_uevent_parse((struct gtel_str){buf, (size_t)r}, &event) == 0)
        record_message(env, &event);
    return r;
}

static void uevent_close(void *arg, int handle)
{
    struct gtel_record_env *env = arg;
    if (env->heard_by_plus_1 == handle + 1)
        env->heard_by_plus_1 = 0;
    env->inner->ops->uevent_close(env->inner->arg, handle);
}

static int ras_read(void *arg, const char *device, struct gtel_ras_counter *ret, size_t max,
                    size_t *ret_n)
{
    struct gtel_record_env *env = arg;
    int r = gtel_env_ras_read(env->inner, device, ret, max, ret_n);
    if (r == -ENOENT || r == -EOPNOTSUPP)
        return r;
    record_error(env, "ras_error", r);
    for (size_t i = 0; r == 0 && i < *ret_n; i++)
        gtel_record_answer(env->record,
                           GTEL_FS_AT("ras %s %s %s", device, ret[i].node, ret[i].name),
                           gtel_str_of(GTEL_FS_AT("%" PRIu32, ret[i].value)));
    return r;
}

/*
 * What only saves work (kept directories, lists of the kernel) is not there: it is asked for by its
 * path then. Nor is what is opt-in (stalls).
 */
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
    .stat = stat_file,
    .dir_list_from = dir_list_from,
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
    bool has_room = gtel_grow(&env->buf, &env->buf_size, READ_FIRST, READ_MOST, 1);
    env->has_no_links = gtel_pnp_is_there(inner);
    *ret = (struct gtel_env){.ops = &record_ops, .arg = env, .log = inner->log};
    if (env->group && has_room)
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

struct gtel_str gtel_record_env_libraries(const struct gtel_env *env)
{
    const struct gtel_record_env *record_env = env->arg;
    return gtel_str_of(record_env->libraries);
}
