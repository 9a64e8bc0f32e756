/* SPDX-License-Identifier: MIT */
/* Level Zero Sysman as played from a recorded machine. */
#include "fakes/libze_loader/played.h"

#include "fakes/libze_loader/more_abi.h"
#include "fakes/player.h"
#include "harness/call_args.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    DRIVERS_MAX = 2,
    DEVICES_MAX = 16, /* of one driver */
    PARTS_MAX = 32,   /* of one family on one device */
    FAMILIES = 9,     /* the device itself and its kinds of parts */
    KEY_SIZE = 128
};

/* A handle is the address of an element; where it is says what it is. */
static const char drivers[DRIVERS_MAX];
static const char parts[DRIVERS_MAX * DEVICES_MAX][FAMILIES][PARTS_MAX];

enum { SYSMAN, CORE };

static struct {
    bool is_started;
    uint32_t failed; /* what the first start has answered, for ever */
} apis[2];

const struct gtel_player_codes gtel_player_codes = {GTEL_ZE_UNKNOWN, GTEL_ZE_UNSUPPORTED_FEATURE};

/* A start of either opens Sysman's calls: the core's does so where the older way is taken. */
static bool is_started(void)
{
    return apis[SYSMAN].is_started || apis[CORE].is_started;
}

/* Names of calls on parts begin with this; the enumeration's name is the other one. */
static const struct {
    const char *prefix;
    const char *list;
} families[FAMILIES] = {
    {"zesDevice", NULL},
    {"zesEngine", "zesDeviceEnumEngineGroups"},
    {"zesFrequency", "zesDeviceEnumFrequencyDomains"},
    {"zesPower", "zesDeviceEnumPowerDomains"},
    {"zesTemperature", "zesDeviceEnumTemperatureSensors"},
    {"zesMemory", "zesDeviceEnumMemoryModules"},
    {"zesRas", "zesDeviceEnumRasErrorSets"},
    {"zesFabricPort", "zesDeviceEnumFabricPorts"},
    {"zesFan", "zesDeviceEnumFans"},
};

