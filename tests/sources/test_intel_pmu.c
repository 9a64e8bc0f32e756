/* SPDX-License-Identifier: MIT */
/* Source i915: engine use, idle time, clocks and interrupts from the perf PMU. */
#include "harness/alloc_fault.h"
#include "harness/source_harness.h"
#include "harness/test.h"

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
#define MHZ(name) "file " PMU "/events/" name ".unit\n| M\n"
#define TYPE(number) "file " PMU "/type\n| " number "\n"
#define ENGINES                                                                                    \
    "file " PMU "/cpumask\n| 0-3\n" EVENT("rcs0-busy", "0x0") NS("rcs0-busy")                      \
        EVENT("rcs1-busy", "0x10") NS("rcs1-busy") EVENT("rcs0-busy-ticks", "0x20")                \
            EVENT("actual-frequency", "0x100000")
#define COUNTERS "pmu i915 0x0 1e9 25e7\npmu i915 0x10 3e9 75e7\n"
#define PARANOID "file proc/sys/kernel/perf_event_paranoid\n| 2\n"

static void set_on(struct machine *machine, enum gtel_option option)
{
    char error[100];
    CHECK_INT(gtel_option_set(&machine->options, option, GTEL_STR("on"), error, sizeof(error)), 0);
}

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

/* Without memory for its name an engine is skipped: only the class has no name. */
static void test_short_of_memory(void)
{
    uint64_t n = 1;
    for (uint64_t k = 0; k <= n; k++) {
        struct machine machine;
        size_t classes = 0;
        if (!CHECK(machine_init(&machine, CARD TYPE("12") ENGINES COUNTERS "end\n", "i915")))
            return;
        set_on(&machine, GTEL_O_ENGINE_INSTANCES);
        alloc_fault_arm(k);
        (void)machine_gather(&machine);
        n = k == 0 ? alloc_fault_count() : n;
        alloc_fault_arm(0);
        for (size_t i = 0; i < machine.batch.n; i++)
            classes += machine.batch.reading[i].metric == GTEL_M_ENGINE_BUSY_TIME &&
                       machine.batch.reading[i].dim[1].n == 0;
        CHECK(classes <= 1);
        machine_done(&machine);
    }
    CHECK(n > 5);
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
        if (t == 0) {
            CHECK(strstr(machine->fault->last_log, "perf_event_paranoid is 2"));
            CHECK(strstr(machine->fault->last_log, "give the program CAP_PERFMON, or run"));
        }
        machine_step(machine, 1000);
    }
    CHECK_INT(machine->fault->logs[GTEL_LOG_WARNING], 1);
    CHECK_STR(gtel_str_of(machine->fault->last_log), "i915: 0000:00:02.0: engine use: works again");
}

/*
 * A driver from intel-gpu-i915-backports with SR-IOV counts ticks of the GuC's clock instead of
 * time: one render engine at 25 %, two video engines at 50 % and 10 %, of 19.2 million ticks per
 * second. Copy has time as well, which is taken.
 */
#define TICKS_OF(total)                                                                            \
    EVENT("rcs0-busy-ticks", "0x3")                                                                \
    EVENT("vcs0-busy-ticks", "0x2003")                                                             \
    EVENT("vcs1-busy-ticks", "0x2013")                                                             \
    EVENT("bcs0-busy", "0x1000")                                                                   \
    NS("bcs0-busy")                                                                                \
    EVENT("bcs0-busy-ticks", "0x1003")                                                             \
    "file " PMU "/cpumask\n| 0\n"                                                                  \
    "pmu i915 0x3 7 48e5\npmu i915 0x2003 0 96e5\n"                                                \
    "pmu i915 0x2013 0 192e4\npmu i915 0x1000 0 5e8\n"                                             \
    "pmu i915 0x1003 0 1\n" total
#define TOTAL(name, config) EVENT(name, config) "pmu i915 " config " 100 192e5\n"

