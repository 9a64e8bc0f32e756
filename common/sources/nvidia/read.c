/* SPDX-License-Identifier: MIT */
/* Makes the call of a row, by its shape. */
#include "sources/nvidia/read.h"

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
static int read_number(union call call, struct gtel_nvml_device *device,
                       const struct gtel_nvml_row *row, struct gtel_nvml_answer *ret)
{
    uint64_t wide = UINT64_MAX;
    unsigned value = UINT32_MAX;
    unsigned other;
    int code;
    switch (row->shape) {
    case GTEL_NVML_SHAPE_U32:
        code = call.u32(device, &value);
        return give_u32(code, value, ret);
    case GTEL_NVML_SHAPE_U32_OF:
        code = call.u32_of(device, row->of, &value);
        return give_u32(code, value, ret);
    case GTEL_NVML_SHAPE_U32_PAIR:
        code = call.u32_pair(device, &value, &other);
        return give_u32(code, value, ret);
    case GTEL_NVML_SHAPE_DEGREES:
        code = call.u32_of(device, row->of, &value);
        return give_i64(code, (int32_t)value, ret);
    case GTEL_NVML_SHAPE_PSTATE:
        code = call.u32(device, &value);
        return give_u32(code, value >= GTEL_NVML_PSTATE_UNKNOWN ? UINT32_MAX : value, ret);
    case GTEL_NVML_SHAPE_U64:
        code = call.u64(device, &wide);
        return give_u64(code, wide, ret);
    case GTEL_NVML_SHAPE_U64_OF2:
        code = call.u64_of2(device, row->of, row->of_2, &wide);
        return give_u64(code, wide, ret);
    default:
        return GTEL_NVML_FUNCTION_NOT_FOUND;
    }
}

static int read_utilization(union call call, struct gtel_nvml_device *device,
                            struct gtel_nvml_answer *ret)
{
    struct gtel_nvml_utilization rates = {UINT32_MAX, UINT32_MAX};
    int code = call.utilization(device, &rates);
    if (code == GTEL_NVML_SUCCESS)
        *ret = (struct gtel_nvml_answer){.u = {rates.gpu, rates.memory}, .n = 2, .f = rates.gpu};
    return code;
}

/* GPUs that share the host's memory report a total of 0. */
static int read_memory(union call call, struct gtel_nvml_device *device,
                       struct gtel_nvml_answer *ret)
{
    struct gtel_nvml_memory memory = {0};
    int code = call.memory(device, &memory);
    if (code != GTEL_NVML_SUCCESS)
        return code;
    if (memory.total == 0 || memory.used > memory.total)
        return GTEL_NVML_NOT_SUPPORTED;
    *ret = (struct gtel_nvml_answer){.u = {memory.total, memory.used}, .n = 2};
    return code;
}

static int read_memory_v2(union call call, struct gtel_nvml_device *device,
                          struct gtel_nvml_answer *ret)
{
    struct gtel_nvml_memory_v2 memory = {0};
    memory.version = GTEL_NVML_VERSION(memory, 2);
    int code = call.memory_v2(device, &memory);
    if (code != GTEL_NVML_SUCCESS)
        return code;
    if (memory.total == 0 || memory.used > memory.total || memory.reserved > memory.total)
        return GTEL_NVML_NOT_SUPPORTED;
    *ret = (struct gtel_nvml_answer){.u = {memory.total, memory.used, memory.reserved}, .n = 3};
    return code;
}

static int read_temperature(union call call, struct gtel_nvml_device *device,
                            struct gtel_nvml_answer *ret)
{
    struct gtel_nvml_temperature temperature = {.sensor = GTEL_NVML_TEMPERATURE_GPU};
    temperature.version = GTEL_NVML_VERSION(temperature, 1);
    int code = call.temperature(device, &temperature);
    return give_i64(code, temperature.temperature, ret);
}

static int read_margin(union call call, struct gtel_nvml_device *device,
                       struct gtel_nvml_answer *ret)
{
    struct gtel_nvml_margin margin = {0};
    margin.version = GTEL_NVML_VERSION(margin, 1);
    int code = call.margin(device, &margin);
    return give_i64(code, margin.margin, ret);
}

