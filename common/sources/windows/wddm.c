/* SPDX-License-Identifier: MIT */
/* Source wddm: the GPUs of Windows through its driver model, of every vendor. */
#include "sources/windows/wddm.h"

#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* In the folder of the system, and as recorded machines play it (host/pnp.c). */
static const char *const names[] = {"gdi32.dll", "libwddm.so", NULL};

static const struct gtel_dynlib_symbol symbols[] = {
#define GTEL_WDDM_SYM(name, result, params) {#name, offsetof(struct gtel_wddm_calls, name), false},
#include "abi/wddm_syms.def"
#undef GTEL_WDDM_SYM
};

int gtel_wddm_open(struct gtel_wddm *wddm, const struct gtel_env *env)
{
    int r = gtel_pnp_open(env, &wddm->pnp);
    if (r < 0)
        return r;
    wddm->env = env;
    (void)gtel_dynlib_open(env, &wddm->library, names, symbols, GTEL_ARRAY_LEN(symbols),
                           &wddm->call); /* without it sizes are known, at most */
    return 0;
}

void gtel_wddm_close(struct gtel_wddm *wddm)
{
    if (!wddm->env)
        return;
    gtel_wddm_forget(wddm);
    gtel_pnp_close(wddm->env, &wddm->pnp);
    gtel_dynlib_close(wddm->env, &wddm->library);
    wddm->env = NULL;
}

static int open_source(void *state, const struct gtel_env *env, const struct gtel_options *options)
{
    struct gtel_wddm *wddm = state;
    wddm->options = options;
    return gtel_wddm_open(wddm, env);
}

static int discover(void *state, struct gtel_registry *registry)
{
    return gtel_wddm_find(state, registry);
}

/* Of a GPU in D0. -ENODEV when it must be searched for. */
static int sample_awake(const struct gtel_wddm *wddm, struct gtel_registry *registry,
                        struct gtel_wddm_gpu *gpu, struct gtel_batch *batch)
{
    int r = 0;
    gtel_batch_u64(batch, gpu->device, GTEL_M_GPU_AWAKE, GTEL_STR_NONE, 1);
    if (gpu->has_slept)
        gpu->adapter.backoff = (struct gtel_backoff){0};
    gpu->has_slept = false;
    gtel_wddm_adapter_open(wddm, gpu);
    if (gpu->adapter.state == GTEL_WDDM_NO_GPU) {
        gtel_registry_lost(registry, gpu->device);
        gpu->device = NULL;
        return 0;
    }
    if (gpu->adapter.state == GTEL_WDDM_OPEN) {
        const struct gtel_luid luid = gpu->adapter.luid;
        gpu->device->luid = (uint64_t)(uint32_t)luid.high << 32 | luid.low;
        r = gtel_wddm_adapter_sample(wddm, gpu, batch);
    }
    if (r < 0)
        gtel_wddm_adapter_close(wddm, gpu);
    if (r < 0 || gtel_error_is_broken(gpu->adapter.error))
        gtel_batch_failed(batch, gpu->device);
    return r;
}

/*
 * What is known without a call to the driver; the size of a GPU that has shared memory alone is of
 * a part of the host's.
 */
static void sample_size(const struct gtel_wddm_gpu *gpu, struct gtel_batch *batch)
{
    batch->origin = GTEL_WDDM_ORIGIN_REGISTRY;
    if (gpu->adapter.total[0] == 0 && gpu->adapter.total[1] == 0 && gpu->registry_size > 0)
        gtel_batch_u64(batch, gpu->device, GTEL_M_MEMORY_TOTAL, GTEL_STR("vram"),
                       gpu->registry_size);
}

/* False: it must be searched for. */
static bool sample_gpu(const struct gtel_wddm *wddm, struct gtel_registry *registry,
                       struct gtel_wddm_gpu *gpu, struct gtel_batch *batch)
{
    bool was_known = gpu->power != 0;
    batch->t_ns = gtel_env_now(wddm->env);
    batch->origin = GTEL_WDDM_ORIGIN_WDDM;
    gpu->power = gtel_pnp_power(&wddm->pnp, &gpu->pnp.info);
    bool is_known = gpu->power != 0;
    gpu->device->is_left_alone = gpu->power != GTEL_POWER_D0;
    if (!is_known) { /* as one that sleeps, for all that is known */
        gtel_batch_failed(batch, gpu->device);
        sample_size(gpu, batch);
        return !was_known;
    }
    if (gpu->power != GTEL_POWER_D0) {
        gpu->has_slept = true;
        gtel_batch_u64(batch, gpu->device, GTEL_M_GPU_AWAKE, GTEL_STR_NONE, 0);
        return true;
    }
    if (sample_awake(wddm, registry, gpu, batch) < 0)
        return false;
    if (gpu->device)
        sample_size(gpu, batch);
    return true;
}

static int sample(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct gtel_wddm *wddm = state;
    bool is_due = wddm->retries > 0 && wddm->retries <= GTEL_WDDM_RETRIES;
    for (size_t i = 0; i < wddm->n; i++)
        if (wddm->gpu[i]->device && !sample_gpu(wddm, registry, wddm->gpu[i], batch))
            is_due = true;
    return is_due ? -ENODEV : 0;
}

