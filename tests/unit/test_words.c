/* SPDX-License-Identifier: MIT */
/* Binary data as words of a width and a value. */
#include "parse/words.h"
#include "harness/test.h"

#include <errno.h>

static const struct {
    const char *label;
    const char *text;
    int rc;
    size_t n;
    unsigned char bytes[12];
} cases[] = {
    {"nothing", "", 0, 0, {0}},
    {"blanks and lines", " \n\t\n", 0, 0, {0}},
    {"a byte", "1:255", 0, 1, {255}},
    {"little endian", "4:0x01020304\n2:5", 0, 6, {4, 3, 2, 1, 5, 0}},
    {"eight bytes", "8:18446744073709551615", 0, 8, {255, 255, 255, 255, 255, 255, 255, 255}},
    {"an odd width", "3:65536", 0, 3, {0, 0, 1}},
    {"wider than a number", "12:258", 0, 12, {2, 1}},
    {"exactly full", "8:1 4:2", 0, 12, {1, 0, 0, 0, 0, 0, 0, 0, 2}},
    {"too much", "8:1 4:2 1:0", -E2BIG, 0, {0}},
    {"a width beyond all", "18446744073709551615:0", -E2BIG, 0, {0}},
    {"value too wide", "1:256", -ERANGE, 0, {0}},
    {"value above 64 bits", "8:18446744073709551616", -ERANGE, 0, {0}},
    {"no width", ":1", -EINVAL, 0, {0}},
    {"width 0", "0:0", -EINVAL, 0, {0}},
    {"no value", "4:", -EINVAL, 0, {0}},
    {"no colon", "4", -EINVAL, 0, {0}},
    {"two colons", "4:1:2", -EINVAL, 0, {0}},
    {"negative", "4:-1", -EINVAL, 0, {0}},
    {"hexadecimal without 0x", "4:ff", -EINVAL, 0, {0}},
    {"blank inside", "4: 1", -EINVAL, 0, {0}},
    {"a counter after 2.5 s", "4:7+10 2:0x1+0.5", 0, 6, {32, 0, 0, 0, 2, 0}},
    {"a counter that has turned", "1:250+4 4:4294967295+2", 0, 5, {4, 4, 0, 0, 0}},
    {"a counter that shrinks", "4:7+-1", -EINVAL, 0, {0}},
    {"a counter without a rate", "4:7+", -EINVAL, 0, {0}},
    {"a counter that stands still", "4:7+0", 0, 4, {7}},
    {"a counter below the limit", "8:0+1e18", 0, 8, {0, 0, 0x7a, 0x22, 0xc1, 0xc8, 0xb1, 0x22}},
    {"a counter at the limit", "8:0+3.68e18", -ERANGE, 0, {0}},
    {"a counter beyond all", "8:0+1e19", -ERANGE, 0, {0}},
};

int main(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unsigned char bytes[12] = {0};
        size_t n = 0;
        test_label = cases[i].label;
        CHECK_INT(gtel_words_pack(gtel_str_of(cases[i].text), 2.5, bytes, sizeof(bytes), &n),
                  cases[i].rc);
        CHECK_INT(n, cases[i].n);
        if (cases[i].rc == 0)
            CHECK(memcmp(bytes, cases[i].bytes, sizeof(bytes)) == 0);
    }
    unsigned char bytes[4];
    size_t n;
    test_label = "no counter where there may be none";
    CHECK_INT(gtel_words_pack(GTEL_STR("4:7+1"), -1, bytes, sizeof(bytes), &n), -EINVAL);
    test_label = "a counter at the beginning";
    CHECK_INT(gtel_words_pack(GTEL_STR("4:7+1"), 0, bytes, sizeof(bytes), &n), 0);
    CHECK_INT(bytes[0], 7);
    return test_result();
}
