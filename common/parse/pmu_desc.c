/* SPDX-License-Identifier: MIT */
/* The texts by which a perf PMU describes itself. */
#include "parse/pmu_desc.h"

#include "base/compiler.h"

#include <errno.h>

int gtel_pmu_term(struct gtel_str text, struct gtel_str name, uint64_t *ret)
{
    struct gtel_str term;
    text = gtel_str_trim(text);
    while (gtel_str_part(&text, ',', &term)) {
        term = gtel_str_trim(term);
        size_t at = gtel_str_find(term, '=');
        if (!gtel_str_eq((struct gtel_str){term.p, at}, name))
            continue;
        if (at == term.n) {
            *ret = 1;
            return 0;
        }
        struct gtel_str value = gtel_str_skip(term, at + 1);
        return gtel_str_starts(value, GTEL_STR("0x")) ? gtel_str_hex(value, ret)
                                                      : gtel_str_u64(value, ret);
    }
    return -ENOENT;
}

int gtel_pmu_unit_seconds(struct gtel_str text, double *ret)
{
    static const struct {
        struct gtel_str unit;
        double seconds;
    } units[] = {{GTEL_STR_INIT("ns"), 1e-9},
                 {GTEL_STR_INIT("us"), 1e-6},
                 {GTEL_STR_INIT("ms"), 1e-3},
                 {GTEL_STR_INIT("s"), 1}};
    text = gtel_str_trim(text);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(units); i++) {
        if (gtel_str_eq(text, units[i].unit)) {
            *ret = units[i].seconds;
            return 0;
        }
    }
    return -EINVAL;
}

/* A number, or two with a dash between them. */
static int range(struct gtel_str text, uint64_t *ret_first, uint64_t *ret_last)
{
    size_t at = gtel_str_find(text, '-');
    int r = gtel_str_u64((struct gtel_str){text.p, at}, ret_first);
    *ret_last = *ret_first;
    if (r == 0 && at < text.n)
        r = gtel_str_u64(gtel_str_skip(text, at + 1), ret_last);
    if (r < 0)
        return r;
    if (*ret_last > INT32_MAX)
        return -ERANGE;
    return *ret_last < *ret_first ? -EINVAL : 0;
}

int gtel_pmu_format(struct gtel_str text, uint8_t *ret_first, uint8_t *ret_last)
{
    static const struct gtel_str word = GTEL_STR_INIT("config:");
    uint64_t first = 0;
    uint64_t last = 0;
    text = gtel_str_trim(text);
    if (!gtel_str_starts(text, word))
        return -EINVAL;
    int r = range(gtel_str_skip(text, word.n), &first, &last);
    if (r < 0)
        return r;
    if (last > 63)
        return -ERANGE;
    *ret_first = (uint8_t)first;
    *ret_last = (uint8_t)last;
    return 0;
}

int gtel_pmu_scale(struct gtel_str text, double *ret)
{
    double scale = 0;
    int r = gtel_str_f64(gtel_str_trim(text), &scale);
    if (r < 0)
        return r;
    if (scale <= 0)
        return -EINVAL;
    *ret = scale;
    return 0;
}

int gtel_pmu_cpus(struct gtel_str text, uint32_t *ret_first, uint32_t *ret_n)
{
    struct gtel_str part;
    uint64_t cpu = 0;
    uint64_t next = 0; /* the lowest number that may follow */
    uint64_t n = 0;
    text = gtel_str_trim(text);
    if (text.n == 0)
        return -ENODATA;
    while (gtel_str_part(&text, ',', &part)) {
        uint64_t first = 0;
        uint64_t last = 0;
        int r = range(part, &first, &last);
        if (r < 0)
            return r;
        if (first < next)
            return -EINVAL;
        cpu = next == 0 ? first : cpu;
        next = last + 1;
        n += last - first + 1;
    }
    *ret_first = (uint32_t)cpu;
    *ret_n = (uint32_t)n;
    return 0;
}
