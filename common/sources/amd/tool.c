/* SPDX-License-Identifier: MIT */
/*
 * Source amd_tool: AMD GPUs through amd-smi or rocm-smi, where the driver's files are missing: in
 * containers without these parts of sysfs, on hosts of virtual functions (driver gim:
 * amd/MxGPU-Virtualization, gim_shim/gim_drv.c), in WSL.
 *
 * The tools are Python programs that ask every GPU, so one run reads all, no more often than each
 * 10 s and for at most a twentieth of the time, and none begins while a GPU sleeps.
 */
#include "sources/amd/tool.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

enum { OUTPUT_MAX = 2 << 20 };

static const uint64_t first_wait_ns = 4000000000;
static const uint64_t first_step_ns = 50000000;

static bool present(const struct gtel_env *env)
{
    return gtel_amd_tool_gpus(env, NULL) > 0 || gtel_amd_tool_is_wsl(env);
}

static void emit(const struct gtel_amd_tool *tool, const struct gtel_amd_tool_gpu *gpu,
                 const struct gtel_amd_tool_device *from, struct gtel_batch *batch)
{
    const struct gtel_amd_tool_row *total = NULL; /* of the memory before */
    double size = 0;
    for (size_t i = 0; i < gtel_amd_tool_rows_n; i++) {
        const struct gtel_amd_tool_row *row = &gtel_amd_tool_rows[i];
        const struct gtel_metric_row *metric = gtel_metric_row(row->metric);
        const struct gtel_str part = gtel_str_of(row->dim[0]);
        bool is_old = metric->kind == GTEL_KIND_COUNTER && !tool->is_new;
        if ((from->has >> i & 1) == 0 || is_old || (gpu->is_shared && !row->is_of_whole))
            continue;
        double value = from->value[i] * row->scale;
        struct gtel_reading reading = {.device = gpu->device,
                                       .metric = (uint16_t)row->metric,
                                       .value_type = GTEL_VALUE_F64,
                                       .value.f64 = value,
                                       .dim = {part, gtel_str_of(row->dim[1])}};
        if (metric->type == GTEL_TYPE_INT) {
            reading.value_type = GTEL_VALUE_U64;
            reading.value.u64 = (uint64_t)(value + 0.5);
        }
        gtel_batch_put(batch, &reading);
        if (row->metric == GTEL_M_MEMORY_TOTAL) {
            total = row;
            size = value;
        }
        if (row->metric == GTEL_M_MEMORY_USED && total && value <= size &&
            strcmp(total->dim[0], row->dim[0]) == 0)
            gtel_batch_f64(batch, gpu->device, GTEL_M_MEMORY_USED_RATIO, part, value / size);
    }
}

static void sample_gpu(struct gtel_amd_tool *tool, struct gtel_amd_tool_gpu *gpu,
                       struct gtel_batch *batch)
{
    bool is_asleep;
    int r = gtel_amd_tool_look(tool, gpu, &is_asleep);
    gpu->device->is_asleep = r == 0 && is_asleep;
    if (r < 0 || gtel_error_is_broken(tool->error))
        gtel_batch_failed(batch, gpu->device);
    if (r == 0 && !tool->is_wsl)
        gtel_batch_u64(batch, gpu->device, GTEL_M_GPU_AWAKE, GTEL_STR_NONE, !is_asleep);
    if (r < 0 || is_asleep || gpu->at[GTEL_AMD_TOOL_METRIC] == 0 ||
        gtel_env_now(tool->env) > tool->valid_ns)
        return;
    batch->t_ns = tool->read_ns[GTEL_AMD_TOOL_METRIC];
    for (enum gtel_amd_tool_phase phase = GTEL_AMD_TOOL_STATIC; phase < GTEL_AMD_TOOL_PHASES;
         phase++)
        if (gpu->at[phase] > 0)
            emit(tool, gpu, &tool->answer[phase].device[gpu->at[phase] - 1], batch);
}

static int sample(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct gtel_amd_tool *tool = state;
    bool is_needed = tool->n > 0 || tool->is_wsl;
    uint64_t first_ns = gtel_env_now(tool->env);
    if (is_needed)
        gtel_amd_tool_advance(tool, registry, 0);
    while (!tool->has_waited && tool->child_plus_1 > 0 &&
           gtel_env_now(tool->env) < first_ns + first_wait_ns)
        gtel_amd_tool_advance(tool, registry, first_step_ns);
    tool->has_waited = true;
    batch->origin = tool->path && gtel_amd_tool_is_rocm(tool);
    for (size_t i = 0; i < tool->n; i++) {
        batch->t_ns = gtel_env_now(tool->env);
        if (tool->gpu[i].device)
            sample_gpu(tool, &tool->gpu[i], batch);
    }
    tool->is_new = false;
    return 0;
}

