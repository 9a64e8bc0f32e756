/* SPDX-License-Identifier: MIT */
/* What a result code of Level Zero means, when to ask again, and lists of handles. */
#include "sources/level_zero/answer.h"

#include "abi/zes_abi.h"

#include <stdlib.h>

enum { TRIES = 3, DEVICES_MAX = 64 }; /* drivers, and devices of one */

enum gtel_answer gtel_answer_of(uint32_t code)
{
    switch (code) {
    case GTEL_ZE_SUCCESS:
        return GTEL_ANSWER_FINE;
    case GTEL_ZE_LOW_POWER:
        return GTEL_ANSWER_ASLEEP;
    case GTEL_ZE_NOT_READY:
    case GTEL_ZE_NOT_AVAILABLE:
    case GTEL_ZE_NO_VALUE:
    case GTEL_ZE_NOT_ASKED:
        return GTEL_ANSWER_SILENT;
    case GTEL_ZE_NO_PERMISSION:
        return GTEL_ANSWER_REFUSED;
    case GTEL_ZE_UNSUPPORTED_VERSION:
    case GTEL_ZE_UNSUPPORTED_FEATURE:
    case GTEL_ZE_INVALID_ARGUMENT:
    case GTEL_ZE_NULL_HANDLE:
    case GTEL_ZE_NULL_POINTER:
    case GTEL_ZE_INVALID_ENUMERATION:
    case GTEL_ZE_UNSUPPORTED_ENUMERATION:
    case GTEL_ZE_UNINITIALIZED: /* loaders say it of one function that the driver's table lacks */
        return GTEL_ANSWER_ABSENT;
    default:
        return GTEL_ANSWER_FAILING;
    }
}

void gtel_retry_after(struct gtel_backoff *retry, enum gtel_answer answer, uint64_t now_ns)
{
    bool is_rare = answer == GTEL_ANSWER_ABSENT || answer == GTEL_ANSWER_REFUSED;
    if (answer == GTEL_ANSWER_SILENT || answer == GTEL_ANSWER_FAILING)
        gtel_backoff_fail(retry, now_ns, GTEL_BACKOFF_FIRST_NS, GTEL_BACKOFF_LAST_NS);
    else
        *retry = (struct gtel_backoff){.due = is_rare ? now_ns + GTEL_ANSWER_RARELY_NS : 0};
}

/* How many handles lie in the first n places, moved to the front. */
static size_t pack(void **list, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (list[i])
            list[kept++] = list[i];
    return kept;
}

uint32_t gtel_ze_list(gtel_ze_list_fn call, void *handle, size_t max, void ***ret, size_t *ret_n)
{
    uint32_t code = GTEL_ZE_INVALID_SIZE;
    *ret = NULL;
    *ret_n = 0;
    for (int i = 0; i < TRIES && code == GTEL_ZE_INVALID_SIZE; i++) {
        uint32_t count = 0;
        free(*ret);
        *ret = NULL;
        code = call(handle, &count, NULL);
        if (code != GTEL_ZE_SUCCESS || count == 0)
            return code;
        uint32_t room = count < max ? count : (uint32_t)max;
        *ret = calloc(room, sizeof(**ret));
        if (!*ret)
            return GTEL_ZE_OUT_OF_HOST_MEMORY;
        count = room;
        code = call(handle, &count, *ret);
        if (code == GTEL_ZE_SUCCESS)
            *ret_n = pack(*ret, count < room ? count : room);
    }
    return code;
}

static uint32_t list_drivers(void *call, uint32_t *count, void **ret)
{
    return (*(const gtel_ze_drivers_fn *)call)(count, ret);
}

uint32_t gtel_ze_drivers(gtel_ze_drivers_fn call, size_t max, void ***ret, size_t *ret_n)
{
    return gtel_ze_list(list_drivers, &call, max, ret, ret_n);
}

void gtel_ze_devices(gtel_ze_drivers_fn drivers, gtel_ze_list_fn devices,
                     void (*visit)(void *arg, void *driver, void *device), void *arg)
{
    void **driver;
    size_t n;
    (void)gtel_ze_drivers(drivers, DEVICES_MAX, &driver, &n);
    for (size_t i = 0; i < n; i++) {
        void **device;
        size_t devices_n;
        (void)gtel_ze_list(devices, driver[i], DEVICES_MAX, &device, &devices_n);
        for (size_t k = 0; k < devices_n; k++)
            visit(arg, driver[i], device[k]);
        free(device);
    }
    free(driver);
}
