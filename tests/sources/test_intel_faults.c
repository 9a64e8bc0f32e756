/* SPDX-License-Identifier: MIT */
/*
 * Sources i915, xe and drm_memory: each outside call failing in turn, devices that go and come, odd
 * machines.
 */
#include "harness/alloc_fault.h"
#include "harness/source_harness.h"
#include "harness/test.h"

#include <errno.h>
#include <stdlib.h>

enum { GATHERS = 3 };

/* For every outside call: it fails alone, and afterwards all values are there again. */
static void walk(const char *fixture, const char *source, int error)
{
    char *text = machine_text(fixture);
    const int errors[] = {error, 0};
    test_label = fixture;
    if (text)
        CHECK(machine_fail_in_turn(text, source, errors) > 10);
    test_label = "";
    free(text);
}

/* Three gathers of which one allocation fails, then two without faults. Returns the allocations. */
static uint64_t run_short_of_memory(const char *text, const char *source, uint64_t fail_at,
                                    uint64_t *ret_hash)
{
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, source)))
        return 0;
    alloc_fault_arm(fail_at);
    for (int i = 0; i < GATHERS; i++)
        (void)machine_gather(&machine); /* the failure may show in any of them */
    uint64_t n = alloc_fault_count();
    alloc_fault_arm(0);
    machine.needs_discovery = true;
    (void)machine_gather(&machine);
    headlines_done(&machine.headlines); /* parts whose name there was no memory for */
    machine.needs_discovery = true;
    CHECK_INT(machine_gather(&machine), 0);
    *ret_hash = machine_hash(&machine);
    machine_done(&machine);
    return n;
}

/* For every allocation: it fails alone, and afterwards all values are there again. */
static void walk_allocations(const char *fixture, const char *source)
{
    char *text = machine_text(fixture);
    uint64_t want = 0;
    if (!CHECK(text))
        return;
    uint64_t n = run_short_of_memory(text, source, 0, &want);
    CHECK(n > 5);
    for (uint64_t k = 1; k <= n; k++) {
        uint64_t got = 0;
        char label[100];
        (void)snprintf(label, sizeof(label), "%s, allocation %llu of %llu", fixture,
                       (unsigned long long)k, (unsigned long long)n);
        test_label = label;
        (void)run_short_of_memory(text, source, k, &got);
        CHECK(got == want);
    }
    test_label = "";
    free(text);
}

/* Once a source has got going, a gather takes no memory. */
static void test_steady(const char *fixture, const char *source)
{
    char *text = machine_text(fixture);
    struct machine machine;
    if (!CHECK(text))
        return;
    test_label = source;
    if (CHECK(machine_init(&machine, text, source))) {
        for (int i = 0; i < GATHERS; i++) {
            CHECK_INT(machine_gather(&machine), 0);
            machine_step(&machine, 1000);
        }
        alloc_fault_arm(0);
        CHECK_INT(machine_gather(&machine), 0);
        CHECK(machine.batch.n > 0);
        CHECK_INT(alloc_fault_count(), 0);
    }
    machine_done(&machine);
    test_label = "";
    free(text);
}

/* A tree of one B580-like card without sensors, in three parts so that tests can add to it. */
#define DEVICE "sys/devices/pci0000:00/0000:03:00.0"
#define HEAD(driver)                                                                               \
    "file " DEVICE "/uevent\n| DRIVER=" driver "\n| PCI_ID=8086:E20B\n"                            \
    "| PCI_SLOT_NAME=0000:03:00.0\n"                                                               \
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:03:00.0/drm/card0\n"                \
    "link " DEVICE "/drm/card0/device -> ../../../0000:03:00.0\n"                                  \
    "file proc/sys/kernel/osrelease\n| 6.17.0\n"
