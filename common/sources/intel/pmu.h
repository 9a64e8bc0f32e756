/* SPDX-License-Identifier: MIT */
/*
 * How busy the engines of an i915 GPU are, from the driver's perf PMU.
 *
 * The counters of one GPU are one group: one read per cycle gives the time for which each engine
 * was busy, waited for an event or for a semaphore, and the time for which they have counted. The
 * core makes shares of the two. Neither an open group nor a read of it wakes the GPU, but opening
 * needs a right: CAP_PERFMON, or kernel.perf_event_paranoid at 0 or below (linux: admin-guide/
 * perf-security).
 */
#ifndef GTEL_SOURCES_INTEL_PMU_H
#define GTEL_SOURCES_INTEL_PMU_H

#include "cycle/reading.h"
#include "host/drm.h"

/* Position in i915's list of origins, behind those of sysfs and hwmon. */
enum { GTEL_INTEL_PMU = 2 };

/* Render, copy, video, video enhancement, compute (i915_drm.h: drm_i915_gem_engine_class). */
enum { GTEL_INTEL_CLASSES = 5, GTEL_INTEL_SAMPLES = 3 };

/* Zeroed: not open. */
struct gtel_intel_pmu {
    struct gtel_fs_file type; /* goes away when the driver leaves the device */
    uint64_t type_number;
    int handle_plus_1;
    size_t n;                         /* counters in the group */
    uint8_t sum[GTEL_PMU_EVENTS_MAX]; /* class × GTEL_INTEL_SAMPLES + sample, of each of them */
    uint16_t engines[GTEL_INTEL_CLASSES * GTEL_INTEL_SAMPLES]; /* counters in each sum */
    uint64_t last;   /* of all counters together: whether any has moved */
    int error;       /* why the counters are not open */
    bool is_refused; /* a failure to open has been logged */
    bool is_failing; /* a failed read has been logged */
};

/*
 * Opens the counters of a card where that is due: they are not open, or belong to a PMU that has
 * been registered anew. is_only: no other GPU of the driver is there. What is not there is no
 * failure; any other one is logged once, and tried again at the next call.
 */
void gtel_intel_pmu_refresh(const struct gtel_env *env, struct gtel_arena *arena,
                            const struct gtel_drm_card *card, bool is_only,
                            struct gtel_intel_pmu *pmu);
/*
 * Appends the engines' times. Returns 0, also when nothing is open; -ENODEV when the PMU has gone
 * (the counters are closed then); any other errno of a failed read.
 */
int gtel_intel_pmu_read(const struct gtel_env *env, const struct gtel_drm_card *card,
                        const struct gtel_device *device, struct gtel_intel_pmu *pmu,
                        struct gtel_batch *batch);
void gtel_intel_pmu_close(const struct gtel_env *env, struct gtel_intel_pmu *pmu);

#endif
