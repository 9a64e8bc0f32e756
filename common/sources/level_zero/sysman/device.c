/* SPDX-License-Identifier: MIT */
/* What state the GPU is in, its ECC, and who uses it. */
#include "sources/level_zero/sysman/rows.h"

#include "processes/usage.h"

#include <string.h>

enum { PROCESSES_MAX = 1024 };

/*
 * Drivers only add their reasons to those that are there, and of xe's a reason that is not set says
 * nothing: it is set by events that nobody listens to, or never (compute-runtime, sysman:
 * deviceGetState() and getWedgedStatus() of both kernel drivers). i915's driver makes a context in
 * each call.
 */
GTEL_SYSMAN_GET(state)
{
    ret->device_state = (struct gtel_zes_device_state){.head.type = GTEL_ZES_TYPE_DEVICE_STATE,
                                                       .repaired = UINT32_MAX};
    return pass->sysman->call.zesDeviceGetState
               ? pass->sysman->call.zesDeviceGetState(part->handle, &ret->device_state)
               : GTEL_ZE_UNSUPPORTED_FEATURE;
}

GTEL_SYSMAN_READ(state)
{
    uint32_t reset = got->device_state.reset;
    uint32_t repaired = got->device_state.repaired;
    bool is_silent = strcmp(pass->gpu->card->drm.driver, "xe") == 0;
    (void)part;
    if (reset == 0 && repaired == UINT32_MAX)
        return GTEL_ZE_NO_VALUE;
    if (reset != 0 || !is_silent)
        gtel_sysman_add_u64(pass, GTEL_M_GPU_RESET_NEEDED, NULL, reset != 0);
    if (repaired == GTEL_ZES_REPAIR_PERFORMED || repaired == GTEL_ZES_REPAIR_NOT_PERFORMED)
        gtel_sysman_add_u64(pass, GTEL_M_GPU_REPAIRED, NULL, repaired == GTEL_ZES_REPAIR_PERFORMED);
    return GTEL_ZE_SUCCESS;
}

static bool is_ecc_state(uint32_t state)
{
    return state == GTEL_ZES_ECC_ENABLED || state == GTEL_ZES_ECC_DISABLED;
}

/* A mailbox of the firmware answers (compute-runtime: ECC through igsc). */
GTEL_SYSMAN_GET(ecc)
{
    static const struct gtel_sysman_call available = GTEL_SYSMAN_CALL(zesDeviceEccAvailable, 0);
    static const struct gtel_sysman_call state =
        GTEL_SYSMAN_CALL(zesDeviceGetEccState, GTEL_ZES_TYPE_ECC_PROPERTIES);
    uint32_t code =
        gtel_sysman_get(pass->sysman, &available, part->handle, NULL, ret, sizeof(*ret));
    if (code != GTEL_ZE_SUCCESS)
        return code;
    if (ret->is_available != 1)
        return ret->is_available == 0 ? GTEL_ZE_UNSUPPORTED_FEATURE : GTEL_ZE_NO_VALUE;
    return gtel_sysman_get(pass->sysman, &state, part->handle, NULL, ret, sizeof(*ret));
}

GTEL_SYSMAN_READ(ecc)
{
    const struct gtel_zes_ecc_properties *ecc = &got->ecc;
    (void)part;
    if (!is_ecc_state(ecc->current))
        return GTEL_ZE_NO_VALUE;
    gtel_sysman_add_u64(pass, GTEL_M_GPU_ECC, NULL, ecc->current == GTEL_ZES_ECC_ENABLED);
    if (is_ecc_state(ecc->pending))
        gtel_sysman_add_u64(pass, GTEL_M_GPU_ECC_PENDING, NULL, ecc->pending != ecc->current);
    return GTEL_ZE_SUCCESS;
}

/* What a process has created, and what others have and it uses, too. */
static void add_process(const struct gtel_sysman_pass *pass,
                        const struct gtel_zes_process_state *process)
{
    struct gtel_process_id id = {.pid = process->pid};
    struct gtel_use use = {0};
    const struct gtel_batch *batch = pass->batch;
    gtel_use_memory_put(&use.memory, GTEL_M_PROCESS_MEMORY, process->memory + process->shared);
    gtel_use_memory_put(&use.memory, GTEL_M_PROCESS_MEMORY_SHARED, process->shared);
    (void)gtel_process_start(pass->sysman->lz.cards.env, id.pid, &id.start); /* or it is unknown */
    gtel_usage_add(batch->usage, pass->gpu->card->device, batch->source, batch->origin, id, &use);
}

GTEL_SYSMAN_GET(processes)
{
    static const struct gtel_sysman_array array = {
        .call = GTEL_SYSMAN_CALL(zesDeviceProcessesGetState, GTEL_ZES_TYPE_PROCESS_STATE),
        .size = sizeof(struct gtel_zes_process_state),
        .max = PROCESSES_MAX};
    struct gtel_zes_process_state *process;
    uint32_t n;
    const struct gtel_batch *batch = pass->batch;
    (void)ret;
    if (!pass->gpu->has_processes)
        return GTEL_ZE_SUCCESS;
    process = gtel_arena_alloc(&pass->batch->arena, array.size * array.max);
    if (!process)
        return GTEL_ZE_OUT_OF_HOST_MEMORY;
    uint32_t code = gtel_sysman_get_array(pass->sysman, &array, part->handle, process, &n);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    for (uint32_t i = 0; i < n; i++)
        if (process[i].pid == 0 || process[i].memory == UINT64_MAX)
            return GTEL_ZE_NO_VALUE; /* counted, but not reported */
    gtel_usage_complete(batch->usage, pass->gpu->card->device, batch->source, batch->origin);
    for (uint32_t i = 0; i < n; i++)
        add_process(pass, &process[i]);
    return GTEL_ZE_SUCCESS;
}
