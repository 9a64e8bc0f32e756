/* SPDX-License-Identifier: MIT */
/*
 * Source sysman: what Level Zero Sysman adds to the kernel's values of Intel GPUs.
 *
 * Vendor code runs in a lane of its own. Its devices are joined to the kernel's cards by PCI
 * address; the kernel's sources come first, so that their values take precedence. A sleeping GPU
 * is left alone, and one that may fall asleep and is idle is given time to: opening a node and
 * reading hwmon or telemetry wake it, or keep it awake.
 */
#include "sources/level_zero/sysman/rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)
#define REST_NS (60 * SECOND_NS)
#define LOST_LONG_NS (30 * SECOND_NS)
/* Counters that wrap do so in 131 s at the most that a board can draw: see power.c. */
#define KEEP_NS (120 * SECOND_NS)

/* ---- one GPU: its samples, and when it is left alone ---- */

/* Whether the GPU may be asked now: it is there, awake, and not left alone so that it can sleep. */
static bool may_ask(const struct gtel_sysman *sysman, struct gtel_sysman_gpu *gpu)
{
    const struct gtel_env *env = sysman->lz.cards.env;
    bool is_asleep = false;
    if (gpu->card->is_gone || !gpu->handle || !gpu->card->device ||
        !gpu->card->device->is_present || gtel_awake_look(env, &gpu->card->awake, &is_asleep) < 0)
        return false;
    if (is_asleep) { /* who wakes it wants it to work */
        gpu->idle_since_ns = 0;
        gpu->gts_ns = 0;
        gpu->rest_ns = 0;
        gtel_sysman_record_sleep(gpu);
    }
    return (!is_asleep || gpu->card->cards->may_wake) && gtel_env_now(env) >= gpu->rest_ns;
}

static bool is_failing(const struct gtel_sysman_gpu *gpu)
{
    for (size_t f = 0; f < GTEL_SYSMAN_FAMILIES; f++) {
        const struct gtel_sysman_list *list = &gpu->list[f];
        bool found = gtel_answer_of(list->code) == GTEL_ANSWER_FAILING;
        for (size_t i = 0; i < list->n; i++) {
            const struct gtel_sysman_part *part = &list->part[i];
            for (size_t k = 0; k < GTEL_SYSMAN_ASKS; k++)
                found = found || gtel_answer_of(part->ask[k].code) == GTEL_ANSWER_FAILING;
            found = found || gtel_answer_of(part->described) == GTEL_ANSWER_FAILING;
        }
        if (found)
            return true;
    }
    return false;
}

/* Says once when readings begin to fail, and once when all work again. */
static void log_failures(const struct gtel_sysman_pass *pass)
{
    struct gtel_sysman_gpu *gpu = pass->gpu;
    const struct gtel_log *log = &pass->sysman->lz.cards.env->log;
    if (pass->failed > 0 && !gpu->is_failing)
        gtel_log(log, GTEL_LOG_WARNING,
                 "sysman: %s: %" PRIu32 " readings failed, first %s with code 0x%x",
                 gpu->card->drm.key, pass->failed, pass->first, (unsigned)pass->first_code);
    if (pass->failed == 0 && gpu->is_failing && !is_failing(gpu)) {
        gtel_log(log, GTEL_LOG_INFO, "sysman: %s: all readings work again", gpu->card->drm.key);
        gpu->is_failing = false;
    }
    gpu->is_failing = gpu->is_failing || pass->failed > 0;
}

/*
 * A GPU that may fall asleep, and whose GTs have slept for as long as that takes, is read about
 * once a minute only: the sources of its driver leave it alone for some seconds at times of their
 * own, which these rests must cover.
 */
