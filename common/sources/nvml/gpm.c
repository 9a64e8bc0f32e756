/* SPDX-License-Identifier: MIT */
/*
 * Activity of execution units from GPM (NVML API Reference, GPM Functions): Hopper and later.
 *
 * GPM takes no exclusive lock, so it runs beside profilers. It wants two samples at least 100 ms
 * apart; each gather takes one and asks for the means since the gather before.
 */
#include "sources/nvml/nvml.h"

#include <math.h>
#include <string.h>

#define GAP_MIN_NS 100000000u
#define GAP_MAX_NS 600000000000u
#define PAUSE_NS 60000000000u

/* What takes longer than this is asked for each ten seconds only, as in pace.c. */
static const uint64_t cheap_ns = 1000000;
static const uint64_t dear_pace_ns = 9500000000;

/*
 * Not the first of all, the graphics engine: it alone took 1.0 ms of CPU time for each gather where
 * the others took 1 us each (H200, driver 580.159), and busy_percent says about the same.
 */
static const struct {
    unsigned id;
    struct gtel_str unit;
} metrics[] = {
    {GTEL_NVML_GPM_SM, GTEL_STR_INIT("sm")},
    {GTEL_NVML_GPM_SM_OCCUPANCY, GTEL_STR_INIT("sm_occupancy")},
    {GTEL_NVML_GPM_TENSOR, GTEL_STR_INIT("tensor")},
    {GTEL_NVML_GPM_DRAM, GTEL_STR_INIT("dram")},
    {GTEL_NVML_GPM_FP64, GTEL_STR_INIT("fp64")},
    {GTEL_NVML_GPM_FP32, GTEL_STR_INIT("fp32")},
    {GTEL_NVML_GPM_FP16, GTEL_STR_INIT("fp16")},
};

static bool has_calls(const struct gtel_nvml_calls *call)
{
    return call->nvmlGpmQueryDeviceSupport && call->nvmlGpmSampleAlloc && call->nvmlGpmSampleFree &&
           call->nvmlGpmSampleGet && call->nvmlGpmMetricsGet;
}

void gtel_nvml_gpm_done(const struct gtel_nvml *nvml, struct gtel_nvml_gpu *gpu)
{
    for (size_t i = 0; i < 2; i++)
        if (gpu->gpm.sample[i])
            (void)nvml->call.nvmlGpmSampleFree(gpu->gpm.sample[i]); /* nothing else could be done */
    gpu->gpm = (struct gtel_nvml_gpm){0};
}

/* When to go on after a failure, by its code; the means begin anew. A lost GPU shows in its pass.
 */
static void settle(struct gtel_nvml *nvml, struct gtel_nvml_gpu *gpu, uint64_t now, int code)
{
    gpu->gpm.t_ns = 0;
    switch (code) {
    case GTEL_NVML_INVALID_ARGUMENT:
    case GTEL_NVML_NOT_SUPPORTED:
    case GTEL_NVML_FUNCTION_NOT_FOUND:
    case GTEL_NVML_ARGUMENT_VERSION_MISMATCH:
        gpu->gpm.due_ns = UINT64_MAX;
        break;
    case GTEL_NVML_NO_PERMISSION: /* seen to come and go in containers (NVIDIA/DCGM issue 214) */
        gpu->gpm.due_ns = now + PAUSE_NS;
        break;
    default:
        if (gtel_nvml_is_broken(code))
            nvml->broken = code;
        break;
    }
}

/* Asks whether the GPU has it, and allocates. An NVML code. */
static int prepare(const struct gtel_nvml *nvml, struct gtel_nvml_gpu *gpu)
{
    struct gtel_nvml_gpm_support support = {.version = GTEL_NVML_GPM_SUPPORT_VERSION};
    if (!has_calls(&nvml->call))
        return GTEL_NVML_FUNCTION_NOT_FOUND;
    int code = nvml->call.nvmlGpmQueryDeviceSupport(gpu->handle, &support);
    if (code != GTEL_NVML_SUCCESS)
        return code;
    if (!support.is_supported)
        return GTEL_NVML_NOT_SUPPORTED;
    for (size_t i = 0; i < 2 && code == GTEL_NVML_SUCCESS; i++)
        if (!gpu->gpm.sample[i])
            code = nvml->call.nvmlGpmSampleAlloc(&gpu->gpm.sample[i]);
    return code;
}

static int emit_means(const struct gtel_nvml *nvml, const struct gtel_nvml_gpu *gpu,
                      struct gtel_batch *batch)
{
    struct gtel_nvml_gpm_get get;
    memset(&get, 0, sizeof(get));
    get.version = GTEL_NVML_GPM_GET_VERSION;
    get.n = GTEL_ARRAY_LEN(metrics);
    get.older = gpu->gpm.sample[1];
    get.newer = gpu->gpm.sample[0];
    for (size_t i = 0; i < GTEL_ARRAY_LEN(metrics); i++) {
        get.metric[i].metric_id = metrics[i].id;
        get.metric[i].rc = GTEL_NVML_NO_DATA;
    }
    int code = nvml->call.nvmlGpmMetricsGet(&get);
    if (code != GTEL_NVML_SUCCESS)
        return code;
    batch->origin = GTEL_NVML_ORIGIN_GPM;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(metrics); i++) {
        double percent = get.metric[i].value;
        if (get.metric[i].rc == GTEL_NVML_SUCCESS && isfinite(percent) && percent >= 0)
            gtel_batch_f64(batch, gpu->device, GTEL_M_ACTIVITY, metrics[i].unit, percent / 1e2);
    }
    return GTEL_NVML_SUCCESS;
}

/* The newest sample goes where the oldest was. Means only over a sensible gap. */
static int take_sample(const struct gtel_nvml *nvml, struct gtel_nvml_gpu *gpu, uint64_t now,
                       struct gtel_batch *batch)
{
    struct gtel_nvml_gpm *gpm = &gpu->gpm;
    struct gtel_nvml_gpm_sample *newest = gpm->sample[1];
    uint64_t before_ns = gpm->t_ns;
    gpm->sample[1] = gpm->sample[0];
    gpm->sample[0] = newest;
    int code = nvml->call.nvmlGpmSampleGet(gpu->handle, newest);
    if (code != GTEL_NVML_SUCCESS)
        return code;
    gpm->t_ns = now;
    if (before_ns == 0 || now - before_ns > GAP_MAX_NS)
        return GTEL_NVML_SUCCESS;
    return emit_means(nvml, gpu, batch);
}

void gtel_nvml_gpm_pass(struct gtel_nvml *nvml, struct gtel_nvml_gpu *gpu, struct gtel_batch *batch)
{
    struct gtel_nvml_gpm *gpm = &gpu->gpm;
    uint64_t now = gtel_env_now(nvml->env);
    int code = GTEL_NVML_SUCCESS;
    if (now < gpm->due_ns || (gpm->t_ns != 0 && now - gpm->t_ns < GAP_MIN_NS))
        return;
    if (!gpm->sample[0] || !gpm->sample[1])
        code = prepare(nvml, gpu);
    if (code == GTEL_NVML_SUCCESS)
        code = take_sample(nvml, gpu, now, batch);
    if (code == GTEL_NVML_SUCCESS) {
        bool is_cheap = gtel_env_now(nvml->env) - now < cheap_ns;
        gpm->due_ns = is_cheap ? 0 : now + dear_pace_ns;
        return;
    }
    settle(nvml, gpu, now, code);
    if (gpm->due_ns != UINT64_MAX && !nvml->broken && !gtel_nvml_is_lost(code))
        gtel_batch_failed(batch, gpu->device);
}
