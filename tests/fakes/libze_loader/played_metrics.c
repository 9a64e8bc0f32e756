/* SPDX-License-Identifier: MIT */
/* Level Zero's metrics as played from a recorded machine. */
#include "fakes/libze_loader/played.h"

#include "abi/zet_abi.h"
#include "fakes/player.h"
#include "harness/call_args.h"

#include <stdio.h>
#include <string.h>

enum {
    DEVICES_MAX = 32,
    GROUPS_MAX = 8,   /* of one device */
    METRICS_MAX = 32, /* of one group */
    CAPACITY = 65536, /* bytes that a stream's buffer holds */
    DOMAIN_OF_STALLS = 100,
    KEY_SIZE = 128
};

/* A handle is the address of an element; where it is says what it is. */
static const char groups[DEVICES_MAX][GROUPS_MAX];
static const char members[DEVICES_MAX][GROUPS_MAX][METRICS_MAX];
static const char streams[DEVICES_MAX];
static const char the_context;

/* What is enabled, active and open. */
static struct {
    unsigned contexts;
    struct {
        bool is_enabled;
        const void *active; /* its group, or NULL */
        const void *stream; /* the group whose stream is open, or NULL */
        size_t reads;
        size_t bytes; /* that have been read from it */
    } device[DEVICES_MAX];
} metrics;

void gtel_played_metrics_reset(void)
{
    memset(&metrics, 0, sizeof(metrics));
}

/* ---- words and handles ---- */

static bool next_number(struct gtel_str *text, uint64_t *ret)
{
    struct gtel_str word;
    if (!gtel_str_word(text, &word))
        return false;
    if (gtel_str_starts(word, GTEL_STR("0x")))
        return gtel_str_hex(word, ret) == 0;
    return gtel_str_u64(word, ret) == 0;
}

static bool next_u32(struct gtel_str *text, uint32_t *ret)
{
    uint64_t number;
    if (!next_number(text, &number))
        return false;
    *ret = (uint32_t)number;
    return true;
}

static bool group_of(const void *handle, size_t *ret_device, size_t *ret_group)
{
    for (size_t d = 0; d < DEVICES_MAX; d++)
        for (size_t g = 0; g < GROUPS_MAX; g++)
            if (handle == &groups[d][g]) {
                *ret_device = d;
                *ret_group = g;
                return true;
            }
    return false;
}

static uint32_t ask_group(const char *name, const void *handle, struct gtel_str *ret)
{
    char key[KEY_SIZE];
    size_t d;
    size_t g;
    if (!group_of(handle, &d, &g))
        return GTEL_ZE_NULL_HANDLE;
    (void)snprintf(key, sizeof(key), "%s %zu %zu", name, d, g);
    return gtel_played_ask_core(key, GTEL_ZE_UNSUPPORTED_FEATURE, ret);
}

/* A device's answer; `other` is the same question to Sysman. */
static uint32_t ask_device(const char *name, const char *other, const void *handle,
                           struct gtel_str *ret)
{
    char key[KEY_SIZE];
    size_t d;
    if (!gtel_played_device_number(handle, &d))
        return GTEL_ZE_NULL_HANDLE;
    (void)snprintf(key, sizeof(key), "%s %zu", name, d);
    uint32_t code = gtel_played_ask_core(key, GTEL_ZE_UNSUPPORTED_FEATURE, ret);
    if (code != GTEL_ZE_UNSUPPORTED_FEATURE || !other)
        return code;
    (void)snprintf(key, sizeof(key), "%s %zu", other, d);
    return gtel_played_ask_core(key, GTEL_ZE_UNSUPPORTED_FEATURE, ret);
}

/* The count of a list: the first number, or the second one for a call that fills. */
static uint32_t count_of(struct gtel_str text, bool is_filling, uint32_t *ret)
{
    if (!next_u32(&text, ret))
        return GTEL_ZE_UNKNOWN;
    if (is_filling)
        (void)next_u32(&text, ret);
    return GTEL_ZE_SUCCESS;
}