static void update_rest(const struct gtel_sysman_pass *pass)
{
    const struct gtel_env *env = pass->sysman->lz.cards.env;
    struct gtel_sysman_gpu *gpu = pass->gpu;
    uint64_t before_ns = gpu->gts_ns;
    if (gpu->delay_ns == 0)
        return;
    gpu->gts_ns = pass->now;
    gtel_gts_open(env, &gpu->gts, &gpu->card->drm, gpu->card->path);
    if (gtel_gts_look(env, &gpu->gts, pass->now - before_ns) != GTEL_GTS_IDLE || before_ns == 0) {
        gpu->idle_since_ns = 0;
        return;
    }
    if (gpu->idle_since_ns == 0)
        gpu->idle_since_ns = pass->now;
    if (pass->now - gpu->idle_since_ns >= gpu->delay_ns)
        gpu->rest_ns = pass->now + REST_NS + 2 * gpu->delay_ns;
}

static void ask_all(struct gtel_sysman_pass *pass)
{
    bool is_new[GTEL_SYSMAN_FAMILIES] = {false};
    for (size_t f = 0; f < GTEL_SYSMAN_FAMILIES && !gtel_sysman_is_over(pass); f++)
        is_new[f] = gtel_sysman_list_parts(pass, (enum gtel_sysman_family)f);
    for (size_t i = 0; i < gtel_sysman_rows_n && !gtel_sysman_is_over(pass); i++)
        gtel_sysman_ask_row(pass, i, is_new[gtel_sysman_rows[i].family]);
}

/* Asks everything that is due on one GPU. Failures are counted in the batch. */
static void sample_gpu(struct gtel_sysman *sysman, struct gtel_sysman_gpu *gpu,
                       struct gtel_batch *batch)
{
    struct gtel_sysman_pass pass = {
        .sysman = sysman, .gpu = gpu, .batch = batch, .now = gtel_env_now(sysman->lz.cards.env)};
    batch->t_ns = pass.now;
    if (!gtel_sysman_is_over(&pass))
        ask_all(&pass);
    if (gtel_sysman_is_over(&pass)) {
        if (gpu->lost_code == GTEL_ZE_REQUIRES_RESET)
            gtel_sysman_add_u64(&pass, GTEL_M_GPU_RESET_NEEDED, NULL, 1);
        return;
    }
    if (gpu->lost_ns > 0)
        gtel_log(&sysman->lz.cards.env->log, GTEL_LOG_INFO, "sysman: %s: the GPU answers again",
                 gpu->card->drm.key);
    gpu->lost_ns = 0;
    gpu->has_worked = true;
    gtel_sysman_add_resets(&pass);
    gtel_sysman_add_memory(&pass);
    log_failures(&pass);
    update_rest(&pass);
}

/* Lost for so long after it has worked that only a restart of the helper may help. */
static bool is_lost(const struct gtel_sysman *sysman, const struct gtel_sysman_gpu *gpu)
{
    return gpu->lost_ns > 0 && gpu->has_worked &&
           gtel_env_now(sysman->lz.cards.env) - gpu->lost_ns >= LOST_LONG_NS;
}

/*
 * Energy counters that wrap within minutes: when they are to be read again, if nobody asks for them
 * before; 0: not at all.
 */
static uint64_t energy_due(const struct gtel_sysman_gpu *gpu)
{
    return gtel_sysman_wraps(gpu) && gpu->energy_ns > 0 ? gpu->energy_ns + KEEP_NS : 0;
}

/* Reads them, for the next sample; may_be_asked: the GPU may be asked now. */
static void keep_energy(struct gtel_sysman *sysman, struct gtel_sysman_gpu *gpu,
                        struct gtel_batch *batch, bool may_be_asked)
{
    struct gtel_sysman_pass pass = {
        .sysman = sysman, .gpu = gpu, .batch = batch, .now = gtel_env_now(sysman->lz.cards.env)};
    for (size_t i = 0; may_be_asked && i < gtel_sysman_rows_n && !gtel_sysman_is_over(&pass); i++)
        if (gtel_sysman_rows[i].read == gtel_sysman_read_energy)
            gtel_sysman_ask_row(&pass, i, false);
    gpu->energy_ns = pass.now;
}

/* ---- the source ---- */