/* EngineInstances: each engine by itself beside its class, which stays as it is. */
static void test_instances(void)
{
    static const char text[] = CARD TYPE("12") TICKS_OF(TOTAL("total-active-ticks", "0x10000b"))
        EVENT("rcs0-busy", "0x0") NS("rcs0-busy") EVENT("rcs1-busy", "0x10") NS("rcs1-busy")
            EVENT("rcs1-wait", "0x11") NS("rcs1-wait") COUNTERS "pmu i915 0x11 0 5e7\nend\n";
    static const struct {
        enum gtel_metric metric;
        const char *engine, *instance;
        double value;
    } want[] = {
        {GTEL_M_ENGINE_BUSY_TIME, "render", NULL, 2 + 0.5},
        {GTEL_M_ENGINE_BUSY_TIME, "render", "rcs0", 1 + 0.25},
        {GTEL_M_ENGINE_BUSY_TIME, "render", "rcs1", 3 + 0.75},
        {GTEL_M_ENGINE_WAIT_TIME, "render", "rcs1", 0.05},
        {GTEL_M_ENGINE_BUSY_TIME, "copy", "bcs0", 0.5},
        {GTEL_M_ENGINE_TICKS, "video", NULL, 0.3 * 192e5 / 1e9},
        {GTEL_M_ENGINE_TICKS, "video", "vcs0", 96e5 / 1e9},
        {GTEL_M_ENGINE_TICKS, "video", "vcs1", 192e4 / 1e9},
    };
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "i915")))
        return;
    set_on(&machine, GTEL_O_ENGINE_INSTANCES);
    set_on(&machine, GTEL_O_I915_SAMPLING);
    CHECK_INT(machine_gather(&machine), 0);
    machine_step(&machine, 1000);
    CHECK_INT(machine_gather(&machine), 0);
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        const struct gtel_reading *got =
            machine_find(&machine, NULL, want[i].metric, want[i].engine, want[i].instance);
        test_label = want[i].instance ? want[i].instance : want[i].engine;
        CHECK_NEAR(got ? got->value.f64 : -1, want[i].value, 1e-9);
        CHECK(got && (want[i].instance || got->dim[1].n == 0));
    }
    test_label = "";
    machine_done(&machine);
}

/* What t seconds of that make. */
static void check_ticks(const struct machine *machine, int t)
{
    static const struct {
        const char *engine;
        double start, share;
        uint64_t engines;
    } want[] = {{"render", 7, 0.25, 1}, {"video", 0, 0.3, 2}};
    for (size_t i = 0; i < 2; i++) {
        const struct gtel_reading *got =
            machine_find(machine, NULL, GTEL_M_ENGINE_TICKS, want[i].engine, NULL);
        if (!CHECK(got))
            continue;
        CHECK_NEAR(got->value.f64 * 1e9, want[i].start + want[i].share * 192e5 * t, 1e-9);
        CHECK(got->has_device_clock && got->t_ns == 101 + 19200000u * (uint64_t)t);
        got = machine_find(machine, NULL, GTEL_M_ENGINE_CAPACITY, want[i].engine, NULL);
        CHECK(got && got->value.u64 == want[i].engines);
    }
    CHECK(!machine_find(machine, NULL, GTEL_M_ENGINE_TICKS, "copy", NULL));
    CHECK(machine_find(machine, NULL, GTEL_M_ENGINE_BUSY_TIME, "copy", NULL));
    CHECK(!busy(machine));
}

static void test_ticks(void)
{
    static const char text[] =
        CARD TYPE("12") TICKS_OF(TOTAL("total-active-ticks", "0x10000b")) "end\n";
    struct machine machine;
    if (CHECK(machine_init(&machine, text, "i915"))) {
        for (int t = 0; t < 3; t++) {
            CHECK_INT(machine_gather(&machine), 0);
            check_ticks(&machine, t);
            machine_step(&machine, 1000);
        }
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 0);
    }
    machine_done(&machine);
}

/* They are engine use too: a clock of the GT that is listed and cannot be opened leaves them. */
static void test_ticks_partial(void)
{
    static const char text[] = CARD TYPE("12") TICKS_OF(TOTAL("total-active-ticks", "0x10000b"))
        EVENT("actual-frequency", "0x100000") MHZ("actual-frequency") "end\n";
    struct machine machine;
    if (CHECK(machine_init(&machine, text, "i915"))) {
        CHECK_INT(machine_gather(&machine), 0);
        check_ticks(&machine, 0);
        CHECK(!machine_find(&machine, NULL, GTEL_M_FREQUENCY_CYCLES, NULL, NULL));
    }
    machine_done(&machine);
}

