/* SPDX-License-Identifier: MIT */
/*
 * Source amd_tool: AMD GPUs through amd-smi or rocm-smi, where the driver's files are missing: in
 * containers without these parts of sysfs, on hosts of virtual functions (driver gim:
 * amd/MxGPU-Virtualization, gim_shim/gim_drv.c), in WSL.
 *
 * The tools are Python programs that ask every GPU, so one run reads all, no more often than each
 * 10 s and for at most a twentieth of the time, and none begins while a GPU sleeps.
 */
#include "base/backoff.h"
#include "base/buf.h"
#include "base/error.h"
#include "host/env.h"
#include "parse/json.h"
#include "sources/amd/tool_read.h"
#include "sources/drm/awake.h"
#include "sources/drm/cards.h"
#include "sources/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GPUS_MAX = 64 };

/* What a run asks amd-smi for, names and limits or values; and rocm-smi, which has all in one. */
enum run { STATIC, METRIC_AFTER_STATIC, METRIC, ROCM, RUNS };

struct tool_gpu {
    char address[GTEL_PCI_TEXT_MAX];
    const char *driver;
    struct gtel_device *device; /* NULL: not registered */
    struct gtel_awake awake;
    uint32_t search;                         /* the last one that found it */
    bool is_shared;                          /* between partitions, each a device of the tool */
    const struct gtel_amd_tool_device *from; /* of the answer; NULL: none */
};

struct tool {
    const struct gtel_env *env;
    bool is_wsl;           /* GPUs are known from the tool alone */
    struct gtel_str given; /* the option, whose text ends in NUL; empty: none */
    const char *path;      /* of the tool in use; NULL: none was found */
    size_t place;          /* where to look for the next one */
    uint32_t searches;
    struct tool_gpu gpu[GPUS_MAX];
    size_t n;
    struct gtel_amd_tool_answer names; /* with limits, of amd-smi */
    uint64_t names_due_ns;             /* from when on they are to be asked for */
    struct gtel_amd_tool_answer values;
    uint64_t values_ns;
    uint64_t valid_ns; /* until when the values may be repeated */
    bool is_new;       /* the counters were not reported yet */
    bool has_waited;   /* for the first answer */
    bool is_asleep;    /* a GPU was, when a run was due */
    enum run run;      /* the last one */
    int child_plus_1;  /* 0: none runs */
    uint64_t start_ns;
    uint64_t due_ns;
    struct gtel_buf output;
    struct gtel_backoff pause;
    int error;
    char why[200];
};

/* ---- which GPUs and tools there are ---- */

static const char *const places[] = {"/usr/bin/amd-smi", "/opt/rocm/bin/amd-smi",
                                     "/usr/bin/rocm-smi", "/opt/rocm/bin/rocm-smi"};

static bool has_files(const struct gtel_env *env, const char *driver, struct gtel_str address)
{
    static const char *const files[] = {"gpu_metrics", "hwmon", "gpu_busy_percent",
                                        "mem_info_vram_total"};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(files); i++)
        if (gtel_fs_exists(env, GTEL_FS_AT("sys/bus/pci/drivers/%s/%.*s/%s", driver,
                                           GTEL_STR_ARG(address), files[i])))
            return true;
    return false;
}

static struct tool_gpu *gpu_at(struct tool *tool, const char *address)
{
    for (size_t i = 0; i < tool->n; i++)
        if (strcmp(tool->gpu[i].address, address) == 0)
            return &tool->gpu[i];
    return NULL;
}

static struct tool_gpu *add_gpu(struct tool *tool, const char *address, const char *driver)
{
    struct tool_gpu *gpu = gpu_at(tool, address);
    if (!gpu && tool->n < GPUS_MAX) {
        gpu = &tool->gpu[tool->n++];
        *gpu = (struct tool_gpu){.driver = driver};
        tool->names_due_ns = 0; /* the tool counts otherwise now */
        (void)gtel_str_copy(gpu->address, sizeof(gpu->address), gtel_str_of(address));
    }
    if (gpu)
        gpu->search = tool->searches;
    return gpu;
}

