/* SPDX-License-Identifier: MIT */
/*
 * The layouts of amdgpu's tables against the kernel's header, which only the kernel's source has.
 * The build says which revisions it lacks (AMD_LACKS_...).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What the header expects of the kernel's own. */
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
struct amdgpu_ip_block_version;
#include <kgd_pp_interface.h>

#include "parse/amd_metrics.h"

#define SAME(ours, theirs) _Static_assert((ours) == (theirs), #theirs)

#define STRUCT_v1_0 struct gpu_metrics_v1_0
#define STRUCT_v1_1 struct gpu_metrics_v1_1
#define STRUCT_v1_2 struct gpu_metrics_v1_2
#define STRUCT_v1_3 struct gpu_metrics_v1_3
#define STRUCT_v1_4 struct gpu_metrics_v1_4
#define STRUCT_v1_5 struct gpu_metrics_v1_5
#define STRUCT_v1_6 struct gpu_metrics_v1_6
#define STRUCT_v1_7 struct gpu_metrics_v1_7
#define STRUCT_v1_8 struct gpu_metrics_v1_8
#define STRUCT_v2_0 struct gpu_metrics_v2_0
#define STRUCT_v2_1 struct gpu_metrics_v2_1
#define STRUCT_v2_2 struct gpu_metrics_v2_2
#define STRUCT_v2_3 struct gpu_metrics_v2_3
#define STRUCT_v2_4 struct gpu_metrics_v2_4
#define STRUCT_v3_0 struct gpu_metrics_v3_0
#define STRUCT_partition struct amdgpu_partition_metrics_v1_0
#define STRUCT_gpuboard struct amdgpu_gpuboard_temp_metrics_v1_0
#define STRUCT_baseboard struct amdgpu_baseboard_temp_metrics_v1_0

/* The last byte of the last value is right, so the count is. */
#define PLACE(revision, name, offset, width, count)                                                \
    SAME(offset, offsetof(STRUCT_##revision, name));                                               \
    SAME((width) * (count), sizeof(((STRUCT_##revision *)NULL)->name));
#define AMD_TABLE(revision, table, format, content, size, part_size)                               \
    SAME(size, sizeof(STRUCT_##revision));
#define AMD_FIELD(revision, field, name, offset, width, count)                                     \
    PLACE(revision, name, offset, width, count)
#define AMD_PART(revision, field, name, offset, width, count)                                      \
    PLACE(revision, xcp_stats[0].name, offset, width, count)
#define AMD_END
#include "abi/amd_layout.def"

#ifndef AMD_LACKS_v1_6
SAME(168, sizeof(((STRUCT_v1_6 *)NULL)->xcp_stats[0]));
SAME(8 * 168, sizeof(((STRUCT_v1_6 *)NULL)->xcp_stats));
#endif
#ifndef AMD_LACKS_v1_7
SAME(232, sizeof(((STRUCT_v1_7 *)NULL)->xcp_stats[0]));
#endif
#ifndef AMD_LACKS_v1_8
SAME(440, sizeof(((STRUCT_v1_8 *)NULL)->xcp_stats[0]));
#endif

/* The attributes of self-describing tables. */
#ifndef AMD_LACKS_v1_9
#define ATTRIBUTE(id) SAME((int)GTEL_AMD_##id, (int)AMDGPU_METRICS_ATTR_ID_##id);
#include "abi/amd_attributes.def"
SAME((int)GTEL_AMD_UNIT_NONE, (int)AMDGPU_METRICS_UNIT_NONE);
SAME((int)GTEL_AMD_UNIT_MHZ, (int)AMDGPU_METRICS_UNIT_CLOCK_1);
SAME((int)GTEL_AMD_UNIT_CELSIUS, (int)AMDGPU_METRICS_UNIT_TEMP_1);
SAME((int)GTEL_AMD_UNIT_WATT, (int)AMDGPU_METRICS_UNIT_POWER_1);
SAME((int)GTEL_AMD_UNIT_NS, (int)AMDGPU_METRICS_UNIT_TIME_1);
SAME((int)GTEL_AMD_UNIT_10NS, (int)AMDGPU_METRICS_UNIT_TIME_2);
SAME((int)GTEL_AMD_UNIT_GT, (int)AMDGPU_METRICS_UNIT_SPEED_1);
SAME((int)GTEL_AMD_UNIT_TENTH_GT, (int)AMDGPU_METRICS_UNIT_SPEED_2);
SAME((int)GTEL_AMD_UNIT_GB, (int)AMDGPU_METRICS_UNIT_BW_1);
SAME((int)GTEL_AMD_UNIT_KB, (int)AMDGPU_METRICS_UNIT_DATA_1);
SAME((int)GTEL_AMD_UNIT_PERCENT, (int)AMDGPU_METRICS_UNIT_PERCENT);
#endif

int main(void)
{
    return 0;
}
