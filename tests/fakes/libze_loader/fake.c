/* SPDX-License-Identifier: MIT */
/*
 * A shared object with the Level Zero loader's names, for the way through the system's loader. One
 * GPU with fixed answers.
 *
 * Variants by definition: FAKE_OLD is a loader of before 1.9.4, without zesInit, that wants the
 * variable; FAKE_NO_GPU fails to start; FAKE_EMPTY succeeds with everything and writes nothing, as
 * the null driver does; FAKE_MISSING lacks a required call; FAKE_HANG never returns from the third
 * reading of a temperature (but ends the process after 3 s), FAKE_CRASH ends the process there.
 * FAKE_WINDOWS answers with the address of the root port and has the GPU's own in its UUID, as
 * Intel's driver for Windows; FAKE_UNTOUCHED ends the process with the first call.
 * Calls before a successful start end the process, as those of loader 1.32 do.
 */
#include "abi/zes_abi.h"
#include "base/compiler.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Handles. */
static int driver;
static int gpu;
static int sensor;

static int is_started;

static uint32_t known(const void *handle, const int *wanted)
{
    if (!is_started)
        (void)raise(SIGSEGV);
    return handle == (const void *)wanted ? GTEL_ZE_SUCCESS : GTEL_ZE_NULL_HANDLE;
}

/* Count-then-fill of one handle. */
static uint32_t give(void *handle, uint32_t *count, void **ret)
{
#ifdef FAKE_EMPTY
    if (!ret)
        *count = 1; /* the second call does not touch the list */
    (void)handle;
#else
    if (ret && *count > 0)
        ret[0] = handle;
    *count = 1;
#endif
    return GTEL_ZE_SUCCESS;
}

/* Each exported name is declared before it is defined: there is no header for them. */
#define FAKE(name, shape, type)                                                                    \
    GTEL_EXPORT uint32_t name GTEL_ZES_PARAMS_##shape(type);                                       \
    uint32_t name GTEL_ZES_PARAMS_##shape(type)

#ifdef FAKE_OLD
FAKE(zeInit, init, void)
{
    const char *variable = getenv("ZES_ENABLE_SYSMAN");
    is_started = flags == 0 && variable && strcmp(variable, "1") == 0;
    return is_started ? GTEL_ZE_SUCCESS : GTEL_ZE_UNINITIALIZED;
}

FAKE(zeDriverGet, drivers, void **)
{
    return give(&driver, count, ret);
}

FAKE(zeDeviceGet, list, void **)
{
    uint32_t code = known(handle, &driver);
    return code ? code : give(&gpu, count, ret);
}
#else
FAKE(zesInit, init, void)
{
#ifdef FAKE_NO_GPU
    (void)flags;
    return GTEL_ZE_UNINITIALIZED;
#else
#ifdef FAKE_UNTOUCHED
    (void)raise(SIGSEGV);
#endif
    is_started = flags == 0;
    return GTEL_ZE_SUCCESS;
#endif
}

FAKE(zesDriverGet, drivers, void **)
{
    return give(&driver, count, ret);
}

FAKE(zesDeviceGet, list, void **)
{
    uint32_t code = known(handle, &driver);
    return code ? code : give(&gpu, count, ret);
}
#endif

#ifndef FAKE_MISSING
FAKE(zesDeviceGetProperties, get, struct gtel_zes_device_properties *)
{
#ifndef FAKE_EMPTY
    ret->core.device_type = GTEL_ZE_DEVICE_GPU;
    ret->core.vendor_id = 0x8086;
#ifdef FAKE_WINDOWS
    static const uint8_t uuid[GTEL_ZES_UUID] = {0x86, 0x80, 0x0b, 0xe2, 0, 0, 0, 0, 3};
    memcpy(ret->core.uuid, uuid, sizeof(uuid));
#endif
#endif
    (void)ret;
    return known(handle, &gpu);
}
#endif

FAKE(zesDevicePciGetProperties, get, struct gtel_zes_pci_properties *)
{
#ifndef FAKE_EMPTY
    ret->domain = 0;
#ifdef FAKE_WINDOWS
    ret->bus = 0;
    ret->device = 1;
#else
    ret->bus = 3;
    ret->device = 0;
#endif
    ret->function = 0;
#endif
    (void)ret;
    return known(handle, &gpu);
}

FAKE(zesDeviceEnumTemperatureSensors, list, void **)
{
    uint32_t code = known(handle, &gpu);
    return code ? code : give(&sensor, count, ret);
}

/* Drivers write the head of this one, too. */
FAKE(zesTemperatureGetProperties, get, struct gtel_zes_temp_properties *)
{
    uint32_t code = known(handle, &sensor);
    if (code)
        return code;
    memset(ret, 0xee, sizeof(*ret));
    ret->type = GTEL_ZES_TEMP_GPU;
    ret->on_subdevice = 0;
    ret->max = -1;
    return GTEL_ZE_SUCCESS;
}

FAKE(zesTemperatureGetState, get, double *)
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
    *ret = 61.5;
    return known(handle, &sensor);
}