/* Ticks of two tiles, or without a clock, make no share: nobody knows whose they are. Nor do those
 * of a GPU with virtual functions. */
static void test_ticks_alone(void)
{
    static const char *const texts[] = {
        CARD TYPE("12") TICKS_OF("end\n"),
        CARD TYPE("12")
            TICKS_OF(TOTAL("total-active-ticks", "0x10000b")) "file " DEVICE
                                                              "/sriov_numvfs\n| 2\nend\n",
        CARD TYPE("12") TICKS_OF(TOTAL("total-active-ticks-gt0", "0x10000b")
                                     TOTAL("total-active-ticks-gt1", "0x100000000010000b")) "end\n",
    };
    for (size_t i = 0; i < 3; i++) {
        struct machine machine;
        if (CHECK(machine_init(&machine, texts[i], "i915"))) {
            CHECK_INT(machine_gather(&machine), 0);
            CHECK(!machine_find(&machine, NULL, GTEL_M_ENGINE_TICKS, NULL, NULL));
            CHECK(!machine_find(&machine, NULL, GTEL_M_ENGINE_CAPACITY, "video", NULL));
            CHECK(machine_find(&machine, NULL, GTEL_M_ENGINE_BUSY_TIME, "copy", NULL));
        }
        machine_done(&machine);
    }
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
        machine_close(&machine);
        CHECK_INT(machine.fault->open_files, 0);
    }
    machine_done(&machine);
}

/*
 * i915 is unbound at 1.5 s: first its folder names the GPU no more, then the counters
 * stand still, and at 3 s the PMU goes. What they say at 2 s is not the whole interval, and nothing
 * at all of the next one: no share is made of that. Back at 4 s.
 */
static void test_leaving(void)
{
    static const char link[] = "link sys/bus/pci/drivers/i915/0000:00:02.0 -> "
                               "../../../../devices/pci0000:00/0000:00:02.0\n";
    char text[4096];
    struct machine machine;
    (void)snprintf(text, sizeof(text), "%s%s%sat 4s\n%s%s", CARD TYPE("12") ENGINES COUNTERS, link,
                   "at 1500ms\ngone sys/bus/pci/drivers/i915/0000:00:02.0\n"
                   "pmu i915 0x0 1375e6 0\npmu i915 0x10 4125e6 0\nat 3s\ngone " PMU "\n",
                   link, TYPE("13") ENGINES "pmu i915 0x0 0 5e8\npmu i915 0x10 0 5e8\nend\n");
    if (CHECK(machine_init(&machine, text, "i915"))) {
        for (int t = 0; t < 7; t++) {
            machine.needs_discovery = machine.needs_discovery || t == 4;
            (void)machine_gather(&machine);
            CHECK((busy(&machine) != NULL) == (t <= 1 || t >= 4));
            CHECK_INT(machine.batch.failed[0], 0);
            machine_step(&machine, 1000);
        }
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 0);
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

#define GT_EVENTS                                                                                  \
    TYPE("12")                                                                                     \
    "file " PMU "/cpumask\n| 0\n" EVENT("actual-frequency-gt0", "0x100000")                        \
        MHZ("actual-frequency-gt0") EVENT("requested-frequency-gt0", "0x100001")                   \
            MHZ("requested-frequency-gt0") EVENT("rc6-residency-gt0", "0x100003")                  \
                NS("rc6-residency-gt0") EVENT("rc6-residency-gt1", "0x1000000000100003")           \
                    NS("rc6-residency-gt1") EVENT("interrupts", "0x100002")                        \
                        EVENT("actual-frequency-gt2", "0x2000000000100000")                        \
                            MHZ("actual-frequency-gt2")
#define GT_COUNTERS                                                                                \
    "pmu i915 0x100000 0 900\npmu i915 0x100001 0 1100\npmu i915 0x100002 7 250\n"                 \
    "pmu i915 0x100003 0 4e8\npmu i915 0x1000000000100003 0 9e8\n"

static void count_rc6(void *arg, enum fault_op op, const char *path)
{
    *(unsigned *)arg +=
        op == FAULT_READ && gtel_str_ends(gtel_str_of(path), GTEL_STR("rc6_residency_ms")) ? 1 : 0;
}

static double value(const struct machine *machine, enum gtel_metric metric, const char *domain,
                    const char *gt)
{
    const struct gtel_reading *got = machine_find(machine, NULL, metric, domain, gt);
    return got ? gtel_reading_number(got) : -1;
}

/* Two GTs: what they count, in base units; the files that report the same are not read. */
static void test_gts(void)
{
    static const char text[] = CARD GT_EVENTS GT_COUNTERS
        "grow " DEVICE "/drm/card0/gt/gt0/rc6_residency_ms 1000 400\n"
        "grow " DEVICE "/drm/card0/gt/gt1/rc6_residency_ms 1000 900\nend\n";
    struct machine machine;
    unsigned reads = 0;
    test_label = "GTs";
    if (CHECK(machine_init(&machine, text, "i915"))) {
        set_on(&machine, GTEL_O_I915_SAMPLING);
        machine.fault->watch = count_rc6;
        machine.fault->watch_arg = &reads;
        CHECK_INT(machine_gather(&machine), 0);
        machine_step(&machine, 2000);
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_NEAR(value(&machine, GTEL_M_FREQUENCY_IDLE_TIME, "graphics", "0"), 0.8, 1e-9);
        CHECK_NEAR(value(&machine, GTEL_M_FREQUENCY_IDLE_TIME, "media", "1"), 1.8, 1e-9);
        CHECK_NEAR(value(&machine, GTEL_M_FREQUENCY_CYCLES, "graphics", "0"), 1800e6, 1);
        CHECK_NEAR(value(&machine, GTEL_M_FREQUENCY_CYCLES, "media", "1"), -1, 0);
        CHECK_NEAR(value(&machine, GTEL_M_FREQUENCY_REQUESTED_CYCLES, "graphics", "0"), 2200e6, 1);
        CHECK_NEAR(value(&machine, GTEL_M_GPU_INTERRUPTS, NULL, NULL), 507, 0);
        CHECK_INT(reads, 0);
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 0);
    }
    machine_done(&machine);
    test_label = "";
}

