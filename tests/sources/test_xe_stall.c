/* SPDX-License-Identifier: MIT */
/* Source xe_stall beside xe and xe_pmu: what windows show, when they are, and what goes wrong. */
#include "harness/source_lane.h"
#include "harness/tree_stall.h"
#include "harness/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define KEY "0000:03:00.0"
#define DEVICE "sys/devices/pci0000:00/" KEY
#define NODE "dev/dri/renderD128"
#define ID(id)                                                                                     \
    "file " DEVICE "/uevent\n| DRIVER=xe\n| PCI_ID=8086:" id "\n| PCI_SLOT_NAME=" KEY "\n"
#define CARD                                                                                       \
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/" KEY "/drm/card0\n"                     \
    "link " DEVICE "/drm/card0/device -> ../../../" KEY "\n"                                       \
    "file " DEVICE "/drm/renderD128/dev\n| 226:128\n"                                              \
    "dir " DEVICE "/tile0/gt0/engines/rcs\ndir " DEVICE "/tile0/gt0/engines/ccs\n"                 \
    "dir " DEVICE "/tile0/gt1/engines/vcs\n"                                                       \
    "file " DEVICE "/tile0/gt0/gtidle/name\n| gt0-rc\n"                                            \
    "file " DEVICE "/tile0/gt1/gtidle/name\n| gt1-mc\n"
/* Milliseconds of sleep per second. */
#define IDLE(tile, gt, start, rate)                                                                \
    "grow " DEVICE "/tile" tile "/gt" gt "/gtidle/idle_residency_ms " start " " rate "\n"
#define BUSY IDLE("0", "0", "0", "500") IDLE("0", "1", "0", "1000")
#define STALL(gt, records) "call stall " NODE " " gt " = xe2" records "\n"
#define STALL_ERROR(error) "call stall_error " NODE " 0 = " error "\n"
#define SAMPLES STALL("0", " | 1 0 0 0 0 2 0 1 0 0 | next | 6 0 0 0 0 6 0 0 0 0 | next")
#define MACHINE ID("E20B") CARD BUSY SAMPLES
#define PMU "xe_0000_03_00.0"
#define DIR "sys/bus/event_source/devices/" PMU
#define COUNTERS                                                                                   \
    "file " DIR "/type\n| 24\nfile " DIR "/cpumask\n| 0\n"                                         \
    "file " DIR "/events/engine-active-ticks\n| event=0x02\n"                                      \
    "file " DIR "/events/engine-total-ticks\n| event=0x03\n"                                       \
    "file " DIR "/format/event\n| config:0-11\nfile " DIR "/format/gt\n| config:60-63\n"           \
    "pmu " PMU " 0x2 7 5e8\npmu " PMU " 0x3 100 1e9\n"

/* When things were, in nanoseconds; 0: not yet. */
static struct {
    const struct lane *lane;
    unsigned opens;
    unsigned reads;
    uint64_t opened_ns;
    uint64_t read_ns; /* the last read */
    uint64_t longest_ns;
    uint64_t counters_ns; /* their last close */
    bool has_overlap;
} seen;

static void on_call(void *arg, enum fault_op op, const char *path)
{
    (void)arg;
    uint64_t now_ns = gtel_env_now(&seen.lane->tree_env);
    if (op == FAULT_PMU_CLOSE)
        seen.counters_ns = now_ns;
    if (op == FAULT_PMU && seen.read_ns == now_ns)
        seen.has_overlap = true;
    if (op != FAULT_STALL)
        return;
    if (strcmp(path, NODE) == 0) {
        seen.opens++;
        seen.opened_ns = now_ns;
        seen.has_overlap = seen.has_overlap || now_ns <= seen.counters_ns;
        return;
    }
    seen.reads++;
    seen.read_ns = now_ns;
    if (now_ns - seen.opened_ns > seen.longest_ns)
        seen.longest_ns = now_ns - seen.opened_ns;
}

/* A lane that has been asked for it. */
static bool start(struct lane *lane, const char *text)
{
    char all[8192];
    (void)snprintf(all, sizeof(all), "%send\n", text);
    memset(&seen, 0, sizeof(seen));
    seen.lane = lane;
    if (!CHECK(lane_init(lane, all, "xe,xe_pmu,xe_stall")))
        return false;
    tree_stall_play(&lane->tree_env, lane->tree);
    gtel_group_done(&lane->group);
    lane_set(lane, GTEL_O_XE_STALLS, "on");
    lane->fault->watch = on_call;
    return CHECK(gtel_group_init(&lane->group, "kernel", &lane->fault->env, &lane->options) == 0);
}

