/* SPDX-License-Identifier: MIT */
/*
 * Source l0metrics: what the execution units of Intel GPUs do, through Level Zero's metrics.
 *
 * Opt-in (option L0Metrics): it starts the whole compute driver, wants rights, and takes hardware
 * that only one at a time can have. Vendor code runs in a lane of its own. sample() reports what
 * was measured after the gather before, and lets the next measurement begin; tick() makes its
 * steps, so that no gather waits for one. Where gathers come in shorter order, a result is repeated
 * until the next one. A GPU that sleeps, rests or does nothing is not measured, and has no values
 * then: what they would be is known without it.
 */
#include "sources/level_zero/metrics/state.h"

#include <errno.h>

/* The least time between two measurements of a GPU, with the slack of a timer. */
#define ROUND_NS UINT64_C(900000000)
/*
 * How long source xe_pmu keeps the GTs awake at most, with the option XeEngines at "burst". It runs
 * in another process, does so after a gather in which they did not sleep, and cannot know that we
 * were the reason. Without this the two of them would keep a GPU awake for each other.
 */
#define BURST_NS (UINT64_C(100000000) + GTEL_GTS_SETTLE_NS)

static struct gtel_l0m_gpu *gpu_of(const struct gtel_l0m *l0m, size_t i)
{
    return l0m->lz.cards.slot[i].own;
}

/* The card was removed, or will be opened again. */
static void close_card(const struct gtel_env *env, void *own)
{
    struct gtel_l0m_gpu *gpu = own;
    for (size_t i = 0; i < gpu->n; i++)
        gtel_l0m_release(gpu->owner, &gpu->tile[i]);
    gtel_gts_close(env, &gpu->gts);
}

static int open_source(void *state, const struct gtel_env *env, const struct gtel_options *options)
{
    struct gtel_l0m *l0m = state;
    l0m->lz = (struct gtel_level_zero){
        .source = "l0metrics",
        .level = GTEL_LOG_WARNING,
        .cards = {.own_size = sizeof(struct gtel_l0m_gpu), .close = close_card}};
    return gtel_level_zero_open(&l0m->lz, env, options);
}

/*
 * What the driver is refused when it lists metrics, it treats as missing as long as the process
 * lives (compute-runtime: IP sampling). Another process may do better once it is allowed.
 */
static bool is_allowed_now(const struct gtel_l0m *l0m, const struct gtel_l0m_gpu *gpu)
{
    const char *fix;
    bool was_barred = false;
    for (size_t t = 0; t < gpu->n; t++)
        was_barred = was_barred || gpu->tile[t].was_barred;
    return was_barred && !gtel_l0m_refusal(l0m->lz.cards.env, gpu, &fix);
}

static int discover(void *state, struct gtel_registry *registry)
{
    struct gtel_l0m *l0m = state;
    bool has_devices = false;
    for (size_t i = 0; i < l0m->lz.cards.n; i++)
        has_devices = has_devices || gpu_of(l0m, i)->n > 0;
    int r = gtel_level_zero_discover(&l0m->lz, registry, has_devices);
    for (size_t i = 0; i < l0m->lz.cards.n; i++)
        if (is_allowed_now(l0m, gpu_of(l0m, i)))
            gtel_level_zero_restart(&l0m->lz, registry, "the kernel lets it measure now");
    if (registry->renewal != GTEL_RENEWAL_DUE)
        gtel_l0m_find_devices(l0m);
    return r;
}

/* Whether the GPU may be used; one that was seen asleep needs no rest. */
static bool may_use(const struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu)
{
    const struct gtel_env *env = l0m->lz.cards.env;
    bool is_asleep = false;
    if (gpu->card->is_gone || !gpu->card->device || !gpu->card->device->is_present ||
        gtel_awake_look(env, &gpu->card->awake, &is_asleep) < 0)
        return false;
    if (is_asleep) {
        gtel_rest_slept(&gpu->rest);
        gpu->seen_ns = 0;
    }
    return (!is_asleep || gpu->card->cards->may_wake) &&
           !gtel_rest_is_on(&gpu->rest, gtel_env_now(env));
}

static bool is_measuring(const struct gtel_l0m_gpu *gpu)
{
    bool is = false;
    for (size_t i = 0; i < gpu->n; i++)
        is = is || gpu->tile[i].due_ns > 0;
    return is;
}

/* Whether the new results, if any, found nothing at work. */
static void update_empty(struct gtel_l0m_gpu *gpu)
{
    bool has_result = false;
    bool has_work = false;
    for (size_t i = 0; i < gpu->n; i++)
        for (size_t kind = 0; kind < GTEL_L0M_KINDS; kind++) {
            const struct gtel_l0m_meter *meter = &gpu->tile[i].meter[kind];
            if (meter->result_ns == 0 || meter->is_reported)
                continue;
            has_result = true;
            has_work = has_work || kind == GTEL_L0M_STALL;
            for (size_t role = GTEL_L0M_EU_ACTIVE; role < GTEL_L0M_ROLES; role++)
                has_work = has_work || meter->share[role] > 0.001;
        }
    if (has_result)
        gpu->was_empty = !has_work;
}

/* How long the GPU was kept awake by us since it was checked last. */
static uint64_t take_held(struct gtel_l0m_gpu *gpu)
{
    uint64_t held = 0;
    for (size_t i = 0; i < gpu->n; i++) {
        held = gpu->tile[i].held_ns > held ? gpu->tile[i].held_ns : held;
        gpu->tile[i].held_ns = 0;
    }
    return held > 0 ? held + GTEL_GTS_SETTLE_NS + (gpu->was_empty ? BURST_NS : 0) : 0;
}