/*
 * Where the PMU may not be opened, the files report; and they do again for a GT it does not count.
 */
static void test_idle_files(void)
{
    static const char text[] = CARD GT_EVENTS "pmu_error i915 EACCES\n" PARANOID "grow " DEVICE
                                              "/drm/card0/gt/gt0/rc6_residency_ms 1000 400\nend\n";
    struct machine machine;
    unsigned reads = 0;
    if (CHECK(machine_init(&machine, text, "i915"))) {
        machine.fault->watch = count_rc6;
        machine.fault->watch_arg = &reads;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_NEAR(value(&machine, GTEL_M_FREQUENCY_IDLE_TIME, "graphics", "0"), 1, 1e-9);
        CHECK_INT(reads, 1);
    }
    machine_done(&machine);
}

/* The PMU counts the idle time of the first GT alone: the file of the second one is read. */
static void test_idle_of_one(void)
{
    static const char text[] = CARD TYPE("12") ENGINES COUNTERS EVENT("rc6-residency", "0x100003")
        NS("rc6-residency") "pmu i915 0x100003 0 4e8\n"
                            "grow " DEVICE "/drm/card0/gt/gt0/rc6_residency_ms 1000 400\n"
                            "grow " DEVICE "/drm/card0/gt/gt1/rc6_residency_ms 3000 900\nend\n";
    struct machine machine;
    unsigned reads = 0;
    test_label = "idle of one";
    if (CHECK(machine_init(&machine, text, "i915"))) {
        machine.fault->watch = count_rc6;
        machine.fault->watch_arg = &reads;
        CHECK_INT(machine_gather(&machine), 0);
        machine_step(&machine, 1000);
        reads = 0;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_NEAR(value(&machine, GTEL_M_FREQUENCY_IDLE_TIME, "graphics", "0"), 0.4, 1e-9);
        CHECK_NEAR(value(&machine, GTEL_M_FREQUENCY_IDLE_TIME, "media", "1"), 3.9, 1e-9);
        CHECK_INT(reads, 1);
    }
    machine_done(&machine);
    test_label = "";
}

static void count_groups(void *arg, enum fault_op op, const char *path)
{
    (void)path;
    *(unsigned *)arg += op == FAULT_PMU ? 1 : 0;
}