/* How a structure is written in words. */
struct field {
    size_t offset;
    /* b u i: 8, 32 bits, signed; o: bits of 32 that are set beside those that are; U I: 64 bits;
     * d: double; x: 16 bytes hexadecimal, X: the same word is for what is chained, too */
    char kind;
};
#define F(type, member, kind)                                                                      \
    {                                                                                              \
        offsetof(struct gtel_zes_##type, member), kind                                             \
    }

static const struct field device[] = {
    F(device_properties, core.device_type, 'u'), F(device_properties, core.vendor_id, 'u'),
    F(device_properties, subdevices, 'u'), F(device_properties, core.uuid, 'X'),
    F(device_properties, core.device_id, 'u')};
static const struct field subdevice[] = {F(subdevice, id, 'u'), F(subdevice, uuid, 'x')};
static const struct field state[] = {F(device_state, reset, 'o'), F(device_state, repaired, 'u')};
static const struct field process[] = {F(process_state, pid, 'u'), F(process_state, memory, 'U'),
                                       F(process_state, shared, 'U'),
                                       F(process_state, engines, 'u')};
static const struct field ecc[] = {F(ecc_properties, current, 'u'), F(ecc_properties, pending, 'u'),
                                   F(ecc_properties, action, 'u')};
static const struct field flag[] = {{0, 'b'}};
static const struct field device_ext[] = {F(device_ext_properties, uuid, 'x')};
static const struct field pci[] = {
    F(pci_properties, domain, 'u'),
    F(pci_properties, bus, 'u'),
    F(pci_properties, device, 'u'),
    F(pci_properties, function, 'u'),
    F(pci_properties, max_speed.gen, 'i'),
    F(pci_properties, max_speed.width, 'i'),
    F(pci_properties, max_speed.max_bandwidth, 'I'),
    F(pci_properties, has_bandwidth, 'b'),
    F(pci_properties, has_packets, 'b'),
    F(pci_properties, has_replays, 'b'),
};
static const struct field pci_state[] = {F(pci_state, status, 'u'), F(pci_state, speed.gen, 'i'),
                                         F(pci_state, speed.width, 'i'),
                                         F(pci_state, speed.max_bandwidth, 'I')};
static const struct field pci_stats[] = {F(pci_stats, timestamp, 'U'), F(pci_stats, replays, 'U'),
                                         F(pci_stats, packets, 'U'), F(pci_stats, rx, 'U'),
                                         F(pci_stats, tx, 'U')};
static const struct field engine[] = {F(engine_properties, type, 'u'),
                                      F(engine_properties, on_subdevice, 'b'),
                                      F(engine_properties, subdevice_id, 'u')};
static const struct field engine_stats[] = {F(engine_stats, active, 'U'),
                                            F(engine_stats, timestamp, 'U')};
static const struct field freq[] = {F(freq_properties, type, 'u'),
                                    F(freq_properties, on_subdevice, 'b'),
                                    F(freq_properties, subdevice_id, 'u'),
                                    F(freq_properties, min, 'd'), F(freq_properties, max, 'd')};
static const struct field freq_range[] = {F(freq_range, min, 'd'), F(freq_range, max, 'd')};
static const struct field freq_state[] = {
    F(freq_state, voltage, 'd'), F(freq_state, request, 'd'),
    F(freq_state, tdp, 'd'),     F(freq_state, efficient, 'd'),
    F(freq_state, actual, 'd'),  F(freq_state, throttle_reasons, 'u')};
static const struct field throttle[] = {F(throttle_time, throttled, 'U'),
                                        F(throttle_time, timestamp, 'U')};
static const struct field power[] = {
    F(power_properties, on_subdevice, 'b'), F(power_properties, subdevice_id, 'u'),
    F(power_properties, default_limit, 'i'), F(power_properties, min_limit, 'i'),
    F(power_properties, max_limit, 'i')};
static const struct field power_ext[] = {F(power_ext_properties, domain, 'u')};
static const struct field energy[] = {F(energy, energy, 'U'), F(energy, timestamp, 'U')};
static const struct field limit_ext[] = {F(limit_ext, level, 'u'),    F(limit_ext, source, 'u'),
                                         F(limit_ext, unit, 'u'),     F(limit_ext, is_enabled, 'b'),
                                         F(limit_ext, interval, 'i'), F(limit_ext, limit, 'i')};
static const struct field sustained[] = {F(limit_sustained, is_enabled, 'b'),
                                         F(limit_sustained, power, 'i'),
                                         F(limit_sustained, interval, 'i')};
static const struct field burst_limit[] = {F(limit_burst, is_enabled, 'b'),
                                           F(limit_burst, power, 'i')};
static const struct field peak_limit[] = {F(limit_peak, power_ac, 'i'),
                                          F(limit_peak, power_dc, 'i')};
static const struct field temp[] = {
    F(temp_properties, type, 'u'), F(temp_properties, on_subdevice, 'b'),
    F(temp_properties, subdevice_id, 'u'), F(temp_properties, max, 'd')};
static const struct field temp_config[] = {
    F(temp_config, on_critical, 'b'),          F(temp_config, threshold[0].on_rise, 'b'),
    F(temp_config, threshold[0].on_fall, 'b'), F(temp_config, threshold[0].celsius, 'd'),
    F(temp_config, threshold[1].on_rise, 'b'), F(temp_config, threshold[1].on_fall, 'b'),
    F(temp_config, threshold[1].celsius, 'd')};
static const struct field celsius[] = {{0, 'd'}};
static const struct field mem[] = {
    F(mem_properties, type, 'u'), F(mem_properties, on_subdevice, 'b'),
    F(mem_properties, subdevice_id, 'u'), F(mem_properties, location, 'u'),
    F(mem_properties, physical_size, 'U')};
static const struct field mem_bits[] = {F(mem_counter_bits, bits, 'u')};
static const struct field mem_state[] = {F(mem_state, health, 'u'), F(mem_state, free, 'U'),
                                         F(mem_state, size, 'U')};
static const struct field bandwidth[] = {F(mem_bandwidth, read, 'U'), F(mem_bandwidth, write, 'U'),
                                         F(mem_bandwidth, max, 'U'),
                                         F(mem_bandwidth, timestamp, 'U')};
static const struct field ras[] = {F(ras_properties, type, 'u'),
                                   F(ras_properties, on_subdevice, 'b'),
                                   F(ras_properties, subdevice_id, 'u')};
static const struct field ras_exp[] = {F(ras_state_exp, category, 'u'),
                                       F(ras_state_exp, count, 'U')};
static const struct field port[] = {
    F(port_properties, on_subdevice, 'b'), F(port_properties, subdevice_id, 'u'),
    F(port_properties, id.fabric, 'u'), F(port_properties, id.attach, 'u'),
    F(port_properties, id.number, 'b')};
static const struct field port_state[] = {F(port_state, status, 'u')};
static const struct field port_rate[] = {F(port_throughput, timestamp, 'U'),
                                         F(port_throughput, rx, 'U'), F(port_throughput, tx, 'U')};
static const struct field port_errors[] = {
    F(port_errors, link_failures, 'U'), F(port_errors, firmware_communication, 'U'),
    F(port_errors, firmware, 'U'), F(port_errors, link_degrades, 'U')};
static const struct field fan[] = {F(fan_properties, on_subdevice, 'b'),
                                   F(fan_properties, subdevice_id, 'u'),
                                   F(fan_properties, units, 'u')};
/* What a call writes, by its type in zes_syms.def. stype 0: the structure has none. */
struct layout {
    const char *type;
    size_t size;
    uint32_t stype;
    const struct field *field;
    size_t n;
};
#define L(name, stype, fields)                                                                     \
    {                                                                                              \
        "struct gtel_zes_" #name " *", sizeof(struct gtel_zes_##name), stype, fields,              \
            GTEL_ARRAY_LEN(fields)                                                                 \
    }

static const struct layout layouts[] = {
    L(device_properties, GTEL_ZES_TYPE_DEVICE_PROPERTIES, device),
    L(subdevice, GTEL_ZES_TYPE_SUBDEVICE, subdevice),
    L(device_state, GTEL_ZES_TYPE_DEVICE_STATE, state),
    L(process_state, GTEL_ZES_TYPE_PROCESS_STATE, process),
    L(ecc_properties, GTEL_ZES_TYPE_ECC_PROPERTIES, ecc),
    {"uint8_t *", sizeof(uint8_t), 0, flag, 1},
    L(pci_properties, GTEL_ZES_TYPE_PCI_PROPERTIES, pci),
    L(pci_state, GTEL_ZES_TYPE_PCI_STATE, pci_state),
    L(pci_stats, 0, pci_stats),
    L(engine_properties, GTEL_ZES_TYPE_ENGINE_PROPERTIES, engine),
    L(engine_stats, 0, engine_stats),
    L(freq_properties, GTEL_ZES_TYPE_FREQ_PROPERTIES, freq),
    L(freq_range, 0, freq_range),
    L(freq_state, GTEL_ZES_TYPE_FREQ_STATE, freq_state),
    L(throttle_time, 0, throttle),
    L(power_properties, GTEL_ZES_TYPE_POWER_PROPERTIES, power),
    L(energy, 0, energy),
    L(limit_ext, GTEL_ZES_TYPE_POWER_LIMIT_EXT, limit_ext),
    L(temp_properties, GTEL_ZES_TYPE_TEMP_PROPERTIES, temp),
    L(temp_config, GTEL_ZES_TYPE_TEMP_CONFIG, temp_config),
    {"double *", sizeof(double), 0, celsius, 1},
    L(mem_properties, GTEL_ZES_TYPE_MEM_PROPERTIES, mem),
    L(mem_state, GTEL_ZES_TYPE_MEM_STATE, mem_state),
    L(mem_bandwidth, 0, bandwidth),
    L(ras_properties, GTEL_ZES_TYPE_RAS_PROPERTIES, ras),
    L(ras_state_exp, 0, ras_exp),
    L(port_properties, GTEL_ZES_TYPE_FABRIC_PORT_PROPERTIES, port),
    L(port_state, GTEL_ZES_TYPE_FABRIC_PORT_STATE, port_state),
    L(port_throughput, 0, port_rate),
    L(port_errors, GTEL_ZES_TYPE_FABRIC_PORT_ERRORS, port_errors),
    L(fan_properties, GTEL_ZES_TYPE_FAN_PROPERTIES, fan),
};

static const struct layout chained[] = {
    L(device_ext_properties, GTEL_ZES_TYPE_DEVICE_EXT_PROPERTIES, device_ext),
    L(power_ext_properties, GTEL_ZES_TYPE_POWER_EXT_PROPERTIES, power_ext),
    L(mem_counter_bits, GTEL_ZES_TYPE_MEM_COUNTER_BITS, mem_bits),
};

void gtel_player_reset(void)
{
    memset(apis, 0, sizeof(apis));
    gtel_played_metrics_reset();
}

static bool number_of(struct gtel_str word, uint64_t *ret)
{
    int64_t v;
    if (gtel_str_starts(word, GTEL_STR("0x")))
        return gtel_str_hex(word, ret) == 0;
    if (gtel_str_u64(word, ret) == 0)
        return true;
    if (gtel_str_i64(word, &v) < 0)
        return false;
    *ret = (uint64_t)v;
    return true;
}

/* Looks a key up. A result code; *ret only with SUCCESS. missing: the code without such a line. */
static uint32_t ask(const char *key, uint32_t missing, struct gtel_str *ret)
{
    struct gtel_str text;
    uint64_t code;
    if (gtel_tree_call(gtel_player_tree(), gtel_str_of(key), &text) < 0)
        return missing;
    if (gtel_str_starts(text, GTEL_STR("!")) && number_of(gtel_str_skip(text, 1), &code))
        return (uint32_t)code;
    *ret = text;
    return GTEL_ZE_SUCCESS;
}

static size_t family_of(const char *name)
{
    size_t found = 0;
    for (size_t i = 1; i < FAMILIES; i++)
        if (gtel_str_starts(gtel_str_of(name), gtel_str_of(families[i].prefix)))
            found = i;
    return found;
}

/* "NAME DEVICE" or "NAME DEVICE PART"; false for a handle that such a call does not take. */
static bool key_of(const char *name, const void *handle, char key[KEY_SIZE])
{
    size_t family = family_of(name);
    for (size_t d = 0; d < GTEL_ARRAY_LEN(parts); d++)
        for (size_t i = 0; i < PARTS_MAX; i++) {
            if (handle != &parts[d][family][i] || (family == 0 && i > 0))
                continue;
            int n = family == 0 ? snprintf(key, KEY_SIZE, "%s %zu", name, d)
                                : snprintf(key, KEY_SIZE, "%s %zu %zu", name, d, i);
            return n > 0 && n < KEY_SIZE;
        }
    return false;
}

uint32_t gtel_played_ask(const char *name, const void *handle, struct gtel_str *ret)
{
    char key[KEY_SIZE];
    if (!is_started())
        return GTEL_ZE_UNINITIALIZED;
    if (!key_of(name, handle, key))
        return GTEL_ZE_NULL_HANDLE;
    return ask(key, GTEL_ZE_UNSUPPORTED_FEATURE, ret);
}

static bool set_uuid(struct gtel_str word, uint8_t *to)
{
    uint64_t byte;
    for (size_t i = 0; i < GTEL_ZES_UUID; i++) {
        struct gtel_str pair = {word.p + 2 * i, 2};
        if (word.n != 2 * (size_t)GTEL_ZES_UUID || gtel_str_hex(pair, &byte) < 0)
            return false;
        to[i] = (uint8_t)byte;
    }
    return true;
}

static bool set_field(struct gtel_str word, char kind, unsigned char *to)
{
    uint64_t v = 0;
    double f;
    if (kind == 'x' || kind == 'X')
        return set_uuid(word, to);
    if (kind == 'd' && gtel_str_eq(word, GTEL_STR("nan"))) {
        f = NAN;
        memcpy(to, &f, sizeof(f));
        return true;
    }
    if (kind == 'd') {
        if (gtel_str_f64(word, &f) < 0)
            return false;
        memcpy(to, &f, sizeof(f));
        return true;
    }
    if (!number_of(word, &v))
        return false;
    uint32_t low = (uint32_t)v;
    uint32_t bits = 0;
    if (kind == 'o')
        memcpy(&bits, to, sizeof(bits));
    low |= bits;
    if (kind == 'b')
        *to = (uint8_t)v;
    else if (kind == 'u' || kind == 'i' || kind == 'o')
        memcpy(to, &low, sizeof(low));
    else
        memcpy(to, &v, sizeof(v));
    return true;
}

/* Fills the fields from the words, as far as these go. False when one is no number. */
static bool set_fields(struct gtel_str *text, const struct field *field, size_t n, void *to)
{
    struct gtel_str rest = *text;
    struct gtel_str word;
    bool is_shared = false;
    for (size_t i = 0; i < n && gtel_str_word(&rest, &word); i++) {
        if (!set_field(word, field[i].kind, (unsigned char *)to + field[i].offset))
            return false;
        is_shared = is_shared || field[i].kind == 'X';
        if (!is_shared)
            *text = rest;
    }
    return true;
}

static const struct layout *layout_of(const char *type)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(layouts); i++)
        if (strcmp(layouts[i].type, type) == 0)
            return &layouts[i];
    return NULL;
}