/*
 * Counts the GPUs that a driver of AMD is bound to, and adds them to tool, which may be NULL.
 * -EEXIST where one of them has the driver's files: then another source reads them. Where none is
 * found, the error of a listing.
 */
static int find_gpus(const struct gtel_env *env, struct tool *tool)
{
    static const char *const drivers[] = {"amdgpu", "gim"};
    struct gtel_arena arena = {0};
    int found = 0;
    int error = 0;
    bool is_served = false;
    for (size_t d = 0; d < GTEL_ARRAY_LEN(drivers) && !is_served; d++) {
        struct gtel_str *name;
        size_t n;
        int r = gtel_fs_list(env, GTEL_FS_AT("sys/bus/pci/drivers/%s", drivers[d]), &arena,
                             GPUS_MAX, &name, &n);
        error = r < 0 && r != -ENOENT ? r : error;
        for (size_t i = 0; r == 0 && i < n && !is_served; i++) {
            struct gtel_pci pci;
            char address[GTEL_PCI_TEXT_MAX];
            if (gtel_pci_parse(name[i], &pci) < 0)
                continue;
            is_served = has_files(env, drivers[d], name[i]);
            gtel_pci_print(address, &pci);
            found += is_served || (tool && !add_gpu(tool, address, drivers[d])) ? 0 : 1;
        }
    }
    gtel_arena_done(&arena);
    return is_served ? -EEXIST : found > 0 ? found : error;
}

/* The first tool that is there, counted from that place of four on; NULL when there is none. */
static const char *find_tool(const struct gtel_env *env, size_t from)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(places); i++) {
        const char *path = places[(from + i) % GTEL_ARRAY_LEN(places)];
        if (gtel_fs_exists(env, path + 1))
            return path;
    }
    return NULL;
}

/* In WSL there is neither sysfs nor PCI, but a tool may be built for it. */
static bool is_wsl(const struct gtel_env *env)
{
    return gtel_fs_exists(env, "dev/dxg") && find_tool(env, 0);
}

static void register_gpu(struct tool *tool, struct gtel_registry *registry, struct tool_gpu *gpu)
{
    if (gtel_registry_add(registry, gtel_str_of(gpu->address), &gpu->device) < 0) {
        gpu->device = NULL;
        return;
    }
    gtel_device_label(registry, gpu->device, GTEL_LABEL_GPU, gtel_str_of(gpu->address));
    gtel_device_label(registry, gpu->device, GTEL_LABEL_VENDOR, GTEL_STR("amd"));
    gtel_device_label(registry, gpu->device, GTEL_LABEL_DRIVER, gtel_str_of(gpu->driver));
    if (!gpu->awake.is_open)
        (void)gtel_awake_open(tool->env, &gpu->awake,
                              GTEL_FS_AT("sys/bus/pci/drivers/%s/%s", gpu->driver,
                                         gpu->address)); /* else it counts as asleep */
}

/* As gtel_awake_look; all are awake where that does not matter. */
static int look(const struct tool *tool, const struct gtel_registry *registry,
                const struct tool_gpu *gpu, bool *ret_asleep)
{
    bool is_free = registry->cards->may_wake || tool->is_wsl;
    *ret_asleep = false;
    return is_free ? 0 : gtel_awake_look(tool->env, &gpu->awake, ret_asleep);
}

/* ---- runs ---- */

#define SECOND UINT64_C(1000000000)

enum { ARGS_MAX = 24 };

static const uint64_t period_ns = 10 * SECOND;
static const uint64_t duty = 20; /* so many times its run time lie between two runs */
static const uint64_t run_max_ns = 5 * SECOND;
static const uint64_t static_ns = 600 * SECOND; /* limits and names change rarely */
static const uint64_t step_ns = SECOND / 20;

static const char *const words[RUNS][ARGS_MAX] = {
    {"static", "--json"},
    {"metric", "--json"},
    {"metric", "--json"},
    {"--showuse", "--showmemuse", "--showmeminfo", "vram", "vis_vram", "gtt", "--showtemp",
     "--showpower", "--showmaxpower", "--showclocks", "--showfan", "--showvoltage", "--showbus",
     "--showproductname", "--showreplaycount", "--json"},
};