/* An event that is listed and has no counter costs the GT's values, not the engines'. */
static void test_partial(void)
{
    static const char text[] = CARD TYPE("12") ENGINES COUNTERS EVENT("rc6-residency", "0x100003")
        NS("rc6-residency") "at 3s\npmu i915 0x100003 0 1e9\nend\n";
    struct machine machine;
    if (CHECK(machine_init(&machine, text, "i915"))) {
        for (int t = 0; t < 5; t++) {
            machine.needs_discovery = t != 1;
            CHECK_INT(machine_gather(&machine), 0);
            CHECK(busy(&machine));
            CHECK_INT(value(&machine, GTEL_M_FREQUENCY_IDLE_TIME, "graphics", "0") >= 0, t >= 3);
            machine_step(&machine, 1000);
        }
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 0);
    }
    machine_done(&machine);
}

/* The CPU that counts is switched off at 2 s: the group is opened on the one that took over. */
static void test_hotplug(void)
{
    static const char text[] =
        CARD TYPE("12") ENGINES COUNTERS "at 2s\nfile " PMU "/cpumask\n| 1-3\nend\n";
    static const unsigned calls_by_gather[] = {2, 3, 5, 6}; /* open and read; read; both; read */
    struct machine machine;
    unsigned calls = 0;
    test_label = "hotplug";
    if (CHECK(machine_init(&machine, text, "i915"))) {
        machine.fault->watch = count_groups;
        machine.fault->watch_arg = &calls;
        for (int t = 0; t < 4; t++) {
            machine.needs_discovery = true;
            CHECK_INT(machine_gather(&machine), 0);
            CHECK_INT(calls, calls_by_gather[t]);
            CHECK(busy(&machine));
            machine_step(&machine, 1000);
        }
    }
    machine_done(&machine);
    test_label = "";
}

/* A read that fails: said and counted once, and the group is opened again in the next gather. */
static void test_read_error(void)
{
    struct machine machine;
    test_label = "read error";
    if (CHECK(machine_init(&machine, CARD TYPE("12") ENGINES COUNTERS "end\n", "i915"))) {
        CHECK_INT(machine_gather(&machine), 0);
        machine_step(&machine, 1000);
        env_fault_arm(machine.fault, 0, 0);
        CHECK_INT(machine_gather(&machine), 0);
        machine_step(&machine, 1000);
        env_fault_arm(machine.fault, machine.fault->calls, -EIO); /* the counters come last */
        CHECK_INT(machine_gather(&machine), -ENODEV);             /* asks for a discovery */
        CHECK(!busy(&machine));
        CHECK_INT(machine.batch.failed[0], 1);
        CHECK_INT(machine_gather(&machine), 0);
        CHECK(busy(&machine));
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 1);
        CHECK_INT(machine.fault->logs[GTEL_LOG_INFO], 1);
    }
    machine_done(&machine);
    test_label = "";
}

/* Which events count what: one beside bcs0-busy, and its value when it grows by 5e8 a second. */
/* Where it has no counter at the fourth time either, all stay open as they are. */
static void test_partial_for_good(void)
{
    static const char text[] = CARD TYPE("12") ENGINES COUNTERS EVENT("rc6-residency", "0x100003")
        NS("rc6-residency") "at 9s\npmu i915 0x100003 0 1e9\nend\n";
    struct machine machine;
    unsigned calls = 0;
    test_label = "partial for good";
    if (CHECK(machine_init(&machine, text, "i915"))) {
        machine.fault->watch = count_groups;
        machine.fault->watch_arg = &calls;
        for (unsigned t = 0; t < 6; t++) {
            unsigned before = calls;
            machine.needs_discovery = true;
            CHECK_INT(machine_gather(&machine), 0);
            CHECK_INT(calls - before, t < 4 ? 3 : 1); /* all, those of engines, read; or read */
            CHECK(busy(&machine));
            machine_step(&machine, 1000);
        }
    }
    machine_done(&machine);
    test_label = "";
}

