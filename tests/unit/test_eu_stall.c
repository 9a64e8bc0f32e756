/* SPDX-License-Identifier: MIT */
/* Records of xe's EU stall sampling. */
#include "base/compiler.h"
#include "parse/eu_stall.h"
#include "harness/test.h"

#include <errno.h>
#include <string.h>

/* The first 24 bytes of a record, the rest is 0: an address of all ones, then 1, 2, 3 … 10. */
static const struct {
    enum gtel_eu_stall_layout layout;
    unsigned char bytes[24];
    uint64_t want[GTEL_EU_STALL_KINDS]; /* active, psdep, other, control … */
} cases[] = {
    /* bits 29 … 100: active, other, control, pipe, send, dist, sbid, sync, fetch */
    {GTEL_EU_STALL_PVC,
     {0xff, 0xff, 0xff, 0x3f, 0x40, 0x60, 0x80, 0xa0, 0xc0, 0xe0, 0x00, 0x21, 0x01},
     {1, 0, 2, 3, 4, 5, 6, 7, 8, 9}},
    /* bits 29 … 108: psdep, other, control, pipe, send, dist, sbid, sync, fetch, active */
    {GTEL_EU_STALL_XE2,
     {0xff, 0xff, 0xff, 0x3f, 0x40, 0x60, 0x80, 0xa0, 0xc0, 0xe0, 0x00, 0x21, 0x41, 0x01},
     {10, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
    /* bits 61 … 140 */
    {GTEL_EU_STALL_XE3P,
     {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f, 0x40, 0x60, 0x80, 0xa0, 0xc0, 0xe0, 0x00,
      0x21, 0x41, 0x01},
     {10, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
};

static void test_layouts(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        unsigned char records[2 * GTEL_EU_STALL_RECORD] = {0};
        struct gtel_eu_stall_sums sums = {{0}};
        memcpy(records, cases[i].bytes, sizeof(cases[i].bytes));
        memcpy(records + GTEL_EU_STALL_RECORD, cases[i].bytes, sizeof(cases[i].bytes));
        CHECK_INT(gtel_eu_stall_add(cases[i].layout, records, GTEL_EU_STALL_RECORD, &sums), 0);
        for (size_t k = 0; k < GTEL_EU_STALL_KINDS; k++)
            CHECK_INT(sums.count[k], cases[i].want[k]);
        CHECK_INT(gtel_eu_stall_add(cases[i].layout, records, sizeof(records), &sums), 0);
        for (size_t k = 0; k < GTEL_EU_STALL_KINDS; k++)
            CHECK_INT(sums.count[k], 3 * cases[i].want[k]);
    }
}

/* All counters at their end, and none in what lies behind them. */
static void test_ends(void)
{
    for (int layout = 0; layout < GTEL_EU_STALL_LAYOUTS; layout++) {
        unsigned char ones[GTEL_EU_STALL_RECORD];
        struct gtel_eu_stall_sums sums = {{0}};
        memset(ones, 0xff, sizeof(ones));
        CHECK_INT(gtel_eu_stall_add((enum gtel_eu_stall_layout)layout, ones, sizeof(ones), &sums),
                  0);
        for (size_t k = 0; k < GTEL_EU_STALL_KINDS; k++) {
            bool has =
                gtel_eu_stall_bit((enum gtel_eu_stall_layout)layout, (enum gtel_eu_stall)k) >= 0;
            CHECK_INT(sums.count[k], has ? 255 : 0);
        }
    }
}

static void test_lengths(void)
{
    static const size_t lengths[] = {1, 63, 65, 127};
    unsigned char bytes[128] = {0};
    struct gtel_eu_stall_sums sums = {{0}};
    CHECK_INT(gtel_eu_stall_add(GTEL_EU_STALL_XE2, bytes, 0, &sums), 0);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(lengths); i++)
        CHECK_INT(gtel_eu_stall_add(GTEL_EU_STALL_XE2, bytes, lengths[i], &sums), -EINVAL);
    CHECK_STR(gtel_str_of(gtel_eu_stall_name(GTEL_EU_STALL_INSTRFETCH)), "instrfetch");
}

int main(void)
{
    test_layouts();
    test_ends();
    test_lengths();
    return test_result();
}
