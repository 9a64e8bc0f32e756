/* SPDX-License-Identifier: MIT */
/*
 * Source busy_files: how busy engines are, from files that count nanoseconds, where a kernel has
 * such files.
 *
 * No mainline kernel does (looked for from 5.4 to 7.3: in cardN/engine i915 has settings, and below
 * tileT/gtG/engines xe has timeouts, for a class as a whole). Kernels built from other trees may
 * have one of these, which are looked for at each discovery, in this order:
 *
 *     cardN/engine/<name>/busy                          rcs0, vcs1 …
 *     cardN/engine/<class>/<number>/busy                rcs/0, VIDEO/1 …
 *     <device>/tileT/gtG/engines/<class>/<number>/busy_ns
 *     cardN/clients/<id>/busy/<class>                   of each client
 *
 * Each counts 64 bits of 1 ns, as far as their trees are known, and never turns.
 *
 * The last one has i915 of intel-gpu-i915-backports, with classes numbered as in i915_drm.h. A
 * client takes its time with it when it goes, so the time of a class is the sum of what clients
 * have added since the first sample; what one did between the last sample and its end is not in it,
 * nor what the kernel does for itself.
 *
 * The time of a class is the mean over its engines; the core makes the share of it. A GPU that
 * sleeps or rests is not asked: where such files come from, nothing says that a read does not wake.
 */
#include "parse/engine_name.h"
#include "sources/drm/card_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 128, NAMES_MAX = 64, CLIENTS_MAX = 512, NO_NUMBER = UINT16_MAX };

struct busy_file {
    struct gtel_fs_file file;
    uint8_t class; /* enum gtel_engine_class */
    uint16_t instance;
    uint16_t gt; /* NO_NUMBER where engines are counted over all of them */
    uint64_t ns; /* at the last cycle */
};

struct client {
    uint64_t id;
    uint64_t ns[GTEL_ENGINE_CLASSES];
};

/* Nanoseconds of the engines of each class; UINT64_MAX: not known. */
struct times {
    uint64_t ns[GTEL_ENGINE_CLASSES];
    size_t engines[GTEL_ENGINE_CLASSES];
};

struct busy_card {
    struct gtel_card *card; /* first: see sources/drm/cards.h */
    struct busy_file file[FILES_MAX];
    size_t n;
    struct client *client; /* NULL: has none; two lists of CLIENTS_MAX: the last sample, the next */
    size_t clients;
    bool has_looked;    /* the last sample is there */
    struct times times; /* of all clients since the first sample */
    uint32_t listed;    /* after which discovery; 0: not whole */
    int error;          /* of the last listing or reading */
};

static const char *const drivers[] = {"i915", "xe", NULL};
static const char *const origins[] = {"sysfs (engine counters)", "sysfs (clients)", NULL};
enum { ORIGIN_ENGINES, ORIGIN_CLIENTS };

static void close_card(const struct gtel_env *env, void *own)
{
    struct busy_card *busy = own;
    for (size_t i = 0; i < busy->n; i++)
        gtel_fs_close(env, &busy->file[i].file);
    free(busy->client);
}

/* A search for the files of a card. */
struct search {
    const struct gtel_env *env;
    struct gtel_arena *arena;
    struct busy_card *busy;
    struct busy_file file; /* what is known of the files below the folder, or NO_NUMBER */
};

/* Keeps a file open when it is there. 0 or a negative errno. */
static int open_file(const struct search *search, const char *path)
{
    struct busy_card *busy = search->busy;
    if (busy->n == FILES_MAX || search->file.instance == NO_NUMBER)
        return 0;
    busy->file[busy->n] = search->file;
    int r = gtel_fs_open(search->env, &busy->file[busy->n].file, path);
    busy->n += r == 0 ? 1 : 0;
    return r == -ENOENT ? 0 : r;
}

