/* SPDX-License-Identifier: MIT */
/* Sources i915 and xe on recorded machines: values worked out by hand from the trees. */
#include "harness/source_harness.h"
#include "harness/test.h"

#include <stdlib.h>

static const char adl[] = "0000:00:02.0";
static const char slot[] = "0000:03:00.0"; /* behind the switch of a card in the first slot */

enum { ABSENT = 1 };

static const struct value_case {
    const char *fixture;
    const char *source;
    const char *device;
    uint64_t ms;
    enum gtel_metric metric;
    const char *dim0;
    const char *dim1;
    double want;
    int is_absent;
} values[] = {
    /* i915 Alder Lake: MHz to Hz; RC6 of the PMU in ns, which the wrap of its file at 2.7 s is not.
     */
    {"i915-adl", "i915", adl, 0, GTEL_M_GPU_AWAKE, "", "", 1, 0},
    {"i915-adl", "i915", adl, 0, GTEL_M_GPU_FREQUENCY, "", "", 1.2e9, 0},
    {"i915-adl", "i915", adl, 0, GTEL_M_FREQUENCY_ACTUAL, "graphics", "0", 1.2e9, 0},
    {"i915-adl", "i915", adl, 0, GTEL_M_FREQUENCY_REQUESTED, "graphics", "0", 1.3e9, 0},
    {"i915-adl", "i915", adl, 0, GTEL_M_FREQUENCY_MIN, "graphics", "0", 1e8, 0},
    {"i915-adl", "i915", adl, 0, GTEL_M_FREQUENCY_MAX, "graphics", "0", 1.4e9, 0},
    {"i915-adl", "i915", adl, 0, GTEL_M_FREQUENCY_IDLE_TIME, "graphics", "0", 4294966.0, 0},
    {"i915-adl", "i915", adl, 3000, GTEL_M_FREQUENCY_IDLE_TIME, "graphics", "0", 4294968.2, 0},
    {"i915-adl", "i915", adl, 3000, GTEL_M_FREQUENCY_ACTUAL, "graphics", "0", 0, 0},
    {"i915-adl", "i915", adl, 0, GTEL_M_THROTTLE_STATUS, "", "0", 0, 0},
    {"i915-adl", "i915", adl, 0, GTEL_M_THROTTLE_ACTIVE, "vr_tdc", "0", 0, 0},
    /* Integrated: no sensors, and a link of unknown speed and no lanes. */
    {"i915-adl", "i915", adl, 0, GTEL_M_GPU_ENERGY, NULL, NULL, 0, ABSENT},
    {"i915-adl", "i915", adl, 0, GTEL_M_GPU_TEMPERATURE, NULL, NULL, 0, ABSENT},
    {"i915-adl", "i915", adl, 0, GTEL_M_GPU_PCIE_GEN, NULL, NULL, 0, ABSENT},
    {"i915-adl", "i915", adl, 0, GTEL_M_GPU_PCIE_WIDTH, NULL, NULL, 0, ABSENT},

    /* Kernel 5.15: the card's own files. */
    {"i915-old", "i915", adl, 0, GTEL_M_FREQUENCY_ACTUAL, "graphics", "0", 8.5e8, 0},
    {"i915-old", "i915", adl, 0, GTEL_M_FREQUENCY_REQUESTED, "graphics", "0", 9e8, 0},
    {"i915-old", "i915", adl, 1000, GTEL_M_FREQUENCY_IDLE_TIME, "graphics", "0", 7.4, 0},

    /* A770, PMU: 2 s + 50 % and from 2 s on 20 %; (100 + 50 %) / 2; (80 + 40 + 0 + 0 %) / 4. */
    {"i915-a770", "i915", slot, 0, GTEL_M_ENGINE_BUSY_TIME, "render", "", 2, 0},
    {"i915-a770", "i915", slot, 2000, GTEL_M_ENGINE_BUSY_TIME, "render", "", 3, 0},
    {"i915-a770", "i915", slot, 3000, GTEL_M_ENGINE_BUSY_TIME, "render", "", 3.2, 0},
    {"i915-a770", "i915", slot, 2000, GTEL_M_ENGINE_BUSY_TIME, "video", "", 1.5, 0},
    {"i915-a770", "i915", slot, 2000, GTEL_M_ENGINE_BUSY_TIME, "compute", "", 0.6, 0},
    {"i915-a770", "i915", slot, 2000, GTEL_M_ENGINE_BUSY_TIME, "copy", "", 0.5, 0},
    {"i915-a770", "i915", slot, 2000, GTEL_M_ENGINE_BUSY_TIME, "video-enhance", "", 0, 0},
    {"i915-a770", "i915", slot, 2000, GTEL_M_ENGINE_WAIT_TIME, "render", "", 0, ABSENT},
    {"i915-a770", "i915", slot, 2000, GTEL_M_ENGINE_SEMA_TIME, "compute", "", 0, ABSENT},
    {"i915-a770", "i915", slot, 0, GTEL_M_ENGINE_CAPACITY, "compute", "", 4, 0},
    {"i915-a770", "i915", slot, 0, GTEL_M_ENGINE_CAPACITY, "render", "", 1, 0},
    {"i915-old", "i915", adl, 0, GTEL_M_ENGINE_BUSY_TIME, NULL, NULL, 0, ABSENT},

    /* A770: energy 184467 uJ and 65 W; the link is the switch's upstream port's. */
    {"i915-a770", "i915", slot, 0, GTEL_M_GPU_ENERGY, "", "", 0.184467, 0},
    {"i915-a770", "i915", slot, 2000, GTEL_M_ENERGY, "card", "", 130.184467, 0},
    {"i915-a770", "i915", slot, 0, GTEL_M_POWER_LIMIT, "card", "", 190, 0},
    {"i915-a770", "i915", slot, 0, GTEL_M_GPU_POWER_LIMIT, "", "", 190, 0},
    {"i915-a770", "i915", slot, 0, GTEL_M_POWER_PEAK_LIMIT, "card", "", 300, 0},
    {"i915-a770", "i915", slot, 0, GTEL_M_VOLTAGE, "card", "", 0.725, 0},
    {"i915-a770", "i915", slot, 0, GTEL_M_TEMPERATURE, "pkg", "", 58, 0},
    {"i915-a770", "i915", slot, 2000, GTEL_M_GPU_TEMPERATURE, "", "", 61.5, 0},
    {"i915-a770", "i915", slot, 1000, GTEL_M_FAN_RPM, "1", "", 1450, 0},
    /* The driver says EAGAIN at 2 s: the value of the read before stands. */
    {"i915-a770", "i915", slot, 2000, GTEL_M_FAN_RPM, "1", "", 1450, 0},
    {"i915-a770", "i915", slot, 0, GTEL_M_THROTTLE_ACTIVE, "pl1", "0", 1, 0},
    {"i915-a770", "i915", slot, 2000, GTEL_M_THROTTLE_ACTIVE, "pl1", "0", 0, 0},
    {"i915-a770", "i915", slot, 0, GTEL_M_GPU_PCIE_GEN, "", "", 4, 0},
    {"i915-a770", "i915", slot, 0, GTEL_M_GPU_PCIE_WIDTH, "", "", 16, 0},

    /* Lunar Lake: two GTs, media asleep; idle milliseconds grow by 125 and 1000 per second. */
    {"xe-lnl", "xe", adl, 0, GTEL_M_FREQUENCY_ACTUAL, "graphics", "0", 1.95e9, 0},
    {"xe-lnl", "xe", adl, 0, GTEL_M_FREQUENCY_ACTUAL, "media", "1", 0, 0},
    {"xe-lnl", "xe", adl, 0, GTEL_M_FREQUENCY_REQUESTED, "media", "1", 0, ABSENT}, /* it sleeps */
    {"xe-lnl", "xe", adl, 2000, GTEL_M_FREQUENCY_IDLE_TIME, "graphics", "0", 700.25, 0},
    {"xe-lnl", "xe", adl, 2000, GTEL_M_FREQUENCY_IDLE_TIME, "media", "1", 902, 0},
    {"xe-lnl", "xe", adl, 0, GTEL_M_GPU_FREQUENCY, "", "", 1.95e9, 0},
    {"xe-lnl", "xe", adl, 3000, GTEL_M_GPU_FREQUENCY, "", "", 0, 0},
    {"xe-lnl", "xe", adl, 0, GTEL_M_GPU_TEMPERATURE, NULL, NULL, 0, ABSENT},

    /* B580: card before package; cap is for bursts, crit for the peak; a limit of 0 is off. */
    {"xe-b580", "xe", slot, 1000, GTEL_M_GPU_ENERGY, "", "", 5145, 0},
    {"xe-b580", "xe", slot, 1000, GTEL_M_ENERGY, "card", "", 5145, 0},
    {"xe-b580", "xe", slot, 1000, GTEL_M_ENERGY, "pkg", "", 3112, 0},
    {"xe-b580", "xe", slot, 0, GTEL_M_POWER_BURST_LIMIT, "card", "", 200, 0},
    {"xe-b580", "xe", slot, 0, GTEL_M_POWER_PEAK_LIMIT, "card", "", 400, 0},
    {"xe-b580", "xe", slot, 0, GTEL_M_POWER_BURST_LIMIT, "pkg", "", 0, ABSENT},
    {"xe-b580", "xe", slot, 0, GTEL_M_GPU_TEMPERATURE, "", "", 62, 0},
    {"xe-b580", "xe", slot, 2000, GTEL_M_TEMPERATURE, "pkg", "", 64, 0},
    {"xe-b580", "xe", slot, 0, GTEL_M_TEMPERATURE_LIMIT, "pkg", "", 90, 0},
    {"xe-b580", "xe", slot, 0, GTEL_M_TEMPERATURE_CRITICAL, "pkg", "", 100, 0},
    {"xe-b580", "xe", slot, 0, GTEL_M_TEMPERATURE_EMERGENCY, "pkg", "", 110, 0},
    {"xe-b580", "xe", slot, 0, GTEL_M_TEMPERATURE, "vram", "", 66, 0},
    {"xe-b580", "xe", slot, 0, GTEL_M_TEMPERATURE, "mctrl", "", 63.5, 0},
    {"xe-b580", "xe", slot, 0, GTEL_M_TEMPERATURE, "pcie", "", 60, 0},
    {"xe-b580", "xe", slot, 0, GTEL_M_TEMPERATURE, "vram_ch_11", "", 67.75, 0},
    {"xe-b580", "xe", slot, 0, GTEL_M_TEMPERATURE, "vram_ch_12", "", 0, ABSENT},
    {"xe-b580", "xe", slot, 1000, GTEL_M_FAN_RPM, "3", "", 0, 0},
    {"xe-b580", "xe", slot, 0, GTEL_M_THROTTLE_ACTIVE, "pl2", "0", 1, 0},
    {"xe-b580", "xe", slot, 3000, GTEL_M_THROTTLE_ACTIVE, "pl2", "0", 0, 0},
    {"xe-b580", "xe", slot, 0, GTEL_M_THROTTLE_STATUS, "", "1", 0, 0},
    {"xe-b580", "xe", slot, 0, GTEL_M_THROTTLE_ACTIVE, "status", "1", 0, ABSENT},
    {"xe-b580", "xe", slot, 0, GTEL_M_THROTTLE_ACTIVE, "reasons", NULL, 0, ABSENT},
    {"xe-b580", "xe", slot, 0, GTEL_M_GPU_PCIE_GEN, "", "", 3, 0},
    {"xe-b580", "xe", slot, 0, GTEL_M_GPU_PCIE_WIDTH, "", "", 8, 0},
    {"xe-b580", "xe", slot, 0, GTEL_M_VOLTAGE, NULL, NULL, 0, ABSENT},

    /* Kernel 6.16 on a B580: registers that hold nonsense, of the card and of the package. */
    {"xe-b580-zero", "xe", slot, 3000, GTEL_M_ENERGY, "card", "", 0, ABSENT},
    {"xe-b580-zero", "xe", slot, 3000, GTEL_M_ENERGY, "pkg", "", 0, ABSENT},
    {"xe-b580-zero", "xe", slot, 1000, GTEL_M_GPU_ENERGY, "", "", 0, ABSENT},

    /* Each driver sees its own card only. */
    {"intel-mixed", "i915", adl, 0, GTEL_M_GPU_FREQUENCY, "", "", 3e8, 0},
    {"intel-mixed", "i915", slot, 0, GTEL_M_GPU_FREQUENCY, NULL, NULL, 0, ABSENT},
    {"intel-mixed", "xe", slot, 0, GTEL_M_GPU_FREQUENCY, "", "", 1.2e9, 0},
    {"intel-mixed", "xe", adl, 0, GTEL_M_GPU_FREQUENCY, NULL, NULL, 0, ABSENT},

    /* card10 sleeps until 2 s, card11 is another driver's; card4 sleeps from 2 s on. */
    {"intel-12", "i915", "0000:2b:00.0", 0, GTEL_M_GPU_AWAKE, "", "", 0, 0},
    {"intel-12", "i915", "0000:2b:00.0", 0, GTEL_M_GPU_FREQUENCY, NULL, NULL, 0, ABSENT},
    {"intel-12", "i915", "0000:2b:00.0", 2000, GTEL_M_GPU_AWAKE, "", "", 1, 0},
    {"intel-12", "i915", "0000:2b:00.0", 2000, GTEL_M_GPU_FREQUENCY, "", "", 2e9, 0},
    {"intel-12", "i915", "0000:13:00.0", 1000, GTEL_M_GPU_FREQUENCY, "", "", 1.4e9, 0},
    {"intel-12", "i915", "0000:13:00.0", 2000, GTEL_M_GPU_AWAKE, "", "", 0, 0},
    {"intel-12", "i915", "0000:13:00.0", 2000, GTEL_M_GPU_ENERGY, NULL, NULL, 0, ABSENT},
    {"intel-12", "xe", "0000:2f:00.0", 0, GTEL_M_GPU_FREQUENCY, "", "", 2.1e9, 0},
};

