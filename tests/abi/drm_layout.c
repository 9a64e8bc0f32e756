/* SPDX-License-Identifier: MIT */
/*
 * Sizes and offsets of our declarations of i915's and xe's queries, checked by the compiler. The
 * values are those of the kernel's i915_drm.h and xe_drm.h, which are the same on all machines.
 */
#include "abi/i915_uapi.h"
#include "abi/xe_uapi.h"

#include <stddef.h>

#define SIZE(type, size) _Static_assert(sizeof(struct type) == (size), #type)
#define AT(type, member, offset)                                                                   \
    _Static_assert(offsetof(struct type, member) == (offset), #type "." #member)

SIZE(gtel_i915_region_record, 88);
AT(gtel_i915_region_record, memory_instance, 2);
AT(gtel_i915_region_record, probed_size, 8);
AT(gtel_i915_region_record, unallocated_size, 16);
AT(gtel_i915_region_record, probed_cpu_visible_size, 24);
AT(gtel_i915_region_record, unallocated_cpu_visible_size, 32);

SIZE(gtel_xe_device_query, 40);
AT(gtel_xe_device_query, query, 8);
AT(gtel_xe_device_query, size, 12);
AT(gtel_xe_device_query, data, 16);

SIZE(gtel_xe_engine_record, 32);
AT(gtel_xe_engine_record, engine_instance, 2);
AT(gtel_xe_engine_record, gt_id, 4);

SIZE(gtel_xe_region_record, 88);
AT(gtel_xe_region_record, instance, 2);
AT(gtel_xe_region_record, min_page_size, 4);
AT(gtel_xe_region_record, total_size, 8);
AT(gtel_xe_region_record, used, 16);
AT(gtel_xe_region_record, cpu_visible_size, 24);
AT(gtel_xe_region_record, cpu_visible_used, 32);

/* A program, so that the build compiles it as a test. */
int main(void)
{
    return 0;
}
