/* SPDX-License-Identifier: MIT */
/* Source drm_health: PCIe errors, the driver's verdict, survivability mode, virtual functions. */
#include "harness/findings.h"
#include "harness/alloc_fault.h"
#include "harness/source_harness.h"
#include "harness/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define DEVICE "sys/devices/pci0000:00/0000:03:00.0"
#define CARD(driver)                                                                               \
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:03:00.0/drm/card0\n"                \
    "link " DEVICE "/drm/card0/device -> ../../../0000:03:00.0\n"                                  \
    "file " DEVICE "/uevent\n| DRIVER=" driver "\n| PCI_SLOT_NAME=0000:03:00.0\n"
#define STATUS(status) "file " DEVICE "/power/runtime_status\n| " status "\n"
#define AER(cor, nonfatal, fatal)                                                                  \
    "file " DEVICE "/aer_dev_correctable\n| RxErr 0\n| BadTLP " cor "\n| TOTAL_ERR_COR " cor "\n"  \
    "file " DEVICE "/aer_dev_nonfatal\n| DLP 0\n| TOTAL_ERR_NONFATAL " nonfatal "\n"               \
    "file " DEVICE "/aer_dev_fatal\n| DLP 0\n| TOTAL_ERR_FATAL " fatal "\n"
#define VERDICT(word) "file " DEVICE "/gpu_health\n| " word "\n"
#define BOUND                                                                                      \
    "link sys/bus/pci/drivers/xe/0000:07:00.0 -> ../../../../devices/pci0000:00/0000:07:00.0\n"
#define IN_REPAIR                                                                                  \
    BOUND "refuse sys/devices/pci0000:00/0000:07:00.0/survivability_mode EACCES\n"                 \
          "file sys/devices/pci0000:00/0000:07:00.0/vendor\n| 0x8086\n"                            \
          "file sys/devices/pci0000:00/0000:07:00.0/device\n| 0xe20b\n"

/* The value of a reading, or -1. */
static int64_t value(const struct machine *machine, enum gtel_metric metric, const char *dim1)
{
    const struct gtel_reading *got = machine_find(machine, NULL, metric, NULL, dim1);
    return got ? (int64_t)got->value.u64 : -1;
}

static void test_errors(void)
{
    static const char text[] =
        CARD("xe") STATUS("suspended") AER("3", "2", "1") VERDICT("ok") "at 1s\n" STATUS(
            "active") "file " DEVICE "/aer_dev_fatal\n| TOTAL_ERR_FATAL x\n"
                      "at 2s\n" AER("4", "2", "1") "error " DEVICE "/aer_dev_nonfatal EIO\n"
                                                   "at 3s\n" AER("4", "2", "1") "end\n";
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "drm_health")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(value(&machine, GTEL_M_ERROR_COUNT, "corrected"), 3);
    CHECK_INT(value(&machine, GTEL_M_ERROR_COUNT, "nonfatal"), 2);
    CHECK_INT(value(&machine, GTEL_M_ERROR_COUNT, "fatal"), 1);
    CHECK_INT(value(&machine, GTEL_M_GPU_HEALTH, NULL), -1); /* it sleeps */
    for (int i = 0; i < 2; i++) {
        machine_step(&machine, 1000);
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(value(&machine, GTEL_M_GPU_HEALTH, NULL), 0);
        CHECK_INT(value(&machine, GTEL_M_ERROR_COUNT, "corrected"), 3 + i);
        CHECK_INT(value(&machine, GTEL_M_ERROR_COUNT, "fatal"), i == 0 ? -1 : 1);
        CHECK_INT(value(&machine, GTEL_M_ERROR_COUNT, "nonfatal"), i == 0 ? 2 : -1);
        CHECK_INT(machine.batch.failed[0], 1);
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 1); /* said once */
    }
    machine_step(&machine, 1000);
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(machine.batch.failed[0], 0);
    CHECK_INT(machine.fault->logs[GTEL_LOG_INFO], 1);
    machine_done(&machine);
}

