/* SPDX-License-Identifier: MIT */
/* What the NVML source says of values that it has not: what was asked, why, and what helps. */
#include "harness/nvml_machine.h"
#include "harness/test.h"

#include <errno.h>

#define GPU "sys/bus/pci/devices/0000:19:00.0/"
#define PCI_GPU(status)                                                                            \
    "file " GPU "vendor\n| 0x10de\nfile " GPU "class\n| 0x030000\n"                                \
    "dir sys/bus/pci/drivers/nvidia\nlink " GPU "driver -> ../../drivers/nvidia\n"                 \
    "file " GPU "power/runtime_status\n| " status "\n"
#define DENIED "run gtel as root, or in a container with the device nodes"

static const struct diagnose_case {
    const char *label;
    const char *text;
    unsigned gathers;
    enum gtel_measurement group;
    const char *what; /* part of a finding of that group, about the first GPU or the machine */
    const char *why;  /* part of it; NULL: there is no such finding */
    const char *fix;  /* the whole; "": none */
} cases[] = {
    {"two drivers", "call nvmlInit_v2 = !18\n", 2, GTEL_MEASUREMENT_GPU, "nvmlInit_v2",
     "it answers code 18: ", NULL},
    {"no module", "call nvmlInit_v2 = !9\n", 2, GTEL_MEASUREMENT_GPU, "nvmlInit_v2",
     "it answers code 9: ", NULL},
    {"all is well", "", 2, GTEL_MEASUREMENT_GPU, "nvmlInit", NULL, NULL},
    {"lost", "at 1s\ncall nvmlDeviceGetUtilizationRates 0 = !15\n", 4, GTEL_MEASUREMENT_GPU, "NVML",
     "lost or needs a reset (NVML code 15)", "nvidia-smi --gpu-reset, or reboot"},
    {"reset required", "at 1s\ncall nvmlDeviceGetUtilizationRates 0 = !16\n", 4,
     GTEL_MEASUREMENT_GPU, "NVML", "(NVML code 16)", "nvidia-smi --gpu-reset, or reboot"},
    {"asleep", PCI_GPU("suspended"), 2, GTEL_MEASUREMENT_GPU, "power/runtime_status",
     "suspended: nothing is read", ""},
    {"awake", PCI_GPU("active"), 2, GTEL_MEASUREMENT_GPU, "power/runtime_status", NULL, NULL},
    {"one call fails", "call nvmlDeviceGetUtilizationRates 0 = !999\n", 2, GTEL_MEASUREMENT_GPU,
     "nvmlDeviceGetUtilizationRates", "readings failed, this one first, with code 999", ""},
    {"not there", "call nvmlDeviceGetFanSpeed_v2 0 0 = !3\ncall nvmlDeviceGetFanSpeed 0 = !3\n", 2,
     GTEL_MEASUREMENT_GPU_FAN, "nvmlDeviceGetFanSpeed", "this GPU or driver does not support it",
     ""},
    {"refused", "call nvmlDeviceGetFanSpeed_v2 0 0 = !4\ncall nvmlDeviceGetFanSpeed 0 = !4\n", 2,
     GTEL_MEASUREMENT_GPU_FAN, "nvmlDeviceGetFanSpeed", "does not support it", DENIED},
    {"there", "", 2, GTEL_MEASUREMENT_GPU_FAN, "nvmlDeviceGetFanSpeed_v2", NULL, NULL},
};

static bool has_text(struct gtel_str text, const char *part)
{
    for (size_t i = 0; i <= text.n; i++)
        if (gtel_str_starts(gtel_str_skip(text, i), gtel_str_of(part)))
            return true;
    return false;
}

static void check_case(const struct diagnose_case *c, const struct gtel_findings *findings)
{
    size_t found = 0;
    for (size_t i = 0; i < findings->n; i++) {
        const struct gtel_finding *finding = &findings->finding[i];
        if (finding->measurement != c->group || !has_text(finding->what, c->what) ||
            (finding->device && strcmp(finding->device->key, "0000:19:00.0") != 0))
            continue;
        found++;
        CHECK(!c->why || has_text(finding->why, c->why));
        if (c->fix)
            CHECK_STR(finding->fix, c->fix);
    }
    if (!CHECK(found == (c->why ? 1 : 0)))
        for (size_t i = 0; i < findings->n; i++)
            printf("    %u: %.*s: %.*s\n", findings->finding[i].measurement,
                   GTEL_STR_ARG(findings->finding[i].what), GTEL_STR_ARG(findings->finding[i].why));
}

static void test_cases(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_findings findings = {0};
        struct machine m;
        test_label = cases[i].label;
        if (!begin(&m, cases[i].text))
            continue;
        for (unsigned k = 0; k < cases[i].gathers; k++)
            gather(&m, 1);
        gtel_group_diagnose(&m.group, &findings);
        check_case(&cases[i], &findings);
        gtel_findings_done(&findings);
        finish(&m);
    }
    test_label = "";
}

static void test_no_library(void)
{
    static const struct diagnose_case none = {
        "no library", "", 2, GTEL_MEASUREMENT_GPU, "libnvidia-ml.so.1", "cannot be opened", NULL};
    struct gtel_findings findings = {0};
    struct machine m;
    test_label = none.label;
    if (!begin(&m, none.text))
        return;
    spy.open_error = -ENOENT;
    gather(&m, 1);
    gtel_group_diagnose(&m.group, &findings);
    check_case(&none, &findings);
    CHECK(findings.n == 1 && has_text(findings.finding[0].fix, "apt install libnvidia-ml1"));
    gtel_findings_done(&findings);
    spy.opens = 0; /* there was nothing to close */
    spy.open_error = 0;
    finish(&m);
    test_label = "";
}

int main(void)
{
    test_cases();
    test_no_library();
    return test_result();
}
