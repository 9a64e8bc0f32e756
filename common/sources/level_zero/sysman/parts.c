/* SPDX-License-Identifier: MIT */
/* The parts of a GPU by family: lists of handles, and what each of them is. */
#include "sources/level_zero/sysman/ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a driver writes about a part, and behind it what was chained. */
struct properties {
    union gtel_sysman_properties got;
    struct gtel_zes_power_ext_properties power;
    struct gtel_zes_mem_counter_bits bits;
    const char *driver; /* of the card */
};

/* A tile has no values of the card, and the card none of its tiles. */
static void set_tile(struct gtel_sysman_part *part, uint8_t on_subdevice, uint32_t subdevice)
{
    if (on_subdevice != 1 || subdevice >= 1000)
        return;
    part->tile = subdevice;
    (void)snprintf(part->tile_text, sizeof(part->tile_text), "%u", (unsigned)subdevice);
}

/* A part without a name is nothing that we know. */
static void set_name(struct gtel_sysman_part *part, const char *name)
{
    (void)snprintf(part->name, sizeof(part->name), "%s", name ? name : "");
}

/* "memory", or "memory-tile1" of a tile. */
static void set_tile_name(struct gtel_sysman_part *part, const char *name)
{
    if (name)
        (void)snprintf(part->name, sizeof(part->name),
                       gtel_sysman_on_tile(part) ? "%s-tile%s" : "%s%s", name, part->tile_text);
}

static const char *name_of(const char *const *names, size_t n, uint32_t type)
{
    return type < n ? names[type] : NULL;
}

static void describe_pci(struct gtel_sysman_part *part, const struct properties *props)
{
    const struct gtel_zes_pci_properties *got = &props->got.pci;
    part->is.pci.has_bandwidth = got->has_bandwidth == 1;
    part->is.pci.has_packets = got->has_packets == 1;
    set_name(part, "pci");
}

static void describe_frequency(struct gtel_sysman_part *part, const struct properties *props)
{
    static const char *const names[] = {"graphics", "memory", "media"};
    const struct gtel_zes_freq_properties *got = &props->got.frequency;
    part->type = got->type;
    part->is.frequency.hardware_min_mhz = got->min;
    part->is.frequency.hardware_max_mhz = got->max;
    set_tile(part, got->on_subdevice, got->subdevice_id);
    set_name(part, name_of(names, GTEL_ARRAY_LEN(names), got->type));
}

/*
 * The words of the kernel's sources for the same values: i915 has one counter in hwmon, which they
 * call card and Sysman calls the package (level zero: compute-runtime, power of i915).
 */
static void describe_power(struct gtel_sysman_part *part, const struct properties *props)
{
    static const char *const names[] = {"pkg", "card", "pkg", "stack", "memory", "gpu"};
    const struct gtel_zes_power_properties *got = &props->got.power;
    uint32_t domain = props->power.domain;
    bool is_package = domain == GTEL_ZES_POWER_PACKAGE || domain == GTEL_ZES_POWER_UNKNOWN;
    if (got->on_subdevice == UINT8_MAX)
        return;
    part->type = domain;
    set_tile(part, got->on_subdevice, got->subdevice_id);
    bool is_i915_card =
        is_package && !gtel_sysman_on_tile(part) && strcmp(props->driver, "i915") == 0;
    set_tile_name(part, is_i915_card ? "card" : name_of(names, GTEL_ARRAY_LEN(names), domain));
}

static void describe_temperature(struct gtel_sysman_part *part, const struct properties *props)
{
    static const char *const names[] = {"global",     "gpu",   "memory",    "global-min", "gpu-min",
                                        "memory-min", "board", "board-min", "vr"};
    const struct gtel_zes_temp_properties *got = &props->got.temperature;
    part->type = got->type;
    part->is.temperature.max = got->max;
    set_tile(part, got->on_subdevice, got->subdevice_id);
    set_tile_name(part, name_of(names, GTEL_ARRAY_LEN(names), got->type));
}

/*
 * The names of the kernel's sources: the GPU's own memory, by tile where the system has tiles. Of
 * an integrated GPU the values are those of the machine's memory: none of the GPU's.
 */
static void describe_memory(struct gtel_sysman_part *part, const struct properties *props)
{
    const struct gtel_zes_mem_properties *got = &props->got.memory;
    part->is.memory.counter_bits = props->bits.bits;
    part->type = got->location;
    set_tile(part, got->on_subdevice, got->subdevice_id);
    if (got->location == GTEL_ZES_MEM_DEVICE)
        (void)snprintf(part->name, sizeof(part->name),
                       strcmp(props->driver, "wddm") == 0 ? "vram" : "vram%u",
                       (unsigned)part->tile);
}

