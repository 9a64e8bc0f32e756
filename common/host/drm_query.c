/* SPDX-License-Identifier: MIT */
/* What i915 and xe answer about themselves. */
#include "host/drm_query.h"

#include "abi/i915_uapi.h"
#include "abi/xe_uapi.h"

#include <errno.h>

enum {
    REGIONS_BYTES = 16 + GTEL_DRM_REGIONS_MAX * (int)sizeof(struct gtel_i915_region_record),
    ENGINES_BYTES = 8 + GTEL_XE_ENGINES_MAX * (int)sizeof(struct gtel_xe_engine_record)
};

int gtel_drm_regions(const struct gtel_env *env, const char *node, enum gtel_drm_driver driver,
                     size_t *length, struct gtel_drm_regions *ret)
{
    unsigned char answer[REGIONS_BYTES];
    bool is_xe = driver == GTEL_DRM_XE;
    uint32_t item = is_xe ? GTEL_XE_QUERY_MEM_REGIONS : GTEL_I915_QUERY_MEMORY_REGIONS;
    size_t room = *length > 0 && *length < sizeof(answer) ? *length : sizeof(answer);
    *length = 0;
    int64_t n = gtel_env_drm_query(env, node, driver, item, answer, room);
    if (n == -E2BIG && room < sizeof(answer)) /* it has grown */
        n = gtel_env_drm_query(env, node, driver, item, answer, sizeof(answer));
    if (n < 0)
        return (int)n;
    *length = (size_t)n;
    return is_xe ? gtel_xe_regions_parse(answer, (size_t)n, ret)
                 : gtel_i915_regions_parse(answer, (size_t)n, ret);
}

int gtel_drm_xe_engines(const struct gtel_env *env, const char *node, struct gtel_xe_engine *list,
                        size_t max, size_t *ret_n)
{
    unsigned char answer[ENGINES_BYTES];
    int64_t n =
        gtel_env_drm_query(env, node, GTEL_DRM_XE, GTEL_XE_QUERY_ENGINES, answer, sizeof(answer));
    if (n < 0)
        return (int)n;
    return gtel_xe_engines_parse(answer, (size_t)n, list, max, ret_n);
}
