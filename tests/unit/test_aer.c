/* SPDX-License-Identifier: MIT */
/* The error counts of a PCIe device. */
#include "parse/pcie.h"
#include "harness/test.h"

#include <errno.h>

static const struct {
    const char *label;
    const char *text;
    int rc;
    uint64_t want;
} cases[] = {
    {"a kernel's file", "RxErr 1\nBadTLP 2\nTimeout 0\nTOTAL_ERR_COR 3\n", 0, 3},
    {"no newline at the end", "RxErr 0\nTOTAL_ERR_COR 18446744073709551615", 0, UINT64_MAX},
    {"the sum alone", "TOTAL_ERR_COR 7\n", 0, 7},
    {"not at the end", "TOTAL_ERR_COR 7\nOther 1\n\n", 0, 7},
    {"two sums: the last", "TOTAL_ERR_COR 7\nTOTAL_ERR_COR 8\n", 0, 8},
    {"a name that is not the sum's", "TOTAL_ERRORS 7\n", -ENODATA, 0},
    {"another severity", "TOTAL_ERR_FATAL 7\n", 0, 7},
    {"no number", "TOTAL_ERR_COR\n", -EINVAL, 0},
    {"no plain number", "TOTAL_ERR_COR -1\n", -EINVAL, 0},
    {"two numbers", "TOTAL_ERR_COR 1 2\n", -EINVAL, 0},
    {"too large", "TOTAL_ERR_COR 18446744073709551616\n", -ERANGE, 0},
    {"empty", "", -ENODATA, 0},
    {"blank lines", "\n\n\n", -ENODATA, 0},
};

int main(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t got = 0;
        test_label = cases[i].label;
        CHECK_INT(gtel_aer_total(gtel_str_of(cases[i].text), &got), cases[i].rc);
        CHECK(got == cases[i].want);
    }
    return test_result();
}