#define GT0 "file " DEVICE "/tile0/gt0/freq0/act_freq\n| 1000\n"
#define HWMON "file " DEVICE "/hwmon/hwmon1/name\n| xe\n"
#define SENSOR(name, value) "file " DEVICE "/hwmon/hwmon1/" name "\n| " value "\n"
#define END "end\n"

/* The device goes, its files answer ENODEV, and it is back two gathers later. */
static void test_vanish(void)
{
    char *text = machine_text("xe-b580-zero");
    struct machine machine;
    static const char gone[] =
        "at 1s\ngone sys/devices\ngone sys/class/drm\ndir sys/class/drm\nat 3s\n";
    char *whole = calloc(1, 1 << 20);
    if (!CHECK(text && whole))
        return;
    const char *later = strstr(text, "\nat ");
    int n = later ? (int)(later + 1 - text) : 0;
    (void)snprintf(whole, 1 << 20, "%.*s%s%.*s" END, n, text, gone, n, text);
    if (CHECK(machine_init(&machine, whole, "xe"))) {
        CHECK_INT(machine_gather(&machine), 0);
        size_t readings = machine.batch.n;
        machine_step(&machine, 1000);
        CHECK_INT(machine_gather(&machine), -ENODEV);
        machine_step(&machine, 1000);
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(machine.batch.n, 0);
        CHECK_INT(machine.registry.device[0]->is_present, 0);
        CHECK_INT(machine.fault->open_files, 0);
        machine_step(&machine, 1000);
        CHECK_INT(machine_gather(&machine), -ENODEV); /* there may be more files soon */
        CHECK_INT(machine.registry.device[0]->is_present, 1);
        CHECK_INT(machine.registry.n, 1);
        CHECK_INT(machine.batch.n, readings);
        machine_step(&machine, 1000);
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(machine.batch.n, readings + 3); /* the fans, from their second read on */
    }
    machine_done(&machine);
    free(whole);
    free(text);
}

/* A broken sensor costs itself, is counted each time and logged once each way. */
static void test_broken_sensor(void)
{
    static const char text[] =
        HEAD("xe") GT0 HWMON SENSOR("temp2_label", "pkg") SENSOR("temp2_input", "50000")
            SENSOR("fan1_input", "900") "at 1s\nerror " DEVICE
                                        "/hwmon/hwmon1/temp2_input EIO\nat 3s\n" SENSOR(
                                            "temp2_input", "51000") END;
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "xe")))
        return;
    for (int i = 0; i < 4; i++) {
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(machine.batch.failed[0], i == 1 || i == 2 ? 1 : 0);
        CHECK((machine_find(&machine, NULL, GTEL_M_FAN_RPM, NULL, NULL) != NULL) == (i > 0));
        CHECK((machine_find(&machine, NULL, GTEL_M_GPU_TEMPERATURE, NULL, NULL) != NULL) ==
              (i == 0 || i == 3));
        machine_step(&machine, 1000);
    }
    CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 1);
    CHECK_INT(machine.fault->logs[GTEL_LOG_INFO], 1);
    machine_done(&machine);
}

/*
 * Nonsense of Battlemage up to 6.16: 300 MJ within a second at a limit of 200 W. The step is left
 * out, a minute stays silent, then the counter begins again, so that no rate spans the minute: with
 * 0 J at 62 s. The package's counter does not stand in for it meanwhile.
 */