static void test_verdict(void)
{
    static const struct {
        const char *text;
        int64_t want;
        uint64_t failed;
    } cases[] = {
        {CARD("xe") VERDICT("ok") "end\n", 0, 0},
        {CARD("xe") VERDICT("warning") "end\n", 1, 0},
        {CARD("xe") VERDICT("critical") "end\n", 2, 0},
        {CARD("xe") VERDICT("excellent") "end\n", -1, 1},
        {CARD("xe") "end\n", -1, 0},
        {CARD("i915") VERDICT("ok") "end\n", -1, 0},
        {CARD("xe") VERDICT("ok") "refuse " DEVICE "/survivability_mode EACCES\nend\n", 2, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct machine machine;
        test_label = cases[i].text;
        if (CHECK(machine_init(&machine, cases[i].text, "drm_health"))) {
            CHECK_INT(machine_gather(&machine), 0);
            CHECK_INT(value(&machine, GTEL_M_GPU_HEALTH, NULL), cases[i].want);
            CHECK_INT(machine.batch.failed[0], cases[i].failed);
        }
        machine_done(&machine);
    }
    test_label = "";
}

/* No card at all: a device that does not answer, until its firmware is written. */
static void test_repair(void)
{
    static const char text[] = IN_REPAIR "at 1s\ngone sys/bus/pci/drivers/xe/0000:07:00.0\nend\n";
    static const char healthy[] = BOUND "dir sys/devices/pci0000:00/0000:07:00.0\nend\n";
    struct gtel_findings findings = {0};
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "drm_health")))
        return;
    CHECK(gtel_source_present(machine.source, &machine.fault->env));
    CHECK(machine.source->is_indirect); /* so that `up` is 0 */
    CHECK_INT(machine_gather(&machine), 0);
    struct gtel_device *device = gtel_registry_find(&machine.registry, GTEL_STR("0000:07:00.0"));
    if (CHECK(device)) {
        CHECK(device->is_present);
        CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_PCI_ID]), "8086:e20b");
        CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_GPU]), "0000:07:00.0");
        CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_VENDOR]), "intel");
        CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_DRIVER]), "xe");
        CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_MODEL]), "Intel Arc B580");
    }
    CHECK_INT(value(&machine, GTEL_M_GPU_HEALTH, NULL), 2);
    machine.needs_discovery = true;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 1);
    machine.source->diagnose(machine.state, &machine.registry, &findings);
    CHECK_INT(findings.n, 1);
    machine_step(&machine, 1000);
    machine.needs_discovery = true;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK(device && !device->is_present);
    CHECK_INT(machine.batch.n, 0);
    gtel_findings_done(&findings);
    machine_done(&machine);
    if (!CHECK(machine_init(&machine, healthy, "drm_health")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(machine.registry.n, 0);
    machine_done(&machine);
}

/* Three devices without cards, of which one is repaired and another one comes. */
static void test_repairs(void)
{
#define REPAIR(bus)                                                                                \
    "link sys/bus/pci/drivers/xe/0000:" bus ":00.0 -> ../../../../devices/0000:" bus ":00.0\n"     \
    "file sys/devices/0000:" bus ":00.0/survivability_mode\n| 1\n"
    static const char text[] = REPAIR("07") REPAIR("08") REPAIR(
        "09") "at 1s\ngone sys/devices/0000:08:00.0/survivability_mode\n" REPAIR("0a") "end\n";
    static const char *const keys[] = {"0000:07:00.0", "0000:08:00.0", "0000:09:00.0",
                                       "0000:0a:00.0"};
    struct machine machine;
    test_label = "repairs";
    if (!CHECK(machine_init(&machine, text, "drm_health")))
        return;
    for (int n = 0; n < 3; n++) {
        machine.needs_discovery = true;
        CHECK_INT(machine_gather(&machine), 0);
        for (size_t i = 0; i < GTEL_ARRAY_LEN(keys); i++) {
            bool is_in_repair = i == (n == 0 ? 3 : 1) ? false : true;
            const struct gtel_reading *got =
                machine_find(&machine, keys[i], GTEL_M_GPU_HEALTH, NULL, NULL);
            const struct gtel_device *device =
                gtel_registry_find(&machine.registry, gtel_str_of(keys[i]));
            CHECK((got != NULL) == is_in_repair && (!got || got->value.u64 == 2));
            CHECK((device && device->is_present) == is_in_repair);
        }
        CHECK_INT(machine.batch.n, 3);
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], n == 0 ? 3 : 4);
        machine_step(&machine, 1000);
    }
    machine_done(&machine);
    test_label = "";
}