/* What a name says that stands for "*", an engine or its class, or for "#" behind a prefix. */
static bool parse_name(struct search *search, struct gtel_str part, struct gtel_str name)
{
    struct gtel_engine_name engine;
    struct gtel_str prefix = {part.p, part.n - 1};
    uint64_t number;
    if (gtel_str_eq(part, GTEL_STR("*"))) {
        if (gtel_engine_name_parse(name, &engine) < 0)
            return false;
        search->file.class = (uint8_t)engine.class;
        search->file.instance = engine.instance < NO_NUMBER ? (uint16_t)engine.instance : NO_NUMBER;
        return true;
    }
    if (!gtel_str_starts(name, prefix) ||
        gtel_str_u64(gtel_str_skip(name, prefix.n), &number) < 0 || number >= NO_NUMBER)
        return false;
    if (gtel_str_eq(prefix, GTEL_STR("gt")))
        search->file.gt = (uint16_t)number;
    else if (prefix.n == 0)
        search->file.instance = (uint16_t)number;
    return true;
}

/* Opens the files below dir that match a pattern. 0 or a negative errno. */
static int find_files(const struct search *search, const char *dir, struct gtel_str pattern)
{
    struct gtel_str part;
    struct gtel_str *names = NULL;
    size_t n = 0;
    if (!gtel_str_part(&pattern, '/', &part))
        return open_file(search, dir);
    if (part.p[part.n - 1] != '*' && part.p[part.n - 1] != '#')
        return find_files(search, GTEL_FS_AT("%s/%.*s", dir, GTEL_STR_ARG(part)), pattern);
    int r = gtel_fs_list(search->env, dir, search->arena, NAMES_MAX, &names, &n);
    if (r == -ENOENT || r == -ENOTDIR)
        return 0;
    for (size_t i = 0; r == 0 && i < n; i++) {
        struct search below = *search;
        if (parse_name(&below, part, names[i]))
            r = find_files(&below, GTEL_FS_AT("%s/%.*s", dir, GTEL_STR_ARG(names[i])), pattern);
    }
    return r;
}

/* cardN/engine/<name>: i915's settings of each engine. -ENOENT without any. */
static int count_engines(const struct search *search, const char *dir, size_t *ret)
{
    struct gtel_str *names;
    struct gtel_engine_name engine;
    size_t n;
    int r = gtel_fs_list(search->env, GTEL_FS_AT("%s/engine", dir), search->arena, FILES_MAX,
                         &names, &n);
    bool has_any = false;
    for (size_t i = 0; r == 0 && i < n; i++) {
        if (gtel_engine_name_parse(names[i], &engine) < 0 || engine.instance == UINT32_MAX)
            continue;
        ret[engine.class]++;
        has_any = true;
    }
    return r == 0 && !has_any ? -ENOENT : r;
}

static int open_clients(const struct search *search, const char *dir)
{
    struct busy_card *busy = search->busy;
    int r = search->env->ops->exists(search->env->arg, GTEL_FS_AT("%s/clients", dir));
    if (r == 0)
        r = count_engines(search, dir, busy->times.engines);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    busy->client = calloc(2 * (size_t)CLIENTS_MAX, sizeof(*busy->client));
    return busy->client ? 0 : -ENOMEM;
}

/* The first of the forms that a kernel has; searched again after each discovery while it has none.
 */
static int search_card(struct gtel_card_source *state, struct busy_card *busy)
{
    static const char *const patterns[] = {"engine/*/busy", "engine/*/#/busy",
                                           "device/tile#/gt#/engines/*/busy_ns",
                                           "device/tile#/gt#/engines/*/#/busy_ns"};
    const struct search search = {
        state->env, &state->arena, busy, {.gt = NO_NUMBER, .instance = NO_NUMBER}};
    char path[GTEL_FS_PATH_MAX];
    int r = 0;
    if (busy->listed == state->discoveries || busy->n > 0 || busy->client)
        return 0;
    gtel_arena_reset(&state->arena);
    gtel_fs_path(path, "sys/class/drm/%s", busy->card->drm.card);
    for (size_t i = 0; r == 0 && i < GTEL_ARRAY_LEN(patterns) && (busy->n == 0 || i % 2 == 1); i++)
        r = find_files(&search, path, gtel_str_of(patterns[i]));
    if (r == 0 && busy->n == 0)
        r = open_clients(&search, path);
    if (r < 0)
        gtel_card_list_reopen(&state->cards, busy); /* rather nothing than a part */
    busy->listed = r == 0 ? state->discoveries : 0;
    return r;
}

