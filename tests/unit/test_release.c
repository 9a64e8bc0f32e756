/* SPDX-License-Identifier: MIT */
/* The release of a kernel. */
#include "parse/proc.h"
#include "harness/test.h"

#include <errno.h>

static const struct {
    const char *text;
    int rc;
    uint32_t major;
    uint32_t minor;
    bool is_6_16;
} cases[] = {
    {"6.16.0-rc1-amd64", 0, 6, 16, true},
    {"6.16", 0, 6, 16, true},
    {"6.15.11", 0, 6, 15, false},
    {"7.0.0+", 0, 7, 0, true},
    {"5.100.1", 0, 5, 100, false},
    {"6.9.3-76060903-generic", 0, 6, 9, false},
    {"6", -EINVAL, 0, 0, false},
    {"6.", -EINVAL, 0, 0, false},
    {".16", -EINVAL, 0, 0, false},
    {"v6.16", -EINVAL, 0, 0, false},
    {"6 .16", -EINVAL, 0, 0, false},
    {"6.-1", -EINVAL, 0, 0, false},
    {"4294967296.1", -EINVAL, 0, 0, false},
    {"", -EINVAL, 0, 0, false},
};

int main(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gtel_release release = {0, 0};
        test_label = cases[i].text;
        CHECK_INT(gtel_release_parse(gtel_str_of(cases[i].text), &release), cases[i].rc);
        CHECK_INT(release.major, cases[i].major);
        CHECK_INT(release.minor, cases[i].minor);
        CHECK(gtel_release_is_at_least(&release, 6, 16) == cases[i].is_6_16);
    }
    return test_result();
}
