/* SPDX-License-Identifier: MIT */
/* From what was read to readings. */
#include "sources/nvidia/nvml.h"

static const struct gtel_str no_dim = {NULL, 0};

/* One value in base units, as an integer where the catalogue wants one. Negative ones are doubles
 * only. */
static void put(struct gtel_batch *batch, const struct gtel_nvml_gpu *gpu, enum gtel_metric metric,
                const struct gtel_str *dim, const struct gtel_reading *value)
{
    struct gtel_reading reading = *value;
    if (metric == GTEL_M_NONE)
        return;
    reading.device = gpu->device;
    reading.metric = (uint16_t)metric;
    for (size_t i = 0; dim && i < 2; i++)
        reading.dim[i] = dim[i];
    gtel_batch_put(batch, &reading);
}

/* True when there is a value to show. */
static bool convert(enum gtel_metric metric, const struct gtel_nvml_answer *answer, double scale,
                    struct gtel_reading *ret)
{
    if (metric == GTEL_M_NONE)
        return false;
    *ret = (struct gtel_reading){.value_type = GTEL_VALUE_F64, .value.f64 = answer->f * scale};
    if (gtel_metric_row(metric)->type != GTEL_TYPE_INT)
        return true;
    if (answer->f < 0)
        return false;
    ret->value_type = GTEL_VALUE_U64;
    ret->value.u64 = scale > 1 ? answer->u[0] * (uint64_t)scale : answer->u[0];
    return true;
}

static void emit_row(const struct gtel_nvml_gpu *gpu, const struct gtel_nvml_row *row,
                     const struct gtel_nvml_answer *answer, struct gtel_batch *batch)
{
    struct gtel_reading value;
    if (convert(row->headline, answer, row->scale, &value))
        put(batch, gpu, row->headline, NULL, &value);
    if (convert(row->metric, answer, row->scale, &value))
        put(batch, gpu, row->metric, row->dim, &value);
}

void gtel_nvml_emit(const struct gtel_nvml_gpu *gpu, struct gtel_batch *batch)
{
    for (size_t i = 0; i < gtel_nvml_rows_n; i++) {
        const struct gtel_nvml_row *row = &gtel_nvml_rows[i];
        if (!gpu->slot[i].has_answer)
            continue;
        batch->origin = row->read ? GTEL_NVML_ORIGIN_CALL : GTEL_NVML_ORIGIN_FIELD;
        if (row->emit)
            row->emit(gpu, row, &gpu->slot[i].answer, batch);
        else
            emit_row(gpu, row, &gpu->slot[i].answer, batch);
    }
}

void gtel_nvml_emit_utilization(const struct gtel_nvml_gpu *gpu, const struct gtel_nvml_row *row,
                                const struct gtel_nvml_answer *answer, struct gtel_batch *batch)
{
    if (answer->u[0] != UINT32_MAX)
        gtel_batch_f64(batch, gpu->device, GTEL_M_GPU_BUSY, no_dim,
                       (double)answer->u[0] * row->scale);
    if (answer->u[1] != UINT32_MAX)
        gtel_batch_f64(batch, gpu->device, GTEL_M_GPU_MEMORY_BANDWIDTH, no_dim,
                       (double)answer->u[1] * row->scale);
}

/*
 * With the second form, total = reserved + used + free, as captures of an H200, an H100 and GeForce
 * cards show; with the first, used contains what the driver reserves.
 */
