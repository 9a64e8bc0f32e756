/* SPDX-License-Identifier: MIT */
/* The capabilities of a process. */
#include "parse/capabilities.h"
#include "harness/test.h"

#include <errno.h>

static const struct {
    const char *label;
    const char *text;
    int rc;
    uint64_t set;
    bool has_perfmon;
} cases[] = {
    {"root", "Name:\tgtel\nCapPrm:\t0\nCapEff:\t000001ffffffffff\nCapBnd:\t0\n", 0, 0x1ffffffffff,
     true},
    {"nobody", "CapInh:\t1\nCapEff:\t0000000000000000\n", 0, 0, false},
    {"CAP_PERFMON", "CapEff:\t0000004000000000", 0, 0x4000000000, true},
    {"CAP_SYS_ADMIN", "CapEff:\t0000000000200000\n", 0, 0x200000, true},
    {"all others", "CapEff:\t000001bfffdfffff\n", 0, 0x1bfffdfffff, false},
    {"the name of a process", "Name:\tCapEff:\nCapEff:\t1\n", 0, 1, false},
    {"no such line", "Name:\tgtel\nCapBnd:\t1\n", -ENODATA, 0, false},
    {"nothing", "", -ENODATA, 0, false},
    {"no number", "CapEff:\n", -EINVAL, 0, false},
    {"no hexadecimal number", "CapEff:\txyz\n", -EINVAL, 0, false},
    {"too long", "CapEff:\t10000000000000000\n", -ERANGE, 0, false},
};

int main(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t set = 0;
        test_label = cases[i].label;
        CHECK_INT(gtel_capabilities_parse(gtel_str_of(cases[i].text), &set), cases[i].rc);
        CHECK_INT(set, cases[i].set);
        CHECK(gtel_capabilities_perfmon(set) == cases[i].has_perfmon);
    }
    return test_result();
}
