/* SPDX-License-Identifier: MIT */
/* Level Zero's start for Sysman, its devices, and the UUIDs by which other programs know them. */
#include "sources/level_zero/sysman/ask.h"

#include "host/kernel.h"

#include <stdio.h>
#include <string.h>

enum { VENDOR_INTEL = 0x8086, TILES_MAX = 32, UUID_TEXT = 37 };

/* ---- start ---- */

static const struct gtel_dynlib_symbol symbols[] = {
#define OPTIONAL false
#define REQUIRED true
#define GTEL_ZES_SYM(name, need, shape, type) {#name, offsetof(struct gtel_zes_calls, name), need},
#include "abi/zes_syms.def"
#undef GTEL_ZES_SYM
#undef OPTIONAL
#undef REQUIRED
};

/*
 * Loaders before 1.9.4 know Sysman as a part of the core API alone, and only where this variable is
 * set before the first zeInit. Only then: with zesInit it would break GPUs before Xe2. It works
 * with i915, and under Windows (compute-runtime: SYSMAN.md).
 */
static uint32_t start_legacy(struct gtel_sysman *sysman)
{
    const struct gtel_zes_calls *call = &sysman->call;
    bool has_others = false; /* than those of xe */
    for (size_t i = 0; i < sysman->lz.cards.n; i++)
        has_others =
            has_others || strcmp(gtel_card_at(&sysman->lz.cards, i)->drm.driver, "xe") != 0;
    if (!has_others || !call->zeInit || !call->zeDriverGet || !call->zeDeviceGet)
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    sysman->is_legacy = true;
    if (!gtel_level_zero_switch_on("ZES_ENABLE_SYSMAN"))
        return GTEL_ZE_OUT_OF_HOST_MEMORY;
    return call->zeInit(0);
}

static void start(struct gtel_sysman *sysman)
{
    const struct gtel_zes_calls *call = &sysman->call;
    if (!gtel_level_zero_load(&sysman->lz, symbols, GTEL_ARRAY_LEN(symbols), &sysman->call))
        return;
    bool has_own = call->zesInit && call->zesDriverGet && call->zesDeviceGet;
    uint32_t code = has_own ? call->zesInit(0) : start_legacy(sysman);
    bool is_old = code == GTEL_ZE_UNSUPPORTED_FEATURE;
    gtel_level_zero_started(
        &sysman->lz, code,
        is_old ? "this loader is too old for this driver: version 1.9.4 has zesInit" : NULL);
}

/* ---- devices ---- */

static bool is_windows(const struct gtel_sysman *sysman)
{
    return sysman->lz.cards.n > 0 && gtel_card_at(&sysman->lz.cards, 0)->awake.pnp.set;
}

/* Neither all zeros nor, as before a call, all ones. */
static bool has_any(const uint8_t uuid[GTEL_ZES_UUID])
{
    bool has = false;
    for (size_t i = 0; i < GTEL_ZES_UUID; i++)
        has = has || (uuid[i] != 0 && uuid[i] != 0xff);
    return has;
}

/*
 * Under Windows Intel's driver has the address of the root port for a GPU with memory of its own,
 * and that of the GPU in the UUID: the vendor in the first two bytes, domain, bus, device, function
 * from the seventh on (compute-runtime: WddmGlobalOperationsImp::generateUuidFromPciBusInfo). The
 * domain in there is always 0. False where that is not the way.
 */
static bool read_uuid(const struct gtel_sysman *sysman, const uint8_t *uuid,
                      struct gtel_zes_pci_properties *ret)
{
    ret->domain = (uint32_t)(uuid[6] | uuid[7] << 8);
    ret->bus = uuid[8];
    ret->device = uuid[9];
    ret->function = uuid[10];
    return is_windows(sysman) && (uuid[0] | uuid[1] << 8) == VENDOR_INTEL;
}

/* Under Windows: the one GPU of that PCI device id, else NULL. */
static struct gtel_sysman_gpu *only_one(const struct gtel_sysman *sysman, uint32_t id)
{
    struct gtel_sysman_gpu *found = NULL;
    for (size_t i = 0; is_windows(sysman) && i < sysman->lz.cards.n; i++) {
        if (gtel_card_at(&sysman->lz.cards, i)->drm.device_id != id)
            continue;
        if (found)
            return NULL;
        found = sysman->lz.cards.slot[i].own;
    }
    return found;
}

