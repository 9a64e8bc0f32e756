/* SPDX-License-Identifier: MIT */
/*
 * What a result code of Level Zero means for the question that it answers, and when to ask again.
 *
 * What is absent or refused is asked again every ten minutes, so that nothing is switched off for
 * good; what fails or has no value, with growing pauses.
 */
#ifndef GTEL_SOURCES_LEVEL_ZERO_ANSWER_H
#define GTEL_SOURCES_LEVEL_ZERO_ANSWER_H

#include "base/backoff.h"

#include <stddef.h>

/* Codes of ours, none of theirs: success without a value; and not asked yet. */
#define GTEL_ZE_NO_VALUE 0x6fffffffu
#define GTEL_ZE_NOT_ASKED 0x6ffffffeu

#define GTEL_ANSWER_RARELY_NS UINT64_C(600000000000)

enum gtel_answer {
    GTEL_ANSWER_FINE,
    GTEL_ANSWER_ASLEEP,  /* in low power: asked again as soon as it is awake */
    GTEL_ANSWER_SILENT,  /* no value now: no failure */
    GTEL_ANSWER_ABSENT,  /* this GPU, driver or loader does not have it */
    GTEL_ANSWER_REFUSED, /* for want of permission */
    GTEL_ANSWER_FAILING
};

enum gtel_answer gtel_answer_of(uint32_t code);

/* Sets the time of the next question: after failures as base/backoff.h does. */
void gtel_retry_after(struct gtel_backoff *retry, enum gtel_answer answer, uint64_t now_ns);

/* A call that lists handles: zesDeviceEnum…, zetMetricGroupGet … */
typedef uint32_t (*gtel_ze_list_fn)(void *handle, uint32_t *count, void **ret);
/*
 * Counts, then fills, up to `max` handles. The number may grow between the two calls, and a driver
 * may say anything: only handles that were written are kept. *ret is the caller's to free; NULL for
 * none. Returns a result code.
 */
uint32_t gtel_ze_list(gtel_ze_list_fn call, void *handle, size_t max, void ***ret, size_t *ret_n);
/* The same of drivers, where the call has no handle. */
typedef uint32_t (*gtel_ze_drivers_fn)(uint32_t *count, void **ret);
uint32_t gtel_ze_drivers(gtel_ze_drivers_fn call, size_t max, void ***ret, size_t *ret_n);
/* Calls `visit` with each device of each driver, as far as these can be listed. */
void gtel_ze_devices(gtel_ze_drivers_fn drivers, gtel_ze_list_fn devices,
                     void (*visit)(void *arg, void *driver, void *device), void *arg);

#endif
