/* SPDX-License-Identifier: MIT */
/* Borrowed text and the numbers in it. */
#include "base/str.h"
#include "harness/test.h"

#include <errno.h>

static const struct {
    const char *text;
    int rc;
    uint64_t want;
} u64_cases[] = {
    {"0", 0, 0},
    {"18446744073709551615", 0, UINT64_MAX},
    {"18446744073709551616", -ERANGE, 0},
    {"99999999999999999999999", -ERANGE, 0},
    {"", -EINVAL, 0},
    {"-1", -EINVAL, 0},
    {"+1", -EINVAL, 0},
    {" 1", -EINVAL, 0},
    {"1 ", -EINVAL, 0},
    {"0x1", -EINVAL, 0},
    {"007", 0, 7},
};

static const struct {
    const char *text;
    int rc;
    int64_t want;
} i64_cases[] = {
    {"-9223372036854775808", 0, INT64_MIN},
    {"9223372036854775807", 0, INT64_MAX},
    {"9223372036854775808", -ERANGE, 0},
    {"-9223372036854775809", -ERANGE, 0},
    {"-", -EINVAL, 0},
    {"--1", -EINVAL, 0},
    {"-0", 0, 0},
};

static const struct {
    const char *text;
    int rc;
    double want;
} f64_cases[] = {
    {"0", 0, 0},         {"1.5", 0, 1.5},       {"-2.25e2", 0, -225}, {"1e-3", 0, 0.001},
    {".5", -EINVAL, 0},  {"1.", -EINVAL, 0},    {"1e", -EINVAL, 0},   {"nan", -EINVAL, 0},
    {"inf", -EINVAL, 0}, {"1e999", -ERANGE, 0}, {"1e-400", 0, 0},     {"1e-401", -ERANGE, 0},
    {"1,5", -EINVAL, 0}, {"", -EINVAL, 0},
};

static const struct {
    const char *text;
    int rc;
    uint64_t want;
} duration_cases[] = {
    {"500ms", 0, 500000000}, {"1.5s", 0, 1500000000},
    {"2m", 0, 120000000000}, {"1h", 0, 3600000000000},
    {"10", 0, 10000000000},  {"1us", 0, 1000},
    {"7ns", 0, 7},           {"5x", -EINVAL, 0},
    {"-1s", -EINVAL, 0},     {"", -EINVAL, 0},
    {"s", -EINVAL, 0},       {"1e30h", -ERANGE, 0},
};

static void test_numbers(void)
{
    for (size_t i = 0; i < sizeof(u64_cases) / sizeof(u64_cases[0]); i++) {
        uint64_t got = 0;
        test_label = u64_cases[i].text;
        CHECK_INT(gtel_str_u64(gtel_str_of(u64_cases[i].text), &got), u64_cases[i].rc);
        CHECK(got == u64_cases[i].want);
    }
    for (size_t i = 0; i < sizeof(i64_cases) / sizeof(i64_cases[0]); i++) {
        int64_t got = 0;
        test_label = i64_cases[i].text;
        CHECK_INT(gtel_str_i64(gtel_str_of(i64_cases[i].text), &got), i64_cases[i].rc);
        CHECK_INT(got, i64_cases[i].want);
    }
    for (size_t i = 0; i < sizeof(f64_cases) / sizeof(f64_cases[0]); i++) {
        double got = 0;
        test_label = f64_cases[i].text;
        CHECK_INT(gtel_str_f64(gtel_str_of(f64_cases[i].text), &got), f64_cases[i].rc);
        CHECK_NEAR(got, f64_cases[i].want, 1e-12);
    }
    for (size_t i = 0; i < sizeof(duration_cases) / sizeof(duration_cases[0]); i++) {
        uint64_t got = 0;
        test_label = duration_cases[i].text;
        CHECK_INT(gtel_str_duration(gtel_str_of(duration_cases[i].text), &got),
                  duration_cases[i].rc);
        CHECK_INT(got, duration_cases[i].want);
    }
    test_label = "hex";
    uint64_t v = 0;
    CHECK_INT(gtel_str_hex(GTEL_STR("0xE20b"), &v), 0);
    CHECK_INT(v, 0xe20b);
    CHECK_INT(gtel_str_hex(GTEL_STR("ffffffffffffffff"), &v), 0);
    CHECK_INT(gtel_str_hex(GTEL_STR("10000000000000000"), &v), -ERANGE);
    CHECK_INT(gtel_str_hex(GTEL_STR("0x"), &v), -EINVAL);
    CHECK_INT(gtel_str_hex(GTEL_STR("g"), &v), -EINVAL);
}

