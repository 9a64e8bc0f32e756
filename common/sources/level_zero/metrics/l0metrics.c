/* SPDX-License-Identifier: MIT */
/*
 * Source l0metrics: what the execution units of Intel GPUs do, through Level Zero's metrics.
 *
 * Opt-in (option L0Metrics): it starts the whole compute driver, wants rights, and takes hardware
 * that only one at a time can have. Vendor code runs in a lane of its own. sample() tells what was
 * measured after the gather before, and lets the next measurement begin; tick() makes its steps, so
 * that no gather waits for one. Where gathers come in shorter order, a result is told again until
 * the next one. A GPU that sleeps, rests or does nothing is not measured, and has no figures then:
 * what it would show is known without it.
 */
#include "sources/level_zero/metrics/l0metrics.h"

#include "sources/level_zero/level_zero.h"

#include <errno.h>

/* The least time between two measurements of a GPU, with the slack of a timer. */
#define ROUND_NS UINT64_C(900000000)

static const char *const drivers[] = {"i915", "xe", NULL};

static bool present(const struct gtel_env *env)
{
    return gtel_cards_any(env, drivers) && gtel_level_zero_is_installed(env);
}

static struct gtel_l0m_gpu *gpu_of(const struct gtel_l0m *l0m, size_t i)
{
    return l0m->cards.slot[i].own;
}

/* The card is gone, or will be opened anew. */
static void close_card(const struct gtel_env *env, void *own)
{
    struct gtel_l0m_gpu *gpu = own;
    for (size_t i = 0; i < gpu->n; i++)
        gtel_l0m_put_down(gpu->owner, &gpu->tile[i]);
    gtel_gts_close(env, &gpu->gts);
}

static int open_source(void *state, const struct gtel_env *env, const struct gtel_options *options)
{
    struct gtel_l0m *l0m = state;
    if (!gtel_level_zero_is_installed(env))
        return -ENOENT;
    l0m->cards = (struct gtel_card_list){.env = env,
                                         .drivers = drivers,
                                         .own_size = sizeof(struct gtel_l0m_gpu),
                                         .close = close_card};
    l0m->renewal = (struct gtel_renewal){.source = "l0metrics"};
    l0m->leaves_xe_stalls =
        gtel_str_eq(gtel_option_text(options, GTEL_O_XE_STALLS), GTEL_STR("on"));
    return 0;
}

/* The start of Level Zero opens the nodes of all GPUs: it waits until none of them sleeps. */
static bool may_start(const struct gtel_l0m *l0m)
{
    return l0m->cards.n > 0 && !gtel_card_list_awaited(&l0m->cards);
}

/* A driver that finds no GPU may say so by success with a count of 0. */
static bool knows_any(const struct gtel_l0m *l0m)
{
    bool found = l0m->cards.n == 0;
    for (size_t i = 0; i < l0m->cards.n; i++)
        found = found || gpu_of(l0m, i)->n > 0;
    return found;
}

/*
 * What the driver is refused when it looks for metrics, it takes for missing as long as the process
 * lives (compute-runtime: IP sampling). Another process may do better once it is allowed.
 */
static bool is_unbarred(const struct gtel_l0m *l0m)
{
    bool found = false;
    for (size_t i = 0; i < l0m->cards.n; i++) {
        const struct gtel_l0m_gpu *gpu = gpu_of(l0m, i);
        bool was_barred = false;
        for (size_t t = 0; t < gpu->n; t++)
            was_barred = was_barred || gpu->tile[t].was_barred;
        found = found || (was_barred && !gtel_l0m_is_barred(l0m->cards.env, gpu));
    }
    return found;
}

static int discover(void *state, struct gtel_registry *registry)
{
    struct gtel_l0m *l0m = state;
    int r = gtel_card_list_discover(&l0m->cards, registry);
    bool is_in_vain =
        l0m->start == GTEL_L0M_FAILED || (l0m->start == GTEL_L0M_RUNS && !knows_any(l0m));
    gtel_renewal_discovered(&l0m->renewal, &l0m->cards, registry, is_in_vain);
    if (is_unbarred(l0m))
        gtel_renewal_ask(&l0m->renewal, l0m->cards.env, registry, "the kernel lets it measure now");
    if (registry->is_spent)
        return r; /* what is known here is of the past */
    if (may_start(l0m))
        gtel_l0m_start_up(l0m);
    gtel_l0m_find(l0m);
    return r;
}

