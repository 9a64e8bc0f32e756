/* SPDX-License-Identifier: MIT */
/* What state the GPU is in, who uses it, its power supplies, and whether it may sleep. */
#include "sources/level_zero/sysman/sysman.h"

#include "processes/usage.h"
#include "host/kernel.h"

#include <string.h>

#define MINUTE_NS 60000000000u

enum { PROCESSES_MAX = 1024, SPARE = 16, TRIES = 3 };

/* A figure that is repeated until it is read again: 1, 0, or not known. */
static void put_flag(const struct gtel_sysman_pass *pass, enum gtel_metric metric, int value)
{
    if (value >= 0)
        gtel_sysman_put_u64(pass, metric, NULL, value != 0);
}

/*
 * Newer drivers only add their reasons to those that are there, and of xe's a reason that is not
 * set says nothing: it is set by events that nobody listens to, or never (compute-runtime, sysman:
 * deviceGetState() and getWedgedStatus() of both kernel drivers).
 */
static int needs_reset(const struct gtel_sysman_pass *pass, uint32_t reasons)
{
    bool is_silent = strcmp(pass->gpu->card->drm.driver, "xe") == 0;
    return reasons != 0 ? 1 : is_silent ? -1 : 0;
}

/* i915's driver makes a context in each call (compute-runtime: sysman of i915): once a minute. */
uint32_t gtel_sysman_read_state(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    if (part->is.pci.state_due_ns <= pass->now) {
        struct gtel_zes_device_state got = {.head.type = GTEL_ZES_TYPE_DEVICE_STATE,
                                            .repaired = UINT32_MAX};
        uint32_t code = pass->sysman->call.zesDeviceGetState(part->handle, &got);
        if (code != GTEL_ZE_SUCCESS)
            return code;
        if (got.reset == 0 && got.repaired == UINT32_MAX)
            return GTEL_SYSMAN_NO_VALUE;
        part->is.pci.state_due_ns = pass->now + MINUTE_NS;
        part->is.pci.needs_reset = needs_reset(pass, got.reset);
        part->is.pci.is_repaired = got.repaired == GTEL_ZES_REPAIR_PERFORMED       ? 1
                                   : got.repaired == GTEL_ZES_REPAIR_NOT_PERFORMED ? 0
                                                                                   : -1;
    }
    put_flag(pass, GTEL_M_GPU_RESET_NEEDED, part->is.pci.needs_reset);
    put_flag(pass, GTEL_M_GPU_REPAIRED, part->is.pci.is_repaired);
    return GTEL_ZE_SUCCESS;
}

static bool is_ecc_state(uint32_t state)
{
    return state == GTEL_ZES_ECC_ENABLED || state == GTEL_ZES_ECC_DISABLED;
}

static uint32_t ask_ecc(const struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_ecc_properties got = {
        .head.type = GTEL_ZES_TYPE_ECC_PROPERTIES, .current = UINT32_MAX, .pending = UINT32_MAX};
    uint8_t is_available = UINT8_MAX;
    if (!pass->sysman->call.zesDeviceEccAvailable)
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    uint32_t code = pass->sysman->call.zesDeviceEccAvailable(part->handle, &is_available);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    if (is_available != 1)
        return is_available == 0 ? GTEL_ZE_UNSUPPORTED_FEATURE : GTEL_SYSMAN_NO_VALUE;
    code = pass->sysman->call.zesDeviceGetEccState(part->handle, &got);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    if (!is_ecc_state(got.current))
        return GTEL_SYSMAN_NO_VALUE;
    part->is.pci.has_ecc = got.current == GTEL_ZES_ECC_ENABLED;
    part->is.pci.is_ecc_pending = is_ecc_state(got.pending) ? got.pending != got.current : -1;
    return GTEL_ZE_SUCCESS;
}

/* A mailbox of the firmware answers (compute-runtime: ECC through igsc): once a minute. */
uint32_t gtel_sysman_read_ecc(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    if (part->is.pci.ecc_due_ns <= pass->now) {
        uint32_t code = ask_ecc(pass, part);
        if (code != GTEL_ZE_SUCCESS)
            return code;
        part->is.pci.ecc_due_ns = pass->now + MINUTE_NS;
    }
    put_flag(pass, GTEL_M_GPU_ECC, part->is.pci.has_ecc);
    put_flag(pass, GTEL_M_GPU_ECC_PENDING, part->is.pci.is_ecc_pending);
    return GTEL_ZE_SUCCESS;
}

/* ---- processes ---- */

/*
 * The kernel tells of them in fdinfo from 5.19 on (i915; xe always), each client once, and for
 * less: Sysman looks through /proc on xe, and adds up what clients share (intel/compute-runtime
 * issue 964). Drivers from elsewhere for older kernels tell Sysman alone.
 */
bool gtel_sysman_knows_processes(const struct gtel_env *env, const struct gtel_drm_card *drm)
{
    return strcmp(drm->driver, "i915") == 0 && gtel_kernel_is_older(env, 5, 19);
}

/*
 * What a process has created, and what others have and it uses, too. The engines that it uses are
 * told without times.
 */
static void put_process(const struct gtel_sysman_pass *pass,
                        const struct gtel_zes_process_state *process)
{
    struct gtel_process_id id = {.pid = process->pid};
    struct gtel_use use = {0};
    const struct gtel_batch *batch = pass->batch;
    gtel_use_memory_put(&use.memory, GTEL_M_PROCESS_MEMORY, process->memory + process->shared);
    gtel_use_memory_put(&use.memory, GTEL_M_PROCESS_MEMORY_SHARED, process->shared);
    (void)gtel_process_start(pass->sysman->cards.env, id.pid, &id.start); /* or it is not known */
    gtel_usage_add(batch->usage, pass->gpu->card->device, batch->source, batch->origin, id, &use);
}