static const struct event_case {
    const char *name;
    const char *config;
    const char *unit;        /* NULL: no such file */
    enum gtel_metric metric; /* NONE: it is not opened */
    const char *dims[2];
    double value; /* in the second gather */
} event_cases[] = {
    {"rcs0-busy", "0x0", "ns", GTEL_M_ENGINE_BUSY_TIME, {"render", NULL}, 0.5},
    {"rcs0-wait", "0x1", "ns", GTEL_M_ENGINE_WAIT_TIME, {"render", NULL}, 0.5},
    {"rcs0-sema", "0x2", "ns", GTEL_M_ENGINE_SEMA_TIME, {"render", NULL}, 0.5},
    {"rcs0-new", "0x3", "ns", GTEL_M_NONE, {NULL}, 0},
    {"vcs255-busy", "0x2ff0", "ns", GTEL_M_ENGINE_BUSY_TIME, {"video", NULL}, 0.5},
    {"vecs0-busy", "0x3000", "ns", GTEL_M_ENGINE_BUSY_TIME, {"video-enhance", NULL}, 0.5},
    {"ccs0-busy", "0x4000", "ns", GTEL_M_ENGINE_BUSY_TIME, {"compute", NULL}, 0.5},
    {"xcs0-busy", "0x5000", "ns", GTEL_M_NONE, {NULL}, 0},
    {"xcs0-busy-ticks", "0x5003", "ns", GTEL_M_NONE, {NULL}, 0},
    {"odd-busy-ticks", "0x100000", "M", GTEL_M_FREQUENCY_CYCLES, {"graphics", "0"}, 5e14},
    {"rcs0-busy-gt1", "0x1000000000000000", "ns", GTEL_M_NONE, {NULL}, 0},
    {"rcs0-busy", "0x0", "us", GTEL_M_NONE, {NULL}, 0},
    {"rcs0-busy", "0x0", "M", GTEL_M_NONE, {NULL}, 0},
    {"rcs0-busy", "0x0", NULL, GTEL_M_NONE, {NULL}, 0},
    {"actual-frequency", "0x100000", "M", GTEL_M_FREQUENCY_CYCLES, {"graphics", "0"}, 5e14},
    {"actual-frequency", "0x100000", "ns", GTEL_M_NONE, {NULL}, 0},
    {"requested-frequency",
     "0x100001",
     "M",
     GTEL_M_FREQUENCY_REQUESTED_CYCLES,
     {"graphics", "0"},
     5e14},
    {"interrupts", "0x100002", NULL, GTEL_M_GPU_INTERRUPTS, {NULL}, 5e8},
    {"rc6-residency", "0x100003", "ns", GTEL_M_FREQUENCY_IDLE_TIME, {"graphics", "0"}, 0.5},
    {"rc6-residency", "0x100003", "M", GTEL_M_NONE, {NULL}, 0},
    {"software-gt-awake-time", "0x100004", "ns", GTEL_M_NONE, {NULL}, 0},
    {"actual-frequency-gt1",
     "0x1000000000100000",
     "M",
     GTEL_M_FREQUENCY_CYCLES,
     {"media", "1"},
     5e14},
    {"requested-frequency-gt1",
     "0x1000000000100001",
     "M",
     GTEL_M_FREQUENCY_REQUESTED_CYCLES,
     {"media", "1"},
     5e14},
    {"rc6-residency-gt1",
     "0x1000000000100003",
     "ns",
     GTEL_M_FREQUENCY_IDLE_TIME,
     {"media", "1"},
     0.5},
    {"interrupts-gt1", "0x1000000000100002", NULL, GTEL_M_NONE, {NULL}, 0},
    {"rc6-residency-gt2", "0x2000000000100003", "ns", GTEL_M_NONE, {NULL}, 0},
};

/* What the driver samples by a timer is counted on request only (i915_pmu.c, pmu_needs_timer). */
static bool is_sampled(enum gtel_metric metric)
{
    return metric == GTEL_M_ENGINE_WAIT_TIME || metric == GTEL_M_ENGINE_SEMA_TIME ||
           metric == GTEL_M_FREQUENCY_CYCLES || metric == GTEL_M_FREQUENCY_REQUESTED_CYCLES;
}

