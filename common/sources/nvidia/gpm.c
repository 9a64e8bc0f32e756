/* SPDX-License-Identifier: MIT */
/* Activity of execution units, and PCIe traffic, from GPM. */
#include "sources/nvidia/gpm.h"

#include "sources/nvidia/gpu.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const uint64_t gap_min_ns = 100000000;
static const uint64_t gap_max_ns = 600000000000;
#define MIB 1048576.0

/*
 * Costs on an H200 with driver 580.159: a sample 50 to 300 us, a metric 1 to 3 us; but DRAM 2 to
 * 5 ms. So DRAM has windows of its own, which end in long gathers (gpu.h).
 *
 * Not the first of all, the graphics engine: it alone took 1.0 to 3.4 ms of CPU time for each
 * gather (H200, driver 580.159), and busy_percent says about the same.
 */
enum { FIRST_ENGINE = 9, EACH_MAX = 8 };
static const struct metric {
    unsigned id;
    unsigned n; /* of engines: so many, by the next ids */
    unsigned window;
    struct gtel_str unit; /* of execution, or class of an engine; empty: PCIe */
    unsigned way;
    const char *engine; /* how its name begins; NULL: no engine */
} metrics[] = {
    {GTEL_NVML_GPM_SM, 1, GTEL_NVML_GPM_FAST, GTEL_STR_INIT("sm"), 0, NULL},
    {GTEL_NVML_GPM_SM_OCCUPANCY, 1, GTEL_NVML_GPM_FAST, GTEL_STR_INIT("sm_occupancy"), 0, NULL},
    {GTEL_NVML_GPM_TENSOR, 1, GTEL_NVML_GPM_FAST, GTEL_STR_INIT("tensor"), 0, NULL},
    {GTEL_NVML_GPM_FP64, 1, GTEL_NVML_GPM_FAST, GTEL_STR_INIT("fp64"), 0, NULL},
    {GTEL_NVML_GPM_FP32, 1, GTEL_NVML_GPM_FAST, GTEL_STR_INIT("fp32"), 0, NULL},
    {GTEL_NVML_GPM_FP16, 1, GTEL_NVML_GPM_FAST, GTEL_STR_INIT("fp16"), 0, NULL},
    {GTEL_NVML_GPM_PCIE_TX, 1, GTEL_NVML_GPM_FAST, {NULL, 0}, GTEL_NVML_PCIE_TX, NULL},
    {GTEL_NVML_GPM_PCIE_RX, 1, GTEL_NVML_GPM_FAST, {NULL, 0}, GTEL_NVML_PCIE_RX, NULL},
    {GTEL_NVML_GPM_DRAM, 1, GTEL_NVML_GPM_SLOW, GTEL_STR_INIT("dram"), 0, NULL},
    [FIRST_ENGINE] = {GTEL_NVML_GPM_NVDEC, 8, GTEL_NVML_GPM_FAST, GTEL_STR_INIT("decode"), 0,
                      "nvdec"},
    {GTEL_NVML_GPM_NVJPG, 8, GTEL_NVML_GPM_FAST, GTEL_STR_INIT("jpeg"), 0, "nvjpg"},
    {GTEL_NVML_GPM_NVOFA, 2, GTEL_NVML_GPM_FAST, GTEL_STR_INIT("ofa"), 0, "nvofa"},
    {GTEL_NVML_GPM_NVENC, 4, GTEL_NVML_GPM_FAST, GTEL_STR_INIT("encode"), 0, "nvenc"},
};

/* The row of an id, or NULL: the library writes it, too. */
static const struct metric *metric_of(unsigned id)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(metrics); i++)
        if (id >= metrics[i].id && id - metrics[i].id < metrics[i].n)
            return &metrics[i];
    return NULL;
}

static bool has_calls(const struct gtel_nvml_calls *call, const struct gtel_nvml_gpu *gpu)
{
    return (!gpu->parent || call->nvmlGpmMigSampleGet) && call->nvmlGpmQueryDeviceSupport &&
           call->nvmlGpmSampleAlloc && call->nvmlGpmSampleFree && call->nvmlGpmSampleGet &&
           call->nvmlGpmMetricsGet;
}

void gtel_nvml_gpm_forget(struct gtel_nvml_gpm *gpm)
{
    memset(gpm->window, 0, sizeof(gpm->window));
    gpm->due_ns = 0;
    gpm->code = GTEL_NVML_SUCCESS;
}

void gtel_nvml_gpm_done(const struct gtel_nvml_calls *calls, struct gtel_nvml_gpm *gpm)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(gpm->sample); i++)
        if (gpm->sample[i]) /* nothing could be done about a failure */
            (void)calls->nvmlGpmSampleFree(gpm->sample[i]);
    *gpm = (struct gtel_nvml_gpm){0};
}

