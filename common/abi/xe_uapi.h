/* SPDX-License-Identifier: MIT */
/*
 * What we ask of the kernel's xe driver: its device query and two of its answers.
 *
 * Written by us after the kernel's include/uapi/drm/xe_drm.h, since headers of libdrm
 * before 2.4.121 (Debian 12 has 2.4.114) have no xe_drm.h. The interface is stable since Linux 6.8.
 * Sizes are asserted in tests/abi, and compared with the kernel's header wherever it is installed.
 */
#ifndef GTEL_ABI_XE_UAPI_H
#define GTEL_ABI_XE_UAPI_H

#include <stdint.h>

/* DRM_XE_DEVICE_QUERY: number of the ioctl after DRM_COMMAND_BASE. */
enum { GTEL_XE_DEVICE_QUERY = 0 };

/* DRM_XE_DEVICE_QUERY_…: what is asked for. */
enum { GTEL_XE_QUERY_ENGINES = 0, GTEL_XE_QUERY_MEM_REGIONS = 1 };

/* DRM_XE_MEM_REGION_CLASS_… */
enum { GTEL_XE_REGION_SYSMEM = 0, GTEL_XE_REGION_VRAM = 1 };

/* DRM_XE_ENGINE_CLASS_…; 5 is a class of the driver's own making (VM_BIND). */
enum {
    GTEL_XE_ENGINE_RENDER = 0,
    GTEL_XE_ENGINE_COPY = 1,
    GTEL_XE_ENGINE_VIDEO_DECODE = 2,
    GTEL_XE_ENGINE_VIDEO_ENHANCE = 3,
    GTEL_XE_ENGINE_COMPUTE = 4
};

/* struct drm_xe_device_query. */
struct gtel_xe_device_query {
    uint64_t extensions; /* 0 */
    uint32_t query;
    uint32_t size; /* 0 asks for the size; then it must be exactly that */
    uint64_t data; /* address of the buffer */
    uint64_t reserved[2];
};

/* struct drm_xe_engine: the engines follow a count (u32) and four bytes of padding. */
struct gtel_xe_engine_record {
    uint16_t engine_class;
    uint16_t engine_instance;
    uint16_t gt_id;
    uint16_t pad;
    uint64_t reserved[3];
};

/* struct drm_xe_mem_region: the regions follow a count (u32) and four bytes of padding. */
struct gtel_xe_region_record {
    uint16_t mem_class;
    uint16_t instance; /* bit in a placement mask: 0 system, 1 VRAM of tile 0, 2 of tile 1 */
    uint32_t min_page_size;
    uint64_t total_size;
    uint64_t used;             /* 0 without the right to it (CAP_PERFMON, up to Linux 6.16) */
    uint64_t cpu_visible_size; /* of VRAM only */
    uint64_t cpu_visible_used; /* of VRAM only */
    uint64_t reserved[6];
};

#endif