static uint32_t give(uint32_t n, const char *first, uint32_t room, uint32_t *count, void **ret)
{
    uint32_t given = *count < n ? *count : n;
    for (uint32_t i = 0; ret && i < given && i < room; i++)
        ret[i] = (void *)(uintptr_t)(first + i);
    *count = ret && *count > 0 ? given : n;
    return GTEL_ZE_SUCCESS;
}

static bool copy_word(struct gtel_str *text, char to[GTEL_ZET_NAME])
{
    struct gtel_str word;
    return gtel_str_word(text, &word) && gtel_str_copy(to, GTEL_ZET_NAME, word);
}

static bool is_untouched(struct gtel_str text)
{
    return gtel_str_eq(text, GTEL_STR("untouched"));
}

/* ---- devices ---- */

static uint32_t sub_devices(void *handle, uint32_t *count, void **ret)
{
    struct gtel_str text;
    uint32_t n = 0;
    uint32_t first = 0;
    uint32_t code = ask_device("zeDeviceGetSubDevices", NULL, handle, &text);
    if (code == GTEL_ZE_UNSUPPORTED_FEATURE)
        text = GTEL_STR("0 0");
    else if (code != GTEL_ZE_SUCCESS)
        return code;
    if (!next_u32(&text, &n) || !next_u32(&text, &first))
        return GTEL_ZE_UNKNOWN;
    for (uint32_t i = 0; ret && i < *count && i < n; i++)
        ret[i] = gtel_played_device(first + i);
    *count = ret && *count > 0 && *count < n ? *count : n;
    return GTEL_ZE_SUCCESS;
}

static uint32_t device_properties(void *handle, struct gtel_ze_device_properties *ret)
{
    struct gtel_str text;
    if (ret->head.type != GTEL_ZE_TYPE_DEVICE_PROPERTIES)
        return GTEL_ZE_INVALID_ARGUMENT;
    uint32_t code = ask_device("zeDeviceGetProperties", "zesDeviceGetProperties", handle, &text);
    if (code != GTEL_ZE_SUCCESS || is_untouched(text))
        return code;
    bool is_fine = next_u32(&text, &ret->device_type) && next_u32(&text, &ret->vendor_id);
    ret->subdevice_id = 0;
    (void)next_u32(&text, &ret->subdevice_id);
    return is_fine ? GTEL_ZE_SUCCESS : GTEL_ZE_UNKNOWN;
}

static uint32_t pci_properties(void *handle, struct gtel_ze_pci_ext_properties *ret)
{
    struct gtel_str text;
    if (ret->head.type != GTEL_ZE_TYPE_PCI_EXT_PROPERTIES)
        return GTEL_ZE_INVALID_ARGUMENT;
    uint32_t code =
        ask_device("zeDevicePciGetPropertiesExt", "zesDevicePciGetProperties", handle, &text);
    if (code != GTEL_ZE_SUCCESS || is_untouched(text))
        return code;
    bool is_fine = next_u32(&text, &ret->domain) && next_u32(&text, &ret->bus) &&
                   next_u32(&text, &ret->device) && next_u32(&text, &ret->function);
    return is_fine ? GTEL_ZE_SUCCESS : GTEL_ZE_UNKNOWN;
}

static uint32_t create_context(void *handle, const struct gtel_ze_context_desc *desc, void **ret)
{
    struct gtel_str text;
    if (!gtel_played_is_driver(handle))
        return GTEL_ZE_NULL_HANDLE;
    if (desc->head.type != GTEL_ZE_TYPE_CONTEXT_DESC)
        return GTEL_ZE_INVALID_ARGUMENT;
    uint32_t code = gtel_played_ask_core("zeContextCreate", GTEL_ZE_SUCCESS, &text);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    metrics.contexts++;
    *ret = (void *)(uintptr_t)&the_context;
    return GTEL_ZE_SUCCESS;
}

static bool is_context(const void *handle)
{
    return handle == &the_context && metrics.contexts > 0;
}

static uint32_t destroy_context(void *handle)
{
    if (!is_context(handle))
        return GTEL_ZE_NULL_HANDLE;
    metrics.contexts--;
    return GTEL_ZE_SUCCESS;
}

/* ---- groups ---- */

