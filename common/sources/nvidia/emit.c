/* SPDX-License-Identifier: MIT */
/* Readings from the answers of a GPU's rows. */
#include "sources/nvidia/gpu.h"

/* The answer of one row, and where its readings go. */
struct work {
    unsigned driver; /* as in struct gtel_nvml_library */
    const struct gtel_nvml_gpu *gpu;
    const struct gtel_nvml_row *row;
    const struct gtel_nvml_answer *answer;
    struct gtel_batch *batch;
};

/* Appends one value in base units, as an integer where the catalogue wants one. dim: NULL or two.
 */
static void put(const struct work *work, enum gtel_metric metric, const struct gtel_str *dim,
                double scale, const struct gtel_nvml_answer *answer)
{
    struct gtel_reading reading = {.device = work->gpu->device,
                                   .metric = (uint16_t)metric,
                                   .value_type = GTEL_VALUE_F64,
                                   .value.f64 = answer->f * scale};
    if (gtel_metric_row(metric)->type == GTEL_TYPE_INT) {
        if (answer->f < 0)
            return;
        reading.value_type = GTEL_VALUE_U64;
        reading.value.u64 = scale > 1 ? answer->u[0] * (uint64_t)scale : answer->u[0];
    }
    for (size_t i = 0; dim && i < 2; i++)
        reading.dim[i] = dim[i];
    gtel_batch_put(work->batch, &reading);
}

static void put_number(const struct work *work, enum gtel_metric metric, const struct gtel_str *dim,
                       double scale, uint64_t number)
{
    const struct gtel_nvml_answer answer = {.u = {number}, .f = (double)number};
    put(work, metric, dim, scale, &answer);
}

static void put_share(const struct work *work, enum gtel_metric metric, uint64_t percent)
{
    if (percent <= 100)
        gtel_batch_f64(work->batch, work->gpu->device, metric, GTEL_STR_NONE,
                       (double)percent * work->row->scale);
}

/* What is no temperature of a GPU is none (DCGM drops those above 200, DcgmCacheManager.cpp). */
static void emit_value(const struct work *work)
{
    const struct gtel_nvml_row *row = work->row;
    if (row->metric == GTEL_M_TEMPERATURE && (work->answer->f < -50 || work->answer->f > 200))
        return;
    if (row->headline != GTEL_M_NONE)
        put(work, row->headline, NULL, row->scale, work->answer);
    put(work, row->metric, row->dim, row->scale, work->answer);
}

static void emit_parts(const struct work *work)
{
    for (size_t i = 0; i < work->answer->n; i++) {
        const struct gtel_nvml_part *part = &work->row->part[i];
        if (part->metric != GTEL_M_NONE)
            put_number(work, part->metric, part->dim, part->scale, work->answer->u[i]);
    }
}

/*
 * Both forms are absent, or have a total of 0: a GPU that is part of a processor (GB10, Thor). For
 * the memory controller and the PCIe link, that such a GPU lacks, NVML answers 0, and 1 and 1, for
 * ever. Where something is not permitted, absence says nothing.
 */
static bool has_no_memory(const struct gtel_nvml_gpu *gpu)
{
    for (size_t i = 0; i < gtel_nvml_rows_n; i++)
        if (gtel_nvml_rows[i].group == GTEL_NVML_GROUP_MEMORY && gpu->slot[i].due_ns != UINT64_MAX)
            return false;
    return !gpu->has_denied;
}

static void emit_link(const struct work *work)
{
    if (!has_no_memory(work->gpu))
        emit_value(work);
}

/* What the row of a group that has answered before says; without words: nothing. */
static struct gtel_nvml_answer chosen(const struct work *work, enum gtel_nvml_group group)
{
    size_t row = work->gpu->chosen[group];
    return row > 0 ? work->gpu->slot[row - 1].answer : (struct gtel_nvml_answer){.n = 0};
}

/* The window through which the CPU reaches the memory; it may be larger than that. */
static void emit_bar1(const struct work *work)
{
    uint64_t window = work->answer->u[0];
    const struct gtel_nvml_answer memory = chosen(work, GTEL_NVML_GROUP_MEMORY);
    gtel_batch_u64(work->batch, work->gpu->device, GTEL_M_MEMORY_TOTAL, GTEL_STR("bar1"), window);
    if (memory.n > 0)
        gtel_batch_u64(work->batch, work->gpu->device, GTEL_M_MEMORY_VISIBLE, GTEL_STR("vram"),
                       window < memory.u[0] ? window : memory.u[0]);
}

/*
 * Whether a reset helps, and a verdict: what the driver asks for is critical unless it is about
 * peers only. Actions of a later API say nothing about a reset.
 */
