/* SPDX-License-Identifier: MIT */
/* What was asked for of Level Zero's metrics and cannot be had, and why. */
#include "sources/level_zero/metrics/state.h"

static void add(const struct gtel_env *env, const struct gtel_l0m_gpu *gpu,
                enum gtel_measurement measurement, const struct gtel_l0m_try *try,
                struct gtel_findings *findings)
{
    const struct gtel_finding_place at = {findings, gpu->card->device, measurement};
    const char *why;
    const char *fix;
    if (try->code == GTEL_ZE_SUCCESS)
        return;
    gtel_l0m_explain(env, gpu, try, &why, &fix);
    if (why)
        gtel_finding_say(&at, try->call, fix, "%s", why);
    else
        gtel_finding_say(&at, try->call, fix, "Level Zero answers code 0x%x", (unsigned)try->code);
}

/*
 * A tile whose groups are known, but without one of the two. To see whether stalls can be sampled
 * the driver tries it, and a refusal is for the life of the process (compute-runtime, IP sampling).
 */
static void add_missing(const struct gtel_env *env, const struct gtel_l0m_gpu *gpu,
                        const struct gtel_l0m_tile *tile, struct gtel_findings *findings)
{
    const char *fix;
    const char *refusal = gtel_l0m_refusal(env, gpu, &fix);
    struct gtel_finding_place at = {findings, gpu->card->device, GTEL_MEASUREMENT_GPU_ACTIVITY};
    if (!tile->meter[GTEL_L0M_ACTIVITY].group)
        gtel_finding_say(&at, "ComputeBasic", gtel_level_zero_fix(env, gtel_l0m_libraries),
                         "Level Zero lists no such group: the metrics libraries are missing");
    at.measurement = GTEL_MEASUREMENT_GPU_STALL;
    if (!tile->meter[GTEL_L0M_STALL].group && !gtel_l0m_leaves_stalls(gpu))
        gtel_finding_say(&at, "EuStallSampling", fix, "%s",
                         refusal ? refusal
                                 : "Level Zero lists no such group: stalls are sampled on Ponte "
                                   "Vecchio and from Xe2 on, with xe of Linux 6.15 or newer, and "
                                   "not while another program does");
}

static void diagnose_gpu(const struct gtel_env *env, const struct gtel_l0m_gpu *gpu,
                         struct gtel_findings *findings)
{
    if (!gpu->card->device)
        return;
    if (gpu->n == 0)
        gtel_level_zero_say_unknown(gpu->card, GTEL_MEASUREMENT_GPU_ACTIVITY, findings);
    for (size_t i = 0; i < gpu->n; i++) {
        const struct gtel_l0m_tile *tile = &gpu->tile[i];
        add(env, gpu, GTEL_MEASUREMENT_GPU_ACTIVITY, &tile->setup, findings);
        add(env, gpu, GTEL_MEASUREMENT_GPU_STALL, &tile->setup, findings);
        add(env, gpu, GTEL_MEASUREMENT_GPU_ACTIVITY, &tile->meter[GTEL_L0M_ACTIVITY].last,
            findings);
        add(env, gpu, GTEL_MEASUREMENT_GPU_ACTIVITY, &tile->meter[GTEL_L0M_TYPES].last, findings);
        add(env, gpu, GTEL_MEASUREMENT_GPU_STALL, &tile->meter[GTEL_L0M_STALL].last, findings);
        if (gtel_l0m_has_group(tile))
            add_missing(env, gpu, tile, findings);
    }
}

void gtel_l0m_diagnose(void *state, struct gtel_registry *registry, struct gtel_findings *findings)
{
    const struct gtel_l0m *l0m = state;
    (void)registry;
    if (!gtel_level_zero_diagnose(&l0m->lz, "zeInit", GTEL_MEASUREMENT_GPU_ACTIVITY, findings))
        return;
    for (size_t i = 0; i < l0m->lz.cards.n; i++)
        diagnose_gpu(l0m->lz.cards.env, l0m->lz.cards.slot[i].own, findings);
}
