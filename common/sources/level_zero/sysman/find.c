/* SPDX-License-Identifier: MIT */
/* Devices of Level Zero and their parts. */
#include "sources/level_zero/sysman/sysman.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VENDOR_INTEL = 0x8086, TRIES = 3, CHAIN_TRIES = 3 };

#define EMPTY_NS 600000000000u /* a list without parts is asked for again then */

typedef uint32_t (*list_fn)(void *handle, uint32_t *count, void **ret);

static const struct {
    const char *name;
    size_t offset;
} lists[GTEL_SYSMAN_FAMILIES] = {
#define LIST(family, call) [GTEL_SYSMAN_##family] = {#call, offsetof(struct gtel_zes_calls, call)}
    LIST(FREQUENCY, zesDeviceEnumFrequencyDomains),
    LIST(POWER, zesDeviceEnumPowerDomains),
    LIST(TEMPERATURE, zesDeviceEnumTemperatureSensors),
    LIST(MEMORY, zesDeviceEnumMemoryModules),
    LIST(ENGINE, zesDeviceEnumEngineGroups),
    LIST(RAS, zesDeviceEnumRasErrorSets),
    LIST(FABRIC, zesDeviceEnumFabricPorts),
    LIST(FAN, zesDeviceEnumFans),
    LIST(PSU, zesDeviceEnumPsus),
    LIST(STANDBY, zesDeviceEnumStandbyDomains),
#undef LIST
};

const char *gtel_sysman_list_name(enum gtel_sysman_family family)
{
    return lists[family].name ? lists[family].name : "zesDevicePciGetProperties";
}

static list_fn list_call(const struct gtel_sysman *sysman, enum gtel_sysman_family family)
{
    list_fn call = NULL;
    if (lists[family].name)
        memcpy(&call, (const char *)&sysman->call + lists[family].offset, sizeof(call));
    return call;
}

/*
 * Counts, then fills. The number may grow between the two calls, and a driver may say anything: at
 * most `max` handles, and none that was not written.
 */
static uint32_t fill(list_fn call, void *handle, void **ret, size_t max, size_t *ret_n)
{
    uint32_t code = GTEL_ZE_INVALID_SIZE;
    for (int i = 0; i < TRIES && code == GTEL_ZE_INVALID_SIZE; i++) {
        uint32_t count = 0;
        code = call(handle, &count, NULL);
        if (code != GTEL_ZE_SUCCESS || count == 0) {
            *ret_n = 0;
            return code;
        }
        uint32_t room = count < max ? count : (uint32_t)max;
        memset(ret, 0, max * sizeof(*ret));
        count = room;
        code = call(handle, &count, ret);
        *ret_n = 0;
        for (uint32_t k = 0; code == GTEL_ZE_SUCCESS && k < room && k < count; k++)
            if (ret[k])
                ret[(*ret_n)++] = ret[k];
    }
    return code;
}

/* A tile has no figures of the card, and the card none of its tiles: both are told apart. */
static void set_tile(struct gtel_sysman_part *part, uint8_t on_subdevice, uint32_t subdevice)
{
    part->is_on_tile = on_subdevice == 1 && subdevice < 1000;
    part->tile = part->is_on_tile ? subdevice : 0;
    if (part->is_on_tile)
        (void)snprintf(part->tile_text, sizeof(part->tile_text), "%u", (unsigned)subdevice);
}

/* "memory", or "memory-tile1" of a tile. */
static void set_name(struct gtel_sysman_part *part, const char *name)
{
    (void)snprintf(part->name, sizeof(part->name), part->is_on_tile ? "%s-tile%s" : "%s%s", name,
                   part->tile_text);
}

static const char *name_of(const char *const *names, size_t n, uint32_t type)
{
    return type < n ? names[type] : NULL;
}

static bool is_refused(uint32_t code)
{
    return code == GTEL_ZE_INVALID_ARGUMENT || code == GTEL_ZE_UNSUPPORTED_ENUMERATION;
}

/*
 * A driver that does not know what is chained to a structure refuses the call, each time. After a
 * single refusal, which is a failure of another kind, nothing would be known for good of what is
 * chained: it is left out of the last try alone.
 */
static void *chain_of(int try, void *chained)
{
    return try < CHAIN_TRIES - 1 ? chained : NULL;
}

