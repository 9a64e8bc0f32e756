/* SPDX-License-Identifier: MIT */
/* Source rapl: power of integrated GPUs, the two ways to it, and whose power it is not. */
#include "harness/alloc_fault.h"
#include "harness/source_harness.h"
#include "harness/findings.h"
#include "harness/test.h"

#include <errno.h>
#include <stdlib.h>

#define GPU "sys/devices/pci0000:00/0000:00:02.0"
#define CARD_OF(driver)                                                                            \
    "file " GPU "/uevent\n| DRIVER=" driver "\n| PCI_ID=8086:46A6\n| PCI_SLOT_NAME=0000:00:02.0\n" \
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:00:02.0/drm/card0\n"                \
    "link " GPU "/drm/card0/device -> ../../../0000:00:02.0\n"
#define CARD CARD_OF("i915")
#define DISCRETE                                                                                   \
    "file sys/devices/pci0000:00/0000:03:00.0/uevent\n| DRIVER=xe\n| PCI_ID=8086:E20B\n"           \
    "| PCI_SLOT_NAME=0000:03:00.0\n"                                                               \
    "link sys/class/drm/card1 -> ../../devices/pci0000:00/0000:03:00.0/drm/card1\n"                \
    "link sys/devices/pci0000:00/0000:03:00.0/drm/card1/device -> ../../../0000:03:00.0\n"
#define PMU "sys/bus/event_source/devices/power"
#define EVENT(name, number)                                                                        \
    "file " PMU "/events/" name "\n| event=" number "\nfile " PMU "/events/" name ".unit\n"        \
    "| Joules\nfile " PMU "/events/" name ".scale\n| 2.3283064365386962890625e-10\n"
#define TYPE(cpus) "file " PMU "/type\n| 21\nfile " PMU "/cpumask\n| " cpus "\n"
/* 10 W and 40 W: 2^-32 J in a count. */
#define PERF_GPU EVENT("energy-gpu", "0x04") "pmu power 0x4 0 42949672960\n"
#define PERF_PACKAGE EVENT("energy-pkg", "0x02") "pmu power 0x2 0 171798691840\n"
#define ZONE(dir, label)                                                                           \
    "file sys/class/powercap/" dir "/name\n| " label "\n"                                          \
    "file sys/class/powercap/" dir "/max_energy_range_uj\n| 1000000000\n"
#define ZONES                                                                                      \
    ZONE("intel-rapl:0", "package-0")                                                              \
    ZONE("intel-rapl:0:0", "core")                                                                 \
    ZONE("intel-rapl:0:1", "uncore") ZONE("intel-rapl-mmio:0", "package-0")
#define UNCORE "sys/class/powercap/intel-rapl:0:1/energy_uj"
#define PACKAGE "sys/class/powercap/intel-rapl:0/energy_uj"
#define TEMP1 "sys/devices/platform/coretemp.0/hwmon/hwmon5/temp1_input"
#define CORETEMP "file sys/devices/platform/coretemp.0/hwmon/hwmon5/"
#define SENSOR                                                                                     \
    "file sys/devices/platform/coretemp.0/hwmon/hwmon5/name\n| coretemp\n"                         \
    "file sys/devices/platform/coretemp.0/hwmon/hwmon5/temp1_label\n| Package id 0\n"              \
    "file sys/devices/platform/coretemp.0/hwmon/hwmon5/temp1_input\n| 58000\n"                     \
    "file sys/devices/platform/coretemp.0/hwmon/hwmon5/temp2_label\n| Core 0\n"                    \
    "file sys/devices/platform/coretemp.0/hwmon/hwmon5/temp2_input\n| 61000\n"
#define PARANOID "file proc/sys/kernel/perf_event_paranoid\n| 3\n"

static double joules(const struct machine *machine, enum gtel_metric metric, const char *domain)
{
    const struct gtel_reading *got = machine_find(machine, NULL, metric, domain, NULL);
    return got ? got->value.f64 : -1;
}

#define NO_SENSOR "sys/devices/platform/coretemp.0: 2: : load the kernel module:\nmodprobe coretemp"
#define PACKAGES                                                                                   \
    ": 34: the machine has several CPU packages, and nothing says which one the GPU is part of: "