/* What is chained must be known, as to a driver (INVALID_ARGUMENT otherwise). */
static uint32_t set_chain(struct gtel_str text, const void *whole)
{
    struct gtel_zes_head head;
    memcpy(&head, whole, sizeof(head));
    if (!head.next)
        return GTEL_ZE_SUCCESS;
    void *next = head.next;
    memcpy(&head, next, sizeof(head));
    for (size_t i = 0; i < GTEL_ARRAY_LEN(chained); i++)
        if (chained[i].stype == head.type)
            return set_fields(&text, chained[i].field, chained[i].n, next) ? GTEL_ZE_SUCCESS
                                                                           : GTEL_ZE_UNKNOWN;
    return GTEL_ZE_INVALID_ARGUMENT;
}

static bool is_untouched(struct gtel_str text)
{
    return gtel_str_eq(text, GTEL_STR("untouched"));
}

static bool has_stype(const void *whole, uint32_t stype)
{
    uint32_t type;
    if (stype == 0)
        return true; /* there may be less than a word */
    memcpy(&type, whole, sizeof(type));
    return type == stype;
}

/* ---- one function per shape ---- */

static uint32_t answer_init(const char *name, const char *type, uint32_t flags)
{
    struct gtel_str text;
    (void)type;
    if (flags > 1)
        return GTEL_ZE_INVALID_ENUMERATION;
    size_t api = strcmp(name, "zesInit") == 0 ? SYSMAN : CORE;
    if (!apis[api].is_started && apis[api].failed == GTEL_ZE_SUCCESS) {
        apis[api].failed = ask(name, GTEL_ZE_SUCCESS, &text);
        apis[api].is_started = apis[api].failed == GTEL_ZE_SUCCESS;
    }
    return apis[api].failed;
}

