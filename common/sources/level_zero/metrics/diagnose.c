/* SPDX-License-Identifier: MIT */
/* What was asked for of Level Zero's metrics and cannot be had, and why. */
#include "host/kernel.h"
#include "sources/level_zero/metrics/l0metrics.h"
#include "sources/level_zero/level_zero.h"

#include <stdio.h>
#include <string.h>

static const char metrics_libraries[] =
    "install Intel's Metrics Discovery and Metrics Library (libigdmd.so.1, libigdml.so.1)";

/* Why the kernel lets nobody like us measure, and what helps (may be NULL). NULL: it does. */
static const char *refusal_of(const struct gtel_env *env, const char *driver, const char **ret_fix)
{
    bool is_xe = strcmp(driver, "xe") == 0;
    uint64_t level = 1;
    int r = gtel_fs_u64(env,
                        is_xe ? "proc/sys/dev/xe/observation_paranoid"
                              : "proc/sys/dev/i915/perf_stream_paranoid",
                        &level);
    *ret_fix = NULL;
    if (r == 0 && level == 0)
        return NULL;
    if (gtel_kernel_has_capability(env, GTEL_CAP_PERFMON) == GTEL_YES ||
        gtel_kernel_has_capability(env, GTEL_CAP_SYS_ADMIN) == GTEL_YES)
        return gtel_kernel_user_namespace(env) == GTEL_USER_NAMESPACE_NESTED
                   ? "rights in a container's user namespace do not count: run the program outside "
                     "of the container"
                   : NULL;
    *ret_fix = is_xe ? "give the program CAP_PERFMON and start it anew; or:\nsysctl "
                       "dev.xe.observation_paranoid=0"
                     : "give the program CAP_PERFMON and start it anew; or:\nsysctl "
                       "dev.i915.perf_stream_paranoid=0";
    return is_xe ? "the kernel lets only those measure who have CAP_PERFMON "
                   "(dev.xe.observation_paranoid is not 0)"
                 : "the kernel lets only those measure who have CAP_PERFMON "
                   "(dev.i915.perf_stream_paranoid is not 0)";
}

bool gtel_l0m_is_barred(const struct gtel_env *env, const struct gtel_l0m_gpu *gpu)
{
    const char *fix;
    return refusal_of(env, gpu->card->drm.driver, &fix) != NULL;
}

void gtel_l0m_explain(const struct gtel_env *env, const struct gtel_l0m_gpu *gpu,
                      const struct gtel_l0m_ask *ask, const char **ret_why, const char **ret_fix)
{
    bool is_list = strcmp(ask->call, "zetMetricGroupGet") == 0;
    bool is_refused = gtel_l0m_is_refused(ask);
    const char *refusal = refusal_of(env, gpu->card->drm.driver, ret_fix);
    *ret_why = NULL;
    if (refusal && (is_refused || is_list || ask->code == GTEL_ZE_NO_PERMISSION ||
                    ask->code == GTEL_ZE_NO_DEPENDENCY)) {
        *ret_why = refusal;
        return;
    }
    *ret_fix = NULL;
    if (ask->code == GTEL_ZE_NO_DEPENDENCY) {
        *ret_why = "Intel's metrics libraries are missing, or this GPU has no metrics, or another "
                   "program measures";
        *ret_fix = metrics_libraries;
    } else if (ask->code == GTEL_L0M_NO_METRICS) {
        *ret_why = "this GPU has none of the metrics that gtel knows (ComputeBasic, "
                   "EuStallSampling)";
    } else if (strcmp(ask->call, "zetMetricStreamerClose") == 0) {
        *ret_why = "the driver does not end the measurement before, and only one at a time can be";
        *ret_fix =
            "wait: after some tries another helper begins; with the option Isolation at none "
            "start the program anew";
    } else if (is_refused) {
        *ret_why = "another program measures: only one at a time can";
        *ret_fix = "end the other one (vtune, unitrace, oneprof, Intel GPA, xpumd), or set the "
                   "option L0Metrics to off";
    }
}

