/* SPDX-License-Identifier: MIT */
/*
 * The classes of engines that users see: tag `engine` of gpu_engine, fields of gpu_process.
 *
 * Every driver has names of its own for its engines (the keys of DRM fdinfo: kernel,
 * Documentation/gpu/drm-usage-stats.rst); here each belongs to one class. A class can have engines
 * of several names (amdgpu's enc and enc_1): the busiest of them counts. A name that is not known
 * is "other": a driver to come is shown, not dropped.
 *
 * amdgpu names its rings, not what they do: from VCN 4 on one ring encodes and decodes, and its
 * name is enc. The source of its clients knows these chips, and its class is "video" there.
 */
#ifndef GTEL_TABLES_ENGINE_H
#define GTEL_TABLES_ENGINE_H

#include "base/str.h"

enum gtel_engine_kind {
    GTEL_ENGINE_KIND_RENDER,
    GTEL_ENGINE_KIND_COPY,
    GTEL_ENGINE_KIND_COMPUTE,
    GTEL_ENGINE_KIND_VIDEO,
    GTEL_ENGINE_KIND_VIDEO_ENHANCE,
    GTEL_ENGINE_KIND_ENCODE,
    GTEL_ENGINE_KIND_DECODE,
    GTEL_ENGINE_KIND_JPEG,
    GTEL_ENGINE_KIND_OFA, /* optical flow */
    GTEL_ENGINE_KIND_OTHER,
    GTEL_ENGINE_KINDS
};

/* The value of the tag: "render", "video-enhance" …; "other" for a number that is none of these. */
struct gtel_str gtel_engine_kind_name(enum gtel_engine_kind kind);

/*
 * The class of an engine, by the whole name that its driver gives it, as it is written in fdinfo
 * ("rcs", "gfx", "vertex-tiler"), or by the tag; GTEL_ENGINE_KIND_OTHER for any other text.
 */
enum gtel_engine_kind gtel_engine_kind_of(struct gtel_str name);
/* The same by the name that it has under Windows: "3D", "VideoDecode", "Compute_0". */
enum gtel_engine_kind gtel_engine_kind_of_windows(struct gtel_str name);

#endif
