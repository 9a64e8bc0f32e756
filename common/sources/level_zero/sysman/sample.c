/* SPDX-License-Identifier: MIT */
/* One sample of a GPU, and when it is left alone. */

#include "sources/level_zero/sysman/rows.h"

#include <inttypes.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)
#define REST_NS (60 * SECOND_NS)
#define LOST_LONG_NS (30 * SECOND_NS)
/* Counters that wrap do so in 131 s at the most that a board can draw: see power.c. */
#define KEEP_NS (120 * SECOND_NS)

bool gtel_sysman_may_ask(const struct gtel_sysman *sysman, struct gtel_sysman_gpu *gpu)
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
    /* On xe, engine counters keep the GPU awake for as long as the process lives. */
    bool may_hold = strcmp(pass->gpu->card->drm.driver, "xe") != 0 ||
                    gtel_option_is(pass->sysman->lz.options, GTEL_O_XE_ENGINES, "hold");
    for (size_t f = 0; f < GTEL_SYSMAN_FAMILIES && !gtel_sysman_is_over(pass); f++)
        if (f != GTEL_SYSMAN_ENGINE || may_hold)
            is_new[f] = gtel_sysman_list_parts(pass, (enum gtel_sysman_family)f);
    for (size_t i = 0; i < gtel_sysman_rows_n && !gtel_sysman_is_over(pass); i++)
        gtel_sysman_ask_row(pass, i, is_new[gtel_sysman_rows[i].family]);
}

void gtel_sysman_sample(struct gtel_sysman *sysman, struct gtel_sysman_gpu *gpu,
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
    gtel_sysman_add_engines(&pass);
    gtel_sysman_add_resets(&pass);
    gtel_sysman_add_memory(&pass);
    log_failures(&pass);
    update_rest(&pass);
}

bool gtel_sysman_is_lost(const struct gtel_sysman *sysman, const struct gtel_sysman_gpu *gpu)
{
    return gpu->lost_ns > 0 && gpu->has_worked &&
           gtel_env_now(sysman->lz.cards.env) - gpu->lost_ns >= LOST_LONG_NS;
}

uint64_t gtel_sysman_energy_due(const struct gtel_sysman_gpu *gpu)
{
    return gtel_sysman_wraps(gpu) && gpu->energy_ns > 0 ? gpu->energy_ns + KEEP_NS : 0;
}

void gtel_sysman_keep_energy(struct gtel_sysman *sysman, struct gtel_sysman_gpu *gpu,
                             struct gtel_batch *batch, bool may_ask)
{
    struct gtel_sysman_pass pass = {
        .sysman = sysman, .gpu = gpu, .batch = batch, .now = gtel_env_now(sysman->lz.cards.env)};
    for (size_t i = 0; may_ask && i < gtel_sysman_rows_n && !gtel_sysman_is_over(&pass); i++)
        if (gtel_sysman_rows[i].read == gtel_sysman_read_energy)
            gtel_sysman_ask_row(&pass, i, false);
    gpu->energy_ns = pass.now;
}
