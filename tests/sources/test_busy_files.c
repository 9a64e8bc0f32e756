/* SPDX-License-Identifier: MIT */
/* Source busy_files: the layouts that kernels may have, with values worked out by hand. */
#include "harness/findings.h"
#include "harness/source_harness.h"
#include "harness/test.h"

#include <errno.h>
#include <stdio.h>

#define DEVICE "sys/devices/pci0000:00/0000:03:00.0"
#define CARD(driver)                                                                               \
    "file " DEVICE "/uevent\n| DRIVER=" driver "\n| PCI_ID=8086:56A0\n"                            \
    "| PCI_SLOT_NAME=0000:03:00.0\n"                                                               \
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:03:00.0/drm/card0\n"                \
    "link " DEVICE "/drm/card0/device -> ../../../0000:03:00.0\n"
#define ENGINE DEVICE "/drm/card0/engine"
/* i915's own settings, which are no counters */
#define SETTINGS                                                                                   \
    "file " ENGINE "/rcs0/heartbeat_interval_ms\n| 2500\n"                                         \
    "file " ENGINE "/rcs0/.defaults/heartbeat_interval_ms\n| 2500\n"
#define CLIENTS DEVICE "/drm/card0/clients"
#define BUSY(id, class, start, rate) "grow " CLIENTS "/" id "/busy/" class " " start " " rate "\n"
#define GT(n) DEVICE "/tile0/gt" n "/engines"

/* In each layout: render 2 s + 40 %; two video engines, 1 s + 20 % and 3 s + 10 %. */
static const struct {
    const char *label;
    const char *text;
} layouts[] = {
    {"engine/<name>/busy",
     CARD("i915") SETTINGS "grow " ENGINE "/rcs0/busy 2000000000 400000000\n"
                           "grow " ENGINE "/vcs0/busy 1000000000 200000000\n"
                           "grow " ENGINE "/vcs1/busy 3000000000 100000000\nend\n"},
    {"engine/<class>/<i>/busy", CARD("i915") "grow " ENGINE "/rcs/0/busy 2000000000 400000000\n"
                                             "grow " ENGINE "/VIDEO/0/busy 1000000000 200000000\n"
                                             "grow " ENGINE "/VIDEO/1/busy 3000000000 100000000\n"
                                             "file " ENGINE "/VIDEO/name\n| VIDEO\nend\n"},
    {"tile*/gt*/engines/<CLASS>/<i>/busy_ns",
     CARD("xe") "grow " GT("0") "/RENDER/0/busy_ns 2000000000 400000000\n"
                                "grow " GT("1") "/VIDEO_DECODE/0/busy_ns 1000000000 200000000\n"
                                                "grow " GT(
                                                    "1") "/VIDEO_DECODE/1/busy_ns 3000000000 "
                                                         "100000000\nend\n"},
};

static double time_of(const struct machine *machine, const char *engine)
{
    const struct gtel_reading *got =
        machine_find(machine, NULL, GTEL_M_ENGINE_BUSY_TIME, engine, NULL);
    return got ? got->value.f64 : -1;
}

static void test_layouts(void)
{
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        struct machine machine;
        test_label = layouts[i].label;
        if (!CHECK(machine_init(&machine, layouts[i].text, "busy_files")))
            return;
        for (int t = 0; t < 3; t++) {
            CHECK_INT(machine_gather(&machine), 0);
            CHECK_NEAR(time_of(&machine, "render"), 2 + 0.4 * t, 1e-9);
            CHECK_NEAR(time_of(&machine, "video"), (4 + 0.3 * t) / 2, 1e-9);
            CHECK_NEAR(time_of(&machine, "copy"), -1, 0);
            const struct gtel_reading *capacity =
                machine_find(&machine, NULL, GTEL_M_ENGINE_CAPACITY, "video", NULL);
            CHECK(capacity && capacity->value.u64 == 2);
            CHECK_INT(machine.batch.n, 4);
            machine_step(&machine, 1000);
        }
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 0);
        machine_done(&machine);
    }
}

