/* SPDX-License-Identifier: MIT */
/* What the failure of a step means, in logs and for `gtel doctor`. */
#include "sources/level_zero/metrics/state.h"

#include "host/kernel.h"

#include <string.h>

const char gtel_l0m_libraries[] =
    "install Intel's Metrics Discovery and Metrics Library (libigdmd.so.1, libigdml.so.1)";

/* A stream was not opened because the kernel refuses: rights, or another program measures. */
static bool is_refused(const struct gtel_l0m_try *try)
{
    return strcmp(try->call, "zetMetricStreamerOpen") == 0 &&
           (try->code == GTEL_ZE_UNKNOWN || try->code == GTEL_ZE_IN_USE ||
            try->code == GTEL_ZE_NOT_AVAILABLE);
}

const char *gtel_l0m_refusal(const struct gtel_env *env, const struct gtel_l0m_gpu *gpu,
                             const char **ret_fix)
{
    bool is_xe = strcmp(gpu->card->drm.driver, "xe") == 0;
    uint64_t level = 1;
    *ret_fix = NULL;
    if (gpu->card->awake.pnp.set)
        return NULL;
    int r = gtel_fs_u64(env,
                        is_xe ? "proc/sys/dev/xe/observation_paranoid"
                              : "proc/sys/dev/i915/perf_stream_paranoid",
                        &level);
    if (r == 0 && level == 0)
        return NULL;
    if (gtel_kernel_has_capability(env, GTEL_CAP_PERFMON) == GTEL_YES ||
        gtel_kernel_has_capability(env, GTEL_CAP_SYS_ADMIN) == GTEL_YES)
        return gtel_kernel_is_nested(env)
                   ? "rights in a container's user namespace do not count: run the program outside "
                     "of the container"
                   : NULL;
    *ret_fix = is_xe ? "give the program CAP_PERFMON and restart it; or:\nsysctl "
                       "dev.xe.observation_paranoid=0"
                     : "give the program CAP_PERFMON and restart it; or:\nsysctl "
                       "dev.i915.perf_stream_paranoid=0";
    return is_xe ? "the kernel lets only those measure who have CAP_PERFMON "
                   "(dev.xe.observation_paranoid is not 0)"
                 : "the kernel lets only those measure who have CAP_PERFMON "
                   "(dev.i915.perf_stream_paranoid is not 0)";
}

void gtel_l0m_explain(const struct gtel_env *env, const struct gtel_l0m_gpu *gpu,
                      const struct gtel_l0m_try *try, const char **ret_why, const char **ret_fix)
{
    bool is_list = strcmp(try->call, "zetMetricGroupGet") == 0;
    bool has_rival = is_refused(try);
    const char *refusal = gtel_l0m_refusal(env, gpu, ret_fix);
    *ret_why = NULL;
    if (refusal && (has_rival || is_list || try->code == GTEL_ZE_NO_PERMISSION ||
                    try->code == GTEL_ZE_NO_DEPENDENCY)) {
        *ret_why = refusal;
        return;
    }
    *ret_fix = NULL;
    if (try->code == GTEL_ZE_NO_DEPENDENCY) {
        *ret_why = "Intel's metrics libraries are missing, or this GPU has no metrics, or another "
                   "program measures";
        *ret_fix = gtel_level_zero_fix(env, gtel_l0m_libraries);
    } else if (try->code == GTEL_L0M_NO_METRICS) {
        *ret_why = "this GPU has none of the metrics that gtel knows (ComputeBasic, "
                   "EuStallSampling)";
    } else if (strcmp(try->call, "zetMetricStreamerClose") == 0) {
        *ret_why = "the driver does not end the measurement before, and only one at a time can be";
        *ret_fix =
            "wait: after some tries another helper begins; with the option Isolation at none "
            "restart the program";
    } else if (has_rival) {
        *ret_why = "another program measures: only one at a time can";
        *ret_fix = "end the other one (vtune, unitrace, oneprof, Intel GPA, xpumd), or set the "
                   "option L0Metrics to off";
    }
}

static enum gtel_answer answer_of(const struct gtel_l0m_try *try)
{
    if (is_refused(try))
        return GTEL_ANSWER_SILENT;             /* not a failure of ours */
    if (try->code == GTEL_ZE_INVALID_ARGUMENT) /* said of data that were read */
        return GTEL_ANSWER_FAILING;
    if (try->code == GTEL_ZE_NO_DEPENDENCY || try->code == GTEL_L0M_NO_METRICS)
        return GTEL_ANSWER_ABSENT;
    return gtel_answer_of(try->code);
}

void gtel_l0m_record(const struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu, struct gtel_l0m_try *try,
                     const char *call, uint32_t code)
{
    const struct gtel_env *env = l0m->lz.cards.env;
    const char *why;
    const char *fix;
    try->code = code;
    try->call = call;
    enum gtel_answer answer = answer_of(try);
    gtel_retry_after(&try->retry, answer, gtel_env_now(env));
    gpu->failed += answer == GTEL_ANSWER_FAILING;
    if (code == GTEL_ZE_SUCCESS) {
        if (try->is_logged)
            gtel_log(&env->log, GTEL_LOG_INFO, "l0metrics: %s: works again", gpu->card->drm.key);
        try->is_logged = false;
        return;
    }
    if (try->is_logged || code == GTEL_L0M_NO_METRICS) /* which is for doctor */
        return;
    try->is_logged = true;
    gtel_l0m_explain(env, gpu, try, &why, &fix);
    gtel_log(&env->log, GTEL_LOG_WARNING, "l0metrics: %s: %s answers code 0x%x%s%s; trying again",
             gpu->card->drm.key, call, (unsigned)code, why ? ": " : "", why ? why : "");
}