/* What the GPU has done since it was checked last, apart from being measured. */
static enum gtel_gts_state check_work(const struct gtel_env *env, struct gtel_l0m_gpu *gpu)
{
    uint64_t now = gtel_env_now(env);
    gtel_gts_open(env, &gpu->gts, &gpu->card->drm, gpu->card->path);
    if (gpu->gts.n == 0)
        return GTEL_GTS_WORKING; /* not known: measured as was asked for */
    uint64_t held = take_held(gpu);
    uint64_t span = now - gpu->seen_ns;
    enum gtel_gts_state state = gtel_gts_look(env, &gpu->gts, span > held ? span - held : 0);
    /* Of the time before nothing is known: a GPU that is awake then is measured once. */
    if (gpu->seen_ns == 0 && state == GTEL_GTS_IDLE)
        state = GTEL_GTS_WORKING;
    gpu->seen_ns = now;
    return state;
}

static void sample_gpu(struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu, struct gtel_batch *batch)
{
    const struct gtel_env *env = l0m->lz.cards.env;
    uint64_t now = gtel_env_now(env);
    update_empty(gpu);
    for (size_t i = 0; i < gpu->n; i++)
        gtel_l0m_add(batch, gpu, &gpu->tile[i]);
    for (; gpu->failed > 0; gpu->failed--)
        gtel_batch_failed(batch, gpu->card->device);
    if (gpu->n == 0 || is_measuring(gpu) || !may_use(l0m, gpu))
        return;
    enum gtel_gts_state state = check_work(env, gpu);
    if (gpu->rest.delay_ns > 0)
        gtel_rest_note(&gpu->rest, state == GTEL_GTS_IDLE, now);
    if (state != GTEL_GTS_WORKING || (gpu->round_ns > 0 && now - gpu->round_ns < ROUND_NS))
        return;
    gpu->round_ns = now;
    for (size_t i = 0; i < gpu->n; i++)
        gpu->tile[i].due_ns = now;
}

static int sample(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct gtel_l0m *l0m = state;
    bool is_discovery_due = gtel_level_zero_check(&l0m->lz, registry);
    batch->t_ns = gtel_env_now(l0m->lz.cards.env);
    bool is_usable = l0m->lz.state == GTEL_LEVEL_ZERO_RUNS && registry->renewal != GTEL_RENEWAL_DUE;
    for (size_t i = 0; is_usable && i < l0m->lz.cards.n; i++)
        sample_gpu(l0m, gpu_of(l0m, i), batch);
    return is_discovery_due ? -ENODEV : 0;
}

static uint64_t due_ns(const void *state)
{
    const struct gtel_l0m *l0m = state;
    uint64_t first = 0;
    for (size_t i = 0; i < l0m->lz.cards.n; i++)
        for (size_t t = 0; t < gpu_of(l0m, i)->n; t++) {
            uint64_t due = gpu_of(l0m, i)->tile[t].due_ns;
            first = due > 0 && (first == 0 || due < first) ? due : first;
        }
    return first;
}

/* A GPU that has fallen asleep since, or was removed, is not measured. */
static void tick_gpu(struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu)
{
    for (size_t i = 0; i < gpu->n; i++) {
        struct gtel_l0m_tile *tile = &gpu->tile[i];
        if (tile->due_ns == 0 || tile->due_ns > gtel_env_now(l0m->lz.cards.env))
            continue;
        if (tile->open.stream || gtel_card_may_read(gpu->card))
            gtel_l0m_step(l0m, gpu, tile);
        else
            tile->due_ns = 0;
    }
}

static bool is_stuck(const struct gtel_l0m_gpu *gpu)
{
    bool is = false;
    for (size_t i = 0; i < gpu->n; i++)
        is = is || gtel_l0m_is_stuck(&gpu->tile[i]);
    return is;
}

/* What this process has open and cannot close, its end does. */
static int tick(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct gtel_l0m *l0m = state;
    (void)batch;
    for (size_t i = 0; i < l0m->lz.cards.n; i++) {
        tick_gpu(l0m, gpu_of(l0m, i));
        if (is_stuck(gpu_of(l0m, i)))
            gtel_level_zero_restart(&l0m->lz, registry, "the driver does not end a measurement");
    }
    return 0;
}

static void close_source(void *state)
{
    gtel_level_zero_close(&((struct gtel_l0m *)state)->lz);
}

static const char *const origins[] = {"Level Zero metrics", "EU stall sampling", NULL};

const struct gtel_source gtel_source_l0metrics = {
    .name = "l0metrics",
    .lane = "l0metrics",
    .vendor = "intel",
    .summary = "XMX, active and stalled execution units and the reasons of stalls, through Level "
               "Zero's metrics in short windows while the GPU works (option L0Metrics).",
    .needs = "libze_loader.so.1 (best 1.22 or newer), Intel's driver and metrics libraries; "
             "CAP_PERFMON, or the sysctl that gtel doctor names",
    .seen = "not tried on hardware; loaders 1.8.12, 1.20.6 and 1.32.0 without a GPU",
    .origins = origins,
    .state_size = sizeof(struct gtel_l0m),
    .is_indirect = true,
    .opt_in_plus_1 = 1 + GTEL_O_L0_METRICS,
    .library = &gtel_level_zero_library,
    .present = gtel_level_zero_present,
    .open = open_source,
    .discover = discover,
    .sample = sample,
    .diagnose = gtel_l0m_diagnose,
    .due_ns = due_ns,
    .tick = tick,
    .close = close_source,
};
