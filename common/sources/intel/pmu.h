/* SPDX-License-Identifier: MIT */
/*
 * What an i915 GPU counts for its driver's perf PMU.
 *
 * The counters of one GPU are one group: one read per gather gives the time for which each engine
 * was busy, for which each GT has slept (RC6), interrupts, and the time for which they have
 * counted; with the option I915Sampling also the time for which each engine waited for an event or
 * for a semaphore, and clock times time. The core makes shares and means of them. Neither an open
 * group nor a read of it wakes the GPU, but opening needs a right: CAP_PERFMON, or
 * kernel.perf_event_paranoid at 0 or below (linux: admin-guide/perf-security).
 *
 * A driver of intel-gpu-i915-backports that shares the GPU (SR-IOV) counts no time of engines but
 * ticks of the GuC's clock, and all ticks of that clock in total-active-ticks: a share of those.
 */
#ifndef GTEL_SOURCES_INTEL_PMU_H
#define GTEL_SOURCES_INTEL_PMU_H

#include "host/drm.h"
#include "sources/drm/attr.h"
#include "sources/intel/perf.h"

/* Position in i915's list of origins, behind those of sysfs and hwmon. */
enum { GTEL_INTEL_PMU = 2 };

/* Render, copy, video, video enhancement, compute (i915_drm.h: drm_i915_gem_engine_class). */
enum { GTEL_INTEL_CLASSES = 5, GTEL_INTEL_SAMPLES = 3 };

/* i915 has at most two: graphics, and the media GT of Meteor Lake. */
enum {
    GTEL_INTEL_PMU_GTS = 2,
    GTEL_INTEL_PMU_SLOTS = GTEL_INTEL_CLASSES * GTEL_INTEL_SAMPLES + 7 + GTEL_INTEL_CLASSES + 1
};

/* What one sample of a GPU has seen. */
struct gtel_intel_sample {
    struct gtel_attr_sample attrs;
    uint32_t idle_times; /* idle counters that have not gone back */
    uint32_t busy_times; /* of these: which grew by less than almost all of the time */
};

/* Zeroed: not open. */
struct gtel_intel_pmu {
    char dir[GTEL_INTEL_PERF_DIR_MAX];
    struct gtel_fs_file type; /* goes away when the driver leaves the device */
    uint64_t type_number;
    uint32_t cpu; /* that the counters were opened on */
    uint64_t vfs; /* virtual functions that were switched on then */
    int handle_plus_1;
    size_t n;                                /* counters in the group */
    uint8_t slot[GTEL_PMU_EVENTS_MAX];       /* what each of them counts */
    uint8_t instance[GTEL_PMU_EVENTS_MAX];   /* of engines: which one of the class */
    uint16_t counters[GTEL_INTEL_PMU_SLOTS]; /* how many count into each slot */
    uint64_t idle_ns[GTEL_INTEL_PMU_GTS];    /* RC6 at the last read */
    uint64_t enabled_ns;                     /* at the last read; 0: none yet */
    uint64_t last;                           /* of all counters together: whether any has moved */
    uint32_t partial; /* how often in a row the engines alone could be opened */
    bool has_link;    /* the driver's folder has been seen to name the device */
    int error;        /* why the counters are not open */
    int logged;       /* the last try to open or to read that was */
};

/*
 * Opens the counters of a card where that is due: they are not open, belong to a PMU that has been
 * registered again, or to a CPU that counts no longer. is_only: no other GPU of the driver is
 * there. has_sampled: with the events that the driver samples by a timer. What is not there is no
 * failure; any other one is logged once, and tried again at the next call.
 */
void gtel_intel_pmu_refresh(const struct gtel_env *env, struct gtel_arena *arena,
                            const struct gtel_drm_card *card, bool is_only, bool has_sampled,
                            struct gtel_intel_pmu *pmu);
/*
 * Appends what is counted to the batch, of each engine as well with has_instances, and notes how
 * idle the GTs were. Returns 0, also when
 * nothing is open; -ENODEV when the PMU has gone, or its driver is leaving, so that counters may
 * stand still already; any other errno of a failed read. The counters are closed after an error.
 */
int gtel_intel_pmu_read(const struct gtel_env *env, const struct gtel_drm_card *card,
                        const struct gtel_device *device, struct gtel_intel_pmu *pmu,
                        bool has_instances, struct gtel_intel_sample *sample);
/* Whether the open counters show how long the GT of that number ("0") has slept. */
bool gtel_intel_pmu_has_idle(const struct gtel_intel_pmu *pmu, struct gtel_str gt);
void gtel_intel_pmu_close(const struct gtel_env *env, struct gtel_intel_pmu *pmu);

#endif
