/* SPDX-License-Identifier: MIT */
/* The text of a PCIe link in sysfs. */
#include "parse/pcie.h"
#include "harness/test.h"

#include <errno.h>

static const struct {
    const char *text;
    int rc;
    uint64_t gen;
} speed_cases[] = {
    {"2.5 GT/s PCIe", 0, 1},
    {"5.0 GT/s PCIe", 0, 2},
    {"8.0 GT/s PCIe", 0, 3},
    {"16.0 GT/s PCIe", 0, 4},
    {"32.0 GT/s PCIe", 0, 5},
    {"64.0 GT/s PCIe", 0, 6},
    {"2.5 GT/s", 0, 1},
    {"8 GT/s", 0, 3},
    {"Unknown", -ENODATA, 0},
    {"Unknown speed", -ENODATA, 0},
    {"", -EINVAL, 0},
    {"16.0", -EINVAL, 0},
    {"16.0 MT/s", -EINVAL, 0},
    {"x GT/s", -EINVAL, 0},
    {"12.0 GT/s PCIe", -ERANGE, 0},
    {"-2.5 GT/s PCIe", -ERANGE, 0},
};

static const struct {
    const char *text;
    int rc;
    uint64_t lanes;
} width_cases[] = {
    {"1", 0, 1},        {"12", 0, 12},       {"16", 0, 16},           {"32", 0, 32},
    {"0", -ENODATA, 0}, {"63", -ENODATA, 0}, {"255", -ENODATA, 0},    {"3", -ERANGE, 0},
    {"64", -ERANGE, 0}, {"65", -ERANGE, 0},  {"Unknown", -EINVAL, 0}, {"", -EINVAL, 0},
};

int main(void)
{
    for (size_t i = 0; i < sizeof(speed_cases) / sizeof(speed_cases[0]); i++) {
        uint64_t gen = 0;
        test_label = speed_cases[i].text;
        CHECK_INT(gtel_link_speed(gtel_str_of(speed_cases[i].text), &gen), speed_cases[i].rc);
        CHECK_INT(gen, speed_cases[i].gen);
    }
    for (size_t i = 0; i < sizeof(width_cases) / sizeof(width_cases[0]); i++) {
        uint64_t lanes = 0;
        test_label = width_cases[i].text;
        CHECK_INT(gtel_link_width(gtel_str_of(width_cases[i].text), &lanes), width_cases[i].rc);
        CHECK_INT(lanes, width_cases[i].lanes);
    }
    return test_result();
}