static void emit_recovery(const struct work *work)
{
    uint64_t action = work->answer->u[0];
    bool is_known =
        action <= (work->driver >= GTEL_NVML_DRIVER(595, 0) ? GTEL_NVML_RECOVERY_SYSTEM_REBOOT
                                                            : GTEL_NVML_RECOVERY_DRAIN_AND_RESET);
    bool is_of_peers = action == GTEL_NVML_RECOVERY_DRAIN_P2P ||
                       (is_known && action == GTEL_NVML_RECOVERY_IMEX_DOMAIN);
    bool is_fine = action == GTEL_NVML_RECOVERY_NONE;
    put_number(work, GTEL_M_GPU_RECOVERY_ACTION, NULL, 1, action);
    put_number(work, GTEL_M_GPU_HEALTH, NULL, 1, is_fine ? 0 : is_of_peers ? 1 : 2);
    if (is_known)
        put_number(work, GTEL_M_GPU_RESET_NEEDED, NULL, 1, is_fine || is_of_peers ? 0 : 1);
}

/* Above 100 % it is not known: 808 and 905 were seen (H100, NVIDIA/dcgm-exporter issue 418). */
static void emit_utilization(const struct work *work)
{
    put_share(work, GTEL_M_GPU_BUSY, work->answer->u[0]);
    if (!has_no_memory(work->gpu))
        put_share(work, GTEL_M_GPU_MEMORY_BANDWIDTH, work->answer->u[1]);
}

/*
 * With the second form, total = reserved + used + free, as captures of an H200, an H100 and GeForce
 * cards show; with the first, used contains what the driver reserves.
 */
static void emit_memory(const struct work *work)
{
    const struct gtel_str region = GTEL_STR("vram");
    const struct gtel_device *device = work->gpu->device;
    uint64_t total = work->answer->u[0];
    uint64_t used = work->answer->u[1];
    gtel_batch_u64(work->batch, device, GTEL_M_MEMORY_USED, region, used);
    gtel_batch_u64(work->batch, device, GTEL_M_MEMORY_TOTAL, region, total);
    if (work->answer->n > 2)
        gtel_batch_u64(work->batch, device, GTEL_M_MEMORY_RESERVED, region, work->answer->u[2]);
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

static void emit_reasons(const struct work *work)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(reasons); i++)
        gtel_batch_u64(work->batch, work->gpu->device, work->row->metric, reasons[i].name,
                       (work->answer->u[0] & reasons[i].bit) != 0);
}

/*
 * Scope 2 of the power fields is memory by the header's constants and the GPU's base by its
 * comments. Captures show about 95 W on an H100 and an H200: memory, if it is less than the whole.
 */
static void emit_memory_power(const struct work *work)
{
    const struct gtel_nvml_answer whole = chosen(work, GTEL_NVML_GROUP_POWER);
    if (whole.n > 0 && work->answer->f < whole.f)
        emit_value(work);
}

static const struct gtel_str fan_names[GTEL_NVML_WORDS] = {
    GTEL_STR_INIT("0"), GTEL_STR_INIT("1"), GTEL_STR_INIT("2"),  GTEL_STR_INIT("3"),
    GTEL_STR_INIT("4"), GTEL_STR_INIT("5"), GTEL_STR_INIT("6"),  GTEL_STR_INIT("7"),
    GTEL_STR_INIT("8"), GTEL_STR_INIT("9"), GTEL_STR_INIT("10"), GTEL_STR_INIT("11"),
};

static void emit_fans(const struct work *work)
{
    for (size_t i = 0; i < work->answer->n; i++)
        if (work->answer->u[i] < UINT32_MAX)
            put_number(work, work->row->metric, (struct gtel_str[2]){fan_names[i]},
                       work->row->scale, work->answer->u[i]);
}

static void (*const emitters[])(const struct work *work) = {
    [GTEL_NVML_FORM_VALUE] = emit_value,
    [GTEL_NVML_FORM_PARTS] = emit_parts,
    [GTEL_NVML_FORM_UTILIZATION] = emit_utilization,
    [GTEL_NVML_FORM_MEMORY] = emit_memory,
    [GTEL_NVML_FORM_MEMORY_POWER] = emit_memory_power,
    [GTEL_NVML_FORM_REASONS] = emit_reasons,
    [GTEL_NVML_FORM_FANS] = emit_fans,
    [GTEL_NVML_FORM_LINK] = emit_link,
    [GTEL_NVML_FORM_BAR1] = emit_bar1,
    [GTEL_NVML_FORM_RECOVERY] = emit_recovery,
    [GTEL_NVML_FORM_PCIE] = NULL, /* pcie.c counts these */
};

void gtel_nvml_emit(unsigned driver, const struct gtel_nvml_gpu *gpu, struct gtel_batch *batch)
{
    for (size_t i = 0; i < gtel_nvml_rows_n; i++) {
        const struct gtel_nvml_row *row = &gtel_nvml_rows[i];
        const struct work work = {driver, gpu, row, &gpu->slot[i].answer, batch};
        bool is_field = row->shape == GTEL_NVML_SHAPE_FIELD;
        if (work.answer->n == 0 || !emitters[row->form])
            continue;
        batch->origin = is_field ? GTEL_NVML_ORIGIN_FIELD : GTEL_NVML_ORIGIN_CALL;
        emitters[row->form](&work);
    }
}
