/* SPDX-License-Identifier: MIT */
/* Why a value is missing: the list. */
#include "pipeline/finding.h"
#include "harness/alloc_fault.h"
#include "harness/test.h"

#include <errno.h>
#include <stdio.h>

/* What differs in one of these is another finding; in anything else, the same. */
static void test_same(void)
{
    struct gtel_device device[2] = {{.key = "a"}, {.key = "b"}};
    const struct gtel_finding findings[] = {
        {.device = &device[0], .measurement = 1, .source = 1, .what = GTEL_STR_INIT("x")},
        {.device = &device[1], .measurement = 1, .source = 1, .what = GTEL_STR_INIT("x")},
        {.device = NULL, .measurement = 1, .source = 1, .what = GTEL_STR_INIT("x")},
        {.device = &device[0], .measurement = 2, .source = 1, .what = GTEL_STR_INIT("x")},
        {.device = &device[0], .measurement = 1, .source = 2, .what = GTEL_STR_INIT("x")},
        {.device = &device[0], .measurement = 1, .source = 1, .what = GTEL_STR_INIT("y")},
    };
    struct gtel_findings list = {.source = 0};
    test_label = "the same";
    for (size_t i = 0; i < sizeof(findings) / sizeof(findings[0]); i++) {
        struct gtel_finding again = findings[i];
        gtel_finding_add(&list, &findings[i]);
        CHECK_INT(list.n, i + 1);
        again.error = -EIO;
        again.why = GTEL_STR("for another reason");
        gtel_finding_add(&list, &again);
        CHECK_INT(list.n, i + 1);
        CHECK_INT(list.finding[i].error, 0);
        CHECK_INT(list.finding[i].source, findings[i].source);
    }
    CHECK_INT(list.dropped, 0);
    gtel_findings_done(&list);
    test_label = "";
}

/* Without memory, for the list or one of the texts, one is lost, and counted. */
static void test_no_memory(void)
{
    enum { LONG = 100000 }; /* each has memory of its own */
    static char words[LONG + 1];
    const char *const text[3] = {words, words, words};
    memset(words, 'x', LONG);
    test_label = "no memory";
    for (uint64_t at = 1; at <= 5; at++) {
        struct gtel_findings list = {.source = 0};
        alloc_fault_arm(at);
        gtel_finding_put(&list, NULL, GTEL_MEASUREMENT_GPU, 0, text);
        alloc_fault_arm(0);
        CHECK_INT(list.n, at > 4);
        CHECK_INT(list.dropped, at <= 4);
        gtel_finding_put(&list, NULL, GTEL_MEASUREMENT_GPU, 0, text);
        CHECK_INT(list.n, 1);
        gtel_findings_done(&list);
    }
    test_label = "";
}

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
    test_same();
    test_no_memory();
    return test_result();
}