static uint32_t enable(void *handle)
{
    struct gtel_str text;
    size_t d;
    uint32_t code = ask_device("zetDeviceEnableMetricsExp", NULL, handle, &text);
    if (!gtel_played_device_number(handle, &d))
        return GTEL_ZE_NULL_HANDLE;
    metrics.device[d].is_enabled = code == GTEL_ZE_SUCCESS;
    return code == GTEL_ZE_UNSUPPORTED_FEATURE ? GTEL_ZE_NO_DEPENDENCY : code;
}

static uint32_t disable(void *handle)
{
    size_t d;
    if (!gtel_played_device_number(handle, &d))
        return GTEL_ZE_NULL_HANDLE;
    if (metrics.device[d].active)
        return GTEL_ZE_IN_USE;
    metrics.device[d].is_enabled = false;
    return GTEL_ZE_SUCCESS;
}

static bool is_enabled(size_t device)
{
    struct gtel_str text;
    return metrics.device[device].is_enabled ||
           (gtel_played_ask_core("zetDeviceEnableMetricsExp", GTEL_ZE_UNKNOWN, &text) ==
                GTEL_ZE_SUCCESS &&
            gtel_str_eq(text, GTEL_STR("!nosymbol")));
}

static uint32_t list_groups(void *handle, uint32_t *count, void **ret)
{
    struct gtel_str text;
    size_t d;
    uint32_t n = 0;
    if (!gtel_played_device_number(handle, &d))
        return GTEL_ZE_NULL_HANDLE;
    if (!is_enabled(d))
        return GTEL_ZE_UNINITIALIZED;
    uint32_t code = ask_device("zetMetricGroupGet", NULL, handle, &text);
    if (code == GTEL_ZE_SUCCESS)
        code = count_of(text, ret != NULL, &n);
    return code == GTEL_ZE_SUCCESS ? give(n, groups[d], GROUPS_MAX, count, ret) : code;
}

static uint32_t group_properties(void *handle, struct gtel_zet_group_properties *ret)
{
    struct gtel_str text;
    if (ret->head.type != GTEL_ZET_TYPE_GROUP_PROPERTIES)
        return GTEL_ZE_INVALID_ARGUMENT;
    uint32_t code = ask_group("zetMetricGroupGetProperties", handle, &text);
    if (code != GTEL_ZE_SUCCESS || is_untouched(text))
        return code;
    bool is_fine = copy_word(&text, ret->name) && next_u32(&text, &ret->sampling_type) &&
                   next_u32(&text, &ret->domain) && next_u32(&text, &ret->metrics);
    return is_fine ? GTEL_ZE_SUCCESS : GTEL_ZE_UNKNOWN;
}

static uint32_t list_metrics(void *handle, uint32_t *count, void **ret)
{
    struct gtel_str text;
    size_t d;
    size_t g;
    uint32_t n = 0;
    uint32_t code = ask_group("zetMetricGet", handle, &text);
    if (!group_of(handle, &d, &g))
        return GTEL_ZE_NULL_HANDLE;
    if (code == GTEL_ZE_SUCCESS)
        code = count_of(text, ret != NULL, &n);
    return code == GTEL_ZE_SUCCESS ? give(n, members[d][g], METRICS_MAX, count, ret) : code;
}

static uint32_t ask_metric(size_t device, size_t group, size_t metric, struct gtel_str *ret)
{
    char key[KEY_SIZE];
    (void)snprintf(key, sizeof(key), "zetMetricGetProperties %zu %zu %zu", device, group, metric);
    return gtel_played_ask_core(key, GTEL_ZE_UNSUPPORTED_FEATURE, ret);
}