static void describe_ras(struct gtel_sysman_part *part, const struct properties *props)
{
    const struct gtel_zes_ras_properties *got = &props->got.ras;
    part->type = got->type;
    set_tile(part, got->on_subdevice, got->subdevice_id);
    set_name(part, got->type == GTEL_ZES_RAS_CORRECTABLE     ? "corrected"
                   : got->type == GTEL_ZES_RAS_UNCORRECTABLE ? "uncorrected"
                                                             : NULL);
}

/* attachId is the tile; the numbers of its ports begin with 1. */
static void describe_port(struct gtel_sysman_part *part, const struct properties *props)
{
    const struct gtel_zes_port_id *id = &props->got.port.id;
    if (id->attach != UINT32_MAX)
        (void)snprintf(part->name, sizeof(part->name), "%u.%u", (unsigned)id->attach,
                       (unsigned)id->number);
}

/* Numbered from 1, as by the kernel, in the order of the list. */
static void describe_fan(struct gtel_sysman_part *part, const struct properties *props)
{
    if (props->got.fan.units != UINT32_MAX)
        (void)snprintf(part->name, sizeof(part->name), "%u", (unsigned)part->number + 1);
}

static const struct {
    const char *list; /* NULL: the device is its own only part */
    size_t offset;
    struct gtel_sysman_call call;
    void (*describe)(struct gtel_sysman_part *part, const struct properties *props);
} families[GTEL_SYSMAN_FAMILIES] = {
    [GTEL_SYSMAN_PCI] = {NULL, 0,
                         GTEL_SYSMAN_CALL(zesDevicePciGetProperties, GTEL_ZES_TYPE_PCI_PROPERTIES),
                         describe_pci},
#define FAMILY(family, list, get, type, describe)                                                  \
    [GTEL_SYSMAN_##family] = {#list, offsetof(struct gtel_zes_calls, list),                        \
                              GTEL_SYSMAN_CALL(get, GTEL_ZES_TYPE_##type##_PROPERTIES), describe}
    FAMILY(FREQUENCY, zesDeviceEnumFrequencyDomains, zesFrequencyGetProperties, FREQ,
           describe_frequency),
    FAMILY(POWER, zesDeviceEnumPowerDomains, zesPowerGetProperties, POWER, describe_power),
    FAMILY(TEMPERATURE, zesDeviceEnumTemperatureSensors, zesTemperatureGetProperties, TEMP,
           describe_temperature),
    FAMILY(MEMORY, zesDeviceEnumMemoryModules, zesMemoryGetProperties, MEM, describe_memory),
    FAMILY(RAS, zesDeviceEnumRasErrorSets, zesRasGetProperties, RAS, describe_ras),
    FAMILY(FABRIC, zesDeviceEnumFabricPorts, zesFabricPortGetProperties, FABRIC_PORT,
           describe_port),
    FAMILY(FAN, zesDeviceEnumFans, zesFanGetProperties, FAN, describe_fan),
#undef FAMILY
};

const char *gtel_sysman_list_name(enum gtel_sysman_family family)
{
    return families[family].list ? families[family].list : families[family].call.name;
}

/* Parts of the card that its tiles have, too, would be counted twice. */
static void skip_doubles(struct gtel_sysman_list *list, enum gtel_sysman_family family)
{
    bool has_tiles = false;
    for (size_t i = 0; i < list->n; i++)
        has_tiles = has_tiles || gtel_sysman_on_tile(&list->part[i]);
    if (!has_tiles || (family != GTEL_SYSMAN_MEMORY && family != GTEL_SYSMAN_FREQUENCY))
        return;
    for (size_t i = 0; i < list->n; i++)
        if (!gtel_sysman_on_tile(&list->part[i]) && list->part[i].use == GTEL_SYSMAN_USED)
            list->part[i].use = GTEL_SYSMAN_SKIPPED;
}

static bool is_used_name(const struct gtel_sysman_list *list, const struct gtel_sysman_part *part)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct gtel_sysman_part *other = &list->part[i];
        if (other != part && other->use == GTEL_SYSMAN_USED &&
            gtel_sysman_on_tile(other) == gtel_sysman_on_tile(part) &&
            strcmp(other->name, part->name) == 0)
            return true;
    }
    return false;
}

/* Sensors and memories of one kind are numbered from the second on: "vr", "vr-2". */
static void number_equals(const struct gtel_sysman_list *list, struct gtel_sysman_part *part)
{
    char name[GTEL_SYSMAN_NAME];
    memcpy(name, part->name, sizeof(name));
    for (unsigned n = 2; part->name[0] != '\0' && is_used_name(list, part); n++)
        (void)snprintf(part->name, sizeof(part->name), "%.20s-%u", name, n);
}