/* After two seconds; -1: no reading. */
static const struct value_case {
    const char *label;
    const char *text;
    double gpu;
    double package;
    double celsius;      /* 0: none */
    const char *says[2]; /* each finding: what, error, why, fix */
} value_cases[] = {
    {"perf", CARD TYPE("0") PERF_GPU PERF_PACKAGE SENSOR "end\n", 20, 80, 58, {NULL}},
    {"xe", CARD_OF("xe") TYPE("0") PERF_GPU PERF_PACKAGE SENSOR "end\n", 20, 80, 58, {NULL}},
    {"perf before powercap",
     CARD TYPE("0") PERF_GPU ZONES "grow " UNCORE " 1 1000000\ngrow " PACKAGE " 1 1000000\nend\n",
     20,
     -1,
     0,
     {NO_SENSOR}},
    {"asleep: RAPL is the CPU's",
     CARD TYPE("0") PERF_GPU SENSOR "file " GPU "/power/runtime_status\n| suspended\nend\n",
     20,
     -1,
     58,
     {NULL}},
    {"a CPU that counts the package alone",
     CARD TYPE("0") PERF_PACKAGE SENSOR "end\n",
     -1,
     80,
     58,
     {"perf event power/energy-gpu/: 2: this CPU does not count the energy of its GPU: "}},
    {"powercap",
     CARD ZONES SENSOR "grow " UNCORE " 5000000 3000000\ngrow " PACKAGE " 7000000 9000000\nend\n",
     6,
     18,
     58,
     {NULL}},
    {"powercap that wraps", /* 1000 J: at 1 s 999.5 J, at 2 s 2.5 J */
     CARD ZONES SENSOR "grow " UNCORE " 996500000 3000000\nat 2s\nfile " UNCORE
                       "\n| 2500000\nend\n",
     6,
     -1,
     58,
     {NULL}},
    {"powercap that restarts", /* 3 J, and what seems to be a turn of 4000 J is none: from 0 J */
     CARD "file sys/class/powercap/intel-rapl:0:1/name\n| uncore\n"
          "file sys/class/powercap/intel-rapl:0:1/max_energy_range_uj\n| 9000000000\n"
          "grow " UNCORE " 5000000000 3000000\nat 2s\nfile " UNCORE "\n| 6000000\nend\n",
     0,
     -1,
     0,
     {NO_SENSOR}},
    {"powercap that reads 0 for ever",
     CARD ZONES SENSOR "file " UNCORE "\n| 0\nend\n",
     -1,
     -1,
     58,
     {"perf event power/energy-gpu/: 2: this CPU does not count the energy of its GPU: "}},
    {"a zone that may be another package's",
     CARD ZONES ZONE("intel-rapl:1",
                     "package-1") "refuse sys/class/powercap/intel-rapl:1/name EIO\n"
                                  "grow " UNCORE " 5000000 3000000\ngrow " PACKAGE
                                  " 7000000 9000000\nend\n",
     -1,
     -1,
     0,
     {"sys/class/powercap: 5: : ", NO_SENSOR}},
    {"two packages' zones",
     CARD ZONES ZONE("intel-rapl:1", "package-1") SENSOR
     "grow " UNCORE " 5000000 3000000\ngrow " PACKAGE " 7000000 9000000\nend\n",
     -1,
     -1,
     58,
     {"sys/class/powercap" PACKAGES}},
    {"several packages",
     CARD TYPE("0,28") PERF_GPU PERF_PACKAGE ZONES ZONE("intel-rapl:1", "package-1") SENSOR
     "dir sys/devices/platform/coretemp.1\ngrow " UNCORE " 1 1000000\nend\n",
     -1,
     -1,
     0,
     {"perf event power/energy-gpu/: 34: the machine has several CPU packages, and nothing says "
      "which one the GPU is part of: ",
      "sys/devices/platform/coretemp.0: 34: the machine has several CPU packages, and nothing says "
      "which one the GPU is part of: "}},
    {"a sensor of one core",
     CARD TYPE("0") PERF_GPU SENSOR CORETEMP "temp1_label\n| Core 0\nend\n",
     20,
     -1,
     0,
     {"sys/devices/platform/coretemp.0: 2: this CPU has no sensor of its package: "}},
    {"a sensor without a value for now",
     CARD TYPE("0") PERF_GPU SENSOR "error " TEMP1 " EAGAIN\nend\n",
     20,
     -1,
     0,
     {NULL}},
    {"a sensor without a value",
     CARD TYPE("0") PERF_GPU SENSOR "error " TEMP1 " ENODATA\nend\n",
     20,
     -1,
     0,
     {NULL}},
    {"another unit",
     CARD TYPE("0") PERF_GPU SENSOR "file " PMU "/events/energy-gpu.unit\n| Ws\nend\n",
     -1,
     -1,
     58,
     {"perf event power/energy-gpu/: 95: : "}},
    {"nothing at all",
     CARD "end\n",
     -1,
     -1,
     0,
     {"perf event power/energy-gpu/, sys/class/powercap: 2: no kernel module reads the CPU's "
      "energy counters: load the kernel modules:\nmodprobe -a rapl intel_rapl_msr",
      NO_SENSOR}},
    {"a discrete card where integrated graphics belong",
     CARD "file " GPU "/hwmon/hwmon1/name\n| i915\n" TYPE("0") PERF_GPU PERF_PACKAGE SENSOR "end\n",
     -1,
     -1,
     0,
     {NULL}},
    {"a discrete card", DISCRETE TYPE("0") PERF_GPU PERF_PACKAGE SENSOR "end\n", -1, -1, 0, {NULL}},
};