/* Asks whether the GPU has it, and allocates. An NVML code. */
static int prepare(const struct gtel_nvml_calls *calls, struct gtel_nvml_gpu *gpu)
{
    struct gtel_nvml_gpm_support support = {.version = GTEL_NVML_GPM_SUPPORT_VERSION};
    if (!has_calls(calls, gpu))
        return GTEL_NVML_FUNCTION_NOT_FOUND;
    int code =
        calls->nvmlGpmQueryDeviceSupport(gpu->parent ? gpu->parent->handle : gpu->handle, &support);
    if (code != GTEL_NVML_SUCCESS)
        return code;
    if (!support.is_supported)
        return GTEL_NVML_NOT_SUPPORTED;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(gpu->gpm.sample) && code == GTEL_NVML_SUCCESS; i++)
        if (!gpu->gpm.sample[i])
            code = calls->nvmlGpmSampleAlloc(&gpu->gpm.sample[i]);
    return code;
}

/* An id that the library does not know answers 0 with SUCCESS, but has no name (driver 580.159). */
static bool is_known(const struct gtel_nvml_gpm_metric *metric)
{
    return metric->rc == GTEL_NVML_SUCCESS && isfinite(metric->value) && metric->value >= 0 &&
           metric->short_name && metric->short_name[0];
}

/* Asks for the means of a window up to a sample. An NVML code. */
static int ask_means(const struct gtel_nvml_library *library, const struct gtel_nvml_gpu *gpu,
                     unsigned which, unsigned newest, struct gtel_nvml_gpm_get *get)
{
    bool wants_engines = gtel_option_is(library->options, GTEL_O_ENGINE_INSTANCES, "on");
    memset(get, 0, sizeof(*get));
    get->version = GTEL_NVML_GPM_GET_VERSION;
    get->older = gpu->gpm.sample[gpu->gpm.window[which].base];
    get->newer = gpu->gpm.sample[newest];
    for (size_t i = 0; i < GTEL_ARRAY_LEN(metrics); i++) {
        bool is_unit = metrics[i].unit.n > 0 && !metrics[i].engine;
        if (metrics[i].window != which || (metrics[i].engine && !wants_engines) ||
            (gpu->parent && !is_unit)) /* links and engines are numbered for the whole GPU */
            continue;
        for (unsigned k = 0; k < metrics[i].n; k++)
            get->metric[get->n++] = (struct gtel_nvml_gpm_metric){.metric_id = metrics[i].id + k,
                                                                  .rc = GTEL_NVML_NO_DATA};
    }
    return library->call.nvmlGpmMetricsGet(get);
}

/*
 * GPM knows engines that a GPU lacks, too, as idle: on an H200, which has 7 NVDEC, 7 NVJPG, 1 OFA
 * and no NVENC, it named 8, 8, 2 and 4 (driver 580.159). So an engine is one that has worked.
 */
static void put_engine(struct gtel_nvml_gpu *gpu, const struct metric *metric, unsigned number,
                       double share, struct gtel_batch *batch)
{
    size_t row = (size_t)(metric - &metrics[FIRST_ENGINE]);
    const uint64_t bit = UINT64_C(1) << (row * EACH_MAX + number);
    char name[16];
    struct gtel_reading reading = {.device = gpu->device,
                                   .metric = GTEL_M_ENGINE_BUSY,
                                   .dim = {metric->unit},
                                   .value_type = GTEL_VALUE_F64,
                                   .value.f64 = share};
    gpu->gpm.engines |= share > 0 ? bit : 0;
    if ((gpu->gpm.engines & bit) == 0)
        return;
    (void)snprintf(name, sizeof(name), "%s%u", metric->engine, number);
    reading.dim[1] = gtel_batch_text(batch, gtel_str_of(name));
    if (reading.dim[1].n > 0)
        gtel_batch_put(batch, &reading);
}

/* A little more than all of the time is rounding; much more is no share (NVIDIA/DCGM issue 199). */
static void add_share(struct gtel_nvml_gpu *gpu, const struct metric *metric, unsigned number,
                      double percent, struct gtel_batch *batch)
{
    if (percent >= 101)
        return;
    double share = percent < 100 ? percent / 1e2 : 1;
    if (metric->engine)
        put_engine(gpu, metric, number, share, batch);
    else
        gtel_batch_f64(batch, gpu->device, GTEL_M_ACTIVITY, metric->unit, share);
}

