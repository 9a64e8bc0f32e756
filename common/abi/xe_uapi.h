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

/* DRM_XE_OBSERVATION: number of the ioctl after DRM_COMMAND_BASE; Linux 6.11, stalls 6.15. */
enum { GTEL_XE_OBSERVATION = 0x0b };
/* DRM_XE_OBSERVATION_TYPE_…, DRM_XE_OBSERVATION_OP_… */
enum { GTEL_XE_OBSERVE_EU_STALL = 1, GTEL_XE_OBSERVE_OPEN = 0 };
/* DRM_XE_OBSERVATION_IOCTL_ENABLE: the number of 'i' */
enum { GTEL_XE_OBSERVE_ENABLE = 0 };
/* DRM_XE_EU_STALL_EXTENSION_SET_PROPERTY, and DRM_XE_EU_STALL_PROP_… */
enum {
    GTEL_XE_STALL_SET_PROPERTY = 0,
    GTEL_XE_STALL_GT = 1,
    GTEL_XE_STALL_RATE = 2,
    GTEL_XE_STALL_WAIT = 3
};

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

/* struct drm_xe_observation_param */
struct gtel_xe_observation_param {
    uint64_t extensions; /* 0 */
    uint64_t type;
    uint64_t op;
    uint64_t param; /* address of the first property */
};

/* struct drm_xe_ext_set_property, with its struct drm_xe_user_extension */
struct gtel_xe_property {
    uint64_t next; /* address of the next one, or 0 */
    uint32_t name;
    uint32_t pad;
    uint32_t property;
    uint32_t pad_2;
    uint64_t value;
    uint64_t reserved[2];
};

#endif