/*
 * Processes begin and end between counting and filling, so there is room for some more. Where it is
 * too small the driver refuses and tells how many there are (compute-runtime: sysman, global
 * operations, processesGetState).
 */
static uint32_t fill_processes(const struct gtel_sysman_pass *pass,
                               const struct gtel_sysman_part *part,
                               struct gtel_zes_process_state *ret, uint32_t *ret_n)
{
    uint32_t count = 0;
    uint32_t code = pass->sysman->call.zesDeviceProcessesGetState(part->handle, &count, NULL);
    *ret_n = 0;
    if (code != GTEL_ZE_SUCCESS || count == 0)
        return code;
    code = GTEL_ZE_INVALID_SIZE;
    for (int i = 0; i < TRIES && code == GTEL_ZE_INVALID_SIZE; i++) {
        uint32_t room = count < PROCESSES_MAX - SPARE ? count + SPARE : PROCESSES_MAX;
        for (uint32_t k = 0; k < room; k++)
            ret[k] = (struct gtel_zes_process_state){.head.type = GTEL_ZES_TYPE_PROCESS_STATE,
                                                     .memory = UINT64_MAX};
        count = room;
        code = pass->sysman->call.zesDeviceProcessesGetState(part->handle, &count, ret);
        *ret_n = count < room ? count : room;
    }
    return code;
}

uint32_t gtel_sysman_read_processes(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    static const size_t size = PROCESSES_MAX * sizeof(struct gtel_zes_process_state);
    struct gtel_zes_process_state *process;
    uint32_t n;
    const struct gtel_batch *batch = pass->batch;
    if (!pass->gpu->has_processes)
        return GTEL_ZE_SUCCESS;
    process = gtel_arena_alloc(&pass->batch->arena, size);
    if (!process)
        return GTEL_ZE_OUT_OF_HOST_MEMORY;
    uint32_t code = fill_processes(pass, part, process, &n);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    for (uint32_t i = 0; i < n; i++)
        if (process[i].pid == 0 || process[i].memory == UINT64_MAX)
            return GTEL_SYSMAN_NO_VALUE; /* counted, but not told */
    gtel_usage_look(batch->usage, pass->gpu->card->device, batch->source, batch->origin);
    for (uint32_t i = 0; i < n; i++)
        put_process(pass, &process[i]);
    return GTEL_ZE_SUCCESS;
}

/* ---- power supplies: milliamperes, degrees Celsius; -1 is unknown ---- */

uint32_t gtel_sysman_read_psu(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_psu_state got = {.head.type = GTEL_ZES_TYPE_PSU_STATE,
                                     .voltage = UINT32_MAX,
                                     .has_fan_failed = UINT8_MAX,
                                     .temperature = -1,
                                     .current = -1};
    struct gtel_sysman_place place = {.dim = {gtel_str_of(part->name)}};
    uint32_t code = pass->sysman->call.zesPsuGetState(part->handle, &got);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    if (got.voltage == UINT32_MAX)
        return GTEL_SYSMAN_NO_VALUE;
    if (got.voltage != GTEL_ZES_VOLTAGE_UNKNOWN && got.voltage <= GTEL_ZES_VOLTAGE_UNDER)
        gtel_sysman_put_u64(pass, GTEL_M_VOLTAGE_FAULT, &place,
                            got.voltage != GTEL_ZES_VOLTAGE_NORMAL);
    if (got.current >= 0)
        gtel_sysman_put_f64(pass, GTEL_M_CURRENT, &place, (double)got.current * 1e-3);
    if (part->is.psu.max_current > 0)
        gtel_sysman_put_f64(pass, GTEL_M_CURRENT_LIMIT, &place,
                            (double)part->is.psu.max_current * 1e-3);
    if (got.temperature > 0 && got.temperature < 250)
        gtel_sysman_put_f64(pass, GTEL_M_TEMPERATURE, &place, got.temperature);
    if (part->is.psu.has_fan && got.has_fan_failed <= 1)
        gtel_sysman_put_u64(pass, GTEL_M_FAN_FAILED, &place, got.has_fan_failed);
    return GTEL_ZE_SUCCESS;
}

/* ---- standby: whether the GPU, or a tile, may sleep; RC6 of the graphics GT on i915 ---- */

uint32_t gtel_sysman_read_standby(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_str tile = gtel_str_of(part->tile_text);
    struct gtel_sysman_place place = {
        .dim = {gtel_str_of(part->name), part->is_on_tile ? tile : GTEL_STR("0"), tile}};
    if (part->is.standby.due_ns <= pass->now) {
        uint32_t mode = UINT32_MAX;
        uint32_t code = pass->sysman->call.zesStandbyGetMode(part->handle, &mode);
        if (code != GTEL_ZE_SUCCESS)
            return code;
        if (mode != GTEL_ZES_STANDBY_DEFAULT && mode != GTEL_ZES_STANDBY_NEVER)
            return GTEL_SYSMAN_NO_VALUE;
        part->is.standby.due_ns = pass->now + MINUTE_NS;
        part->is.standby.may_sleep = mode == GTEL_ZES_STANDBY_DEFAULT;
    }
    gtel_sysman_put_u64(pass, GTEL_M_FREQUENCY_SLEEP_ENABLED, &place, part->is.standby.may_sleep);
    return GTEL_ZE_SUCCESS;
}
