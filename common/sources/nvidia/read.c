/* SPDX-License-Identifier: MIT */
/* Makes the call of a row, by its shape. */
#include "sources/nvidia/gpu.h"

#include <string.h>

/* The function of a row, with the parameters of its shape. */
union call {
    int(*plain) GTEL_NVML_PARAMS_plain;
    int(*u32) GTEL_NVML_PARAMS_u32;
    int(*u32_of) GTEL_NVML_PARAMS_u32_of;
    int(*u32_pair) GTEL_NVML_PARAMS_u32_pair;
    int(*u64) GTEL_NVML_PARAMS_u64;
    int(*u64_of2) GTEL_NVML_PARAMS_u64_of2;
    int(*utilization) GTEL_NVML_PARAMS_utilization;
    int(*memory) GTEL_NVML_PARAMS_memory;
    int(*memory_v2) GTEL_NVML_PARAMS_memory_v2;
    int(*temperature) GTEL_NVML_PARAMS_temperature;
    int(*margin) GTEL_NVML_PARAMS_margin;
    int(*violation) GTEL_NVML_PARAMS_violation;
    int(*fan_speed) GTEL_NVML_PARAMS_fan_speed;
    int(*u64_of3) GTEL_NVML_PARAMS_u64_of3;
    int(*u32_three) GTEL_NVML_PARAMS_u32_three;
    int(*sram) GTEL_NVML_PARAMS_sram;
    int(*histogram) GTEL_NVML_PARAMS_histogram;
    int(*repair) GTEL_NVML_PARAMS_repair;
    int(*capture) GTEL_NVML_PARAMS_capture;
    int(*fabric) GTEL_NVML_PARAMS_fabric;
    int(*vgpus) GTEL_NVML_PARAMS_vgpus;
    int(*licences) GTEL_NVML_PARAMS_licences;
};

/* What is asked: by the call of a row, of a GPU. */
struct question {
    union call call;
    struct gtel_nvml_device *device;
    const struct gtel_nvml_row *row;
};

static int give_u64(int code, uint64_t value, struct gtel_nvml_answer *ret)
{
    if (code != GTEL_NVML_SUCCESS)
        return code;
    if (value == UINT64_MAX)
        return GTEL_NVML_NO_DATA;
    *ret = (struct gtel_nvml_answer){.u = {value}, .n = 1, .f = (double)value};
    return code;
}

static int give_u32(int code, unsigned value, struct gtel_nvml_answer *ret)
{
    return give_u64(code, value == UINT32_MAX ? UINT64_MAX : value, ret);
}

static int give_i64(int code, int64_t value, struct gtel_nvml_answer *ret)
{
    if (code == GTEL_NVML_SUCCESS)
        *ret = (struct gtel_nvml_answer){.u = {(uint64_t)value}, .n = 1, .f = (double)value};
    return code;
}

/* Shapes that yield one number. */
static int read_number(const struct question *ask, struct gtel_nvml_answer *ret)
{
    struct gtel_nvml_violation violation = {0, UINT64_MAX};
    uint64_t wide = UINT64_MAX;
    unsigned value = UINT32_MAX;
    unsigned other;
    int code;
    switch (ask->row->shape) {
    case GTEL_NVML_SHAPE_U32:
        code = ask->call.u32(ask->device, &value);
        return give_u32(code, value, ret);
    case GTEL_NVML_SHAPE_U32_OF:
        code = ask->call.u32_of(ask->device, ask->row->of, &value);
        return give_u32(code, value, ret);
    case GTEL_NVML_SHAPE_U32_PAIR:
        code = ask->call.u32_pair(ask->device, &value, &other);
        return give_u32(code, value > 100 ? UINT32_MAX : value, ret); /* as in emit_utilization() */
    case GTEL_NVML_SHAPE_DEGREES:
        code = ask->call.u32_of(ask->device, ask->row->of, &value);
        return give_i64(code, (int32_t)value, ret);
    case GTEL_NVML_SHAPE_PSTATE:
        code = ask->call.u32(ask->device, &value);
        return give_u32(code, value >= GTEL_NVML_PSTATE_UNKNOWN ? UINT32_MAX : value, ret);
    case GTEL_NVML_SHAPE_U64:
        code = ask->call.u64(ask->device, &wide);
        return give_u64(code, wide, ret);
    case GTEL_NVML_SHAPE_U64_OF2:
        code = ask->call.u64_of2(ask->device, ask->row->of, ask->row->of_2, &wide);
        return give_u64(code, wide, ret);
    case GTEL_NVML_SHAPE_U64_OF3:
        code = ask->call.u64_of3(ask->device, ask->row->of, ask->row->of_2, ask->row->of_3, &wide);
        return give_u64(code, wide, ret);
    case GTEL_NVML_SHAPE_VIOLATION:
        code = ask->call.violation(ask->device, ask->row->of, &violation);
        return give_u64(code, violation.violation_time, ret);
    default:
        return GTEL_NVML_FUNCTION_NOT_FOUND;
    }
}

