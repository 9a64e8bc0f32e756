/* SPDX-License-Identifier: MIT */
/* Answers of i915 and xe to queries for memory regions and engines. */
#include "parse/drm_regions.h"

#include "abi/i915_uapi.h"
#include "abi/xe_uapi.h"

#include <errno.h>
#include <string.h>

enum { XE_HEADER = 8 }; /* a count (u32) and padding, before engines as before regions */

/* A list: its count at the beginning, the records after the header. */
struct records {
    const unsigned char *p;
    size_t size; /* of one */
    size_t n;
};

static int open_records(const void *answer, size_t n, size_t header, size_t size,
                        struct records *ret)
{
    uint32_t count;
    if (n < header)
        return -EINVAL;
    memcpy(&count, answer, sizeof(count));
    if (count > (n - header) / size)
        return -EINVAL;
    *ret = (struct records){(const unsigned char *)answer + header, size, count};
    return 0;
}

/* Copied, since an answer need not be aligned. */
static void get_record(const struct records *records, size_t i, void *ret)
{
    memcpy(ret, records->p + i * records->size, records->size);
}

static bool is_size(uint64_t size)
{
    return size != 0 && size != UINT64_MAX;
}

/* Adds a region, numbered in its kind, without what cannot be true. */
static int add(struct gtel_drm_regions *regions, struct gtel_drm_region region)
{
    if (!is_size(region.total))
        return 0;
    if (regions->n == GTEL_DRM_REGIONS_MAX)
        return -E2BIG;
    if (region.used > region.total)
        region.used = 0;
    if (!region.is_device || region.visible > region.total)
        region.visible = 0;
    if (region.used == 0 || region.visible == 0 || region.visible_used > region.visible)
        region.visible_used = UINT64_MAX;
    for (size_t i = 0; i < regions->n; i++)
        if (regions->region[i].is_device == region.is_device)
            region.number++;
    regions->region[regions->n++] = region;
    return 0;
}

/*
 * Without CAP_PERFMON or CAP_SYS_ADMIN, before Linux 6.0, and for the host's memory always, all of
 * a region is said to be unallocated (i915_query.c, query_memregion_info). Memory of which really
 * nothing is allocated does not exist: the driver itself needs some.
 */
static int add_i915(struct gtel_drm_regions *regions, const struct gtel_i915_region_record *record)
{
    struct gtel_drm_region region = {.is_device = record->memory_class == GTEL_I915_REGION_DEVICE,
                                     .total = record->probed_size,
                                     .visible = record->probed_cpu_visible_size};
    if (!region.is_device && record->memory_class != GTEL_I915_REGION_SYSTEM)
        return 0;
    if (record->unallocated_size < record->probed_size)
        region.used = region.total - record->unallocated_size;
    /* More unallocated than there is gives a value that add() throws away. */
    region.visible_used = region.visible - record->unallocated_cpu_visible_size;
    return add(regions, region);
}

/* A hidden value is 0 (xe_query.c, query_mem_regions); memory in use never is. */
static int add_xe(struct gtel_drm_regions *regions, const struct gtel_xe_region_record *record)
{
    struct gtel_drm_region region = {.is_device = record->mem_class == GTEL_XE_REGION_VRAM,
                                     .total = record->total_size,
                                     .used = record->used,
                                     .visible = record->cpu_visible_size,
                                     .visible_used = record->cpu_visible_used};
    if (!region.is_device && record->mem_class != GTEL_XE_REGION_SYSMEM)
        return 0;
    return add(regions, region);
}

static int parse_regions(const void *answer, size_t n, bool is_xe, struct gtel_drm_regions *ret)
{
    union {
        struct gtel_i915_region_record i915;
        struct gtel_xe_region_record xe;
    } record;
    struct records records;
    struct gtel_drm_regions regions = {0};
    int r = open_records(answer, n, is_xe ? XE_HEADER : GTEL_I915_REGIONS_HEADER,
                         is_xe ? sizeof(record.xe) : sizeof(record.i915), &records);
    for (size_t i = 0; r == 0 && i < records.n; i++) {
        get_record(&records, i, &record);
        r = is_xe ? add_xe(&regions, &record.xe) : add_i915(&regions, &record.i915);
    }
    if (r == 0)
        *ret = regions;
    return r;
}

int gtel_i915_regions_parse(const void *answer, size_t n, struct gtel_drm_regions *ret)
{
    return parse_regions(answer, n, false, ret);
}

int gtel_xe_regions_parse(const void *answer, size_t n, struct gtel_drm_regions *ret)
{
    return parse_regions(answer, n, true, ret);
}

int gtel_xe_engines_parse(const void *answer, size_t n, struct gtel_xe_engine *list, size_t max,
                          size_t *ret_n)
{
    struct records records;
    struct gtel_xe_engine_record record;
    int r = open_records(answer, n, XE_HEADER, sizeof(record), &records);
    if (r < 0)
        return r;
    if (records.n > max)
        return -E2BIG;
    for (size_t i = 0; i < records.n; i++) {
        get_record(&records, i, &record);
        list[i] =
            (struct gtel_xe_engine){record.engine_class, record.engine_instance, record.gt_id};
    }
    *ret_n = records.n;
    return 0;
}
