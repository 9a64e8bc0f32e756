/* SPDX-License-Identifier: MIT */
/*
 * The UUIDs by which other programs know a GPU and its tiles.
 *
 * Programs that compute name a device by the UUID of Level Zero's core, and where each tile is a
 * device to them (ZE_FLAT_DEVICE_HIERARCHY) a tile by its own. The look-up leads from such a UUID
 * to the device and tile of Sysman (level zero: Sysman device mapping), so it proves what we tell:
 * a UUID that leads to another GPU names neither, and a tile is told only with one that leads to
 * it. Our own metrics need no such join: the core tells PCI addresses, too.
 *
 * The older way to start Level Zero stays at revision 1.5, which has none of these calls.
 */
#include "sources/level_zero/sysman/sysman.h"

#include <stdio.h>
#include <string.h>

enum { TILES_MAX = 16, TRIES = 3, UUID_TEXT = 37 };

/* What a UUID leads to. */
struct whose {
    bool is_ours;
    bool is_tile;
    uint32_t tile;
};

static void write_uuid(char text[UUID_TEXT], const uint8_t uuid[GTEL_ZES_UUID])
{
    size_t n = 0;
    for (size_t i = 0; i < GTEL_ZES_UUID; i++) {
        bool is_begin = i == 4 || i == 6 || i == 8 || i == 10;
        n += (size_t)snprintf(text + n, UUID_TEXT - n, is_begin ? "-%02x" : "%02x", uuid[i]);
    }
}

static bool has_any(const uint8_t uuid[GTEL_ZES_UUID])
{
    bool has = false;
    for (size_t i = 0; i < GTEL_ZES_UUID; i++)
        has = has || uuid[i] != 0;
    return has;
}

static uint32_t look_up(const struct gtel_sysman *sysman, const struct gtel_sysman_gpu *gpu,
                        const struct gtel_zes_uuid *uuid, struct whose *ret)
{
    struct gtel_zes_pci_properties pci = {.head.type = GTEL_ZES_TYPE_PCI_PROPERTIES,
                                          .domain = UINT32_MAX};
    void *found = NULL;
    uint8_t is_tile = UINT8_MAX;
    uint32_t tile = UINT32_MAX;
    if (!sysman->call.zesDriverGetDeviceByUuidExp)
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    uint32_t code =
        sysman->call.zesDriverGetDeviceByUuidExp(gpu->driver, *uuid, &found, &is_tile, &tile);
    if (code == GTEL_ZE_SUCCESS && (!found || is_tile == UINT8_MAX))
        code = GTEL_SYSMAN_NO_VALUE;
    if (code == GTEL_ZE_SUCCESS)
        code = sysman->call.zesDevicePciGetProperties(found, &pci);
    *ret = (struct whose){.is_ours = gtel_sysman_is_at(&pci, &gpu->card->drm.pci),
                          .is_tile = is_tile == 1,
                          .tile = tile};
    return code;
}

/* A driver that does not say whose it is leaves it at that. */
static void label_uuid(const struct gtel_sysman *sysman, struct gtel_registry *registry,
                       const struct gtel_sysman_gpu *gpu)
{
    char text[UUID_TEXT];
    struct whose whose;
    if (!has_any(gpu->uuid.id) ||
        (!sysman->is_legacy && look_up(sysman, gpu, &gpu->uuid, &whose) == GTEL_ZE_SUCCESS &&
         !whose.is_ours))
        return;
    write_uuid(text, gpu->uuid.id);
    gtel_device_label(registry, gpu->card->device, GTEL_LABEL_UUID, gtel_str_of(text));
}