static int read_utilization(const struct question *ask, struct gtel_nvml_answer *ret)
{
    struct gtel_nvml_utilization rates = {UINT32_MAX, UINT32_MAX};
    int code = ask->call.utilization(ask->device, &rates);
    if (code == GTEL_NVML_SUCCESS)
        *ret = (struct gtel_nvml_answer){.u = {rates.gpu, rates.memory}, .n = 2, .f = rates.gpu};
    return code;
}

/* GPUs that share the host's memory report a total of 0. */
static int read_memory(const struct question *ask, struct gtel_nvml_answer *ret)
{
    struct gtel_nvml_memory old = {0};
    struct gtel_nvml_memory_v2 memory = {0};
    bool is_v2 = ask->row->shape == GTEL_NVML_SHAPE_MEMORY_V2;
    memory.version = GTEL_NVML_VERSION(memory, 2);
    int code =
        is_v2 ? ask->call.memory_v2(ask->device, &memory) : ask->call.memory(ask->device, &old);
    if (code != GTEL_NVML_SUCCESS)
        return code;
    const struct gtel_nvml_answer answer = {
        .u = {is_v2 ? memory.total : old.total, is_v2 ? memory.used : old.used, memory.reserved},
        .n = is_v2 ? 3 : 2};
    if (answer.u[0] == 0 || answer.u[1] > answer.u[0] || answer.u[2] > answer.u[0])
        return GTEL_NVML_NOT_SUPPORTED;
    *ret = answer;
    return code;
}

static int read_temperature(const struct question *ask, struct gtel_nvml_answer *ret)
{
    struct gtel_nvml_temperature temperature = {.sensor = GTEL_NVML_TEMPERATURE_GPU};
    temperature.version = GTEL_NVML_VERSION(temperature, 1);
    int code = ask->call.temperature(ask->device, &temperature);
    return give_i64(code, temperature.temperature, ret);
}

static int read_margin(const struct question *ask, struct gtel_nvml_answer *ret)
{
    struct gtel_nvml_margin margin = {0};
    margin.version = GTEL_NVML_VERSION(margin, 1);
    int code = ask->call.margin(ask->device, &margin);
    return give_i64(code, margin.margin, ret);
}

/* All fans: the first number beyond them is an argument that NVML refuses. */
static int read_fans(const struct question *ask, struct gtel_nvml_answer *ret)
{
    struct gtel_nvml_answer answer = {0};
    bool is_rpm = ask->row->shape == GTEL_NVML_SHAPE_FANS_RPM;
    int code = GTEL_NVML_SUCCESS;
    for (unsigned i = 0; i < GTEL_NVML_WORDS && code == GTEL_NVML_SUCCESS; i++) {
        struct gtel_nvml_fan_speed speed = {.fan = i, .speed = UINT32_MAX};
        speed.version = GTEL_NVML_VERSION(speed, 1);
        code = is_rpm ? ask->call.fan_speed(ask->device, &speed)
                      : ask->call.u32_of(ask->device, i, &speed.speed);
        if (code == GTEL_NVML_SUCCESS)
            answer.u[answer.n++] = speed.speed;
    }
    bool is_end = answer.n > 0 && gtel_nvml_meaning(code) == GTEL_NVML_MEANS_ABSENT;
    if (code == GTEL_NVML_SUCCESS || is_end)
        *ret = answer;
    return is_end ? GTEL_NVML_SUCCESS : code;
}

/* ECC can be on, off, or be switched at the next reset. */
static int read_ecc_mode(const struct question *ask, struct gtel_nvml_answer *ret)
{
    unsigned now = 0;
    unsigned next = 0;
    int code = ask->call.u32_pair(ask->device, &now, &next);
    *ret = (struct gtel_nvml_answer){.u = {now != 0, (now != 0) != (next != 0)}, .n = 2};
    return code;
}

static int read_sram(const struct question *ask, struct gtel_nvml_answer *ret)
{
    struct gtel_nvml_sram_status s = {0};
    s.version = GTEL_NVML_VERSION(s, 1);
    int code = ask->call.sram(ask->device, &s);
    *ret = (struct gtel_nvml_answer){
        .u = {s.aggregate_parity, s.aggregate_secded, s.aggregate_corrected, s.volatile_parity,
              s.volatile_secded, s.volatile_corrected, s.aggregate_l2, s.aggregate_sm,
              s.aggregate_pcie, s.aggregate_mcu, s.aggregate_other, s.is_threshold_exceeded != 0},
        .n = 12};
    return code;
}

