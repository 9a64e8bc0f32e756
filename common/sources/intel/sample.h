/* SPDX-License-Identifier: MIT */
/* The Intel GPUs of one driver: what reading them needs of finding them. */
#ifndef GTEL_SOURCES_INTEL_SAMPLE_H
#define GTEL_SOURCES_INTEL_SAMPLE_H

#include "sources/intel/gpu.h"

/*
 * Lists what a GPU that is awake has to read, and opens it where that differs from what is open. 0
 * or -ENOMEM; a file that cannot be opened is logged and skipped until the next discovery.
 */
int gtel_intel_list(struct gtel_intel *intel, struct gtel_intel_gpu *gpu);

/*
 * Lists the same without opening it, into the arena for lists, which the next one empties. The GPU
 * is awake. 0 or -ENOMEM.
 */
int gtel_intel_scan_gpu(struct gtel_intel *intel, const struct gtel_intel_gpu *gpu,
                        struct gtel_attr_list *ret);

/* After a discovery: whether it was complete; if not, it is repeated soon, some
 * times. */
void gtel_intel_retry(struct gtel_intel *intel, bool is_whole);

/* Whether reading an attribute of a GPU that is awake does nothing to keep it awake. */
bool gtel_intel_is_free(const struct gtel_intel *intel, const struct gtel_attr *attr);

#endif
