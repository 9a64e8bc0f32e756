/* SPDX-License-Identifier: MIT */
/* What a result code of Level Zero means, when to ask again, and lists of handles. */
#include "sources/level_zero/answer.h"

#include "abi/zes_abi.h"

#include <stdlib.h>
#include <string.h>

enum { TRIES = 3 };

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

uint32_t gtel_ze_drivers(uint32_t (*call)(uint32_t *count, void **ret), void **ret, size_t max,
                         size_t *ret_n)
{
    uint32_t count = 0;
    *ret_n = 0;
    memset(ret, 0, max * sizeof(*ret));
    uint32_t code = call(&count, NULL);
    if (code != GTEL_ZE_SUCCESS || count == 0)
        return code;
    uint32_t room = count < max ? count : (uint32_t)max;
    count = room;
    code = call(&count, ret);
    if (code == GTEL_ZE_SUCCESS)
        *ret_n = pack(ret, count < room ? count : room);
    return code;
}
