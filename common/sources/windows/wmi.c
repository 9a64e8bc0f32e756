/* SPDX-License-Identifier: MIT */
/*
 * Source wmi: the memory of GPUs whose size neither the driver model nor the registry knows.
 *
 * WMI cannot be asked about one device: it is asked about all, between two gathers, while no GPU
 * sleeps, and only where a GPU lacks a size.
 */
#include "base/error.h"
#include "host/fs.h"
#include "parse/utf16.h"
#include "sources/windows/wddm.h"

#include <errno.h>
#include <stdlib.h>

enum { TEXT_SIZE = 32768 };

struct wmi {
    struct gtel_wddm wddm; /* a second one: that of source wddm is another process's */
    uint64_t due_ns;       /* when WMI is to be asked; 0: not now */
    bool is_capped; /* the last answer had one of 4 GiB less 1 MiB or more, which is no size */
    int error;      /* of the last answer */
};

static const char *const origins[] = {"WMI", NULL};

/* Whether only WMI can know it; no memory of its own is an answer, too. */
static bool lacks_size(const struct gtel_wddm_gpu *gpu)
{
    return gpu->device && gpu->adapter.state != GTEL_WDDM_NO_GPU && gpu->registry_size == 0 &&
           gpu->adapter.total[0] == 0 && gpu->adapter.total[1] == 0;
}

/* Without a call of the driver, which may block: the helper makes these. */
static bool present(const struct gtel_env *env)
{
    struct gtel_pnp pnp = {0};
    struct gtel_pnp_gpu gpu;
    bool lacks_one = false;
    bool is_listed = gtel_pnp_is_there(env) && gtel_fs_exists(env, GTEL_WMI_CONTROLLERS) &&
                     gtel_pnp_open(env, &pnp) == 0 && gtel_pnp_list(&pnp) == 0;
    int got = is_listed ? 0 : 1;
    for (uint32_t i = 0; got != 1 && !lacks_one; i++) {
        got = gtel_pnp_get(&pnp, i, &gpu);
        lacks_one = got == 0 && gtel_pnp_registry_size(&pnp, &gpu.info) == 0;
    }
    gtel_pnp_close(env, &pnp);
    return lacks_one;
}

static int open_wmi(void *state, const struct gtel_env *env, const struct gtel_options *options)
{
    struct wmi *wmi = state;
    (void)options;
    return gtel_wddm_open(&wmi->wddm, env);
}

/* ---- what it answers ---- */

/* AdapterRAM has 32 bits, and 4 GiB less 1 MiB of any larger card (oshi, issue 2521). */
static uint64_t size_of(struct wmi *wmi, struct gtel_str text)
{
    static const uint64_t capped = 0xfff00000;
    uint64_t bytes;
    if (gtel_str_u64(text, &bytes) < 0)
        return 0;
    wmi->is_capped = wmi->is_capped || bytes >= capped;
    return bytes < capped ? bytes : 0;
}

/* The GPU of that instance id, which has upper and lower case alike, if it lacks a size. */
static struct gtel_wddm_gpu *gpu_of(const struct wmi *wmi, struct gtel_str id)
{
    char text[GTEL_PNP_ID_MAX * 3];
    for (size_t i = 0; i < wmi->wddm.n; i++) {
        struct gtel_wddm_gpu *gpu = wmi->wddm.gpu[i];
        if (gtel_str_same(gtel_utf16_text(gpu->pnp.id, GTEL_PNP_ID_MAX, text, sizeof(text)), id))
            return lacks_size(gpu) && gpu->wmi_size == 0 ? gpu : NULL;
    }
    return NULL;
}

static void read_answer(struct wmi *wmi, struct gtel_registry *registry, struct gtel_str text)
{
    static const struct gtel_str id = GTEL_STR_INIT("PNPDeviceID: ");
    static const struct gtel_str name = GTEL_STR_INIT("Name: ");
    static const struct gtel_str ram = GTEL_STR_INIT("AdapterRAM: ");
    struct gtel_wddm_gpu *gpu = NULL;
    struct gtel_str model = GTEL_STR_NONE;
    struct gtel_str line;
    while (gtel_str_line(&text, &line)) {
        if (gtel_str_starts(line, id)) {
            gpu = gpu_of(wmi, gtel_str_skip(line, id.n));
            model = GTEL_STR_NONE;
        } else if (gtel_str_starts(line, name)) {
            model = gtel_str_skip(line, name.n);
        } else if (gtel_str_starts(line, ram) && gpu) {
            uint64_t bytes = size_of(wmi, gtel_str_skip(line, ram.n));
            gpu->wmi_size = gtel_wddm_is_invented(gpu, bytes) ? 0 : bytes;
            /* where Plug and Play has no name of it */
            gtel_device_label(registry, gpu->device, GTEL_LABEL_MODEL, model);
            gpu = NULL;
        }
    }
}

