/* SPDX-License-Identifier: MIT */
/* Memory: bytes. */
#include "sources/level_zero/sysman/rows.h"

/* Ponte Vecchio reports it (compute-runtime: sysman memory); others say that it is unknown. */
static uint64_t health_of(uint32_t health)
{
    switch (health) {
    case GTEL_ZES_MEM_HEALTH_OK:
        return 0;
    case GTEL_ZES_MEM_HEALTH_DEGRADED:
        return 1;
    case GTEL_ZES_MEM_HEALTH_CRITICAL:
    case GTEL_ZES_MEM_HEALTH_REPLACE:
        return 2;
    default:
        return UINT64_MAX;
    }
}

/* Without CAP_PERFMON drivers say that nothing is used: 0 is no value (SYSMAN.md). */
GTEL_SYSMAN_READ(memory)
{
    const struct gtel_zes_mem_state *state = &got->memory_state;
    struct gtel_sysman_place place = gtel_sysman_place_of(part, 0);
    if (state->size == 0 || state->size == UINT64_MAX)
        return GTEL_ZE_NO_VALUE;
    uint64_t used = state->free < state->size ? state->size - state->free : UINT64_MAX;
    gtel_sysman_add_u64(pass, GTEL_M_MEMORY_TOTAL, &place, state->size);
    gtel_sysman_add_u64(pass, GTEL_M_MEMORY_HEALTH, &place, health_of(state->health));
    gtel_sysman_add_u64(pass, GTEL_M_MEMORY_USED, &place, used);
    pass->memories++;
    pass->memory_total += state->size;
    if (used == UINT64_MAX)
        return GTEL_ZE_SUCCESS;
    pass->memories_used++;
    pass->memory_used += used;
    return GTEL_ZE_SUCCESS;
}

void gtel_sysman_add_memory(const struct gtel_sysman_pass *pass)
{
    size_t memories = gtel_sysman_wanted(&pass->gpu->list[GTEL_SYSMAN_MEMORY]);
    if (memories == 0 || pass->memories != memories)
        return;
    gtel_sysman_add_u64(pass, GTEL_M_GPU_MEMORY_TOTAL, NULL, pass->memory_total);
    if (pass->memories_used != memories)
        return;
    gtel_sysman_add_u64(pass, GTEL_M_GPU_MEMORY_USED, NULL, pass->memory_used);
}

/*
 * Each step by the peak bandwidth of its end: Battlemage reports it each time, and it moves. A step
 * over which a counter went back is skipped.
 */
static bool bandwidth_step(struct gtel_sysman_bandwidth *bandwidth,
                           const struct gtel_zes_mem_bandwidth *now)
{
    struct gtel_sysman_bandwidth last = *bandwidth;
    bandwidth->last_read = now->read;
    bandwidth->last_write = now->write;
    bandwidth->last_us = now->timestamp;
    if (now->read < last.last_read || now->write < last.last_write || now->timestamp < last.last_us)
        return false;
    double grown = (double)(now->read - last.last_read) + (double)(now->write - last.last_write);
    bandwidth->peak_s += grown / (double)now->max;
    bandwidth->total_us += now->timestamp - last.last_us;
    return true;
}

/*
 * Of Ponte Vecchio they are sums of four counters of 32 bits and 32 bytes, but where firmware has
 * wider ones (compute-runtime: sysman memory). Each wraps after 137 GB, at full speed twelve times
 * a second for the sum: a step says nothing then.
 */
GTEL_SYSMAN_GET(bandwidth)
{
    static const struct gtel_sysman_call call = GTEL_SYSMAN_CALL(zesMemoryGetBandwidth, 0);
    uint32_t *bits = &part->is.memory.counter_bits;
    bool is_narrow = pass->gpu->hardware == GTEL_INTEL_PONTE_VECCHIO;
    if (is_narrow && *bits == 0)
        *bits =
            gtel_sysman_counter_bits(pass->sysman->lz.cards.env, &pass->gpu->card->drm, part->tile);
    if (is_narrow && *bits < 64)
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    return gtel_sysman_get(pass->sysman, &call, part->handle, NULL, ret, sizeof(*ret));
}

/*
 * A peak bandwidth of less than a megabyte per second is none, nor is one of DG2 above a terabyte:
 * under Windows that of an A750 was in bits (oneapi-src/level-zero issue 440).
 */
static bool is_peak(const struct gtel_sysman_gpu *gpu, uint64_t bytes)
{
    return bytes >= 1000000 && !(gtel_sysman_is_dg2(gpu) && bytes > 1000000000000);
}

/* Counters are bytes, whatever the specification says of transactions. */
GTEL_SYSMAN_READ(bandwidth)
{
    const struct gtel_zes_mem_bandwidth *now = &got->bandwidth;
    struct gtel_sysman_bandwidth *bandwidth = &part->is.memory.bandwidth;
    struct gtel_sysman_place place = gtel_sysman_place_of(part, now->timestamp);
    if (now->timestamp == UINT64_MAX || now->timestamp == 0)
        return GTEL_ZE_NO_VALUE;
    part->is_counting = part->is_counting || now->read > 0 || now->write > 0;
    if (!part->is_counting)
        return GTEL_ZE_NO_VALUE;
    gtel_sysman_add_u64(pass, GTEL_M_MEMORY_READ, &place, now->read);
    gtel_sysman_add_u64(pass, GTEL_M_MEMORY_WRITE, &place, now->write);
    if (!is_peak(pass->gpu, now->max) || !bandwidth_step(bandwidth, now))
        return GTEL_ZE_SUCCESS;
    place.t_us = bandwidth->total_us;
    gtel_sysman_add_f64(pass, GTEL_M_MEMORY_PEAK_TIME, &place, bandwidth->peak_s);
    place.dim[0] = GTEL_STR_NONE;
    if (gtel_sysman_wanted(&pass->gpu->list[GTEL_SYSMAN_MEMORY]) == 1)
        gtel_sysman_add_f64(pass, GTEL_M_GPU_MEMORY_PEAK_TIME, &place, bandwidth->peak_s);
    return GTEL_ZE_SUCCESS;
}