static void check_value(const struct machine *machine, const struct value_case *want)
{
    const struct gtel_reading *got =
        machine_find(machine, want->device, want->metric, want->dim0, want->dim1);
    char label[200];
    (void)snprintf(label, sizeof(label), "%s at %llu ms, metric %d, %s %s", want->fixture,
                   (unsigned long long)want->ms, (int)want->metric, want->dim0 ? want->dim0 : "any",
                   want->dim1 ? want->dim1 : "any");
    test_label = label;
    if (want->is_absent)
        CHECK(!got);
    else if (CHECK(got))
        CHECK_NEAR(gtel_reading_number(got), want->want, 1e-9 * (1 + want->want));
    test_label = "";
}

/* Runs a fixture as far as the last case of it that follows `first`; returns how many it took. */
static size_t run_cases(const struct value_case *first, size_t n)
{
    struct machine machine;
    size_t taken = 0;
    while (taken < n && strcmp(first[taken].fixture, first->fixture) == 0 &&
           strcmp(first[taken].source, first->source) == 0)
        taken++;
    char *text = machine_text(first->fixture);
    if (CHECK(machine_init(&machine, text, first->source))) {
        for (uint64_t ms = 0; ms <= 3000; ms += 1000) {
            CHECK_INT(machine_gather(&machine), 0);
            for (size_t i = 0; i < taken; i++)
                if (first[i].ms == ms)
                    check_value(&machine, &first[i]);
            machine_step(&machine, 1000);
        }
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 0);
    }
    machine_done(&machine);
    free(text);
    return taken;
}