static void diagnose(struct machine *machine, const char *const *says, size_t max)
{
    struct gtel_findings list = {0};
    machine->source->diagnose(machine->state, &machine->registry, &list);
    check_findings(&list, says, max);
    gtel_findings_done(&list);
}

static void check_values(const struct value_case *c)
{
    struct machine machine;
    if (!CHECK(machine_init(&machine, c->text, "rapl")))
        return;
    for (int t = 0; t < 3; t++) {
        CHECK_INT(machine_gather(&machine), 0);
        if (t < 2)
            machine_step(&machine, 1000);
    }
    CHECK_NEAR(joules(&machine, GTEL_M_ENERGY, "gpu"), c->gpu, 1e-9);
    CHECK_NEAR(joules(&machine, GTEL_M_ENERGY, "package"), c->package, 1e-9);
    CHECK_NEAR(joules(&machine, GTEL_M_GPU_ENERGY, NULL), c->gpu, 1e-9); /* never the package's */
    CHECK(!machine_find(&machine, NULL, GTEL_M_GPU_TEMPERATURE, NULL, NULL));
    const struct gtel_reading *got =
        machine_find(&machine, NULL, GTEL_M_TEMPERATURE, "package", NULL);
    CHECK_NEAR(got ? got->value.f64 : 0, c->celsius, 1e-9);
    diagnose(&machine, c->says, GTEL_ARRAY_LEN(c->says));
    CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 0);
    machine_done(&machine);
}

static void test_values(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(value_cases); i++) {
        test_label = value_cases[i].label;
        check_values(&value_cases[i]);
    }
    test_label = "";
}

/* Beside a discrete card only the integrated one has the values. */
static void test_mixed(void)
{
    struct machine machine;
    if (CHECK(machine_init(&machine, CARD DISCRETE TYPE("0") PERF_GPU SENSOR "end\n", "rapl"))) {
        CHECK_INT(machine_gather(&machine), 0);
        CHECK(machine_find(&machine, "0000:00:02.0", GTEL_M_ENERGY, "gpu", NULL));
        CHECK(!machine_find(&machine, "0000:03:00.0", GTEL_M_ENERGY, NULL, NULL));
        CHECK(!machine_find(&machine, "0000:03:00.0", GTEL_M_TEMPERATURE, NULL, NULL));
    }
    machine_done(&machine);
}

/* Limits of the package's sensor, where it has them. */
static void test_limits(void)
{
    static const struct {
        const char *text;
        double limit; /* 0: none */
        double critical;
    } cases[] = {
        {"end\n", 0, 0},
        {CORETEMP "temp1_max\n| 100000\n" CORETEMP "temp1_crit\n| 105000\nend\n", 100, 105},
        {CORETEMP "temp1_max\n| 0\n" CORETEMP "temp1_crit\n| 1\nend\n", 0, 0.001}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct machine machine;
        char text[4000];
        (void)snprintf(text, sizeof(text), CARD TYPE("0") PERF_GPU SENSOR "%s", cases[i].text);
        if (!CHECK(machine_init(&machine, text, "rapl")))
            return;
        CHECK_INT(machine_gather(&machine), 0);
        const struct gtel_reading *limit =
            machine_find(&machine, NULL, GTEL_M_TEMPERATURE_LIMIT, "package", NULL);
        const struct gtel_reading *critical =
            machine_find(&machine, NULL, GTEL_M_TEMPERATURE_CRITICAL, "package", NULL);
        CHECK_NEAR(limit ? limit->value.f64 : 0, cases[i].limit, 1e-9);
        CHECK_NEAR(critical ? critical->value.f64 : 0, cases[i].critical, 1e-9);
        machine_done(&machine);
    }
}

