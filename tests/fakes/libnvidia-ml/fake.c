/* SPDX-License-Identifier: MIT */
/*
 * A shared object with NVML's names, for the way through the loader. One GPU with fixed answers.
 *
 * Variants by definition: FAKE_OLD lacks what drivers before 535 lack, FAKE_NO_DEVICE counts 0,
 * FAKE_NO_DRIVER fails to start, FAKE_MISSING lacks a required call, FAKE_HANG never returns from
 * the third reading of the performance state (but ends the process after 3 s), FAKE_CRASH ends the
 * process there.
 */
#include "abi/nvml_abi.h"
#include "base/compiler.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The handle of the one GPU. */
static int gpu;

static int known(const struct gtel_nvml_device *device)
{
    return (const void *)device == (const void *)&gpu ? GTEL_NVML_SUCCESS
                                                      : GTEL_NVML_INVALID_ARGUMENT;
}

static int text(const char *value, char *ret, unsigned size)
{
    if (strlen(value) >= size)
        return GTEL_NVML_INSUFFICIENT_SIZE;
    (void)snprintf(ret, size, "%s", value);
    return GTEL_NVML_SUCCESS;
}

/* Each exported name is declared before it is defined: there is no header for them. */
#define FAKE(name, shape)                                                                          \
    GTEL_EXPORT int name GTEL_NVML_PARAMS_##shape;                                                 \
    int name GTEL_NVML_PARAMS_##shape

FAKE(nvmlInit_v2, plain)
{
#ifdef FAKE_NO_DRIVER
    return GTEL_NVML_DRIVER_NOT_LOADED;
#else
    return GTEL_NVML_SUCCESS;
#endif
}

FAKE(nvmlShutdown, plain)
{
    return GTEL_NVML_SUCCESS;
}

FAKE(nvmlSystemGetDriverVersion, system_text)
{
    return text("470.256.02", ret, size);
}

FAKE(nvmlDeviceGetCount_v2, count)
{
#ifdef FAKE_NO_DEVICE
    *ret = 0;
#else
    *ret = 1;
#endif
    return GTEL_NVML_SUCCESS;
}

FAKE(nvmlDeviceGetHandleByIndex_v2, by_index)
{
    if (index > 0)
        return GTEL_NVML_INVALID_ARGUMENT;
    *ret = (struct gtel_nvml_device *)(void *)&gpu;
    return GTEL_NVML_SUCCESS;
}

#ifndef FAKE_MISSING
FAKE(nvmlDeviceGetUUID, text)
{
    (void)device;
    return text("GPU-fake", ret, size);
}
#endif

FAKE(nvmlDeviceGetName, text)
{
    (void)device;
    return text("NVIDIA Fake", ret, size);
}

FAKE(nvmlDeviceGetPciInfo_v3, pci)
{
    *ret = (struct gtel_nvml_pci){.bus = 5, .pci_device_id = 0x123410de};
    (void)snprintf(ret->bus_id, sizeof(ret->bus_id), "00000000:05:00.0");
    return known(device);
}

FAKE(nvmlDeviceGetUtilizationRates, utilization)
{
    *ret = (struct gtel_nvml_utilization){63, 12};
    return known(device);
}

FAKE(nvmlDeviceGetMemoryInfo, memory)
{
    *ret = (struct gtel_nvml_memory){.total = 1000, .free = 600, .used = 400};
    return known(device);
}

#ifndef FAKE_OLD
FAKE(nvmlDeviceGetMemoryInfo_v2, memory_v2)
{
    if (ret->version != GTEL_NVML_VERSION(*ret, 2))
        return GTEL_NVML_ARGUMENT_VERSION_MISMATCH;
    ret->total = 1000;
    ret->reserved = 100;
    ret->free = 600;
    ret->used = 300;
    return known(device);
}
#endif

FAKE(nvmlDeviceGetTemperature, u32_of)
{
    *ret = 40 + of;
    return known(device);
}

FAKE(nvmlDeviceGetPowerUsage, u32)
{
    *ret = 150250;
    return known(device);
}

FAKE(nvmlDeviceGetPerformanceState, u32)
{
#if defined(FAKE_HANG) || defined(FAKE_CRASH)
    static int calls;
    if (++calls > 2) {
#ifdef FAKE_HANG
        (void)alarm(3);
        for (;;)
            (void)pause();
#else
        (void)raise(SIGSEGV);
#endif
    }
#endif
    *ret = 2;
    return known(device);
}

FAKE(nvmlDeviceGetFieldValues, fields)
{
    for (int i = 0; i < n; i++) {
        ret[i].rc = GTEL_NVML_NOT_SUPPORTED;
        if (ret[i].field_id != GTEL_NVML_FI_MEMORY_TEMP)
            continue;
        ret[i].rc = GTEL_NVML_SUCCESS;
        ret[i].value_type = GTEL_NVML_TYPE_UINT;
        ret[i].value.ui = 61;
    }
    return known(device);
}