static void put(const struct gtel_env *env, const struct gtel_l0m_gpu *gpu,
                enum gtel_measurement measurement, const struct gtel_l0m_ask *ask,
                struct gtel_findings *findings)
{
    char why[64];
    const char *text[3] = {ask->call};
    if (!ask->was_asked || ask->code == GTEL_ZE_SUCCESS)
        return;
    (void)snprintf(why, sizeof(why), "Level Zero answers code 0x%x", (unsigned)ask->code);
    gtel_l0m_explain(env, gpu, ask, &text[1], &text[2]);
    text[1] = text[1] ? text[1] : why;
    gtel_finding_put(findings, gpu->card->device, measurement, 0, text);
}

/*
 * A tile whose groups are known, but without one of the two. To see whether stalls can be sampled
 * the driver tries it, and a refusal is for the life of the process (compute-runtime, IP sampling).
 */
static void put_missing(const struct gtel_env *env, const struct gtel_l0m_gpu *gpu,
                        const struct gtel_l0m_tile *tile, struct gtel_findings *findings)
{
    static const char *const no_activity[3] = {
        "ComputeBasic", "Level Zero lists no such group: the metrics libraries are missing",
        metrics_libraries};
    const char *no_stalls[3] = {"EuStallSampling", NULL, NULL};
    no_stalls[1] = refusal_of(env, gpu->card->drm.driver, &no_stalls[2]);
    if (!no_stalls[1])
        no_stalls[1] = "Level Zero lists no such group: stalls are sampled on Ponte Vecchio and "
                       "from Xe2 on, with xe of Linux 6.15 or newer, and not while another program "
                       "does";
    if (!tile->meter[GTEL_L0M_ACTIVITY].group)
        gtel_finding_put(findings, gpu->card->device, GTEL_MEASUREMENT_GPU_ACTIVITY, 0,
                         no_activity);
    if (!tile->meter[GTEL_L0M_STALL].group && !gpu->leaves_stalls)
        gtel_finding_put(findings, gpu->card->device, GTEL_MEASUREMENT_GPU_STALL, 0, no_stalls);
}

static void diagnose_gpu(const struct gtel_env *env, const struct gtel_l0m_gpu *gpu,
                         struct gtel_findings *findings)
{
    static const char *const unknown[3] = {
        "Level Zero", "it does not know this GPU",
        "install Intel's Level Zero driver for it (libze-intel-gpu1, intel-level-zero-gpu)"};
    if (!gpu->card->device)
        return;
    if (gpu->n == 0)
        gtel_finding_put(findings, gpu->card->device, GTEL_MEASUREMENT_GPU_ACTIVITY, 0, unknown);
    for (size_t i = 0; i < gpu->n; i++) {
        const struct gtel_l0m_tile *tile = &gpu->tile[i];
        put(env, gpu, GTEL_MEASUREMENT_GPU_ACTIVITY, &tile->setup, findings);
        put(env, gpu, GTEL_MEASUREMENT_GPU_STALL, &tile->setup, findings);
        put(env, gpu, GTEL_MEASUREMENT_GPU_ACTIVITY, &tile->meter[GTEL_L0M_ACTIVITY].ask, findings);
        put(env, gpu, GTEL_MEASUREMENT_GPU_ACTIVITY, &tile->meter[GTEL_L0M_TYPES].ask, findings);
        put(env, gpu, GTEL_MEASUREMENT_GPU_STALL, &tile->meter[GTEL_L0M_STALL].ask, findings);
        if (tile->is_described)
            put_missing(env, gpu, tile, findings);
    }
}

void gtel_l0m_diagnose(void *state, struct gtel_registry *registry, struct gtel_findings *findings)
{
    const struct gtel_l0m *l0m = state;
    (void)registry;
    if (l0m->start == GTEL_L0M_NO_LIBRARY) {
        gtel_level_zero_put_absent(GTEL_MEASUREMENT_GPU_ACTIVITY, findings);
    } else if (l0m->start == GTEL_L0M_FAILED) {
        const char *const text[3] = {"zeInit", gtel_l0m_advice(l0m), NULL};
        gtel_finding_put(findings, NULL, GTEL_MEASUREMENT_GPU_ACTIVITY, 0, text);
    } else if (l0m->start == GTEL_L0M_NEW) {
        gtel_level_zero_put_wait(&l0m->cards, GTEL_MEASUREMENT_GPU_ACTIVITY, findings);
    }
    for (size_t i = 0; i < l0m->cards.n && l0m->start == GTEL_L0M_RUNS; i++)
        diagnose_gpu(l0m->cards.env, l0m->cards.slot[i].own, findings);
}
