/* SPDX-License-Identifier: MIT */
/* Devices of Level Zero, and the metrics of them that we know. */
#include "sources/level_zero/metrics/l0metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VENDOR_INTEL = 0x8086, TRIES = 3, LACK_TRIES = 2 };

#define SECOND_NS 1000000000u
#define RARELY_NS (600 * (uint64_t)SECOND_NS)
#define PAUSE_LAST_NS (64 * (uint64_t)SECOND_NS)

typedef uint32_t (*list_fn)(void *handle, uint32_t *count, void **ret);

/*
 * The columns that we know, by the platforms that have them (intel's metrics-discovery:
 * docs/metric_info_*.tsv). Xe2 and later have no metric called XMX: their pipe ALU2 stands in its
 * place, but that it is nothing else is not proven, so it goes by its own name. By types of data
 * they count instructions only, and give no share.
 */
static const struct {
    const char *name;
    enum gtel_l0m_kind kind; /* the group that it is taken from */
    enum gtel_l0m_role role;
} columns[] = {
    {"EuActive", GTEL_L0M_ACTIVITY, GTEL_L0M_EU_ACTIVE}, /* before DG2 */
    {"EuStall", GTEL_L0M_ACTIVITY, GTEL_L0M_EU_STALL},
    {"XveActive", GTEL_L0M_ACTIVITY, GTEL_L0M_EU_ACTIVE}, /* DG2, Meteor Lake, Arrow Lake */
    {"XveStall", GTEL_L0M_ACTIVITY, GTEL_L0M_EU_STALL},
    {"XmxActive", GTEL_L0M_ACTIVITY, GTEL_L0M_XMX},
    {"XVE_ACTIVE", GTEL_L0M_ACTIVITY, GTEL_L0M_EU_ACTIVE}, /* Ponte Vecchio, Xe2 and later */
    {"XVE_STALL", GTEL_L0M_ACTIVITY, GTEL_L0M_EU_STALL},
    {"XVE_INST_EXECUTED_XMX_ALL_UTILIZATION", GTEL_L0M_ACTIVITY, GTEL_L0M_XMX}, /* Ponte Vecchio */
    {"XVE_INST_EXECUTED_ALU2_ALL_UTILIZATION", GTEL_L0M_ACTIVITY, GTEL_L0M_ALU2}, /* Xe2, later */
    {"XVE_INST_EXECUTED_XMX_BF16_UTILIZATION", GTEL_L0M_TYPES, GTEL_L0M_XMX_BF16},
    {"XVE_INST_EXECUTED_XMX_FP16_UTILIZATION", GTEL_L0M_TYPES, GTEL_L0M_XMX_FP16},
    {"XVE_INST_EXECUTED_XMX_INT8_UTILIZATION", GTEL_L0M_TYPES, GTEL_L0M_XMX_INT8},
    {"XVE_INST_EXECUTED_XMX_INT4_UTILIZATION", GTEL_L0M_TYPES, GTEL_L0M_XMX_INT4},
    {"XVE_INST_EXECUTED_FP16_UTILIZATION", GTEL_L0M_TYPES, GTEL_L0M_FP16},
    {"XVE_INST_EXECUTED_FP32_UTILIZATION", GTEL_L0M_TYPES, GTEL_L0M_FP32},
    {"XVE_INST_EXECUTED_FP64_UTILIZATION", GTEL_L0M_TYPES, GTEL_L0M_FP64},
};

/* Groups that may have them; one of these names has other columns on other platforms. */
static const struct {
    const char *name;
    enum gtel_l0m_kind kind;
} group_names[] = {
    {"ComputeBasic", GTEL_L0M_ACTIVITY},
    {"Ext1005", GTEL_L0M_TYPES},         /* DG2, Meteor Lake, Arrow Lake */
    {"VectorEngine39", GTEL_L0M_TYPES},  /* DG2 (ACM GT2) */
    {"Ext1000", GTEL_L0M_TYPES},         /* Ponte Vecchio */
    {"VectorEngine138", GTEL_L0M_TYPES}, /* Ponte Vecchio */
    {"EuStallSampling", GTEL_L0M_STALL},
};