/* Both ways are refused until 4 s: said once, in full, and all is well afterwards. */
static void test_refused(void)
{
    static const char text[] = CARD TYPE("0") PERF_GPU ZONES PARANOID SENSOR
        "pmu_error power EACCES\nrefuse " UNCORE " EACCES\nrefuse " PACKAGE " EACCES\n"
        "at 4s\npmu_error power none\nend\n";
    struct machine machine;
    struct gtel_findings list = {0};
    if (!CHECK(machine_init(&machine, text, "rapl")))
        return;
    for (int t = 0; t < 7; t++) {
        machine.needs_discovery = true;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK((joules(&machine, GTEL_M_ENERGY, "gpu") >= 0) == (t >= 4));
        CHECK_INT(machine.batch.failed[0], 0);
        if (t == 0) {
            const char *log = machine.fault->last_log;
            CHECK(strstr(log, "perf_event_paranoid is 3"));
            CHECK(strstr(log, "perf_event_paranoid=2 and give the program CAP_PERFMON"));
            machine.source->diagnose(machine.state, &machine.registry, &list);
        }
        machine_step(&machine, 1000);
    }
    CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 1);
    CHECK_STR(gtel_str_of(machine.fault->last_log), "rapl: 0000:00:02.0: power: works again");
    if (CHECK(list.n == 2)) {
        CHECK_STR(list.finding[0].what, "perf event power/energy-gpu/");
        CHECK_INT(list.finding[0].error, -EACCES);
        CHECK(strstr(list.finding[0].fix.p, "CAP_PERFMON"));
        CHECK_STR(list.finding[1].what, UNCORE);
        CHECK_INT(list.finding[1].error, -EACCES);
        CHECK_INT(list.finding[1].fix.n, 0); /* the event asks for less */
        CHECK_INT(list.finding[1].measurement, GTEL_MEASUREMENT_GPU_POWER_DOMAIN);
    }
    diagnose(&machine, NULL, 0);
    gtel_findings_done(&list);
    machine_done(&machine);
}

/* Rights to zones come one by one: what was counted goes on, and the other one begins. */
static void test_rights_later(void)
{
    static const char gpu_first[] =
        CARD ZONES SENSOR "grow " UNCORE " 5000000 3000000\nrefuse " PACKAGE " EACCES\n"
                          "at 2s\ngrow " PACKAGE " 7000000 9000000\nend\n";
    static const char package_first[] =
        CARD ZONES SENSOR "refuse " UNCORE " EACCES\ngrow " PACKAGE " 7000000 9000000\n"
                          "at 2s\ngrow " UNCORE " 5000000 3000000\nend\n";
    for (int is_package = 0; is_package < 2; is_package++) {
        struct machine machine;
        test_label = is_package ? "the package first" : "the GPU first";
        if (!CHECK(machine_init(&machine, is_package ? package_first : gpu_first, "rapl")))
            return;
        for (int t = 0; t < 5; t++) {
            const double gpu = is_package ? (t < 2 ? -1 : 3.0 * (t - 2)) : 3.0 * t;
            const double package = is_package ? 9.0 * t : (t < 2 ? -1 : 9.0 * (t - 2));
            machine.needs_discovery = true;
            CHECK_INT(machine_gather(&machine), 0);
            CHECK_NEAR(joules(&machine, GTEL_M_ENERGY, "gpu"), gpu, 1e-9);
            CHECK_NEAR(joules(&machine, GTEL_M_ENERGY, "package"), package, 1e-9);
            machine_step(&machine, 1000);
        }
        machine_done(&machine);
    }
    test_label = "";
}

static void count_zones(void *arg, enum fault_op op, const char *path)
{
    *(unsigned *)arg += op == FAULT_LIST && strcmp(path, "sys/class/powercap") == 0 ? 1 : 0;
}