/* Count-then-fill of handles that stand side by side; n: how many there are for this call. */
static uint32_t give(uint64_t n, uint64_t room, const char *first, uint32_t *count, void **ret)
{
    if (!ret || *count == 0) {
        *count = (uint32_t)n;
        return GTEL_ZE_SUCCESS;
    }
    uint32_t given = *count < n ? *count : (uint32_t)n;
    for (uint32_t i = 0; i < given && i < room; i++)
        ret[i] = (void *)(uintptr_t)(first + i);
    *count = given;
    return GTEL_ZE_SUCCESS;
}

/* The first number of an answer, or the second one for a call that fills. */
static uint32_t count_of(struct gtel_str text, bool is_filling, uint64_t *ret)
{
    struct gtel_str word;
    if (!gtel_str_word(&text, &word) || !number_of(word, ret))
        return GTEL_ZE_UNKNOWN;
    if (is_filling && gtel_str_word(&text, &word) && !number_of(word, ret))
        return GTEL_ZE_UNKNOWN;
    return GTEL_ZE_SUCCESS;
}

static uint32_t answer_drivers(const char *name, const char *type, uint32_t *count, void **ret)
{
    struct gtel_str text = GTEL_STR("1");
    uint64_t n = 0;
    (void)type;
    if (!is_started())
        return GTEL_ZE_UNINITIALIZED;
    uint32_t code = ask(name, GTEL_ZE_SUCCESS, &text);
    if (code == GTEL_ZE_SUCCESS)
        code = count_of(text, ret != NULL, &n);
    return code != GTEL_ZE_SUCCESS ? code : give(n, DRIVERS_MAX, drivers, count, ret);
}