/* ---- what a code means ---- */

/* Not on this device, or not for us: tried again rarely. */
static bool is_permanent(uint32_t code)
{
    return code == GTEL_ZE_NO_PERMISSION || code == GTEL_ZE_NO_DEPENDENCY ||
           code == GTEL_ZE_UNSUPPORTED_VERSION || code == GTEL_ZE_UNSUPPORTED_FEATURE ||
           code == GTEL_L0M_NO_METRICS;
}

bool gtel_l0m_is_refused(const struct gtel_l0m_ask *ask)
{
    return ask->call && strcmp(ask->call, "zetMetricStreamerOpen") == 0 &&
           (ask->code == GTEL_ZE_UNKNOWN || ask->code == GTEL_ZE_IN_USE ||
            ask->code == GTEL_ZE_NOT_AVAILABLE);
}

/* Not a failure: somebody else measures, or the GPU has nothing to say now. */
static bool is_quiet(const struct gtel_l0m_ask *ask)
{
    return gtel_l0m_is_refused(ask) || ask->code == GTEL_ZE_NOT_READY ||
           ask->code == GTEL_ZE_NOT_AVAILABLE || ask->code == GTEL_ZE_LOW_POWER;
}

static void log_failure(const struct gtel_l0m *l0m, const struct gtel_l0m_gpu *gpu,
                        const struct gtel_l0m_ask *ask)
{
    if (ask->code == GTEL_L0M_NO_METRICS)
        return; /* a matter of the GPU: for doctor */
    const char *why;
    const char *fix;
    gtel_l0m_explain(l0m->cards.env, gpu, ask, &why, &fix);
    gtel_log(&l0m->cards.env->log, GTEL_LOG_WARNING,
             "l0metrics: %s: %s answers code 0x%x%s%s; trying again", gpu->card->drm.key, ask->call,
             (unsigned)ask->code, why ? ": " : "", why ? why : "");
}

void gtel_l0m_settle(const struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu, struct gtel_l0m_ask *ask,
                     const char *call, uint32_t code)
{
    uint64_t now = gtel_env_now(l0m->cards.env);
    ask->code = code;
    ask->call = call;
    ask->was_asked = true;
    if (code == GTEL_ZE_SUCCESS) {
        if (ask->is_noted)
            gtel_log(&l0m->cards.env->log, GTEL_LOG_INFO, "l0metrics: %s: works again",
                     gpu->card->drm.key);
        *ask = (struct gtel_l0m_ask){.was_asked = true, .call = call};
        return;
    }
    if (is_permanent(code)) {
        ask->due_ns = now + RARELY_NS;
    } else {
        ask->due_ns = now + ask->pause_ns;
        ask->pause_ns = ask->pause_ns == 0              ? SECOND_NS
                        : ask->pause_ns < PAUSE_LAST_NS ? ask->pause_ns * 2
                                                        : PAUSE_LAST_NS;
        gpu->failed += !is_quiet(ask);
    }
    if (!ask->is_noted)
        log_failure(l0m, gpu, ask);
    ask->is_noted = ask->is_noted || code != GTEL_L0M_NO_METRICS;
}

/* ---- lists ---- */

/*
 * Counts, then fills, as many as `max`. The number may grow between the two calls, and a driver may
 * say anything: none that was not written. *ret is allocated.
 */
