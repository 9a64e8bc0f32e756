/* SPDX-License-Identifier: MIT */
/*
 * The bytes that i915 and xe answer to queries for memory regions and engines.
 *
 * Regions of both drivers get one form and one numbering. A value that the kernel hides is not
 * distinguished from zero by the kernel; here it is: unknown values are marked, never 0. The bytes
 * are in the byte order of this machine; anything beyond what the counts say is ignored.
 */
#ifndef GTEL_PARSE_DRM_REGIONS_H
#define GTEL_PARSE_DRM_REGIONS_H

#include "base/str.h"

enum {
    GTEL_DRM_REGIONS_MAX = 16,
    GTEL_XE_ENGINES_MAX = 128 /* of all tiles and GTs together */
};

/* One memory region, in bytes. */
struct gtel_drm_region {
    bool is_device;  /* the GPU's own memory; else the host's, as far as the GPU reaches it */
    uint16_t number; /* among the regions of its kind, from 0: own memory of tile 0, 1 … */
    uint64_t total;
    uint64_t used;    /* 0: hidden, for the right or the kernel lacks */
    uint64_t visible; /* own memory that the CPU reaches, less with a small BAR; 0: not known */
    uint64_t visible_used; /* UINT64_MAX: not known, as where used or visible is not */
};

struct gtel_drm_regions {
    size_t n;
    struct gtel_drm_region region[GTEL_DRM_REGIONS_MAX];
};

/*
 * The answer of i915 (DRM_I915_QUERY_MEMORY_REGIONS) and of xe (DRM_XE_DEVICE_QUERY_MEM_REGIONS).
 * Regions of other kinds and of unknown size are omitted; there may be none at all. 0, -EINVAL
 * for an answer that is cut, -E2BIG for more regions than there is room for.
 */
int gtel_i915_regions_parse(const void *answer, size_t n, struct gtel_drm_regions *ret);
int gtel_xe_regions_parse(const void *answer, size_t n, struct gtel_drm_regions *ret);

/* One engine of an xe GPU, as its perf PMU numbers them. */
struct gtel_xe_engine {
    uint16_t engine_class; /* GTEL_XE_ENGINE_… (abi/xe_uapi.h), or one to come */
    uint16_t instance;     /* within class and GT */
    uint16_t gt;
};

/*
 * The answer of xe (DRM_XE_DEVICE_QUERY_ENGINES). 0, -EINVAL for an answer that is cut, -E2BIG for
 * more than max engines. *ret_n is written on success.
 */
int gtel_xe_engines_parse(const void *answer, size_t n, struct gtel_xe_engine *list, size_t max,
                          size_t *ret_n);

#endif
