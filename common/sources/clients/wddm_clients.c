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
    INSTANCES_MAX = 131072, /* of both sets */
    ENGINES_MAX = 512,      /* of all GPUs */
    GPUS_MAX = 64
};

/* The counters of both sets (the system's own: Get-Counter -ListSet 'GPU Process Memory'). */
enum { RUNNING_TIME = 1 /* units of 100 ns */ };
enum { LOCAL_USAGE = 2, NON_LOCAL_USAGE = 3, DEDICATED_USAGE = 4 };

static const char engine_set[] = GTEL_PERF_FOLDER "978C167D-4764-4D9C-9824-14747351DC81";
static const char memory_set[] = GTEL_PERF_FOLDER "F802502B-77B4-4713-81B3-3BE05759DA5D";
static const char *const origins[] = {"Windows performance counters", NULL};

/*
 * An instance of a set: a process on a GPU, or on one of its engines. Reading its name costs more
 * than all else, so that it is known again by the name's hash, at its place in the order of the
 * sets: that is the same in most gathers.
 */
struct instance {
    uint64_t hash;
    struct gtel_perf_name name; /* without its type */
    enum gtel_engine_kind kind;
    int error;       /* -EINVAL: it is no process on a GPU */
    uint64_t gather; /* in which it was there last */
    size_t user;
    size_t engine;  /* where it was last */
    uint64_t start; /* of the process whose share it is */
    double value;   /* the share of the last interval; below 0: not known */
    struct gtel_share share;
};

/* A process on a GPU. */
struct user {
    uint64_t luid;
    struct gtel_process_id process;
    uint64_t gather; /* of which all else is */
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
    uint32_t counted;                  /* classes whose running time source wddm reports */
    uint32_t counted_before;           /* in the last gather */
};

struct state {
    const struct gtel_env *env;
    struct gtel_fs_file engines_file;
    struct gtel_fs_file memory_file;
    char *data; /* of a set */
    size_t data_size;
    int engines_error; /* of the last gather */
    int memory_error;
    struct gtel_share_clock clock;
    enum gtel_share_span span;
    uint64_t dt_ns;
    uint64_t wall_ns; /* of this gather, and of the one before */
    uint64_t wall_before_ns;
    uint64_t gather;
    struct instance *instance; /* those of the last gathers: see drop_ended */
    size_t instances;
    size_t instances_size;
    struct gtel_index names; /* of them */
    size_t next;             /* where the next one of a set is, as in the last gather */
    size_t found;            /* in this gather */
    struct user *user;       /* all of those instances */
    size_t users;
    size_t users_size;
    struct gtel_index user_index;
    bool is_cut;                           /* there was more than is kept */
    struct engine engine[ENGINES_MAX + 1]; /* the last one: what there is no room for */
    size_t engines;
    struct gpu gpu[GPUS_MAX];
    size_t gpus;
};

/* ---- instances and users ---- */

static bool is_user_of(const struct user *user, const struct instance *instance)
{
    return user->luid == instance->name.luid && user->process.pid == instance->name.pid;
}

/* Finds the user of an instance, or makes it. False: no memory. */
static bool find_user(struct state *state, struct instance *instance)
{
    const uint64_t key[] = {instance->name.luid, instance->name.pid};
    const uint64_t hash = gtel_hash(GTEL_HASH_SEED, key, sizeof(key));
    size_t at = 0;
    int64_t i;
    do
        i = gtel_index_next(&state->user_index, hash, &at);
    while (i != GTEL_INDEX_NONE && !is_user_of(&state->user[i], instance));
    if (i == GTEL_INDEX_NONE) {
        if (gtel_index_reserve(&state->user_index, state->users + 1) < 0 ||
            !gtel_grow(&state->user, &state->users_size, state->users + 1, INSTANCES_MAX,
                       sizeof(*state->user)))
            return false;
        i = (int64_t)state->users++;
        state->user[i] =
            (struct user){.luid = instance->name.luid, .process.pid = instance->name.pid};
        gtel_index_put(&state->user_index, hash, (size_t)i);
    }
    instance->user = (size_t)i;
    return true;
}

/*
 * The user as of this gather. Of a process on several GPUs, which follow one another mostly, the
 * start is asked for once.
 */