static void fail(struct tool *tool, int r, const char *why)
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

static void begin(struct tool *tool, enum run run)
{
    const char *args[ARGS_MAX + 1] = {tool->path};
    for (size_t i = 0; words[run][i]; i++)
        args[i + 1] = words[run][i];
    tool->run = run;
    gtel_buf_reset(&tool->output);
    tool->start_ns = gtel_env_now(tool->env);
    tool->due_ns = tool->start_ns + step_ns;
    int r = gtel_env_child_start(tool->env, args);
    if (r < 0)
        fail(tool, r, "cannot be started");
    else
        tool->child_plus_1 = r + 1;
}

/* A run is due. */
static void begin_first(struct tool *tool, const struct gtel_registry *registry)
{
    uint64_t now = gtel_env_now(tool->env);
    bool is_awake = true;
    tool->is_asleep = false;
    for (size_t i = 0; i < tool->n; i++) {
        bool is_asleep;
        int r = look(tool, registry, &tool->gpu[i], &is_asleep);
        tool->is_asleep = tool->is_asleep || (r == 0 && is_asleep);
        is_awake = is_awake && r == 0 && !is_asleep; /* not known: left alone */
    }
    tool->due_ns = now + period_ns;
    if (!is_awake)
        return;
    tool->path = tool->given.n > 0 ? tool->given.p : find_tool(tool->env, tool->place);
    if (!tool->path) {
        fail(tool, -ENOENT, "not found");
        return;
    }
    bool is_rocm = gtel_str_ends(gtel_str_of(tool->path), GTEL_STR("rocm-smi"));
    begin(tool, is_rocm ? ROCM : now < tool->names_due_ns ? METRIC : STATIC);
}

/* The GPU of a device that the tool lists. A partition's function is its number. */
static struct tool_gpu *gpu_of(struct tool *tool, struct gtel_registry *registry,
                               struct gtel_pci pci)
{
    char address[GTEL_PCI_TEXT_MAX];
    gtel_pci_print(address, &pci);
    struct tool_gpu *gpu = gpu_at(tool, address);
    if (!gpu && tool->is_wsl) {
        gpu = add_gpu(tool, address, "dxgkrnl");
        if (gpu)
            register_gpu(tool, registry, gpu);
    } else if (!gpu) {
        pci.function = 0;
        gtel_pci_print(address, &pci);
        gpu = gpu_at(tool, address);
        if (gpu)
            gpu->is_shared = true;
    }
    return gpu;
}

/* amd-smi numbers the devices of both answers, and has addresses in the first. */
static void add_names(const struct gtel_amd_tool_answer *names, struct gtel_amd_tool_device *device)
{
    size_t i = 0;
    while (i < names->n && names->device[i].index != device->index)
        i++;
    if (device->has_pci || i == names->n)
        return;
    struct gtel_amd_tool_device both = names->device[i];
    for (size_t row = 0; row < gtel_amd_tool_rows_n; row++)
        if ((device->has >> row & 1) != 0)
            both.value[row] = device->value[row];
    both.has |= device->has;
    *device = both;
}

/* Which device of the answer is which GPU. */
static void join(struct tool *tool, struct gtel_registry *registry)
{
    for (size_t i = 0; i < tool->n; i++) {
        tool->gpu[i].from = NULL;
        tool->gpu[i].is_shared = false;
    }
    for (size_t i = 0; i < tool->values.n; i++) {
        struct gtel_amd_tool_device *device = &tool->values.device[i];
        add_names(&tool->names, device);
        struct tool_gpu *gpu = device->has_pci ? gpu_of(tool, registry, device->pci) : NULL;
        if (!gpu)
            continue;
        gpu->is_shared = gpu->is_shared || gpu->from;
        if (gpu->from)
            continue;
        gpu->from = device;
        if (gpu->device)
            gtel_device_label(registry, gpu->device, GTEL_LABEL_MODEL, gtel_str_of(device->model));
    }
}

