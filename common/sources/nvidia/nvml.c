/* SPDX-License-Identifier: MIT */
/* NVIDIA GPUs through NVML: the source. */
#include "sources/nvidia/nvml.h"

#include "host/process.h"
#include "sources/drm/cards.h"

#include <errno.h>
#include <stdlib.h>

static bool present(const struct gtel_env *env)
{
    char dll[GTEL_FS_PATH_MAX];
    return gtel_fs_exists(env, "dev/nvidiactl") || gtel_fs_exists(env, "dev/dxg") ||
           gtel_fs_exists(env, "proc/driver/nvidia/version") ||
           gtel_fs_exists(env, "sys/module/nvidia") || gtel_nvml_find_dll(env, dll, sizeof(dll));
}

static const struct gtel_source_library library = {
    .name = "NVML",
    .soname = "libnvidia-ml.so.1",
    .fix =
        "install the driver's library (libnvidia-ml1 on Debian; part of NVIDIA's driver package)",
    .is_wanted = present,
    .find = gtel_nvml_find_library};

/* The library is opened by the first discovery: a sleeping GPU must be known before that. */
static int open_source(void *state, const struct gtel_env *env, const struct gtel_options *options)
{
    struct gtel_nvml *nvml = state;
    nvml->env = env;
    nvml->library.env = env;
    nvml->library.options = options;
    if (gtel_process_namespace(env) == GTEL_NAMESPACE_OTHER)
        nvml->room.pids = GTEL_NVML_PIDS_FOREIGN;
    if (gtel_fs_exists(env, "dev/dxg"))
        nvml->room.pids = GTEL_NVML_PIDS_WINDOWS;
    return 0;
}

/* Ends NVML, with all that was held in it. registry: NULL when it ends as well. */
static void stop(struct gtel_nvml *nvml, struct gtel_registry *registry)
{
    gtel_nvml_events_done(nvml);
    for (size_t i = 0; i < nvml->n; i++) {
        gtel_nvml_mig_remove(&nvml->library.call, registry, nvml->gpu[i]);
        gtel_nvml_gpm_done(&nvml->library.call, &nvml->gpu[i]->gpm);
        gtel_nvml_gpu_forget(nvml->gpu[i]);
        nvml->gpu[i]->handle = NULL;
    }
    gtel_nvml_stop(&nvml->library);
}

/* NVML does not work: all GPUs are out of reach, but those that sleep may well be there. */
static void give_up(struct gtel_nvml *nvml, struct gtel_registry *registry)
{
    int code = nvml->library.broken;
    stop(nvml, registry);
    gtel_nvml_fail(&nvml->library, code);
    for (size_t i = 0; i < nvml->n; i++)
        if (!nvml->gpu[i]->device->is_asleep)
            gtel_registry_lost(registry, nvml->gpu[i]->device);
}

static int discover(void *state, struct gtel_registry *registry)
{
    struct gtel_nvml *nvml = state;
    gtel_nvml_find(nvml, registry);
    if (nvml->library.broken)
        give_up(nvml, registry);
    return 0;
}

/* Reports who sleeps. *ret_has_woken: one does no longer. True when all sleep. */
static bool sample_sleep(struct gtel_nvml *nvml, bool may_wake, struct gtel_batch *batch,
                         bool *ret_has_woken)
{
    size_t asleep = 0;
    size_t available = 0;
    *ret_has_woken = false;
    batch->origin = GTEL_NVML_ORIGIN_SYSFS;
    for (size_t i = 0; i < nvml->n; i++) {
        struct gtel_nvml_gpu *gpu = nvml->gpu[i];
        if (gpu->is_unavailable)
            continue;
        available++;
        bool was_asleep = gpu->device->is_asleep;
        gpu->device->is_asleep = !may_wake && gtel_nvml_is_asleep(nvml->env, gpu);
        if (gpu->device->is_asleep) {
            asleep++;
            if (!was_asleep)
                nvml->sleep.wait_ns = 0; /* it was worth the while */
            gtel_nvml_add_awake(gpu, batch, 0);
        } else if (!gpu->handle) {
            *ret_has_woken = *ret_has_woken || was_asleep;
            if (nvml->sleep.closed_ns != 0)
                gtel_nvml_add_awake(gpu, batch, 1);
        }
    }
    bool is_all_asleep = asleep > 0 && asleep == available;
    if (is_all_asleep)
        nvml->sleep = (struct gtel_nvml_sleep){0};
    return is_all_asleep;
}

