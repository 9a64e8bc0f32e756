/* SPDX-License-Identifier: MIT */
/*
 * Source wddm_clients: who uses which GPU under Windows, from its performance counters.
 *
 * Two sets list each process on each GPU (memory) and on each of its engines (running time). The
 * kernel makes both, whoever owns the process and whatever vendor the GPU is of. GPUs are those
 * to which source wddm has given a LUID; other adapters in the counters are software.
 */
#include "base/error.h"
#include "base/grow.h"
#include "base/index.h"
#include "host/fs.h"
#include "host/pnp.h"
#include "host/process.h"
#include "parse/perf_counters.h"
#include "processes/usage.h"
#include "sources/clients/share.h"
#include "sources/source.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    DATA_FIRST = 65536, /* bytes of a set */
    DATA_LAST = 16 << 20,
    WORKS_MAX = 65536,
    ENGINES_MAX = 512, /* of all GPUs */
    GPUS_MAX = 64
};

/* The counters of both sets (the system's own: Get-Counter -ListSet 'GPU Process Memory'). */
enum { RUNNING_TIME = 1 /* units of 100 ns */ };
enum { LOCAL_USAGE = 2, NON_LOCAL_USAGE = 3, DEDICATED_USAGE = 4 };

static const char engine_set[] = GTEL_PERF_FOLDER "978C167D-4764-4D9C-9824-14747351DC81";
static const char memory_set[] = GTEL_PERF_FOLDER "F802502B-77B4-4713-81B3-3BE05759DA5D";
static const char *const origins[] = {"Windows performance counters", NULL};

/*
 * What the name of an instance says. Reading it costs more than all else: most names are at their
 * places in the next gather again.
 */
struct known {
    uint64_t hash;              /* of the name */
    struct gtel_perf_name name; /* without its type */
    enum gtel_engine_kind kind;
    int error;   /* -EINVAL: it is no process on a GPU */
    size_t user; /* where both were last */
    size_t engine;
};

/* What a process does on an engine. */
struct work {
    uint64_t luid;
    uint64_t start; /* of the process */
    uint32_t pid;
    uint32_t adapter;
    uint32_t engine;
    bool is_found; /* in the gather after this one */
    double value;  /* the share of the last interval; below 0: not known */
    struct gtel_share share;
};

/* A process on a GPU. */
struct user {
    uint64_t luid;
    struct gtel_process_id process;
    bool has_ended;
    bool has_memory;
    bool has_unknown_work;
    struct gtel_use use; /* the shares are of the busiest engines until they are reported */
    double sum[GTEL_ENGINE_KINDS];
};

struct engine {
    uint64_t luid;
    uint32_t adapter;
    uint32_t engine;
    enum gtel_engine_kind kind;
    double used; /* NAN: what some process did is not known */
};

struct gpu {
    uint64_t luid;
    const struct gtel_device *device;
    double engines[GTEL_ENGINE_KINDS]; /* alike ones, as wddm reports them; 0: not known */
};

/* Entries of one size, which stay allocated. */
struct list {
    void *p;
    size_t n;
    size_t size;
};

struct state {
    const struct gtel_env *env;
    struct gtel_fs_file engines_file;
    struct gtel_fs_file memory_file;
    char *data; /* of a set */
    size_t data_size;
    int engines_error; /* of the last gather */
    int memory_error;
    struct list engine_names; /* struct known, in the order of a set */
    struct list memory_names;
    struct gtel_share_clock clock;
    enum gtel_share_span span;
    uint64_t dt_ns;
    struct list now;         /* struct work */
    struct list before;      /* the same, of the last gather over which shares were taken */
    struct gtel_index bases; /* of those; empty until one has moved */
    struct list users;
    struct gtel_index user_index;
    bool is_cut;                           /* there was more than is kept */
    struct engine engine[ENGINES_MAX + 1]; /* the last one: what there is no room for */
    size_t engines;
    struct gpu gpu[GPUS_MAX];
    size_t gpus;
};

/* ---- lists ---- */

