/* SPDX-License-Identifier: MIT */
/* From measured values to results, and from these to readings. */
#include "sources/level_zero/metrics/state.h"

#include <math.h>

/* In the order of origins in l0metrics.c. */
enum { ORIGIN_ACTIVITY, ORIGIN_STALL };

/* How long a result is repeated: until that of the next measurement, if there is one. */
static const uint64_t keep_ns = 1200000000;
/* A report of more than that is none: periods are of some milliseconds. */
static const double longest_ns = 60e9;
/* Percentages are quotients of two counters that are not read in one moment. */
static const double most_percent = 105;

/* Not a number for what is none. */
static double number_of(const struct gtel_zet_value *value)
{
    switch (value->type) {
    case GTEL_ZET_UINT32:
        return value->is.u32;
    case GTEL_ZET_UINT64:
        return (double)value->is.u64;
    case GTEL_ZET_FLOAT32:
        return (double)value->is.f32;
    case GTEL_ZET_FLOAT64:
        return value->is.f64;
    default:
        return NAN;
    }
}

static double weight_of(const struct gtel_l0m_meter *meter, const struct gtel_zet_value *report)
{
    uint32_t column = meter->role[GTEL_L0M_TIME];
    if (column >= meter->columns)
        return 1;
    double time_ns = number_of(&report[column]);
    return time_ns > 0 && time_ns < longest_ns ? time_ns : 0;
}

/* The mean over the reports that have the value, each weighing as much as its time. */
bool gtel_l0m_read_activity(struct gtel_l0m_meter *meter, const struct gtel_zet_value *value,
                            size_t n)
{
    double sum[GTEL_L0M_ROLES] = {0};
    double weight[GTEL_L0M_ROLES] = {0};
    bool has_any = false;
    meter->samples = 0;
    for (size_t at = 0; at + meter->columns <= n; at += meter->columns) {
        double w = weight_of(meter, &value[at]);
        meter->samples += w > 0;
        for (size_t role = GTEL_L0M_EU_ACTIVE; role < GTEL_L0M_ROLES; role++) {
            uint32_t column = meter->role[role];
            double percent = column < meter->columns ? number_of(&value[at + column]) : NAN;
            if (!(percent >= 0 && percent <= most_percent))
                continue;
            sum[role] += w * percent;
            weight[role] += w;
        }
    }
    for (size_t role = GTEL_L0M_EU_ACTIVE; role < GTEL_L0M_ROLES; role++) {
        double share = weight[role] > 0 ? sum[role] / weight[role] / 100 : -1;
        meter->share[role] = share < 1 ? share : 1;
        has_any = has_any || share >= 0;
    }
    return has_any || meter->samples == 0;
}

/* A line is what was sampled at one instruction: its address does not matter here. */
bool gtel_l0m_read_stalls(struct gtel_l0m_meter *meter, const struct gtel_zet_value *value,
                          size_t n)
{
    meter->samples = 0;
    for (size_t i = 0; i < meter->reasons; i++)
        meter->reason[i].count = 0;
    for (size_t at = 0; at + meter->columns <= n; at += meter->columns)
        for (size_t i = 0; i < meter->reasons; i++) {
            double count = number_of(&value[at + meter->reason[i].column]);
            if (!(count >= 0 && count < 1e15))
                return false;
            meter->reason[i].count += (uint64_t)count;
            meter->samples += (uint64_t)count;
        }
    return true;
}

struct line {
    struct gtel_batch *batch;
    const struct gtel_device *device;
    const struct gtel_l0m_meter *meter;
    struct gtel_str dim;
    struct gtel_str tile;
};

static void add(const struct line *line, enum gtel_metric metric, double value)
{
    const struct gtel_reading like = {
        .device = line->device, .t_ns = line->meter->result_ns, .dim = {line->dim, line->tile}};
    gtel_batch_like(line->batch, &like, metric, value);
}

static void add_unit(struct line *line, const char *unit, double active, double stall,
                     uint64_t samples)
{
    line->dim = gtel_str_of(unit);
    if (active < 0 && stall < 0)
        return;
    if (active >= 0)
        add(line, GTEL_M_ACTIVITY, active);
    if (stall >= 0)
        add(line, GTEL_M_ACTIVITY_STALL, stall);
    add(line, GTEL_M_ACTIVITY_SAMPLES, (double)samples);
    add(line, GTEL_M_ACTIVITY_DROPPED, line->meter->has_dropped);
}

static void add_activity(struct line *line)
{
    static const struct {
        const char *unit;
        enum gtel_l0m_role role;
    } units[] = {
        {"xmx", GTEL_L0M_XMX},           {"alu2", GTEL_L0M_ALU2},
        {"xmx-bf16", GTEL_L0M_XMX_BF16}, {"xmx-fp16", GTEL_L0M_XMX_FP16},
        {"xmx-int8", GTEL_L0M_XMX_INT8}, {"xmx-int4", GTEL_L0M_XMX_INT4},
        {"fp16", GTEL_L0M_FP16},         {"fp32", GTEL_L0M_FP32},
        {"fp64", GTEL_L0M_FP64},
    };
    const double *share = line->meter->share;
    add_unit(line, "eu", share[GTEL_L0M_EU_ACTIVE], share[GTEL_L0M_EU_STALL], line->meter->samples);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(units); i++)
        add_unit(line, units[i].unit, share[units[i].role], -1, line->meter->samples);
}

/*
 * Shares of reasons are of all stalled samples. Only units with a thread loaded are sampled, so how
 * many of the samples were active is a share of those, and not of the time.
 */
static void add_stalls(struct line *line)
{
    const struct gtel_l0m_meter *meter = line->meter;
    uint64_t active = 0;
    bool has_active = false;
    for (size_t i = 0; i < meter->reasons; i++) {
        active += meter->reason[i].is_active ? meter->reason[i].count : 0;
        has_active = has_active || meter->reason[i].is_active;
    }
    uint64_t stalled = meter->samples - active;
    for (size_t i = 0; stalled > 0 && i < meter->reasons; i++) {
        const struct gtel_l0m_reason *reason = &meter->reason[i];
        if (reason->is_active)
            continue;
        line->dim = gtel_str_of(reason->name);
        add(line, GTEL_M_STALL_SHARE, (double)reason->count / (double)stalled);
        add(line, GTEL_M_STALL_SAMPLES, (double)reason->count);
        add(line, GTEL_M_STALL_DROPPED, meter->has_dropped);
    }
    if (has_active)
        add_unit(line, "eu-loaded", (double)active / (double)meter->samples,
                 (double)stalled / (double)meter->samples, meter->samples);
}

static bool is_due(const struct gtel_l0m_meter *meter, uint64_t now)
{
    return meter->result_ns > 0 && (!meter->is_reported || now - meter->result_ns <= keep_ns);
}

void gtel_l0m_add(struct gtel_batch *batch, const struct gtel_l0m_gpu *gpu,
                  struct gtel_l0m_tile *tile)
{
    struct line line = {
        .batch = batch, .device = gpu->card->device, .tile = gtel_str_of(tile->text)};
    for (size_t kind = 0; kind < GTEL_L0M_KINDS; kind++) {
        line.meter = &tile->meter[kind];
        if (!is_due(line.meter, batch->t_ns))
            continue;
        batch->origin = kind == GTEL_L0M_STALL ? ORIGIN_STALL : ORIGIN_ACTIVITY;
        if (kind == GTEL_L0M_STALL)
            add_stalls(&line);
        else
            add_activity(&line);
        tile->meter[kind].is_reported = true;
    }
}