static void succeed(struct tool *tool, struct gtel_registry *registry)
{
    uint64_t now = gtel_env_now(tool->env);
    bool is_renumbered = tool->names.n != tool->values.n; /* a GPU came or went */
    if (tool->run == STATIC)
        tool->names_due_ns = now + static_ns;
    if (tool->run == STATIC || (tool->run == METRIC && is_renumbered)) {
        tool->valid_ns = 0; /* until both are joined again */
        begin(tool, tool->run == STATIC ? METRIC_AFTER_STATIC : STATIC);
        return;
    }
    tool->values_ns = now;
    join(tool, registry);
    uint64_t pause = (now - tool->start_ns) * duty;
    tool->due_ns = tool->start_ns + (pause > period_ns ? pause : period_ns);
    tool->valid_ns = tool->due_ns + 2 * run_max_ns + SECOND;
    tool->is_new = true;
    tool->pause = (struct gtel_backoff){0};
    gtel_failure_log(&tool->env->log, &tool->error, 0, "", "amd_tool: %s", tool->path);
}

/* The run is over: r is 0 when the tool has ended by itself. */
static void finish(struct tool *tool, struct gtel_registry *registry, int r)
{
    char why[200];
    int status = tool->env->ops->child_end(tool->env->arg, tool->child_plus_1 - 1);
    tool->child_plus_1 = 0;
    const struct gtel_str text = gtel_buf_text(&tool->output);
    struct gtel_amd_tool_answer *answer = tool->run == STATIC ? &tool->names : &tool->values;
    void *memory = r == 0 ? malloc(gtel_json_memory(text.n)) : NULL;
    if (r == 0)
        r = memory ? gtel_amd_tool_read(text, memory, answer) : -ENOMEM;
    free(memory);
    if (r == -ETIMEDOUT)
        (void)snprintf(why, sizeof(why), "did not end within 5 s");
    else if (r == -EFBIG)
        (void)snprintf(why, sizeof(why), "more than 2 MiB of output");
    else if (r == -EPROTO)
        (void)snprintf(why, sizeof(why), "it says: %s", answer->error);
    else
        (void)snprintf(why, sizeof(why), "no GPU in %zu bytes of output, exit status %d", text.n,
                       status);
    if (r < 0)
        fail(tool, r, why);
    else
        succeed(tool, registry);
}

