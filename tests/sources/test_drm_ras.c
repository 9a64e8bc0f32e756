/* SPDX-License-Identifier: MIT */
/* Source drm_ras: counters, sleep, refusal, absence and failures. */
#include "harness/findings.h"
#include "harness/source_harness.h"
#include "harness/test.h"

#include <errno.h>
#include <stdlib.h>

#define DEVICE "sys/devices/pci0000:00/0000:03:00.0"
#define CARD                                                                                       \
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:03:00.0/drm/card0\n"                \
    "link " DEVICE "/drm/card0/device -> ../../../0000:03:00.0\n"                                  \
    "file " DEVICE "/uevent\n| DRIVER=xe\n| PCI_SLOT_NAME=0000:03:00.0\n"
#define ID(id)                                                                                     \
    "file " DEVICE "/uevent\n| DRIVER=xe\n| PCI_ID=8086:" id "\n| PCI_SLOT_NAME=0000:03:00.0\n"
#define RELEASE(text) "file proc/sys/kernel/osrelease\n| " text "\n"
#define STATUS(status) "file " DEVICE "/power/runtime_status\n| " status "\n"
#define RAS(node, name, value) "ras 0000:03:00.0 " node " " name " " value "\n"

static int64_t errors(const struct machine *machine, const char *kind, const char *severity)
{
    const struct gtel_reading *got =
        machine_find(machine, NULL, GTEL_M_ERROR_COUNT, kind, severity);
    return got ? (int64_t)got->value.u64 : -1;
}

static void test_counters(void)
{
    static const char text[] = CARD STATUS("suspended") RAS(
        "correctable-errors", "core-compute", "3") RAS("uncorrectable-errors", "core-compute", "1")
        RAS("uncorrectable-errors", "device-memory", "4294967295")
            RAS("other-errors", "pcie",
                "2") "ras 0000:04:00.0 correctable-errors pcie 9\n"
                     "at 1s\n" STATUS("active") "at 2s\nras_error ETIMEDOUT\n"
                                                "at 4s\nras_error none\n" RAS("correctable-errors",
                                                                              "core-compute",
                                                                              "4") "end\n";
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "drm_ras")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(machine.batch.n, 0); /* it sleeps */
    machine_step(&machine, 1000);
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(machine.batch.n, 4);
    CHECK_INT(errors(&machine, "core-compute", "corrected"), 3);
    CHECK_INT(errors(&machine, "core-compute", "uncorrected"), 1);
    CHECK_INT(errors(&machine, "device-memory", "uncorrected"), 4294967295);
    CHECK_INT(errors(&machine, "pcie", "other-errors"), 2);
    for (int i = 0; i < 2; i++) {
        machine_step(&machine, 1000);
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(machine.batch.n, 0);
        CHECK_INT(machine.batch.failed[0], 1);
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 1); /* said once */
    }
    machine_step(&machine, 1000);
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(errors(&machine, "core-compute", "corrected"), 4);
    CHECK_INT(machine.fault->logs[GTEL_LOG_INFO], 1);
    machine_done(&machine);
}

#define ASKED "drm-ras (generic netlink): "
#define RIGHT ASKED "1: the error counters are for administrators: give the program CAP_NET_ADMIN"
#define OTHERS ASKED "0: xe counts the errors of Ponte Vecchio and Crescent Island only: "

/*
 * Asked once for each search for devices: neither a right nor a kernel comes in between. A right is
 * asked for where it would bring something.
 */
static void test_refused(void)
{
    static const struct {
        const char *label;
        const char *text;
        int error; /* of the finding */
        uint64_t warnings;
        const char *says[1];
    } cases[] = {
        {"Ponte Vecchio",
         CARD ID("0BD5") RELEASE("7.1.0") "ras_error EPERM\nend\n",
         -EPERM,
         1,
         {RIGHT}},
        {"Crescent Island", CARD ID("674C") "ras_error EPERM\nend\n", -EPERM, 1, {RIGHT}},
        {"Battlemage", CARD ID("E20B") "ras_error EPERM\nend\n", 0, 0, {OTHERS}},
        {"not known", CARD "ras_error EPERM\nend\n", 0, 0, {OTHERS}},
        {"Battlemage, none", CARD ID("E20B") RELEASE("6.17.0") "end\n", 0, 0, {OTHERS}},
        {"an older kernel",
         CARD ID("0BD5") RELEASE("6.17.0") "end\n",
         -ENOENT,
         0,
         {ASKED "2: Linux has it since 7.1: use Linux 7.1 or newer"}},
        {"another build",
         CARD ID("0BD5") RELEASE("7.1.0") "end\n",
         -ENOENT,
         0,
         {ASKED "2: this kernel is built without it: "}},
        {"broken",
         CARD ID("E20B") "ras_error EIO\nend\n",
         -EIO,
         1,
         {ASKED "5: asking for the error counters fails: "}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gtel_findings findings = {0};
        struct machine machine;
        test_label = cases[i].label;
        if (!CHECK(machine_init(&machine, cases[i].text, "drm_ras")))
            return;
        for (int g = 0; g < 3; g++) {
            machine.needs_discovery = g != 1;
            CHECK_INT(machine_gather(&machine), 0);
            CHECK_INT(machine.batch.n, 0);
            CHECK_INT(machine.batch.failed[0], cases[i].error == -EIO);
        }
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], cases[i].warnings);
        machine.source->diagnose(machine.state, &machine.registry, &findings);
        if (CHECK(findings.n == 1)) {
            CHECK_INT(findings.finding[0].error, cases[i].error);
        }
        check_findings(&findings, cases[i].says, 1);
        gtel_findings_done(&findings);
        machine_done(&machine);
    }
    test_label = "";
}

static void test_faults(void)
{
    static const char text[] = CARD STATUS("active") RAS("correctable-errors", "pcie", "3") "end\n";
    static const int errors[] = {-EIO, -ENODEV, -EPERM, -ENOENT, 0};
    CHECK(machine_fail_in_turn(text, "drm_ras", errors) > 5);
}

int main(void)
{
    test_counters();
    test_refused();
    test_faults();
    return test_result();
}
