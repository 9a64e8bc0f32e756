/* SPDX-License-Identifier: MIT */
/* What a client uses of memory. */
#include "sources/clients/memory.h"

/* The sum of one kind. */
struct sum {
    uint64_t bytes;
    bool has_any;
    bool is_partial; /* a region has not told it */
};

struct text {
    const struct gtel_fdinfo *fdinfo;
    const struct gtel_client_memory_rules *rules;
    enum gtel_fdinfo_place place[GTEL_FDINFO_REGIONS_MAX]; /* of the regions; APART: counts not */
    bool has_own;                                          /* memory of the GPU */
    bool has_unknown;                                      /* memory somewhere */
    bool has_others; /* memory of which it is known where it is */
};

static bool is_empty(const struct gtel_fdinfo_region *region)
{
    uint64_t all = 0;
    for (size_t kind = 0; kind < GTEL_FDINFO_KINDS; kind++)
        all |= region->bytes[kind];
    return all == 0 && region->has != 0;
}

static void look(struct text *text)
{
    for (size_t i = 0; i < text->fdinfo->regions; i++) {
        const struct gtel_fdinfo_region *region = &text->fdinfo->region[i];
        enum gtel_fdinfo_place place = gtel_fdinfo_region_place(region->name);
        if (place == GTEL_FDINFO_UNKNOWN && is_empty(region))
            place = GTEL_FDINFO_APART;
        text->place[i] = place;
        text->has_own = text->has_own || place == GTEL_FDINFO_DEVICE;
        text->has_unknown = text->has_unknown || place == GTEL_FDINFO_UNKNOWN;
        text->has_others = text->has_others || place == GTEL_FDINFO_DEVICE ||
                           (place == GTEL_FDINFO_HOST && !is_empty(region));
    }
}

static bool get(const struct text *text, const struct gtel_fdinfo_region *region,
                enum gtel_fdinfo_kind kind, uint64_t *ret)
{
    uint64_t total;
    bool is_omitted = (text->rules->omitted >> kind & 1u) != 0 &&
                      gtel_fdinfo_region_get(region, GTEL_FDINFO_TOTAL, &total);
    *ret = 0;
    return gtel_fdinfo_region_get(region, kind, ret) || is_omitted;
}

/* Where a driver leaves zeros out, no more than what is resident is used. */
static bool get_used(const struct text *text, const struct gtel_fdinfo_region *region,
                     uint64_t *ret)
{
    return get(text, region, GTEL_FDINFO_RESIDENT, ret) || gtel_fdinfo_region_used(region, ret);
}

static void add(struct sum *sum, bool is_known, uint64_t bytes)
{
    if (!is_known || bytes > UINT64_MAX - sum->bytes) {
        sum->is_partial = true;
        return;
    }
    sum->has_any = true;
    sum->bytes += bytes;
}

/* missed: kinds of which a line could not be understood, so that the sum may lack it. */
static void put(const struct text *text, const struct sum *sum, uint32_t missed,
                enum gtel_metric metric, struct gtel_use_memory *ret)
{
    if (sum->has_any && !sum->is_partial && (text->fdinfo->missed & missed) == 0)
        gtel_use_memory_put(ret, metric, sum->bytes);
}

/* Kinds that what is used may come from. */
static const uint32_t used_kinds =
    1u << GTEL_FDINFO_RESIDENT | 1u << GTEL_FDINFO_MEMORY | 1u << GTEL_FDINFO_TOTAL;

static void put_place(const struct text *text, enum gtel_fdinfo_place place,
                      enum gtel_metric metric, struct gtel_use_memory *ret)
{
    struct sum sum = {0};
    for (size_t i = 0; i < text->fdinfo->regions; i++) {
        uint64_t bytes;
        if (text->place[i] != place)
            continue;
        bool is_known = get_used(text, &text->fdinfo->region[i], &bytes);
        add(&sum, is_known, bytes);
    }
    put(text, &sum, used_kinds, metric, ret);
}

/* Whether a region is of the memory that the client's figures are about. */
static bool counts(const struct text *text, size_t region)
{
    enum gtel_fdinfo_place place = text->place[region];
    bool has_host = !text->has_own || text->rules->is_integrated;
    return place == GTEL_FDINFO_DEVICE || place == GTEL_FDINFO_UNKNOWN ||
           (place == GTEL_FDINFO_HOST && has_host);
}

static void put_kinds(const struct text *text, struct gtel_use_memory *ret)
{
    static const struct {
        enum gtel_fdinfo_kind kind;
        enum gtel_metric metric;
    } kinds[] = {
        {GTEL_FDINFO_SHARED, GTEL_M_PROCESS_MEMORY_SHARED},
        {GTEL_FDINFO_TOTAL, GTEL_M_PROCESS_MEMORY_ALLOCATED},
        {GTEL_FDINFO_ACTIVE, GTEL_M_PROCESS_MEMORY_ACTIVE},
        {GTEL_FDINFO_PURGEABLE, GTEL_M_PROCESS_MEMORY_PURGEABLE},
    };
    struct sum used = {0};
    struct sum sum[GTEL_ARRAY_LEN(kinds)] = {0};
    for (size_t i = 0; i < text->fdinfo->regions; i++) {
        const struct gtel_fdinfo_region *region = &text->fdinfo->region[i];
        uint64_t bytes;
        if (!counts(text, i))
            continue;
        bool is_known = get_used(text, region, &bytes);
        add(&used, is_known, bytes);
        for (size_t k = 0; k < GTEL_ARRAY_LEN(kinds); k++) {
            is_known = get(text, region, kinds[k].kind, &bytes);
            add(&sum[k], is_known, bytes);
        }
    }
    put(text, &used, used_kinds, GTEL_M_PROCESS_MEMORY, ret);
    for (size_t k = 0; k < GTEL_ARRAY_LEN(kinds); k++)
        put(text, &sum[k], 1u << kinds[k].kind, kinds[k].metric, ret);
}

void gtel_client_memory(const struct gtel_fdinfo *fdinfo,
                        const struct gtel_client_memory_rules *rules, struct gtel_use_memory *ret)
{
    struct text text;
    text.fdinfo = fdinfo;
    text.rules = rules;
    text.has_own = text.has_unknown = text.has_others = false;
    *ret = (struct gtel_use_memory){0};
    look(&text);
    if (text.has_unknown && text.has_others)
        return;
    if (rules->is_place_known)
        put_kinds(&text, ret);
    if (text.has_unknown)
        return;
    put_place(&text, GTEL_FDINFO_DEVICE, GTEL_M_PROCESS_MEMORY_VRAM, ret);
    put_place(&text, GTEL_FDINFO_HOST, GTEL_M_PROCESS_MEMORY_SYSTEM, ret);
}