static struct gtel_sysman_gpu *gpu_of(const struct gtel_sysman *sysman, size_t i)
{
    return sysman->lz.cards.slot[i].own;
}

static void close_card(const struct gtel_env *env, void *own)
{
    struct gtel_sysman_gpu *gpu = own;
    gtel_gts_close(env, &gpu->gts);
    for (size_t i = 0; i < GTEL_SYSMAN_FAMILIES; i++)
        free(gpu->list[i].part);
}

static int open_source(void *state, const struct gtel_env *env, const struct gtel_options *options)
{
    struct gtel_sysman *sysman = state;
    sysman->lz = (struct gtel_level_zero){
        .source = "sysman",
        .level = GTEL_LOG_INFO,
        .cards = {.own_size = sizeof(struct gtel_sysman_gpu), .close = close_card}};
    return gtel_level_zero_open(&sysman->lz, env, options);
}

static int discover(void *state, struct gtel_registry *registry)
{
    struct gtel_sysman *sysman = state;
    bool has_devices = false;
    for (size_t i = 0; i < sysman->lz.cards.n; i++)
        has_devices = has_devices || gpu_of(sysman, i)->handle;
    int r = gtel_level_zero_discover(&sysman->lz, registry, has_devices);
    if (registry->renewal != GTEL_RENEWAL_DUE)
        gtel_sysman_find_devices(sysman, registry);
    return r;
}

static int sample(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct gtel_sysman *sysman = state;
    bool is_discovery_due = gtel_level_zero_check(&sysman->lz, registry);
    for (size_t i = 0; i < sysman->lz.cards.n; i++) {
        struct gtel_sysman_gpu *gpu = gpu_of(sysman, i);
        if (sysman->lz.state == GTEL_LEVEL_ZERO_RUNS && registry->renewal != GTEL_RENEWAL_DUE &&
            may_ask(sysman, gpu))
            sample_gpu(sysman, gpu, batch);
        if (is_lost(sysman, gpu))
            gtel_level_zero_restart(&sysman->lz, registry, "a GPU is lost");
    }
    return is_discovery_due ? -ENODEV : 0;
}

static uint64_t due_ns(const void *state)
{
    const struct gtel_sysman *sysman = state;
    uint64_t first = 0;
    for (size_t i = 0; i < sysman->lz.cards.n; i++) {
        uint64_t due = energy_due(gpu_of(sysman, i));
        first = due > 0 && (first == 0 || due < first) ? due : first;
    }
    return first;
}

static int tick(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct gtel_sysman *sysman = state;
    for (size_t i = 0; i < sysman->lz.cards.n; i++) {
        struct gtel_sysman_gpu *gpu = gpu_of(sysman, i);
        uint64_t due = energy_due(gpu);
        if (due > 0 && due <= batch->t_ns)
            keep_energy(sysman, gpu, batch,
                        registry->renewal != GTEL_RENEWAL_DUE && may_ask(sysman, gpu));
    }
    return 0;
}

static void close_source(void *state)
{
    gtel_level_zero_close(&((struct gtel_sysman *)state)->lz);
}

static const char *const origins[] = {"Level Zero", NULL};

const struct gtel_source gtel_source_sysman = {
    .name = "sysman",
    .lane = "sysman",
    .vendor = "intel",
    .summary = "Level Zero Sysman beside the kernel's values: temperatures, bandwidth, limits, "
               "PCIe traffic, errors, fabric, state, ECC.",
    .needs = "libze_loader.so.1 and Intel's driver; root, or read access to the telem files",
    .seen = "not tried on hardware; loaders 1.8.12, 1.20.6 and 1.32.0, without a GPU",
    .origins = origins,
    .state_size = sizeof(struct gtel_sysman),
    .is_indirect = true,
    .library = &gtel_level_zero_library,
    .present = gtel_level_zero_present,
    .open = open_source,
    .discover = discover,
    .sample = sample,
    .diagnose = gtel_sysman_diagnose,
    .due_ns = due_ns,
    .tick = tick,
    .close = close_source,
};