/* ---- the source ---- */

static int discover(void *state, struct gtel_registry *registry)
{
    struct wmi *wmi = state;
    int r = gtel_wddm_find(&wmi->wddm, registry);
    wmi->due_ns = 0;
    for (size_t i = 0; i < wmi->wddm.n; i++) {
        struct gtel_wddm_gpu *gpu = wmi->wddm.gpu[i];
        gtel_wddm_adapter_close(&wmi->wddm, gpu);
        if (lacks_size(gpu) && gpu->wmi_size == 0)
            wmi->due_ns = gtel_env_now(wmi->wddm.env);
    }
    return r;
}

static uint64_t due_ns(const void *state)
{
    return ((const struct wmi *)state)->due_ns;
}

/*
 * What it does to a GPU that sleeps is not known: while one does, nothing is asked before the next
 * gather. One that slept until now may have a size after all.
 */
static int ask(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct wmi *wmi = state;
    const struct gtel_wddm *wddm = &wmi->wddm;
    struct gtel_str text;
    (void)batch;
    for (size_t i = 0; i < wddm->n; i++)
        if (gtel_pnp_power(&wddm->pnp, &wddm->gpu[i]->pnp.info) != GTEL_POWER_D0)
            return 0;
    int r = discover(wmi, registry);
    if (r < 0 || wmi->due_ns == 0)
        return r < 0 ? -ENODEV : 0;
    char *buf = malloc(TEXT_SIZE);
    wmi->error =
        buf ? gtel_fs_text(wddm->env, GTEL_WMI_CONTROLLERS, buf, TEXT_SIZE, &text) : -ENOMEM;
    wmi->due_ns = 0;
    wmi->is_capped = false;
    if (wmi->error == 0)
        read_answer(wmi, registry, text);
    free(buf);
    return 0;
}

static int sample(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    const struct wmi *wmi = state;
    int r = gtel_error_is_broken(wmi->error) ? wmi->error : 0;
    (void)registry;
    for (size_t i = 0; i < wmi->wddm.n; i++) {
        const struct gtel_wddm_gpu *gpu = wmi->wddm.gpu[i];
        uint32_t power = gtel_pnp_power(&wmi->wddm.pnp, &gpu->pnp.info);
        if (power == 0 && gpu->power != 0)
            r = -ENODEV; /* it may be removed */
        if (power == GTEL_POWER_D0 && gpu->wmi_size > 0 && lacks_size(gpu))
            gtel_batch_u64(batch, gpu->device, GTEL_M_MEMORY_TOTAL, GTEL_STR("vram"),
                           gpu->wmi_size);
    }
    return r;
}

static void diagnose(void *state, struct gtel_registry *registry, struct gtel_findings *findings)
{
    const struct wmi *wmi = state;
    const char *const text[3] = {
        "WMI, Win32_VideoController",
        wmi->is_capped ? "AdapterRAM is 4 GiB or more, which it has no room for" : NULL, NULL};
    (void)registry;
    if (wmi->error < 0 || wmi->is_capped)
        gtel_finding_put_lack(findings, NULL, GTEL_MEASUREMENT_GPU, GTEL_M_MEMORY_TOTAL, wmi->error,
                              text);
}

static void close_wmi(void *state)
{
    struct wmi *wmi = state;
    gtel_wddm_close(&wmi->wddm);
}

const struct gtel_source gtel_source_wmi = {
    .name = "wmi",
    .lane = "wmi",
    .vendor = "drm",
    .summary = "Windows: memory of GPUs below 4 GiB where neither the driver model nor the "
               "registry knows it; asked at the start and at each rescan, never in a gather",
    .needs = "no rights; the service Windows Management Instrumentation",
    .origins = origins,
    .state_size = sizeof(struct wmi),
    .is_indirect = true,
    .present = present,
    .open = open_wmi,
    .discover = discover,
    .sample = sample,
    .diagnose = diagnose,
    .due_ns = due_ns,
    .tick = ask,
    .close = close_wmi,
};
