/* SPDX-License-Identifier: MIT */
/* Source i915: engine use from the perf PMU. */
#include "sources/machine.h"
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* One integrated GPU with two render engines: counters at 25 % and 75 %. */
#define DEVICE "sys/devices/pci0000:00/0000:00:02.0"
#define CARD                                                                                       \
    "file " DEVICE "/uevent\n| DRIVER=i915\n| PCI_ID=8086:46A6\n| PCI_SLOT_NAME=0000:00:02.0\n"    \
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:00:02.0/drm/card0\n"                \
    "link " DEVICE "/drm/card0/device -> ../../../0000:00:02.0\n"                                  \
    "file " DEVICE "/drm/card0/gt_act_freq_mhz\n| 1000\n"
#define PMU "sys/bus/event_source/devices/i915"
#define EVENT(name, config) "file " PMU "/events/" name "\n| config=" config "\n"
#define NS(name) "file " PMU "/events/" name ".unit\n| ns\n"
#define TYPE(number) "file " PMU "/type\n| " number "\n"
#define ENGINES                                                                                    \
    "file " PMU "/cpumask\n| 0-3\n" EVENT("rcs0-busy", "0x0") NS("rcs0-busy")                      \
        EVENT("rcs1-busy", "0x10") NS("rcs1-busy") EVENT("rcs0-busy-ticks", "0x20")                \
            EVENT("actual-frequency", "0x100000")
#define COUNTERS "pmu i915 0x0 1e9 25e7\npmu i915 0x10 3e9 75e7\n"
#define PARANOID "file proc/sys/kernel/perf_event_paranoid\n| 2\n"

static const struct gtel_reading *busy(const struct machine *machine)
{
    return machine_find(machine, NULL, GTEL_M_ENGINE_BUSY_TIME, "render", NULL);
}

/* (1 + 0.25 t + 3 + 0.75 t) / 2, on the counters' own clock; ticks are no time. */
static void test_class(void)
{
    struct machine machine;
    if (CHECK(machine_init(&machine, CARD TYPE("12") ENGINES COUNTERS "end\n", "i915"))) {
        uint64_t before = 0;
        for (int t = 0; t < 4; t++) {
            CHECK_INT(machine_gather(&machine), 0);
            const struct gtel_reading *got = busy(&machine);
            if (!CHECK(got))
                break;
            CHECK_NEAR(got->value.f64, 2 + 0.5 * t, 1e-9);
            CHECK(got->has_device_clock);
            CHECK(t == 0 || got->t_ns == before + 1000000000);
            before = got->t_ns;
            got = machine_find(&machine, NULL, GTEL_M_ENGINE_CAPACITY, "render", NULL);
            CHECK(got && got->value.u64 == 2);
            CHECK(!machine_find(&machine, NULL, GTEL_M_ENGINE_WAIT_TIME, NULL, NULL));
            machine_step(&machine, 1000);
        }
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 0);
    }
    machine_done(&machine);
}

/* Eight gathers with a discovery each; the right is there from 5 s on. */
static void check_refused(struct machine *machine)
{
    for (int t = 0; t < 8; t++) {
        machine->needs_discovery = true;
        CHECK_INT(machine_gather(machine), 0);
        CHECK((busy(machine) != NULL) == (t >= 5));
        CHECK_INT(machine->batch.failed[0], 0);
        CHECK(machine_find(machine, NULL, GTEL_M_GPU_FREQUENCY, NULL, NULL));
        machine_step(machine, 1000);
    }
    CHECK_INT(machine->fault->logs[GTEL_LOG_WARNING], 1);
    struct gtel_str log = gtel_str_of(machine->fault->last_log);
    CHECK(strstr(machine->fault->last_log, "perf_event_paranoid is 2"));
    CHECK(strstr(machine->fault->last_log, "CAP_PERFMON"));
    CHECK(gtel_str_starts(log, GTEL_STR("i915: 0000:00:02.0: engine use: ")));
}

/* Without the right: said once, with the setting and what helps; with it, all is well again. */
static void test_refused(void)
{
    static const char *const errors[] = {"EACCES", "EPERM"};
    for (size_t i = 0; i < 2; i++) {
        struct machine machine;
        char text[4096];
        test_label = errors[i];
        (void)snprintf(text, sizeof(text), "%spmu_error i915 %s\nat 5s\npmu_error i915 none\nend\n",
                       CARD TYPE("12") ENGINES COUNTERS PARANOID, errors[i]);
        if (CHECK(machine_init(&machine, text, "i915")))
            check_refused(&machine);
        machine_done(&machine);
    }
    test_label = "";
}

/* No PMU in this kernel, or none of this GPU: quiet. */
static void test_absent(void)
{
    static const char *const texts[] = {
        CARD "end\n", CARD TYPE("12") "dir " PMU "/events\nend\n",
        CARD "file sys/bus/event_source/devices/i915_0000_03_00.0/type\n| 12\nend\n"};
    for (size_t i = 0; i < 3; i++) {
        struct machine machine;
        if (CHECK(machine_init(&machine, texts[i], "i915"))) {
            CHECK_INT(machine_gather(&machine), 0);
            CHECK(!busy(&machine));
            CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 0);
        }
        machine_done(&machine);
    }
}

/*
 * Unbound at 2 s: the counters stand still and the type file is gone, so they are closed, not
 * believed. Back at 4 s under another number: counted again, from the next discovery on.
 */
static void test_unbind(void)
{
    static const char text[] = CARD TYPE("12") ENGINES COUNTERS
        "at 2s\npmu i915 0x0 15e8 0\npmu i915 0x10 45e8 0\ngone " PMU "\nat 4s\n" TYPE("13") ENGINES
        "pmu i915 0x0 0 5e8\npmu i915 0x10 0 5e8\nend\n";
    struct machine machine;
    if (CHECK(machine_init(&machine, text, "i915"))) {
        for (int t = 0; t < 7; t++) {
            int want = t == 3 ? -ENODEV : 0; /* asks for a discovery */
            machine.needs_discovery = machine.needs_discovery || t == 5;
            CHECK_INT(machine_gather(&machine), want);
            /* At 2 s they have moved since the read before. */
            CHECK((busy(&machine) != NULL) == (t <= 2 || t >= 4));
            CHECK_INT(machine.batch.failed[0], 0);
            machine_step(&machine, 1000);
        }
        const struct gtel_reading *got = busy(&machine);
        CHECK(got && got->value.f64 > 0.999 && got->value.f64 < 1.001);
        machine.source->close(machine.state);
        machine.is_open = false;
        CHECK_INT(machine.fault->open_files, 0);
    }
    machine_done(&machine);
}

/* A GPU that sleeps when it is found is counted from its first waking on, and not while asleep. */
static void test_asleep(void)
{
    static const char text[] = CARD TYPE("12") ENGINES COUNTERS
        "file " DEVICE "/power/runtime_status\n| suspended\n"
        "at 2s\nfile " DEVICE "/power/runtime_status\n| active\n"
        "at 4s\nfile " DEVICE "/power/runtime_status\n| suspended\nend\n";
    struct machine machine;
    if (CHECK(machine_init(&machine, text, "i915"))) {
        for (int t = 0; t < 6; t++) {
            CHECK_INT(machine_gather(&machine), 0);
            CHECK((busy(&machine) != NULL) == (t == 2 || t == 3));
            machine_step(&machine, 1000);
        }
    }
    machine_done(&machine);
}

int main(void)
{
    test_class();
    test_refused();
    test_absent();
    test_unbind();
    test_asleep();
    return test_result();
}