static void test_pieces(void)
{
    test_label = "pieces";
    struct gtel_str rest = GTEL_STR("one\n\ntwo");
    struct gtel_str line;
    CHECK(gtel_str_line(&rest, &line));
    CHECK_STR(line, "one");
    CHECK(gtel_str_line(&rest, &line));
    CHECK_STR(line, "");
    CHECK(gtel_str_line(&rest, &line));
    CHECK_STR(line, "two");
    CHECK(!gtel_str_line(&rest, &line));

    rest = GTEL_STR("  a\t b ");
    CHECK(gtel_str_word(&rest, &line));
    CHECK_STR(line, "a");
    CHECK(gtel_str_word(&rest, &line));
    CHECK_STR(line, "b");
    CHECK(!gtel_str_word(&rest, &line));

    CHECK_STR(gtel_str_trim(GTEL_STR(" \t x y\r\n")), "x y");
    CHECK_STR(gtel_str_trim(GTEL_STR("  ")), "");
    CHECK(!gtel_str_eq(GTEL_STR("compute"), GTEL_STR("compute-copy")));
    CHECK(gtel_str_same(GTEL_STR("PCI_Ven@z"), GTEL_STR("pci_vEN@Z")));
    CHECK(gtel_str_same(GTEL_STR_NONE, GTEL_STR("")));
    CHECK(!gtel_str_same(GTEL_STR("MHz"), GTEL_STR("mhz ")));
    CHECK(!gtel_str_same(GTEL_STR("MHz "), GTEL_STR("mhz")));
    CHECK(!gtel_str_same(GTEL_STR("@["), GTEL_STR("`{"))); /* letters alone have a case */
    CHECK(gtel_str_starts(GTEL_STR("compute-copy"), GTEL_STR("compute")));

    char buf[4];
    CHECK(gtel_str_copy(buf, sizeof(buf), GTEL_STR("abc")));
    CHECK(!gtel_str_copy(buf, sizeof(buf), GTEL_STR("abcd")));
    CHECK_STR(gtel_str_of(buf), "abc");
}

static const struct {
    const char *label;
    const char *text;
    size_t size;
    const char *want;
} clean_cases[] = {
    {"plain", "a b,c", 10, "a b,c"},
    {"empty", "", 10, ""},
    {"control characters",
     "a\n\t\x1b\x7f"
     "b",
     10, "a????b"},
    {"a C1 control character",
     "a\xc2\x85"
     "b",
     10, "a??b"},
    {"whole characters", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 10,
     "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
    {"the last does not fit", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\xc3\xa4\xe2\x82\xac"},
    {"cut in two at the end", "a\xf0\x9f\x98", 10, "a"},
    {"its first byte only", "a\xe2", 10, "a"},
    {"cut in two before the end",
     "a\xe2\x82"
     "b",
     10, "a??b"},
    {"never a first byte", "\xff\x80", 10, "??"},
    {"longer than needed", "\xc0\xaf\xe0\x80\xaf", 10, "?????"},
    {"a surrogate", "\xed\xa0\x80", 10, "???"},
    {"half a surrogate", "\xed\xa0", 10, "??"},
    {"above the last", "\xf4\x90\x80\x80", 10, "????"},
    {"fits", "abc", 4, "abc"},
    {"does not fit", "abcd", 4, "abc"},
    {"no room", "abcd", 1, ""},
    {"the last place is for what is not shown", "ab\x01", 4, "ab?"},
    {"no place for it", "abc\x01", 4, "abc"},
};

static void test_clean(void)
{
    for (size_t i = 0; i < sizeof(clean_cases) / sizeof(clean_cases[0]); i++) {
        char buf[10];
        test_label = clean_cases[i].label;
        gtel_str_clean(buf, clean_cases[i].size, gtel_str_of(clean_cases[i].text));
        CHECK_STR(gtel_str_of(buf), clean_cases[i].want);
    }
}

static void test_parts(void)
{
    CHECK_STR(gtel_str_head(GTEL_STR("abc"), 0), "");
    CHECK_STR(gtel_str_head(GTEL_STR("abc"), 2), "ab");
    CHECK_STR(gtel_str_head(GTEL_STR("abc"), 4), "abc");
    CHECK(gtel_str_has(GTEL_STR("abc"), GTEL_STR("bc")));
    CHECK(gtel_str_has(GTEL_STR("abc"), GTEL_STR("abc")));
    CHECK(gtel_str_has(GTEL_STR("abc"), GTEL_STR_NONE));
    CHECK(!gtel_str_has(GTEL_STR("abc"), GTEL_STR("bd")));
    CHECK(!gtel_str_has(GTEL_STR("bc"), GTEL_STR("abc")));
    CHECK_INT(gtel_str_behind(GTEL_STR("a/bc/d"), '/'), 5);
    CHECK_INT(gtel_str_behind(GTEL_STR("/"), '/'), 1);
    CHECK_INT(gtel_str_behind(GTEL_STR("abc"), '/'), 0);
    CHECK_INT(gtel_str_behind(GTEL_STR_NONE, '/'), 0);
    struct gtel_str value = GTEL_STR_NONE;
    CHECK(gtel_str_value(GTEL_STR("A\nAB: 1\nA:\t2 \nA:3"), GTEL_STR("A"), ':', &value));
    CHECK_STR(value, "2");
    CHECK(gtel_str_value(GTEL_STR("A="), GTEL_STR("A"), '=', &value));
    CHECK_STR(value, "");
    value = GTEL_STR("kept");
    CHECK(!gtel_str_value(GTEL_STR("A:1"), GTEL_STR("A"), '=', &value));
    CHECK(!gtel_str_value(GTEL_STR_NONE, GTEL_STR("A"), '=', &value));
    CHECK_STR(value, "kept");
    CHECK(gtel_str_is_hex(GTEL_STR("09af")) && gtel_str_is_hex(GTEL_STR_NONE));
    CHECK(!gtel_str_is_hex(GTEL_STR("0A")) && !gtel_str_is_hex(GTEL_STR("0g")));
    CHECK(!gtel_str_is_hex(GTEL_STR("/")) && !gtel_str_is_hex(GTEL_STR(":")));
}

int main(void)
{
    test_parts();
    test_numbers();
    test_pieces();
    test_clean();
    return test_result();
}
