/* SPDX-License-Identifier: MIT */
/* Lines of macmon in all versions, cut, wrong and long. */
#include "harness/test.h"
#include "harness/tree_files.h"
#include "parse/json.h"
#include "parse/macmon.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE (-1)

static struct gtel_macmon line;

static int parse(struct gtel_str text)
{
    void *memory = malloc(gtel_json_memory(text.n));
    int r = CHECK(memory != NULL) ? gtel_macmon_parse(text, memory, &line) : -ENOMEM;
    free(memory);
    return r;
}

static double value(enum gtel_macmon_value which)
{
    return (line.known >> which & 1) != 0 ? line.value[which] : NONE;
}

/* Each version on its machine: tests/fixtures/apple-*.tree. */
static const struct version {
    const char *file;
    double value[GTEL_MACMON_VALUES];
    bool is_scaled;
    const char *model;
    double rpm;
    const char *fan;
} versions[] = {
    {"0.5", {0.031, 396e6, NONE, 8589934592.0, 4294967296.0, 0.05, 0, 0.35}, true, "", NONE, "1"},
    {"0.7",
     {0.25, 612e6, 44.5, 68719476736.0, 17179869184.0, 4, 0.5, 6},
     true,
     "Apple M2 Max",
     NONE,
     "1"},
    {"0.8.0",
     {0.2, 338e6, 39.5, 549755813888.0, 68719476736.0, 3.5, 0, 13},
     false,
     "Apple M3 Ultra",
     1000,
     "Left"},
    {"0.8.2",
     {0.44, 720e6, 45, 25769803776.0, 9663676416.0, 3.5, 0, 4.75},
     false,
     "Apple M4",
     1000,
     "1"},
};

static void check_version(const struct version *version)
{
    for (int i = 0; i < GTEL_MACMON_VALUES; i++)
        CHECK_NEAR(value((enum gtel_macmon_value)i), version->value[i],
                   1e-9 + (version->value[i] > 0 ? 1e-9 * version->value[i] : 0));
    CHECK(line.is_scaled == version->is_scaled);
    CHECK_STR(gtel_str_of(line.model), version->model);
    CHECK_NEAR(line.fan[0].rpm >= 0 ? line.fan[0].rpm : NONE, version->rpm, 0);
    CHECK_STR(gtel_str_of(line.fan[0].name), version->fan);
}

/* Whole, and cut at each byte: then it is no line, and nothing is written. */
static void test_versions(void)
{
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        char path[512];
        size_t n = 0;
        test_label = versions[i].file;
        (void)snprintf(path, sizeof(path), TEST_DIR "/fuzz/corpus/macmon/%s", versions[i].file);
        char *text = read_whole_file(path, &n);
        if (!CHECK(text != NULL && n > 100))
            continue;
        CHECK_INT(parse((struct gtel_str){text, n}), 0);
        check_version(&versions[i]);
        CHECK_INT(text[n - 2], '}');
        for (size_t cut = 0; cut < n - 1; cut++)
            if (!CHECK(parse((struct gtel_str){text, cut}) == -EBADMSG))
                break;
        CHECK_INT(parse((struct gtel_str){text, n - 1}), 0);
        free(text);
    }
    test_label = "";
}