/* Joins one device of Level Zero to its card. Other vendors' devices and NPUs are none of ours. */
static void join(void *arg, void *driver, void *handle)
{
    const struct gtel_sysman *sysman = arg;
    static const struct gtel_sysman_call properties =
        GTEL_SYSMAN_CALL(zesDeviceGetProperties, GTEL_ZES_TYPE_DEVICE_PROPERTIES);
    static const struct gtel_sysman_call address =
        GTEL_SYSMAN_CALL(zesDevicePciGetProperties, GTEL_ZES_TYPE_PCI_PROPERTIES);
    struct gtel_zes_device_ext_properties ext = {.head.type = GTEL_ZES_TYPE_DEVICE_EXT_PROPERTIES};
    union gtel_sysman_properties got;
    union gtel_sysman_properties at;
    struct gtel_zes_pci_properties own;
    (void)driver;
    if (gtel_sysman_get(sysman, &properties, handle, sysman->is_legacy ? NULL : &ext.head, &got,
                        sizeof(got)) != GTEL_ZE_SUCCESS ||
        got.device.core.device_type != GTEL_ZE_DEVICE_GPU ||
        got.device.core.vendor_id != VENDOR_INTEL)
        return;
    /* Drivers before 1.7 know the core's alone, which is the same (level zero: device mapping). */
    const uint8_t *uuid = has_any(ext.uuid) ? ext.uuid : got.device.core.uuid;
    struct gtel_sysman_gpu *gpu = NULL;
    if (read_uuid(sysman, uuid, &own))
        gpu = gtel_level_zero_at(&sysman->lz, own.domain, own.bus, own.device, own.function);
    if (!gpu && gtel_sysman_get(sysman, &address, handle, NULL, &at, sizeof(at)) == GTEL_ZE_SUCCESS)
        gpu = gtel_level_zero_at(&sysman->lz, at.pci.domain, at.pci.bus, at.pci.device,
                                 at.pci.function);
    if (!gpu)
        gpu = only_one(sysman, got.device.core.device_id);
    if (!gpu || gpu->handle || !gpu->card->device)
        return;
    gpu->handle = handle;
    gpu->subdevices = got.device.subdevices;
    memcpy(gpu->uuid.id, uuid, sizeof(gpu->uuid.id));
}

/* ---- UUIDs ---- */

static void write_uuid(char text[UUID_TEXT], const uint8_t uuid[GTEL_ZES_UUID])
{
    size_t n = 0;
    for (size_t i = 0; i < GTEL_ZES_UUID; i++) {
        bool is_begin = i == 4 || i == 6 || i == 8 || i == 10;
        n += (size_t)snprintf(text + n, UUID_TEXT - n, is_begin ? "-%02x" : "%02x", uuid[i]);
    }
}

/* The tile of that number, if it is listed once and has a UUID; NULL. */
static const struct gtel_zes_subdevice *find_tile(const struct gtel_zes_subdevice *tile, uint32_t n,
                                                  uint32_t id)
{
    const struct gtel_zes_subdevice *found = NULL;
    for (uint32_t i = 0; i < n; i++) {
        if (tile[i].id != id)
            continue;
        if (found || !has_any(tile[i].uuid.id))
            return NULL;
        found = &tile[i];
    }
    return found;
}

/* "0=UUID 1=UUID": of all tiles, or nothing. Two have room; no GPU has more. */
static uint32_t label_tiles(const struct gtel_sysman *sysman, struct gtel_registry *registry,
                            const struct gtel_sysman_gpu *gpu)
{
    static const struct gtel_sysman_array array = {
        .call = GTEL_SYSMAN_CALL(zesDeviceGetSubDevicePropertiesExp, GTEL_ZES_TYPE_SUBDEVICE),
        .size = sizeof(struct gtel_zes_subdevice),
        .max = TILES_MAX};
    struct gtel_zes_subdevice tile[TILES_MAX];
    char text[GTEL_LABEL_MAX];
    size_t length = 0;
    uint32_t n;
    uint32_t code = gtel_sysman_get_array(sysman, &array, gpu->handle, tile, &n);
    if (code != GTEL_ZE_SUCCESS || n != gpu->subdevices)
        return code;
    for (uint32_t id = 0; id < n; id++) {
        char uuid[UUID_TEXT];
        const struct gtel_zes_subdevice *found = find_tile(tile, n, id);
        if (!found)
            return GTEL_ZE_SUCCESS;
        write_uuid(uuid, found->uuid.id);
        int r = snprintf(text + length, sizeof(text) - length, id > 0 ? " %u=%s" : "%u=%s",
                         (unsigned)id, uuid);
        if (r < 0 || (size_t)r >= sizeof(text) - length)
            return GTEL_ZE_SUCCESS;
        length += (size_t)r;
    }
    gtel_device_label(registry, gpu->card->device, GTEL_LABEL_TILE_UUIDS,
                      (struct gtel_str){text, length});
    return GTEL_ZE_SUCCESS;
}