/* An entry at the end, which is to be written, or NULL. */
static void *add(struct list *list, size_t entry_size)
{
    if (list->n == list->size &&
        !gtel_grow(&list->p, &list->size, list->n + 1, WORKS_MAX, entry_size))
        return NULL;
    return (char *)list->p + list->n++ * entry_size;
}

static uint64_t work_hash(const struct work *work)
{
    const uint64_t key[] = {work->luid, work->pid, work->adapter, work->engine};
    return gtel_hash(GTEL_HASH_SEED, key, sizeof(key));
}

/* Of a process on several GPUs, which follow one another mostly, the start is asked for once. */
static struct user *add_user(struct state *state, const struct known *known)
{
    struct user *user = add(&state->users, sizeof(*user));
    if (!user)
        return NULL;
    *user = (struct user){.luid = known->name.luid, .process.pid = known->name.pid};
    if (state->users.n > 1 && user[-1].process.pid == known->name.pid) {
        user->process.start = user[-1].process.start;
        user->has_ended = user[-1].has_ended;
        return user;
    }
    user->has_ended =
        gtel_process_start(state->env, known->name.pid, &user->process.start) == -ESRCH;
    return user;
}

static bool is_user(const struct state *state, size_t i, const struct known *known)
{
    const struct user *user = (struct user *)state->users.p + i;
    return i < state->users.n && user->luid == known->name.luid &&
           user->process.pid == known->name.pid;
}

/* The process on that GPU, made where there is none; NULL: no memory. */
static struct user *user_of(struct state *state, struct known *known)
{
    const uint64_t key[] = {known->name.luid, known->name.pid};
    const uint64_t hash = gtel_hash(GTEL_HASH_SEED, key, sizeof(key));
    size_t at = 0;
    int64_t i = (int64_t)known->user;
    while (i != GTEL_INDEX_NONE && !is_user(state, (size_t)i, known))
        i = gtel_index_next(&state->user_index, hash, &at);
    if (i != GTEL_INDEX_NONE) {
        known->user = (size_t)i;
        return (struct user *)state->users.p + i;
    }
    if (gtel_index_reserve(&state->user_index, state->users.n + 1) < 0)
        return NULL;
    struct user *user = add_user(state, known);
    if (user) {
        known->user = state->users.n - 1;
        gtel_index_put(&state->user_index, hash, known->user);
    }
    return user;
}

static bool is_engine(const struct state *state, size_t i, const struct work *work)
{
    const struct engine *engine = &state->engine[i];
    return i < state->engines && engine->luid == work->luid && engine->adapter == work->adapter &&
           engine->engine == work->engine;
}

/* The engine of that work; place: where it was last. */
static struct engine *engine_of(struct state *state, const struct work *work, size_t place)
{
    size_t i = is_engine(state, place, work) ? place : 0;
    while (i < state->engines && !is_engine(state, i, work))
        i++;
    if (i < state->engines)
        return &state->engine[i];
    struct engine *engine = &state->engine[state->engines];
    if (state->engines < ENGINES_MAX)
        state->engines++;
    else
        state->is_cut = true;
    *engine = (struct engine){.luid = work->luid,
                              .adapter = work->adapter,
                              .engine = work->engine,
                              .kind = GTEL_ENGINE_KIND_OTHER};
    return engine;
}

/* ---- a set ---- */

static int read_set(struct state *state, const struct gtel_fs_file *file, struct gtel_perf_set *ret)
{
    struct gtel_str data = GTEL_STR_NONE;
    int r = gtel_fs_is_open(file) ? -E2BIG : -ENOENT;
    while (r == -E2BIG) {
        if (state->data_size > 0)
            r = gtel_fs_read_bytes(state->env, file, state->data, state->data_size, &data);
        if (r != -E2BIG || state->data_size == DATA_LAST)
            break;
        size_t size = state->data_size ? state->data_size * 2 : DATA_FIRST;
        char *p = realloc(state->data, size);
        if (!p)
            return -ENOMEM;
        state->data = p;
        state->data_size = size;
    }
    return r < 0 ? r : gtel_perf_begin(data, ret);
}