/* Whether to find GPUs before this gather; the core asks for it each Rescan interval anyway. */
static bool should_find(const struct gtel_nvml *nvml, bool is_all_asleep, bool has_woken)
{
    uint64_t now = gtel_env_now(nvml->env);
    if (nvml->library.is_running)
        return has_woken ||
               (nvml->find_pause.pause > 0 && !gtel_backoff_is_waiting(&nvml->find_pause, now));
    return has_woken || (!is_all_asleep && !gtel_backoff_is_waiting(&nvml->library.backoff, now));
}

/*
 * Counters may begin at 0 again while the host sleeps, which looks like a wrap, and a window of
 * means holds time in which nothing was counted.
 */
static void forget_before_sleep(struct gtel_nvml *nvml)
{
    bool has_slept = gtel_env_has_slept(nvml->env, &nvml->suspended_ns);
    for (size_t i = 0; has_slept && i < nvml->n; i++) {
        gtel_nvml_gpm_forget(&nvml->gpu[i]->gpm);
        for (size_t k = 0; k < nvml->gpu[i]->mig.n; k++)
            gtel_nvml_gpm_forget(&nvml->gpu[i]->mig.instance[k]->gpm);
        gtel_nvml_pcie_forget(&nvml->gpu[i]->pcie);
    }
}

/*
 * Whether all GPUs that are read do nothing, and one of them may suspend: an open handle keeps it
 * awake. Then those that may not are not read either, for as long as it takes to fall asleep.
 */
static bool is_idle(const struct gtel_nvml *nvml)
{
    size_t used = 0;
    for (size_t i = 0; i < nvml->n; i++) {
        const struct gtel_nvml_gpu *gpu = nvml->gpu[i];
        if (!gpu->handle || gpu->is_unavailable || gpu->device->is_asleep)
            continue;
        if (!gtel_nvml_gpu_is_idle(gpu))
            return false;
        used += gpu->may_suspend;
    }
    return used > 0;
}

static void sample_processes(struct gtel_nvml *nvml, struct gtel_nvml_gpu *gpu,
                             struct gtel_batch *batch)
{
    if (!gpu->is_unavailable && !nvml->library.broken)
        gtel_nvml_processes_sample(&nvml->library, &nvml->room, gpu, batch);
}

/* The MIG instances of a GPU. Processes are those of instances, where there are any. */
static void sample_instances(struct gtel_nvml *nvml, struct gtel_registry *registry,
                             struct gtel_nvml_gpu *gpu, struct gtel_batch *batch)
{
    gtel_nvml_mig_update(&nvml->library, registry, gpu, batch);
    for (size_t i = 0; i < gpu->mig.n && !nvml->library.broken; i++) {
        if (!gpu->mig.instance[i]->handle)
            continue;
        gtel_nvml_mig_sample(&nvml->library, gpu->mig.instance[i], batch);
        sample_processes(nvml, gpu->mig.instance[i], batch);
    }
    if (gpu->mig.n == 0)
        sample_processes(nvml, gpu, batch);
}

/* Reads all GPUs that may be read. -ENODEV when one has just become unavailable. */
static int sample_gpus(struct gtel_nvml *nvml, struct gtel_registry *registry,
                       struct gtel_batch *batch)
{
    int result = 0;
    for (size_t i = 0; i < nvml->n && !nvml->library.broken; i++) {
        struct gtel_nvml_gpu *gpu = nvml->gpu[i];
        if (!gpu->handle || gpu->is_unavailable || gpu->device->is_asleep)
            continue;
        gpu->turn_ns = GTEL_NVML_MINUTE_NS * i / nvml->n;
        gtel_nvml_gpu_sample(&nvml->library, gpu, batch);
        if (!gpu->is_unavailable && !nvml->library.broken) {
            gtel_nvml_events_emit(gpu, batch);
            sample_instances(nvml, registry, gpu, batch);
        }
        if (!gpu->is_unavailable)
            continue;
        nvml->events_due_ns = 0;     /* a set with this GPU is replaced without a pause */
        gtel_nvml_events_read(nvml); /* the call that finds the loss may be what raises its Xid */
        gtel_nvml_mig_remove(&nvml->library.call, registry, gpu);
        gpu->handle = NULL;
        gpu->xids.watch = GTEL_NVML_WATCH_NOT_ASKED;
        gtel_registry_lost(registry, gpu->device);
        result = -ENODEV;
    }
    return result;
}