static uint32_t metric_properties(void *handle, struct gtel_zet_metric_properties *ret)
{
    struct gtel_str text;
    ptrdiff_t at = (const char *)handle - &members[0][0][0];
    if (at < 0 || at >= (ptrdiff_t)sizeof(members))
        return GTEL_ZE_NULL_HANDLE;
    if (ret->head.type != GTEL_ZET_TYPE_METRIC_PROPERTIES)
        return GTEL_ZE_INVALID_ARGUMENT;
    size_t i = (size_t)at;
    uint32_t code = ask_metric(i / METRICS_MAX / GROUPS_MAX, i / METRICS_MAX % GROUPS_MAX,
                               i % METRICS_MAX, &text);
    if (code != GTEL_ZE_SUCCESS || is_untouched(text))
        return code;
    bool is_fine = copy_word(&text, ret->name) && next_u32(&text, &ret->metric_type) &&
                   next_u32(&text, &ret->result_type);
    return is_fine ? GTEL_ZE_SUCCESS : GTEL_ZE_UNKNOWN;
}

/* ---- streams ---- */

/* One group at a time is what is played; an empty list puts it away. */
static uint32_t activate(void *of, void *handle, uint32_t count, void **group)
{
    struct gtel_str text;
    size_t d;
    size_t owner;
    size_t g;
    if (!is_context(of) || !gtel_played_device_number(handle, &d) ||
        (count > 0 && (!group_of(group[0], &owner, &g) || owner != d)))
        return GTEL_ZE_NULL_HANDLE;
    if (metrics.device[d].stream)
        return GTEL_ZE_IN_USE;
    uint32_t code = ask_device("zetContextActivateMetricGroups", NULL, handle, &text);
    if (code != GTEL_ZE_SUCCESS && code != GTEL_ZE_UNSUPPORTED_FEATURE && count > 0)
        return code;
    metrics.device[d].active = count > 0 ? group[0] : NULL;
    return GTEL_ZE_SUCCESS;
}

static uint32_t open_stream(void *of, void *handle, void *group,
                            struct gtel_zet_streamer_desc *desc, void *event, void **ret)
{
    struct gtel_str text;
    size_t d;
    (void)event;
    if (!is_context(of) || !gtel_played_device_number(handle, &d))
        return GTEL_ZE_NULL_HANDLE;
    if (desc->head.type != GTEL_ZET_TYPE_STREAMER_DESC)
        return GTEL_ZE_INVALID_ARGUMENT;
    if (metrics.device[d].stream)
        return GTEL_ZE_IN_USE;
    if (!group || metrics.device[d].active != group)
        return GTEL_ZE_NOT_READY;
    uint32_t code = ask_group("zetMetricStreamerOpen", group, &text);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    (void)next_u32(&text, &desc->notify_every);
    (void)next_u32(&text, &desc->period);
    metrics.device[d].stream = group;
    metrics.device[d].reads = 0;
    metrics.device[d].bytes = 0;
    *ret = (void *)(uintptr_t)&streams[d];
    return GTEL_ZE_SUCCESS;
}

static bool stream_of(const void *handle, size_t *ret)
{
    for (size_t d = 0; d < DEVICES_MAX; d++)
        if (handle == &streams[d] && metrics.device[d].stream) {
            *ret = d;
            return true;
        }
    return false;
}

static uint32_t read_stream(void *handle, uint32_t max_reports, size_t *size, uint8_t *ret)
{
    struct gtel_str text;
    uint64_t bytes = 0;
    uint64_t code = 0;
    size_t d;
    (void)max_reports;
    if (!stream_of(handle, &d))
        return GTEL_ZE_NULL_HANDLE;
    if (!ret) {
        uint32_t refusal =
            ask_group("zetMetricStreamerReadData room", metrics.device[d].stream, &text);
        bool has_room = refusal == GTEL_ZE_SUCCESS && next_number(&text, &bytes);
        *size = has_room ? (size_t)bytes : CAPACITY;
        return refusal == GTEL_ZE_UNSUPPORTED_FEATURE ? GTEL_ZE_SUCCESS : refusal;
    }
    uint32_t answer = ask_group("zetMetricStreamerReadData", metrics.device[d].stream, &text);
    if (answer != GTEL_ZE_SUCCESS)
        return answer;
    for (size_t i = 0; i <= metrics.device[d].reads; i++)
        if (!next_number(&text, &bytes) || !next_number(&text, &code))
            break;
    metrics.device[d].reads++;
    if (bytes == UINT64_MAX) {
        *size = SIZE_MAX;
        return (uint32_t)code;
    }
    *size = bytes < *size ? (size_t)bytes : *size;
    memset(ret, 0x5a, *size);
    metrics.device[d].bytes += *size;
    return (uint32_t)code;
}

