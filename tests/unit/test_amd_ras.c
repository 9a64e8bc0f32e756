/* SPDX-License-Identifier: MIT */
/* The error counts of one block, and the list of bad pages. */
#include "parse/amd_texts.h"
#include "harness/test.h"

#include <errno.h>

static const struct ras_case {
    const char *label;
    const char *text;
    int rc;
    unsigned known;
    uint64_t want[GTEL_AMD_RAS_COUNTS];
} counts[] = {
    {"two counts", "ue: 0\nce: 1\n", 0, 3, {0, 1, 0}},
    {"three", "ue: 1\nce: 22\nde: 333\n", 0, 7, {1, 22, 333}},
    {"no newline at the end", "ue: 4\nce: 18446744073709551615", 0, 3, {4, UINT64_MAX, 0}},
    {"another order, one of them", "de: 5\n", 0, 4, {0, 0, 5}},
    {"other lines", "umc\nue: 1\nxe: 7\nce: 2\n\n", 0, 3, {1, 2, 0}},
    {"no blank", "ue:1\nce:2", 0, 3, {1, 2, 0}},
    {"the driver cannot ask", "Query currently inaccessible\n", -ENODATA, 0, {0}},
    {"a key that ends like it", "true: 1\n", -ENODATA, 0, {0}},
    {"no colon", "ue 1\nce 2\n", -ENODATA, 0, {0}},
    {"empty", "", -ENODATA, 0, {0}},
    {"blank lines", "\n\n", -ENODATA, 0, {0}},
    {"no number", "ue: \nce: 1\n", -EBADMSG, 0, {0}},
    {"a negative one", "ue: -1\nce: 1\n", -EBADMSG, 0, {0}},
    {"two numbers", "ue: 1 2\nce: 1\n", -EBADMSG, 0, {0}},
    {"too large", "ue: 18446744073709551616\n", -EBADMSG, 0, {0}},
    {"twice", "ue: 1\nue: 1\n", -EBADMSG, 0, {0}},
};

static const struct ras_case pages[] = {
    {"none", "", 0, 7, {0, 0, 0}},
    {"one", "0x00005b0f : 0x00001000 : R\n", 0, 7, {1, 0, 0}},
    {"each state",
     "0x027f5d43 : 0x00001000 : R\n0x027f5d4b : 0x00001000 : P\n0x027f5d53 : 0x00001000 : F\n"
     "0x027f5d5b : 0x00001000 : R",
     0,
     7,
     {2, 1, 1}},
    {"a number beyond 32 bits", "0x100000000 : 0x00001000 : P\n", 0, 7, {0, 1, 0}},
    {"another state", "0x00005b0f : 0x00001000 : X\n", -EBADMSG, 0, {0}},
    {"two letters", "0x00005b0f : 0x00001000 : RP\n", -EBADMSG, 0, {0}},
    {"no state", "0x00005b0f : 0x00001000 :\n", -EBADMSG, 0, {0}},
    {"cut", "0x00005b0f : 0x00001000 : R\n0x00005b", -EBADMSG, 0, {0}},
    {"four parts", "0x00005b0f : 0x00001000 : R : R\n", -EBADMSG, 0, {0}},
    {"no number of a page", "page : 0x00001000 : R\n", -EBADMSG, 0, {0}},
    {"no size of a page", "0x00005b0f : 4k : R\n", -EBADMSG, 0, {0}},
    {"a blank line", "0x00005b0f : 0x00001000 : R\n\n", -EBADMSG, 0, {0}},
};

static void check(const struct ras_case *list, size_t n,
                  int (*parse)(struct gtel_str text, struct gtel_amd_ras *ret))
{
    for (size_t i = 0; i < n; i++) {
        struct gtel_amd_ras got = {.known = 0};
        test_label = list[i].label;
        CHECK_INT(parse(gtel_str_of(list[i].text), &got), list[i].rc);
        CHECK_INT(got.known, list[i].known);
        for (size_t c = 0; c < GTEL_AMD_RAS_COUNTS; c++)
            CHECK((got.known & 1u << c) == 0 || got.count[c] == list[i].want[c]);
    }
}

int main(void)
{
    static const char behind[] = "0x00005b0f : 0x00001000 : R\n\0\0\0";
    struct gtel_amd_ras got;
    check(counts, sizeof(counts) / sizeof(counts[0]), gtel_amd_ras_parse);
    check(pages, sizeof(pages) / sizeof(pages[0]), gtel_amd_pages_parse);
    test_label = "NULs behind the text";
    CHECK_INT(gtel_amd_pages_parse((struct gtel_str){behind, sizeof(behind)}, &got), 0);
    CHECK(got.count[0] == 1);
    return test_result();
}