static int read_fan(union call call, const struct gtel_nvml_gpu *gpu, unsigned fan, bool is_rpm,
                    unsigned *ret)
{
    struct gtel_nvml_fan_speed speed = {.fan = fan, .speed = UINT32_MAX};
    speed.version = GTEL_NVML_VERSION(speed, 1);
    if (!is_rpm)
        return call.u32_of(gpu->handle, fan, ret);
    int code = call.fan_speed(gpu->handle, &speed);
    *ret = speed.speed;
    return code;
}

static int read_fans(union call call, const struct gtel_nvml_gpu *gpu, bool is_rpm,
                     struct gtel_nvml_answer *ret)
{
    struct gtel_nvml_answer answer = {0};
    if (gpu->fans <= 0)
        return gpu->fans < 0 ? GTEL_NVML_NO_DATA : GTEL_NVML_NOT_SUPPORTED;
    for (unsigned i = 0; i < (unsigned)gpu->fans && i < GTEL_NVML_WORDS; i++) {
        unsigned value = UINT32_MAX;
        int code = read_fan(call, gpu, i, is_rpm, &value);
        if (code != GTEL_NVML_SUCCESS)
            return code;
        answer.u[answer.n++] = value;
    }
    *ret = answer;
    return GTEL_NVML_SUCCESS;
}

int gtel_nvml_read(const struct gtel_nvml_calls *calls, const struct gtel_nvml_gpu *gpu,
                   const struct gtel_nvml_row *row, struct gtel_nvml_answer *ret)
{
    struct gtel_nvml_violation violation = {0, UINT64_MAX};
    union call call;
    memcpy(&call, (const char *)calls + row->offset, sizeof(call));
    if (!call.plain)
        return GTEL_NVML_FUNCTION_NOT_FOUND;
    switch (row->shape) {
    case GTEL_NVML_SHAPE_UTILIZATION:
        return read_utilization(call, gpu->handle, ret);
    case GTEL_NVML_SHAPE_MEMORY:
        return read_memory(call, gpu->handle, ret);
    case GTEL_NVML_SHAPE_MEMORY_V2:
        return read_memory_v2(call, gpu->handle, ret);
    case GTEL_NVML_SHAPE_TEMPERATURE_V:
        return read_temperature(call, gpu->handle, ret);
    case GTEL_NVML_SHAPE_MARGIN:
        return read_margin(call, gpu->handle, ret);
    case GTEL_NVML_SHAPE_VIOLATION: {
        int code = call.violation(gpu->handle, row->of, &violation);
        return give_u64(code, violation.violation_time, ret);
    }
    case GTEL_NVML_SHAPE_FANS:
    case GTEL_NVML_SHAPE_FANS_RPM:
        return read_fans(call, gpu, row->shape == GTEL_NVML_SHAPE_FANS_RPM, ret);
    default:
        return read_number(call, gpu->handle, row, ret);
    }
}

int gtel_nvml_read_fields(const struct gtel_nvml_calls *calls, const struct gtel_nvml_gpu *gpu,
                          const size_t *row, struct gtel_nvml_field *field, size_t n)
{
    if (!calls->nvmlDeviceGetFieldValues)
        return GTEL_NVML_FUNCTION_NOT_FOUND;
    for (size_t k = 0; k < n; k++)
        field[k] = (struct gtel_nvml_field){.field_id = gtel_nvml_rows[row[k]].of,
                                            .scope_id = gtel_nvml_rows[row[k]].of_2,
                                            .rc = GTEL_NVML_NO_DATA}; /* should it be skipped */
    return calls->nvmlDeviceGetFieldValues(gpu->handle, (int)n, field);
}

int gtel_nvml_field_value(const struct gtel_nvml_field *field, struct gtel_nvml_answer *ret)
{
    int code = field->rc;
    switch (field->value_type) {
    case GTEL_NVML_TYPE_DOUBLE:
        if (code != GTEL_NVML_SUCCESS)
            return code;
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
