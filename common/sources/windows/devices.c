/* SPDX-License-Identifier: MIT */
/* Display devices as Plug and Play has them in its books: nothing here reaches the device. */
#include "sources/windows/wddm.h"

#include "sources/drm/cards.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AMD = 0x1002, NVIDIA = 0x10de };

/* ---- labels ---- */

/*
 * NVIDIA's own number is the end of the one that Windows has: 32.0.15.6636 is 566.36. NVML reports
 * that, and both label the GPU.
 */
static struct gtel_str own_version(struct gtel_str version, char *buf, size_t size)
{
    struct gtel_str rest = version;
    struct gtel_str part;
    uint64_t number[4] = {0};
    size_t n = 0;
    while (n < 4 && gtel_str_part(&rest, '.', &part) && gtel_str_u64(part, &number[n]) == 0)
        n++;
    if (n < 4 || rest.n > 0 || number[2] > UINT16_MAX || number[3] > 9999)
        return version;
    unsigned all = (unsigned)(number[2] % 10 * 10000 + number[3]);
    (void)snprintf(buf, size, "%u.%02u", all / 100, all % 100);
    return gtel_str_of(buf);
}

static void label_version(const struct gtel_wddm *wddm, struct gtel_registry *registry,
                          struct gtel_wddm_gpu *gpu)
{
    char text[GTEL_LABEL_MAX];
    char own[32];
    if (!gtel_pnp_driver_version(&wddm->pnp, &gpu->pnp.info, text, sizeof(text)))
        return;
    struct gtel_str version = gtel_str_of(text);
    if (gpu->pnp.pci_id[0] == NVIDIA)
        version = own_version(version, own, sizeof(own));
    gtel_device_relabel(registry, gpu->device, GTEL_LABEL_DRIVER_VERSION, version);
}

/* NVML labels its GPUs too, as on Linux. False: not all could be known. */
static bool label(const struct gtel_wddm *wddm, struct gtel_registry *registry,
                  struct gtel_wddm_gpu *gpu)
{
    bool is_named = gtel_cards_label_pnp(&wddm->pnp, registry, gpu->device, &gpu->pnp,
                                         wddm->retries >= GTEL_WDDM_RETRIES);
    label_version(wddm, registry, gpu);
    if (gpu->pnp.pci_id[0] != NVIDIA) /* NVML's modes are others */
        gtel_device_relabel(registry, gpu->device, GTEL_LABEL_MODES,
                            gtel_str_of(gpu->adapter.modes));
    return is_named;
}

/* ---- which there are ---- */

static bool is_same(const struct gtel_wddm_gpu *a, const struct gtel_wddm_gpu *b)
{
    return strcmp(a->pnp.key, b->pnp.key) == 0 &&
           memcmp(a->pnp.id, b->pnp.id, sizeof(a->pnp.id)) == 0;
}

/* The GPU that was known before, with its new place in the list, or another one. NULL: no room. */
static struct gtel_wddm_gpu *keep(struct gtel_wddm *wddm, const struct gtel_wddm_gpu *found)
{
    for (size_t i = 0; i < wddm->n; i++) {
        if (!is_same(wddm->gpu[i], found))
            continue;
        wddm->gpu[i]->pnp.info = found->pnp.info;
        return wddm->gpu[i];
    }
    struct gtel_wddm_gpu *gpu = wddm->n < GTEL_WDDM_GPUS_MAX ? malloc(sizeof(*gpu)) : NULL;
    if (!gpu)
        return NULL;
    *gpu = *found;
    wddm->gpu[wddm->n++] = gpu;
    return gpu;
}

/* 0, 1 when something of it could not be known, or a negative errno. */
static int add(struct gtel_wddm *wddm, struct gtel_registry *registry, struct gtel_wddm_gpu *gpu)
{
    gpu->is_found = true;
    gpu->power = gtel_pnp_power(&wddm->pnp, &gpu->pnp.info);
    if (gpu->power == GTEL_POWER_D0)
        gtel_wddm_adapter_open(wddm, gpu);
    if (gpu->adapter.state == GTEL_WDDM_NO_GPU)
        return 0;
    int r = gtel_registry_add(registry, gtel_str_of(gpu->pnp.key), &gpu->device);
    if (r < 0)
        return r;
    uint64_t size = gtel_pnp_registry_size(&wddm->pnp, &gpu->pnp.info);
    if (size > 0 && !gtel_wddm_is_invented(gpu, size))
        gpu->registry_size = size;
    return label(wddm, registry, gpu) ? 0 : 1;
}

/*
 * A GPU that Windows has and does not use is down, unless somebody has disabled it (cfg.h,
 * CM_PROB_DISABLED): that one is not there. Whether a device of other makers is a GPU, and not the
 * display of a server's management, only a driver that works can say.
 */
static void add_failed(const struct gtel_wddm *wddm, struct gtel_registry *registry,
                       const struct gtel_pnp_gpu *pnp)
{
    enum { DISABLED = 22 };
    uint16_t vendor = pnp->pci_id[0];
    struct gtel_str key = gtel_str_of(pnp->key);
    struct gtel_device *device = gtel_registry_find(registry, key);
    if (device || pnp->problem == DISABLED ||
        (vendor != GTEL_PNP_INTEL && vendor != AMD && vendor != NVIDIA) ||
        gtel_registry_add(registry, key, &device) < 0)
        return;
    (void)gtel_cards_label_pnp(&wddm->pnp, registry, device, pnp, true);
    gtel_registry_lost(registry, device);
}

static void drop(struct gtel_wddm *wddm, struct gtel_registry *registry, size_t i)
{
    struct gtel_wddm_gpu *gpu = wddm->gpu[i];
    gtel_wddm_adapter_close(wddm, gpu);
    if (registry && gpu->device)
        gtel_registry_lost(registry, gpu->device);
    free(gpu);
    wddm->gpu[i] = wddm->gpu[--wddm->n];
}

/* What Plug and Play did not say is asked again soon, as is whether a GPU is removed. */
int gtel_wddm_find(struct gtel_wddm *wddm, struct gtel_registry *registry)
{
    bool is_whole = true;
    int result = 0;
    int got = gtel_pnp_list(&wddm->pnp);
    if (got < 0)
        return got;
    for (size_t i = 0; i < wddm->n; i++)
        wddm->gpu[i]->is_found = false;
    for (uint32_t i = 0; got != 1; i++) {
        struct gtel_wddm_gpu found = {.device = NULL};
        got = gtel_pnp_get(&wddm->pnp, i, &found.pnp);
        struct gtel_wddm_gpu *gpu = got == 0 ? keep(wddm, &found) : NULL;
        int r = gpu ? add(wddm, registry, gpu) : 0;
        if (got == 0 && !gpu && wddm->n < GTEL_WDDM_GPUS_MAX)
            r = -ENOMEM;
        if (got == -ENODEV)
            add_failed(wddm, registry, &found.pnp);
        is_whole = is_whole && r == 0 && got != -EIO;
        result = result == 0 && r < 0 ? r : result;
    }
    for (size_t i = wddm->n; i-- > 0;) {
        is_whole = is_whole && wddm->gpu[i]->is_found;
        if (!wddm->gpu[i]->is_found)
            drop(wddm, registry, i);
    }
    wddm->retries = is_whole ? 0 : wddm->retries + 1;
    return result;
}

void gtel_wddm_forget(struct gtel_wddm *wddm)
{
    while (wddm->n > 0)
        drop(wddm, NULL, wddm->n - 1);
}