/* Names that are no engines, or have no number that one can have. */
static void test_odd(void)
{
    static const char *const texts[] = {
        CARD("i915") "grow " ENGINE "/rcs0/busy 2000000000 0\ngrow " ENGINE
                     "/rcs65534/busy 1000000000 0\ngrow " ENGINE "/rcs65535/busy 9000000000 0\n"
                     "grow " ENGINE "/other0/busy 9000000000 0\nend\n",
        CARD("i915") "grow " ENGINE "/rcs/0/busy 2000000000 0\ngrow " ENGINE
                     "/rcs/65534/busy 1000000000 0\ngrow " ENGINE "/rcs/65535/busy 9000000000 0\n"
                     "grow " ENGINE "/rcs/all/busy 9000000000 0\nend\n"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct machine machine;
        test_label = i == 0 ? "names" : "numbers";
        if (!CHECK(machine_init(&machine, texts[i], "busy_files")))
            return;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_NEAR(time_of(&machine, "render"), 1.5, 1e-9);
        CHECK_INT(machine.batch.n, 2);
        machine_done(&machine);
    }
    test_label = "";
}

/* As every mainline kernel: nothing, quietly; and looked for again only after a discovery. */
static void test_absent(void)
{
    static const char *const texts[] = {
        CARD("i915") SETTINGS "end\n",
        CARD("xe") "file " GT("0") "/rcs/job_timeout_ms\n| 5000\nend\n",
        CARD("xe") "end\n",
        CARD("i915") "dir " ENGINE "/other\n" BUSY("3", "0", "0", "1") "end\n",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct machine machine;
        test_label = "absent";
        if (!CHECK(machine_init(&machine, texts[i], "busy_files")))
            return;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(machine.batch.n, 0);
        uint64_t calls = machine.fault->calls;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(machine.fault->calls, calls);
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 0);
        struct gtel_findings findings = {0};
        machine.source->diagnose(machine.state, &machine.registry, &findings);
        CHECK_INT(findings.n, 0);
        gtel_findings_done(&findings);
        machine_done(&machine);
    }
}

/* EngineInstances: each engine by itself, and its GT where engines are counted by GT. */
static void test_instances(void)
{
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        struct machine machine;
        char error[100];
        test_label = layouts[i].label;
        if (!CHECK(machine_init(&machine, layouts[i].text, "busy_files")))
            return;
        CHECK_INT(gtel_option_set(&machine.options, GTEL_O_ENGINE_INSTANCES, GTEL_STR("on"), error,
                                  sizeof(error)),
                  0);
        CHECK_INT(machine_gather(&machine), 0);
        machine_step(&machine, 1000);
        CHECK_INT(machine_gather(&machine), 0);
        const struct gtel_reading *got =
            machine_find(&machine, NULL, GTEL_M_ENGINE_BUSY_TIME, "video", "vcs1");
        CHECK_NEAR(got ? got->value.f64 : -1, 3.1, 1e-9);
        CHECK_STR(got ? got->dim[2] : GTEL_STR("none"), i == 2 ? "1" : "");
        got = machine_find(&machine, NULL, GTEL_M_ENGINE_BUSY_TIME, "render", "rcs0");
        CHECK_NEAR(got ? got->value.f64 : -1, 2.4, 1e-9);
        machine_done(&machine);
    }
}

/* One render, two video engines and none for copy; of two clients, one goes at 2.5 s and another
 * comes. */
#define CLIENT_FILES                                                                               \
    CARD("i915")                                                                                   \
    SETTINGS "dir " ENGINE "/vcs0\ndir " ENGINE "/vcs1\ndir " ENGINE "/vcs\ndir " ENGINE           \
             "/other\nfile " CLIENTS "/readme\n| x\n"                                              \
             "file " CLIENTS "/3/pid\n| 100\nfile " CLIENTS                                        \
             "/3/name\n| game\n" BUSY("3", "0", "7000000000", "300000000")                         \
                 BUSY("3", "2", "0", "500000000") BUSY("12", "0", "1000000000", "100000000")       \
                     BUSY("12", "1", "0", "900000000")

/* Clients: what they have added since the first sample, whether old or new. */
static void test_clients(void)
{
    static const char text[] =
        CLIENT_FILES "at 2500ms\ngone " CLIENTS "/3\n" BUSY("13", "0", "0", "400000000") "end\n";
    /* At 3 s: client 12 goes on; 13 has worked for half a second; 3 took 0.15 s with it. */
    static const double render[] = {0, 0.4, 0.8, 0.8 + 0.1 + 0.2, 1.1 + 0.5, 1.6 + 0.5};
    static const double video[] = {0, 0.25, 0.5, 0.5, 0.5, 0.5};
    struct machine machine;
    test_label = "clients";
    if (!CHECK(machine_init(&machine, text, "busy_files")))
        return;
    for (int t = 0; t < 6; t++) {
        machine.needs_discovery = true;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_NEAR(time_of(&machine, "render"), render[t], 1e-9);
        CHECK_NEAR(time_of(&machine, "video"), video[t], 1e-9);
        CHECK_NEAR(time_of(&machine, "copy"), -1, 0); /* no such engine is known */
        const struct gtel_reading *capacity =
            machine_find(&machine, NULL, GTEL_M_ENGINE_CAPACITY, "video", NULL);
        CHECK(capacity && capacity->value.u64 == 2);
        machine_step(&machine, 1000);
    }
    CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 0);
    machine_done(&machine);
}

