/* SPDX-License-Identifier: MIT */
/* Our declarations of i915's query against libdrm's copy of the kernel's header. */
#include "abi/i915_uapi.h"

#include <i915_drm.h>
#include <stddef.h>

#define SAME(ours, theirs) _Static_assert((ours) == (theirs), #theirs)
#define SAME_PLACE(member, their_member)                                                           \
    SAME(offsetof(struct gtel_i915_region_record, member),                                         \
         offsetof(struct drm_i915_memory_region_info, their_member))

SAME((int)GTEL_I915_QUERY_MEMORY_REGIONS, DRM_I915_QUERY_MEMORY_REGIONS);
SAME((int)GTEL_I915_REGION_SYSTEM, (int)I915_MEMORY_CLASS_SYSTEM);
SAME((int)GTEL_I915_REGION_DEVICE, (int)I915_MEMORY_CLASS_DEVICE);
SAME((size_t)GTEL_I915_REGIONS_HEADER, offsetof(struct drm_i915_query_memory_regions, regions));
SAME(sizeof(struct gtel_i915_region_record), sizeof(struct drm_i915_memory_region_info));
SAME_PLACE(memory_class, region.memory_class);
SAME_PLACE(memory_instance, region.memory_instance);
SAME_PLACE(probed_size, probed_size);
SAME_PLACE(unallocated_size, unallocated_size);
/* Names since Linux 6.0 and libdrm 2.4.113; before, they are the first of eight reserved words. */
#ifdef GTEL_I915_HAS_VISIBLE
SAME_PLACE(probed_cpu_visible_size, probed_cpu_visible_size);
SAME_PLACE(unallocated_cpu_visible_size, unallocated_cpu_visible_size);
#else
SAME_PLACE(probed_cpu_visible_size, rsvd1);
#endif

int main(void)
{
    return 0;
}
