/* SPDX-License-Identifier: MIT */
/* Texts of amdgpu about hardware errors. */
#include "parse/amd_ras.h"

#include <errno.h>

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