static uint64_t due_ns(const void *state)
{
    const struct gtel_amd_tool *tool = state;
    return tool->has_waited && (tool->n > 0 || tool->is_wsl) ? tool->due_ns : 0;
}

static int tick(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    (void)batch;
    gtel_amd_tool_advance(state, registry, 0);
    return 0;
}

static int open_tool(void *state, const struct gtel_env *env, const struct gtel_options *options)
{
    struct gtel_amd_tool *tool = state;
    struct gtel_str given = gtel_option_text(options, GTEL_O_AMD_TOOL);
    if (!present(env))
        return -ENOENT;
    if (given.n > 0 && (given.p[0] != '/' || given.n >= sizeof(tool->given)))
        return -EINVAL;
    (void)gtel_str_copy(tool->given, sizeof(tool->given), given);
    tool->env = env;
    tool->may_wake = gtel_option_may_wake(options);
    gtel_buf_init(&tool->output, OUTPUT_MAX);
    return 0;
}

static int discover(void *state, struct gtel_registry *registry)
{
    struct gtel_amd_tool *tool = state;
    size_t kept = 0;
    for (size_t i = 0; i < tool->n; i++)
        tool->gpu[i].is_found = false;
    size_t found = gtel_amd_tool_gpus(tool->env, tool);
    tool->is_wsl = found == 0 && gtel_amd_tool_is_wsl(tool->env);
    for (size_t i = 0; i < tool->n; i++) {
        struct gtel_amd_tool_gpu *gpu = &tool->gpu[i];
        if ((found > 0 && gpu->is_found) || tool->is_wsl) {
            gtel_amd_tool_register(tool, registry, gpu);
            tool->gpu[kept++] = *gpu;
            continue;
        }
        tool->read_ns[GTEL_AMD_TOOL_STATIC] = 0;
        gtel_awake_close(tool->env, &gpu->awake);
        if (gpu->device && found > 0) /* else another source has it now */
            gtel_registry_lost(registry, gpu->device);
    }
    tool->n = kept;
    if (kept == 0)
        gtel_amd_tool_stop(tool);
    return 0;
}

static void diagnose(void *state, struct gtel_registry *registry, struct gtel_findings *findings)
{
    static const char *const asleep[3] = {
        "power/runtime_status", "a GPU sleeps: no tool runs, since it would wake all of them",
        NULL};
    static const char *const shared[3] = {
        "partitions",
        "a tool cannot say what the whole GPU does: use, clocks and memory are of "
        "parts",
        NULL};
    const struct gtel_amd_tool *tool = state;
    const char *const failed[3] = {
        tool->path ? tool->path : "amd-smi, rocm-smi", tool->why,
        "install amd-smi (package amd-smi-lib) or name it with the option AmdTool; run it by hand "
        "as this user"};
    (void)registry;
    if (tool->error < 0)
        gtel_finding_put(findings, NULL, GTEL_MEASUREMENT_GPU, tool->error, failed);
    if (tool->is_asleep)
        gtel_finding_put(findings, NULL, GTEL_MEASUREMENT_GPU, 0, asleep);
    for (size_t i = 0; i < tool->n; i++)
        if (tool->gpu[i].is_shared)
            gtel_finding_put(findings, tool->gpu[i].device, GTEL_MEASUREMENT_GPU, 0, shared);
}

static void close_tool(void *state)
{
    struct gtel_amd_tool *tool = state;
    if (!tool->env)
        return;
    gtel_amd_tool_stop(tool);
    for (size_t i = 0; i < tool->n; i++)
        gtel_awake_close(tool->env, &tool->gpu[i].awake);
    tool->n = 0;
    gtel_buf_done(&tool->output);
}

static const char *const origins[] = {"amd-smi", "rocm-smi", NULL};

const struct gtel_source gtel_source_amd_tool = {
    .name = "amd_tool",
    .lane = "amd_tool",
    .vendor = "amd",
    .summary = "AMD GPUs through amd-smi or rocm-smi, where the files of amdgpu are missing: use, "
               "power, temperatures, memory, clocks, fans, errors, PCIe link",
    .needs = "amd-smi or rocm-smi of ROCm 4.3 or newer (option AmdTool); the groups render and "
             "video",
    .seen = "not tried on hardware",
    .origins = origins,
    .state_size = sizeof(struct gtel_amd_tool),
    .present = present,
    .open = open_tool,
    .discover = discover,
    .sample = sample,
    .due_ns = due_ns,
    .tick = tick,
    .diagnose = diagnose,
    .close = close_tool,
};
