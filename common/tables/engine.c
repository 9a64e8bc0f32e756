/* SPDX-License-Identifier: MIT */
/* The classes of engines that users see. */
#include "tables/engine.h"

#include "base/compiler.h"

static const struct gtel_str tags[GTEL_ENGINE_KINDS] = {
    [GTEL_ENGINE_KIND_RENDER] = GTEL_STR_INIT("render"),
    [GTEL_ENGINE_KIND_COPY] = GTEL_STR_INIT("copy"),
    [GTEL_ENGINE_KIND_COMPUTE] = GTEL_STR_INIT("compute"),
    [GTEL_ENGINE_KIND_VIDEO] = GTEL_STR_INIT("video"),
    [GTEL_ENGINE_KIND_VIDEO_ENHANCE] = GTEL_STR_INIT("video-enhance"),
    [GTEL_ENGINE_KIND_ENCODE] = GTEL_STR_INIT("encode"),
    [GTEL_ENGINE_KIND_DECODE] = GTEL_STR_INIT("decode"),
    [GTEL_ENGINE_KIND_JPEG] = GTEL_STR_INIT("jpeg"),
    [GTEL_ENGINE_KIND_OFA] = GTEL_STR_INIT("ofa"),
    [GTEL_ENGINE_KIND_OTHER] = GTEL_STR_INIT("other"),
};

/*
 * Names that are no tags. v3d's bin, tfu and cache_clean, and panfrost's vertex-tiler, are left
 * to "other": each runs beside the engine that stands for its class (kernel: v3d/v3d_drv.c,
 * panfrost/panfrost_drv.c).
 */
static const struct {
    struct gtel_str name;
    enum gtel_engine_kind kind;
} names[] = {
    /* xe (xe/xe_drm_client.c); i915 uses the tags (i915/i915_drm_client.c) */
    {GTEL_STR_INIT("rcs"), GTEL_ENGINE_KIND_RENDER},
    {GTEL_STR_INIT("bcs"), GTEL_ENGINE_KIND_COPY},
    {GTEL_STR_INIT("ccs"), GTEL_ENGINE_KIND_COMPUTE},
    {GTEL_STR_INIT("vcs"), GTEL_ENGINE_KIND_VIDEO},
    {GTEL_STR_INIT("vecs"), GTEL_ENGINE_KIND_VIDEO_ENHANCE},
    /* amdgpu (amdgpu/amdgpu_fdinfo.c); compute and jpeg are tags; vpe scales and converts video */
    {GTEL_STR_INIT("gfx"), GTEL_ENGINE_KIND_RENDER},
    {GTEL_STR_INIT("dma"), GTEL_ENGINE_KIND_COPY},
    {GTEL_STR_INIT("dec"), GTEL_ENGINE_KIND_DECODE},
    {GTEL_STR_INIT("enc"), GTEL_ENGINE_KIND_ENCODE},
    {GTEL_STR_INIT("enc_1"), GTEL_ENGINE_KIND_ENCODE},
    {GTEL_STR_INIT("vpe"), GTEL_ENGINE_KIND_VIDEO_ENHANCE},
    /* msm (msm/msm_gpu.c), panfrost, panthor (panthor/panthor_drv.c), v3d */
    {GTEL_STR_INIT("gpu"), GTEL_ENGINE_KIND_RENDER},
    {GTEL_STR_INIT("fragment"), GTEL_ENGINE_KIND_RENDER},
    {GTEL_STR_INIT("panthor"), GTEL_ENGINE_KIND_RENDER},
    {GTEL_STR_INIT("csd"), GTEL_ENGINE_KIND_COMPUTE},
};

/*
 * Names under Windows, without the number of one of several. Those of kinds that the system
 * knows are its own; others are the driver's (Microsoft: d3dkmdt.h, DXGK_ENGINE_TYPE; names behind
 * engtype_ of the counter set GPU Engine).
 */
static const struct {
    struct gtel_str name;
    enum gtel_engine_kind kind;
} windows_names[] = {
    {GTEL_STR_INIT("3d"), GTEL_ENGINE_KIND_RENDER},
    {GTEL_STR_INIT("highpriority3d"), GTEL_ENGINE_KIND_RENDER},
    {GTEL_STR_INIT("copy"), GTEL_ENGINE_KIND_COPY},
    {GTEL_STR_INIT("compute"), GTEL_ENGINE_KIND_COMPUTE},
    {GTEL_STR_INIT("highprioritycompute"), GTEL_ENGINE_KIND_COMPUTE},
    {GTEL_STR_INIT("lowprioritycompute"), GTEL_ENGINE_KIND_COMPUTE},
    {GTEL_STR_INIT("cuda"), GTEL_ENGINE_KIND_COMPUTE},
    {GTEL_STR_INIT("videodecode"), GTEL_ENGINE_KIND_DECODE},
    {GTEL_STR_INIT("videoencode"), GTEL_ENGINE_KIND_ENCODE},
    {GTEL_STR_INIT("videoprocessing"), GTEL_ENGINE_KIND_VIDEO_ENHANCE},
    {GTEL_STR_INIT("videocodec"), GTEL_ENGINE_KIND_VIDEO},
    {GTEL_STR_INIT("jpeg"), GTEL_ENGINE_KIND_JPEG},
    {GTEL_STR_INIT("jpegdecode"), GTEL_ENGINE_KIND_JPEG},
    {GTEL_STR_INIT("videojpeg"), GTEL_ENGINE_KIND_JPEG},
    {GTEL_STR_INIT("ofa"), GTEL_ENGINE_KIND_OFA},
};

struct gtel_str gtel_engine_kind_name(enum gtel_engine_kind kind)
{
    return tags[(unsigned)kind < GTEL_ENGINE_KINDS ? kind : GTEL_ENGINE_KIND_OTHER];
}

enum gtel_engine_kind gtel_engine_kind_of(struct gtel_str name)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(tags); i++)
        if (gtel_str_eq(name, tags[i]))
            return (enum gtel_engine_kind)i;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(names); i++)
        if (gtel_str_eq(name, names[i].name))
            return names[i].kind;
    return GTEL_ENGINE_KIND_OTHER;
}

/* Blanks, underscores, case and the number at the end make no difference: "Video Codec 0". */
enum gtel_engine_kind gtel_engine_kind_of_windows(struct gtel_str name)
{
    char plain[32];
    size_t n = 0;
    while (name.n > 0 && name.p[name.n - 1] >= '0' && name.p[name.n - 1] <= '9')
        name.n--;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        if (c == ' ' || c == '_')
            continue;
        if (n == sizeof(plain))
            return GTEL_ENGINE_KIND_OTHER;
        plain[n++] = gtel_lower(c);
    }
    for (size_t i = 0; i < GTEL_ARRAY_LEN(windows_names); i++)
        if (gtel_str_eq((struct gtel_str){plain, n}, windows_names[i].name))
            return windows_names[i].kind;
    return GTEL_ENGINE_KIND_OTHER;
}
