/* SPDX-License-Identifier: MIT */
/* What one process uses of a device. */
#include "pipeline/use.h"

_Static_assert(GTEL_USE_MEMORIES > 0 && GTEL_USE_MEMORIES <= 32, "a bit per kind of memory");

void gtel_use_memory_add(struct gtel_use_memory *sum, const struct gtel_use_memory *memory,
                         bool is_first)
{
    sum->has = memory->has & (is_first ? UINT32_MAX : sum->has);
    for (size_t kind = 0; kind < GTEL_USE_MEMORIES; kind++)
        sum->bytes[kind] += memory->bytes[kind];
}

void gtel_use_memory_join(struct gtel_use_memory *sum, const struct gtel_use_memory *other,
                          struct gtel_use_memory *ret_more)
{
    const uint32_t memory = 1u << gtel_use_kind(GTEL_M_PROCESS_MEMORY) |
                            1u << gtel_use_kind(GTEL_M_PROCESS_MEMORY_VRAM);
    uint32_t has = (sum->has & memory) | (other->has & ~memory);
    bool is_raised = false;
    *ret_more = (struct gtel_use_memory){.has = UINT32_MAX};
    for (size_t kind = 0; kind < GTEL_USE_MEMORIES; kind++) {
        if (((has & other->has) >> kind & 1u) != 0 && other->bytes[kind] > sum->bytes[kind]) {
            ret_more->bytes[kind] = other->bytes[kind] - sum->bytes[kind];
            sum->bytes[kind] = other->bytes[kind];
            is_raised = is_raised || (memory >> kind & 1u) != 0;
        }
    }
    sum->has = has | (is_raised ? 0 : sum->has);
}