/* Goes on with the run, or begins one that is due; waits at most wait_ns for output. */
static void advance(struct tool *tool, struct gtel_registry *registry, uint64_t wait_ns)
{
    char buf[16384];
    if (tool->child_plus_1 == 0 && gtel_env_now(tool->env) >= tool->due_ns)
        begin_first(tool, registry);
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

/* Ends the run, if there is one. */
static void stop(struct tool *tool)
{
    if (tool->child_plus_1 > 0)
        (void)tool->env->ops->child_end(tool->env->arg, tool->child_plus_1 - 1);
    tool->child_plus_1 = 0;
}

/* ---- the source ---- */

enum { OUTPUT_MAX = 2 << 20 };

static const uint64_t first_wait_ns = 4000000000;
static const uint64_t first_step_ns = 50000000;

static bool present(const struct gtel_env *env)
{
    return find_gpus(env, NULL) > 0 || is_wsl(env);
}

static void emit(const struct tool *tool, const struct tool_gpu *gpu, struct gtel_batch *batch)
{
    const struct gtel_amd_tool_device *from = gpu->from;
    for (size_t i = 0; i < gtel_amd_tool_rows_n; i++) {
        const struct gtel_amd_tool_row *row = &gtel_amd_tool_rows[i];
        const struct gtel_metric_row *metric = gtel_metric_row(row->metric);
        const struct gtel_str part = gtel_str_of(row->part);
        bool is_old = metric->kind == GTEL_KIND_COUNTER && !tool->is_new;
        if ((from->has >> i & 1) == 0 || is_old ||
            (gpu->is_shared && row->of == GTEL_AMD_TOOL_PART))
            continue;
        double value = from->value[i] * row->scale;
        if (row->metric == GTEL_M_ERROR_COUNT)
            gtel_batch_error(batch, gpu->device, GTEL_STR("ecc"), part, (uint64_t)(value + 0.5));
        else
            gtel_batch_number(batch, gpu->device, row->metric, part, value);
    }
}

/* 0, or why it is not known whether the GPU sleeps. */
static int sample_gpu(const struct tool *tool, const struct gtel_registry *registry,
                      const struct tool_gpu *gpu, struct gtel_batch *batch)
{
    bool is_asleep;
    int r = look(tool, registry, gpu, &is_asleep);
    gpu->device->is_asleep = r == 0 && is_asleep;
    if (r < 0 || gtel_error_is_broken(tool->error))
        gtel_batch_failed(batch, gpu->device);
    if (r == 0 && !tool->is_wsl)
        gtel_batch_u64(batch, gpu->device, GTEL_M_GPU_AWAKE, GTEL_STR_NONE, !is_asleep);
    if (r < 0 || is_asleep || !gpu->from || gtel_env_now(tool->env) > tool->valid_ns)
        return r;
    batch->t_ns = tool->values_ns;
    emit(tool, gpu, batch);
    return 0;
}

static int sample(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct tool *tool = state;
    bool is_needed = tool->n > 0 || tool->is_wsl;
    bool is_removed = false;
    uint64_t first_ns = gtel_env_now(tool->env);
    if (is_needed)
        advance(tool, registry, 0);
    while (!tool->has_waited && tool->child_plus_1 > 0 &&
           gtel_env_now(tool->env) < first_ns + first_wait_ns)
        advance(tool, registry, first_step_ns);
    tool->has_waited = true;
    batch->origin = tool->run == ROCM;
    for (size_t i = 0; i < tool->n; i++) {
        struct tool_gpu *gpu = &tool->gpu[i];
        batch->t_ns = gtel_env_now(tool->env);
        if (!gpu->device || sample_gpu(tool, registry, gpu, batch) != -ENODEV)
            continue;
        gtel_awake_close(tool->env, &gpu->awake); /* for the discovery to open */
        is_removed = true;
    }
    tool->is_new = false;
    return is_removed ? -ENODEV : 0;
}

static uint64_t due_ns(const void *state)
{
    const struct tool *tool = state;
    return tool->has_waited && (tool->n > 0 || tool->is_wsl) ? tool->due_ns : 0;
}

static int tick(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    (void)batch;
    advance(state, registry, 0);
    return 0;
}

static int open_tool(void *state, const struct gtel_env *env, const struct gtel_options *options)
{
    struct tool *tool = state;
    if (!present(env))
        return -ENOENT;
    tool->given = gtel_option_text(options, GTEL_O_AMD_TOOL);
    tool->env = env;
    gtel_buf_init(&tool->output, OUTPUT_MAX);
    return 0;
}

static int discover(void *state, struct gtel_registry *registry)
{
    struct tool *tool = state;
    size_t kept = 0;
    tool->searches++;
    int found = find_gpus(tool->env, tool);
    bool is_served = found == -EEXIST;
    tool->is_wsl = found <= 0 && is_wsl(tool->env);
    for (size_t i = 0; i < tool->n; i++) {
        struct tool_gpu *gpu = &tool->gpu[i];
        if ((!is_served && (gpu->search == tool->searches || found < 0)) || tool->is_wsl) {
            register_gpu(tool, registry, gpu);
            tool->gpu[kept++] = *gpu;
            continue;
        }
        tool->names_due_ns = 0;
        gtel_awake_close(tool->env, &gpu->awake);
        if (gpu->device && !is_served) /* else another source has it now */
            gtel_registry_lost(registry, gpu->device);
    }
    tool->n = kept;
    if (kept == 0)
        stop(tool);
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
    const struct tool *tool = state;
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
    struct tool *tool = state;
    if (!tool->env)
        return;
    stop(tool);
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
    .origins = origins,
    .state_size = sizeof(struct tool),
    .present = present,
    .open = open_tool,
    .discover = discover,
    .sample = sample,
    .due_ns = due_ns,
    .tick = tick,
    .diagnose = diagnose,
    .close = close_tool,
};
