/* SPDX-License-Identifier: MIT */
/* Fuzz target: answers of i915 and xe to queries for memory regions and engines. */
#include "fuzz/fuzz.h"
#include "parse/drm_regions.h"

static void check_regions(const struct gtel_drm_regions *regions)
{
    FUZZ_CHECK(regions->n <= GTEL_DRM_REGIONS_MAX);
    for (size_t i = 0; i < regions->n; i++) {
        const struct gtel_drm_region *region = &regions->region[i];
        FUZZ_CHECK(region->total > 0);
        FUZZ_CHECK(region->number < regions->n);
        FUZZ_CHECK(region->used <= region->total);
        FUZZ_CHECK(region->visible == 0 || region->is_device);
        FUZZ_CHECK(region->visible <= region->total);
        FUZZ_CHECK(region->visible_used == UINT64_MAX || (region->used > 0 && region->visible > 0 &&
                                                          region->visible_used <= region->visible));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gtel_drm_regions regions = {0};
    struct gtel_xe_engine engine[4];
    size_t n = 0;
    if (gtel_i915_regions_parse(data, size, &regions) == 0)
        check_regions(&regions);
    if (gtel_xe_regions_parse(data, size, &regions) == 0)
        check_regions(&regions);
    if (gtel_xe_engines_parse(data, size, engine, 4, &n) == 0)
        FUZZ_CHECK(n <= 4 && 8 + n * 32 <= size);
    return 0;
}