/* Devices stand one family row apart, so they are not given by give(). */
static uint32_t give_devices(size_t driver, uint64_t n, uint32_t *count, void **ret)
{
    const char *none = NULL;
    uint32_t room = *count;
    uint32_t code = give(n, 0, none, count, ret);
    for (size_t i = 0; ret && room > 0 && i < *count && i < DEVICES_MAX; i++)
        ret[i] = (void *)(uintptr_t)&parts[driver * DEVICES_MAX + i][0][0];
    return code;
}

static uint32_t answer_list(const char *name, const char *type, void *handle, uint32_t *count,
                            void **ret)
{
    char key[KEY_SIZE];
    struct gtel_str text = GTEL_STR("0");
    uint64_t n = 0;
    (void)type;
    for (size_t i = 0; i < DRIVERS_MAX; i++) {
        if (handle != &drivers[i] || !is_started())
            continue;
        (void)snprintf(key, sizeof(key), "%s %zu", name, i);
        uint32_t code = ask(key, GTEL_ZE_SUCCESS, &text);
        if (code == GTEL_ZE_SUCCESS)
            code = count_of(text, ret != NULL, &n);
        return code != GTEL_ZE_SUCCESS ? code : give_devices(i, n, count, ret);
    }
    uint32_t code = gtel_played_ask(name, handle, &text);
    if (code == GTEL_ZE_SUCCESS)
        code = count_of(text, ret != NULL, &n);
    for (size_t f = 1; f < FAMILIES && code == GTEL_ZE_SUCCESS; f++)
        if (strcmp(families[f].list, name) == 0)
            return give(n, PARTS_MAX, (const char *)handle + f * PARTS_MAX, count, ret);
    return code;
}

