/* SPDX-License-Identifier: MIT */
/* Runs of amd-smi and rocm-smi. */
#include "sources/amd/tool.h"

#include "host/failure.h"
#include "parse/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define SECOND UINT64_C(1000000000)

enum { ARGS_MAX = 32 };

static const uint64_t period_ns = 10 * SECOND;
static const uint64_t duty = 20; /* so many times its run time lie between two runs */
static const uint64_t run_max_ns = 5 * SECOND;
static const uint64_t static_ns = 600 * SECOND; /* limits and names change rarely */
static const uint64_t step_ns = SECOND / 20;

/* What the tools are called with, by kind of tool and phase. */
static const char *const words[2][GTEL_AMD_TOOL_PHASES][ARGS_MAX] = {
    {{"static", "--json"}, {"metric", "--json"}},
    {{NULL},
     {"--showuse", "--showmemuse", "--showmeminfo", "vram", "vis_vram", "gtt", "--showtemp",
      "--showpower", "--showmaxpower", "--showclocks", "--showfan", "--showvoltage",
      "--showenergycounter", "--showbus", "--showproductname", "--showreplaycount", "--json"}},
};

bool gtel_amd_tool_is_rocm(const struct gtel_amd_tool *tool)
{
    return gtel_str_ends(gtel_str_of(tool->path), GTEL_STR("rocm-smi"));
}

static void fail(struct gtel_amd_tool *tool, int r, const char *why)
{
    uint64_t now = gtel_env_now(tool->env);
    (void)gtel_str_copy(tool->why, sizeof(tool->why), gtel_str_of(why));
    gtel_failure_log(&tool->env->log, &tool->error, r, "gtel doctor says more", "amd_tool: %s: %s",
                     tool->path ? tool->path : "amd-smi, rocm-smi", why);
    tool->place++; /* another one may do better */
    tool->pause.pause = tool->pause.pause ? tool->pause.pause : period_ns;
    gtel_backoff_fail(&tool->pause, now, period_ns, 64 * period_ns);
    tool->due_ns = tool->pause.due;
}

static void begin(struct gtel_amd_tool *tool)
{
    const char *args[ARGS_MAX + 2] = {NULL};
    const char *const *word = words[gtel_amd_tool_is_rocm(tool)][tool->phase];
    args[0] = tool->path;
    for (size_t i = 0; word[i]; i++)
        args[i + 1] = word[i];
    gtel_buf_reset(&tool->output);
    tool->start_ns = gtel_env_now(tool->env);
    tool->due_ns = tool->start_ns + step_ns;
    int r = gtel_env_child_start(tool->env, args);
    if (r < 0)
        fail(tool, r, "cannot be started");
    else
        tool->child_plus_1 = r + 1;
}

static void begin_static(struct gtel_amd_tool *tool)
{
    tool->has_asked = true;
    tool->phase = GTEL_AMD_TOOL_STATIC;
    begin(tool);
}

/* A run is due. */
static void begin_first(struct gtel_amd_tool *tool)
{
    uint64_t now = gtel_env_now(tool->env);
    bool is_awake = true;
    tool->is_asleep = false;
    for (size_t i = 0; i < tool->n; i++) {
        bool is_asleep;
        int r = gtel_amd_tool_look(tool, &tool->gpu[i], &is_asleep);
        tool->is_asleep = tool->is_asleep || (r == 0 && is_asleep);
        is_awake = is_awake && r == 0 && !is_asleep; /* not known: left alone */
    }
    tool->due_ns = now + period_ns;
    if (!is_awake)
        return;
    tool->path = tool->given[0] != '\0' ? tool->given : gtel_amd_tool_find(tool->env, tool->place);
    if (!tool->path) {
        fail(tool, -ENOENT, "not found");
        return;
    }
    tool->has_asked = false;
    tool->phase = GTEL_AMD_TOOL_METRIC;
    if (gtel_amd_tool_is_rocm(tool) || (tool->read_ns[GTEL_AMD_TOOL_STATIC] > 0 &&
                                        now < tool->read_ns[GTEL_AMD_TOOL_STATIC] + static_ns))
        begin(tool);
    else
        begin_static(tool);
}

/* The GPU of a device that the tool lists. A partition's function is its number. */
static struct gtel_amd_tool_gpu *gpu_of(struct gtel_amd_tool *tool, struct gtel_registry *registry,
                                        struct gtel_pci pci)
{
    char address[GTEL_PCI_TEXT_MAX];
    gtel_pci_print(address, &pci);
    struct gtel_amd_tool_gpu *gpu = gtel_amd_tool_gpu(tool, address);
    if (!gpu && tool->is_wsl) {
        gpu = gtel_amd_tool_add(tool, address, "dxgkrnl");
        if (gpu)
            gtel_amd_tool_register(tool, registry, gpu);
    } else if (!gpu) {
        pci.function = 0;
        gtel_pci_print(address, &pci);
        gpu = gtel_amd_tool_gpu(tool, address);
        if (gpu)
            gpu->is_shared = true;
    }
    return gpu;
}

/* Which device of the answers is which GPU. amd-smi numbers them, and has addresses in the first.
 */