static struct user *user_of(struct state *state, const struct instance *instance)
{
    struct user *user = &state->user[instance->user];
    const struct user *last = instance->user > 0 ? user - 1 : user;
    if (user->gather == state->gather)
        return user;
    user->gather = state->gather;
    user->process.start = 0;
    user->has_memory = false;
    user->has_unknown_work = false;
    user->use.memory.has = 0;
    user->use.has_share = 0;
    if (last != user && last->gather == state->gather && last->process.pid == user->process.pid) {
        user->process.start = last->process.start;
        user->has_ended = last->has_ended;
    } else {
        user->has_ended =
            gtel_process_start(state->env, user->process.pid, &user->process.start) == -ESRCH;
    }
    return user;
}

/* Adds an instance that was not there before. NULL: no room. */
static struct instance *add_instance(struct state *state, const struct gtel_perf_set *set,
                                     const struct gtel_perf_instance *raw, uint64_t hash)
{
    char text[GTEL_PERF_NAME_MAX];
    struct instance instance = {.hash = hash};
    instance.error = gtel_perf_name(set, raw, text, &instance.name);
    instance.kind = gtel_engine_kind_of_windows(instance.name.type);
    instance.name.type = GTEL_STR_NONE;
    if ((instance.error == 0 && !find_user(state, &instance)) ||
        gtel_index_reserve(&state->names, state->instances + 1) < 0 ||
        !gtel_grow(&state->instance, &state->instances_size, state->instances + 1, INSTANCES_MAX,
                   sizeof(*state->instance)))
        return NULL;
    gtel_index_put(&state->names, hash, state->instances);
    state->instance[state->instances] = instance;
    return &state->instance[state->instances++];
}

static bool is_instance(const struct state *state, size_t i, uint64_t hash)
{
    return i < state->instances && state->instance[i].hash == hash &&
           state->instance[i].gather != state->gather;
}

/* NULL: no room, or it is no process on a GPU. */
static struct instance *instance_of(struct state *state, const struct gtel_perf_set *set,
                                    const struct gtel_perf_instance *raw)
{
    const uint64_t hash = gtel_hash(GTEL_HASH_SEED, raw->name.p, raw->name.n);
    size_t at = 0;
    int64_t i = (int64_t)state->next;
    while (i != GTEL_INDEX_NONE && !is_instance(state, (size_t)i, hash))
        i = gtel_index_next(&state->names, hash, &at);
    struct instance *instance =
        i == GTEL_INDEX_NONE ? add_instance(state, set, raw, hash) : &state->instance[i];
    if (i != GTEL_INDEX_NONE)
        state->next = (size_t)i + 1;
    if (!instance) {
        state->is_cut = true;
        return NULL;
    }
    instance->gather = state->gather;
    state->found++;
    return instance->error == 0 ? instance : NULL;
}

static void clear(struct state *state)
{
    state->instances = 0;
    state->users = 0;
    gtel_index_reset(&state->names);
    gtel_index_reset(&state->user_index);
}

/*
 * What was not there in this gather is forgotten, when all else has been done: places change. A
 * gather that follows too soon says nothing of it.
 */
static void drop_ended(struct state *state)
{
    size_t n = state->instances;
    if (state->found == n || state->span == GTEL_SPAN_SHORT)
        return;
    clear(state);
    for (size_t i = 0; i < n; i++) {
        struct instance *instance = &state->instance[state->instances];
        if (state->instance[i].gather != state->gather)
            continue;
        *instance = state->instance[i];
        gtel_index_put(&state->names, instance->hash, state->instances++);
        if (instance->error == 0)
            (void)find_user(state, instance); /* there were as many before */
    }
}

/* The next gather begins again. */
static void forget(struct state *state)
{
    clear(state);
    state->clock = (struct gtel_share_clock){0};
    state->span = GTEL_SPAN_FIRST;
}

/* ---- engines ---- */

static bool is_engine_of(const struct engine *engine, const struct instance *instance)
{
    return engine->luid == instance->name.luid && engine->adapter == instance->name.adapter &&
           engine->engine == instance->name.engine;
}

static struct engine *engine_of(struct state *state, struct instance *instance)
{
    size_t i = instance->engine;
    if (i >= state->engines || !is_engine_of(&state->engine[i], instance))
        for (i = 0; i < state->engines && !is_engine_of(&state->engine[i], instance);)
            i++;
    instance->engine = i;
    if (i < state->engines)
        return &state->engine[i];
    if (state->engines < ENGINES_MAX)
        state->engines++;
    else
        state->is_cut = true;
    state->engine[i] = (struct engine){.luid = instance->name.luid,
                                       .adapter = instance->name.adapter,
                                       .engine = instance->name.engine,
                                       .kind = instance->kind};
    return &state->engine[i];
}

