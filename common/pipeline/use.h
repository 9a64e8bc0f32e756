/* SPDX-License-Identifier: MIT */
/*
 * What one process, or a line of them, uses of a device: amounts of memory and shares of its
 * engines. Plain data, filled by the source that knows it; pure.
 *
 * The kinds of memory, and of other amounts that add up, are the rows of the catalogue from
 * PROCESS_MEMORY up to PROCESS_BUSY, so that a new kind is a row there and a gtel_use_memory_put()
 * in a source: sums, "other", and what is reported go by the bit of the kind. Each kind is known by
 * itself, or not; an amount that is not known is no zero.
 */
#ifndef GTEL_PIPELINE_USE_H
#define GTEL_PIPELINE_USE_H

#include "tables/catalogue.h"
#include "tables/engine.h"

/* Kinds of memory, by their rows. */
enum { GTEL_USE_MEMORIES = GTEL_M_PROCESS_BUSY - GTEL_M_PROCESS_MEMORY };

_Static_assert(GTEL_USE_MEMORIES > 0 && GTEL_USE_MEMORIES <= 32, "a bit per kind of memory");

/* Zeroed: nothing is known. */
struct gtel_use_memory {
    uint32_t has;                      /* a bit per kind: it is known */
    uint64_t bytes[GTEL_USE_MEMORIES]; /* 0 where it is not known, but of sums: see below */
};

struct gtel_use {
    struct gtel_use_memory memory;
    uint32_t has_share;              /* a bit per class */
    double share[GTEL_ENGINE_KINDS]; /* 0 to 1, of the class over the last interval */
    uint32_t hidden; /* a bit per class in which it may work to an extent that nobody reports */
};

static inline uint32_t gtel_use_kind(enum gtel_metric metric)
{
    return (uint32_t)metric - GTEL_M_PROCESS_MEMORY;
}

/* Sets an amount; metric is one of the rows above. */
static inline void gtel_use_memory_put(struct gtel_use_memory *memory, enum gtel_metric metric,
                                       uint64_t bytes)
{
    memory->has |= 1u << gtel_use_kind(metric);
    memory->bytes[gtel_use_kind(metric)] = bytes;
}

/* False: not known, and *ret is not written. */
static inline bool gtel_use_memory_get(const struct gtel_use_memory *memory,
                                       enum gtel_metric metric, uint64_t *ret)
{
    if ((memory->has >> gtel_use_kind(metric) & 1u) == 0)
        return false;
    *ret = memory->bytes[gtel_use_kind(metric)];
    return true;
}

/*
 * Adds amounts to a sum. A kind that one of them does not know is not known of the sum; what is
 * known of it is added all the same, to rank by. is_first: nothing was added to the sum yet.
 */
static inline void gtel_use_memory_add(struct gtel_use_memory *sum,
                                       const struct gtel_use_memory *memory, bool is_first)
{
    sum->has = memory->has & (is_first ? UINT32_MAX : sum->has);
    for (size_t kind = 0; kind < GTEL_USE_MEMORIES; kind++)
        sum->bytes[kind] += memory->bytes[kind];
}

#endif