static void join(struct gtel_amd_tool *tool, struct gtel_registry *registry)
{
    for (size_t i = 0; i < tool->n; i++) {
        tool->gpu[i].at[GTEL_AMD_TOOL_STATIC] = tool->gpu[i].at[GTEL_AMD_TOOL_METRIC] = 0;
        tool->gpu[i].is_shared = false;
    }
    for (size_t i = 0; i < tool->answer[GTEL_AMD_TOOL_METRIC].n; i++) {
        const struct gtel_amd_tool_device *named = &tool->answer[GTEL_AMD_TOOL_METRIC].device[i];
        size_t other = 0;
        while (!named->has_pci && other < tool->answer[GTEL_AMD_TOOL_STATIC].n)
            if (tool->answer[GTEL_AMD_TOOL_STATIC].device[other++].index ==
                tool->answer[GTEL_AMD_TOOL_METRIC].device[i].index)
                named = &tool->answer[GTEL_AMD_TOOL_STATIC].device[other - 1];
        struct gtel_amd_tool_gpu *gpu = named->has_pci ? gpu_of(tool, registry, named->pci) : NULL;
        if (!gpu)
            continue;
        gpu->is_shared = gpu->is_shared || gpu->at[GTEL_AMD_TOOL_METRIC] > 0;
        if (gpu->at[GTEL_AMD_TOOL_METRIC] > 0)
            continue;
        gpu->at[GTEL_AMD_TOOL_METRIC] = i + 1;
        gpu->at[GTEL_AMD_TOOL_STATIC] = other;
        if (gpu->device)
            gtel_device_label(registry, gpu->device, GTEL_LABEL_MODEL, gtel_str_of(named->model));
    }
}

static void succeed(struct gtel_amd_tool *tool, struct gtel_registry *registry)
{
    uint64_t now = gtel_env_now(tool->env);
    tool->read_ns[tool->phase] = now;
    if (gtel_amd_tool_is_rocm(tool)) {
        tool->answer[GTEL_AMD_TOOL_STATIC].n = 0;
        tool->read_ns[GTEL_AMD_TOOL_STATIC] = 0;
    } else if (tool->phase == GTEL_AMD_TOOL_STATIC) {
        tool->valid_ns = 0; /* until both are joined again */
        tool->phase = GTEL_AMD_TOOL_METRIC;
        begin(tool);
        return;
    } else if (!tool->has_asked &&
               tool->answer[GTEL_AMD_TOOL_STATIC].n != tool->answer[GTEL_AMD_TOOL_METRIC].n) {
        begin_static(tool); /* a GPU came or went: the numbers may be others now */
        return;
    }
    join(tool, registry);
    uint64_t pause = (now - tool->start_ns) * duty;
    tool->due_ns = tool->start_ns + (pause > period_ns ? pause : period_ns);
    tool->valid_ns = tool->due_ns + 2 * run_max_ns + SECOND;
    tool->is_new = true;
    tool->pause = (struct gtel_backoff){0};
    gtel_failure_log(&tool->env->log, &tool->error, 0, "", "amd_tool: %s", tool->path);
}

/* The run is over: r is 0 when the tool has ended by itself. */
static void finish(struct gtel_amd_tool *tool, struct gtel_registry *registry, int r)
{
    char why[200];
    int status = tool->env->ops->child_end(tool->env->arg, tool->child_plus_1 - 1);
    tool->child_plus_1 = 0;
    const struct gtel_str text = gtel_buf_text(&tool->output);
    void *memory = r == 0 ? malloc(gtel_json_memory(text.n)) : NULL;
    if (r == 0)
        r = memory ? gtel_amd_tool_read(text, memory, &tool->answer[tool->phase]) : -ENOMEM;
    free(memory);
    if (r == -ETIMEDOUT)
        (void)snprintf(why, sizeof(why), "did not end within 5 s");
    else if (r == -EFBIG)
        (void)snprintf(why, sizeof(why), "more than 2 MiB of output");
    else if (r == -EPROTO)
        (void)snprintf(why, sizeof(why), "it says: %s", tool->answer[tool->phase].error);
    else
        (void)snprintf(why, sizeof(why), "no GPU in %zu bytes of output, exit status %d", text.n,
                       status);
    if (r < 0)
        fail(tool, r, why);
    else
        succeed(tool, registry);
}

void gtel_amd_tool_advance(struct gtel_amd_tool *tool, struct gtel_registry *registry,
                           uint64_t wait_ns)
{
    char buf[16384];
    if (tool->child_plus_1 == 0 && gtel_env_now(tool->env) >= tool->due_ns)
        begin_first(tool);
    while (tool->child_plus_1 > 0) {
        int64_t n = tool->env->ops->child_read(tool->env->arg, tool->child_plus_1 - 1, buf,
                                               sizeof(buf), wait_ns);
        uint64_t now = gtel_env_now(tool->env);
        if (n > 0)
            gtel_buf_bytes(&tool->output, buf, (size_t)n);
        if (tool->output.has_failed)
            n = -EFBIG;
        else if (n == -EAGAIN && now - tool->start_ns >= run_max_ns)
            n = -ETIMEDOUT;
        if (n == -EAGAIN) {
            tool->due_ns = now + step_ns;
            return;
        }
        if (n <= 0)
            finish(tool, registry, (int)n);
    }
}

void gtel_amd_tool_stop(struct gtel_amd_tool *tool)
{
    if (tool->child_plus_1 > 0)
        (void)tool->env->ops->child_end(tool->env->arg, tool->child_plus_1 - 1);
    tool->child_plus_1 = 0;
}
