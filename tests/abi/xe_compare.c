/* SPDX-License-Identifier: MIT */
/* Our declarations of xe's query against the kernel's header; built only where it is installed. */
#include "abi/xe_uapi.h"

#include <stddef.h>
#include <xe_drm.h>

#define SAME(ours, theirs) _Static_assert((ours) == (theirs), #theirs)
#define SAME_SIZE(ours, theirs) SAME(sizeof(struct ours), sizeof(struct theirs))
#define SAME_PLACE(ours, member, theirs, their_member)                                             \
    SAME(offsetof(struct ours, member), offsetof(struct theirs, their_member))

SAME((int)GTEL_XE_DEVICE_QUERY, DRM_XE_DEVICE_QUERY);
SAME((int)GTEL_XE_QUERY_ENGINES, DRM_XE_DEVICE_QUERY_ENGINES);
SAME((int)GTEL_XE_QUERY_MEM_REGIONS, DRM_XE_DEVICE_QUERY_MEM_REGIONS);
SAME((int)GTEL_XE_REGION_SYSMEM, (int)DRM_XE_MEM_REGION_CLASS_SYSMEM);
SAME((int)GTEL_XE_REGION_VRAM, (int)DRM_XE_MEM_REGION_CLASS_VRAM);
SAME((int)GTEL_XE_ENGINE_RENDER, DRM_XE_ENGINE_CLASS_RENDER);
SAME((int)GTEL_XE_ENGINE_COPY, DRM_XE_ENGINE_CLASS_COPY);
SAME((int)GTEL_XE_ENGINE_VIDEO_DECODE, DRM_XE_ENGINE_CLASS_VIDEO_DECODE);
SAME((int)GTEL_XE_ENGINE_VIDEO_ENHANCE, DRM_XE_ENGINE_CLASS_VIDEO_ENHANCE);
SAME((int)GTEL_XE_ENGINE_COMPUTE, DRM_XE_ENGINE_CLASS_COMPUTE);

SAME_SIZE(gtel_xe_device_query, drm_xe_device_query);
SAME_PLACE(gtel_xe_device_query, query, drm_xe_device_query, query);
SAME_PLACE(gtel_xe_device_query, size, drm_xe_device_query, size);
SAME_PLACE(gtel_xe_device_query, data, drm_xe_device_query, data);
SAME_SIZE(gtel_xe_engine_record, drm_xe_engine);
SAME_PLACE(gtel_xe_engine_record, engine_class, drm_xe_engine, instance.engine_class);
SAME_PLACE(gtel_xe_engine_record, engine_instance, drm_xe_engine, instance.engine_instance);
SAME_PLACE(gtel_xe_engine_record, gt_id, drm_xe_engine, instance.gt_id);
SAME_SIZE(gtel_xe_region_record, drm_xe_mem_region);
SAME_PLACE(gtel_xe_region_record, mem_class, drm_xe_mem_region, mem_class);
SAME_PLACE(gtel_xe_region_record, instance, drm_xe_mem_region, instance);
SAME_PLACE(gtel_xe_region_record, total_size, drm_xe_mem_region, total_size);
SAME_PLACE(gtel_xe_region_record, used, drm_xe_mem_region, used);
SAME_PLACE(gtel_xe_region_record, cpu_visible_size, drm_xe_mem_region, cpu_visible_size);
SAME_PLACE(gtel_xe_region_record, cpu_visible_used, drm_xe_mem_region, cpu_visible_used);

int main(void)
{
    return 0;
}