static void test_values(void)
{
    size_t n = sizeof(values) / sizeof(values[0]);
    for (size_t i = 0; i < n;)
        i += run_cases(&values[i], n - i);
}

/* A flag is 0 or 1; another number is none, and counts as a failure. */
static void test_flags(void)
{
#define DEVICE "sys/devices/pci0000:00/0000:00:02.0"
#define REASON(name, value)                                                                        \
    "file " DEVICE "/drm/card0/gt/gt0/throttle_reason_" name "\n| " value "\n"
    static const char text[] =
        "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:00:02.0/drm/card0\n"
        "link " DEVICE "/drm/card0/device -> ../../../0000:00:02.0\n"
        "file " DEVICE "/uevent\n| DRIVER=i915\n| PCI_SLOT_NAME=0000:00:02.0\n" REASON("pl1", "0")
            REASON("pl2", "1") REASON("thermal", "2") "end\n";
    static const struct {
        const char *reason;
        double want; /* -1: no reading */
    } reasons[] = {{"pl1", 0}, {"pl2", 1}, {"thermal", -1}};
    struct machine machine;
    if (CHECK(machine_init(&machine, text, "i915"))) {
        CHECK_INT(machine_gather(&machine), 0);
        for (size_t i = 0; i < GTEL_ARRAY_LEN(reasons); i++) {
            const struct gtel_reading *got = machine_find(
                &machine, "0000:00:02.0", GTEL_M_THROTTLE_ACTIVE, reasons[i].reason, "0");
            test_label = reasons[i].reason;
            CHECK_NEAR(got ? gtel_reading_number(got) : -1, reasons[i].want, 0);
        }
        CHECK_INT(machine.batch.failed[0], 1);
        test_label = "";
    }
    machine_done(&machine);
}