/* Stalls: the driver deletes the stream whatever it answers (compute-runtime: IP sampling). */
static uint32_t close_stream(void *handle)
{
    struct gtel_zet_group_properties of = {.head.type = GTEL_ZET_TYPE_GROUP_PROPERTIES};
    struct gtel_str text;
    size_t d;
    if (!stream_of(handle, &d))
        return GTEL_ZE_NULL_HANDLE;
    void *group = (void *)(uintptr_t)metrics.device[d].stream;
    uint32_t code = ask_group("zetMetricStreamerClose", group, &text);
    if (code == GTEL_ZE_UNSUPPORTED_FEATURE)
        code = GTEL_ZE_SUCCESS;
    (void)group_properties(group, &of);
    if (code == GTEL_ZE_SUCCESS || of.domain == DOMAIN_OF_STALLS)
        metrics.device[d].stream = NULL;
    return code;
}

static bool set_value(struct gtel_str word, uint32_t type, struct gtel_zet_value *ret)
{
    double number;
    uint64_t whole = 0;
    if (gtel_str_f64(word, &number) < 0)
        return false;
    memset(ret, 0xee, sizeof(*ret)); /* a driver does not clear what it does not use */
    ret->type = type;
    if (type == GTEL_ZET_FLOAT32)
        ret->is.f32 = (float)number;
    else if (type == GTEL_ZET_FLOAT64)
        ret->is.f64 = number;
    else if (gtel_str_u64(word, &whole) < 0)
        return false;
    else if (type == GTEL_ZET_UINT32)
        ret->is.u32 = (uint32_t)whole;
    else if (type == GTEL_ZET_BOOL8)
        ret->is.b8 = (uint8_t)whole;
    else
        ret->is.u64 = whole;
    return true;
}

static uint32_t words_in(struct gtel_str text)
{
    struct gtel_str word;
    uint32_t n = 0;
    while (gtel_str_word(&text, &word))
        n++;
    return n;
}

/* Fills room for n values with types from the metrics' properties. */
static uint32_t set_values(const void *handle, struct gtel_str text, uint32_t n,
                           struct gtel_zet_value *ret)
{
    struct gtel_str word;
    uint32_t type[METRICS_MAX];
    size_t columns = 0;
    size_t d = 0;
    size_t g = 0;
    if (!group_of(handle, &d, &g))
        return GTEL_ZE_NULL_HANDLE;
    for (; columns < METRICS_MAX; columns++) {
        struct gtel_str of;
        uint32_t kind;
        if (ask_metric(d, g, columns, &of) != GTEL_ZE_SUCCESS || !gtel_str_word(&of, &word) ||
            !next_u32(&of, &kind) || !next_u32(&of, &type[columns]))
            break;
    }
    for (uint32_t i = 0; columns > 0 && i < n; i++)
        if (!gtel_str_word(&text, &word) || !set_value(word, type[i % columns], &ret[i]))
            return GTEL_ZE_UNKNOWN;
    return GTEL_ZE_SUCCESS;
}

/* The code that the filling call answers together with its values: SUCCESS unless there is one. */
static uint32_t take_code(struct gtel_str *text)
{
    uint32_t code = GTEL_ZE_SUCCESS;
    if (!gtel_str_starts(*text, GTEL_STR("code ")))
        return code;
    *text = gtel_str_skip(*text, sizeof("code ") - 1);
    if (!next_u32(text, &code))
        return GTEL_ZE_UNKNOWN;
    *text = gtel_str_trim(*text);
    return code;
}

/* Whether the bytes are those that were read. */
static bool is_read(const void *handle, size_t size)
{
    size_t d = 0;
    size_t g = 0;
    return group_of(handle, &d, &g) && size > 0 && size == metrics.device[d].bytes;
}

