/* SPDX-License-Identifier: MIT */
/* The texts by which a perf PMU describes itself. */
#include "parse/pmu_desc.h"
#include "harness/test.h"

#include <errno.h>

static const struct {
    const char *text;
    const char *name;
    int rc;
    uint64_t value;
} term_cases[] = {
    {"config=0x1000", "config", 0, 0x1000},
    {"config=0x1000\n", "config", 0, 0x1000},
    {"config=0x1000000000100000", "config", 0, 0x1000000000100000},
    {"event=0x02", "event", 0, 2},
    {"event=0x02,gt=1", "gt", 0, 1},
    {"event=12", "event", 0, 12},
    {"event=0x02, gt=3", "gt", 0, 3},
    {"inv,event=1", "inv", 0, 1},
    {"event=0x02", "config", -ENOENT, 0},
    {"", "config", -ENOENT, 0},
    {"xconfig=1", "config", -ENOENT, 0},
    {"config=", "config", -EINVAL, 0},
    {"config=0x", "config", -EINVAL, 0},
    {"config=-1", "config", -EINVAL, 0},
    {"config=0x1g", "config", -EINVAL, 0},
    {"config=0x10000000000000000", "config", -ERANGE, 0},
};

static const struct {
    const char *text;
    int rc;
    double seconds;
} unit_cases[] = {
    {"ns", 0, 1e-9},   {"ns\n", 0, 1e-9}, {"us", 0, 1e-6},     {"ms", 0, 1e-3},        {"s", 0, 1},
    {"M", -EINVAL, 0}, {"", -EINVAL, 0},  {"MHz", -EINVAL, 0}, {"Joules", -EINVAL, 0},
};

static const struct {
    const char *text;
    int rc;
    uint32_t cpu;
    uint32_t n;
} cpu_cases[] = {
    {"0", 0, 0, 1},         {"5\n", 0, 5, 1},
    {"0-3,8", 0, 0, 5},     {"2,4-7", 0, 2, 5},
    {"0,128", 0, 0, 2},     {"", -ENODATA, 0, 0},
    {"\n", -ENODATA, 0, 0}, {"x", -EINVAL, 0, 0},
    {"3-1", -EINVAL, 0, 0}, {"4,2", -EINVAL, 0, 0},
    {"0,", 0, 0, 1},        {"0,,1", -EINVAL, 0, 0},
    {"-1", -EINVAL, 0, 0},  {"4294967296", -ERANGE, 0, 0},
};

static const struct {
    const char *text;
    int rc;
    double scale;
} scale_cases[] = {
    {"2.3283064365386962890625e-10\n", 0, 1.0 / 4294967296}, /* 2^-32 */
    {"6.103515625e-05", 0, 1.0 / 16384},
    {"1", 0, 1},
    {"0", -EINVAL, 0},
    {"-1", -EINVAL, 0},
    {"", -EINVAL, 0},
    {"e-10", -EINVAL, 0},
    {".5", -EINVAL, 0},
    {"1e", -EINVAL, 0},
    {"1e-10x", -EINVAL, 0},
    {"0x1p-32", -EINVAL, 0},
    {"nan", -EINVAL, 0},
    {"inf", -EINVAL, 0},
    {"1e999", -ERANGE, 0},
};

static const struct {
    const char *text;
    int rc;
    int first;
    int last;
} format_cases[] = {
    {"config:0-11\n", 0, 0, 11},
    {"config:60-63", 0, 60, 63},
    {"config:5", 0, 5, 5},
    {"config:64", -ERANGE, 0, 0},
    {"config:60-64", -ERANGE, 0, 0},
    {"config:4-3", -EINVAL, 0, 0},
    {"config1:0-7", -EINVAL, 0, 0},
    {"config:", -EINVAL, 0, 0},
    {"config:0-", -EINVAL, 0, 0},
    {"config:-1", -EINVAL, 0, 0},
    {"", -EINVAL, 0, 0},
    {"config:0-3,8", -EINVAL, 0, 0},
    {"config:0x1", -EINVAL, 0, 0},
};

int main(void)
{
    for (size_t i = 0; i < sizeof(format_cases) / sizeof(format_cases[0]); i++) {
        uint8_t first = 0;
        uint8_t last = 0;
        test_label = format_cases[i].text;
        CHECK_INT(gtel_pmu_format(gtel_str_of(format_cases[i].text), &first, &last),
                  format_cases[i].rc);
        CHECK_INT(first, format_cases[i].first);
        CHECK_INT(last, format_cases[i].last);
    }
    for (size_t i = 0; i < sizeof(term_cases) / sizeof(term_cases[0]); i++) {
        uint64_t value = 0;
        test_label = term_cases[i].text;
        CHECK_INT(
            gtel_pmu_term(gtel_str_of(term_cases[i].text), gtel_str_of(term_cases[i].name), &value),
            term_cases[i].rc);
        CHECK_INT(value, term_cases[i].value);
    }
    for (size_t i = 0; i < sizeof(unit_cases) / sizeof(unit_cases[0]); i++) {
        double seconds = 0;
        test_label = unit_cases[i].text;
        CHECK_INT(gtel_pmu_unit_seconds(gtel_str_of(unit_cases[i].text), &seconds),
                  unit_cases[i].rc);
        CHECK_NEAR(seconds, unit_cases[i].seconds, 1e-15);
    }
    for (size_t i = 0; i < sizeof(cpu_cases) / sizeof(cpu_cases[0]); i++) {
        uint32_t cpu = 0;
        uint32_t n = 0;
        test_label = cpu_cases[i].text;
        CHECK_INT(gtel_pmu_cpus(gtel_str_of(cpu_cases[i].text), &cpu, &n), cpu_cases[i].rc);
        CHECK_INT(cpu, cpu_cases[i].cpu);
        CHECK_INT(n, cpu_cases[i].n);
    }
    for (size_t i = 0; i < sizeof(scale_cases) / sizeof(scale_cases[0]); i++) {
        double scale = 0;
        test_label = scale_cases[i].text;
        CHECK_INT(gtel_pmu_scale(gtel_str_of(scale_cases[i].text), &scale), scale_cases[i].rc);
        CHECK_NEAR(scale, scale_cases[i].scale, 1e-15 * scale_cases[i].scale);
    }
    return test_result();
}