/* What the name of the instance at a place says; NULL: it is no process on a GPU. */
static struct known *known_of(struct state *state, struct list *names, size_t place,
                              const struct gtel_perf_set *set,
                              const struct gtel_perf_instance *instance)
{
    const uint64_t hash = gtel_hash(GTEL_HASH_SEED, instance->name.p, instance->name.n);
    char text[GTEL_PERF_NAME_MAX];
    bool is_new = place >= names->n;
    struct known *known = is_new ? add(names, sizeof(*known)) : (struct known *)names->p + place;
    state->is_cut = state->is_cut || !known;
    if (known && (is_new || known->hash != hash)) {
        *known = (struct known){.hash = hash};
        known->error = gtel_perf_name(set, instance, text, &known->name);
        known->kind = gtel_engine_kind_of_windows(known->name.type);
        known->name.type = GTEL_STR_NONE;
    }
    return known && known->error == 0 ? known : NULL;
}

/* ---- engines ---- */

static bool is_same(const struct work *a, const struct work *b)
{
    return a->luid == b->luid && a->pid == b->pid && a->start == b->start &&
           a->adapter == b->adapter && a->engine == b->engine;
}

/* Work that has moved in the list. */
static struct work *find_base(struct state *state, const struct work *work)
{
    struct work *before = state->before.p;
    size_t at = 0;
    int64_t i;
    if (state->bases.n == 0 && gtel_index_reserve(&state->bases, state->before.n) == 0)
        for (size_t k = 0; k < state->before.n; k++)
            gtel_index_put(&state->bases, work_hash(&before[k]), k);
    do
        i = gtel_index_next(&state->bases, work_hash(work), &at);
    while (i != GTEL_INDEX_NONE && !is_same(&before[i], work));
    return i != GTEL_INDEX_NONE ? &before[i] : NULL;
}

/* work is the last of those of now. */
static struct work *base_of(struct state *state, const struct work *work)
{
    size_t place = state->now.n - 1;
    struct work *base = (struct work *)state->before.p + place;
    return place < state->before.n && is_same(base, work) ? base : find_base(state, work);
}

/*
 * The share of the interval. Of work that was not there before, or whose process may be another one
 * by now, it is not known, unless it has never worked.
 */
static void measure(struct state *state, struct work *work, uint64_t units)
{
    struct gtel_share_counter sample = {
        .kind = GTEL_SHARE_TIME, .capacity = 1, .count = units * 100};
    if (units > UINT64_MAX / 100 || state->span == GTEL_SPAN_SHORT)
        return;
    struct work *base = state->span == GTEL_SPAN_WHOLE ? base_of(state, work) : NULL;
    if (base) {
        base->is_found = true;
        work->share = base->share;
    }
    double value = 0;
    int r = gtel_share_feed(&work->share, &sample, state->dt_ns, &value);
    if (r == 0 || (!base && units == 0 && state->span == GTEL_SPAN_WHOLE))
        work->value = value;
}

static void add_work(struct state *state, struct known *known,
                     const struct gtel_perf_instance *instance)
{
    struct user *user = user_of(state, known);
    struct work *work = user ? add(&state->now, sizeof(*work)) : NULL;
    if (!work) {
        state->is_cut = true;
        return;
    }
    *work = (struct work){.luid = known->name.luid,
                          .start = user->process.start,
                          .pid = known->name.pid,
                          .adapter = known->name.adapter,
                          .engine = known->name.engine,
                          .value = -1};
    if ((instance->has >> RUNNING_TIME & 1) != 0)
        measure(state, work, instance->value[RUNNING_TIME]);
    struct engine *engine = engine_of(state, work, known->engine);
    known->engine = (size_t)(engine - state->engine);
    engine->kind = known->kind;
    if (work->value < 0) {
        engine->used = NAN;
        user->has_unknown_work = true;
        return;
    }
    engine->used += work->value;
    double *share = &user->use.share[engine->kind];
    *share = work->value > *share ? work->value : *share;
    user->sum[engine->kind] += work->value;
    user->use.has_share |= 1u << engine->kind;
}

