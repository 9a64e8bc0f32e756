/* SPDX-License-Identifier: MIT */
/* Source amdgpu_ras: counts by block, bad pages, replays; once a minute, asleep, in a reset. */
#include "harness/findings.h"
#include "harness/source_harness.h"
#include "harness/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define DEVICE "sys/devices/pci0000:00/0000:03:00.0"
#define CARD                                                                                       \
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:03:00.0/drm/card0\n"                \
    "link " DEVICE "/drm/card0/device -> ../../../0000:03:00.0\n"                                  \
    "file " DEVICE "/uevent\n| DRIVER=amdgpu\n| PCI_SLOT_NAME=0000:03:00.0\n"
#define STATUS(status) "file " DEVICE "/power/runtime_status\n| " status "\n"
#define UMC(ue, ce) "file " DEVICE "/ras/umc_err_count\n| ue: " ue "\n| ce: " ce "\n"
#define PAGE(state) "| 0x027f5d43 : 0x00001000 : " state "\n"
#define REPLAYS(n) "file " DEVICE "/pcie_replay_count\n| " n "\n"

enum { NONE = -1 };

static int64_t errors(const struct machine *machine, const char *kind, const char *severity)
{
    const struct gtel_reading *got =
        machine_find(machine, NULL, GTEL_M_ERROR_COUNT, kind, severity);
    return got ? (int64_t)got->value.u64 : NONE;
}

static int64_t replays(const struct machine *machine)
{
    const struct gtel_reading *got =
        machine_find(machine, NULL, GTEL_M_GPU_PCIE_REPLAYS, NULL, NULL);
    return got ? (int64_t)got->value.u64 : NONE;
}

static void test_counts(void)
{
    static const char text[] = CARD STATUS("active") UMC("2", "17")
        REPLAYS("5") "file " DEVICE "/ras/aca_gfx\n| ue: 0\n| ce: 1\n| de: 3\n"
                     "file " DEVICE "/ras/gfx_err_count\n| ue: 9\n| ce: 9\n"
                     "file " DEVICE "/ras/mmsch_err_count\n| ue: 0\n| ce: 0\n"
                     "file " DEVICE "/ras/athub_err_count\n| Query currently inaccessible\n"
                     "error " DEVICE "/ras/hdp_err_count EINVAL\n"
                     "file " DEVICE "/ras/other_err_count\n| ue: 1\n| ce: 1\n"
                     "file " DEVICE "/ras/features\n| feature mask: 0x5\n"
                     "file " DEVICE "/ras/gpu_vram_bad_pages\n" PAGE("R") PAGE("P")
                         PAGE("R") "end\n";
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "amdgpu_ras")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(errors(&machine, "umc", "uncorrected"), 2);
    CHECK_INT(errors(&machine, "umc", "corrected"), 17);
    CHECK_INT(errors(&machine, "umc", "deferred"), NONE);
    CHECK_INT(errors(&machine, "gfx", "uncorrected"), 0);
    CHECK_INT(errors(&machine, "gfx", "corrected"), 1);
    CHECK_INT(errors(&machine, "gfx", "deferred"), 3);
    CHECK_INT(errors(&machine, "mmsch", "corrected"), 0);
    CHECK_INT(errors(&machine, "bad-pages", "retired"), 2);
    CHECK_INT(errors(&machine, "bad-pages", "pending"), 1);
    CHECK_INT(errors(&machine, "bad-pages", "failed"), 0);
    CHECK_INT(replays(&machine), 5);
    CHECK_INT(machine.batch.n, 2 + 3 + 2 + 3 + 1);
    CHECK_INT(machine.batch.failed[0], 0);
    CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 0);
    machine_done(&machine);
}

static void count_read(void *arg, enum fault_op op, const char *path)
{
    if (op == FAULT_READ && gtel_str_ends(gtel_str_of(path), GTEL_STR("ras/umc_err_count")))
        ++*(uint64_t *)arg;
}

/* What is read in a minute, and repeated in between; asleep neither. */
static void test_minute(void)
{
    static const char text[] = CARD STATUS("suspended") UMC("0", "1") "at 10s\n" STATUS(
        "active") "at 20s\n" UMC("0", "2") "at 100s\n" STATUS("suspended") UMC("0", "3") "end\n";
    static const struct {
        uint64_t at_s;
        int64_t want;
        uint64_t reads;
    } steps[] = {{0, NONE, 0}, {10, 1, 1}, {20, 1, 1},  {69, 1, 1},
                 {70, 2, 2},   {99, 2, 2}, {100, 2, 2}, {130, NONE, 2}};
    struct machine machine;
    uint64_t now_s = 0;
    uint64_t reads = 0;
    if (!CHECK(machine_init(&machine, text, "amdgpu_ras")))
        return;
    machine.fault->watch = count_read;
    machine.fault->watch_arg = &reads;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        machine_step(&machine, (steps[i].at_s - now_s) * 1000);
        now_s = steps[i].at_s;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(errors(&machine, "umc", "corrected"), steps[i].want);
        CHECK_INT(reads, steps[i].reads);
    }
    machine_done(&machine);
}

