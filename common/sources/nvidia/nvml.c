/* SPDX-License-Identifier: MIT */
/* NVIDIA GPUs through NVML: the source. */
#include "sources/nvidia/nvml.h"

#include <errno.h>
#include <stdlib.h>

static bool present(const struct gtel_env *env)
{
    return gtel_fs_exists(env, "dev/nvidiactl") || gtel_fs_exists(env, "dev/dxg") ||
           gtel_fs_exists(env, "proc/driver/nvidia/version") ||
           gtel_fs_exists(env, "sys/module/nvidia");
}

static const struct gtel_source_library library = {
    .name = "NVML",
    .soname = "libnvidia-ml.so.1",
    .fix =
        "install the driver's library (libnvidia-ml1 on Debian; part of NVIDIA's driver package)",
    .is_wanted = present,
    .find = gtel_nvml_find_library};

/* The library is opened by the first discovery: a sleeping GPU is to be seen before that. */
static int open_source(void *state, const struct gtel_env *env, const struct gtel_options *options)
{
    struct gtel_nvml *nvml = state;
    nvml->env = env;
    nvml->may_wake = gtel_option_may_wake(options);
    return 0;
}

/* All GPUs are out of reach: those that sleep may well be there. */
static void lose_all(struct gtel_nvml *nvml, struct gtel_registry *registry)
{
    for (size_t i = 0; i < nvml->n; i++)
        if (!nvml->gpu[i]->device->is_asleep)
            gtel_registry_lost(registry, nvml->gpu[i]->device);
}

static void give_up(struct gtel_nvml *nvml, struct gtel_registry *registry)
{
    gtel_nvml_fail(nvml, nvml->broken);
    lose_all(nvml, registry);
}

static int discover(void *state, struct gtel_registry *registry)
{
    struct gtel_nvml *nvml = state;
    gtel_nvml_find(nvml, registry);
    if (nvml->broken)
        give_up(nvml, registry);
    return 0;
}

/* Looks who sleeps, and reports it. *ret_has_woken: someone does no longer. True when all sleep. */
static bool sample_sleep(struct gtel_nvml *nvml, struct gtel_batch *batch, bool *ret_has_woken)
{
    bool has_woken = false;
    size_t asleep = 0;
    batch->origin = GTEL_NVML_ORIGIN_SYSFS;
    for (size_t i = 0; i < nvml->n; i++) {
        struct gtel_nvml_gpu *gpu = nvml->gpu[i];
        if (gpu->is_lost)
            continue;
        bool was_asleep = gpu->device->is_asleep;
        gpu->device->is_asleep = gtel_nvml_is_asleep(nvml, gpu);
        if (gpu->device->is_asleep) {
            asleep++;
            nvml->rest_ns = 0; /* it has done its work */
            nvml->patience_ns = 0;
            gtel_batch_u64(batch, gpu->device, GTEL_M_GPU_AWAKE, GTEL_STR_NONE, 0);
        } else if (!gpu->handle) {
            has_woken = has_woken || was_asleep;
            if (nvml->rest_ns != 0)
                gtel_batch_u64(batch, gpu->device, GTEL_M_GPU_AWAKE, GTEL_STR_NONE, 1);
        }
    }
    *ret_has_woken = has_woken;
    return asleep > 0 && asleep == nvml->n;
}

/* Whether to look for GPUs before this gather; the core asks for it each Rescan interval anyway. */
static bool should_find(const struct gtel_nvml *nvml, bool is_all_asleep, bool has_woken)
{
    if (nvml->is_running)
        return nvml->is_find_due || has_woken;
    return has_woken || (!is_all_asleep && gtel_env_now(nvml->env) >= nvml->retry_ns);
}

/*
 * Counters may begin at 0 again while the host sleeps, which looks like a wrap, and a window of
 * means holds time in which nothing was counted.
 */
static void forget_before_sleep(struct gtel_nvml *nvml)
{
    bool has_slept = gtel_env_has_slept(nvml->env, &nvml->suspended_ns);
    for (size_t i = 0; has_slept && i < nvml->n; i++) {
        gtel_nvml_gpm_forget(nvml->gpu[i]);
        gtel_nvml_pcie_forget(nvml->gpu[i]);
    }
}

/* Reads one GPU. -ENODEV when it has just been lost. */
static int sample_gpu(struct gtel_nvml *nvml, struct gtel_registry *registry,
                      struct gtel_nvml_gpu *gpu, struct gtel_batch *batch)
{
    if (!gpu->handle || gpu->is_lost || gpu->device->is_asleep)
        return 0;
    gtel_nvml_pass(nvml, gpu, batch);
    if (nvml->broken)
        return 0;
    if (gpu->is_lost) {
        gpu->handle = NULL;
        gtel_registry_lost(registry, gpu->device);
        return -ENODEV;
    }
    batch->origin = GTEL_NVML_ORIGIN_CALL;
    gtel_batch_u64(batch, gpu->device, GTEL_M_GPU_AWAKE, GTEL_STR_NONE, 1);
    gtel_nvml_emit(gpu, batch);
    gtel_nvml_gpm_pass(nvml, gpu, batch);
    gtel_nvml_pcie_pass(nvml, gpu, batch);
    return 0;
}

/*
 * Failures are dealt with in here, each as its code asks for, and counted by GPU: returning one
 * would stop the readings of all GPUs for a while.
 */
static int sample(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct gtel_nvml *nvml = state;
    int result = 0;
    bool has_woken = false;
    bool is_all_asleep = sample_sleep(nvml, batch, &has_woken);
    forget_before_sleep(nvml);
    if (should_find(nvml, is_all_asleep, has_woken))
        gtel_nvml_find(nvml, registry);
    for (size_t i = 0; i < nvml->n && nvml->is_running && !nvml->broken; i++) {
        int r = sample_gpu(nvml, registry, nvml->gpu[i], batch);
        if (r < 0)
            result = r;
    }
    if (nvml->broken) {
        give_up(nvml, registry);
    } else if (nvml->is_running) {
        nvml->pause_ns = 0;
        gtel_nvml_rest(nvml);
    }
    if (gtel_nvml_has_failed(nvml))
        gtel_batch_failed(batch, NULL);
    return result;
}

static void close_source(void *state)
{
    struct gtel_nvml *nvml = state;
    if (!nvml->env)
        return;
    gtel_nvml_stop(nvml);
    for (size_t i = 0; i < nvml->n; i++) {
        gtel_fs_close(nvml->env, &nvml->gpu[i]->runtime_status);
        free(nvml->gpu[i]);
    }
    nvml->n = 0;
}

static const char *const origins[] = {
    [GTEL_NVML_ORIGIN_CALL] = "NVML",
    [GTEL_NVML_ORIGIN_FIELD] = "NVML fields",
    [GTEL_NVML_ORIGIN_SYSFS] = "sysfs",
    [GTEL_NVML_ORIGIN_GPM] = "NVML GPM",
    NULL,
};

const struct gtel_source gtel_source_nvml = {
    .name = "nvml",
    .lane = "nvml",
    .vendor = "nvidia",
    .summary = "NVIDIA GPUs through NVML: use, memory, power, clocks, limits, errors, activity.",
    .needs = "libnvidia-ml.so.1 of driver 390 or newer; no special rights",
    .seen = "NVIDIA H200 and H100, driver 580.159: each figure beside nvidia-smi",
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