/* What was at work before, and is not there any more, has worked on for an unknown time. */
static void find_ended(struct state *state)
{
    for (size_t i = 0; i < state->before.n && state->span == GTEL_SPAN_WHOLE; i++) {
        const struct work *work = (struct work *)state->before.p + i;
        if (!work->is_found && work->value != 0)
            engine_of(state, work, 0)->used = NAN;
    }
}

/* What was read becomes the base of the next gather. */
static void keep_bases(struct state *state)
{
    struct list before = state->before;
    if (state->span == GTEL_SPAN_SHORT)
        return;
    state->before = state->now;
    state->now = before;
    gtel_index_reset(&state->bases);
}

static int read_engines(struct state *state)
{
    struct gtel_perf_set set;
    struct gtel_perf_instance instance;
    int r = read_set(state, &state->engines_file, &set);
    if (r < 0) {
        state->before.n = 0; /* the next ones begin again */
        gtel_index_reset(&state->bases);
        state->clock = (struct gtel_share_clock){0};
        return r;
    }
    state->span =
        gtel_share_tick(&state->clock, set.clock_ns, gtel_env_suspended(state->env), &state->dt_ns);
    for (size_t i = 0; gtel_perf_next(&set, &instance); i++) {
        struct known *known = known_of(state, &state->engine_names, i, &set, &instance);
        if (known && known->name.engine != UINT32_MAX)
            add_work(state, known, &instance);
    }
    state->is_cut = state->is_cut || set.left > 0;
    find_ended(state);
    keep_bases(state);
    return 0;
}

/* ---- memory ---- */

/* Returns the amount; 0 when it is not known. */
static uint64_t put_memory(struct gtel_use_memory *memory, enum gtel_metric kind,
                           const struct gtel_perf_instance *instance, unsigned counter)
{
    if ((instance->has >> counter & 1) == 0)
        return 0;
    gtel_use_memory_put(memory, kind, instance->value[counter]);
    return instance->value[counter];
}

/*
 * Local and Non Local Usage are what is resident, Dedicated Usage what was committed (System
 * Informer, pull request 2971). More resident than committed: the GPU has no memory of its own, so
 * that all is local (Microsoft: DXGI_MEMORY_SEGMENT_GROUP), and the others are about something
 * else.
 */
static void add_memory(struct state *state, struct known *known,
                       const struct gtel_perf_instance *instance)
{
    struct gtel_use_memory memory = {0};
    struct user *user = user_of(state, known);
    if (!user) {
        state->is_cut = true;
        return;
    }
    uint64_t resident = put_memory(&memory, GTEL_M_PROCESS_MEMORY, instance, LOCAL_USAGE);
    const struct gtel_use_memory local = memory;
    (void)put_memory(&memory, GTEL_M_PROCESS_MEMORY_SYSTEM, instance, NON_LOCAL_USAGE);
    if (put_memory(&memory, GTEL_M_PROCESS_MEMORY_ALLOCATED, instance, DEDICATED_USAGE) < resident)
        memory = local;
    gtel_use_memory_add(&user->use.memory, &memory, !user->has_memory);
    user->has_memory = true;
}

static int read_memory(struct state *state)
{
    struct gtel_perf_set set;
    struct gtel_perf_instance instance;
    int r = read_set(state, &state->memory_file, &set);
    if (r < 0)
        return r;
    for (size_t i = 0; gtel_perf_next(&set, &instance); i++) {
        struct known *known = known_of(state, &state->memory_names, i, &set, &instance);
        if (known && known->name.engine == UINT32_MAX)
            add_memory(state, known, &instance);
    }
    state->is_cut = state->is_cut || set.left > 0;
    return 0;
}

/* ---- GPUs ---- */

static struct gpu *gpu_of(struct state *state, uint64_t luid)
{
    for (size_t i = 0; i < state->gpus; i++)
        if (state->gpu[i].luid == luid)
            return &state->gpu[i];
    return NULL;
}

/* False: there is none that may be asked for. */
static bool find_gpus(struct state *state, const struct gtel_registry *registry)
{
    state->gpus = 0;
    for (size_t i = 0; i < registry->n && state->gpus < GPUS_MAX; i++) {
        const struct gtel_device *device = registry->device[i];
        if (device->luid != 0 && device->is_present && !device->is_left_alone)
            state->gpu[state->gpus++] = (struct gpu){.luid = device->luid, .device = device};
    }
    return state->gpus > 0;
}

