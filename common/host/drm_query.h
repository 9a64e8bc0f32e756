/* SPDX-License-Identifier: MIT */
/*
 * What i915 and xe answer about themselves: memory regions and engines.
 *
 * Each call opens the render node, asks and closes it (the env's drm_query). It needs the right to
 * the node, usually the group render. A query wakes a GPU of xe, and opening a node may wake one
 * of i915: only for GPUs that may be read now (sources/drm/cards.h). Errors are those of drm_query,
 * and -EINVAL for an answer that makes no sense.
 */
#ifndef GTEL_HOST_DRM_QUERY_H
#define GTEL_HOST_DRM_QUERY_H

#include "host/env.h"
#include "parse/drm_regions.h"

/*
 * node: "dev/dri/renderD128", from gtel_drm_render_node (host/drm.h). *length: of the answer
 * before, or 0; then that of this one. It usually does not change, and to know it saves a call.
 */
int gtel_drm_regions(const struct gtel_env *env, const char *node, enum gtel_drm_driver driver,
                     size_t *length, struct gtel_drm_regions *ret);

/*
 * The engines of an xe GPU, which do not change while its driver is bound. At most max, -E2BIG
 * beyond; *ret_n is written on success.
 */
int gtel_drm_xe_engines(const struct gtel_env *env, const char *node, struct gtel_xe_engine *list,
                        size_t max, size_t *ret_n);

#endif