static uint32_t describe_frequency(const struct gtel_sysman_pass *pass,
                                   struct gtel_sysman_part *part)
{
    static const char *const names[] = {"graphics", "memory", "media"};
    struct gtel_zes_freq_properties got = {
        .head.type = GTEL_ZES_TYPE_FREQ_PROPERTIES, .type = UINT32_MAX, .min = -1, .max = -1};
    if (!pass->sysman->call.zesFrequencyGetProperties)
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    uint32_t code = pass->sysman->call.zesFrequencyGetProperties(part->handle, &got);
    const char *name = name_of(names, GTEL_ARRAY_LEN(names), got.type);
    part->type = got.type;
    part->is.frequency.min_mhz = -1;
    part->is.frequency.max_mhz = -1;
    part->is.frequency.hardware_min_mhz = got.min;
    part->is.frequency.hardware_max_mhz = got.max;
    set_tile(part, got.on_subdevice, got.subdevice_id);
    if (name)
        (void)snprintf(part->name, sizeof(part->name), "%s", name);
    return code;
}

/*
 * The words of the kernel's sources for the same figures: i915 has one counter in hwmon, which they
 * call card and Sysman calls the package (level zero: compute-runtime, power of i915).
 */
static uint32_t describe_power(const struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    static const char *const names[] = {"pkg", "card", "pkg", "stack", "memory", "gpu"};
    struct gtel_zes_power_ext_properties ext = {.head.type = GTEL_ZES_TYPE_POWER_EXT_PROPERTIES};
    struct gtel_zes_power_properties got = {.on_subdevice = UINT8_MAX};
    uint32_t code = GTEL_ZE_INVALID_ARGUMENT;
    if (!pass->sysman->call.zesPowerGetProperties)
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    for (int i = 0; i < CHAIN_TRIES && is_refused(code); i++) {
        got.head = (struct gtel_zes_head){.type = GTEL_ZES_TYPE_POWER_PROPERTIES,
                                          .next = chain_of(i, &ext)};
        code = pass->sysman->call.zesPowerGetProperties(part->handle, &got);
    }
    bool is_i915 = strcmp(pass->gpu->card->drm.driver, "i915") == 0;
    bool is_package = ext.domain == GTEL_ZES_POWER_PACKAGE || ext.domain == GTEL_ZES_POWER_UNKNOWN;
    const char *name = name_of(names, GTEL_ARRAY_LEN(names), ext.domain);
    part->type = ext.domain;
    set_tile(part, got.on_subdevice, got.subdevice_id);
    if (is_i915 && is_package && !part->is_on_tile)
        name = "card";
    if (name && got.on_subdevice != UINT8_MAX)
        set_name(part, name);
    return code;
}

static uint32_t describe_temperature(const struct gtel_sysman_pass *pass,
                                     struct gtel_sysman_part *part)
{
    static const char *const names[] = {"global",     "gpu",   "memory",    "global-min", "gpu-min",
                                        "memory-min", "board", "board-min", "vr"};
    struct gtel_zes_temp_properties got = {
        .head.type = GTEL_ZES_TYPE_TEMP_PROPERTIES, .type = UINT32_MAX, .max = -1};
    if (!pass->sysman->call.zesTemperatureGetProperties)
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    uint32_t code = pass->sysman->call.zesTemperatureGetProperties(part->handle, &got);
    const char *name = name_of(names, GTEL_ARRAY_LEN(names), got.type);
    part->type = got.type;
    part->is.temperature.max = got.max;
    set_tile(part, got.on_subdevice, got.subdevice_id);
    if (name)
        set_name(part, name);
    return code;
}

/* The names of the kernel's sources: the GPU's own memory, by tile where it has several. */
static uint32_t describe_memory(const struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_mem_counter_bits bits = {.head.type = GTEL_ZES_TYPE_MEM_COUNTER_BITS};
    struct gtel_zes_mem_properties got = {.location = UINT32_MAX};
    void *chained = pass->gpu->hardware == GTEL_INTEL_PONTE_VECCHIO ? &bits : NULL;
    uint32_t code = GTEL_ZE_INVALID_ARGUMENT;
    if (!pass->sysman->call.zesMemoryGetProperties)
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    for (int i = 0; i < CHAIN_TRIES && is_refused(code); i++) {
        got.head = (struct gtel_zes_head){.type = GTEL_ZES_TYPE_MEM_PROPERTIES,
                                          .next = chain_of(i, chained)};
        code = pass->sysman->call.zesMemoryGetProperties(part->handle, &got);
    }
    part->is.memory.counter_bits = bits.bits;
    part->type = got.location;
    set_tile(part, got.on_subdevice, got.subdevice_id);
    /* Of an integrated GPU the figures are those of the machine's memory: none of the GPU's. */
    if (got.location == GTEL_ZES_MEM_DEVICE)
        (void)snprintf(part->name, sizeof(part->name), "vram%u", (unsigned)part->tile);
    return code;
}

