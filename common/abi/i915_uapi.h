/* SPDX-License-Identifier: MIT */
/*
 * What the kernel's i915 driver answers to its query of memory regions.
 *
 * Written by us after the kernel's include/uapi/drm/i915_drm.h, so that a parser of recorded bytes
 * builds on machines without it. tests/abi compares it with libdrm's copy.
 */
#ifndef GTEL_ABI_I915_UAPI_H
#define GTEL_ABI_I915_UAPI_H

#include <stdint.h>

/* DRM_I915_QUERY_MEMORY_REGIONS. */
enum { GTEL_I915_QUERY_MEMORY_REGIONS = 4 };

/* I915_MEMORY_CLASS_… */
enum { GTEL_I915_REGION_SYSTEM = 0, GTEL_I915_REGION_DEVICE = 1 };

/* Bytes before the first region: a count (u32) and three reserved words, zero when asking. */
enum { GTEL_I915_REGIONS_HEADER = 16 };

/* struct drm_i915_memory_region_info. All ones: not known. */
struct gtel_i915_region_record {
    uint16_t memory_class;
    uint16_t memory_instance;
    uint32_t reserved0;
    uint64_t probed_size;
    uint64_t unallocated_size;             /* probed_size without the right to it */
    uint64_t probed_cpu_visible_size;      /* 0: before Linux 6.0, which has no small BAR */
    uint64_t unallocated_cpu_visible_size; /* probed_cpu_visible_size without the right to it */
    uint64_t reserved1[6];
};

#endif