static void test_energy_gate(void)
{
    static const char text[] = HEAD("xe") GT0 HWMON SENSOR(
        "power1_cap", "200000000") "grow " DEVICE
                                   "/hwmon/hwmon1/energy1_input 1000000000 100000000\n"
                                   "grow " DEVICE "/hwmon/hwmon1/energy2_input 5000000 70000000\n"
                                   "at 2s\ngrow " DEVICE
                                   "/hwmon/hwmon1/energy1_input 301200000000 100000000\n" END;
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "xe")))
        return;
    for (int t = 0; t <= 63; t++) {
        CHECK_INT(machine_gather(&machine), 0);
        const struct gtel_reading *got = machine_find(&machine, NULL, GTEL_M_ENERGY, "card", NULL);
        CHECK((got != NULL) == (t < 2 || t >= 62));
        const struct gtel_reading *head =
            machine_find(&machine, NULL, GTEL_M_GPU_ENERGY, NULL, NULL);
        CHECK((head != NULL) == (got != NULL));
        CHECK(!got || !head || head->value.f64 == got->value.f64);
        CHECK(machine_find(&machine, NULL, GTEL_M_ENERGY, "pkg", NULL));
        if (got && t < 2)
            CHECK_NEAR(got->value.f64, 1000 + 100.0 * t, 1e-6);
        if (got && t >= 62)
            CHECK_NEAR(got->value.f64, 100.0 * (t - 62), 1e-6);
        machine_step(&machine, 1000);
    }
    CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 1);
    machine_done(&machine);
}

/* Two reads 10 ms apart with 20 J between them, and the counter moves each 100 ms: 200 W. */
static void test_energy_in_steps(void)
{
    static const char text[] = HEAD("xe") GT0 HWMON SENSOR("power1_cap", "200000000")
        SENSOR("energy1_input", "1000000000") "at 10ms\n" SENSOR("energy1_input", "1020000000") END;
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "xe")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    machine_step(&machine, 10);
    CHECK_INT(machine_gather(&machine), 0);
    const struct gtel_reading *got = machine_find(&machine, NULL, GTEL_M_ENERGY, "card", NULL);
    CHECK(got && got->value.f64 > 1019 && got->value.f64 < 1021);
    CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 0);
    machine_done(&machine);
}

/*
 * A counter that stands still from 2 s to 4 s, on a card that is awake: no energy, and so no power
 * of 0 W. Neither does the package's counter become the headline.
 */
static void test_energy_stuck(void)
{
    static const char text[] = HEAD("xe") GT0 HWMON
        "grow " DEVICE "/hwmon/hwmon1/energy1_input 1000000 50000000\n"
        "grow " DEVICE "/hwmon/hwmon1/energy2_input 1000000 30000000\n"
        "at 2s\nfile " DEVICE "/hwmon/hwmon1/energy1_input\n| 101000000\n"
        "at 4500ms\ngrow " DEVICE "/hwmon/hwmon1/energy1_input 201000000 50000000\n" END;
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "xe")))
        return;
    for (int t = 0; t < 7; t++) {
        CHECK_INT(machine_gather(&machine), 0);
        bool is_there = t <= 2 || t >= 5;
        CHECK((machine_find(&machine, NULL, GTEL_M_ENERGY, "card", NULL) != NULL) == is_there);
        CHECK((machine_find(&machine, NULL, GTEL_M_GPU_ENERGY, NULL, NULL) != NULL) == is_there);
        CHECK(machine_find(&machine, NULL, GTEL_M_ENERGY, "pkg", NULL));
        machine_step(&machine, 1000);
    }
    machine_done(&machine);
}

/* The driver is loaded again: the counter restarts and is believed. A zero that moves appears.
 */
static void test_energy_restart(void)
{
    static const char text[] = HEAD("xe") GT0 HWMON SENSOR("energy1_input", "5000000000")
        SENSOR("energy2_input", "0") "at 1s\n" SENSOR("energy1_input", "7000000")
            SENSOR("energy2_input", "3000000") END;
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "xe")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK(!machine_find(&machine, NULL, GTEL_M_ENERGY, "pkg", NULL));
    machine_step(&machine, 1000);
    CHECK_INT(machine_gather(&machine), 0);
    const struct gtel_reading *card = machine_find(&machine, NULL, GTEL_M_ENERGY, "card", NULL);
    const struct gtel_reading *pkg = machine_find(&machine, NULL, GTEL_M_ENERGY, "pkg", NULL);
    if (CHECK(card && pkg)) {
        CHECK_NEAR(card->value.f64, 7, 1e-9);
        CHECK_NEAR(pkg->value.f64, 3, 1e-9);
    }
    machine_done(&machine);
}