static uint32_t describe_engine(const struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_engine_properties got = {.head.type = GTEL_ZES_TYPE_ENGINE_PROPERTIES,
                                             .type = UINT32_MAX};
    if (!pass->sysman->call.zesEngineGetProperties)
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    uint32_t code = pass->sysman->call.zesEngineGetProperties(part->handle, &got);
    part->type = got.type;
    set_tile(part, got.on_subdevice, got.subdevice_id);
    if (got.type != UINT32_MAX)
        set_name(part, "engine");
    return code;
}

static uint32_t describe_ras(const struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_ras_properties got = {.head.type = GTEL_ZES_TYPE_RAS_PROPERTIES,
                                          .type = UINT32_MAX};
    if (!pass->sysman->call.zesRasGetProperties)
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    uint32_t code = pass->sysman->call.zesRasGetProperties(part->handle, &got);
    part->type = got.type;
    set_tile(part, got.on_subdevice, got.subdevice_id);
    if (got.type == GTEL_ZES_RAS_CORRECTABLE || got.type == GTEL_ZES_RAS_UNCORRECTABLE)
        (void)snprintf(part->name, sizeof(part->name), "%s",
                       got.type == GTEL_ZES_RAS_CORRECTABLE ? "corrected" : "uncorrected");
    return code;
}

/* attachId is the tile; the numbers of its ports begin with 1. */
static uint32_t describe_port(const struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_port_properties got = {.head.type = GTEL_ZES_TYPE_FABRIC_PORT_PROPERTIES,
                                           .id.attach = UINT32_MAX};
    if (!pass->sysman->call.zesFabricPortGetProperties)
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    uint32_t code = pass->sysman->call.zesFabricPortGetProperties(part->handle, &got);
    if (got.id.attach != UINT32_MAX)
        (void)snprintf(part->name, sizeof(part->name), "%u.%u", (unsigned)got.id.attach,
                       (unsigned)got.id.number);
    return code;
}

/* Numbered from 1, as by the kernel, in the order of the list. */
static uint32_t describe_fan(const struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_fan_properties got = {.head.type = GTEL_ZES_TYPE_FAN_PROPERTIES,
                                          .units = UINT32_MAX};
    if (!pass->sysman->call.zesFanGetProperties)
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    uint32_t code = pass->sysman->call.zesFanGetProperties(part->handle, &got);
    part->is.fan.units = got.units;
    if (got.units != UINT32_MAX)
        (void)snprintf(part->name, sizeof(part->name), "%u", (unsigned)part->number + 1);
    return code;
}

/* Numbered from 1, as fans. */
static uint32_t describe_psu(const struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_psu_properties got = {
        .head.type = GTEL_ZES_TYPE_PSU_PROPERTIES, .on_subdevice = UINT8_MAX, .max_current = -1};
    if (!pass->sysman->call.zesPsuGetProperties)
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    uint32_t code = pass->sysman->call.zesPsuGetProperties(part->handle, &got);
    part->is.psu.has_fan = got.has_fan == 1;
    part->is.psu.max_current = got.max_current;
    if (got.on_subdevice != UINT8_MAX)
        (void)snprintf(part->name, sizeof(part->name), "psu%u", (unsigned)part->number + 1);
    return code;
}

/* The only kind there is stands for the graphics GT: i915's rc6_enable. */
static uint32_t describe_standby(const struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_standby_properties got = {.head.type = GTEL_ZES_TYPE_STANDBY_PROPERTIES,
                                              .type = UINT32_MAX};
    if (!pass->sysman->call.zesStandbyGetProperties)
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    uint32_t code = pass->sysman->call.zesStandbyGetProperties(part->handle, &got);
    set_tile(part, got.on_subdevice, got.subdevice_id);
    if (got.type == GTEL_ZES_STANDBY_GLOBAL)
        (void)snprintf(part->name, sizeof(part->name), "graphics");
    return code;
}

