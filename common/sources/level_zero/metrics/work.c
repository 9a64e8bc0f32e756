/* SPDX-License-Identifier: MIT */
/* Whether a GPU works: one that does nothing is not measured, since measuring keeps it awake. */
#include "sources/level_zero/metrics/l0metrics.h"

/*
 * How long source xe_pmu keeps the GTs awake at most, with the option XeEngines at "burst". It runs
 * in another process, does so after a gather in which they did not sleep, and cannot know that we
 * were the reason. Without this the two of them would keep a GPU awake for each other.
 */
#define BURST_NS (UINT64_C(100000000) + GTEL_GTS_SETTLE_NS)

/* How long the GPU was kept awake by us since the last look. */
static uint64_t take_held(struct gtel_l0m_gpu *gpu)
{
    uint64_t held = 0;
    for (size_t i = 0; i < gpu->n; i++) {
        held = gpu->tile[i].held_ns > held ? gpu->tile[i].held_ns : held;
        gpu->tile[i].held_ns = 0;
    }
    return held > 0 ? held + GTEL_GTS_SETTLE_NS + (gpu->was_empty ? BURST_NS : 0) : 0;
}

enum gtel_gts_state gtel_l0m_look(const struct gtel_env *env, struct gtel_l0m_gpu *gpu)
{
    uint64_t now = gtel_env_now(env);
    gtel_gts_open(env, &gpu->gts, &gpu->card->drm, gpu->card->path);
    if (gpu->gts.n == 0)
        return GTEL_GTS_WORKING; /* nothing tells: measured as was asked for */
    uint64_t held = take_held(gpu);
    uint64_t span = now - gpu->seen_ns;
    enum gtel_gts_state state = gtel_gts_look(env, &gpu->gts, span > held ? span - held : 0);
    /* Of the time before nothing is known: a GPU that is awake then is measured once. */
    if (gpu->seen_ns == 0 && state == GTEL_GTS_IDLE)
        state = GTEL_GTS_WORKING;
    gpu->seen_ns = now;
    return state;
}
