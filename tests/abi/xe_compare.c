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

#ifdef DRM_XE_DEVICE_QUERY_EU_STALL /* Linux 6.15 */
SAME((int)GTEL_XE_OBSERVATION, DRM_XE_OBSERVATION);
SAME((int)GTEL_XE_OBSERVE_EU_STALL, (int)DRM_XE_OBSERVATION_TYPE_EU_STALL);
SAME((int)GTEL_XE_OBSERVE_OPEN, (int)DRM_XE_OBSERVATION_OP_STREAM_OPEN);
SAME((int)GTEL_XE_STALL_SET_PROPERTY, DRM_XE_EU_STALL_EXTENSION_SET_PROPERTY);
SAME((int)GTEL_XE_STALL_GT, (int)DRM_XE_EU_STALL_PROP_GT_ID);
SAME((int)GTEL_XE_STALL_RATE, (int)DRM_XE_EU_STALL_PROP_SAMPLE_RATE);
SAME((int)GTEL_XE_STALL_WAIT, (int)DRM_XE_EU_STALL_PROP_WAIT_NUM_REPORTS);
SAME_SIZE(gtel_xe_observation_param, drm_xe_observation_param);
SAME_PLACE(gtel_xe_observation_param, type, drm_xe_observation_param, observation_type);
SAME_PLACE(gtel_xe_observation_param, op, drm_xe_observation_param, observation_op);
SAME_PLACE(gtel_xe_observation_param, param, drm_xe_observation_param, param);
SAME_SIZE(gtel_xe_property, drm_xe_ext_set_property);
SAME_PLACE(gtel_xe_property, next, drm_xe_ext_set_property, base.next_extension);
SAME_PLACE(gtel_xe_property, name, drm_xe_ext_set_property, base.name);
SAME_PLACE(gtel_xe_property, property, drm_xe_ext_set_property, property);
SAME_PLACE(gtel_xe_property, value, drm_xe_ext_set_property, value);
#endif

int main(void)
{
    return 0;
}