#define BUSY GTEL_MACMON_BUSY
static const struct {
    const char *label;
    const char *text;
    int r;
    enum gtel_macmon_value which;
    double want;
    bool is_scaled;
} cases[] = {
    {"busy time before scaled", "{\"gpu_scaled_ratio\":0.3,\"gpu_active_ratio\":0.4}", 0, BUSY, 0.4,
     false},
    {"in any order", "{\"gpu_active_ratio\":0.4,\"gpu_scaled_ratio\":0.3,\"gpu_usage\":[5,0.2]}", 0,
     BUSY, 0.4, false},
    {"scaled, 0.8.1", "{\"gpu_usage\":[5,0.2],\"gpu_scaled_ratio\":0.3}", 0, BUSY, 0.3, true},
    {"scaled, 0.8.0", "{\"gpu_usage_ratio\":0.3,\"gpu_usage\":[5,0.2]}", 0, BUSY, 0.3, true},
    {"scaled, before", "{\"gpu_usage\":[5,0.2]}", 0, BUSY, 0.2, true},
    {"idle", "{\"gpu_active_ratio\":0.0}", 0, BUSY, 0, false},
    {"busy", "{\"gpu_active_ratio\":1}", 0, BUSY, 1, false},
    {"an exponent", "{\"gpu_active_ratio\":2.5e-1}", 0, BUSY, 0.25, false},
    {"a text", "{\"gpu_active_ratio\":\"0.25\"}", 0, BUSY, 0.25, false},
    {"below nothing", "{\"gpu_active_ratio\":-0.0}", 0, BUSY, 0, false},
    {"1.7, and no other instead",
     "{\"gpu_active_ratio\":1.7,\"gpu_scaled_ratio\":0.3,\"gpu_power\":1}", 0, BUSY, NONE, false},
    {"-0.1", "{\"gpu_active_ratio\":-0.1,\"gpu_power\":1}", 0, BUSY, NONE, false},
    {"N/A", "{\"gpu_active_ratio\":\"N/A\",\"gpu_usage\":[1,0.5]}", 0, BUSY, NONE, false},
    {"NaN", "{\"gpu_active_ratio\":NaN,\"gpu_power\":1}", -EBADMSG, BUSY, NONE, false},
    {"NaN as text", "{\"gpu_active_ratio\":\"NaN\",\"gpu_power\":1}", 0, BUSY, NONE, false},
    {"null", "{\"gpu_active_ratio\":null,\"gpu_power\":1}", 0, BUSY, NONE, true},
    {"an object", "{\"gpu_active_ratio\":{\"value\":0.5},\"gpu_power\":1}", 0, BUSY, NONE, true},
    {"of something else", "{\"x\":{\"gpu_active_ratio\":0.5},\"gpu_power\":1}", 0, BUSY, NONE,
     true},
    {"a longer name", "{\"gpu_active_ratio_2\":0.5,\"gpu_power\":1}", 0, BUSY, NONE, true},
    {"twice: the last", "{\"gpu_active_ratio\":0.5,\"gpu_active_ratio\":0.25}", 0, BUSY, 0.25,
     false},
    {"two objects: the first", "{\"gpu_active_ratio\":0.5}{\"gpu_active_ratio\":0.75}", 0, BUSY,
     0.5, false},
    {"a clock as text", "{\"gpu_usage\":[\"396\",0.5]}", 0, GTEL_MACMON_FREQUENCY, 396e6, true},
    {"two clocks", "{\"gpu_freq_mhz\":400,\"gpu_usage\":[396,0.5]}", 0, GTEL_MACMON_FREQUENCY, 4e8,
     true},
    {"off", "{\"gpu_freq_mhz\":0}", 0, GTEL_MACMON_FREQUENCY, 0, true},
    {"huge", "{\"gpu_freq_mhz\":1e30,\"gpu_power\":1}", 0, GTEL_MACMON_FREQUENCY, NONE, true},
    {"no sensor", "{\"temp\":{\"gpu_temp_avg\":0.0},\"gpu_power\":1}", 0, GTEL_MACMON_TEMPERATURE,
     NONE, true},
    {"too hot", "{\"temp\":{\"gpu_temp_avg\":151},\"gpu_power\":1}", 0, GTEL_MACMON_TEMPERATURE,
     NONE, true},
    {"more than all", "{\"memory\":{\"ram_total\":8,\"ram_usage\":9}}", 0, GTEL_MACMON_RAM_USED,
     NONE, true},
    {"all", "{\"memory\":{\"ram_usage\":8,\"ram_total\":8}}", 0, GTEL_MACMON_RAM_USED, 8, true},
    {"no memory", "{\"memory\":{\"ram_total\":0},\"gpu_power\":1}", 0, GTEL_MACMON_RAM_TOTAL, NONE,
     true},
    {"nothing drawn", "{\"gpu_power\":0.0,\"all_power\":0.0,\"gpu_freq_mhz\":1}", 0,
     GTEL_MACMON_POWER_GPU, NONE, true},
    {"a GPU that draws nothing", "{\"gpu_power\":0.0,\"all_power\":0.1}", 0, GTEL_MACMON_POWER_GPU,
     0, true},
    {"negative", "{\"gpu_power\":-1,\"all_power\":0.1}", 0, GTEL_MACMON_POWER_GPU, NONE, true},
    {"nothing", "{}", -ENODATA, BUSY, NONE, false},
    {"unknown keys", "{\"cpu_power\":1}", -ENODATA, BUSY, NONE, false},
    {"an array", "[{\"gpu_power\":1}]", -ENODATA, BUSY, NONE, false},
    {"a number", "5", -ENODATA, BUSY, NONE, false},
    {"empty", "", -EBADMSG, BUSY, NONE, false},
    {"a blank", " \r\n", -EBADMSG, BUSY, NONE, false},
    {"a warning", "warning: no sensor", -EBADMSG, BUSY, NONE, false},
    {"too deep", "[[[[[[[[[1]]]]]]]]]", -E2BIG, BUSY, NONE, false},
};

