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
 *     cardN/clients/<id>/busy/<class>                   of each client: see busy_clients.h
 *
 * Each counts 64 bits of 1 ns, as far as their trees are known, and never turns.
 *
 * The time of a class is the mean over its engines; the core makes the share of it. A GPU that
 * sleeps or rests is not asked: where such files come from, nothing says that a read does not wake.
 */
#include "parse/engine_name.h"
#include "sources/drm/busy_clients.h"
#include "sources/drm/cards.h"
#include "sources/source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { FILES_MAX = 128, NAMES_MAX = 64, TILES_MAX = 16, NO_GT = UINT16_MAX };

struct busy_file {
    struct gtel_fs_file file;
    uint8_t class; /* enum gtel_engine_class */
    uint16_t instance;
    uint16_t gt; /* NO_GT where engines are counted over all of them */
    uint64_t ns; /* at the last cycle */
};

struct busy_card {
    struct gtel_card *card; /* first: see sources/drm/cards.h */
    struct busy_file file[FILES_MAX];
    size_t n;
    struct gtel_busy_clients clients;
    bool has_clients;
    int error;       /* of the last cycle or look; 0: none */
    bool is_looked;  /* since the last discovery */
    bool is_failing; /* a failure has been logged */
};

struct busy_files {
    struct gtel_card_list cards;
    struct gtel_arena arena; /* for the time of a look */
    bool has_instances;      /* each engine is told too */
};

static const char *const drivers[] = {"i915", "xe", NULL};
static const char *const origins[] = {"sysfs (engine counters)", "sysfs (clients)", NULL};
enum { ORIGIN_ENGINES, ORIGIN_CLIENTS };

static void close_card(const struct gtel_env *env, void *own)
{
    struct busy_card *busy = own;
    for (size_t i = 0; i < busy->n; i++)
        gtel_fs_close(env, &busy->file[i].file);
    gtel_busy_clients_close(&busy->clients);
}

/* A look for the files of a card. */
struct look {
    const struct gtel_env *env;
    struct gtel_arena *arena;
    struct busy_card *busy;
    uint16_t gt; /* that engines are looked for in, or NO_GT */
};

/* Keeps a file open when it is there. 0 or a negative errno. */
static int take(const struct look *look, const char *path, enum gtel_engine_class class,
                uint64_t instance)
{
    struct busy_card *busy = look->busy;
    if (busy->n == FILES_MAX)
        return 0;
    struct busy_file *file = &busy->file[busy->n];
    int r = gtel_fs_open(look->env, &file->file, path);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    file->class = (uint8_t) class;
    file->instance = (uint16_t)instance;
    file->gt = look->gt;
    busy->n++;
    return 0;
}

static int list(const struct look *look, const char *dir, struct gtel_str **ret, size_t *ret_n)
{
    *ret_n = 0;
    int r = gtel_fs_list(look->env, dir, look->arena, NAMES_MAX, ret, ret_n);
    *ret_n = *ret_n < NAMES_MAX ? *ret_n : NAMES_MAX;
    return r == -ENOENT || r == -ENOTDIR ? 0 : r;
}

/* <dir>/<number>/<file> for each number. */
static int look_at_class(const struct look *look, const char *dir, const char *file,
                         enum gtel_engine_class class)
{
    char path[GTEL_FS_PATH_MAX];
    struct gtel_str *names = NULL;
    size_t n;
    uint64_t number;
    int r = list(look, dir, &names, &n);
    for (size_t i = 0; r == 0 && i < n; i++)
        if (gtel_str_u64(names[i], &number) == 0)
            r = take(look, gtel_fs_path(path, "%s/%.*s/%s", dir, GTEL_STR_ARG(names[i]), file),
                     class, number);
    return r;
}

/* The engines or engine classes of a directory; file: the name of the counter in them. */
static int look_at_engines(const struct look *look, const char *dir, const char *file)
{
    char path[GTEL_FS_PATH_MAX];
    struct gtel_str *names = NULL;
    size_t n;
    int r = list(look, dir, &names, &n);
    for (size_t i = 0; r == 0 && i < n; i++) {
        struct gtel_engine_name engine;
        if (gtel_engine_name_parse(names[i], &engine) < 0)
            continue;
        if (engine.has_instance) {
            gtel_fs_path(path, "%s/%.*s/%s", dir, GTEL_STR_ARG(names[i]), file);
            r = take(look, path, engine.class, engine.instance);
        } else {
            gtel_fs_path(path, "%s/%.*s", dir, GTEL_STR_ARG(names[i]));
            r = look_at_class(look, path, file, engine.class);
        }
    }
    return r;
}

static int look_at_tile(const struct look *tile, const char *dir)
{
    struct look gt = *tile;
    const struct look *look = &gt;
    uint64_t number;
    char path[GTEL_FS_PATH_MAX];
    struct gtel_str *names = NULL;
    size_t n;
    int r = list(look, dir, &names, &n);
    for (size_t i = 0; r == 0 && i < n; i++) {
        if (!gtel_str_starts(names[i], GTEL_STR("gt")) ||
            gtel_str_u64(gtel_str_skip(names[i], 2), &number) < 0 || number >= NO_GT)
            continue;
        gt.gt = (uint16_t)number;
        gtel_fs_path(path, "%s/%.*s/engines", dir, GTEL_STR_ARG(names[i]));
        r = look_at_engines(look, path, "busy_ns");
    }
    return r;
}