/* A file that may not be opened costs itself; it is logged once, and tried again. */
static void test_refused(void)
{
    static const char text[] =
        HEAD("xe") GT0 "refuse " DEVICE "/tile0/gt0/freq0/cur_freq EACCES\n"
                       "at 10s\nfile " DEVICE "/tile0/gt0/freq0/cur_freq\n| 1100\n" END;
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "xe")))
        return;
    for (int i = 0; i < 12; i++) {
        if (i % 3 == 0)
            machine.needs_discovery = true;
        int r = machine_gather(&machine);
        CHECK(r == 0 || r == -ENODEV);
        CHECK(machine_find(&machine, NULL, GTEL_M_GPU_FREQUENCY, NULL, NULL));
        machine_step(&machine, 1000);
    }
    machine.needs_discovery = true;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK(machine_find(&machine, NULL, GTEL_M_FREQUENCY_REQUESTED, NULL, NULL));
    CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 1);
    machine_done(&machine);
}

/* The driver is still making its files when the card is found: the rest is read as it comes. */
static void test_late(void)
{
    static const char text[] =
        HEAD("xe") GT0 "at 1s\nfile " DEVICE "/tile0/gt0/freq0/cur_freq\n| 1100\n" END;
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "xe")))
        return;
    for (int i = 0; i < 3; i++) {
        machine.needs_discovery = true;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK(machine_find(&machine, NULL, GTEL_M_GPU_FREQUENCY, NULL, NULL));
        CHECK((machine_find(&machine, NULL, GTEL_M_FREQUENCY_REQUESTED, NULL, NULL) != NULL) ==
              (i > 0));
        machine_step(&machine, 1000);
    }
    CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 0);
    machine_done(&machine);
}

/* Two tiles, numbered through; no gtidle (a VF): the engines say which GT is the media one. */
static void test_tiles(void)
{
    static const char text[] =
        HEAD("xe") "file " DEVICE "/tile0/gt0/freq0/act_freq\n| 1000\ndir " DEVICE
                   "/tile0/gt0/engines/ccs\n"
                   "file " DEVICE "/tile1/gt1/freq0/act_freq\n| 1100\ndir " DEVICE
                   "/tile1/gt1/engines/ccs\n"
                   "file " DEVICE "/tile1/gt2/freq0/act_freq\n| 500\ndir " DEVICE
                   "/tile1/gt2/engines/vcs\n"
                   "file " DEVICE "/tile1/memory/freq0/max_freq\n| 3200\n" END;
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "xe")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    const struct gtel_reading *got =
        machine_find(&machine, NULL, GTEL_M_FREQUENCY_ACTUAL, "graphics", "1");
    if (CHECK(got)) {
        CHECK_STR(got->dim[2], "1");
        CHECK_INT(got->value.u64, 1100000000);
    }
    CHECK(machine_find(&machine, NULL, GTEL_M_FREQUENCY_ACTUAL, "media", "2"));
    CHECK(machine_find(&machine, NULL, GTEL_M_FREQUENCY_MAX, "memory", ""));
    got = machine_find(&machine, NULL, GTEL_M_GPU_FREQUENCY, NULL, NULL);
    CHECK(got && got->value.u64 == 1000000000);
    machine_done(&machine);
}