/*
 * Programs that compute name a device by the UUID of Level Zero's core, and where each tile is a
 * device to them (ZE_FLAT_DEVICE_HIERARCHY) a tile by its own. A GPU that sleeps is left for later.
 * The older way to start Level Zero stays at revision 1.5, which has no UUIDs of tiles.
 */
static void identify(const struct gtel_sysman *sysman, struct gtel_registry *registry,
                     struct gtel_sysman_gpu *gpu)
{
    char text[UUID_TEXT];
    bool is_asleep = false;
    if (gtel_awake_look(sysman->lz.cards.env, &gpu->card->awake, &is_asleep) < 0 ||
        (is_asleep && !gpu->card->cards->may_wake))
        return;
    write_uuid(text, gpu->uuid.id);
    if (has_any(gpu->uuid.id))
        gtel_device_label(registry, gpu->card->device, GTEL_LABEL_UUID, gtel_str_of(text));
    enum gtel_answer answer = gtel_answer_of(sysman->is_legacy || gpu->subdevices == 0
                                                 ? GTEL_ZE_SUCCESS
                                                 : label_tiles(sysman, registry, gpu));
    if (answer == GTEL_ANSWER_FINE || answer == GTEL_ANSWER_ABSENT || answer == GTEL_ANSWER_REFUSED)
        gpu->stage = GTEL_SYSMAN_IDENTIFIED;
}

/* ---- discovery ---- */

/*
 * The kernel reports processes in fdinfo from 5.19 on (i915; xe always), each client once, and for
 * less: Sysman reads /proc on xe, and adds up what clients share (intel/compute-runtime issue 964).
 * Drivers from elsewhere for older kernels report to Sysman alone.
 */
static bool has_processes(const struct gtel_env *env, const struct gtel_drm_card *drm)
{
    return strcmp(drm->driver, "i915") == 0 && gtel_kernel_is_older(env, 5, 19);
}

static void prepare(const struct gtel_sysman *sysman, struct gtel_sysman_gpu *gpu)
{
    const struct gtel_drm_card *drm = &gpu->card->drm;
    const struct gtel_env *env = sysman->lz.cards.env;
    gpu->hardware = gtel_intel_family(drm->device_id);
    gpu->has_processes = has_processes(env, drm);
    gpu->has_bad_energy = gtel_cards_has_bad_energy(env, drm);
    gpu->delay_ns = gpu->card->cards->may_wake ? 0 : gtel_awake_delay(env, gpu->card->path);
    gpu->stage = GTEL_SYSMAN_PREPARED;
}

void gtel_sysman_find_devices(struct gtel_sysman *sysman, struct gtel_registry *registry)
{
    const struct gtel_zes_calls *call = &sysman->call;
    bool is_due = false;
    start(sysman);
    for (size_t i = 0; i < sysman->lz.cards.n; i++) {
        struct gtel_sysman_gpu *gpu = sysman->lz.cards.slot[i].own;
        if (gpu->stage == GTEL_SYSMAN_NEW)
            prepare(sysman, gpu);
        is_due = is_due || !gpu->handle;
    }
    if (is_due && gtel_level_zero_may_ask(&sysman->lz))
        gtel_ze_devices(sysman->is_legacy ? call->zeDriverGet : call->zesDriverGet,
                        sysman->is_legacy ? call->zeDeviceGet : call->zesDeviceGet, join, sysman);
    for (size_t i = 0; i < sysman->lz.cards.n; i++) {
        struct gtel_sysman_gpu *gpu = sysman->lz.cards.slot[i].own;
        if (gpu->handle && gpu->stage < GTEL_SYSMAN_IDENTIFIED)
            identify(sysman, registry, gpu);
    }
}