static enum gtel_answer describe_part(struct gtel_sysman_pass *pass, enum gtel_sysman_family family,
                                      struct gtel_sysman_part *part)
{
    const struct gtel_sysman_list *list = &pass->gpu->list[family];
    struct properties props = {.power.head.type = GTEL_ZES_TYPE_POWER_EXT_PROPERTIES,
                               .bits.head.type = GTEL_ZES_TYPE_MEM_COUNTER_BITS,
                               .driver = pass->gpu->card->drm.driver};
    bool has_bits = family == GTEL_SYSMAN_MEMORY && pass->gpu->hardware == GTEL_INTEL_PONTE_VECCHIO;
    struct gtel_zes_head *chained = family == GTEL_SYSMAN_POWER ? &props.power.head
                                    : has_bits                  ? &props.bits.head
                                                                : NULL;
    uint32_t code = gtel_sysman_get(pass->sysman, &families[family].call, part->handle, chained,
                                    &props.got, sizeof(props.got));
    enum gtel_answer answer =
        gtel_sysman_record(pass, &part->described, families[family].call.name, code);
    if (answer != GTEL_ANSWER_FINE)
        return answer;
    families[family].describe(part, &props);
    if (family == GTEL_SYSMAN_TEMPERATURE || family == GTEL_SYSMAN_MEMORY)
        number_equals(list, part);
    part->use = part->name[0] != '\0' ? GTEL_SYSMAN_USED : GTEL_SYSMAN_SKIPPED;
    return answer;
}

/* What the least permanent of the answers means for all: one that fails is asked again soon. */
static enum gtel_answer worse(enum gtel_answer a, enum gtel_answer b)
{
    bool is_lack = a == GTEL_ANSWER_ABSENT || a == GTEL_ANSWER_REFUSED;
    return b == GTEL_ANSWER_FINE || (a != GTEL_ANSWER_FINE && !is_lack) ? a : b;
}

static enum gtel_answer add_parts(struct gtel_sysman_list *list, void *const *handle, size_t n)
{
    list->part = n > 0 ? calloc(n, sizeof(*list->part)) : NULL;
    list->n = list->part ? n : 0;
    if (list->n == 0) /* an empty list is read again rarely */
        return n > 0 ? GTEL_ANSWER_FAILING : GTEL_ANSWER_ABSENT;
    for (size_t i = 0; i < n; i++) {
        struct gtel_sysman_part *part = &list->part[i];
        *part = (struct gtel_sysman_part){
            .handle = handle[i], .number = (uint32_t)i, .described = GTEL_ZE_NOT_ASKED};
        for (size_t k = 0; k < GTEL_SYSMAN_ASKS; k++)
            part->ask[k].code = GTEL_ZE_NOT_ASKED;
    }
    return GTEL_ANSWER_FINE;
}

static enum gtel_answer list_handles(struct gtel_sysman_pass *pass, enum gtel_sysman_family family)
{
    struct gtel_sysman_list *list = &pass->gpu->list[family];
    void **handle = NULL;
    size_t n = 0;
    gtel_ze_list_fn call = NULL;
    if (!families[family].list)
        return add_parts(list, &pass->gpu->handle, 1);
    memcpy(&call, (const char *)&pass->sysman->call + families[family].offset, sizeof(call));
    uint32_t code = call ? gtel_ze_list(call, pass->gpu->handle, GTEL_SYSMAN_PARTS_MAX, &handle, &n)
                         : GTEL_ZE_UNSUPPORTED_FEATURE;
    enum gtel_answer answer = gtel_sysman_record(pass, &list->code, families[family].list, code);
    if (answer == GTEL_ANSWER_FINE)
        answer = add_parts(list, handle, n);
    free(handle);
    return answer;
}

bool gtel_sysman_list_parts(struct gtel_sysman_pass *pass, enum gtel_sysman_family family)
{
    struct gtel_sysman_list *list = &pass->gpu->list[family];
    bool has_new = false;
    if (list->retry.due > pass->now)
        return false;
    pass->family = family;
    enum gtel_answer answer = list->n == 0 ? list_handles(pass, family) : GTEL_ANSWER_FINE;
    for (size_t i = 0; i < list->n && !gtel_sysman_is_over(pass); i++) {
        if (list->part[i].use != GTEL_SYSMAN_UNDESCRIBED)
            continue;
        answer = worse(describe_part(pass, family, &list->part[i]), answer);
        has_new = has_new || list->part[i].use == GTEL_SYSMAN_USED;
    }
    skip_doubles(list, family);
    if (gtel_sysman_is_over(pass))
        return has_new;
    gtel_retry_after(&list->retry, answer, pass->now);
    if (answer == GTEL_ANSWER_FINE)
        list->retry.due = UINT64_MAX; /* all is known */
    return has_new;
}