static int look_at_tiles(const struct look *look)
{
    char path[GTEL_FS_PATH_MAX];
    int r = 0;
    for (unsigned t = 0; r == 0 && t < TILES_MAX; t++) {
        gtel_fs_path(path, "%s/tile%u", look->busy->card->path, t);
        if (!gtel_fs_exists(look->env, path))
            break; /* they are numbered from 0 on (kernel: xe/xe_tile_sysfs.c) */
        r = look_at_tile(look, path);
    }
    return r;
}

/* The first of the forms that a kernel has, after each discovery anew while there is none. */
static int look_at_card(struct busy_files *state, struct busy_card *busy)
{
    const struct look look = {state->cards.env, &state->arena, busy, NO_GT};
    char path[GTEL_FS_PATH_MAX];
    if (busy->is_looked || busy->n > 0 || busy->has_clients)
        return 0;
    gtel_arena_reset(&state->arena);
    gtel_fs_path(path, "sys/class/drm/%s/engine", busy->card->drm.card);
    int r = look_at_engines(&look, path, "busy");
    if (r == 0 && busy->n == 0)
        r = look_at_tiles(&look);
    if (r == 0 && busy->n == 0) {
        r = gtel_busy_clients_open(look.env, look.arena, &busy->card->drm, &busy->clients);
        busy->has_clients = r == 0;
        r = r == -ENOENT ? 0 : r;
    }
    if (r < 0)
        gtel_card_list_reopen(&state->cards, busy); /* rather nothing than a part */
    busy->is_looked = r == 0;
    return r;
}

static void put_engine(struct gtel_batch *batch, const struct gtel_device *device,
                       const struct busy_file *file)
{
    enum gtel_engine_class class = (enum gtel_engine_class)file->class;
    struct gtel_reading reading = {.device = device,
                                   .metric = GTEL_M_ENGINE_BUSY_TIME,
                                   .value.f64 = (double)file->ns / 1e9,
                                   .value_type = GTEL_VALUE_F64};
    char name[GTEL_ENGINE_TEXT_MAX];
    char gt[8];
    gtel_engine_name_print(name, class, file->instance);
    (void)snprintf(gt, sizeof(gt), "%u", (unsigned)file->gt);
    reading.dim[0] = gtel_engine_class_name(class);
    reading.dim[1] = gtel_batch_text(batch, gtel_str_of(name));
    if (file->gt != NO_GT)
        reading.dim[2] = gtel_batch_text(batch, gtel_str_of(gt));
    if (reading.dim[1].n > 0)
        gtel_batch_put(batch, &reading);
}

/* Nanoseconds of all engines; a class of which one cannot be read has no figure. */
static int read_card(const struct busy_files *state, struct busy_card *busy,
                     struct gtel_batch *batch)
{
    const struct gtel_env *env = state->cards.env;
    uint64_t sum[GTEL_ENGINE_CLASSES] = {0};
    size_t engines[GTEL_ENGINE_CLASSES] = {0};
    bool is_broken[GTEL_ENGINE_CLASSES] = {false};
    int first = 0;
    batch->t_ns = gtel_env_now(env);
    batch->origin = ORIGIN_ENGINES;
    for (size_t i = 0; i < busy->n; i++) {
        struct busy_file *file = &busy->file[i];
        uint8_t class = file->class;
        int r = gtel_fs_read_u64(env, &file->file, &file->ns);
        if (r == -ENODEV)
            return r;
        if (r == 0 && state->has_instances)
            put_engine(batch, busy->card->device, file);
        sum[class] += file->ns;
        engines[class]++;
        is_broken[class] = is_broken[class] || r < 0;
        first = first < 0 ? first : r;
    }
    for (unsigned c = 0; c < GTEL_ENGINE_CLASSES; c++) {
        struct gtel_str engine = gtel_engine_class_name((enum gtel_engine_class)c);
        if (engines[c] == 0)
            continue;
        if (!is_broken[c])
            gtel_batch_f64(batch, busy->card->device, GTEL_M_ENGINE_BUSY_TIME, engine,
                           (double)sum[c] / 1e9 / (double)engines[c]);
        gtel_batch_u64(batch, busy->card->device, GTEL_M_ENGINE_CAPACITY, engine, engines[c]);
    }
    return first;
}

/* Whether a better source has told this gather: the files of all clients are many. */
static bool is_told(const struct gtel_batch *batch, const struct gtel_device *device)
{
    for (size_t i = 0; i < batch->n; i++)
        if (batch->reading[i].device == device &&
            (batch->reading[i].metric == GTEL_M_ENGINE_BUSY_TIME ||
             batch->reading[i].metric == GTEL_M_ENGINE_TICKS))
            return true;
    return false;
}