/* Once all zones are open, nobody looks for more of them. */
static void test_all_open(void)
{
    struct machine machine;
    unsigned calls = 0;
    if (!CHECK(machine_init(&machine,
                            CARD ZONES SENSOR "grow " UNCORE " 5 3\ngrow " PACKAGE " 7 9\nend\n",
                            "rapl")))
        return;
    machine.fault->watch = count_zones;
    machine.fault->watch_arg = &calls;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(calls, 1);
    machine.needs_discovery = true;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(calls, 1);
    machine_done(&machine);
}

static void count_groups(void *arg, enum fault_op op, const char *path)
{
    (void)path;
    *(unsigned *)arg += op == FAULT_PMU ? 1 : 0;
}

/* The CPU that counts is switched off at 2 s: the counters are opened on the one that took over. */
static void test_hotplug(void)
{
    static const char text[] = CARD TYPE("0") PERF_GPU "at 2s\nfile " PMU "/cpumask\n| 1\nend\n";
    static const unsigned reads[] = {2, 3, 5, 6}; /* opened and read; read; both; read */
    struct machine machine;
    unsigned calls = 0;
    if (!CHECK(machine_init(&machine, text, "rapl")))
        return;
    machine.fault->watch = count_groups;
    machine.fault->watch_arg = &calls;
    for (int t = 0; t < 4; t++) {
        machine.needs_discovery = true;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(calls, reads[t]);
        CHECK_NEAR(joules(&machine, GTEL_M_ENERGY, "gpu"), 10.0 * t, 1e-9);
        machine_step(&machine, 1000);
    }
    machine_done(&machine);
}

/* A zone that is not asked for during 300 s is read twice in between; perf counters are not. */
static void test_keep(void)
{
    struct machine machine;
    test_label = "keep";
    if (CHECK(machine_init(&machine, CARD ZONES SENSOR "grow " UNCORE " 5000000 9000000\nend\n",
                           "rapl"))) {
        CHECK_INT(machine_gather(&machine), 0);
        uint64_t start_ns = gtel_env_now(&machine.fault->env);
        CHECK_INT(machine.source->due_ns(machine.state) - start_ns, 120000000000);
        machine_step(&machine, 120000);
        machine.batch.t_ns = gtel_env_now(&machine.fault->env);
        CHECK_INT(machine.source->tick(machine.state, &machine.registry, &machine.batch), 0);
        CHECK_INT(machine.source->due_ns(machine.state) - start_ns, 240000000000);
    }
    machine_done(&machine);
    if (CHECK(machine_init(&machine, CARD TYPE("0") PERF_GPU SENSOR "end\n", "rapl"))) {
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(machine.source->due_ns(machine.state), 0);
    }
    machine_done(&machine);
    test_label = "";
}

/* So long has the host slept. */
static uint64_t slept_ns;

static uint64_t sleeping_host(void *arg)
{
    (void)arg;
    return slept_ns;
}

/*
 * 603 J at 1 s; then the host sleeps and the counter restarts, which at 5 J looks like a turn
 * of 1000 J: 402 J that nobody drew.
 */
static void test_host_sleep(void)
{
    static const char text[] = CARD ZONES "file " UNCORE "\n| 600000000\nat 1s\nfile " UNCORE
                                          "\n| 603000000\nat 2s\nfile " UNCORE
                                          "\n| 5000000\nat 3s\nfile " UNCORE "\n| 9000000\nend\n";
    static const double reported[2][4] = {{0, 3, 405, 409}, {0, 3, 3, 7}};
    for (int sleeps = 0; sleeps < 2; sleeps++) {
        struct machine machine;
        test_label = sleeps ? "a sleep of the host" : "a turn";
        slept_ns = 7000000000; /* before */
        if (!CHECK(machine_init(&machine, text, "rapl")))
            return;
        struct gtel_env_ops ops = *machine.fault->env.ops;
        ops.suspended_ns = sleeping_host;
        machine.fault->env.ops = &ops;
        for (int t = 0; t < 4; t++) {
            if (t == 2 && sleeps)
                slept_ns += 60000000000;
            slept_ns += 1000; /* the clocks are not read together */
            CHECK_INT(machine_gather(&machine), 0);
            CHECK_NEAR(joules(&machine, GTEL_M_ENERGY, "gpu"), reported[sleeps][t], 1e-6);
            machine_step(&machine, 1000);
        }
        machine_done(&machine);
    }
    test_label = "";
}

