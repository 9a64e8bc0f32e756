/* SPDX-License-Identifier: MIT */
/*
 * Activity of execution units, and PCIe traffic, from GPM (NVML API Reference, GPM Functions):
 * Hopper and later.
 *
 * GPM takes no exclusive lock, so it runs beside profilers. It wants two samples at least 100 ms
 * apart and gives means between them. A window ends, and the next begins, only when its means have
 * been read: so windows follow each other without a hole and without an overlap, whatever fails in
 * between. PCIe bytes are summed up over them (pcie.h).
 */
#ifndef GTEL_SOURCES_NVIDIA_GPM_H
#define GTEL_SOURCES_NVIDIA_GPM_H

#include "pipeline/reading.h"
#include "sources/nvidia/library.h"
#include "sources/nvidia/pcie.h"

struct gtel_nvml_gpu;

enum { GTEL_NVML_GPM_FAST, GTEL_NVML_GPM_SLOW, GTEL_NVML_GPM_WINDOWS };

struct gtel_nvml_gpm_window {
    unsigned base; /* the sample at its beginning */
    uint64_t t_ns; /* when that was taken; 0: none yet */
};

struct gtel_nvml_gpm {
    /* One more than there are windows: the newest. NULL: not allocated; the last one is so only
     * where the GPU has GPM. */
    struct gtel_nvml_gpm_sample *sample[GTEL_NVML_GPM_WINDOWS + 1];
    struct gtel_nvml_gpm_window window[GTEL_NVML_GPM_WINDOWS];
    bool has_worked;                 /* means came */
    uint64_t engines;                /* those that have ever worked, a bit each */
    int code;                        /* of the last failure, or SUCCESS */
    uint64_t due_ns;                 /* when to try again after one; UINT64_MAX: not on this GPU */
    struct gtel_nvml_pcie_step pcie; /* of the present gather */
};

/* Takes a sample and appends the means since the last one; sets gpu->gpm.pcie. */
void gtel_nvml_gpm_sample(struct gtel_nvml_library *library, struct gtel_nvml_gpu *gpu,
                          struct gtel_batch *batch);
/* Starts again: nothing is known of the time before. */
void gtel_nvml_gpm_forget(struct gtel_nvml_gpm *gpm);
/* Frees the samples, before NVML is ended. */
void gtel_nvml_gpm_done(const struct gtel_nvml_calls *calls, struct gtel_nvml_gpm *gpm);

#endif