static uint32_t describe_pci(const struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_pci_properties got = {.head.type = GTEL_ZES_TYPE_PCI_PROPERTIES};
    uint32_t code = pass->sysman->call.zesDevicePciGetProperties(part->handle, &got);
    part->is.pci.has_bandwidth = got.has_bandwidth == 1;
    part->is.pci.has_packets = got.has_packets == 1;
    part->is.pci.has_replays = got.has_replays == 1;
    part->is.pci.needs_reset = -1;
    part->is.pci.is_repaired = -1;
    part->is.pci.has_ecc = -1;
    part->is.pci.is_ecc_pending = -1;
    set_name(part, "pci");
    return code;
}

typedef uint32_t (*describe_fn)(const struct gtel_sysman_pass *pass, struct gtel_sysman_part *part);

static const describe_fn describe[GTEL_SYSMAN_FAMILIES] = {
    [GTEL_SYSMAN_PCI] = describe_pci,         [GTEL_SYSMAN_FREQUENCY] = describe_frequency,
    [GTEL_SYSMAN_POWER] = describe_power,     [GTEL_SYSMAN_TEMPERATURE] = describe_temperature,
    [GTEL_SYSMAN_MEMORY] = describe_memory,   [GTEL_SYSMAN_ENGINE] = describe_engine,
    [GTEL_SYSMAN_RAS] = describe_ras,         [GTEL_SYSMAN_FABRIC] = describe_port,
    [GTEL_SYSMAN_FAN] = describe_fan,         [GTEL_SYSMAN_PSU] = describe_psu,
    [GTEL_SYSMAN_STANDBY] = describe_standby,
};

/* Parts of the card that its tiles have, too, would be counted twice. */
static void leave_doubles_out(struct gtel_sysman_list *list, enum gtel_sysman_family family)
{
    bool has_tiles = false;
    for (size_t i = 0; i < list->n; i++)
        has_tiles = has_tiles || list->part[i].is_on_tile;
    if (!has_tiles || (family != GTEL_SYSMAN_MEMORY && family != GTEL_SYSMAN_FREQUENCY))
        return;
    for (size_t i = 0; i < list->n; i++)
        if (!list->part[i].is_on_tile && list->part[i].use == GTEL_SYSMAN_USED)
            list->part[i].use = GTEL_SYSMAN_LEFT_OUT;
}

static const char *describe_name(enum gtel_sysman_family family)
{
    static const char *const names[GTEL_SYSMAN_FAMILIES] = {
        "zesDevicePciGetProperties",   "zesFrequencyGetProperties",  "zesPowerGetProperties",
        "zesTemperatureGetProperties", "zesMemoryGetProperties",     "zesEngineGetProperties",
        "zesRasGetProperties",         "zesFabricPortGetProperties", "zesFanGetProperties",
        "zesPsuGetProperties",         "zesStandbyGetProperties"};
    return names[family];
}

static bool is_taken(const struct gtel_sysman_list *list, const struct gtel_sysman_part *part)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct gtel_sysman_part *other = &list->part[i];
        if (other != part && other->use == GTEL_SYSMAN_USED &&
            other->is_on_tile == part->is_on_tile && strcmp(other->name, part->name) == 0)
            return true;
    }
    return false;
}

/* Sensors and memories of one kind are numbered from the second on: "vr", "vr-2". */
static void tell_apart(const struct gtel_sysman_list *list, struct gtel_sysman_part *part)
{
    char name[GTEL_SYSMAN_NAME];
    memcpy(name, part->name, sizeof(name));
    for (unsigned n = 2; part->name[0] != '\0' && is_taken(list, part); n++)
        (void)snprintf(part->name, sizeof(part->name), "%.20s-%u", name, n);
}