/* Where a better source has reported engines of the GPU, the files of all clients are not read. */
static void test_clients_needless(void)
{
    static const enum gtel_metric metrics[] = {GTEL_M_ENGINE_BUSY_TIME, GTEL_M_ENGINE_TICKS,
                                               GTEL_M_GPU_AWAKE, GTEL_M_ENGINE_BUSY_TIME};
    static const struct gtel_device other = {.index = 1};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(metrics); i++) {
        bool is_needed = metrics[i] == GTEL_M_GPU_AWAKE || i == 3; /* the last is of another GPU */
        struct machine machine;
        test_label = "needless";
        if (!CHECK(machine_init(&machine, CLIENT_FILES "end\n", "busy_files")))
            return;
        CHECK_INT(machine_gather(&machine), 0);
        machine_step(&machine, 1000);
        gtel_batch_reset(&machine.batch);
        gtel_batch_f64(&machine.batch, i == 3 ? &other : machine.registry.device[0], metrics[i],
                       GTEL_STR("render"), 1);
        uint64_t before = machine.fault->calls;
        CHECK_INT(machine.source->sample(machine.state, &machine.registry, &machine.batch), 0);
        CHECK((machine.batch.n > 1) == is_needed);
        CHECK((machine.fault->calls > before + 10) == is_needed);
        machine_done(&machine);
    }
}

/* A time that goes back by 0.5 s at 2 s counts again once it has caught up, at 5 s. */
static void test_clients_back(void)
{
    static const char text[] =
        CLIENT_FILES "at 2s\n" BUSY("12", "0", "700000000", "200000000") "end\n";
    static const double render[] = {0, 0.4, 0.4 + 0.3, 1.0, 1.3, 1.6 + 0.2};
    struct machine machine;
    test_label = "clients, back";
    if (!CHECK(machine_init(&machine, text, "busy_files")))
        return;
    for (int t = 0; t < 6; t++) {
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_NEAR(time_of(&machine, "render"), render[t], 1e-9);
        machine_step(&machine, 1000);
    }
    machine_done(&machine);
}

/* As many clients as are read, each at 1 ms a second, and one more: then nothing is said. */
static void test_clients_many(void)
{
    enum { MOST = 512 };
    static char text[100000];
    for (unsigned clients = MOST; clients <= MOST + 1; clients++) {
        struct machine machine;
        size_t n = (size_t)snprintf(text, sizeof(text), "%s", CARD("i915") SETTINGS);
        for (unsigned i = 1; i <= clients; i++)
            n += (size_t)snprintf(text + n, sizeof(text) - n, BUSY("%u", "0", "5", "1000000"), i);
        (void)snprintf(text + n, sizeof(text) - n, "end\n");
        test_label = clients == MOST ? "most clients" : "one more";
        if (!CHECK(machine_init(&machine, text, "busy_files")))
            return;
        for (unsigned t = 0; t < 3; t++) {
            CHECK_INT(machine_gather(&machine), 0);
            CHECK_NEAR(time_of(&machine, "render"), clients == MOST ? MOST * 1e-3 * t : -1, 1e-9);
            CHECK_INT(machine.batch.failed[0], clients > MOST);
            machine_step(&machine, 1000);
        }
        machine_done(&machine);
    }
    test_label = "";
}

/* A sample that fails costs its gather, and no time: the next one has it. */
static void test_clients_broken(void)
{
    static const char text[] = CLIENT_FILES
        "at 500ms\nerror " CLIENTS
        "/12/busy/0 EIO\nat 1500ms\n" BUSY("12", "0", "1150000000", "100000000") "end\n";
    struct machine machine;
    test_label = "clients, broken";
    if (!CHECK(machine_init(&machine, text, "busy_files")))
        return;
    for (int t = 0; t < 4; t++) {
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_NEAR(time_of(&machine, "render"), t == 1 ? -1 : 0.4 * t, 1e-9);
        CHECK_INT(machine.batch.failed[0], t == 1);
        machine_step(&machine, 1000);
    }
    machine_done(&machine);
}