static int read_clients(struct busy_files *state, struct busy_card *busy, struct gtel_batch *batch)
{
    const struct gtel_env *env = state->cards.env;
    const struct gtel_busy_clients *clients = &busy->clients;
    gtel_arena_reset(&state->arena);
    batch->t_ns = gtel_env_now(env);
    int r = gtel_busy_clients_read(env, &state->arena, &busy->card->drm, &busy->clients);
    batch->origin = ORIGIN_CLIENTS;
    for (unsigned c = 0; r == 0 && c < GTEL_ENGINE_CLASSES; c++) {
        struct gtel_str engine = gtel_engine_class_name((enum gtel_engine_class)c);
        if (clients->engines[c] == 0)
            continue;
        gtel_batch_f64(batch, busy->card->device, GTEL_M_ENGINE_BUSY_TIME, engine,
                       (double)clients->sum_ns[c] / 1e9 / (double)clients->engines[c]);
        gtel_batch_u64(batch, busy->card->device, GTEL_M_ENGINE_CAPACITY, engine,
                       clients->engines[c]);
    }
    return r;
}

static void note(const struct gtel_env *env, struct busy_card *busy, int r)
{
    busy->error = r;
    if (busy->is_failing == (r < 0))
        return;
    busy->is_failing = r < 0;
    gtel_log(&env->log, r < 0 ? GTEL_LOG_WARNING : GTEL_LOG_INFO, "busy_files: %s: engine use: %s",
             busy->card->drm.key, r < 0 ? strerror(-r) : "works again");
}

static bool present(const struct gtel_env *env)
{
    return gtel_cards_any(env, drivers);
}

static int open_source(void *p, const struct gtel_env *env, const struct gtel_options *options)
{
    struct busy_files *state = p;
    state->has_instances =
        gtel_str_eq(gtel_option_text(options, GTEL_O_ENGINE_INSTANCES), GTEL_STR("on"));
    state->cards = (struct gtel_card_list){
        .env = env, .drivers = drivers, .own_size = sizeof(struct busy_card), .close = close_card};
    return 0;
}

static int discover(void *p, struct gtel_registry *registry)
{
    struct busy_files *state = p;
    int r = gtel_card_list_discover(&state->cards, registry);
    for (size_t i = 0; i < state->cards.n; i++)
        ((struct busy_card *)state->cards.slot[i].own)->is_looked = false;
    return r;
}

static int sample_card(struct busy_files *state, struct busy_card *busy, struct gtel_batch *batch)
{
    bool has_work = !busy->is_looked || busy->n > 0 || busy->has_clients;
    if (!has_work || !gtel_card_may_read(busy->card))
        return 0;
    int r = look_at_card(state, busy);
    if (r == 0 && busy->n > 0)
        r = read_card(state, busy, batch);
    else if (r == 0 && busy->has_clients && !is_told(batch, busy->card->device))
        r = read_clients(state, busy, batch);
    if (r != -ENODEV)
        note(state->cards.env, busy, r);
    return r;
}

static int sample(void *p, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct busy_files *state = p;
    bool is_lost = false;
    (void)registry;
    for (size_t i = 0; i < state->cards.n; i++) {
        struct busy_card *busy = state->cards.slot[i].own;
        int r = sample_card(state, busy, batch);
        if (r == -ENODEV) {
            gtel_card_list_reopen(&state->cards, busy);
            is_lost = true;
        } else if (r < 0) {
            gtel_batch_failed(batch, busy->card->device);
        }
    }
    return is_lost ? -ENODEV : 0;
}

static void diagnose(void *p, struct gtel_registry *registry, struct gtel_findings *findings)
{
    const struct busy_files *state = p;
    (void)registry;
    for (size_t i = 0; i < state->cards.n; i++) {
        const struct busy_card *busy = state->cards.slot[i].own;
        const char *text[3] = {"busy files", "no kernel of kernel.org makes any", ""};
        bool is_missing = busy->is_looked && busy->n == 0 && !busy->has_clients;
        if (!is_missing && busy->error == 0)
            continue;
        if (busy->error < 0)
            text[1] = "";
        gtel_finding_put(findings, busy->card->device, GTEL_MEASUREMENT_GPU_ENGINE, busy->error,
                         text);
    }
}

static void close_source(void *p)
{
    struct busy_files *state = p;
    gtel_card_list_done(&state->cards);
    gtel_arena_done(&state->arena);
    *state = (struct busy_files){0};
}

const struct gtel_source gtel_source_busy_files = {
    .name = "busy_files",
    .lane = "kernel",
    .vendor = "intel",
    .summary = "Engine use from files that count nanoseconds, where a kernel has such files",
    .needs = "a kernel with busy files, which no mainline kernel is; no rights",
    .seen = "not tried on hardware",
    .origins = origins,
    .state_size = sizeof(struct busy_files),
    .present = present,
    .open = open_source,
    .discover = discover,
    .sample = sample,
    .diagnose = diagnose,
    .close = close_source,
};
