/* SPDX-License-Identifier: MIT */
/* Fuzz target: DRM client text, and the amounts of memory of a client. */
#include "fuzz/fuzz.h"
#include "parse/fdinfo.h"
#include "sources/clients/memory.h"

#include <errno.h>
#include <string.h>

/* Part of the input, or empty. */
static bool is_inside(struct gtel_str part, struct gtel_str text)
{
    return part.n == 0 ||
           (part.p >= text.p && part.n <= text.n && (size_t)(part.p - text.p) <= text.n - part.n);
}

static bool is_name(struct gtel_str name, struct gtel_str text)
{
    return name.n > 0 && is_inside(name, text) && !memchr(name.p, ':', name.n) &&
           !memchr(name.p, '\n', name.n);
}

static void check_engines(const struct gtel_fdinfo *info, struct gtel_str text)
{
    FUZZ_CHECK(info->engines <= GTEL_FDINFO_ENGINES_MAX);
    for (size_t i = 0; i < info->engines; i++) {
        const struct gtel_fdinfo_engine *engine = &info->engine[i];
        FUZZ_CHECK(is_name(engine->name, text));
        FUZZ_CHECK(engine->capacity > 0);
        FUZZ_CHECK(engine->has_busy_ns || engine->busy_ns == 0);
        FUZZ_CHECK(engine->has_cycles || engine->cycles == 0);
        FUZZ_CHECK(engine->has_total_cycles || engine->total_cycles == 0);
        for (size_t k = 0; k < i; k++)
            FUZZ_CHECK(!gtel_str_eq(engine->name, info->engine[k].name));
    }
}

static const uint32_t used_kinds =
    1u << GTEL_FDINFO_RESIDENT | 1u << GTEL_FDINFO_MEMORY | 1u << GTEL_FDINFO_TOTAL;

static void check_regions(const struct gtel_fdinfo *info, struct gtel_str text)
{
    FUZZ_CHECK(info->regions <= GTEL_FDINFO_REGIONS_MAX);
    for (size_t i = 0; i < info->regions; i++) {
        const struct gtel_fdinfo_region *region = &info->region[i];
        uint64_t used;
        FUZZ_CHECK(is_name(region->name, text));
        for (unsigned kind = 0; kind < GTEL_FDINFO_KINDS; kind++)
            FUZZ_CHECK((region->has >> kind & 1u) != 0 || region->bytes[kind] == 0);
        FUZZ_CHECK(region->has >> GTEL_FDINFO_KINDS == 0);
        FUZZ_CHECK(gtel_fdinfo_region_used(region, &used) == ((region->has & used_kinds) != 0));
        FUZZ_CHECK((unsigned)gtel_fdinfo_region_place(region->name) <= GTEL_FDINFO_UNKNOWN);
        for (size_t k = 0; k < i; k++)
            FUZZ_CHECK(!gtel_str_eq(region->name, info->region[k].name));
    }
}

/* The amounts of a client, whatever its driver omits, and wherever its GPU's memory is. */
static void check_memory(const struct gtel_fdinfo *info)
{
    for (uint32_t i = 0; i < 4; i++) {
        bool is_host = (i & 1u) != 0;
        uint32_t omitted =
            (i & 2u) != 0 ? 1u << GTEL_FDINFO_RESIDENT | 1u << GTEL_FDINFO_ACTIVE : 0;
        struct gtel_use_memory got;
        uint64_t vram = 0;
        uint64_t system = 0;
        uint64_t memory = 0;
        gtel_client_memory(info, is_host ? GTEL_PLACE_HOST : GTEL_PLACE_OWN, omitted, &got);
        FUZZ_CHECK(got.has >> GTEL_USE_MEMORIES == 0);
        for (size_t kind = 0; kind < GTEL_USE_MEMORIES; kind++)
            FUZZ_CHECK((got.has >> kind & 1u) != 0 || got.bytes[kind] == 0);
        bool has_vram = gtel_use_memory_get(&got, GTEL_M_PROCESS_MEMORY_VRAM, &vram);
        bool has_system = gtel_use_memory_get(&got, GTEL_M_PROCESS_MEMORY_SYSTEM, &system);
        bool has_memory = gtel_use_memory_get(&got, GTEL_M_PROCESS_MEMORY, &memory);
        if (has_vram && has_system && is_host)
            FUZZ_CHECK(has_memory == (vram <= UINT64_MAX - system) &&
                       (!has_memory || memory == vram + system));
        if (has_vram && !is_host)
            FUZZ_CHECK(has_memory && memory == vram);
    }
}

/* Lines of no DRM key around a text do not change what it says. */
static void check_more_lines(struct gtel_str text, const struct gtel_fdinfo *want)
{
    static const char before[] = "pos:\t0\nx-drm-engine-y:\t1 ns\n";
    static const char after[] = "\nx-drm-total-y:\t1\n\n";
    static char more[GTEL_FDINFO_TEXT_MAX];
    static struct gtel_fdinfo info;
    size_t n = sizeof(before) - 1;
    if (n + text.n + sizeof(after) - 1 >= sizeof(more))
        return;
    memcpy(more, before, n);
    if (text.n > 0)
        memcpy(more + n, text.p, text.n);
    n += text.n;
    memcpy(more + n, after, sizeof(after) - 1);
    n += sizeof(after) - 1;
    int r = gtel_fdinfo_parse((struct gtel_str){more, n}, &info);
    FUZZ_CHECK(r == (want ? 0 : -ENODATA));
    if (!want)
        return;
    FUZZ_CHECK(gtel_str_eq(info.driver, want->driver) && gtel_str_eq(info.pdev, want->pdev));
    FUZZ_CHECK(info.client_id == want->client_id && info.missed == want->missed);
    FUZZ_CHECK(info.engines == want->engines && info.regions == want->regions);
    for (size_t i = 0; i < info.engines; i++)
        FUZZ_CHECK(info.engine[i].busy_ns == want->engine[i].busy_ns &&
                   info.engine[i].cycles == want->engine[i].cycles);
    for (size_t i = 0; i < info.regions; i++)
        FUZZ_CHECK(
            info.region[i].has == want->region[i].has &&
            memcmp(info.region[i].bytes, want->region[i].bytes, sizeof(info.region[i].bytes)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct gtel_fdinfo info;
    struct gtel_str text = fuzz_text(data, size);
    info.missed = 0xfdf0;
    int r = gtel_fdinfo_parse(text, &info);
    check_more_lines(text, r == 0 ? &info : NULL);
    if (r < 0) {
        FUZZ_CHECK(r == -ENODATA && info.missed == 0xfdf0);
        return 0;
    }
    FUZZ_CHECK(info.driver.n > 0 && is_inside(info.driver, text));
    FUZZ_CHECK(is_inside(info.pdev, text));
    FUZZ_CHECK(info.has_client_id || info.client_id == 0);
    check_engines(&info, text);
    check_regions(&info, text);
    check_memory(&info);
    return 0;
}
