/* SPDX-License-Identifier: MIT */
/* Fuzz target: where a process runs. */
#include "fuzz/fuzz.h"
#include "parse/cgroup.h"
#include "parse/job.h"

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
    struct gtel_str text = fuzz_text(data, size);
    struct gtel_cgroup cgroup;
    struct gtel_str number;
    if (gtel_job_title(text, &number))
        FUZZ_CHECK(number.n > 0 && number.n <= 10 && number.p >= text.p);
    if (gtel_cgroup_parse(text, &cgroup) < 0)
        return 0;
    const struct gtel_str step = cgroup.job_step;
    FUZZ_CHECK(step.n == 0 || (step.p > text.p && step.p + step.n <= text.p + text.n));
    FUZZ_CHECK(step.n == 0 || (cgroup.is_sluid && cgroup.job[0] == 's'));
    check(cgroup.job, sizeof(cgroup.job));
    check(cgroup.unit, sizeof(cgroup.unit));
    check(cgroup.container, sizeof(cgroup.container));
    check(cgroup.pod, sizeof(cgroup.pod));
    return 0;
}
