/* SPDX-License-Identifier: MIT */
/* What a client uses of memory. */
#include "sources/clients/memory.h"

/* What is used is kept in the place of amdgpu's older name for a part of it. */
enum { USED = GTEL_FDINFO_MEMORY };

enum { ALL_KINDS = (1u << GTEL_FDINFO_KINDS) - 1 };

/* What is in regions; of several, the last one of these. */
enum fill { NO_REGIONS, NOTHING, SOMETHING };

/* The regions of one place. */
struct group {
    uint32_t known; /* a bit per kind: all regions report it */
    enum fill fill;
    uint64_t bytes[GTEL_FDINFO_KINDS];
};

/* Adds up: what both know, as long as a number holds it. */
static void add(struct group *to, const struct group *group)
{
    to->known &= group->known;
    to->fill = group->fill > to->fill ? group->fill : to->fill;
    for (size_t kind = 0; kind < GTEL_FDINFO_KINDS; kind++) {
        uint64_t sum = to->bytes[kind] + group->bytes[kind];
        to->known &= ~((uint32_t)(sum < group->bytes[kind]) << kind);
        to->bytes[kind] = sum;
    }
}

enum {
    RESIDENT = 1u << GTEL_FDINFO_RESIDENT,
    ACTIVE = 1u << GTEL_FDINFO_ACTIVE,
    ALWAYS = 1u << GTEL_FDINFO_TOTAL | 1u << GTEL_FDINFO_SHARED
};

/*
 * Which kinds are 0 because the region does not have their lines. The kernel's helper prints total
 * and shared always, and a kind that an object has (drm_file.c, drm_print_memory_stats); without
 * these two lines the text is not the helper's. An object is resident where its driver has pages
 * for it, which an imported one, counted as shared, does not have there (v3d/v3d_bo.c,
 * v3d_gem_status). Of memory that is not shared, a missing line does not say that nothing is
 * resident: a driver may not report it. What is purgeable is a part of what is resident.
 */
static uint32_t zeros_of(const struct gtel_fdinfo_region *region, uint32_t omitted)
{
    bool is_helpers = (region->has & ALWAYS) == ALWAYS;
    uint64_t total = region->bytes[GTEL_FDINFO_TOTAL];
    bool has_own = total != 0 && total != region->bytes[GTEL_FDINFO_SHARED];
    bool is_resident_known = (region->has & RESIDENT) != 0 || !has_own;
    if (!is_helpers)
        return 0;
    return omitted & ~region->has & (is_resident_known ? ALL_KINDS : ACTIVE);
}

/*
 * One region alone. Where a driver omits zeros, what is resident is used, never what is
 * allocated instead.
 */
static struct group read_region(const struct gtel_fdinfo_region *region, uint32_t omitted)
{
    struct group group = {.known = region->has};
    uint64_t all = 0;
    for (size_t kind = 0; kind < GTEL_FDINFO_KINDS; kind++) {
        group.bytes[kind] = region->bytes[kind];
        all |= region->bytes[kind];
    }
    group.fill = all == 0 && region->has != 0 ? NOTHING : SOMETHING;
    group.known |= zeros_of(region, omitted);
    bool is_resident_known = (group.known & RESIDENT) != 0;
    bool has_other = (omitted & RESIDENT) == 0 || (region->has >> GTEL_FDINFO_MEMORY & 1u) != 0;
    bool is_used_known =
        is_resident_known || (has_other && gtel_fdinfo_region_used(region, &group.bytes[USED]));
    if (is_resident_known)
        group.bytes[USED] = group.bytes[GTEL_FDINFO_RESIDENT];
    group.known = (group.known & ~(1u << USED)) | (uint32_t)is_used_known << USED;
    return group;
}

static void put(const struct group *group, size_t kind, enum gtel_metric metric,
                struct gtel_use_memory *ret)
{
    if (group->fill != NO_REGIONS && (group->known >> kind & 1u) != 0)
        gtel_use_memory_put(ret, metric, group->bytes[kind]);
}

/* The kinds of which no line was missed, what is used among them. */
static uint32_t whole_kinds(const struct gtel_fdinfo *fdinfo)
{
    const uint32_t used_kinds =
        1u << GTEL_FDINFO_RESIDENT | 1u << GTEL_FDINFO_MEMORY | 1u << GTEL_FDINFO_TOTAL;
    bool is_used_missed = (fdinfo->missed & used_kinds) != 0;
    return ALL_KINDS & ~(fdinfo->missed | (uint32_t)is_used_missed << USED);
}

/* host: added; NULL: nothing is. */
static void put_all(const struct group *own, const struct group *host, struct gtel_use_memory *ret)
{
    struct group both = *own;
    if (host && host->fill != NO_REGIONS)
        add(&both, host);
    put(&both, USED, GTEL_M_PROCESS_MEMORY, ret);
    put(&both, GTEL_FDINFO_SHARED, GTEL_M_PROCESS_MEMORY_SHARED, ret);
    put(&both, GTEL_FDINFO_TOTAL, GTEL_M_PROCESS_MEMORY_ALLOCATED, ret);
    put(&both, GTEL_FDINFO_ACTIVE, GTEL_M_PROCESS_MEMORY_ACTIVE, ret);
    put(&both, GTEL_FDINFO_PURGEABLE, GTEL_M_PROCESS_MEMORY_PURGEABLE, ret);
}

void gtel_client_memory(const struct gtel_fdinfo *fdinfo, enum gtel_client_place place_of_own,
                        uint32_t omitted, struct gtel_use_memory *ret)
{
    struct group own = {.known = whole_kinds(fdinfo)};
    struct group host = own;
    struct group unknown = own;
    *ret = (struct gtel_use_memory){0};
    for (size_t i = 0; i < fdinfo->regions; i++) {
        enum gtel_fdinfo_place place = gtel_fdinfo_region_place(fdinfo->region[i].name);
        if (place == GTEL_FDINFO_APART)
            continue;
        struct group *to = place == GTEL_FDINFO_DEVICE ? &own
                           : place == GTEL_FDINFO_HOST ? &host
                                                       : &unknown;
        const struct group region = read_region(&fdinfo->region[i], omitted);
        if (place != GTEL_FDINFO_UNKNOWN || region.fill == SOMETHING)
            add(to, &region);
    }
    if (unknown.fill != NO_REGIONS) {
        if (own.fill == NO_REGIONS && host.fill != SOMETHING && place_of_own != GTEL_PLACE_UNKNOWN)
            put_all(&unknown, NULL, ret);
        return;
    }
    bool has_host = own.fill == NO_REGIONS || place_of_own == GTEL_PLACE_HOST;
    if (place_of_own != GTEL_PLACE_UNKNOWN)
        put_all(&own, has_host ? &host : NULL, ret);
    put(&own, USED, GTEL_M_PROCESS_MEMORY_VRAM, ret);
    put(&host, USED, GTEL_M_PROCESS_MEMORY_SYSTEM, ret);
}