static double value(const struct lane *lane, enum gtel_metric metric, const char *dim)
{
    const struct gtel_reading *got = lane_find(lane, metric, dim, NULL);
    return got ? gtel_reading_number(got) : -1;
}

static void gather_all(struct lane *lane, unsigned n, uint64_t ms)
{
    for (unsigned i = 0; i < n; i++) {
        lane_gather(lane);
        lane_step(lane, ms);
    }
    lane_gather(lane);
}

static void test_values(void)
{
    struct lane lane;
    if (!start(&lane, MACHINE))
        return;
    lane_gather(&lane);
    lane_step(&lane, 1000);
    lane_gather(&lane); /* the GT has worked; measured now */
    CHECK_NEAR(value(&lane, GTEL_M_STALL_SHARE, "send"), -1, 0);
    CHECK_INT(seen.opens, 0);
    lane_step(&lane, 1000);
    lane_gather(&lane);
    CHECK_NEAR(value(&lane, GTEL_M_STALL_SHARE, "send"), 8.0 / 9, 1e-9);
    CHECK_NEAR(value(&lane, GTEL_M_STALL_SHARE, "sbid"), 1.0 / 9, 1e-9);
    CHECK_NEAR(value(&lane, GTEL_M_STALL_SHARE, "psdep"), 0, 0);
    CHECK_NEAR(value(&lane, GTEL_M_STALL_SAMPLES, "send"), 8, 0);
    CHECK_NEAR(value(&lane, GTEL_M_STALL_DROPPED, "send"), 0, 0);
    CHECK_NEAR(value(&lane, GTEL_M_ACTIVITY, "eu-loaded"), 7.0 / 16, 1e-9);
    CHECK_NEAR(value(&lane, GTEL_M_ACTIVITY_SAMPLES, "eu-loaded"), 16, 0);
    const struct gtel_reading *got = lane_find(&lane, GTEL_M_STALL_SHARE, "send", NULL);
    CHECK(got && got->t_ns == gtel_env_now(&lane.tree_env) - 810000000);
    CHECK_INT(seen.opens, 1); /* the media GT has no execution units */
    CHECK_INT(seen.reads, 4);
    CHECK_INT(seen.longest_ns, 40000000);
    CHECK_INT(lane.fault->logs[GTEL_LOG_WARNING], 0);
    lane_done(&lane);
}

/* A window is never open together with the counters of xe_pmu, whatever the interval. */
static void test_bursts(void)
{
    /* The first after the second gather, the others 900 ms later or at the next gather. */
    static const struct {
        uint64_t interval_ms;
        unsigned opens;
    } cases[] = {{100, 0}, {200, 6}, {300, 7}, {500, 6}, {1000, 5}, {3000, 1}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct lane lane;
        if (!start(&lane, MACHINE COUNTERS))
            continue;
        gather_all(&lane, (unsigned)(6000 / cases[i].interval_ms), cases[i].interval_ms);
        CHECK(!seen.has_overlap);
        CHECK(seen.counters_ns > 0);
        CHECK_INT(seen.opens, cases[i].opens);
        CHECK(seen.longest_ns <= 50000000);
        lane_done(&lane);
    }
}

/* A result is reported in the gathers of the next 1.2 s, when no newer one comes. */
static void test_kept(void)
{
    struct lane lane;
    unsigned reported = 0;
    uint64_t last_ns = 0;
    if (!start(&lane, MACHINE "at 1100ms\n" IDLE("0", "0", "550", "1000")))
        return;
    gather_all(&lane, 1, 1000); /* it has worked: a window from 1.15 s to 1.19 s */
    lane_step(&lane, 190);
    for (int i = 0; i < 40; i++) {
        lane_gather(&lane);
        if (value(&lane, GTEL_M_STALL_SHARE, "send") >= 0) {
            reported++;
            last_ns = gtel_env_now(&lane.tree_env);
        }
        lane_step(&lane, 50);
    }
    CHECK_INT(seen.opens, 1);
    CHECK_INT(reported, 24); /* each 50 ms up to 1.2 s */
    CHECK_INT(last_ns, seen.read_ns + 1200000000);
    lane_done(&lane);
}