static uint32_t calculate(void *handle, uint32_t kind, size_t size, const uint8_t *raw,
                          uint32_t *count, struct gtel_zet_value *ret)
{
    struct gtel_str text;
    (void)raw;
    if (kind != GTEL_ZET_METRIC_VALUES || !is_read(handle, size))
        return GTEL_ZE_INVALID_ARGUMENT;
    uint32_t code = ask_group("zetMetricGroupCalculateMetricValues", handle, &text);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    uint32_t with = take_code(&text);
    bool is_written = !gtel_str_starts(text, GTEL_STR("untouched "));
    uint32_t n = words_in(text);
    text = is_written ? text : gtel_str_skip(text, sizeof("untouched ") - 1);
    if (!is_written && !next_u32(&text, &n))
        return GTEL_ZE_UNKNOWN;
    if (!ret || *count == 0) {
        *count = n;
        return GTEL_ZE_SUCCESS;
    }
    *count = *count < n ? *count : n;
    code = is_written ? set_values(handle, text, *count, ret) : GTEL_ZE_SUCCESS;
    return code == GTEL_ZE_SUCCESS ? with : code;
}

#define SETS_PARAMS GTEL_ZET_PARAMS_calculate_sets(struct gtel_zet_value *)

/* NOLINTNEXTLINE(readability-function-size): its parameters are the vendor's */
static uint32_t calculate_sets SETS_PARAMS
{
    struct gtel_str text;
    uint32_t n = 0;
    (void)raw;
    if (kind != GTEL_ZET_METRIC_VALUES || !is_read(handle, size))
        return GTEL_ZE_INVALID_ARGUMENT;
    uint32_t code = ask_group("zetMetricGroupCalculateMultipleMetricValuesExp", handle, &text);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    uint32_t with = take_code(&text);
    if (!next_u32(&text, &n) || n == 0)
        return GTEL_ZE_UNKNOWN;
    uint32_t all = words_in(text);
    for (uint32_t i = 0; counts && i < n && i < *sets; i++)
        counts[i] = all / n;
    *sets = n;
    if (!ret || *count == 0) {
        *count = all;
        return GTEL_ZE_SUCCESS;
    }
    *count = *count < all ? *count : all;
    code = set_values(handle, text, *count, ret);
    return code == GTEL_ZE_SUCCESS ? with : code;
}

/* zeInit, zeDriverGet and zeDeviceGet are in played_sysman.c. */
static const struct gtel_zet_calls calls = {
    .zeDeviceGetSubDevices = sub_devices,
    .zeDeviceGetProperties = device_properties,
    .zeDevicePciGetPropertiesExt = pci_properties,
    .zeContextCreate = create_context,
    .zeContextDestroy = destroy_context,
    .zetDeviceEnableMetricsExp = enable,
    .zetDeviceDisableMetricsExp = disable,
    .zetMetricGroupGet = list_groups,
    .zetMetricGroupGetProperties = group_properties,
    .zetMetricGet = list_metrics,
    .zetMetricGetProperties = metric_properties,
    .zetContextActivateMetricGroups = activate,
    .zetMetricStreamerOpen = open_stream,
    .zetMetricStreamerReadData = read_stream,
    .zetMetricStreamerClose = close_stream,
    .zetMetricGroupCalculateMetricValues = calculate,
    .zetMetricGroupCalculateMultipleMetricValuesExp = calculate_sets,
};

#define APPLY_(fn, first, ...) fn(__VA_ARGS__)
#define APPLY(...) APPLY_(__VA_ARGS__)
#define GTEL_ZET_SYM(name, need, shape, type)                                                      \
    GTEL_EXPORT uint32_t name GTEL_ZET_PARAMS_##shape(type);                                       \
    uint32_t name GTEL_ZET_PARAMS_##shape(type)                                                    \
    {                                                                                              \
        uint32_t code = gtel_player_begin(#name);                                                  \
        if (code == GTEL_ZE_SUCCESS)                                                               \
            code = APPLY(calls.name, 0 GTEL_ZET_ARGS_##shape);                                     \
        gtel_player_end();                                                                         \
        return code;                                                                               \
    }
#define GTEL_ZET_WITHOUT_SHARED
#include "abi/zet_syms.def"
#undef GTEL_ZET_WITHOUT_SHARED
#undef GTEL_ZET_SYM