/*
 * Drivers answer with a copy of what they have, head included: the type is not what was asked with,
 * and what was chained is forgotten, but of memory (compute-runtime: level_zero/sysman/source/api,
 * engine, temperature, frequency, RAS, memory).
 */
static void write_over_head(const char *name, void *whole)
{
    static const char *const copied[] = {"zesEngineGetProperties", "zesTemperatureGetProperties",
                                         "zesFrequencyGetProperties", "zesRasGetProperties"};
    struct gtel_zes_head head;
    bool is_memory = strcmp(name, "zesMemoryGetProperties") == 0;
    bool is_copied = is_memory;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(copied); i++)
        is_copied = is_copied || strcmp(name, copied[i]) == 0;
    if (!is_copied)
        return;
    memcpy(&head, whole, sizeof(head));
    head.type = 0;
    /* Of the first two nobody knows what it becomes: an address that is none of a structure. */
    if (strcmp(name, copied[0]) == 0 || strcmp(name, copied[1]) == 0)
        head.next = (void *)(uintptr_t)drivers;
    else if (!is_memory)
        head.next = NULL;
    memcpy(whole, &head, sizeof(head));
}

/* "unchained": the driver does not know what is chained, and refuses it. */
static bool is_refused(struct gtel_str *text, const void *whole)
{
    struct gtel_str rest = *text;
    struct gtel_str word;
    struct gtel_zes_head head;
    if (!gtel_str_word(&rest, &word) || !gtel_str_eq(word, GTEL_STR("unchained")))
        return false;
    *text = rest;
    memcpy(&head, whole, sizeof(head));
    return head.next != NULL;
}

static uint32_t answer_get(const char *name, const char *type, void *handle, void *ret)
{
    const struct layout *layout = layout_of(type);
    struct gtel_str text;
    if (!layout || !has_stype(ret, layout->stype))
        return GTEL_ZE_INVALID_ARGUMENT;
    uint32_t code = gtel_played_ask(name, handle, &text);
    if (code != GTEL_ZE_SUCCESS || is_untouched(text))
        return code;
    if (layout->stype != 0 && is_refused(&text, ret))
        return GTEL_ZE_INVALID_ARGUMENT;
    if (!set_fields(&text, layout->field, layout->n, ret))
        return GTEL_ZE_UNKNOWN;
    if (layout->stype == 0)
        return GTEL_ZE_SUCCESS;
    code = set_chain(text, ret);
    write_over_head(name, ret);
    return code;
}

static size_t words_in(struct gtel_str text)
{
    struct gtel_str word;
    size_t n = 0;
    while (gtel_str_word(&text, &word))
        n++;
    return n;
}