static void check_event(const struct event_case *event, bool is_asked)
{
    bool is_counted = event->metric != GTEL_M_NONE && (is_asked || !is_sampled(event->metric));
    struct machine machine;
    char text[2048];
    char unit[200] = "";
    test_label = event->config;
    if (event->unit)
        (void)snprintf(unit, sizeof(unit), "file " PMU "/events/%s.unit\n| %s\n", event->name,
                       event->unit);
    (void)snprintf(text, sizeof(text),
                   "%sfile " PMU "/events/%s\n| config=%s\n%spmu i915 %s 0 5e8\nend\n",
                   CARD TYPE("12") EVENT("bcs0-busy", "0x1000")
                       NS("bcs0-busy") "file " PMU "/cpumask\n| 0\npmu i915 0x1000 0 1e8\n",
                   event->name, event->config, unit, event->config);
    if (!CHECK(machine_init(&machine, text, "i915")))
        return;
    if (is_asked)
        set_on(&machine, GTEL_O_I915_SAMPLING);
    CHECK_INT(machine_gather(&machine), 0);
    size_t alone = machine.batch.n;
    machine_step(&machine, 1000);
    CHECK_INT(machine_gather(&machine), 0);
    const struct gtel_reading *copy =
        machine_find(&machine, NULL, GTEL_M_ENGINE_BUSY_TIME, "copy", NULL);
    CHECK_NEAR(copy ? copy->value.f64 : -1, 0.1, 1e-9);
    if (is_counted) {
        const struct gtel_reading *got =
            machine_find(&machine, NULL, event->metric, event->dims[0], event->dims[1]);
        CHECK_NEAR(got ? gtel_reading_number(got) : -1, event->value, 1e-3);
    }
    for (size_t k = 0; !is_counted && k < machine.batch.n; k++) {
        enum gtel_metric metric = (enum gtel_metric)machine.batch.reading[k].metric;
        bool is_copy = gtel_str_eq(machine.batch.reading[k].dim[0], GTEL_STR("copy"));
        CHECK(is_copy || (metric != GTEL_M_ENGINE_BUSY_TIME && metric != GTEL_M_ENGINE_TICKS &&
                          !is_sampled(metric) && metric != GTEL_M_GPU_INTERRUPTS &&
                          metric != GTEL_M_FREQUENCY_IDLE_TIME));
    }
    CHECK_INT(machine.batch.n, alone);
    CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 0);
    machine_done(&machine);
}

static void test_events(void)
{
    for (size_t i = 0; i < 2 * GTEL_ARRAY_LEN(event_cases); i++)
        check_event(&event_cases[i / 2], i % 2 != 0);
    test_label = "";
}

#define BESIDE "sys/devices/pci0000:00/0000:03:00.0"
#define DISCRETE                                                                                   \
    "file " BESIDE "/uevent\n| DRIVER=i915\n| PCI_ID=8086:56A0\n| PCI_SLOT_NAME=0000:03:00.0\n"    \
    "link sys/class/drm/card1 -> ../../devices/pci0000:00/0000:03:00.0/drm/card1\n"                \
    "link " BESIDE "/drm/card1/device -> ../../../0000:03:00.0\n"                                  \
    "file " BESIDE "/drm/card1/gt_act_freq_mhz\n| 1000\n"

/* The PMU without an address in its name is that of the integrated GPU, or of the only one. */
static void test_whose(void)
{
    static const struct {
        const char *text;
        const char *has; /* key of the one that has engine use */
    } cases[] = {{CARD TYPE("12") ENGINES COUNTERS "end\n", "0000:00:02.0"},
                 {CARD DISCRETE TYPE("12") ENGINES COUNTERS "end\n", "0000:00:02.0"},
                 {DISCRETE TYPE("12") ENGINES COUNTERS "end\n", "0000:03:00.0"}};
    static const char *const keys[] = {"0000:00:02.0", "0000:03:00.0"};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct machine machine;
        if (!CHECK(machine_init(&machine, cases[i].text, "i915")))
            return;
        CHECK_INT(machine_gather(&machine), 0);
        for (size_t k = 0; k < GTEL_ARRAY_LEN(keys); k++)
            CHECK_INT(machine_find(&machine, keys[k], GTEL_M_ENGINE_BUSY_TIME, "render", NULL) !=
                          NULL,
                      strcmp(keys[k], cases[i].has) == 0);
        machine_done(&machine);
    }
}

int main(void)
{
    test_gts();
    test_idle_files();
    test_idle_of_one();
    test_partial();
    test_partial_for_good();
    test_hotplug();
    test_read_error();
    test_class();
    test_whose();
    test_events();
    test_ticks();
    test_ticks_partial();
    test_instances();
    test_short_of_memory();
    test_ticks_alone();
    test_refused();
    test_absent();
    test_unbind();
    test_leaving();
    test_asleep();
    return test_result();
}