/* ---- readings ---- */

/* What source wddm has reported of the engines in this gather. */
static void find_engines(struct state *state, const struct gtel_batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        const struct gtel_reading *reading = &batch->reading[i];
        if (reading->metric != GTEL_M_ENGINE_CAPACITY)
            continue;
        for (size_t k = 0; k < state->gpus; k++)
            if (state->gpu[k].device == reading->device)
                state->gpu[k].engines[gtel_engine_kind_of(reading->dim[0])] =
                    gtel_reading_number(reading);
    }
}

/* More engines than alike ones: they are not alike, and the busiest counts, as in source wddm. */
static void find_unlike(struct state *state)
{
    double seen[GPUS_MAX][GTEL_ENGINE_KINDS] = {0};
    for (size_t i = 0; i < state->engines; i++) {
        struct gpu *gpu = gpu_of(state, state->engine[i].luid);
        enum gtel_engine_kind kind = state->engine[i].kind;
        if (gpu && ++seen[gpu - state->gpu][kind] > gpu->engines[kind])
            gpu->engines[kind] = 0;
    }
}

/* Of alike engines the share of all, else of the busiest one. */
static double share_of(const struct gpu *gpu, size_t kind, double sum, double most)
{
    double share = gpu->engines[kind] > 0 ? sum / gpu->engines[kind] : most;
    return share < 1 ? share : 1;
}

/* All classes or none: the busiest of a part of them would be no value of the GPU. */
static void report_engines(const struct state *state, const struct gpu *gpu,
                           struct gtel_batch *batch)
{
    double most[GTEL_ENGINE_KINDS] = {0};
    double sum[GTEL_ENGINE_KINDS] = {0};
    uint32_t known = 0;
    for (size_t i = 0; i < state->engines; i++) {
        const struct engine *engine = &state->engine[i];
        if (engine->luid != gpu->luid)
            continue;
        if (isnan(engine->used))
            return;
        known |= 1u << engine->kind;
        sum[engine->kind] += engine->used;
        most[engine->kind] = engine->used > most[engine->kind] ? engine->used : most[engine->kind];
    }
    for (size_t kind = 0; kind < GTEL_ENGINE_KINDS; kind++)
        if ((known >> kind & 1) != 0)
            gtel_batch_f64(batch, gpu->device, GTEL_M_ENGINE_BUSY,
                           gtel_engine_kind_name((enum gtel_engine_kind)kind),
                           share_of(gpu, kind, sum[kind], most[kind]));
}

/*
 * An instance may outlive its process for a moment; a GPU without any instance may be one that the
 * kernel lists no processes of (old drivers).
 */
static void report_users(struct state *state, struct gtel_batch *batch)
{
    bool is_complete = state->engines_error == 0 && state->memory_error == 0 && !state->is_cut;
    for (size_t i = 0; i < state->users.n; i++) {
        struct user *user = (struct user *)state->users.p + i;
        const struct gpu *gpu = gpu_of(state, user->luid);
        if (!gpu)
            continue;
        if (is_complete)
            gtel_usage_complete(batch->usage, gpu->device, batch->source, batch->origin);
        if (user->has_unknown_work)
            user->use.has_share = 0;
        for (size_t kind = 0; kind < GTEL_ENGINE_KINDS; kind++)
            if ((user->use.has_share >> kind & 1) != 0)
                user->use.share[kind] = share_of(gpu, kind, user->sum[kind], user->use.share[kind]);
        if (!user->has_ended)
            gtel_usage_add(batch->usage, gpu->device, batch->source, batch->origin, user->process,
                           &user->use);
    }
}

static void begin_gather(struct state *state)
{
    state->now.n = 0;
    state->users.n = 0;
    state->engines = 0;
    state->is_cut = false;
    gtel_index_reset(&state->user_index);
}