/* A part whose properties say nothing, or nothing that we know, is left out. */
static void describe_parts(struct gtel_sysman_pass *pass, enum gtel_sysman_family family)
{
    struct gtel_sysman_list *list = &pass->gpu->list[family];
    for (size_t i = 0; i < list->n && !gtel_sysman_is_over(pass); i++) {
        struct gtel_sysman_part *part = &list->part[i];
        if (part->use != GTEL_SYSMAN_UNDESCRIBED || part->describe.due_ns > pass->now)
            continue;
        uint32_t code = describe[family](pass, part);
        gtel_sysman_settle(pass, &part->describe, describe_name(family), code);
        if (family == GTEL_SYSMAN_TEMPERATURE || family == GTEL_SYSMAN_MEMORY)
            tell_apart(list, part);
        if (code == GTEL_ZE_SUCCESS)
            part->use = part->name[0] != '\0' ? GTEL_SYSMAN_USED : GTEL_SYSMAN_LEFT_OUT;
    }
    leave_doubles_out(list, family);
}

static uint32_t take(struct gtel_sysman_list *list, void *const *handle, size_t n)
{
    struct gtel_sysman_part *part = calloc(n, sizeof(*part));
    if (!part)
        return GTEL_ZE_OUT_OF_HOST_MEMORY;
    for (size_t i = 0; i < n; i++)
        part[i] = (struct gtel_sysman_part){.handle = handle[i], .number = (uint32_t)i};
    free(list->part);
    list->part = part;
    list->n = n;
    return GTEL_ZE_SUCCESS;
}

static void list_anew(struct gtel_sysman_pass *pass, enum gtel_sysman_family family)
{
    struct gtel_sysman_list *list = &pass->gpu->list[family];
    void *handle[GTEL_SYSMAN_PARTS_MAX] = {pass->gpu->handle};
    size_t n = 1;
    list_fn call = list_call(pass->sysman, family);
    uint32_t code = GTEL_ZE_SUCCESS;
    if (lists[family].name)
        code = call ? fill(call, pass->gpu->handle, handle, GTEL_SYSMAN_PARTS_MAX, &n)
                    : GTEL_ZE_UNSUPPORTED_FEATURE;
    if (code == GTEL_ZE_SUCCESS && n > 0)
        code = take(list, handle, n);
    gtel_sysman_settle(pass, &list->ask, gtel_sysman_list_name(family), code);
    if (code == GTEL_ZE_SUCCESS && n == 0)
        list->ask.due_ns = pass->now + EMPTY_NS;
}

void gtel_sysman_list_parts(struct gtel_sysman_pass *pass, enum gtel_sysman_family family)
{
    const struct gtel_sysman_list *list = &pass->gpu->list[family];
    pass->family = family;
    if (list->n == 0 && pass->now >= list->ask.due_ns)
        list_anew(pass, family);
    describe_parts(pass, family);
}

/* ---- devices ---- */

bool gtel_sysman_is_at(const struct gtel_zes_pci_properties *got, const struct gtel_pci *pci)
{
    return got->domain == pci->domain && got->bus == pci->bus && got->device == pci->device &&
           got->function == pci->function;
}

static struct gtel_sysman_gpu *gpu_at(const struct gtel_sysman *sysman,
                                      const struct gtel_zes_pci_properties *got)
{
    for (size_t i = 0; i < sysman->cards.n; i++)
        if (gtel_card_at(&sysman->cards, i)->drm.is_pci &&
            gtel_sysman_is_at(got, &gtel_card_at(&sysman->cards, i)->drm.pci))
            return sysman->cards.slot[i].own;
    return NULL;
}

/* Joins one device of Level Zero to its card. Other vendors' devices and NPUs are none of ours. */
static void join(const struct gtel_sysman *sysman, void *driver, void *handle)
{
    static const uint8_t none[GTEL_ZES_UUID];
    struct gtel_zes_device_ext_properties ext = {.head.type = GTEL_ZES_TYPE_DEVICE_EXT_PROPERTIES};
    struct gtel_zes_device_properties got;
    void *chained = sysman->is_legacy ? NULL : &ext;
    uint32_t code = GTEL_ZE_INVALID_ARGUMENT;
    struct gtel_zes_pci_properties pci = {.head.type = GTEL_ZES_TYPE_PCI_PROPERTIES,
                                          .domain = UINT32_MAX};
    for (int i = 0; i < CHAIN_TRIES && is_refused(code); i++) {
        memset(&got, 0, sizeof(got));
        got.head = (struct gtel_zes_head){.type = GTEL_ZES_TYPE_DEVICE_PROPERTIES,
                                          .next = chain_of(i, chained)};
        code = sysman->call.zesDeviceGetProperties(handle, &got);
    }
    if (code != GTEL_ZE_SUCCESS || got.core.device_type != GTEL_ZE_DEVICE_GPU ||
        got.core.vendor_id != VENDOR_INTEL ||
        sysman->call.zesDevicePciGetProperties(handle, &pci) != GTEL_ZE_SUCCESS)
        return;
    struct gtel_sysman_gpu *gpu = gpu_at(sysman, &pci);
    if (!gpu || gpu->handle || !gpu->card->device)
        return;
    gpu->handle = handle;
    gpu->driver = driver;
    gpu->subdevices = got.subdevices;
    gpu->is_identified = false;
    /* Drivers of before 1.7 know the core's alone, which is the same (level zero: device mapping).
     */
    memcpy(gpu->uuid.id, memcmp(ext.uuid, none, sizeof(none)) != 0 ? ext.uuid : got.core.uuid,
           sizeof(gpu->uuid.id));
}