static void put_engine(struct gtel_batch *batch, const struct gtel_device *device,
                       const struct busy_file *file)
{
    enum gtel_engine_class class = (enum gtel_engine_class)file->class;
    struct gtel_reading like = {.device = device, .dim = {gtel_engine_class_name(class)}};
    char name[GTEL_ENGINE_TEXT_MAX];
    char gt[8];
    gtel_engine_name_print(name, class, file->instance);
    (void)snprintf(gt, sizeof(gt), "%u", (unsigned)file->gt);
    like.dim[1] = gtel_batch_text(batch, gtel_str_of(name));
    if (file->gt != NO_NUMBER)
        like.dim[2] = gtel_batch_text(batch, gtel_str_of(gt));
    if (like.dim[1].n > 0)
        gtel_batch_like(batch, &like, GTEL_M_ENGINE_BUSY_TIME, (double)file->ns / 1e9);
}

/* The mean over the engines of each class. */
static void put_classes(struct gtel_batch *batch, const struct gtel_device *device,
                        const struct times *times)
{
    for (unsigned c = 0; c < GTEL_ENGINE_CLASSES; c++) {
        struct gtel_str engine = gtel_engine_class_name((enum gtel_engine_class)c);
        if (times->engines[c] == 0)
            continue;
        if (times->ns[c] != UINT64_MAX)
            gtel_batch_f64(batch, device, GTEL_M_ENGINE_BUSY_TIME, engine,
                           (double)times->ns[c] / 1e9 / (double)times->engines[c]);
        gtel_batch_u64(batch, device, GTEL_M_ENGINE_CAPACITY, engine, times->engines[c]);
    }
}

/* A class of which one engine cannot be read has no value. */
static int read_files(const struct gtel_card_source *state, struct busy_card *busy,
                      struct gtel_batch *batch)
{
    const struct gtel_env *env = state->env;
    struct times times = {{0}, {0}};
    int first = 0;
    batch->t_ns = gtel_env_now(env);
    batch->origin = ORIGIN_ENGINES;
    for (size_t i = 0; i < busy->n; i++) {
        struct busy_file *file = &busy->file[i];
        uint64_t *sum = &times.ns[file->class];
        int r = gtel_fs_read_u64(env, &file->file, &file->ns);
        if (r == -ENODEV)
            return r;
        if (r == 0 && gtel_option_is(state->options, GTEL_O_ENGINE_INSTANCES, "on"))
            put_engine(batch, busy->card->device, file);
        *sum = r < 0 || *sum == UINT64_MAX ? UINT64_MAX : *sum + file->ns;
        times.engines[file->class]++;
        first = first < 0 ? first : r;
    }
    put_classes(batch, busy->card->device, &times);
    return first;
}

/* Whether a better source has reported engines: the files of all clients are many. */
static bool has_engines(const struct gtel_batch *batch, const struct gtel_device *device)
{
    for (size_t i = 0; i < batch->n; i++)
        if (batch->reading[i].device == device &&
            (batch->reading[i].metric == GTEL_M_ENGINE_BUSY_TIME ||
             batch->reading[i].metric == GTEL_M_ENGINE_TICKS))
            return true;
    return false;
}

/* 1; 0 for a client that has gone since it was listed, or has no such files; a negative errno. */
static int read_client(const struct gtel_env *env, const char *dir, struct gtel_str id,
                       struct client *ret)
{
    int found = 0;
    *ret = (struct client){0};
    if (gtel_str_u64(id, &ret->id) < 0)
        return 0;
    for (unsigned c = 0; c < GTEL_ENGINE_CLASSES; c++) {
        int r =
            gtel_fs_u64(env, GTEL_FS_AT("%s/%.*s/busy/%u", dir, GTEL_STR_ARG(id), c), &ret->ns[c]);
        if (r == 0)
            found = 1;
        else if (r != -ENOENT && r != -ENODEV)
            return r;
    }
    return found;
}

