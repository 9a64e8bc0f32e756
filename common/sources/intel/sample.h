/* SPDX-License-Identifier: MIT */
/* The Intel GPUs of one driver: what finding and reading them need of each other. */
#ifndef GTEL_SOURCES_INTEL_SAMPLE_H
#define GTEL_SOURCES_INTEL_SAMPLE_H

#include "sources/intel/gpu.h"

/*
 * Lists what a GPU that is awake has to read, and opens it where that differs from what is open. 0,
 * -ENOMEM, or the first file that is there and cannot be opened; the others are open then.
 */
int gtel_intel_list(struct gtel_intel *intel, struct gtel_intel_gpu *gpu);

/* The same after a look whether the GPU may be read now; a GPU that sleeps is left alone. */
int gtel_intel_refresh(struct gtel_intel *intel, struct gtel_intel_gpu *gpu);

#endif