/* "counts N": what the call that counts says, whatever there is. */
static bool has_own_count(struct gtel_str *text, uint32_t *ret)
{
    struct gtel_str rest = *text;
    struct gtel_str word;
    uint64_t n = 0;
    bool has = gtel_str_word(&rest, &word) && gtel_str_eq(word, GTEL_STR("counts")) &&
               gtel_str_word(&rest, &word) && number_of(word, &n);
    if (has)
        *text = rest;
    *ret = (uint32_t)n;
    return has;
}

static uint32_t answer_get_list(const char *name, const char *type, void *handle, uint32_t *count,
                                void *ret)
{
    const struct layout *layout = layout_of(type);
    struct gtel_str text;
    uint32_t code = gtel_played_ask(name, handle, &text);
    if (code != GTEL_ZE_SUCCESS || !layout)
        return code;
    uint32_t counted;
    bool is_counting = !ret || *count == 0;
    bool is_own = has_own_count(&text, &counted);
    uint32_t n = (uint32_t)(words_in(text) / layout->n);
    uint32_t given = *count > 0 && *count < n ? *count : n;
    if (is_counting) {
        *count = is_own ? counted : n;
        return GTEL_ZE_SUCCESS;
    }
    /* Intel's driver reports how many there are, fills what there is room for, and refuses. */
    bool is_short = given < n && strcmp(name, "zesDeviceProcessesGetState") == 0;
    *count = is_short ? n : given;
    for (uint32_t i = 0; i < given; i++) {
        unsigned char *one = (unsigned char *)ret + i * layout->size;
        if (!has_stype(one, layout->stype))
            return GTEL_ZE_INVALID_ARGUMENT;
        if (!set_fields(&text, layout->field, layout->n, one))
            return GTEL_ZE_UNKNOWN;
    }
    return is_short ? GTEL_ZE_INVALID_SIZE : GTEL_ZE_SUCCESS;
}

static uint32_t answer_limits(const char *name, const char *type, void *handle,
                              struct gtel_zes_limit_sustained *ret,
                              struct gtel_zes_limit_burst *burst, struct gtel_zes_limit_peak *peak)
{
    struct gtel_str text;
    (void)type;
    uint32_t code = gtel_played_ask(name, handle, &text);
    if (code != GTEL_ZE_SUCCESS || is_untouched(text))
        return code;
    bool is_fine = set_fields(&text, sustained, GTEL_ARRAY_LEN(sustained), ret) &&
                   set_fields(&text, burst_limit, GTEL_ARRAY_LEN(burst_limit), burst) &&
                   set_fields(&text, peak_limit, GTEL_ARRAY_LEN(peak_limit), peak);
    return is_fine ? GTEL_ZE_SUCCESS : GTEL_ZE_UNKNOWN;
}

/* Clearing is control: a reader that does it is wrong. */
static uint32_t answer_ras(const char *name, const char *type, void *handle, uint8_t clear,
                           struct gtel_zes_ras_state *ret)
{
    struct gtel_str text;
    struct gtel_str word;
    (void)type;
    if (clear != 0 || ret->head.type != GTEL_ZES_TYPE_RAS_STATE)
        return GTEL_ZE_INVALID_ARGUMENT;
    uint32_t code = gtel_played_ask(name, handle, &text);
    if (code != GTEL_ZE_SUCCESS || is_untouched(text))
        return code;
    for (size_t i = 0; i < GTEL_ZES_RAS_ROOM && gtel_str_word(&text, &word); i++)
        if (!number_of(word, &ret->category[i]))
            return GTEL_ZE_UNKNOWN;
    return GTEL_ZE_SUCCESS;
}

static uint32_t answer_fan(const char *name, const char *type, void *handle, uint32_t units,
                           int32_t *ret)
{
    char key[KEY_SIZE];
    char whole[KEY_SIZE + 16];
    struct gtel_str text;
    uint64_t v;
    (void)type;
    if (!is_started() || !key_of(name, handle, key))
        return GTEL_ZE_NULL_HANDLE;
    (void)snprintf(whole, sizeof(whole), "%s %u", key, (unsigned)units);
    uint32_t code = ask(whole, GTEL_ZE_UNSUPPORTED_FEATURE, &text);
    if (code != GTEL_ZE_SUCCESS || is_untouched(text))
        return code;
    if (!number_of(text, &v))
        return GTEL_ZE_UNKNOWN;
    *ret = (int32_t)(int64_t)v;
    return GTEL_ZE_SUCCESS;
}

