/* SPDX-License-Identifier: MIT */
/* Texts of amdgpu: levels of clocks, hardware errors. */
#include "parse/amd_texts.h"

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

int gtel_amd_ras_parse(struct gtel_str text, struct gtel_amd_ras *ret)
{
    static const struct gtel_str keys[GTEL_AMD_RAS_COUNTS] = {
        GTEL_STR_INIT("ue:"), GTEL_STR_INIT("ce:"), GTEL_STR_INIT("de:")};
    struct gtel_amd_ras ras = {.known = 0};
    struct gtel_str line;
    while (gtel_str_line(&text, &line))
        for (unsigned i = 0; i < GTEL_AMD_RAS_COUNTS; i++) {
            if (!gtel_str_starts(line, keys[i]))
                continue;
            struct gtel_str number = gtel_str_trim(gtel_str_skip(line, keys[i].n));
            if ((ras.known & 1u << i) != 0 || gtel_str_u64(number, &ras.count[i]) < 0)
                return -EBADMSG;
            ras.known |= 1u << i;
        }
    if (ras.known == 0)
        return -ENODATA;
    *ret = ras;
    return 0;
}

int gtel_amd_pages_parse(struct gtel_str text, struct gtel_amd_ras *ret)
{
    static const struct gtel_str states = GTEL_STR_INIT("RPF");
    struct gtel_amd_ras ras = {.known = (1u << GTEL_AMD_RAS_COUNTS) - 1};
    struct gtel_str line;
    text.n = gtel_str_find(text, '\0');
    while (gtel_str_line(&text, &line)) {
        struct gtel_str part[3];
        size_t n = 0;
        uint64_t number;
        while (n < 3 && gtel_str_part(&line, ':', &part[n])) {
            part[n] = gtel_str_trim(part[n]);
            n++;
        }
        size_t state = n == 3 && part[2].n == 1 ? gtel_str_find(states, part[2].p[0]) : states.n;
        if (line.n > 0 || state == states.n || gtel_str_hex(part[0], &number) < 0 ||
            gtel_str_hex(part[1], &number) < 0)
            return -EBADMSG;
        ras.count[state]++;
    }
    *ret = ras;
    return 0;
}