/* What measuring takes does not keep source xe from seeing that the GT has fallen idle. */
static void test_idle(void)
{
    struct lane lane;
    if (!start(&lane, MACHINE "at 2s\n" IDLE("0", "0", "1000", "1000")))
        return;
    gather_all(&lane, 3, 1000);
    CHECK_INT(seen.opens, 2);
    gather_all(&lane, 4, 1000);
    CHECK_INT(seen.opens, 2);
    CHECK_NEAR(value(&lane, GTEL_M_STALL_SHARE, "send"), -1, 0);
    lane_done(&lane);
}

/* What keeps the GT awake is the window itself: that is not treated as work. */
static void test_held(void)
{
    struct lane lane;
    if (!start(&lane, MACHINE STALL("0", "") "at 1s\n" IDLE("0", "0", "500", "940") "at 2s\n" IDLE(
                          "0", "0", "1440", "1000")))
        return;
    gather_all(&lane, 6, 1000);
    CHECK_INT(seen.opens, 1);
    lane_done(&lane);
}

/* What is refused is tried again after growing pauses. */
static void test_pauses(void)
{
    struct lane lane;
    if (!start(&lane, MACHINE STALL_ERROR("EBUSY")))
        return;
    gather_all(&lane, 20, 1000);
    CHECK(seen.opens >= 4 && seen.opens <= 7);
    CHECK_INT(lane.fault->logs[GTEL_LOG_WARNING], 1);
    lane_done(&lane);
}

/* Once it has worked, the pauses begin again as short as the first, and grow as they did. */
static void test_pauses_again(void)
{
    struct lane lane;
    unsigned opens[4];
    if (!start(&lane, MACHINE STALL_ERROR("EBUSY") "at 20s\n" STALL_ERROR(
                          "none") "at 60s\n" STALL_ERROR("EBUSY")))
        return;
    for (unsigned i = 0; i < 4; i++) {
        gather_all(&lane, 20, 1000);
        opens[i] = seen.opens;
    }
    CHECK(opens[2] > opens[0]);
    CHECK_INT(opens[3] - opens[2], opens[0]);
    CHECK_INT(lane.fault->logs[GTEL_LOG_WARNING], 2);
    lane_done(&lane);
}

/* The end in the middle of a window closes it: lane_done counts what is open. */
static void test_end_within(void)
{
    struct lane lane;
    if (!start(&lane, MACHINE))
        return;
    gather_all(&lane, 1, 1000);
    lane_step(&lane, 170);
    CHECK_INT(seen.opens, 1);
    lane_done(&lane);
}

#define TILES                                                                                      \
    ID("0BD5")                                                                                     \
    CARD "dir " DEVICE "/tile1/gt2/engines/ccs\n"                                                  \
         "file " DEVICE "/tile1/gt2/gtidle/name\n| gt2-rc\n" BUSY IDLE(                            \
             "1", "2", "0", "300") "call stall " NODE " 0 = pvc | 1 9 0 0 0 3 0 1 0 0 | next\n"    \
                                   "call stall " NODE " 2 = pvc | 0 0 0 0 0 1 0 0 0 0 | next\n"

/* Two tiles, each with its own GT. */
static void test_tiles(void)
{
    struct lane lane;
    if (!start(&lane, TILES))
        return;
    gather_all(&lane, 2, 1000);
    const struct gtel_reading *first = lane_find(&lane, GTEL_M_STALL_SHARE, "send", "0");
    const struct gtel_reading *second = lane_find(&lane, GTEL_M_STALL_SHARE, "send", "1");
    if (CHECK(first && second)) {
        CHECK_NEAR(first->value.f64, 0.75, 1e-9);
        CHECK_NEAR(second->value.f64, 1, 1e-9);
    }
    CHECK(lane_find(&lane, GTEL_M_STALL_SHARE, "psdep", "0") == NULL);
    lane_done(&lane);
}

/* The second GT is another program's for a while: then the first one is not measured either. */
static void test_second_fails(void)
{
    static const char *const tiles[] = {"0", "1"};
    struct lane lane;
    if (!start(&lane, TILES "call stall_error " NODE " 2 = EBUSY\n"
                            "at 4s\ncall stall_error " NODE " 2 = none\n"))
        return;
    gather_all(&lane, 2, 1000);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(tiles); i++)
        CHECK(!lane_find(&lane, GTEL_M_STALL_SHARE, "send", tiles[i]));
    CHECK_INT(lane.fault->logs[GTEL_LOG_WARNING], 1);
    gather_all(&lane, 10, 1000);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(tiles); i++)
        CHECK(lane_find(&lane, GTEL_M_STALL_SHARE, "send", tiles[i]));
    lane_done(&lane);
}

