/* SPDX-License-Identifier: MIT */
/* A clock's levels as amdgpu lists them. */
#include "parse/dpm.h"

#include <errno.h>

enum { MHZ_MAX = 20000 };

/* "1: 1257Mhz *" */
static bool parse_level(struct gtel_str line, uint64_t *ret_mhz, bool *ret_current)
{
    struct gtel_str name;
    struct gtel_str clock;
    struct gtel_str rest;
    uint64_t index;
    if (!gtel_str_part(&line, ':', &name) || gtel_str_u64(name, &index) < 0 ||
        !gtel_str_word(&line, &clock))
        return false;
    bool is_current = gtel_str_word(&line, &rest);
    if (is_current && (!gtel_str_eq(rest, GTEL_STR("*")) || gtel_str_word(&line, &rest)))
        return false;
    if (!gtel_str_ends(clock, GTEL_STR("Mhz")) && !gtel_str_ends(clock, GTEL_STR("MHz")))
        return false;
    clock.n -= 3;
    *ret_current = is_current;
    return gtel_str_u64(clock, ret_mhz) == 0 && *ret_mhz > 0 && *ret_mhz <= MHZ_MAX;
}

static void add(struct gtel_dpm *range, uint64_t mhz)
{
    if (range->min_mhz == 0 || mhz < range->min_mhz)
        range->min_mhz = mhz;
    if (mhz > range->max_mhz)
        range->max_mhz = mhz;
}

/*
 * A star between other lines may stand at the clock of the moment, which may lie outside of the
 * range: sleeping between work, or above the highest level.
 */
int gtel_dpm_parse(struct gtel_str text, struct gtel_dpm *ret)
{
    struct gtel_dpm range = {0};
    struct gtel_str line;
    uint64_t current = 0; /* with a star, not the first line, and the last one so far */
    bool has_dropped = false;
    bool is_first = true;
    text.n = gtel_str_find(text, '\0');
    while (gtel_str_line(&text, &line)) {
        uint64_t mhz;
        bool is_current;
        line = gtel_str_trim(line);
        if (parse_level(line, &mhz, &is_current)) {
            has_dropped = has_dropped || current > 0;
            current = is_current && !is_first ? mhz : 0;
            if (current == 0)
                add(&range, mhz);
            is_first = false;
        } else if (gtel_str_starts(line, GTEL_STR("S:"))) {
            is_first = false;
        }
    }
    if (current > 0)
        add(&range, current);
    if (range.max_mhz == 0 || (has_dropped && range.min_mhz == range.max_mhz))
        return -ENODATA;
    *ret = range;
    return 0;
}