/*
 * A client that is new has done all of its time since the last sample: ids are given in turn, and
 * none again, so that both lists are in their order. A time that goes back has to catch up before
 * it counts again.
 */
static void add_up(struct busy_card *busy, struct client *next, size_t n)
{
    static const struct client none;
    size_t at = 0;
    for (size_t i = 0; busy->has_looked && i < n; i++) {
        while (at < busy->clients && busy->client[at].id < next[i].id)
            at++;
        bool is_known = at < busy->clients && busy->client[at].id == next[i].id;
        const struct client *last = is_known ? &busy->client[at] : &none;
        for (size_t c = 0; c < GTEL_ENGINE_CLASSES; c++) {
            if (next[i].ns[c] < last->ns[c])
                next[i].ns[c] = last->ns[c];
            busy->times.ns[c] += next[i].ns[c] - last->ns[c];
        }
    }
    memcpy(busy->client, next, n * sizeof(*next));
    busy->clients = n;
    busy->has_looked = true;
}

/* After a failure, as of too many clients (-E2BIG), the next sample has the time of both. */
static int read_clients(struct gtel_card_source *state, struct busy_card *busy,
                        struct gtel_batch *batch)
{
    const struct gtel_env *env = state->env;
    struct client *next = busy->client + CLIENTS_MAX;
    struct gtel_str *names;
    char dir[GTEL_FS_PATH_MAX];
    size_t listed = 0;
    size_t n = 0;
    gtel_arena_reset(&state->arena);
    batch->t_ns = gtel_env_now(env);
    batch->origin = ORIGIN_CLIENTS;
    gtel_fs_path(dir, "sys/class/drm/%s/clients", busy->card->drm.card);
    int r = gtel_fs_list(env, dir, &state->arena, CLIENTS_MAX + 1, &names, &listed);
    if (r == 0 && listed > CLIENTS_MAX)
        r = -E2BIG;
    for (size_t i = 0; r >= 0 && i < listed; i++) {
        r = read_client(env, dir, names[i], &next[n]);
        n += r > 0 ? 1 : 0;
    }
    if (r < 0)
        return r;
    add_up(busy, next, n);
    put_classes(batch, busy->card->device, &busy->times);
    return 0;
}

static int sample_card(void *p, void *own, struct gtel_batch *batch)
{
    struct gtel_card_source *state = p;
    struct busy_card *busy = own;
    bool has_work = busy->listed != state->discoveries || busy->n > 0 || busy->client;
    if (!has_work || !gtel_card_may_read(busy->card))
        return 0;
    int r = search_card(state, busy);
    if (r == 0 && busy->n > 0)
        r = read_files(state, busy, batch);
    else if (r == 0 && busy->client && !has_engines(batch, busy->card->device))
        r = read_clients(state, busy, batch);
    busy->error = r;
    return r;
}

/* That a kernel has no such files is no reason: none of kernel.org makes any. */
static void diagnose_card(const void *p, const void *own, struct gtel_findings *findings)
{
    static const char *const text[3] = {"busy files"};
    const struct busy_card *busy = own;
    (void)p;
    if (busy->error < 0)
        gtel_finding_put(findings, busy->card->device, GTEL_MEASUREMENT_GPU_ENGINE, busy->error,
                         text);
}

static const struct gtel_card_work work = {
    .own_size = sizeof(struct busy_card),
    .failure = "busy_files: %s: engine use",
    .close = close_card,
    .sample = sample_card,
    .diagnose = diagnose_card,
};

const struct gtel_source gtel_source_busy_files = {
    .name = "busy_files",
    .lane = "kernel",
    .vendor = "intel",
    .summary = "Engine use from files that count nanoseconds, where a kernel has such files",
    .needs = "a kernel with busy files, which no mainline kernel is; no rights",
    .origins = origins,
    .is_indirect = true,
    .drivers = drivers,
    .work = &work,
};