/* The PMU: 10 and 40 W, and what the kernel took for a turn while the host slept. */
static void test_host_sleep_perf(void)
{
    static const char text[] = CARD TYPE("0") PERF_GPU PERF_PACKAGE
        "at 1500ms\npmu power 0x4 1000000000000000 42949672960\nend\n";
    static const double watts[] = {10, 40};
    struct machine machine;
    test_label = "a sleep of the host, perf";
    slept_ns = 0;
    if (!CHECK(machine_init(&machine, text, "rapl")))
        return;
    struct gtel_env_ops ops = *machine.fault->env.ops;
    ops.suspended_ns = sleeping_host;
    machine.fault->env.ops = &ops;
    double before[2] = {0};
    for (int t = 0; t < 5; t++) {
        bool is_sleep = t == 2;
        if (is_sleep)
            slept_ns += 60000000000;
        CHECK_INT(machine_gather(&machine), 0);
        const double now[2] = {joules(&machine, GTEL_M_ENERGY, "gpu"),
                               joules(&machine, GTEL_M_ENERGY, "package")};
        for (int i = 0; i < 2 && t > 0; i++)
            CHECK_NEAR(now[i] - before[i], is_sleep ? 0 : watts[i], 1e-6);
        memcpy(before, now, sizeof(before));
        machine_step(&machine, 1000);
    }
    machine_done(&machine);
    test_label = "";
}

/*
 * What seems to be a turn of a range of 9000 J, on counters of J: the energy starts again at 0. A
 * 0 after a 0 would be a step of 0, so there is no reading.
 */
static const struct {
    const char *label;
    unsigned counter[5];
    double want[5]; /* -1: no reading */
} restarts[] = {
    {"after steps", {5000, 5003, 6, 9, 12}, {0, 3, 0, 3, 6}},
    {"after the first read", {5000, 6, 9, 12, 15}, {0, -1, 3, 6, 9}},
    {"at 0", {5000, 5003, 0, 3, 6}, {0, 3, 0, 3, 6}},
    {"twice", {5000, 5003, 6, 2, 5}, {0, 3, 0, -1, 3}},
    {"that turns", {8998, 8999, 2, 4, 6}, {0, 1, 4, 6, 8}},
    {"with nothing used", {5000, 5000, 5003, 5003, 5004}, {0, 0, 3, 3, 4}},
    {"late", {0, 0, 3, 6, 9}, {-1, -1, 3, 6, 9}},
};

static void test_restarts(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(restarts); i++) {
        struct machine machine;
        char text[2000];
        size_t n = (size_t)snprintf(
            text, sizeof(text),
            CARD "file sys/class/powercap/intel-rapl:0:1/name\n| uncore\n"
                 "file sys/class/powercap/intel-rapl:0:1/max_energy_range_uj\n| 9000000000\n");
        for (size_t t = 0; t < 5; t++)
            n += (size_t)snprintf(text + n, sizeof(text) - n,
                                  "at %zus\nfile " UNCORE "\n| %u000000\n", t,
                                  restarts[i].counter[t]);
        (void)snprintf(text + n, sizeof(text) - n, "end\n");
        test_label = restarts[i].label;
        if (!CHECK(machine_init(&machine, text, "rapl")))
            return;
        for (size_t t = 0; t < 5; t++) {
            CHECK_INT(machine_gather(&machine), 0);
            CHECK_NEAR(joules(&machine, GTEL_M_ENERGY, "gpu"), restarts[i].want[t], 1e-6);
            machine_step(&machine, 1000);
        }
        machine_done(&machine);
    }
    test_label = "";
}

/* However often cards are checked, memory does not grow. */
static void test_memory(void)
{
    struct machine machine;
    int64_t before = 0;
    test_label = "memory";
    if (!CHECK(machine_init(&machine, CARD DISCRETE TYPE("0") PERF_GPU SENSOR "end\n", "rapl")))
        return;
    for (int t = 0; t < 1000; t++) {
        machine.needs_discovery = true;
        CHECK_INT(machine_gather(&machine), 0);
        machine_step(&machine, 60000);
        if (t == 10)
            before = alloc_fault_live();
    }
    CHECK_INT(alloc_fault_live(), before);
    machine_done(&machine);
    test_label = "";
}

int main(void)
{
    test_values();
    test_mixed();
    test_limits();
    test_refused();
    test_rights_later();
    test_all_open();
    test_hotplug();
    test_keep();
    test_host_sleep();
    test_host_sleep_perf();
    test_restarts();
    test_memory();
    return test_result();
}