/* Without PCI the platform device's name is the key; an unknown id still is a GPU. */
static void test_identity(void)
{
    static const char platform[] =
        "link sys/class/drm/card0 -> ../../devices/platform/soc/gpu0/drm/card0\n"
        "link sys/devices/platform/soc/gpu0/drm/card0/device -> ../../../gpu0\n"
        "link sys/devices/platform/soc/gpu0/driver -> ../../../../bus/platform/drivers/xe\n"
        "file sys/devices/platform/soc/gpu0/tile0/gt0/freq0/act_freq\n| 700\n" END;
    static const char unknown[] =
        "file " DEVICE "/uevent\n| DRIVER=xe\n| PCI_ID=8086:ABCD\n"
        "| PCI_SLOT_NAME=0000:03:00.0\n"
        "link sys/class/drm/card7 -> ../../devices/pci0000:00/0000:03:00.0/drm/card7\n"
        "link " DEVICE "/drm/card7/device -> ../../../0000:03:00.0\n" GT0 END;
    static const struct {
        const char *text;
        const char *key;
        const char *model;
    } cases[] = {{platform, "gpu0", "Intel"}, {unknown, "0000:03:00.0", "Intel 8086:abcd"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct machine machine;
        test_label = cases[i].key;
        if (CHECK(machine_init(&machine, cases[i].text, "xe"))) {
            CHECK_INT(machine_gather(&machine), 0);
            const struct gtel_device *device =
                gtel_registry_find(&machine.registry, gtel_str_of(cases[i].key));
            if (CHECK(device))
                CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_MODEL]), cases[i].model);
            CHECK(machine_find(&machine, NULL, GTEL_M_GPU_FREQUENCY, NULL, NULL));
        }
        machine_done(&machine);
    }
    test_label = "";
}

/* The switch on the card: only better values of Intel's own bridges count; else nothing is said. */
static void test_link(void)
{
#define PORT(path, vendor, speed, width)                                                           \
    "file " path "/vendor\n| " vendor "\nfile " path "/class\n| 0x060400\nfile " path              \
    "/current_link_speed\n| " speed "\nfile " path "/current_link_width\n| " width "\n"
#define UP "sys/devices/pci0000:00/0000:01:00.0"
#define DOWN UP "/0000:02:01.0"
#define CARD DOWN "/0000:03:00.0"
#define GPU(speed, width)                                                                          \
    "file " CARD "/uevent\n| DRIVER=xe\n| PCI_ID=8086:E20B\n| PCI_SLOT_NAME=0000:03:00.0\n"        \
    "link sys/class/drm/card0 -> ../../"                                                           \
    "devices/pci0000:00/0000:01:00.0/0000:02:01.0/0000:03:00.0/drm/card0\n"                        \
    "link " CARD "/drm/card0/device -> ../../../0000:03:00.0\nfile " CARD                          \
    "/current_link_speed\n| " speed "\nfile " CARD "/current_link_width\n| " width "\n"
    static const struct {
        const char *label;
        const char *text;
        uint64_t gen; /* 0: nothing */
        uint64_t lanes;
    } cases[] = {
        {"upstream port",
         GPU("2.5 GT/s PCIe", "1") PORT(DOWN, "0x8086", "2.5 GT/s PCIe", "1")
             PORT(UP, "0x8086", "16.0 GT/s PCIe", "16") END,
         4, 16},
        {"slot at rest",
         GPU("2.5 GT/s PCIe", "1") PORT(DOWN, "0x8086", "2.5 GT/s PCIe", "1")
             PORT(UP, "0x8086", "2.5 GT/s PCIe", "8") END,
         1, 8},
        {"slot of one lane",
         GPU("2.5 GT/s PCIe", "1") PORT(DOWN, "0x8086", "2.5 GT/s PCIe", "1")
             PORT(UP, "0x8086", "5.0 GT/s PCIe", "1") END,
         2, 1},
        {"a bridge of another vendor",
         GPU("2.5 GT/s PCIe", "1") PORT(DOWN, "0x8086", "2.5 GT/s PCIe", "1")
             PORT(UP, "0x1022", "16.0 GT/s PCIe", "16") END,
         0, 0},
        {"nothing sane",
         GPU("2.5 GT/s PCIe", "1") PORT(DOWN, "0x8086", "Unknown", "0")
             PORT(UP, "0x8086", "2.5 GT/s PCIe", "1") END,
         0, 0},
        {"the port just above",
         GPU("2.5 GT/s PCIe", "1") PORT(DOWN, "0x8086", "16.0 GT/s PCIe", "8")
             PORT(UP, "0x8086", "32.0 GT/s PCIe", "16") END,
         4, 8},
        {"no bridge",
         GPU("2.5 GT/s PCIe", "1")
             PORT(UP, "0x8086", "16.0 GT/s PCIe", "16") "file " UP "/class\n| 0x060401\n" END,
         0, 0},
        {"a GPU with two lanes",
         GPU("2.5 GT/s PCIe", "2") PORT(UP, "0x8086", "16.0 GT/s PCIe", "16") END, 1, 2},
        {"a faster GPU with one lane",
         GPU("5.0 GT/s PCIe", "1") PORT(UP, "0x8086", "16.0 GT/s PCIe", "16") END, 2, 1},
        {"a GPU without a link", GPU("Unknown", "0") PORT(UP, "0x8086", "16.0 GT/s PCIe", "16") END,
         0, 0},
        {"a GPU that reports the truth",
         GPU("32.0 GT/s PCIe", "16") PORT(UP, "0x8086", "16.0 GT/s PCIe", "4") END, 5, 16},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct machine machine;
        test_label = cases[i].label;
        if (CHECK(machine_init(&machine, cases[i].text, "xe"))) {
            CHECK_INT(machine_gather(&machine), 0);
            const struct gtel_reading *gen =
                machine_find(&machine, NULL, GTEL_M_GPU_PCIE_GEN, NULL, NULL);
            const struct gtel_reading *lanes =
                machine_find(&machine, NULL, GTEL_M_GPU_PCIE_WIDTH, NULL, NULL);
            CHECK_INT(gen ? gen->value.u64 : 0, cases[i].gen);
            CHECK_INT(lanes ? lanes->value.u64 : 0, cases[i].lanes);
        }
        machine_done(&machine);
    }
    test_label = "";
}

