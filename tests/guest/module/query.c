/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the driver answers to a question of a program: i915's DRM_I915_QUERY (memory regions) and
 * xe's DRM_XE_DEVICE_QUERY (engines, memory regions). Linux 6.1 has no header of xe's interface;
 * its structures are written here after include/uapi/drm/xe_drm.h of Linux 6.8.
 */
#include "guest.h"

#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/pm_runtime.h>
#include <linux/uaccess.h>

static u64 host_bytes(void)
{
    struct sysinfo info;
    si_meminfo(&info);
    return (u64)info.totalram * info.mem_unit;
}

#ifdef GUEST_XE

struct device_query {
    __u64 extensions;
    __u32 query;
    __u32 size;
    __u64 data;
    __u64 reserved[2];
};

struct engine {
    __u16 class;
    __u16 instance;
    __u16 gt;
    __u16 pad;
    __u64 reserved[3];
};

struct region {
    __u16 class;
    __u16 instance;
    __u32 min_page_size;
    __u64 total_size;
    __u64 used;
    __u64 visible_size;
    __u64 visible_used;
    __u64 reserved[6];
};

enum { QUERY_ENGINES, QUERY_REGIONS };

const unsigned int guest_query_command = DRM_IOWR(DRM_COMMAND_BASE, struct device_query);

static const struct {
    __u32 n;
    __u32 pad;
    struct engine engine[5];
} engines = {
    5,
    0,
    {{GUEST_RENDER, 0}, {GUEST_COPY, 0}, {GUEST_VIDEO, 0}, {GUEST_VIDEO, 1}, {GUEST_ENHANCE, 0}}};

struct regions {
    __u32 n;
    __u32 pad;
    struct region region[2];
};

/*
 * What is used is reported only to those who may see performance counters, as up to Linux 6.16.
 * That of the host's memory is the usage of the manager for XE_PL_TT (xe/xe_query.c
 * query_mem_regions).
 */
static void fill_regions(struct regions *regions)
{
    bool may_see = perfmon_capable();
    regions->n = 2;
    regions->region[0] = (struct region){.class = 0,
                                         .min_page_size = PAGE_SIZE,
                                         .total_size = host_bytes(),
                                         .used = may_see ? GUEST_SYSTEM_USED : 0};
    regions->region[1] = (struct region){.class = 1,
                                         .instance = 1,
                                         .min_page_size = 65536,
                                         .total_size = GUEST_VRAM_BYTES,
                                         .used = may_see ? GUEST_VRAM_USED : 0,
                                         .visible_size = GUEST_VRAM_VISIBLE,
                                         .visible_used = may_see ? GUEST_VRAM_VISIBLE_USED : 0};
}

static int answer(struct device_query *query, const void *from, u32 size)
{
    if (query->size == 0) {
        query->size = size;
        return 0;
    }
    if (query->size != size)
        return -EINVAL;
    return copy_to_user(u64_to_user_ptr(query->data), from, size) ? -EFAULT : 0;
}

/* Every ioctl of xe wakes the GPU. */
int guest_query(struct drm_device *drm, void *data, struct drm_file *file)
{
    struct device_query *query = data;
    struct regions regions = {};
    int r = -EINVAL;
    pm_runtime_get_sync(drm->dev);
    if (query->query == QUERY_ENGINES) {
        r = answer(query, &engines, sizeof(engines));
    } else if (query->query == QUERY_REGIONS) {
        fill_regions(&regions);
        r = answer(query, &regions, sizeof(regions));
    }
    pm_runtime_mark_last_busy(drm->dev);
    pm_runtime_put_autosuspend(drm->dev);
    return r;
}

#else

#include <uapi/drm/i915_drm.h>

const unsigned int guest_query_command = DRM_IOCTL_I915_QUERY;

struct answer {
    struct drm_i915_query_memory_regions head;
    struct drm_i915_memory_region_info region;
};

/*
 * An integrated GPU has the host's memory alone, and all of that seems to be free to everybody:
 * what is used is counted of the GPU's own memory only (i915/intel_memory_region.c).
 */
static s32 answer_regions(const struct drm_i915_query_item *item)
{
    struct answer answer = {};
    if (item->length == 0)
        return sizeof(answer);
    if (item->length < (s32)sizeof(answer))
        return -EINVAL;
    answer.head.num_regions = 1;
    answer.region.region.memory_class = I915_MEMORY_CLASS_SYSTEM;
    answer.region.probed_size = host_bytes();
    answer.region.unallocated_size = answer.region.probed_size;
    return copy_to_user(u64_to_user_ptr(item->data_ptr), &answer, sizeof(answer))
               ? -EFAULT
               : (s32)sizeof(answer);
}

int guest_query(struct drm_device *drm, void *data, struct drm_file *file)
{
    struct drm_i915_query *query = data;
    struct drm_i915_query_item __user *items = u64_to_user_ptr(query->items_ptr);
    unsigned int i;
    if (query->flags != 0)
        return -EINVAL;
    for (i = 0; i < query->num_items; i++) {
        struct drm_i915_query_item item;
        if (copy_from_user(&item, &items[i], sizeof(item)))
            return -EFAULT;
        item.length =
            item.query_id == DRM_I915_QUERY_MEMORY_REGIONS ? answer_regions(&item) : -EINVAL;
        if (put_user(item.length, &items[i].length))
            return -EFAULT;
    }
    return 0;
}

#endif
