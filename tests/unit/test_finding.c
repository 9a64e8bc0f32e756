/* SPDX-License-Identifier: MIT */
/* Why a value is missing: the list. */
#include "pipeline/finding.h"
#include "harness/test.h"

#include <errno.h>
#include <stdio.h>

int main(void)
{
    struct gtel_findings findings = {.source = 3};
    struct gtel_device device = {.key = "0000:03:00.0"};
    static const char *const refused[3] = {"i915 PMU", "the right is missing", "give CAP_PERFMON"};
    static const char *const bare[3] = {NULL, NULL, NULL};
    gtel_finding_put(&findings, &device, GTEL_MEASUREMENT_GPU_ENGINE, -EACCES, refused);
    gtel_finding_put(&findings, &device, GTEL_MEASUREMENT_GPU_ENGINE, -EPERM, refused);
    gtel_finding_put(&findings, NULL, GTEL_MEASUREMENT_GPU_ENGINE, 0, bare);
    CHECK_INT(findings.n, 2);
    CHECK_STR(findings.finding[0].what, "i915 PMU");
    CHECK_STR(findings.finding[0].why, "the right is missing");
    CHECK_STR(findings.finding[0].fix, "give CAP_PERFMON");
    CHECK_INT(findings.finding[0].error, -EACCES);
    CHECK_INT(findings.finding[0].source, 3);
    CHECK_INT(findings.finding[0].lacks_plus_1, 0);
    CHECK_INT(findings.finding[1].what.n, 0);
    gtel_finding_put_lack(&findings, &device, GTEL_MEASUREMENT_GPU_POWER_DOMAIN, GTEL_M_GPU_ENERGY,
                          -ENOENT, refused);
    CHECK_INT(findings.finding[2].lacks_plus_1, GTEL_M_GPU_ENERGY + 1);
    CHECK_INT(findings.finding[2].measurement, GTEL_MEASUREMENT_GPU_POWER_DOMAIN);
    for (int i = 0; i < GTEL_FINDINGS_MAX + 10; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "file%d", i);
        const char *const text[3] = {name, NULL, NULL};
        gtel_finding_put(&findings, &device, GTEL_MEASUREMENT_GPU_FAN, -EIO, text);
    }
    CHECK_INT(findings.n, GTEL_FINDINGS_MAX);
    CHECK_INT(findings.dropped, 13);
    gtel_findings_done(&findings);
    CHECK_INT(findings.n, 0);
    return test_result();
}