/* A card that has to be repaired says so once; again when it was well in between. */
static void test_repair_of_card(void)
{
    static const char text[] = CARD("xe") "link sys/bus/pci/drivers/xe/0000:03:00.0 -> "
                                          "../../../../devices/pci0000:00/0000:03:00.0\n"
                                          "file " DEVICE "/survivability_mode\n| 1\n"
                                          "at 2s\ngone " DEVICE "/survivability_mode\n"
                                          "at 3s\nfile " DEVICE "/survivability_mode\n| 1\nend\n";
    static const uint64_t warnings[] = {1, 1, 1, 2, 2};
    struct machine machine;
    test_label = "repair of a card";
    if (!CHECK(machine_init(&machine, text, "drm_health")))
        return;
    for (size_t n = 0; n < GTEL_ARRAY_LEN(warnings); n++) {
        machine.needs_discovery = true;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], warnings[n]);
        CHECK_INT(value(&machine, GTEL_M_GPU_HEALTH, NULL), n == 2 ? -1 : 2);
        CHECK(machine.registry.device[0]->is_present);
        machine_step(&machine, 1000);
    }
    machine_done(&machine);
    test_label = "";
}

/* A file that may not be opened is what the discovery reports; the rest is read all the same. */
static void test_refused(void)
{
    static const char *const names[] = {"correctable", "nonfatal", "fatal"};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(names); i++) {
        char text[2048];
        struct machine machine;
        test_label = names[i];
        (void)snprintf(text, sizeof(text), "%srefuse " DEVICE "/aer_dev_%s EACCES\nend\n",
                       CARD("i915") AER("3", "2", "1"), names[i]);
        if (!CHECK(machine_init(&machine, text, "drm_health")))
            return;
        CHECK_INT(machine_gather(&machine), -EACCES);
        machine.needs_discovery = false;
        machine.version = machine.cards.version;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(value(&machine, GTEL_M_ERROR_COUNT, "corrected"), i == 0 ? -1 : 3);
        CHECK_INT(value(&machine, GTEL_M_ERROR_COUNT, "nonfatal"), i == 1 ? -1 : 2);
        CHECK_INT(value(&machine, GTEL_M_ERROR_COUNT, "fatal"), i == 2 ? -1 : 1);
        machine_done(&machine);
    }
    test_label = "";
}

/* Folders that may not be listed: of that of services nothing is known, of xe's it is reported. */
static void test_refused_folders(void)
{
    static const struct {
        const char *folder;
        int want;
    } cases[] = {
        {"sys/bus/pci_express/drivers", 0},
        {"sys/bus/pci_express/drivers/aer", 0},
        {"sys/bus/pci/drivers/xe", -EACCES},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        char text[2048];
        struct machine machine;
        test_label = cases[i].folder;
        (void)snprintf(text, sizeof(text), "%s" BOUND "refuse %s EACCES\nend\n",
                       CARD("xe") AER("3", "0", "1"), cases[i].folder);
        if (!CHECK(machine_init(&machine, text, "drm_health")))
            return;
        CHECK_INT(machine_gather(&machine), cases[i].want);
        machine.needs_discovery = false;
        machine.version = machine.cards.version;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(value(&machine, GTEL_M_ERROR_COUNT, "corrected"), 3);
        CHECK_INT(value(&machine, GTEL_M_ERROR_COUNT, "nonfatal"), cases[i].want == 0 ? -1 : 0);
        machine_done(&machine);
    }
    test_label = "";
}