static uint32_t fill(list_fn call, void *handle, size_t max, void ***ret, size_t *ret_n)
{
    uint32_t code = GTEL_ZE_INVALID_SIZE;
    *ret = NULL;
    *ret_n = 0;
    for (int i = 0; i < TRIES && code == GTEL_ZE_INVALID_SIZE; i++) {
        uint32_t count = 0;
        code = call(handle, &count, NULL);
        if (code != GTEL_ZE_SUCCESS || count == 0)
            return code;
        uint32_t room = count < max ? count : (uint32_t)max;
        void **list = calloc(room, sizeof(*list));
        if (!list)
            return GTEL_ZE_OUT_OF_HOST_MEMORY;
        count = room;
        code = call(handle, &count, list);
        free(*ret);
        *ret = list;
        *ret_n = 0;
        for (uint32_t k = 0; code == GTEL_ZE_SUCCESS && k < room && k < count; k++)
            if (list[k])
                list[(*ret_n)++] = list[k];
    }
    return code;
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

static struct gtel_l0m_gpu *gpu_at(const struct gtel_l0m *l0m,
                                   const struct gtel_ze_pci_ext_properties *got)
{
    for (size_t i = 0; i < l0m->cards.n; i++) {
        const struct gtel_drm_card *drm = &gtel_card_at(&l0m->cards, i)->drm;
        if (drm->is_pci && got->domain == drm->pci.domain && got->bus == drm->pci.bus &&
            got->device == drm->pci.device && got->function == drm->pci.function)
            return l0m->cards.slot[i].own;
    }
    return NULL;
}

static bool is_known(const struct gtel_l0m_gpu *gpu, const void *handle)
{
    bool found = false;
    for (size_t i = 0; i < gpu->n; i++)
        found = found || gpu->tile[i].handle == handle;
    return found;
}

static void add_tile(struct gtel_l0m_gpu *gpu, void *driver, void *handle)
{
    if (gpu->n < GTEL_L0M_TILES_MAX && !is_known(gpu, handle))
        gpu->tile[gpu->n++] = (struct gtel_l0m_tile){.driver = driver, .handle = handle};
}

/*
 * What this driver or loader has not got, as opposed to what fails now. What it says only once is a
 * failure, too: what is done without is done without for good.
 */
static bool is_lack(uint32_t code)
{
    return code == GTEL_ZE_UNSUPPORTED_FEATURE || code == GTEL_ZE_UNSUPPORTED_VERSION ||
           code == GTEL_ZE_UNINITIALIZED;
}

/*
 * The tiles of a device, or the device itself. Which of the two a driver lists is for the user to
 * set (ZE_FLAT_DEVICE_HIERARCHY): either way each tile is measured by itself, so that no data ever
 * spans several. False when that could not be told.
 */
static bool add_device(const struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu, void *driver,
                       void *handle)
{
    void **tile = NULL;
    size_t n = 0;
    uint32_t code = GTEL_ZE_UNSUPPORTED_FEATURE;
    for (int i = 0; l0m->call.zeDeviceGetSubDevices && i < LACK_TRIES && is_lack(code); i++) {
        free(tile);
        code = fill(l0m->call.zeDeviceGetSubDevices, handle, GTEL_L0M_TILES_MAX, &tile, &n);
    }
    bool is_told = code == GTEL_ZE_SUCCESS || is_lack(code);
    for (size_t i = 0; is_told && i < n; i++)
        add_tile(gpu, driver, tile[i]);
    if (is_told && n == 0)
        add_tile(gpu, driver, handle);
    if (code != GTEL_ZE_SUCCESS && l0m->call.zeDeviceGetSubDevices)
        gpu->whole_ns = gtel_env_now(l0m->cards.env);
    free(tile);
    return is_told;
}

static uint32_t list_drivers(const struct gtel_l0m *l0m, void **ret, size_t *ret_n)
{
    uint32_t count = 0;
    *ret_n = 0;
    uint32_t code = l0m->call.zeDriverGet(&count, NULL);
    if (code != GTEL_ZE_SUCCESS || count == 0)
        return code;
    uint32_t room = count < GTEL_L0M_HANDLES_MAX ? count : GTEL_L0M_HANDLES_MAX;
    count = room;
    code = l0m->call.zeDriverGet(&count, ret);
    if (code == GTEL_ZE_SUCCESS)
        *ret_n = count < room ? count : room;
    return code;
}

/* A GPU of which not all tiles are known is looked for again: nothing of it is open yet. */
static void forget_tiles(struct gtel_l0m_gpu *gpu)
{
    gpu->n = 0;
    gpu->failed++;
}

/* is_new, by card: it had no tiles before this look. */
static void join_all(const struct gtel_l0m *l0m, void *driver, bool *is_new)
{
    struct gtel_ze_pci_ext_properties pci;
    void **device = NULL;
    size_t n = 0;
    (void)fill(l0m->call.zeDeviceGet, driver, GTEL_L0M_HANDLES_MAX, &device, &n);
    for (size_t i = 0; i < n; i++) {
        struct gtel_l0m_gpu *gpu = is_ours(l0m, device[i], &pci) ? gpu_at(l0m, &pci) : NULL;
        for (size_t k = 0; gpu && k < l0m->cards.n; k++)
            if (gpu->card == gtel_card_at(&l0m->cards, k) && is_new[k] && gpu->card->device &&
                !add_device(l0m, gpu, driver, device[i])) {
                is_new[k] = false;
                forget_tiles(gpu);
            }
    }
    free(device);
}

static void seek(const struct gtel_l0m *l0m)
{
    void *driver[GTEL_L0M_HANDLES_MAX] = {NULL};
    size_t n;
    bool *is_new = calloc(l0m->cards.n + 1, sizeof(*is_new));
    bool has_new = false;
    for (size_t i = 0; is_new && i < l0m->cards.n; i++) {
        is_new[i] = ((const struct gtel_l0m_gpu *)l0m->cards.slot[i].own)->n == 0;
        has_new = has_new || is_new[i];
    }
    if (has_new && list_drivers(l0m, driver, &n) == GTEL_ZE_SUCCESS)
        for (size_t i = 0; i < n; i++)
            if (driver[i])
                join_all(l0m, driver[i], is_new);
    free(is_new);
}

/* Drivers list tiles in any order; by place only where they tell no numbers, or one of them twice.
 */
static bool name_tiles(const struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu)
{
    uint32_t number[GTEL_L0M_TILES_MAX];
    bool has_numbers = true;
    for (size_t i = 0; i < gpu->n; i++) {
        struct gtel_ze_device_properties got = {.head.type = GTEL_ZE_TYPE_DEVICE_PROPERTIES,
                                                .subdevice_id = UINT32_MAX};
        uint32_t code = GTEL_ZE_UNSUPPORTED_FEATURE;
        for (int k = 0; k < LACK_TRIES && is_lack(code); k++)
            code = l0m->call.zeDeviceGetProperties(gpu->tile[i].handle, &got);
        if (code != GTEL_ZE_SUCCESS && !is_lack(code))
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

/*
 * A driver that has no call for tiles has none; but one that has said so falsely lists the metrics
 * of tiles only. Tried again rarely.
 */
static void forget_whole(struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu)
{
    uint64_t now = gtel_env_now(l0m->cards.env);
    if (gpu->whole_ns == 0 || now - gpu->whole_ns < RARELY_NS || gpu->n != 1 ||
        gpu->tile[0].is_described)
        return;
    gtel_l0m_put_down(l0m, &gpu->tile[0]);
    gpu->n = 0;
    gpu->whole_ns = 0;
}

void gtel_l0m_find(struct gtel_l0m *l0m)
{
    for (size_t i = 0; i < l0m->cards.n; i++) {
        struct gtel_l0m_gpu *gpu = l0m->cards.slot[i].own;
        if (!gpu->owner) {
            uint64_t delay_ns = gtel_awake_delay(l0m->cards.env, gpu->card->path);
            gpu->rest.delay_ns = gpu->card->cards->may_wake ? 0 : gtel_rest_delay(delay_ns, true);
            gpu->owner = l0m;
            gpu->leaves_stalls = l0m->leaves_xe_stalls && strcmp(gpu->card->drm.driver, "xe") == 0;
        }
        forget_whole(l0m, gpu);
    }
    if (l0m->start == GTEL_L0M_RUNS)
        seek(l0m);
    for (size_t i = 0; i < l0m->cards.n; i++) {
        struct gtel_l0m_gpu *gpu = l0m->cards.slot[i].own;
        if (gpu->n > 1 && gpu->tile[0].text[0] == '\0' && !name_tiles(l0m, gpu))
            forget_tiles(gpu);
    }
}

/* ---- metrics ---- */

/* "InstrFetchStall" is the reason instrfetch: none needs to be known beforehand. */
static void name_reason(struct gtel_l0m_reason *reason, const char *name)
{
    static const char tail[] = "Stall";
    size_t n = strlen(name);
    if (n > sizeof(tail) - 1 && strcmp(name + n - (sizeof(tail) - 1), tail) == 0)
        n -= sizeof(tail) - 1;
    n = n < GTEL_L0M_NAME - 1 ? n : GTEL_L0M_NAME - 1;
    for (size_t i = 0; i < n; i++) {
        char c = name[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
        reason->name[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : is_plain ? c : '_';
    }
    reason->name[n] = '\0';
    reason->is_active = strcmp(name, "Active") == 0;
}

static void note_column(struct gtel_l0m_meter *meter, size_t kind, uint32_t number,
                        const struct gtel_zet_metric_properties *got)
{
    if (kind == GTEL_L0M_STALL) {
        bool is_address = got->metric_type == GTEL_ZET_METRIC_IP || strcmp(got->name, "IP") == 0;
        if (is_address || got->name[0] == '\0' || meter->reasons >= GTEL_L0M_REASONS_MAX)
            return;
        struct gtel_l0m_reason *reason = &meter->reason[meter->reasons++];
        *reason = (struct gtel_l0m_reason){.column = number};
        name_reason(reason, got->name);
        return;
    }
    if (strcmp(got->name, "GpuTime") == 0)
        meter->role[GTEL_L0M_TIME] = number;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(columns); i++)
        if (columns[i].kind == kind && strcmp(columns[i].name, got->name) == 0)
            meter->role[columns[i].role] = number;
}

static bool has_columns(const struct gtel_l0m_meter *meter, size_t kind)
{
    bool found = kind == GTEL_L0M_STALL && meter->reasons > 0;
    for (size_t i = GTEL_L0M_EU_ACTIVE; i < GTEL_L0M_ROLES; i++)
        found = found || meter->role[i] != UINT32_MAX;
    return found;
}

static void forget_columns(struct gtel_l0m_meter *meter)
{
    meter->group = NULL;
    meter->reasons = 0;
    for (size_t i = 0; i < GTEL_L0M_ROLES; i++) {
        meter->role[i] = UINT32_MAX;
        meter->share[i] = -1;
    }
}

/* Looks its columns up by name: their order is the driver's own. */
static uint32_t describe_group(const struct gtel_l0m *l0m, struct gtel_l0m_meter *meter,
                               size_t kind, void *group)
{
    void **metric = NULL;
    size_t n = 0;
    uint32_t code = fill(l0m->call.zetMetricGet, group, GTEL_L0M_COLUMNS_MAX, &metric, &n);
    forget_columns(meter);
    for (size_t i = 0; code == GTEL_ZE_SUCCESS && i < n; i++) {
        struct gtel_zet_metric_properties got = {.head.type = GTEL_ZET_TYPE_METRIC_PROPERTIES};
        code = l0m->call.zetMetricGetProperties(metric[i], &got);
        got.name[GTEL_ZET_NAME - 1] = '\0';
        if (code == GTEL_ZE_SUCCESS)
            note_column(meter, kind, (uint32_t)i, &got);
    }
    free(metric);
    if (code == GTEL_ZE_SUCCESS && has_columns(meter, kind)) {
        meter->group = group;
        meter->columns = (uint32_t)n;
    }
    return code;
}

/* GTEL_L0M_KINDS for a group that is nothing to us. */
static size_t kind_of(const char *name)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(group_names); i++)
        if (strcmp(group_names[i].name, name) == 0)
            return group_names[i].kind;
    return GTEL_L0M_KINDS;
}

static bool has_group(const struct gtel_l0m_tile *tile)
{
    bool has = false;
    for (size_t k = 0; k < GTEL_L0M_KINDS; k++)
        has = has || tile->meter[k].group;
    return has;
}

/*
 * Each group is there twice under one name: the one for streams is based on time. A group that does
 * not tell what it is does not stop the others; the first code of such a one.
 */
static uint32_t describe_groups(const struct gtel_l0m *l0m, struct gtel_l0m_tile *tile,
                                void *const *group, size_t n)
{
    uint32_t first = GTEL_ZE_SUCCESS;
    for (size_t i = 0; i < n; i++) {
        struct gtel_zet_group_properties got = {.head.type = GTEL_ZET_TYPE_GROUP_PROPERTIES};
        uint32_t code = l0m->call.zetMetricGroupGetProperties(group[i], &got);
        got.name[GTEL_ZET_NAME - 1] = '\0';
        bool is_for_streams = (got.sampling_type & GTEL_ZET_TIME_BASED) != 0;
        size_t k = kind_of(got.name);
        if (code == GTEL_ZE_SUCCESS && is_for_streams && k < GTEL_L0M_KINDS &&
            !tile->meter[k].group)
            code = describe_group(l0m, &tile->meter[k], k, group[i]);
        first = first == GTEL_ZE_SUCCESS ? code : first;
    }
    return first;
}

static uint32_t set_up(const struct gtel_l0m *l0m, struct gtel_l0m_tile *tile, const char **call)
{
    void **group = NULL;
    size_t n = 0;
    *call = "zetDeviceEnableMetricsExp";
    if (!l0m->is_by_variable && !tile->is_enabled) {
        uint32_t code = l0m->call.zetDeviceEnableMetricsExp(tile->handle);
        tile->is_enabled = code == GTEL_ZE_SUCCESS;
        if (code != GTEL_ZE_SUCCESS)
            return code;
    }
    *call = "zetMetricGroupGet";
    for (size_t k = 0; k < GTEL_L0M_KINDS; k++)
        forget_columns(&tile->meter[k]);
    uint32_t code =
        fill(l0m->call.zetMetricGroupGet, tile->handle, GTEL_L0M_GROUPS_MAX, &group, &n);
    if (code == GTEL_ZE_SUCCESS) {
        *call = "zetMetricGroupGetProperties";
        code = describe_groups(l0m, tile, group, n);
    }
    free(group);
    return code == GTEL_ZE_SUCCESS && !has_group(tile) ? GTEL_L0M_NO_METRICS : code;
}

void gtel_l0m_set_up(struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu, struct gtel_l0m_tile *tile)
{
    const char *call;
    bool is_whole = tile->is_described && tile->setup.code == GTEL_ZE_SUCCESS;
    if (is_whole || tile->setup.due_ns > gtel_env_now(l0m->cards.env))
        return;
    uint32_t code = set_up(l0m, tile, &call);
    bool has_all = tile->meter[GTEL_L0M_ACTIVITY].group && tile->meter[GTEL_L0M_STALL].group;
    tile->is_described = has_group(tile);
    tile->was_barred =
        !(code == GTEL_ZE_SUCCESS && has_all) && gtel_l0m_is_barred(l0m->cards.env, gpu);
    gtel_l0m_settle(l0m, gpu, &tile->setup, call, code);
}

void gtel_l0m_put_down(struct gtel_l0m *l0m, struct gtel_l0m_tile *tile)
{
    gtel_l0m_close_window(l0m, tile);
    if (tile->is_enabled && l0m->call.zetDeviceDisableMetricsExp)
        (void)l0m->call.zetDeviceDisableMetricsExp(tile->handle);
    *tile = (struct gtel_l0m_tile){0};
}
