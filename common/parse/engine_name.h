/* SPDX-License-Identifier: MIT */
/*
 * What drivers call an engine: "rcs0", "vecs", "RENDER", "video-enhance", "VIDEO_DECODE". Pure: no
 * allocation, no input or output.
 *
 * Names are those of i915 and xe and their files: the hardware's (kernel:
 * i915/gt/intel_engine_cs.c, xe/xe_hw_engine.c), those of DRM fdinfo (i915/i915_drm_client.c) and
 * those of the uapi constants (drm/i915_drm.h, drm/xe_drm.h).
 */
#ifndef GTEL_PARSE_ENGINE_NAME_H
#define GTEL_PARSE_ENGINE_NAME_H

#include "base/str.h"

/* In the order of the class numbers of i915 and xe, in their uapi and in the configs of their PMUs.
 */
enum gtel_engine_class {
    GTEL_ENGINE_RENDER,
    GTEL_ENGINE_COPY,
    GTEL_ENGINE_VIDEO,
    GTEL_ENGINE_VIDEO_ENHANCE,
    GTEL_ENGINE_COMPUTE,
    GTEL_ENGINE_CLASSES
};

struct gtel_engine_name {
    enum gtel_engine_class class;
    uint32_t instance; /* at most UINT16_MAX; UINT32_MAX: the name has no number */
};

/*
 * The whole name, with or without the number of the engine behind it; case, and `-` and `_`, make
 * no difference. 0, or -EINVAL for any other text.
 */
int gtel_engine_name_parse(struct gtel_str text, struct gtel_engine_name *ret);

enum { GTEL_ENGINE_TEXT_MAX = 16 };
/* The hardware's name of an engine, as "vcs1", into buf; returns buf. */
const char *gtel_engine_name_print(char buf[GTEL_ENGINE_TEXT_MAX], enum gtel_engine_class class,
                                   uint32_t instance);

/* The value of the tag engine: "render", "copy", "video", "video-enhance", "compute". */
struct gtel_str gtel_engine_class_name(enum gtel_engine_class class);

#endif