/* Counts go on while a GPU is unavailable: the Xid of its loss is the one that matters. */
static void emit_unavailable(const struct gtel_nvml *nvml, struct gtel_batch *batch)
{
    batch->t_ns = gtel_env_now(nvml->env);
    for (size_t i = 0; i < nvml->n; i++)
        if (nvml->gpu[i]->is_unavailable)
            gtel_nvml_events_emit(nvml->gpu[i], batch);
}

/* Whether NVML should work and does not: its GPUs were known, or it answers an error. */
static bool has_failed(const struct gtel_nvml *nvml)
{
    int trouble = nvml->library.trouble;
    return trouble < 0 ? nvml->n > 0 : trouble != 0;
}

/*
 * Failures are handled in here, each as its code asks for, and counted by GPU: returning one would
 * stop the readings of all GPUs for a while.
 */
static int sample(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct gtel_nvml *nvml = state;
    int result = 0;
    bool has_woken;
    bool is_all_asleep = sample_sleep(nvml, registry->cards->may_wake, batch, &has_woken);
    forget_before_sleep(nvml);
    if (should_find(nvml, is_all_asleep, has_woken))
        gtel_nvml_find(nvml, registry);
    if (nvml->library.is_running)
        gtel_nvml_events_read(nvml);
    if (nvml->library.is_running)
        result = sample_gpus(nvml, registry, batch);
    if (nvml->library.broken) {
        give_up(nvml, registry);
    } else if (nvml->library.is_running) {
        gtel_nvml_works(&nvml->library);
        bool may_sleep = !registry->cards->may_wake && is_idle(nvml);
        if (gtel_nvml_sleep_begin(&nvml->sleep, may_sleep, gtel_env_now(nvml->env)))
            stop(nvml, registry);
    }
    emit_unavailable(nvml, batch);
    if (has_failed(nvml))
        gtel_batch_failed(batch, NULL);
    return result;
}

static void close_source(void *state)
{
    struct gtel_nvml *nvml = state;
    if (!nvml->env)
        return;
    stop(nvml, NULL);
    for (size_t i = 0; i < nvml->n; i++) {
        gtel_awake_close(nvml->env, &nvml->gpu[i]->awake);
        gtel_nvml_processes_done(&nvml->gpu[i]->processes);
        free(nvml->gpu[i]);
    }
    nvml->n = 0;
    free(nvml->room.bytes);
    nvml->room = (struct gtel_nvml_process_room){0};
}

static const char *const origins[] = {
    [GTEL_NVML_ORIGIN_CALL] = "NVML",         [GTEL_NVML_ORIGIN_FIELD] = "NVML fields",
    [GTEL_NVML_ORIGIN_SYSFS] = "sysfs",       [GTEL_NVML_ORIGIN_GPM] = "NVML GPM",
    [GTEL_NVML_ORIGIN_EVENT] = "NVML events", NULL,
};

const struct gtel_source gtel_source_nvml = {
    .name = "nvml",
    .lane = "nvml",
    .vendor = "nvidia",
    .summary = "NVIDIA GPUs through NVML: use, memory, power, clocks, limits, health, errors, "
               "activity, links, processes.",
    .needs = "libnvidia-ml.so.1 of driver 390 or newer; no special rights",
    .seen = "NVIDIA H200 and H100, driver 580.159: each value beside nvidia-smi; MIG not tried "
            "on hardware",
    .origins = origins,
    .state_size = sizeof(struct gtel_nvml),
    .library = &library,
    .present = present,
    .open = open_source,
    .discover = discover,
    .sample = sample,
    .diagnose = gtel_nvml_diagnose,
    .close = close_source,
};
