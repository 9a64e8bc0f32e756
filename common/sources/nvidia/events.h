/* SPDX-License-Identifier: MIT */
/*
 * Xid errors and other events of GPUs, from NVML's event set (NVML API Reference, Event Handling
 * Methods): Linux only, not in WSL.
 *
 * The set lives as long as NVML runs, or until a GPU in it is lost, and is asked without waiting:
 * 2 us on an H200 with driver 580.159, where registration took 7 to 10 ms and the end of the set
 * 6 ms. What came before is not reported. The counts are this process's and go on when NVML is
 * started again.
 */
#ifndef GTEL_SOURCES_NVIDIA_EVENTS_H
#define GTEL_SOURCES_NVIDIA_EVENTS_H

#include "pipeline/reading.h"
#include "sources/nvidia/library.h"

struct gtel_nvml;
struct gtel_nvml_gpu;

enum { GTEL_NVML_XIDS_MAX = 32 }; /* different numbers of one GPU; others count in the total only */

enum gtel_nvml_watch {
    GTEL_NVML_WATCH_NOT_ASKED,
    GTEL_NVML_WATCH_ON,
    GTEL_NVML_WATCH_REFUSED /* until GPUs are searched again */
};

/* Of one GPU. */
struct gtel_nvml_xids {
    enum gtel_nvml_watch watch;
    bool was_watched; /* so the counts are known, though there may be a hole */
    uint64_t total;
    size_t n;
    struct {
        uint32_t xid;
        uint64_t count;
    } seen[GTEL_NVML_XIDS_MAX];
};

/*
 * Registers GPUs that have a handle and were not asked yet, and counts what has come since: a
 * bounded number of events, the rest the next time. After an event, what is
 * read each minute is due. Sets library.broken where a code says so.
 */
void gtel_nvml_events_read(struct gtel_nvml *nvml);
/*
 * Appends the total, 0 from the start, and a count for each number seen; of a GPU that is not
 * available, too.
 */
void gtel_nvml_events_emit(const struct gtel_nvml_gpu *gpu, struct gtel_batch *batch);
/* Frees the set, before NVML is ended. */
void gtel_nvml_events_done(struct gtel_nvml *nvml);

#endif