/* What goes wrong: share of send, messages, failed readings, and what doctor says. */
static const struct {
    const char *label;
    const char *text;
    double send;
    unsigned warnings;
    uint32_t failed;
    const char *why; /* NULL: nothing */
} cases[] = {
    {"lost at first", STALL("0", " | lost | next | 0 0 0 0 0 1 | next"), 1, 0, 0, NULL},
    {"lost always", STALL("0", " | lost"), -1, 0, 0, NULL},
    {"nothing", STALL("0", ""), -1, 0, 0, NULL},
    {"active only", STALL("0", " | 5 | next"), -1, 0, 0, NULL},
    {"reset", STALL("0", " | 0 0 0 0 0 1 | next | reset"), -1, 0, 0, NULL},
    {"no right", STALL_ERROR("EACCES"), -1, 1, 0, "CAP_PERFMON"},
    {"another program", STALL_ERROR("EBUSY"), -1, 1, 0, "another program"},
    {"another error", STALL_ERROR("EIO"), -1, 1, 1, ""},
    {"older kernel", STALL_ERROR("EOPNOTSUPP"), -1, 0, 0, "since Linux 6.15"},
    {"other hardware", ID("56A0"), -1, 0, 0, "has none"},
    {"no render node", "gone " DEVICE "/drm/renderD128\n", -1, 0, 0, "no render node"},
};

static void check_doctor(struct lane *lane, const char *why)
{
    struct gtel_findings findings = {0};
    bool found = false;
    gtel_group_diagnose(&lane->group, &findings);
    for (size_t i = 0; i < findings.n; i++) {
        char text[512];
        const struct gtel_finding *finding = &findings.finding[i];
        (void)gtel_str_copy(text, sizeof(text), finding->why);
        if (finding->measurement == GTEL_MEASUREMENT_GPU_STALL)
            found = !why || strstr(text, why);
    }
    CHECK_INT(found, why != NULL);
    gtel_findings_done(&findings);
}

static void test_troubles(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct lane lane;
        char text[4096];
        test_label = cases[i].label;
        (void)snprintf(text, sizeof(text), "%s%s", MACHINE, cases[i].text);
        if (!start(&lane, text))
            continue;
        gather_all(&lane, 2, 1000);
        CHECK_NEAR(value(&lane, GTEL_M_STALL_SHARE, "send"), cases[i].send, 1e-9);
        CHECK_INT(lane.fault->logs[GTEL_LOG_WARNING], cases[i].warnings);
        CHECK_INT(lane.group.batch.failed[0], cases[i].failed);
        if (strcmp(cases[i].label, "reset") != 0)
            check_doctor(&lane, cases[i].why);
        lane_done(&lane);
    }
    test_label = "";
}

/* Values in the last of some gathers of which one call to the outside fails. */
static void run_with_fault(uint64_t fail_at, int error, uint64_t *ret_calls)
{
    struct lane lane;
    if (!start(&lane, MACHINE COUNTERS))
        return;
    lane_set(&lane, GTEL_O_RESCAN, "2s");
    env_fault_arm(lane.fault, fail_at, error);
    gather_all(&lane, 4, 1000);
    *ret_calls = lane.fault->calls;
    env_fault_arm(lane.fault, 0, 0);
    gather_all(&lane, 6, 1000);
    CHECK_NEAR(value(&lane, GTEL_M_STALL_SHARE, "send"), 8.0 / 9, 1e-9);
    CHECK(!seen.has_overlap);
    lane_done(&lane);
}

static void test_faults(void)
{
    static const int errors[] = {-EIO, -ENODEV, -EACCES, -ENOENT, -EBUSY};
    uint64_t calls = 0;
    uint64_t ignored;
    char label[64];
    run_with_fault(0, 0, &calls);
    CHECK(calls > 50);
    for (uint64_t at = 1; at <= calls; at++)
        for (size_t i = 0; i < GTEL_ARRAY_LEN(errors); i++) {
            (void)snprintf(label, sizeof(label), "call %u with %d", (unsigned)at, errors[i]);
            test_label = label;
            run_with_fault(at, errors[i], &ignored);
        }
    test_label = "";
}

int main(void)
{
    test_values();
    test_bursts();
    test_kept();
    test_idle();
    test_held();
    test_pauses();
    test_pauses_again();
    test_end_within();
    test_tiles();
    test_second_fails();
    test_troubles();
    test_faults();
    return test_result();
}