static void test_functions(void)
{
    static const char text[] =
        CARD("xe") "file " DEVICE "/sriov_numvfs\n| 2\nlink " DEVICE "/virtfn0 -> ../0000:03:00.1\n"
                   "link " DEVICE "/virtfn1 -> ../0000:03:00.2\nfile " DEVICE "/virtfnx\n| 1\n"
                   "at 1s\ngone " DEVICE "/virtfn0\ngone " DEVICE "/virtfn1\nend\n";
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "drm_health")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(value(&machine, GTEL_M_GPU_VIRTUAL_FUNCTIONS, NULL), 2);
    machine_step(&machine, 1000);
    machine.needs_discovery = true;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(value(&machine, GTEL_M_GPU_VIRTUAL_FUNCTIONS, NULL), 0);
    machine_done(&machine);
}

/* AMD's are counted by a source of their own, with which a plugin may be alone. */
static void test_amd(void)
{
    static const char text[] =
        CARD("amdgpu") STATUS("suspended") AER("3", "2", "1") IN_REPAIR "end\n";
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "amdgpu_health")))
        return;
    CHECK(gtel_source_present(machine.source, &machine.fault->env));
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(value(&machine, GTEL_M_ERROR_COUNT, "corrected"), 3);
    CHECK_INT(value(&machine, GTEL_M_ERROR_COUNT, "nonfatal"), 2);
    CHECK_INT(value(&machine, GTEL_M_ERROR_COUNT, "fatal"), 1);
    CHECK_INT(machine.batch.n, 3);
    machine_done(&machine);
    if (!CHECK(machine_init(&machine, text, "drm_health")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(value(&machine, GTEL_M_ERROR_COUNT, NULL), -1);
    machine_done(&machine);
}

#define SWITCH "sys/devices/pci0000:00/0000:00:01.1/0000:01:00.0/"
#define INNER SWITCH "0000:02:00.0/"
#define BEHIND(driver, vendor)                                                                     \
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:00:01.1/0000:01:00.0/0000:02:00.0/" \
    "0000:03:00.0/drm/card0\nlink " INNER "0000:03:00.0/drm/card0/device -> ../../../0000:03:00.0" \
    "\nfile " INNER "0000:03:00.0/uevent\n| DRIVER=" driver "\n| PCI_ID=" vendor ":56A0\n"         \
    "| PCI_SLOT_NAME=0000:03:00.0\n"
#define PORT(path, vendor, class)                                                                  \
    "file " path "vendor\n| 0x" vendor "\nfile " path "class\n| 0x" class "\n"
#define BRIDGES(vendor) PORT(INNER, vendor, "060400") PORT(SWITCH, vendor, "060400")
#define COUNT(path, file, word, n)                                                                 \
    "file " path "aer_dev_" file "\n| RxErr 9\n| TOTAL_ERR_" word " " n "\n"
#define COUNTED                                                                                    \
    COUNT(INNER "0000:03:00.0/", "correctable", "COR", "2")                                        \
    COUNT(SWITCH, "correctable", "COR", "4")                                                       \
    COUNT(SWITCH, "nonfatal", "NONFATAL", "0")                                                     \
    COUNT("sys/devices/pci0000:00/0000:00:01.1/", "correctable", "COR", "17")                      \
    COUNT("sys/devices/pci0000:00/0000:00:01.1/", "fatal", "FATAL", "1")                           \
    COUNT(INNER, "fatal", "FATAL", "5")

/* The errors of the slot, of a card with a switch of its own, also while it sleeps. */
static void test_ports(void)
{
    enum { NONE = -1 };
    static const struct {
        const char *source;
        const char *text;
        int64_t want[5]; /* corrected: GPU, card, slot; nonfatal of the card; fatal of the slot */
    } cases[] = {
        {"drm_health",
         BEHIND("xe", "8086") BRIDGES("8086") COUNTED "file " INNER
                                                      "0000:03:00.0/power/runtime_status\n"
                                                      "| suspended\nend\n",
         {2, 4, 17, NONE, 1}},
        {"amdgpu_health",
         BEHIND("amdgpu", "1002") BRIDGES("1002") COUNTED "end\n",
         {2, 4, 17, NONE, 1}},
        {"drm_health", /* one bridge */
         BEHIND("xe", "8086") PORT(INNER, "8086", "060400") COUNTED "end\n",
         {2, NONE, NONE, NONE, NONE}},
        {"drm_health", /* a host's switch */
         BEHIND("xe", "8086") BRIDGES("1000") COUNTED "end\n",
         {2, NONE, NONE, NONE, NONE}},
        {"amdgpu_health", /* no bridge */
         BEHIND("amdgpu", "1002") PORT(INNER, "1002", "040300") PORT(SWITCH, "1002", "060400")
             COUNTED "end\n",
         {2, NONE, NONE, NONE, NONE}},
        {"drm_health", /* a virtual function */
         BEHIND("xe", "8086") BRIDGES("8086") COUNTED
         "link " INNER "0000:03:00.0/physfn -> ../0000:03:00.1\ndir " INNER "0000:03:00.1\nend\n",
         {2, NONE, NONE, NONE, NONE}},
        {"drm_health",
         BEHIND("xe", "8086") BRIDGES("8086") "end\n",
         {NONE, NONE, NONE, NONE, NONE}},
    };
    static const char *const names[][2] = {{"pcie-aer", "corrected"},
                                           {"pcie-aer-card", "corrected"},
                                           {"pcie-aer-slot", "corrected"},
                                           {"pcie-aer-card", "nonfatal"},
                                           {"pcie-aer-slot", "fatal"}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct machine machine;
        size_t n = 0;
        test_label = cases[i].text;
        if (!CHECK(machine_init(&machine, cases[i].text, cases[i].source)))
            break;
        CHECK_INT(machine_gather(&machine), 0);
        for (size_t k = 0; k < GTEL_ARRAY_LEN(names); k++) {
            const struct gtel_reading *got =
                machine_find(&machine, NULL, GTEL_M_ERROR_COUNT, names[k][0], names[k][1]);
            CHECK_INT(got ? (int64_t)got->value.u64 : NONE, cases[i].want[k]);
            n += cases[i].want[k] != NONE;
        }
        CHECK_INT(machine.batch.n, n);
        machine_done(&machine);
    }
    test_label = "";
}

#define PORTS "dir sys/bus/pci_express/drivers/pcie_pme\n"
#define SERVICE                                                                                    \
    "link sys/bus/pci_express/drivers/aer/0000:00:01.0:pcie002 -> "                                \
    "../../../../devices/pci0000:00/0000:00:01.0/0000:00:01.0:pcie002\n"

#define COUNTS "aer_dev_correctable: 0: the kernel counts no PCIe errors: "

/* The files are there wherever the device has AER, also where nobody counts in them. */
static void test_uncounted(void)
{
    static const struct {
        const char *label;
        const char *text;
        int64_t corrected;
        int64_t fatal;
        const char *says[1];
    } cases[] = {
        {"not known", CARD("i915") AER("0", "0", "2") "end\n", 0, 2, {NULL}},
        {"counted", CARD("i915") PORTS SERVICE AER("0", "0", "2") "end\n", 0, 2, {NULL}},
        {"pci=noaer",
         CARD("i915") PORTS AER("0", "0", "0") "end\n",
         -1,
         -1,
         {COUNTS "it was started with pci=noaer: take pci=noaer off the kernel's command line"}},
        {"by the firmware",
         CARD("i915") PORTS
         "file sys/bus/pci_express/drivers/aer/bind\n" AER("0", "0", "2") "end\n",
         -1,
         2,
         {COUNTS "the firmware keeps them to itself, or the ports above have no AER: "}},
        {"one by the firmware",
         CARD("i915") PORTS
         "file sys/bus/pci_express/drivers/aer/bind\n" AER("1", "0", "0") "end\n",
         1,
         -1,
         {COUNTS "the firmware keeps them to itself, or the ports above have no AER: "}},
        {"no AER",
         CARD("i915") PORTS SERVICE "end\n",
         -1,
         -1,
         {"aer_dev_correctable: 2: the device has no AER, or the kernel is built without "
          "CONFIG_PCIEAER: "}},
        {"a virtual function",
         CARD("i915") "link " DEVICE "/physfn -> ../0000:03:00.1\n"
                      "dir sys/devices/pci0000:00/0000:03:00.1\nend\n",
         -1,
         -1,
         {NULL}},
        {"in the CPU",
         "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:00:02.0/drm/card0\n"
         "link sys/devices/pci0000:00/0000:00:02.0/drm/card0/device -> ../../../0000:00:02.0\n"
         "file sys/devices/pci0000:00/0000:00:02.0/uevent\n| DRIVER=i915\n"
         "| PCI_SLOT_NAME=0000:00:02.0\nend\n",
         -1,
         -1,
         {NULL}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gtel_findings findings = {0};
        struct machine machine;
        test_label = cases[i].label;
        if (!CHECK(machine_init(&machine, cases[i].text, "drm_health")))
            break;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(value(&machine, GTEL_M_ERROR_COUNT, "corrected"), cases[i].corrected);
        CHECK_INT(value(&machine, GTEL_M_ERROR_COUNT, "fatal"), cases[i].fatal);
        machine.source->diagnose(machine.state, &machine.registry, &findings);
        check_findings(&findings, cases[i].says, 1);
        gtel_findings_done(&findings);
        machine_done(&machine);
    }
    test_label = "";
}

/* Whether errors are counted is unknown while a folder cannot be listed: a 0 may be nobody's. */
static void test_unlisted(void)
{
    static const char *const folders[] = {"sys/bus/pci_express/drivers",
                                          "sys/bus/pci_express/drivers/aer"};
    for (size_t i = 0; i < 2; i++) {
        char text[2048];
        struct gtel_findings findings = {0};
        struct machine machine;
        test_label = folders[i];
        (void)snprintf(text, sizeof(text), "%srefuse %s EIO\nat 1s\ndir %s\nend\n",
                       CARD("i915") PORTS SERVICE AER("0", "0", "2"), folders[i], folders[i]);
        if (!CHECK(machine_init(&machine, text, "drm_health")))
            break;
        CHECK_INT(machine_gather(&machine), -EIO);
        machine.needs_discovery = false;
        machine.version = machine.cards.version;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(value(&machine, GTEL_M_ERROR_COUNT, "corrected"), -1);
        CHECK_INT(value(&machine, GTEL_M_ERROR_COUNT, "fatal"), 2);
        machine.source->diagnose(machine.state, &machine.registry, &findings);
        check_findings(&findings, (const char *const[]){NULL}, 1);
        gtel_findings_done(&findings);
        machine_step(&machine, 1000);
        machine.needs_discovery = true;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(value(&machine, GTEL_M_ERROR_COUNT, "corrected"), 0);
        machine_done(&machine);
    }
    test_label = "";
}

static void test_faults(void)
{
    static const char text[] =
        CARD("xe") STATUS("active") AER("3", "2", "1") VERDICT("ok") IN_REPAIR "end\n";
    static const int errors[] = {-EIO, -ENODEV, -EMFILE, 0};
    char label[60];
    CHECK(machine_fail_in_turn(text, "drm_health", errors) > 20);
    alloc_fault_arm(0);
    (void)machine_fail_in_turn(text, "drm_health", &errors[3]); /* none */
    uint64_t n = alloc_fault_count();
    CHECK(n > 5);
    for (uint64_t k = 1; k <= n; k++) {
        struct machine machine;
        (void)snprintf(label, sizeof(label), "allocation %d", (int)k);
        test_label = label;
        if (!CHECK(machine_init(&machine, text, "drm_health")))
            break;
        alloc_fault_arm(k);
        (void)machine_gather(&machine); /* the failure may show */
        alloc_fault_arm(0);
        machine.needs_discovery = true;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(value(&machine, GTEL_M_ERROR_COUNT, "fatal"), 1);
        machine_done(&machine);
    }
    test_label = "";
}

int main(void)
{
    test_errors();
    test_amd();
    test_ports();
    test_verdict();
    test_repair();
    test_repairs();
    test_repair_of_card();
    test_refused();
    test_refused_folders();
    test_functions();
    test_uncounted();
    test_unlisted();
    test_faults();
    return test_result();
}