static int sample(void *p, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct state *state = p;
    begin_gather(state);
    batch->t_ns = gtel_env_now(state->env);
    if (!find_gpus(state, registry)) {
        state->before.n = 0;
        gtel_index_reset(&state->bases);
        state->clock = (struct gtel_share_clock){0};
        return 0;
    }
    if (gtel_fs_is_open(&state->engines_file))
        state->engines_error = read_engines(state);
    if (gtel_fs_is_open(&state->memory_file))
        state->memory_error = read_memory(state);
    find_engines(state, batch);
    find_unlike(state);
    report_users(state, batch);
    for (size_t i = 0; i < state->gpus; i++)
        if (state->engines_error == 0 && state->span == GTEL_SPAN_WHOLE && !state->is_cut)
            report_engines(state, &state->gpu[i], batch);
    int r = state->engines_error;
    return gtel_error_is_broken(r) ? r : state->memory_error;
}

/* ---- the source ---- */

static bool present(const struct gtel_env *env)
{
    return gtel_pnp_is_there(env) || gtel_fs_exists(env, engine_set) ||
           gtel_fs_exists(env, memory_set);
}

/* The GPUs are those of source wddm; a set may be registered later than the other. */
static int discover(void *p, struct gtel_registry *registry)
{
    struct state *state = p;
    bool is_open = gtel_fs_is_open(&state->engines_file) || gtel_fs_is_open(&state->memory_file);
    (void)registry;
    if (!gtel_fs_is_open(&state->engines_file))
        state->engines_error = gtel_fs_open(state->env, &state->engines_file, engine_set);
    if (!gtel_fs_is_open(&state->memory_file))
        state->memory_error = gtel_fs_open(state->env, &state->memory_file, memory_set);
    return !is_open && state->engines_error < 0 && state->memory_error < 0 ? state->engines_error
                                                                           : 0;
}

static int open_source(void *p, const struct gtel_env *env, const struct gtel_options *options)
{
    struct state *state = p;
    (void)options;
    state->env = env;
    int r = discover(state, NULL);
    return gtel_pnp_is_there(env) ? 0 : r; /* of a Windows without them doctor says why */
}

static const char *fix_of(int error)
{
    return error == -EACCES
               ? "run gtel as administrator or as LocalSystem, or add its user to the group "
                 "Performance Monitor Users"
               : "performance counters may be switched off, or damaged: lodctr /Q shows it, "
                 "lodctr /R makes them again (both as administrator)";
}

static void diagnose(void *p, struct gtel_registry *registry, struct gtel_findings *findings)
{
    const struct state *state = p;
    const char *const engines[3] = {"counter set GPU Engine", NULL, fix_of(state->engines_error)};
    const char *const memory[3] = {"counter set GPU Process Memory", NULL,
                                   fix_of(state->memory_error)};
    (void)registry;
    if (state->gpus == 0)
        return;
    if (state->engines_error < 0)
        gtel_finding_put(findings, NULL, GTEL_MEASUREMENT_GPU_ENGINE, state->engines_error,
                         engines);
    if (state->memory_error < 0)
        gtel_finding_put(findings, NULL, GTEL_MEASUREMENT_GPU_PROCESS, state->memory_error, memory);
}

static void close_source(void *p)
{
    struct state *state = p;
    gtel_fs_close(state->env, &state->engines_file);
    gtel_fs_close(state->env, &state->memory_file);
    free(state->data);
    free(state->engine_names.p);
    free(state->memory_names.p);
    free(state->now.p);
    free(state->before.p);
    free(state->users.p);
    gtel_index_done(&state->bases);
    gtel_index_done(&state->user_index);
    *state = (struct state){0};
}

const struct gtel_source gtel_source_wddm_clients = {
    .name = "wddm_clients",
    .lane = "kernel",
    .vendor = "drm",
    .summary = "Windows: GPU memory and engine time of each process, and engine use, from the "
               "performance counters GPU Process Memory and GPU Engine",
    .needs = "Windows 10 1809 or Server 2019",
    .origins = origins,
    .state_size = sizeof(struct state),
    .is_indirect = true,
    .has_all_engines = true,
    .present = present,
    .open = open_source,
    .discover = discover,
    .sample = sample,
    .diagnose = diagnose,
    .close = close_source,
};