void gtel_nvml_emit_memory(const struct gtel_nvml_gpu *gpu, const struct gtel_nvml_row *row,
                           const struct gtel_nvml_answer *answer, struct gtel_batch *batch)
{
    const struct gtel_str region = GTEL_STR("vram");
    uint64_t total = answer->u[0];
    uint64_t used = answer->u[1];
    double share = (double)used / (double)total;
    (void)row; /* plain bytes */
    gtel_batch_u64(batch, gpu->device, GTEL_M_GPU_MEMORY_USED, no_dim, used);
    gtel_batch_u64(batch, gpu->device, GTEL_M_GPU_MEMORY_TOTAL, no_dim, total);
    gtel_batch_f64(batch, gpu->device, GTEL_M_GPU_MEMORY_USED_RATIO, no_dim, share);
    gtel_batch_u64(batch, gpu->device, GTEL_M_MEMORY_USED, region, used);
    gtel_batch_u64(batch, gpu->device, GTEL_M_MEMORY_TOTAL, region, total);
    gtel_batch_f64(batch, gpu->device, GTEL_M_MEMORY_USED_RATIO, region, share);
    if (answer->n > 2)
        gtel_batch_u64(batch, gpu->device, GTEL_M_MEMORY_RESERVED, region, answer->u[2]);
}

/*
 * Those that are limits. Idle clocks, application clocks, sync boost and display clocks are states
 * and settings; bits beyond are reasons of a later API.
 */
static const struct {
    uint64_t bit;
    struct gtel_str name;
} reasons[] = {
    {GTEL_NVML_REASON_SW_POWER_CAP, GTEL_STR_INIT("power_cap")},
    {GTEL_NVML_REASON_HW_SLOWDOWN, GTEL_STR_INIT("hw_slowdown")},
    {GTEL_NVML_REASON_SW_THERMAL, GTEL_STR_INIT("sw_thermal")},
    {GTEL_NVML_REASON_HW_THERMAL, GTEL_STR_INIT("hw_thermal")},
    {GTEL_NVML_REASON_HW_POWER_BRAKE, GTEL_STR_INIT("power_brake")},
};

void gtel_nvml_emit_reasons(const struct gtel_nvml_gpu *gpu, const struct gtel_nvml_row *row,
                            const struct gtel_nvml_answer *answer, struct gtel_batch *batch)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(reasons); i++)
        gtel_batch_u64(batch, gpu->device, row->metric, reasons[i].name,
                       (answer->u[0] & reasons[i].bit) != 0);
}

/*
 * Scope 2 of the power fields is memory by the header's constants and the GPU's base by its
 * comments. Captures show about 95 W on an H100 and an H200: memory, if it is less than the whole.
 */
void gtel_nvml_emit_memory_power(const struct gtel_nvml_gpu *gpu, const struct gtel_nvml_row *row,
                                 const struct gtel_nvml_answer *answer, struct gtel_batch *batch)
{
    size_t whole = gpu->chosen[GTEL_NVML_GROUP_POWER];
    if (whole == 0 || !gpu->slot[whole - 1].has_answer ||
        answer->f >= gpu->slot[whole - 1].answer.f)
        return;
    gtel_batch_f64(batch, gpu->device, row->metric, row->dim[0], answer->f * row->scale);
}

void gtel_nvml_emit_pcie(const struct gtel_nvml_gpu *gpu, const struct gtel_nvml_row *row,
                         const struct gtel_nvml_answer *answer, struct gtel_batch *batch)
{
    (void)gpu;
    (void)row;
    (void)answer;
    (void)batch;
}

static const struct gtel_str fan_names[GTEL_NVML_WORDS] = {
    GTEL_STR_INIT("0"), GTEL_STR_INIT("1"), GTEL_STR_INIT("2"), GTEL_STR_INIT("3"),
    GTEL_STR_INIT("4"), GTEL_STR_INIT("5"), GTEL_STR_INIT("6"), GTEL_STR_INIT("7"),
};

void gtel_nvml_emit_fans(const struct gtel_nvml_gpu *gpu, const struct gtel_nvml_row *row,
                         const struct gtel_nvml_answer *answer, struct gtel_batch *batch)
{
    struct gtel_reading value;
    for (size_t i = 0; i < answer->n; i++) {
        struct gtel_nvml_answer fan = {.u = {answer->u[i]}, .n = 1, .f = (double)answer->u[i]};
        if (answer->u[i] >= UINT32_MAX || !convert(row->metric, &fan, row->scale, &value))
            continue;
        put(batch, gpu, row->metric, (struct gtel_str[2]){fan_names[i]}, &value);
    }
}