/* The first device, or tile of one, that the machine gives that UUID; any driver has all of them.
 */
static bool find_uuid(const struct gtel_zes_uuid *uuid, size_t nth, struct gtel_zes_subdevice *ret)
{
    struct gtel_str text;
    struct gtel_str word;
    uint64_t id = 0;
    void *handle = gtel_played_device(nth);
    *ret = (struct gtel_zes_subdevice){.id = UINT32_MAX};
    if (gtel_played_ask("zesDeviceGetProperties", handle, &text) == GTEL_ZE_SUCCESS)
        for (size_t i = 0; gtel_str_word(&text, &word); i++)
            if (i == 3 && set_uuid(word, ret->uuid.id) &&
                memcmp(ret->uuid.id, uuid->id, sizeof(uuid->id)) == 0)
                return true;
    if (gtel_played_ask("zesDeviceGetSubDevicePropertiesExp", handle, &text) != GTEL_ZE_SUCCESS)
        return false;
    while (gtel_str_word(&text, &word) && number_of(word, &id) && gtel_str_word(&text, &word) &&
           set_uuid(word, ret->uuid.id)) {
        ret->id = (uint32_t)id;
        if (memcmp(ret->uuid.id, uuid->id, sizeof(uuid->id)) == 0)
            return true;
    }
    return false;
}

static uint32_t look_up(const char *name, const void *driver, struct gtel_zes_uuid uuid, void **ret,
                        uint8_t *on_subdevice, uint32_t *subdevice_id)
{
    struct gtel_str text = GTEL_STR_NONE;
    struct gtel_zes_subdevice found;
    if (!is_started() || !gtel_played_is_driver(driver))
        return is_started() ? GTEL_ZE_NULL_HANDLE : GTEL_ZE_UNINITIALIZED;
    uint32_t code = ask(name, GTEL_ZE_SUCCESS, &text);
    if (code != GTEL_ZE_SUCCESS || is_untouched(text))
        return code;
    for (size_t d = 0; d < GTEL_ARRAY_LEN(parts); d++) {
        if (!find_uuid(&uuid, d, &found))
            continue;
        *ret = gtel_played_device(d);
        *on_subdevice = found.id != UINT32_MAX;
        *subdevice_id = *on_subdevice ? found.id : 0;
        return GTEL_ZE_SUCCESS;
    }
    return GTEL_ZE_INVALID_ARGUMENT;
}

#define WITHOUT_TYPE(name, type, ...) look_up(name, __VA_ARGS__)
#define answer_by_uuid(...) WITHOUT_TYPE(__VA_ARGS__)
/* Each exported name is declared before it is defined: there is no header for them. */
#define GTEL_ZES_SYM(name, need, shape, type)                                                      \
    GTEL_EXPORT uint32_t name GTEL_ZES_PARAMS_##shape(type);                                       \
    uint32_t name GTEL_ZES_PARAMS_##shape(type)                                                    \
    {                                                                                              \
        uint32_t code = gtel_player_begin(#name);                                                  \
        if (code == GTEL_ZE_SUCCESS)                                                               \
            code = answer_##shape(#name, #type GTEL_ZES_ARGS_##shape);                             \
        gtel_player_end();                                                                         \
        return code;                                                                               \
    }
#include "abi/zes_syms.def"
#include "fakes/libze_loader/more_syms.def"
#undef GTEL_ZES_SYM

/* ---- for the other calls ---- */

uint32_t gtel_played_ask_core(const char *key, uint32_t missing, struct gtel_str *ret)
{
    return apis[CORE].is_started ? ask(key, missing, ret) : GTEL_ZE_UNINITIALIZED;
}

bool gtel_played_is_driver(const void *handle)
{
    bool found = false;
    for (size_t i = 0; i < DRIVERS_MAX; i++)
        found = found || handle == &drivers[i];
    return found;
}

void *gtel_played_device(size_t nth)
{
    return nth < GTEL_ARRAY_LEN(parts) ? (void *)(uintptr_t)&parts[nth][0][0] : NULL;
}

bool gtel_played_device_number(const void *handle, size_t *ret)
{
    for (size_t d = 0; d < GTEL_ARRAY_LEN(parts); d++)
        if (handle == &parts[d][0][0]) {
            *ret = d;
            return true;
        }
    return false;
}