/* Whether the GPU may be touched; one that was seen asleep has no rest to come. */
static bool may_touch(const struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu)
{
    const struct gtel_env *env = l0m->cards.env;
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

/* Whether the results that have come, if any, saw nothing at work. */
static void note_empty(struct gtel_l0m_gpu *gpu)
{
    bool has_result = false;
    bool has_work = false;
    for (size_t i = 0; i < gpu->n; i++)
        for (size_t kind = 0; kind < GTEL_L0M_KINDS; kind++) {
            const struct gtel_l0m_meter *meter = &gpu->tile[i].meter[kind];
            if (meter->result_ns == 0 || meter->is_told)
                continue;
            has_result = true;
            has_work = has_work || kind == GTEL_L0M_STALL;
            for (size_t role = GTEL_L0M_EU_ACTIVE; role < GTEL_L0M_ROLES; role++)
                has_work = has_work || meter->share[role] > 0.001;
        }
    if (has_result)
        gpu->was_empty = !has_work;
}

static void sample_gpu(struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu, struct gtel_batch *batch)
{
    const struct gtel_env *env = l0m->cards.env;
    uint64_t now = gtel_env_now(env);
    note_empty(gpu);
    for (size_t i = 0; i < gpu->n; i++)
        gtel_l0m_put(batch, gpu, &gpu->tile[i]);
    for (; gpu->failed > 0; gpu->failed--)
        gtel_batch_failed(batch, gpu->card->device);
    if (gpu->n == 0 || is_measuring(gpu) || !may_touch(l0m, gpu))
        return;
    enum gtel_gts_state state = gtel_l0m_look(env, gpu);
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
    bool is_look_due = gtel_renewal_look(&l0m->renewal, &l0m->cards, registry);
    if (l0m->start == GTEL_L0M_NEW && may_start(l0m))
        return -ENODEV; /* a GPU that slept when Level Zero was to start is awake */
    batch->t_ns = gtel_env_now(l0m->cards.env);
    bool is_usable = l0m->start == GTEL_L0M_RUNS && !registry->is_spent;
    for (size_t i = 0; is_usable && i < l0m->cards.n; i++)
        sample_gpu(l0m, gpu_of(l0m, i), batch);
    return is_look_due ? -ENODEV : 0;
}

static uint64_t due_ns(const void *state)
{
    const struct gtel_l0m *l0m = state;
    uint64_t first = 0;
    for (size_t i = 0; i < l0m->cards.n; i++)
        for (size_t t = 0; t < gpu_of(l0m, i)->n; t++) {
            uint64_t due = gpu_of(l0m, i)->tile[t].due_ns;
            first = due > 0 && (first == 0 || due < first) ? due : first;
        }
    return first;
}

/* A GPU that has fallen asleep, or gone, since is not measured. */
static void tick_gpu(struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu)
{
    for (size_t i = 0; i < gpu->n; i++) {
        struct gtel_l0m_tile *tile = &gpu->tile[i];
        if (tile->due_ns == 0 || tile->due_ns > gtel_env_now(l0m->cards.env))
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
    for (size_t i = 0; i < l0m->cards.n; i++) {
        tick_gpu(l0m, gpu_of(l0m, i));
        if (is_stuck(gpu_of(l0m, i)))
            gtel_renewal_ask(&l0m->renewal, l0m->cards.env, registry,
                             "the driver does not end a measurement");
    }
    return 0;
}

static void close_source(void *state)
{
    struct gtel_l0m *l0m = state;
    const struct gtel_env *env = l0m->cards.env;
    if (!env)
        return;
    gtel_card_list_done(&l0m->cards);
    gtel_dynlib_close(env, &l0m->dynlib);
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
    .is_hearsay = true,
    .opt_in_plus_1 = 1 + GTEL_O_L0_METRICS,
    .library = &gtel_level_zero_library,
    .present = present,
    .open = open_source,
    .discover = discover,
    .sample = sample,
    .diagnose = gtel_l0m_diagnose,
    .due_ns = due_ns,
    .tick = tick,
    .close = close_source,
};