/* Whether a process started since the last gather; Windows counts 100 ns since 1601. */
static bool is_born(const struct state *state, uint64_t start)
{
    static const uint64_t year_1970 = 116444736000000000;
    uint64_t units = start > year_1970 ? start - year_1970 : 0;
    return units >= state->wall_before_ns / 100 + 1 && units <= state->wall_ns / 100;
}

/*
 * The share of the interval; below 0: not known. It is not known of work that was not there before,
 * or whose process may be another one by now, unless it has never worked, or started in between.
 */
static double measure(const struct state *state, struct instance *instance, uint64_t start,
                      const struct gtel_perf_instance *raw)
{
    static const uint64_t most = UINT64_MAX / 100;
    uint64_t units = (raw->has >> RUNNING_TIME & 1) != 0 ? raw->value[RUNNING_TIME] : UINT64_MAX;
    struct gtel_share_counter sample = {
        .kind = GTEL_SHARE_TIME, .capacity = 1, .count = units * 100};
    bool is_whole = state->span == GTEL_SPAN_WHOLE;
    double value = 0;
    if (state->span == GTEL_SPAN_SHORT)
        return -1;
    if (!is_whole || instance->start != start || units > most)
        instance->share = (struct gtel_share){0};
    instance->start = start;
    instance->value = -1;
    if (units > most)
        return -1;
    bool is_new = instance->share.kind == GTEL_SHARE_NONE && is_whole;
    int r = is_new && (units == 0 || is_born(state, start))
                ? gtel_share_born(&instance->share, &sample, state->dt_ns, 0, &value)
                : gtel_share_feed(&instance->share, &sample, state->dt_ns, &value);
    if (r == 0)
        instance->value = value;
    return instance->value;
}

static void add_work(struct state *state, struct instance *instance,
                     const struct gtel_perf_instance *raw)
{
    struct user *user = user_of(state, instance);
    struct engine *engine = engine_of(state, instance);
    double value = measure(state, instance, user->process.start, raw);
    if (value < 0) {
        engine->used = NAN;
        user->has_unknown_work = true;
        return;
    }
    engine->used += value;
    bool has_share = (user->use.has_share >> engine->kind & 1) != 0;
    double most = has_share ? user->use.share[engine->kind] : 0;
    user->use.share[engine->kind] = value > most ? value : most;
    user->sum[engine->kind] = value + (has_share ? user->sum[engine->kind] : 0);
    user->use.has_share |= 1u << engine->kind;
}

/* What was at work before, and is not there any more, has worked on for an unknown time. */
static void find_ended(struct state *state)
{
    if (state->found == state->instances || state->span != GTEL_SPAN_WHOLE)
        return;
    for (size_t i = 0; i < state->instances; i++) {
        struct instance *instance = &state->instance[i];
        if (instance->gather != state->gather && instance->value != 0)
            engine_of(state, instance)->used = NAN;
    }
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
static void add_memory(struct state *state, const struct instance *instance,
                       const struct gtel_perf_instance *raw)
{
    struct gtel_use_memory memory = {0};
    struct user *user = user_of(state, instance);
    uint64_t resident = put_memory(&memory, GTEL_M_PROCESS_MEMORY, raw, LOCAL_USAGE);
    const struct gtel_use_memory local = memory;
    (void)put_memory(&memory, GTEL_M_PROCESS_MEMORY_SYSTEM, raw, NON_LOCAL_USAGE);
    if (put_memory(&memory, GTEL_M_PROCESS_MEMORY_ALLOCATED, raw, DEDICATED_USAGE) < resident)
        memory = local;
    if (user->has_memory)
        gtel_use_memory_add(&user->use.memory, &memory, false);
    else
        user->use.memory = memory;
    user->has_memory = true;
}

/* ---- a set ---- */

static int read_set(struct state *state, const struct gtel_fs_file *file, struct gtel_perf_set *ret)
{
    struct gtel_str data;
    int r = -E2BIG;
    for (size_t size = DATA_FIRST; r == -E2BIG; size = state->data_size + 1) {
        if (!gtel_grow(&state->data, &state->data_size, size, DATA_LAST, 1))
            return size > DATA_LAST ? -E2BIG : -ENOMEM;
        r = gtel_fs_read_bytes(state->env, file, state->data, state->data_size, &data);
    }
    return r < 0 ? r : gtel_perf_begin(data, ret);
}

static void read_instances(struct state *state, struct gtel_perf_set *set)
{
    struct gtel_perf_instance raw;
    while (gtel_perf_next(set, &raw)) {
        struct instance *instance = instance_of(state, set, &raw);
        if (instance && instance->name.engine != UINT32_MAX)
            add_work(state, instance, &raw);
        else if (instance)
            add_memory(state, instance, &raw);
    }
    state->is_cut = state->is_cut || set->left > 0;
}

static int read_engines(struct state *state)
{
    struct gtel_perf_set set;
    int r = read_set(state, &state->engines_file, &set);
    if (r < 0) {
        forget(state);
        return r;
    }
    state->wall_before_ns = state->wall_ns;
    state->wall_ns = state->env->ops->wall_ns(state->env->arg);
    state->span =
        gtel_share_tick(&state->clock, set.clock_ns, gtel_env_suspended(state->env), &state->dt_ns);
    read_instances(state, &set);
    return 0;
}

static int read_memory(struct state *state)
{
    struct gtel_perf_set set;
    int r = read_set(state, &state->memory_file, &set);
    if (r == 0)
        read_instances(state, &set);
    return r;
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
        if (device->luid == 0 || !device->is_present || device->is_left_alone)
            continue;
        struct gpu *gpu = &state->gpu[state->gpus++];
        uint32_t before = gpu->luid == device->luid ? gpu->counted : 0;
        *gpu = (struct gpu){.luid = device->luid, .device = device, .counted_before = before};
    }
    for (size_t i = state->gpus; i < GPUS_MAX; i++)
        state->gpu[i] = (struct gpu){0}; /* one that comes back has counted nothing before */
    return state->gpus > 0;
}