/* Ends a window of so many nanoseconds at a sample: appends its means. An NVML code. */
static int emit_means(const struct gtel_nvml_library *library, struct gtel_nvml_gpu *gpu,
                      unsigned which, unsigned newest, uint64_t window_ns, struct gtel_batch *batch)
{
    struct gtel_nvml_pcie_step *pcie = &gpu->gpm.pcie;
    struct gtel_nvml_gpm_get get;
    unsigned ways = 0;
    int code = ask_means(library, gpu, which, newest, &get);
    if (code != GTEL_NVML_SUCCESS)
        return code;
    batch->origin = GTEL_NVML_ORIGIN_GPM;
    for (size_t k = 0; k < get.n && k < GTEL_NVML_GPM_MAX; k++) { /* the library writes n, too */
        const struct metric *metric = metric_of(get.metric[k].metric_id);
        double value = get.metric[k].value;
        if (!metric || !is_known(&get.metric[k]))
            continue;
        gpu->gpm.has_worked = true;
        if (metric->unit.n > 0) {
            add_share(gpu, metric, get.metric[k].metric_id - metric->id, value, batch);
        } else {
            pcie->bytes[metric->way] = value * MIB * ((double)window_ns / 1e9);
            ways++;
        }
    }
    if (which == GTEL_NVML_GPM_FAST) {
        pcie->kind = ways == GTEL_NVML_PCIE_WAYS ? GTEL_NVML_STEP_BYTES : GTEL_NVML_STEP_HOLE;
        pcie->window_ns = window_ns;
    }
    return GTEL_NVML_SUCCESS;
}

/* Ends a window at a sample if it is time, and begins the next. An NVML code. */
static int advance(const struct gtel_nvml_library *library, struct gtel_nvml_gpu *gpu,
                   unsigned which, unsigned newest, uint64_t t_ns, struct gtel_batch *batch)
{
    struct gtel_nvml_gpm_window *window = &gpu->gpm.window[which];
    if (window->t_ns == 0 || t_ns - window->t_ns > gap_max_ns) {
        if (which == GTEL_NVML_GPM_FAST)
            gpu->gpm.pcie.kind = GTEL_NVML_STEP_HOLE;
    } else if (which == GTEL_NVML_GPM_SLOW && !gpu->is_long) {
        return GTEL_NVML_SUCCESS;
    } else {
        int code = emit_means(library, gpu, which, newest, t_ns - window->t_ns, batch);
        if (code != GTEL_NVML_SUCCESS)
            return code;
    }
    window->base = newest;
    window->t_ns = t_ns;
    return GTEL_NVML_SUCCESS;
}

/* Takes a sample, and ends what windows it can. An NVML code. */
static int sample(const struct gtel_nvml_library *library, struct gtel_nvml_gpu *gpu,
                  struct gtel_batch *batch)
{
    const struct gtel_nvml_gpm_window *window = gpu->gpm.window;
    unsigned newest = 0;
    while (newest == window[GTEL_NVML_GPM_FAST].base || newest == window[GTEL_NVML_GPM_SLOW].base)
        newest++;
    struct gtel_nvml_gpm_sample *at = gpu->gpm.sample[newest];
    int code = gpu->parent
                   ? library->call.nvmlGpmMigSampleGet(gpu->parent->handle, gpu->gpu_instance, at)
                   : library->call.nvmlGpmSampleGet(gpu->handle, at);
    uint64_t t_ns = gtel_env_now(library->env);
    for (unsigned w = 0; w < GTEL_NVML_GPM_WINDOWS && code == GTEL_NVML_SUCCESS; w++)
        code = advance(library, gpu, w, newest, t_ns, batch);
    return code;
}

/* When to go on after a failure, by its code. */
static void handle_failure(struct gtel_nvml_library *library, struct gtel_nvml_gpu *gpu,
                           uint64_t now, int code, struct gtel_batch *batch)
{
    gpu->gpm.code = code;
    switch (gtel_nvml_judge(library, code)) {
    case GTEL_NVML_MEANS_ABSENT:
        /*
         * Permission was seen to come and go in containers (NVIDIA/DCGM issue 214), and a GPU has
         * no GPM of its own while it is in MIG mode.
         */
        gpu->gpm.due_ns = code == GTEL_NVML_NO_PERMISSION || gpu->gpm.has_worked
                              ? now + GTEL_NVML_MINUTE_NS
                              : UINT64_MAX;
        if (code == GTEL_NVML_NO_PERMISSION)
            gtel_batch_failed(batch, gpu->device);
        break;
    case GTEL_NVML_MEANS_BROKEN:
    case GTEL_NVML_MEANS_NO_GPU: /* shows in its rows */
        break;
    default:
        gtel_batch_failed(batch, gpu->device);
        break;
    }
}

void gtel_nvml_gpm_sample(struct gtel_nvml_library *library, struct gtel_nvml_gpu *gpu,
                          struct gtel_batch *batch)
{
    struct gtel_nvml_gpm *gpm = &gpu->gpm;
    uint64_t now = gtel_env_now(library->env);
    uint64_t last_ns = gpm->window[GTEL_NVML_GPM_FAST].t_ns;
    int code = GTEL_NVML_SUCCESS;
    gpm->pcie = (struct gtel_nvml_pcie_step){0};
    if (now < gpm->due_ns || (last_ns != 0 && now - last_ns < gap_min_ns))
        return;
    if (!gpm->sample[GTEL_NVML_GPM_WINDOWS])
        code = prepare(&library->call, gpu);
    if (code == GTEL_NVML_SUCCESS)
        code = sample(library, gpu, batch);
    if (code == GTEL_NVML_SUCCESS)
        gpm->code = code;
    else
        handle_failure(library, gpu, now, code, batch);
}
