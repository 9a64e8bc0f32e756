/* SPDX-License-Identifier: MIT */
/*
 * One function per shape of call. All bits set is the vendor's way to say "no value" where a number
 * has no better one.
 */
#include "sources/nvidia/nvml.h"

#include <string.h>

/* The parameters that all have; a row's call is the function at its offset. */
#define PARAMS                                                                                     \
    (const struct gtel_nvml *nvml, const struct gtel_nvml_gpu *gpu,                                \
     const struct gtel_nvml_row *row, struct gtel_nvml_answer *ret)

static void fetch(const struct gtel_nvml *nvml, const struct gtel_nvml_row *row, void *fn)
{
    memcpy(fn, (const char *)&nvml->call + row->offset, sizeof(int (*)(void)));
}

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

int gtel_nvml_read_u32 PARAMS
{
    int(*fn) GTEL_NVML_PARAMS_u32;
    unsigned value = UINT32_MAX;
    fetch(nvml, row, &fn);
    if (!fn)
        return GTEL_NVML_FUNCTION_NOT_FOUND;
    int code = fn(gpu->handle, &value);
    return give_u32(code, value, ret);
}

int gtel_nvml_read_u32_of PARAMS
{
    int(*fn) GTEL_NVML_PARAMS_u32_of;
    unsigned value = UINT32_MAX;
    fetch(nvml, row, &fn);
    if (!fn)
        return GTEL_NVML_FUNCTION_NOT_FOUND;
    int code = fn(gpu->handle, row->of, &value);
    return give_u32(code, value, ret);
}

int gtel_nvml_read_degrees PARAMS
{
    int(*fn) GTEL_NVML_PARAMS_u32_of;
    unsigned value = 0;
    fetch(nvml, row, &fn);
    if (!fn)
        return GTEL_NVML_FUNCTION_NOT_FOUND;
    int code = fn(gpu->handle, row->of, &value);
    return give_i64(code, (int32_t)value, ret);
}

int gtel_nvml_read_u64 PARAMS
{
    int(*fn) GTEL_NVML_PARAMS_u64;
    uint64_t value = UINT64_MAX;
    fetch(nvml, row, &fn);
    if (!fn)
        return GTEL_NVML_FUNCTION_NOT_FOUND;
    int code = fn(gpu->handle, &value);
    return give_u64(code, value, ret);
}

int gtel_nvml_read_u64_of2 PARAMS
{
    int(*fn) GTEL_NVML_PARAMS_u64_of2;
    uint64_t value = UINT64_MAX;
    fetch(nvml, row, &fn);
    if (!fn)
        return GTEL_NVML_FUNCTION_NOT_FOUND;
    int code = fn(gpu->handle, row->of, row->of_2, &value);
    return give_u64(code, value, ret);
}

int gtel_nvml_read_u32_pair PARAMS
{
    int(*fn) GTEL_NVML_PARAMS_u32_pair;
    unsigned value = UINT32_MAX;
    unsigned period_us = 0;
    fetch(nvml, row, &fn);
    if (!fn)
        return GTEL_NVML_FUNCTION_NOT_FOUND;
    int code = fn(gpu->handle, &value, &period_us);
    return give_u32(code, value, ret);
}

int gtel_nvml_read_pstate PARAMS
{
    struct gtel_nvml_answer answer;
    int code = gtel_nvml_read_u32(nvml, gpu, row, &answer);
    if (code != GTEL_NVML_SUCCESS)
        return code;
    if (answer.u[0] >= GTEL_NVML_PSTATE_UNKNOWN)
        return GTEL_NVML_NO_DATA;
    *ret = answer;
    return code;
}

int gtel_nvml_read_utilization PARAMS
{
    int(*fn) GTEL_NVML_PARAMS_utilization;
    struct gtel_nvml_utilization rates = {UINT32_MAX, UINT32_MAX};
    fetch(nvml, row, &fn);
    if (!fn)
        return GTEL_NVML_FUNCTION_NOT_FOUND;
    int code = fn(gpu->handle, &rates);
    if (code == GTEL_NVML_SUCCESS)
        *ret = (struct gtel_nvml_answer){.u = {rates.gpu, rates.memory}, .n = 2, .f = rates.gpu};
    return code;
}

int gtel_nvml_read_memory PARAMS
{
    int(*fn) GTEL_NVML_PARAMS_memory;
    struct gtel_nvml_memory memory = {0};
    fetch(nvml, row, &fn);
    if (!fn)
        return GTEL_NVML_FUNCTION_NOT_FOUND;
    int code = fn(gpu->handle, &memory);
    if (code != GTEL_NVML_SUCCESS)
        return code;
    if (memory.total == 0 || memory.used > memory.total)
        return GTEL_NVML_NOT_SUPPORTED; /* GPUs that share the host's memory say a total of 0 */
    *ret = (struct gtel_nvml_answer){.u = {memory.total, memory.used}, .n = 2};
    return code;
}

int gtel_nvml_read_memory_v2 PARAMS
{
    int(*fn) GTEL_NVML_PARAMS_memory_v2;
    struct gtel_nvml_memory_v2 memory = {0};
    memory.version = GTEL_NVML_VERSION(memory, 2);
    fetch(nvml, row, &fn);
    if (!fn)
        return GTEL_NVML_FUNCTION_NOT_FOUND;
    int code = fn(gpu->handle, &memory);
    if (code != GTEL_NVML_SUCCESS)
        return code;
    if (memory.total == 0 || memory.used > memory.total || memory.reserved > memory.total)
        return GTEL_NVML_NOT_SUPPORTED;
    *ret = (struct gtel_nvml_answer){.u = {memory.total, memory.used, memory.reserved}, .n = 3};
    return code;
}

