/* SPDX-License-Identifier: MIT */
/* Records of xe's EU stall sampling. */
#include "parse/eu_stall.h"

#include <errno.h>

/* Kernel: drivers/gpu/drm/xe/xe_eu_stall.c, struct xe_eu_stall_data_…; "tdr" there is PSDep. */
static const struct {
    const char *name;
    int bit[GTEL_EU_STALL_LAYOUTS];
} kinds[GTEL_EU_STALL_KINDS] = {
    [GTEL_EU_STALL_ACTIVE] = {"active", {29, 101, 133}},
    [GTEL_EU_STALL_PSDEP] = {"psdep", {-1, 29, 61}},
    [GTEL_EU_STALL_OTHER] = {"other", {37, 37, 69}},
    [GTEL_EU_STALL_CONTROL] = {"control", {45, 45, 77}},
    [GTEL_EU_STALL_PIPE] = {"pipe", {53, 53, 85}},
    [GTEL_EU_STALL_SEND] = {"send", {61, 61, 93}},
    [GTEL_EU_STALL_DIST] = {"dist", {69, 69, 101}},
    [GTEL_EU_STALL_SBID] = {"sbid", {77, 77, 109}},
    [GTEL_EU_STALL_SYNC] = {"sync", {85, 85, 117}},
    [GTEL_EU_STALL_INSTRFETCH] = {"instrfetch", {93, 93, 125}},
};

const char *gtel_eu_stall_name(enum gtel_eu_stall kind)
{
    return kinds[kind].name;
}

int gtel_eu_stall_bit(enum gtel_eu_stall_layout layout, enum gtel_eu_stall kind)
{
    return kinds[kind].bit[layout];
}

/* A counter lies in two bytes; the records are little endian. */
static uint64_t counter(const unsigned char *record, int bit)
{
    const unsigned char *at = record + bit / 8;
    unsigned both = (unsigned)at[0] | (unsigned)at[1] << 8;
    return both >> (bit % 8) & 0xff;
}

int gtel_eu_stall_add(enum gtel_eu_stall_layout layout, const void *bytes, size_t n,
                      struct gtel_eu_stall_sums *sums)
{
    const unsigned char *record = bytes;
    if (n % GTEL_EU_STALL_RECORD != 0)
        return -EINVAL;
    for (size_t at = 0; at < n; at += GTEL_EU_STALL_RECORD)
        for (size_t k = 0; k < GTEL_EU_STALL_KINDS; k++)
            if (kinds[k].bit[layout] >= 0)
                sums->count[k] += counter(record + at, kinds[k].bit[layout]);
    return 0;
}