/* ---- readings ---- */

/* What source wddm has reported of the engines in this gather. */
static void find_engines(struct state *state, const struct gtel_batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        const struct gtel_reading *reading = &batch->reading[i];
        bool is_time = reading->metric == GTEL_M_ENGINE_BUSY_TIME && reading->dim[1].n == 0;
        if (reading->metric != GTEL_M_ENGINE_CAPACITY && !is_time)
            continue;
        enum gtel_engine_kind kind = gtel_engine_kind_of(reading->dim[0]);
        for (size_t k = 0; k < state->gpus; k++) {
            struct gpu *gpu = &state->gpu[k];
            if (gpu->device == reading->device && is_time)
                gpu->counted |= 1u << kind;
            else if (gpu->device == reading->device)
                gpu->engines[kind] = gtel_reading_number(reading);
        }
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

/*
 * All classes or none: the busiest of a part of them would be no value of the GPU. What is not
 * known of a class whose use source wddm has is left to that.
 */
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
        known |= 1u << engine->kind;
        sum[engine->kind] += engine->used;
        most[engine->kind] = engine->used > most[engine->kind] ? engine->used : most[engine->kind];
    }
    for (size_t kind = 0; kind < GTEL_ENGINE_KINDS; kind++)
        if (isnan(sum[kind]) && (gpu->counted & gpu->counted_before & 1u << kind) == 0)
            return;
    for (size_t kind = 0; kind < GTEL_ENGINE_KINDS; kind++)
        if ((known >> kind & 1) != 0 && !isnan(sum[kind]))
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
    for (size_t i = 0; i < state->users; i++) {
        struct user *user = &state->user[i];
        const struct gpu *gpu = gpu_of(state, user->luid);
        if (!gpu || user->gather != state->gather)
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
    state->gather++;
    state->next = 0;
    state->found = 0;
    state->engines = 0;
    state->is_cut = false;
}

static int sample(void *p, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct state *state = p;
    begin_gather(state);
    batch->t_ns = gtel_env_now(state->env);
    if (!find_gpus(state, registry)) {
        forget(state);
        return 0;
    }
    if (gtel_fs_is_open(&state->engines_file))
        state->engines_error = read_engines(state);
    if (gtel_fs_is_open(&state->memory_file))
        state->memory_error = read_memory(state);
    find_ended(state);
    find_engines(state, batch);
    find_unlike(state);
    report_users(state, batch);
    for (size_t i = 0; i < state->gpus; i++)
        if (state->engines_error == 0 && state->span == GTEL_SPAN_WHOLE && !state->is_cut)
            report_engines(state, &state->gpu[i], batch);
    drop_ended(state);
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
    free(state->instance);
    free(state->user);
    gtel_index_done(&state->names);
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
