/* SPDX-License-Identifier: MIT */
/* A clock's levels as amdgpu lists them. */
#include "parse/amd_texts.h"
#include "harness/test.h"

#include <errno.h>

/* NULs behind the text, as some captures have them. */
#define NULS                                                                                       \
    "0: 500Mhz *\n\0\0"                                                                            \
    "1: 700Mhz\n"

static const struct {
    const char *label;
    struct gtel_str text;
    int rc;
    uint64_t min;
    uint64_t max;
} cases[] = {
    {"Polaris", GTEL_STR_INIT("0: 300Mhz\n1: 608Mhz\n2: 910Mhz\n7: 1366Mhz *\n"), 0, 300, 1366},
    {"no star", GTEL_STR_INIT("0: 96Mhz\n1: 1000Mhz\n"), 0, 96, 1000},
    {"a star on each line", GTEL_STR_INIT("0: 96Mhz *\n1: 1000Mhz *\n"), 0, 96, 1000},
    {"a clock that is stopped", GTEL_STR_INIT("S: 19Mhz *\n0: 500Mhz\n1: 3115Mhz\n"), 0, 500, 3115},
    {"the clock of the moment in the middle", GTEL_STR_INIT("0: 200Mhz\n1: 1100Mhz *\n2: 2200Mhz"),
     0, 200, 2200},
    {"the clock of the moment below all levels",
     GTEL_STR_INIT("0: 500Mhz\n1: 31Mhz *\n2: 2219Mhz\n"), 0, 500, 2219},
    {"the clock of the moment above all levels",
     GTEL_STR_INIT("0: 500Mhz\n1: 2311Mhz *\n2: 2219Mhz\n"), 0, 500, 2219},
    {"one level beside the clock of the moment",
     GTEL_STR_INIT("S: 500Mhz\n1: 789Mhz *\n2: 2070Mhz\n"), -ENODATA, 0, 0},
    {"falling", GTEL_STR_INIT("0: 1600Mhz *\n1: 800Mhz\n2: 400Mhz\n"), 0, 400, 1600},
    {"one level", GTEL_STR_INIT("0: 1000Mhz *"), 0, 1000, 1000},
    {"blanks at the ends", GTEL_STR_INIT(" 0: 400Mhz * \n\n"), 0, 400, 400},
    {"another spelling", GTEL_STR_INIT("0: 400MHz\n1: 500mhz\n"), 0, 400, 400},
    {"NULs behind it", {NULS, sizeof(NULS) - 1}, 0, 500, 500},
    {"the largest", GTEL_STR_INIT("0: 1Mhz\n1: 20000Mhz\n"), 0, 1, 20000},
    {"above the largest", GTEL_STR_INIT("0: 700Mhz\n1: 20001Mhz\n"), 0, 700, 700},
    {"0 is no clock", GTEL_STR_INIT("0: 0Mhz *\n1: 900Mhz\n"), 0, 900, 900},
    {"overflow", GTEL_STR_INIT("0: 18446744073709551616Mhz\n1: 900Mhz\n"), 0, 900, 900},
    {"an unknown line", GTEL_STR_INIT("OD_SCLK:\n0: 500Mhz\n1: 2300Mhz\n"), 0, 500, 2300},
    {"more behind the star", GTEL_STR_INIT("0: 500Mhz * *\n1: 600Mhz x\n"), -ENODATA, 0, 0},
    {"PCIe", GTEL_STR_INIT("0: 2.5GT/s, x8 \n1: 8.0GT/s, x16 *\n"), -ENODATA, 0, 0},
    {"no unit", GTEL_STR_INIT("0: 500\n1: hz\n2: Mhz\n"), -ENODATA, 0, 0},
    {"no name", GTEL_STR_INIT(": 500Mhz\n500Mhz\n-1: 500Mhz\n"), -ENODATA, 0, 0},
    {"negative", GTEL_STR_INIT("0: -500Mhz\n"), -ENODATA, 0, 0},
    {"a newline", GTEL_STR_INIT("\n"), -ENODATA, 0, 0},
    {"empty", GTEL_STR_INIT(""), -ENODATA, 0, 0},
};

int main(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gtel_dpm range = {0};
        test_label = cases[i].label;
        CHECK_INT(gtel_dpm_parse(cases[i].text, &range), cases[i].rc);
        CHECK_INT(range.min_mhz, cases[i].min);
        CHECK_INT(range.max_mhz, cases[i].max);
    }
    return test_result();
}
