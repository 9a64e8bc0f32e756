/* SPDX-License-Identifier: MIT */
/* The capabilities of a process. */
#include "parse/proc.h"
#include "harness/test.h"

#include <errno.h>

static const struct {
    const char *label;
    const char *text;
    int rc;
    uint64_t set;
} cases[] = {
    {"root", "Name:\tgtel\nCapPrm:\t0\nCapEff:\t000001ffffffffff\nCapBnd:\t0\n", 0, 0x1ffffffffff},
    {"nobody", "CapInh:\t1\nCapEff:\t0000000000000000\n", 0, 0},
    {"CAP_PERFMON", "CapEff:\t0000004000000000", 0, 0x4000000000},
    {"CAP_SYS_ADMIN", "CapEff:\t0000000000200000\n", 0, 0x200000},
    {"all others", "CapEff:\t000001bfffdfffff\n", 0, 0x1bfffdfffff},
    {"the name of a process", "Name:\tCapEff:\nCapEff:\t1\n", 0, 1},
    {"no such line", "Name:\tgtel\nCapBnd:\t1\n", -ENODATA, 0},
    {"nothing", "", -ENODATA, 0},
    {"no number", "CapEff:\n", -EINVAL, 0},
    {"no hexadecimal number", "CapEff:\txyz\n", -EINVAL, 0},
    {"too long", "CapEff:\t10000000000000000\n", -ERANGE, 0},
};

int main(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t set = 0;
        test_label = cases[i].label;
        CHECK_INT(gtel_capabilities_parse(gtel_str_of(cases[i].text), &set), cases[i].rc);
        CHECK_INT(set, cases[i].set);
    }
    return test_result();
}
