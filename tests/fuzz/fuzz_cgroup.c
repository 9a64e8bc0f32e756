/* SPDX-License-Identifier: MIT */
/* Fuzz target: where a process runs. */
#include "fuzz/fuzz.h"
#include "parse/cgroup.h"

#include <string.h>

/* Ends in NUL, and is as clean as it can be. */
static void check(const char *text, size_t size)
{
    char again[GTEL_CGROUP_UNIT_MAX];
    FUZZ_CHECK(memchr(text, '\0', size) != NULL);
    gtel_str_clean(again, size, gtel_str_of(text));
    FUZZ_CHECK(gtel_str_eq(gtel_str_of(text), gtel_str_of(again)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gtel_cgroup cgroup;
    if (gtel_cgroup_parse(fuzz_text(data, size), &cgroup) < 0)
        return 0;
    check(cgroup.unit, sizeof(cgroup.unit));
    check(cgroup.container, sizeof(cgroup.container));
    check(cgroup.pod, sizeof(cgroup.pod));
    return 0;
}