/* No card of the driver: the source is not there, quietly. */
static void test_absent(void)
{
    static const char other[] = HEAD("nouveau") END;
    static const char nothing[] = "dir sys/class\n" END;
    const char *texts[] = {other, nothing};
    for (size_t i = 0; i < 2; i++) {
        struct machine machine;
        if (CHECK(machine_init(&machine, texts[i], "xe"))) {
            CHECK(!gtel_source_present(machine.source, &machine.fault->env));
            CHECK_INT(machine_gather(&machine), 0);
            CHECK_INT(machine.batch.n, 0);
        }
        machine_done(&machine);
    }
}

int main(void)
{
    walk("i915-a770", "i915", -EIO);
    walk("xe-b580-zero", "xe", -EIO);
    walk("xe-b580-zero", "xe", -ENODEV);
    walk("i915-old", "i915", -EMFILE);
    walk("i915-a770", "drm_memory", -EIO);
    walk("xe-b580", "drm_memory", -EIO);
    walk("xe-b580", "drm_memory", -ENODEV);
    walk("xe-b580", "drm_memory", -EACCES);
    walk_allocations("xe-b580", "xe");
    walk_allocations("i915-old", "i915");
    walk_allocations("xe-b580", "drm_memory");
    test_steady("xe-b580", "drm_memory");
    test_steady("i915-a770", "drm_memory");
    walk("i915-adl", "rapl", -EIO);
    walk("i915-adl", "rapl", -ENODEV);
    walk_allocations("i915-adl", "rapl");
    test_vanish();
    test_broken_sensor();
    test_energy_gate();
    test_energy_in_steps();
    test_energy_stuck();
    test_energy_restart();
    test_refused();
    test_late();
    test_tiles();
    test_identity();
    test_link();
    test_absent();
    return test_result();
}