/* One engine that cannot be read takes its class with it, not the others; said once each way. */
static void test_broken(void)
{
    static const char text[] =
        CARD("i915") "grow " ENGINE "/rcs0/busy 0 1000\ngrow " ENGINE "/vcs0/busy 0 1000\n"
                     "grow " ENGINE "/vcs1/busy 0 1000\nat 1s\nerror " ENGINE "/vcs1/busy EIO\n"
                     "at 3s\ngrow " ENGINE "/vcs1/busy 3000 1000\nend\n";
    struct machine machine;
    test_label = "broken";
    if (!CHECK(machine_init(&machine, text, "busy_files")))
        return;
    for (int t = 0; t < 5; t++) {
        bool is_broken = t == 1 || t == 2;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK(time_of(&machine, "render") >= 0);
        CHECK((time_of(&machine, "video") < 0) == is_broken);
        CHECK_INT(machine.batch.failed[0], is_broken);
        machine_step(&machine, 1000);
    }
    CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 1);
    CHECK_INT(machine.fault->logs[GTEL_LOG_INFO], 1);
    machine_done(&machine);
}

/* A sleeping GPU is neither checked nor read. */
static void test_asleep(void)
{
    static const char text[] =
        CARD("xe") "file " DEVICE "/power/runtime_status\n| suspended\n"
                   "grow " GT("0") "/RENDER/0/busy_ns 0 1000\n"
                                   "at 2s\nfile " DEVICE "/power/runtime_status\n| active\n"
                                   "at 4s\nfile " DEVICE "/power/runtime_status\n| suspended\n"
                                   "end\n";
    struct machine machine;
    test_label = "asleep";
    if (!CHECK(machine_init(&machine, text, "busy_files")))
        return;
    for (int t = 0; t < 6; t++) {
        machine.needs_discovery = true;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK((time_of(&machine, "render") >= 0) == (t == 2 || t == 3));
        machine_step(&machine, 1000);
    }
    machine_done(&machine);
}

/* Three gathers with a discovery each, of which one call fails; then two without faults. */
static uint64_t run(const char *text, uint64_t fail_at, int error, uint64_t *ret_calls)
{
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "busy_files")))
        return 0;
    env_fault_arm(machine.fault, fail_at, error);
    for (int t = 0; t < 3; t++) {
        machine.needs_discovery = true;
        (void)machine_gather(&machine);
        machine_step(&machine, 1000);
    }
    *ret_calls = machine.fault->calls;
    env_fault_arm(machine.fault, 0, 0);
    for (int t = 0; t < 2; t++) {
        machine.needs_discovery = true;
        CHECK_INT(machine_gather(&machine), 0);
        machine_step(&machine, 1000);
    }
    uint64_t hash = machine_hash(&machine);
    machine_close(&machine);
    CHECK_INT(machine.fault->open_files, 0);
    machine_done(&machine);
    return hash;
}

/* For every outside call: it fails alone, nothing leaks, and values are there in the end. */
static void test_clients_faults(int error)
{
    static const char text[] = CLIENT_FILES "end\n";
    uint64_t calls = 0;
    uint64_t ignored = 0;
    (void)run(text, 0, 0, &calls);
    for (uint64_t k = 1; k <= calls; k++) {
        char label[64];
        (void)snprintf(label, sizeof(label), "clients: call %u with %d", (unsigned)k, error);
        test_label = label;
        CHECK(run(text, k, error, &ignored) != 0);
    }
}

static void test_faults(int error)
{
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        uint64_t calls = 0;
        uint64_t ignored = 0;
        uint64_t want = run(layouts[i].text, 0, 0, &calls);
        CHECK(calls > 20);
        for (uint64_t k = 1; k <= calls; k++) {
            char label[100];
            (void)snprintf(label, sizeof(label), "%s: call %u with %d", layouts[i].label,
                           (unsigned)k, error);
            test_label = label;
            CHECK(run(layouts[i].text, k, error, &ignored) == want);
        }
        test_label = "";
    }
}

int main(void)
{
    test_layouts();
    test_odd();
    test_instances();
    test_clients();
    test_clients_back();
    test_clients_needless();
    test_clients_many();
    test_clients_broken();
    test_clients_faults(-EIO);
    test_clients_faults(-ENODEV);
    test_absent();
    test_broken();
    test_asleep();
    test_faults(-EIO);
    test_faults(-ENODEV);
    test_faults(-EACCES);
    return test_result();
}