static int read_histogram(const struct question *ask, struct gtel_nvml_answer *ret)
{
    struct gtel_nvml_remap_histogram banks = {0};
    int code = ask->call.histogram(ask->device, &banks);
    *ret = (struct gtel_nvml_answer){
        .u = {banks.max, banks.high, banks.partial, banks.low, banks.none}, .n = 5};
    return code;
}

static int read_repair(const struct question *ask, struct gtel_nvml_answer *ret)
{
    struct gtel_nvml_repair_status status = {0};
    status.version = GTEL_NVML_VERSION(status, 1);
    int code = ask->call.repair(ask->device, &status);
    *ret = (struct gtel_nvml_answer){
        .u = {status.is_channel_pending != 0, status.is_tpc_pending != 0}, .n = 2};
    return code;
}

/*
 * 0 fine, 1 limited, 2 unhealthy, or UINT32_MAX: not known. The parts of the mask (NVML
 * header 13.5, NVML_GPU_FABRIC_HEALTH_MASK_*): 0 is "not supported", and 1 "true" but for the
 * configuration, where it is "correct" and what is above is wrong.
 */
static uint64_t fabric_health(const struct gtel_nvml_fabric *fabric)
{
    unsigned mask = fabric->health_mask;
    bool is_degraded = (mask & 3) == 1;
    bool is_recovering = (mask >> 2 & 3) == 1 || (mask >> 6 & 3) == 1; /* routes; timeouts */
    bool is_unhealthy = (mask >> 4 & 3) == 1 || (mask >> 8 & 15) > 1;  /* routes; configuration */
    switch (fabric->health_summary) {
    case GTEL_NVML_FABRIC_HEALTHY:
        return 0;
    case GTEL_NVML_FABRIC_LIMITED:
        return 1;
    case GTEL_NVML_FABRIC_UNHEALTHY:
        return 2;
    case GTEL_NVML_FABRIC_UNKNOWN: /* the second version has the mask only */
        if (mask != 0)
            return is_unhealthy ? 2 : is_degraded || is_recovering;
        return UINT32_MAX;
    default:
        return UINT32_MAX;
    }
}

static int read_fabric(const struct question *ask, struct gtel_nvml_answer *ret)
{
    struct gtel_nvml_fabric fabric = {0};
    fabric.version = GTEL_NVML_VERSION(fabric, 3);
    int code = ask->call.fabric(ask->device, &fabric);
    if (code == GTEL_NVML_ARGUMENT_VERSION_MISMATCH) {
        fabric = (struct gtel_nvml_fabric){.version = GTEL_NVML_FABRIC_V2};
        code = ask->call.fabric(ask->device, &fabric);
    }
    if (code != GTEL_NVML_SUCCESS)
        return code;
    if (fabric.state == GTEL_NVML_FABRIC_NONE)
        return GTEL_NVML_NOT_SUPPORTED;
    bool is_ready =
        fabric.state == GTEL_NVML_FABRIC_COMPLETED && fabric.status == GTEL_NVML_SUCCESS;
    uint64_t health = fabric_health(&fabric);
    *ret = (struct gtel_nvml_answer){.u = {is_ready, health}, .n = health == UINT32_MAX ? 1 : 2};
    return code;
}

/* Without room for the list it answers how long that would be, or that it is empty. */
static int read_vgpus(const struct question *ask, struct gtel_nvml_answer *ret)
{
    unsigned n = 0;
    int code = ask->call.vgpus(ask->device, &n, NULL);
    return give_u32(code == GTEL_NVML_INSUFFICIENT_SIZE ? GTEL_NVML_SUCCESS : code, n, ret);
}

static int read_licences(const struct question *ask, struct gtel_nvml_answer *ret)
{
    struct gtel_nvml_licences licences = {0};
    bool is_licensed = false;
    int code = ask->call.licences(ask->device, &licences);
    if (code != GTEL_NVML_SUCCESS)
        return code;
    if (!licences.is_supported || licences.n == 0)
        return GTEL_NVML_NOT_SUPPORTED;
    for (unsigned i = 0; i < licences.n && i < GTEL_NVML_LICENCES_MAX; i++)
        is_licensed = is_licensed || licences.feature[i].is_licensed != 0;
    return give_u64(code, is_licensed, ret);
}

