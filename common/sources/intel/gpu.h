/* SPDX-License-Identifier: MIT */
/*
 * The Intel GPUs of one driver: what the sources i915 and xe share.
 *
 * A GPU has a file that says whether it sleeps, which is read first in every gather, and attributes
 * that are read only while it is awake. Nothing of a sleeping GPU is opened or read: a GPU that
 * sleeps when it is found gets its attributes when it is first seen awake.
 */
#ifndef GTEL_SOURCES_INTEL_GPU_H
#define GTEL_SOURCES_INTEL_GPU_H

#include "sources/drm/attr_source.h"
#include "sources/intel/pmu.h"

#include <string.h>

struct gtel_intel_gpu {
    struct gtel_attr_card files; /* first */
    struct gtel_intel_pmu pmu;
    uint64_t kept_ns;       /* when they were read last, or it was seen asleep */
    uint64_t slept_ns;      /* for how long the card had slept at the last sample */
    uint64_t host_slept_ns; /* the same of the host */
    bool is_lost;           /* answered ENODEV: opened again at the next discovery */
};

/* The state of a source. Zeroed: nothing to close. */
struct gtel_intel {
    struct gtel_card_source source; /* first; of each card a struct gtel_intel_gpu */
    bool is_retry_due; /* the last discovery was not whole: sample() asks for another one */
    uint32_t retries;  /* such discoveries in a row */
};

/* i915 has counters that may stay open, and shows how fast a GT runs without using it. */
static inline bool gtel_intel_has_pmu(const struct gtel_intel *intel)
{
    return strcmp(intel->source.cards.drivers[0], "i915") == 0;
}

/* The parts of struct gtel_card_work; add is the driver's own. */
void gtel_intel_close_gpu(const struct gtel_env *env, void *own);
/* Between gathers: counters of few bits are read so that the driver sees each of their turns. */
uint64_t gtel_intel_due(const void *own);
int gtel_intel_tick(void *state, void *own, struct gtel_batch *batch);

/* The parts of struct gtel_source, for one driver. */
int gtel_intel_discover(void *state, struct gtel_registry *registry);
/* Fails only when nothing could be read: one broken file is counted and logged once. */
int gtel_intel_sample(void *state, struct gtel_registry *registry, struct gtel_batch *batch);
/* Reports why values of a GPU that is awake are missing; of others, that they are left alone. */
void gtel_intel_diagnose(void *state, struct gtel_registry *registry,
                         struct gtel_findings *findings);

/* The dimensions of what a GT has: "graphics" or "media"; its number; the tile's, of several. */
enum { GTEL_INTEL_DOMAIN, GTEL_INTEL_GT, GTEL_INTEL_TILE };
/* Adds every file of dir that begins with prefix as a reason, and the status file. */
void gtel_intel_add_throttle(struct gtel_attr_list *list, const struct gtel_str *gt,
                             const char *dir, struct gtel_str prefix, struct gtel_str status);

/* Adds what every card of them may have: sensors and the PCIe link. */
void gtel_intel_add_card(struct gtel_attr_list *list);

#endif