static void test_labels(void)
{
    static const struct {
        const char *fixture;
        const char *source;
        const char *key;
        enum gtel_label label;
        const char *want;
    } cases[] = {
        {"i915-a770", "i915", slot, GTEL_LABEL_GPU, "0000:03:00.0"},
        {"i915-a770", "i915", slot, GTEL_LABEL_VENDOR, "intel"},
        {"i915-a770", "i915", slot, GTEL_LABEL_DRIVER, "i915"},
        {"i915-a770", "i915", slot, GTEL_LABEL_MODEL, "Intel Arc A770"},
        {"i915-a770", "i915", slot, GTEL_LABEL_PCI_ID, "8086:56a0"},
        {"i915-a770", "i915", slot, GTEL_LABEL_CARD, "card1"},
        {"intel-12", "xe", "0000:2f:00.0", GTEL_LABEL_CARD, "card11"},
        {"intel-12", "i915", "0000:2b:00.0", GTEL_LABEL_CARD, "card10"},
        /* It sleeps; its name is known all the same. */
        {"intel-12", "i915", "0000:2b:00.0", GTEL_LABEL_MODEL, "Intel Arc A770"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct machine machine;
        char *text = machine_text(cases[i].fixture);
        test_label = cases[i].want;
        if (CHECK(machine_init(&machine, text, cases[i].source))) {
            CHECK_INT(machine_gather(&machine), 0);
            const struct gtel_device *device =
                gtel_registry_find(&machine.registry, gtel_str_of(cases[i].key));
            if (CHECK(device))
                CHECK_STR(gtel_str_of(device->label[cases[i].label]), cases[i].want);
        }
        machine_done(&machine);
        free(text);
    }
    test_label = "";
}

/* Connectors, render nodes and cards of other drivers are no GPUs. */
static void test_count(void)
{
    struct machine machine;
    char *text = machine_text("intel-12");
    if (CHECK(machine_init(&machine, text, "xe"))) {
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(machine.registry.n, 6);
    }
    machine_done(&machine);
    free(text);
}

int main(void)
{
    test_values();
    test_labels();
    test_flags();
    test_count();
    return test_result();
}