/* Without a frame there is no mean latency: it is 0 then (H200, 580.159), which no frame takes. */
static int read_sessions(const struct question *ask, struct gtel_nvml_answer *ret)
{
    struct gtel_nvml_capture_stats stats = {0};
    bool is_capture = ask->row->shape == GTEL_NVML_SHAPE_CAPTURE;
    int code = is_capture ? ask->call.capture(ask->device, &stats)
                          : ask->call.u32_three(ask->device, &stats.sessions, &stats.fps,
                                                &stats.latency_us);
    *ret = (struct gtel_nvml_answer){.u = {stats.sessions, stats.fps, stats.latency_us},
                                     .n = stats.latency_us > 0 ? 3 : 2};
    return code;
}

int gtel_nvml_read(const struct gtel_nvml_calls *calls, struct gtel_nvml_device *device,
                   const struct gtel_nvml_row *row, struct gtel_nvml_answer *ret)
{
    static int (*const readers[])(const struct question *ask, struct gtel_nvml_answer *ret) = {
        [GTEL_NVML_SHAPE_UTILIZATION] = read_utilization,
        [GTEL_NVML_SHAPE_MEMORY] = read_memory,
        [GTEL_NVML_SHAPE_MEMORY_V2] = read_memory,
        [GTEL_NVML_SHAPE_TEMPERATURE_V] = read_temperature,
        [GTEL_NVML_SHAPE_MARGIN] = read_margin,
        [GTEL_NVML_SHAPE_FANS] = read_fans,
        [GTEL_NVML_SHAPE_FANS_RPM] = read_fans,
        [GTEL_NVML_SHAPE_ECC_MODE] = read_ecc_mode,
        [GTEL_NVML_SHAPE_SRAM] = read_sram,
        [GTEL_NVML_SHAPE_HISTOGRAM] = read_histogram,
        [GTEL_NVML_SHAPE_REPAIR] = read_repair,
        [GTEL_NVML_SHAPE_ENCODER] = read_sessions,
        [GTEL_NVML_SHAPE_CAPTURE] = read_sessions,
        [GTEL_NVML_SHAPE_FABRIC] = read_fabric,
        [GTEL_NVML_SHAPE_VGPUS] = read_vgpus,
        [GTEL_NVML_SHAPE_LICENCES] = read_licences,
    };
    struct question ask = {.device = device, .row = row};
    memcpy(&ask.call, (const char *)calls + row->offset, sizeof(ask.call));
    if (!ask.call.plain)
        return GTEL_NVML_FUNCTION_NOT_FOUND;
    return readers[row->shape] ? readers[row->shape](&ask, ret) : read_number(&ask, ret);
}

int gtel_nvml_read_fields(const struct gtel_nvml_calls *calls, struct gtel_nvml_device *device,
                          const size_t *row, struct gtel_nvml_field *field, size_t n)
{
    if (!calls->nvmlDeviceGetFieldValues)
        return GTEL_NVML_FUNCTION_NOT_FOUND;
    for (size_t k = 0; k < n; k++)
        field[k] = (struct gtel_nvml_field){.field_id = gtel_nvml_rows[row[k]].of,
                                            .scope_id = gtel_nvml_rows[row[k]].of_2,
                                            .rc = GTEL_NVML_NO_DATA}; /* should it be skipped */
    return calls->nvmlDeviceGetFieldValues(device, (int)n, field);
}

int gtel_nvml_field_value(const struct gtel_nvml_field *field, struct gtel_nvml_answer *ret)
{
    int code = field->rc;
    switch (field->value_type) {
    case GTEL_NVML_TYPE_DOUBLE:
        if (code != GTEL_NVML_SUCCESS)
            return code;
        /* An unsigned that driver 545 calls a double (NVIDIA/DCGM, DcgmCacheManager.cpp) */
        if (field->value.ull >> 52 == 0) /* 0, or subnormal */
            return give_u32(code, field->value.ui, ret);
        if (!(field->value.d >= 0 && field->value.d < 1e18))
            return GTEL_NVML_NO_DATA;
        *ret =
            (struct gtel_nvml_answer){.u = {(uint64_t)field->value.d}, .n = 1, .f = field->value.d};
        return code;
    case GTEL_NVML_TYPE_UINT:
        return give_u32(code, field->value.ui, ret);
    case GTEL_NVML_TYPE_ULONG: /* 32 or 64 bits wide */
        return give_u64(code, field->value.ul == (unsigned long)-1 ? UINT64_MAX : field->value.ul,
                        ret);
    case GTEL_NVML_TYPE_ULLONG:
        return give_u64(code, field->value.ull, ret);
    case GTEL_NVML_TYPE_SLLONG:
        return give_i64(code, field->value.sll, ret);
    case GTEL_NVML_TYPE_SINT:
        return give_i64(code, field->value.si, ret);
    case GTEL_NVML_TYPE_USHORT:
        return give_u64(code, field->value.us, ret);
    default: /* a type of a later API */
        return code == GTEL_NVML_SUCCESS ? GTEL_NVML_NO_DATA : code;
    }
}
