/* SPDX-License-Identifier: MIT */
/* Xid errors and other events of GPUs. */
#include "sources/nvidia/events.h"

#include "sources/nvidia/nvml.h"

#include <inttypes.h>
#include <stdio.h>

/* In one gather: a storm of 10^6 must not hold it up. */
enum { EVENTS_MAX = 1024 };

static const uint64_t wanted =
    GTEL_NVML_EVENT_XID | GTEL_NVML_EVENT_DOUBLE_BIT_ECC | GTEL_NVML_EVENT_RECOVERY_ACTION;

static bool has_calls(const struct gtel_nvml_calls *call)
{
    return call->nvmlEventSetCreate && call->nvmlEventSetFree && call->nvmlEventSetWait_v2 &&
           call->nvmlDeviceRegisterEvents && call->nvmlDeviceGetSupportedEventTypes;
}

/* An NVML code. */
static int watch(struct gtel_nvml *nvml, const struct gtel_nvml_gpu *gpu)
{
    const struct gtel_nvml_calls *call = &nvml->library.call;
    uint64_t types = 0;
    int code = call->nvmlDeviceGetSupportedEventTypes(gpu->handle, &types);
    if (code != GTEL_NVML_SUCCESS)
        return code;
    if ((types & GTEL_NVML_EVENT_XID) == 0)
        return GTEL_NVML_NOT_SUPPORTED;
    return call->nvmlDeviceRegisterEvents(gpu->handle, types & wanted, nvml->events);
}

static void watch_all(struct gtel_nvml *nvml)
{
    for (size_t i = 0; i < nvml->n; i++) {
        struct gtel_nvml_gpu *gpu = nvml->gpu[i];
        if (!gpu->handle || gpu->is_unavailable || gpu->xids.watch != GTEL_NVML_WATCH_NOT_ASKED)
            continue;
        int code = watch(nvml, gpu);
        bool is_fine = gtel_nvml_judge(&nvml->library, code) == GTEL_NVML_MEANS_FINE;
        gpu->xids.watch = is_fine ? GTEL_NVML_WATCH_ON : GTEL_NVML_WATCH_REFUSED;
        gpu->xids.was_watched = gpu->xids.was_watched || is_fine;
    }
}

static void count(struct gtel_nvml_xids *xids, uint32_t xid)
{
    size_t i = 0;
    xids->total++;
    while (i < xids->n && xids->seen[i].xid != xid)
        i++;
    if (i == GTEL_NVML_XIDS_MAX)
        return;
    if (i == xids->n) {
        xids->n++;
        xids->seen[i].xid = xid;
        xids->seen[i].count = 0;
    }
    xids->seen[i].count++;
}

static void handle_event(struct gtel_nvml *nvml, const struct gtel_nvml_event *event)
{
    for (size_t i = 0; i < nvml->n; i++) {
        struct gtel_nvml_gpu *gpu = nvml->gpu[i];
        if (!gpu->handle || gpu->handle != event->device)
            continue;
        if (event->type == GTEL_NVML_EVENT_XID)
            count(&gpu->xids, (uint32_t)event->data);
        gtel_nvml_gpu_read_all(gpu);
    }
}

/* With the GPUs that answer. False: there is no set. */
static bool make_set(struct gtel_nvml *nvml)
{
    if (!nvml->events && nvml->library.call.nvmlEventSetCreate(&nvml->events) != GTEL_NVML_SUCCESS)
        nvml->events = NULL;
    if (nvml->events)
        watch_all(nvml);
    return nvml->events != NULL;
}

/*
 * A lost GPU makes each wait fail as long as it is in the set (NVIDIA/k8s-test-infra pull request
 * 746), so the others get a set without it. Each costs 7 to 10 ms for a GPU, so not too often,
 * unless another GPU was lost since (nvml.c).
 */
static void replace_set(struct gtel_nvml *nvml)
{
    uint64_t now = gtel_env_now(nvml->env);
    if (now < nvml->events_due_ns)
        return;
    gtel_nvml_events_done(nvml);
    nvml->events_due_ns = now + GTEL_NVML_MINUTE_NS;
    (void)make_set(nvml); /* else the next read does */
}

void gtel_nvml_events_read(struct gtel_nvml *nvml)
{
    const struct gtel_nvml_calls *call = &nvml->library.call;
    if (!has_calls(call) || !make_set(nvml))
        return;
    for (int i = 0; i < EVENTS_MAX && !nvml->library.broken; i++) {
        struct gtel_nvml_event event = {.device = NULL};
        int code = call->nvmlEventSetWait_v2(nvml->events, &event, 0);
        if (gtel_nvml_judge(&nvml->library, code) == GTEL_NVML_MEANS_NO_GPU)
            replace_set(nvml);
        if (code != GTEL_NVML_SUCCESS) /* TIMEOUT: there is none; others show in the GPU's rows */
            return;
        handle_event(nvml, &event);
    }
}

void gtel_nvml_events_emit(const struct gtel_nvml_gpu *gpu, struct gtel_batch *batch)
{
    const struct gtel_nvml_xids *xids = &gpu->xids;
    if (!xids->was_watched)
        return;
    batch->origin = GTEL_NVML_ORIGIN_EVENT;
    gtel_batch_u64(batch, gpu->device, GTEL_M_ERROR_COUNT, GTEL_STR("xid"), xids->total);
    for (size_t i = 0; i < xids->n; i++) {
        char kind[16];
        (void)snprintf(kind, sizeof(kind), "xid_%" PRIu32, xids->seen[i].xid);
        gtel_batch_u64(batch, gpu->device, GTEL_M_ERROR_COUNT,
                       gtel_batch_text(batch, gtel_str_of(kind)), xids->seen[i].count);
    }
}

void gtel_nvml_events_done(struct gtel_nvml *nvml)
{
    if (nvml->events) /* nothing could be done about a failure */
        (void)nvml->library.call.nvmlEventSetFree(nvml->events);
    nvml->events = NULL;
    for (size_t i = 0; i < nvml->n; i++)
        nvml->gpu[i]->xids.watch = GTEL_NVML_WATCH_NOT_ASKED;
}