/* ---- doctor ---- */

/* Calls that this Windows lacks, and what goes with them. */
static void diagnose_calls(const struct gtel_wddm *wddm, struct gtel_findings *findings)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(symbols); i++) {
        void *address;
        memcpy(&address, (const char *)&wddm->call + symbols[i].offset, sizeof(address));
        const char *const text[3] = {
            symbols[i].name, "this Windows does not have it; Windows 10 1803 and newer do", NULL};
        if (!address)
            gtel_finding_put(findings, NULL, GTEL_MEASUREMENT_GPU, 0, text);
    }
}

/* Worth a word where nothing else says how busy the GPU is. */
static void diagnose_engines(const struct gtel_wddm_gpu *gpu, struct gtel_findings *findings)
{
    static const char *const still[3] = {
        "running time of some engines",
        "it has not moved: they did nothing, or the driver does not count", NULL};
    for (uint32_t i = 0; i < gpu->adapter.nodes; i++) {
        const struct gtel_wddm_node *node = &gpu->adapter.node[i];
        if (node->kind != GTEL_ENGINE_KINDS && !node->has_moved)
            gtel_finding_put_lack(findings, gpu->device, GTEL_MEASUREMENT_GPU_ENGINE,
                                  GTEL_M_GPU_BUSY, 0, still);
    }
}

static void diagnose_gpu(const struct gtel_wddm *wddm, const struct gtel_wddm_gpu *gpu,
                         struct gtel_findings *findings)
{
    static const char *const no_power[3] = {
        "DEVPKEY_Device_PowerData", "the power state is not known, so that the GPU is left alone",
        NULL};
    static const char *const no_open[3] = {"D3DKMTOpenAdapterFromDeviceName", NULL, NULL};
    static const char *const no_adapter[3] = {
        "GUID_DISPLAY_DEVICE_ARRIVAL",
        "the device has no such interface: its driver has failed, "
        "or is none of the driver model's",
        NULL};
    static const char *const no_statistics[3] = {
        "D3DKMTQueryStatistics", "it succeeds and says nothing, or is not supported", NULL};
    const struct gtel_wddm_adapter *adapter = &gpu->adapter;
    if (gpu->power == 0)
        gtel_finding_put_lack(findings, gpu->device, GTEL_MEASUREMENT_GPU, GTEL_M_GPU_AWAKE, 0,
                              no_power);
    if (gpu->power != GTEL_POWER_D0 || !wddm->call.D3DKMTOpenAdapterFromDeviceName)
        return;
    if (adapter->error == -ENOENT)
        gtel_finding_put(findings, gpu->device, GTEL_MEASUREMENT_GPU_ENGINE, 0, no_adapter);
    else if (adapter->error < 0)
        gtel_finding_put(findings, gpu->device, GTEL_MEASUREMENT_GPU_ENGINE, adapter->error,
                         no_open);
    else if (adapter->nodes == 0)
        gtel_finding_put(findings, gpu->device, GTEL_MEASUREMENT_GPU_ENGINE, 0, no_statistics);
    else
        diagnose_engines(gpu, findings);
}

/* GPUs that are down, as of the last search. */
static void diagnose_failed(const struct gtel_wddm *wddm, const struct gtel_registry *registry,
                            struct gtel_findings *findings)
{
    struct gtel_pnp_gpu pnp;
    int got = 0;
    for (uint32_t i = 0; got != 1; i++) {
        got = gtel_pnp_get(&wddm->pnp, i, &pnp);
        const struct gtel_device *device = gtel_registry_find(registry, gtel_str_of(pnp.key));
        const struct gtel_finding_place at = {findings, device, GTEL_MEASUREMENT_GPU};
        if (got == -ENODEV && device)
            gtel_finding_say(&at, pnp.key, "see the GPU's state in the Device Manager",
                             "Windows does not use this GPU: code %" PRIu32, pnp.problem);
    }
}

static void diagnose(void *state, struct gtel_registry *registry, struct gtel_findings *findings)
{
    const struct gtel_wddm *wddm = state;
    diagnose_calls(wddm, findings);
    diagnose_failed(wddm, registry, findings);
    for (size_t i = 0; i < wddm->n; i++)
        if (wddm->gpu[i]->device)
            diagnose_gpu(wddm, wddm->gpu[i], findings);
}

static void close_source(void *state)
{
    gtel_wddm_close(state);
}

static const char *const origins[] = {
    [GTEL_WDDM_ORIGIN_WDDM] = "WDDM", [GTEL_WDDM_ORIGIN_REGISTRY] = "registry", NULL};

const struct gtel_source gtel_source_wddm = {
    .name = "wddm",
    .lane = "kernel",
    .vendor = "drm",
    .summary = "GPUs under Windows, of every vendor: power state, memory, engines, clocks, "
               "temperature, fan, resets, as far as their drivers report it",
    .needs = "Windows 10 1803, Windows Server 2019 or newer; no rights",
    .origins = origins,
    .state_size = sizeof(struct gtel_wddm),
    .present = gtel_pnp_is_there,
    .open = open_source,
    .discover = discover,
    .sample = sample,
    .diagnose = diagnose,
    .close = close_source,
};