/* Absent while a reset runs, and there again in the gather after it; said once. */
static void test_reset(void)
{
    static const char text[] = CARD STATUS("active") UMC("0", "1")
        REPLAYS("5") "at 65s\n"
                     "error " DEVICE "/ras/umc_err_count EIO\nat 67s\n" UMC("0", "2") "end\n";
    struct gtel_findings findings = {0};
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "amdgpu_ras")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(errors(&machine, "umc", "corrected"), 1);
    machine_step(&machine, 65000);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(errors(&machine, "umc", "corrected"), NONE);
        CHECK_INT(replays(&machine), 5);
        CHECK_INT(machine.batch.failed[0], 1);
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 1);
        machine_step(&machine, 1000);
    }
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(errors(&machine, "umc", "corrected"), 2);
    CHECK_INT(machine.fault->logs[GTEL_LOG_INFO], 1);
    machine.source->diagnose(machine.state, &machine.registry, &findings);
    CHECK_INT(findings.n, 0);
    gtel_findings_done(&findings);
    machine_done(&machine);
}

#define NO_RAS                                                                                     \
    "ras/umc_err_count: 0: the driver counts no errors of this GPU: boards without ECC have "      \
    "none: "
/* Texts that no driver writes are no counts; a GPU without RAS; one with the replays elsewhere. */
static void test_others(void)
{
    static const struct {
        const char *label;
        const char *text;
        size_t readings;
        uint64_t failed;
        const char *says[2];
    } cases[] = {
        {"no RAS", CARD "end\n", 0, 0, {NO_RAS}},
        {"a count that is none",
         CARD "file " DEVICE "/ras/umc_err_count\n| ue: x\nend\n",
         0,
         1,
         {"umc: 74: : "}},
        {"no list of pages",
         CARD "file " DEVICE "/ras/gpu_vram_bad_pages\n| none\nend\n",
         0,
         1,
         {"gpu_vram_bad_pages: 74: : ", NO_RAS}},
        {"no bad page", CARD "file " DEVICE "/ras/gpu_vram_bad_pages\nend\n", 3, 0, {NO_RAS}},
        {"replays that nobody counts", CARD REPLAYS("0") "end\n", 0, 0, {NO_RAS}},
        {"one replay", CARD REPLAYS("1") "end\n", 1, 0, {NO_RAS}},
        {"replays in the table",
         CARD REPLAYS("5") "file " DEVICE "/current_compute_partition\n| SPX\nend\n",
         0,
         0,
         {NO_RAS}},
        {"another driver",
         "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:03:00.0/drm/card0\n"
         "link " DEVICE "/drm/card0/device -> ../../../0000:03:00.0\n"
         "file " DEVICE
         "/uevent\n| DRIVER=radeon\n| PCI_SLOT_NAME=0000:03:00.0\n" REPLAYS("5") "end\n",
         0,
         0,
         {NULL}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gtel_findings findings = {0};
        struct machine machine;
        test_label = cases[i].label;
        if (!CHECK(machine_init(&machine, cases[i].text, "amdgpu_ras")))
            break;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(machine.batch.n, cases[i].readings);
        CHECK_INT(machine.batch.failed[0], cases[i].failed);
        machine.source->diagnose(machine.state, &machine.registry, &findings);
        check_findings(&findings, cases[i].says, 2);
        gtel_findings_done(&findings);
        machine_done(&machine);
    }
    test_label = "";
}

#define PARTS                                                                                      \
    CARD "file " DEVICE "/ras/umc_err_count\n| ue: 0\n| ce: 1\n" REPLAYS(                          \
        "5") "file " DEVICE "/ras/gpu_vram_bad_pages\n" PAGE("R")

/* What may not be opened is the discovery's error; a device that has gone is the gather's. */
static void test_refused(void)
{
    static const char *const files[] = {
        DEVICE "/ras/umc_err_count", DEVICE "/ras/gpu_vram_bad_pages", DEVICE "/pcie_replay_count"};
    for (size_t i = 0; i < 2 * sizeof(files) / sizeof(files[0]); i++) {
        static char text[8192];
        struct machine machine;
        bool is_gone = i % 2 == 1;
        (void)snprintf(text, sizeof(text), "%s%s %s %s\nend\n", PARTS, is_gone ? "error" : "refuse",
                       files[i / 2], is_gone ? "ENODEV" : "EACCES");
        test_label = files[i / 2];
        if (!CHECK(machine_init(&machine, text, "amdgpu_ras")))
            break;
        CHECK_INT(machine_gather(&machine), is_gone ? -ENODEV : -EACCES);
        machine_done(&machine);
    }
    test_label = "";
}

static void test_faults(void)
{
    static const char text[] = PARTS "end\n";
    static const int errors[] = {-EIO, -ENODEV, -EACCES, -EMFILE, 0};
    CHECK(machine_fail_in_turn(text, "amdgpu_ras", errors) > 30);
}

int main(void)
{
    test_counts();
    test_minute();
    test_reset();
    test_others();
    test_refused();
    test_faults();
    return test_result();
}