/* zesDriverGet has no handle: the same pattern with one argument less. */
static size_t drivers(const struct gtel_sysman *sysman, void **ret)
{
    uint32_t (*call)(uint32_t * count, void **ret) =
        sysman->is_legacy ? sysman->call.zeDriverGet : sysman->call.zesDriverGet;
    uint32_t count = 0;
    if (call(&count, NULL) != GTEL_ZE_SUCCESS || count == 0)
        return 0;
    count = count < GTEL_SYSMAN_DEVICES_MAX ? count : GTEL_SYSMAN_DEVICES_MAX;
    uint32_t room = count;
    memset(ret, 0, GTEL_SYSMAN_DEVICES_MAX * sizeof(*ret));
    if (call(&count, ret) != GTEL_ZE_SUCCESS)
        return 0;
    return count < room ? count : room;
}

static void seek(const struct gtel_sysman *sysman)
{
    void *driver[GTEL_SYSMAN_DEVICES_MAX];
    void *device[GTEL_SYSMAN_DEVICES_MAX];
    size_t n = 0;
    list_fn call = sysman->is_legacy ? sysman->call.zeDeviceGet : sysman->call.zesDeviceGet;
    size_t found = drivers(sysman, driver);
    for (size_t i = 0; i < found; i++) {
        if (!driver[i] ||
            fill(call, driver[i], device, GTEL_SYSMAN_DEVICES_MAX, &n) != GTEL_ZE_SUCCESS)
            continue;
        for (size_t k = 0; k < n; k++)
            join(sysman, driver[i], device[k]);
    }
}

static void prepare(const struct gtel_sysman *sysman, struct gtel_sysman_gpu *gpu)
{
    const struct gtel_drm_card *drm = &gpu->card->drm;
    uint64_t delay_ns = gtel_awake_delay(sysman->cards.env, gpu->card->path);
    gpu->hardware = gtel_intel_family(drm->device_id);
    gpu->has_processes = gtel_sysman_knows_processes(sysman->cards.env, drm);
    gpu->has_bad_energy = gtel_cards_has_bad_energy(sysman->cards.env, drm);
    gpu->may_hold = strcmp(drm->driver, "xe") != 0 || sysman->may_hold;
    gpu->delay_ns = gpu->card->cards->may_wake ? 0 : delay_ns;
    gpu->is_prepared = true;
}

void gtel_sysman_find(struct gtel_sysman *sysman, struct gtel_registry *registry)
{
    bool is_due = false;
    for (size_t i = 0; i < sysman->cards.n; i++) {
        struct gtel_sysman_gpu *gpu = sysman->cards.slot[i].own;
        if (!gpu->is_prepared)
            prepare(sysman, gpu);
        is_due = is_due || !gpu->handle;
    }
    if (is_due && sysman->start == GTEL_SYSMAN_RUNS)
        seek(sysman);
    for (size_t i = 0; i < sysman->cards.n; i++) {
        struct gtel_sysman_gpu *gpu = sysman->cards.slot[i].own;
        if (gpu->handle && !gpu->is_identified)
            gtel_sysman_identify(sysman, registry, gpu);
    }
}

void gtel_sysman_close_gpu(const struct gtel_env *env, void *own)
{
    struct gtel_sysman_gpu *gpu = own;
    gtel_gts_close(env, &gpu->gts);
    for (size_t i = 0; i < GTEL_SYSMAN_FAMILIES; i++)
        free(gpu->list[i].part);
}
