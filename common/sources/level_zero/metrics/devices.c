/* SPDX-License-Identifier: MIT */
/* Level Zero's start for metrics, its devices, and their tiles. */
#include "sources/level_zero/metrics/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VENDOR_INTEL = 0x8086 };

/* ---- start ---- */

static const struct gtel_dynlib_symbol symbols[] = {
#define OPTIONAL false
#define REQUIRED true
#define GTEL_ZET_SYM(name, need, shape, type) {#name, offsetof(struct gtel_zet_calls, name), need},
#include "abi/zet_syms.def"
#undef GTEL_ZET_SYM
#undef OPTIONAL
#undef REQUIRED
};

/*
 * Loaders before 1.22 have no call that enables metrics: there it needs this variable, set before
 * zeInit, and a single GPU without metrics then makes that fail for all (level zero: METRICS.md of
 * compute-runtime). So the call comes first, where it exists.
 */
static void start(struct gtel_l0m *l0m)
{
    if (!gtel_level_zero_load(&l0m->lz, symbols, GTEL_ARRAY_LEN(symbols), &l0m->call))
        return;
    bool is_by_variable = !l0m->call.zetDeviceEnableMetricsExp;
    bool is_set = !is_by_variable || gtel_level_zero_switch_on("ZET_ENABLE_METRICS");
    uint32_t code = is_set ? l0m->call.zeInit(0) : GTEL_ZE_OUT_OF_HOST_MEMORY;
    bool is_all_or_none = code == GTEL_ZE_NO_DEPENDENCY && is_by_variable;
    gtel_level_zero_started(
        &l0m->lz, code,
        is_all_or_none ? "a GPU has no metrics, and this loader wants them for all or none: one of "
                         "1.22 or newer enables them one by one; Intel's Metrics Discovery and "
                         "Metrics Library (libigdmd.so.1, libigdml.so.1) bring them"
                       : NULL);
}

/* ---- devices ---- */

static bool is_ours(const struct gtel_l0m *l0m, void *handle,
                    struct gtel_ze_pci_ext_properties *ret_pci)
{
    struct gtel_ze_device_properties got = {.head.type = GTEL_ZE_TYPE_DEVICE_PROPERTIES};
    *ret_pci = (struct gtel_ze_pci_ext_properties){.head.type = GTEL_ZE_TYPE_PCI_EXT_PROPERTIES,
                                                   .domain = UINT32_MAX};
    return l0m->call.zeDeviceGetProperties(handle, &got) == GTEL_ZE_SUCCESS &&
           got.device_type == GTEL_ZE_DEVICE_GPU && got.vendor_id == VENDOR_INTEL &&
           l0m->call.zeDevicePciGetPropertiesExt(handle, ret_pci) == GTEL_ZE_SUCCESS;
}

static void add_tile(struct gtel_l0m_gpu *gpu, void *driver, void *handle)
{
    bool is_known = gpu->n >= GTEL_L0M_TILES_MAX;
    for (size_t i = 0; i < gpu->n; i++)
        is_known = is_known || gpu->tile[i].handle == handle;
    if (!is_known)
        gpu->tile[gpu->n++] = (struct gtel_l0m_tile){.driver = driver, .handle = handle};
}

/* A GPU of which not all tiles are known is listed again: nothing of it is open yet. */
static void forget_tiles(struct gtel_l0m_gpu *gpu)
{
    gpu->n = 0;
    gpu->is_new = false;
    gpu->failed++;
}

/*
 * The tiles of a device, or the device itself. Which of the two a driver lists is for the user to
 * set (ZE_FLAT_DEVICE_HIERARCHY): either way each tile is measured by itself.
 */
static void add_device(const struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu, void *driver,
                       void *handle)
{
    void **tile = NULL;
    size_t n = 0;
    uint32_t code = GTEL_ZE_SUCCESS;
    if (l0m->call.zeDeviceGetSubDevices)
        code = gtel_ze_list(l0m->call.zeDeviceGetSubDevices, handle, GTEL_L0M_TILES_MAX, &tile, &n);
    for (size_t i = 0; code == GTEL_ZE_SUCCESS && i < n; i++)
        add_tile(gpu, driver, tile[i]);
    if (code != GTEL_ZE_SUCCESS)
        forget_tiles(gpu);
    else if (n == 0)
        add_tile(gpu, driver, handle);
    free(tile);
}

static void join(void *arg, void *driver, void *handle)
{
    const struct gtel_l0m *l0m = arg;
    struct gtel_ze_pci_ext_properties pci;
    struct gtel_l0m_gpu *gpu = NULL;
    if (is_ours(l0m, handle, &pci))
        gpu = gtel_level_zero_at(&l0m->lz, pci.domain, pci.bus, pci.device, pci.function);
    if (gpu && gpu->is_new && gpu->card->device)
        add_device(l0m, gpu, driver, handle);
}

/*
 * Drivers list tiles in any order; by position only where they report no numbers, or one of them
 * twice.
 */
static bool name_tiles(const struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu)
{
    uint32_t number[GTEL_L0M_TILES_MAX];
    bool has_numbers = true;
    for (size_t i = 0; i < gpu->n; i++) {
        struct gtel_ze_device_properties got = {.head.type = GTEL_ZE_TYPE_DEVICE_PROPERTIES,
                                                .subdevice_id = UINT32_MAX};
        uint32_t code = l0m->call.zeDeviceGetProperties(gpu->tile[i].handle, &got);
        if (code != GTEL_ZE_SUCCESS && gtel_answer_of(code) != GTEL_ANSWER_ABSENT)
            return false;
        number[i] = got.subdevice_id;
        has_numbers = has_numbers && number[i] != UINT32_MAX;
        for (size_t k = 0; k < i; k++)
            has_numbers = has_numbers && number[k] != number[i];
    }
    for (size_t i = 0; i < gpu->n; i++)
        (void)snprintf(gpu->tile[i].text, sizeof(gpu->tile[i].text), "%u",
                       (unsigned)(has_numbers ? number[i] : i));
    return true;
}

static void prepare(struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu)
{
    uint64_t delay_ns = gtel_awake_delay(l0m->lz.cards.env, gpu->card->path);
    gpu->rest.delay_ns = gpu->card->cards->may_wake ? 0 : gtel_rest_delay(delay_ns, true);
    gpu->owner = l0m;
}

void gtel_l0m_find_devices(struct gtel_l0m *l0m)
{
    bool is_due = false;
    start(l0m);
    for (size_t i = 0; i < l0m->lz.cards.n; i++) {
        struct gtel_l0m_gpu *gpu = l0m->lz.cards.slot[i].own;
        if (!gpu->owner)
            prepare(l0m, gpu);
        gpu->is_new = gpu->n == 0;
        is_due = is_due || gpu->is_new;
    }
    if (is_due && gtel_level_zero_may_ask(&l0m->lz))
        gtel_ze_devices(l0m->call.zeDriverGet, l0m->call.zeDeviceGet, join, l0m);
    for (size_t i = 0; i < l0m->lz.cards.n; i++) {
        struct gtel_l0m_gpu *gpu = l0m->lz.cards.slot[i].own;
        if (gpu->n > 1 && gpu->tile[0].text[0] == '\0' && !name_tiles(l0m, gpu))
            forget_tiles(gpu);
    }
}