static void test_cases(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        test_label = cases[i].label;
        CHECK_INT(parse(gtel_str_of(cases[i].text)), cases[i].r);
        if (cases[i].r < 0)
            continue;
        CHECK_NEAR(value(cases[i].which), cases[i].want, 1e-12 + 1e-12 * cases[i].want);
        CHECK(line.is_scaled == cases[i].is_scaled);
    }
    test_label = "";
}

static void test_fans(void)
{
    static const char text[] = "{\"gpu_power\":1,\"fans\":[{\"rpm\":0,\"name\":\"Left\\u0001\","
                               "\"max_rpm\":null},{\"name\":\"\","
                               "\"rpm\":\"1200.5\"},{\"name\":\"x\",\"rpm\":-1},{\"rpm\":50001},7,{"
                               "\"rpm\":50000},{\"name\":\"\xc3\"},{\"rpm\":8},{\"rpm\":9}]}";
    static const double rpm[GTEL_MACMON_FANS] = {0, 1200.5, NONE, NONE, NONE, 50000, NONE, 8};
    static const char *const names[GTEL_MACMON_FANS] = {"Left?", "2", "x", "4", "5", "6", "7", "8"};
    CHECK_INT(parse(gtel_str_of(text)), 0);
    for (size_t i = 0; i < GTEL_MACMON_FANS; i++) {
        CHECK_NEAR(line.fan[i].rpm >= 0 ? line.fan[i].rpm : NONE, rpm[i], 0);
        CHECK_STR(gtel_str_of(line.fan[i].name), names[i]);
    }
}

/* 2 MiB of one thing. */
static void test_large(void)
{
    static const struct {
        const char *begin;
        const char *again;
        const char *end;
        int r;
    } large[] = {
        {"{\"gpu_active_ratio\":0.5,\"x\":\"", "a", "\"}", 0},
        {"{\"gpu_active_ratio\":0.5,\"x\":\"", "\\n", "\"}", 0},
        {"{\"gpu_active_ratio\":0.5,\"x\":\"", "a", "", -EBADMSG},
        {"{\"fans\":[", "{\"rpm\":1},", "{}],\"gpu_active_ratio\":0.5}", 0},
        {"{", "\"gpu_power\":1,", "\"gpu_active_ratio\":0.5}", 0},
        {"{\"gpu_active_ratio\":", "0", "}", -EBADMSG},
        {"", " ", "", -EBADMSG},
        {"", "{}", "", -ENODATA},
    };
    enum { LARGE = 2 << 20 };
    char *text = malloc(LARGE + 100);
    if (!CHECK(text != NULL))
        return;
    for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
        size_t again = strlen(large[i].again);
        size_t n = strlen(large[i].begin);
        test_label = large[i].again;
        memcpy(text, large[i].begin, n);
        for (; n < LARGE; n += again)
            memcpy(text + n, large[i].again, again);
        memcpy(text + n, large[i].end, strlen(large[i].end));
        n += strlen(large[i].end);
        CHECK_INT(parse((struct gtel_str){text, n}), large[i].r);
        if (large[i].r == 0)
            CHECK_NEAR(value(BUSY), 0.5, 0);
    }
    free(text);
    test_label = "";
}

int main(void)
{
    test_versions();
    test_cases();
    test_fans();
    test_large();
    return test_result();
}