/* Counts, then fills: none that was not written. */
static uint32_t list_tiles(const struct gtel_sysman *sysman, const struct gtel_sysman_gpu *gpu,
                           struct gtel_zes_subdevice *ret, uint32_t *ret_n)
{
    uint32_t code = GTEL_ZE_INVALID_SIZE;
    *ret_n = 0;
    if (!sysman->call.zesDeviceGetSubDevicePropertiesExp)
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    for (int i = 0; i < TRIES && code == GTEL_ZE_INVALID_SIZE; i++) {
        uint32_t count = 0;
        code = sysman->call.zesDeviceGetSubDevicePropertiesExp(gpu->handle, &count, NULL);
        if (code != GTEL_ZE_SUCCESS || count == 0 || count > TILES_MAX)
            return code;
        for (uint32_t k = 0; k < TILES_MAX; k++)
            ret[k] =
                (struct gtel_zes_subdevice){.head.type = GTEL_ZES_TYPE_SUBDEVICE, .id = UINT32_MAX};
        *ret_n = count;
        code = sysman->call.zesDeviceGetSubDevicePropertiesExp(gpu->handle, &count, ret);
        *ret_n = count < *ret_n ? count : *ret_n;
    }
    return code;
}

/* A code; NO_VALUE when one of the UUIDs does not lead to its tile. */
static uint32_t prove(const struct gtel_sysman *sysman, const struct gtel_sysman_gpu *gpu,
                      const struct gtel_zes_subdevice *tile, uint32_t n)
{
    uint32_t code = GTEL_ZE_SUCCESS;
    for (uint32_t i = 0; code == GTEL_ZE_SUCCESS && i < n; i++) {
        struct whose whose;
        code = has_any(tile[i].uuid.id) ? look_up(sysman, gpu, &tile[i].uuid, &whose)
                                        : GTEL_SYSMAN_NO_VALUE;
        if (code == GTEL_ZE_SUCCESS &&
            (!whose.is_ours || !whose.is_tile || whose.tile != tile[i].id))
            code = GTEL_SYSMAN_NO_VALUE;
    }
    return code;
}

/* "0=UUID 1=UUID": of all tiles, or nothing. Two have room; no GPU has more. */
static uint32_t label_tiles(const struct gtel_sysman *sysman, struct gtel_registry *registry,
                            const struct gtel_sysman_gpu *gpu)
{
    struct gtel_zes_subdevice tile[TILES_MAX];
    char text[GTEL_LABEL_MAX];
    size_t length = 0;
    uint32_t n;
    uint32_t written = 0;
    uint32_t code = list_tiles(sysman, gpu, tile, &n);
    if (code == GTEL_ZE_SUCCESS)
        code = prove(sysman, gpu, tile, n);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    for (uint32_t id = 0; id < gpu->subdevices && written == id; id++)
        for (uint32_t i = 0; i < n && written <= id; i++) {
            char uuid[UUID_TEXT];
            if (tile[i].id != id)
                continue;
            write_uuid(uuid, tile[i].uuid.id);
            int r = snprintf(text + length, sizeof(text) - length, written > 0 ? " %u=%s" : "%u=%s",
                             (unsigned)id, uuid);
            if (r < 0 || (size_t)r >= sizeof(text) - length)
                return GTEL_ZE_SUCCESS;
            length += (size_t)r;
            written++;
        }
    if (written == gpu->subdevices && n == written)
        gtel_device_label(registry, gpu->card->device, GTEL_LABEL_TILE_UUIDS,
                          (struct gtel_str){text, length});
    return GTEL_ZE_SUCCESS;
}

void gtel_sysman_identify(const struct gtel_sysman *sysman, struct gtel_registry *registry,
                          struct gtel_sysman_gpu *gpu)
{
    bool is_asleep = false;
    if (gtel_awake_look(sysman->cards.env, &gpu->card->awake, &is_asleep) < 0 ||
        (is_asleep && !gpu->card->cards->may_wake))
        return;
    label_uuid(sysman, registry, gpu);
    uint32_t code = sysman->is_legacy || gpu->subdevices == 0 ? GTEL_ZE_SUCCESS
                                                              : label_tiles(sysman, registry, gpu);
    gpu->is_identified =
        code == GTEL_ZE_SUCCESS || code == GTEL_SYSMAN_NO_VALUE || gtel_sysman_is_permanent(code);
}