int gtel_nvml_read_temperature_v PARAMS
{
    int(*fn) GTEL_NVML_PARAMS_temperature;
    struct gtel_nvml_temperature temperature = {.sensor = GTEL_NVML_TEMPERATURE_GPU};
    temperature.version = GTEL_NVML_VERSION(temperature, 1);
    fetch(nvml, row, &fn);
    if (!fn)
        return GTEL_NVML_FUNCTION_NOT_FOUND;
    int code = fn(gpu->handle, &temperature);
    return give_i64(code, temperature.temperature, ret);
}

int gtel_nvml_read_margin PARAMS
{
    int(*fn) GTEL_NVML_PARAMS_margin;
    struct gtel_nvml_margin margin = {0};
    margin.version = GTEL_NVML_VERSION(margin, 1);
    fetch(nvml, row, &fn);
    if (!fn)
        return GTEL_NVML_FUNCTION_NOT_FOUND;
    int code = fn(gpu->handle, &margin);
    return give_i64(code, margin.margin, ret);
}

int gtel_nvml_read_violation PARAMS
{
    int(*fn) GTEL_NVML_PARAMS_violation;
    struct gtel_nvml_violation violation = {0, UINT64_MAX};
    fetch(nvml, row, &fn);
    if (!fn)
        return GTEL_NVML_FUNCTION_NOT_FOUND;
    int code = fn(gpu->handle, row->of, &violation);
    return give_u64(code, violation.violation_time, ret);
}

int gtel_nvml_read_fans PARAMS
{
    struct gtel_nvml_answer answer = {0};
    if (!nvml->call.nvmlDeviceGetFanSpeed_v2)
        return GTEL_NVML_FUNCTION_NOT_FOUND;
    if (gpu->fans <= 0)
        return gpu->fans < 0 ? GTEL_NVML_NO_DATA : GTEL_NVML_NOT_SUPPORTED;
    (void)row; /* its call is the one above */
    for (unsigned i = 0; i < (unsigned)gpu->fans && i < GTEL_NVML_WORDS; i++) {
        unsigned percent = UINT32_MAX;
        int code = nvml->call.nvmlDeviceGetFanSpeed_v2(gpu->handle, i, &percent);
        if (code != GTEL_NVML_SUCCESS)
            return code;
        answer.u[answer.n++] = percent;
    }
    *ret = answer;
    return GTEL_NVML_SUCCESS;
}

int gtel_nvml_read_fans_rpm PARAMS
{
    struct gtel_nvml_answer answer = {0};
    if (!nvml->call.nvmlDeviceGetFanSpeedRPM)
        return GTEL_NVML_FUNCTION_NOT_FOUND;
    if (gpu->fans <= 0)
        return gpu->fans < 0 ? GTEL_NVML_NO_DATA : GTEL_NVML_NOT_SUPPORTED;
    (void)row; /* its call is the one above */
    for (unsigned i = 0; i < (unsigned)gpu->fans && i < GTEL_NVML_WORDS; i++) {
        struct gtel_nvml_fan_speed speed = {.fan = i, .speed = UINT32_MAX};
        speed.version = GTEL_NVML_VERSION(speed, 1);
        int code = nvml->call.nvmlDeviceGetFanSpeedRPM(gpu->handle, &speed);
        if (code != GTEL_NVML_SUCCESS)
            return code;
        answer.u[answer.n++] = speed.speed;
    }
    *ret = answer;
    return GTEL_NVML_SUCCESS;
}

int gtel_nvml_read_field(const struct gtel_nvml_field *field, struct gtel_nvml_answer *ret)
{
    switch (field->value_type) {
    case GTEL_NVML_TYPE_DOUBLE:
        if (field->value.d >= 0 && field->value.d < 1e18) {
            *ret = (struct gtel_nvml_answer){
                .u = {(uint64_t)field->value.d}, .n = 1, .f = field->value.d};
            return GTEL_NVML_SUCCESS;
        }
        return GTEL_NVML_NO_DATA;
    case GTEL_NVML_TYPE_UINT:
        return give_u32(GTEL_NVML_SUCCESS, field->value.ui, ret);
    case GTEL_NVML_TYPE_ULONG: /* 32 or 64 bits wide */
        return give_u64(GTEL_NVML_SUCCESS,
                        field->value.ul == (unsigned long)-1 ? UINT64_MAX : field->value.ul, ret);
    case GTEL_NVML_TYPE_ULLONG:
        return give_u64(GTEL_NVML_SUCCESS, field->value.ull, ret);
    case GTEL_NVML_TYPE_SLLONG:
        return give_i64(GTEL_NVML_SUCCESS, field->value.sll, ret);
    case GTEL_NVML_TYPE_SINT:
        return give_i64(GTEL_NVML_SUCCESS, field->value.si, ret);
    case GTEL_NVML_TYPE_USHORT:
        return give_u64(GTEL_NVML_SUCCESS, field->value.us, ret);
    default:
        return GTEL_NVML_NO_DATA; /* a type of a later API */
    }
}
