/* SPDX-License-Identifier: MIT */
/* The groups of metrics of a tile that we know, and their columns. */
#include "sources/level_zero/metrics/state.h"

#include <stdlib.h>
#include <string.h>

/*
 * The columns that we know, by the platforms that have them (intel's metrics-discovery:
 * docs/metric_info_*.tsv). Xe2 and later have no metric called XMX: their pipe ALU2 takes its
 * place, but that it is nothing else is not proven, so it has its own name. By types of data
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

/* "InstrFetchStall" is the reason instrfetch: none needs to be known in advance. It is zeroed. */
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
    reason->is_active = strcmp(name, "Active") == 0;
}

static void record_column(struct gtel_l0m_meter *meter, size_t kind, uint32_t number,
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

/* Finds its columns by name: their order is the driver's own. */
static uint32_t describe_group(const struct gtel_l0m *l0m, struct gtel_l0m_meter *meter,
                               size_t kind, void *group)
{
    void **metric = NULL;
    size_t n = 0;
    uint32_t code = gtel_ze_list(l0m->call.zetMetricGet, group, GTEL_L0M_COLUMNS_MAX, &metric, &n);
    forget_columns(meter);
    for (size_t i = 0; code == GTEL_ZE_SUCCESS && i < n; i++) {
        struct gtel_zet_metric_properties got = {.head.type = GTEL_ZET_TYPE_METRIC_PROPERTIES};
        code = l0m->call.zetMetricGetProperties(metric[i], &got);
        got.name[GTEL_ZET_NAME - 1] = '\0';
        if (code == GTEL_ZE_SUCCESS)
            record_column(meter, kind, (uint32_t)i, &got);
    }
    free(metric);
    if (code == GTEL_ZE_SUCCESS && has_columns(meter, kind)) {
        meter->group = group;
        meter->columns = (uint32_t)n;
    }
    return code;
}

/* GTEL_L0M_KINDS for a group that we do not know. */
static size_t kind_of(const char *name)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(group_names); i++)
        if (strcmp(group_names[i].name, name) == 0)
            return group_names[i].kind;
    return GTEL_L0M_KINDS;
}

bool gtel_l0m_has_group(const struct gtel_l0m_tile *tile)
{
    bool has = false;
    for (size_t k = 0; k < GTEL_L0M_KINDS; k++)
        has = has || tile->meter[k].group;
    return has;
}

/*
 * Each group is there twice under one name: the one for streams is based on time. A group that does
 * not say what it is does not stop the others; the first code of such a one.
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
    if (l0m->call.zetDeviceEnableMetricsExp && !tile->is_enabled) {
        uint32_t code = l0m->call.zetDeviceEnableMetricsExp(tile->handle);
        tile->is_enabled = code == GTEL_ZE_SUCCESS;
        if (code != GTEL_ZE_SUCCESS)
            return code;
    }
    *call = "zetMetricGroupGet";
    for (size_t k = 0; k < GTEL_L0M_KINDS; k++)
        forget_columns(&tile->meter[k]);
    uint32_t code =
        gtel_ze_list(l0m->call.zetMetricGroupGet, tile->handle, GTEL_L0M_GROUPS_MAX, &group, &n);
    if (code == GTEL_ZE_SUCCESS) {
        *call = "zetMetricGroupGetProperties";
        code = describe_groups(l0m, tile, group, n);
    }
    free(group);
    return code == GTEL_ZE_SUCCESS && !gtel_l0m_has_group(tile) ? GTEL_L0M_NO_METRICS : code;
}

void gtel_l0m_set_up(struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu, struct gtel_l0m_tile *tile)
{
    const char *call;
    const char *fix;
    const struct gtel_env *env = l0m->lz.cards.env;
    bool is_done = gtel_l0m_has_group(tile) && tile->setup.code == GTEL_ZE_SUCCESS;
    if (is_done || tile->setup.retry.due > gtel_env_now(env))
        return;
    uint32_t code = set_up(l0m, tile, &call);
    bool has_all = tile->meter[GTEL_L0M_ACTIVITY].group && tile->meter[GTEL_L0M_STALL].group;
    tile->was_barred = !(code == GTEL_ZE_SUCCESS && has_all) && gtel_l0m_refusal(env, gpu, &fix);
    gtel_l0m_record(l0m, gpu, &tile->setup, call, code);
}
