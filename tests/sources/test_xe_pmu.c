/* SPDX-License-Identifier: MIT */
/*
 * Source xe_pmu beside source xe: what bursts show, and what they do not do to the GPU. Values are
 * worked out by hand from the counters of the machine below.
 */
#include "harness/alloc_fault.h"
#include "harness/source_lane.h"
#include "harness/source_harness.h"
#include "harness/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* A card with rcs0 and bcs0 on gt0, vcs0 and vcs1 on gt1; a tick is a nanosecond. */
#define KEY "0000:03:00.0"
#define DEVICE "sys/devices/pci0000:00/" KEY
#define CARD                                                                                       \
    "file " DEVICE "/uevent\n| DRIVER=xe\n| PCI_ID=8086:E20B\n| PCI_SLOT_NAME=" KEY "\n"           \
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/" KEY "/drm/card0\n"                     \
    "link " DEVICE "/drm/card0/device -> ../../../" KEY "\n"                                       \
    "dir " DEVICE "/tile0/gt0/engines/rcs\ndir " DEVICE "/tile0/gt0/engines/bcs\n"                 \
    "dir " DEVICE "/tile0/gt1/engines/vcs\n"                                                       \
    "file " DEVICE "/tile0/gt0/gtidle/name\n| gt0-rc\n"                                            \
    "file " DEVICE "/tile0/gt1/gtidle/name\n| gt1-mc\n"
#define STATUS(status) "file " DEVICE "/power/runtime_status\n| " status "\n"
#define DELAY                                                                                      \
    "file " DEVICE "/power/control\n| auto\n"                                                      \
    "file " DEVICE "/power/autosuspend_delay_ms\n| 1000\n"
/* Milliseconds of sleep per second. */
#define IDLE(gt, start, rate)                                                                      \
    "grow " DEVICE "/tile0/gt" gt "/gtidle/idle_residency_ms " start " " rate "\n"
#define PMU "xe_0000_03_00.0"
#define DIR "sys/bus/event_source/devices/" PMU
#define TYPE(number) "file " DIR "/type\n| " number "\nfile " DIR "/cpumask\n| 0\n"
#define EVENTS                                                                                     \
    "file " DIR "/events/engine-active-ticks\n| event=0x02\n"                                      \
    "file " DIR "/events/engine-total-ticks\n| event=0x03\n"
#define FORMAT(name, bits) "file " DIR "/format/" name "\n| config:" bits "\n"
#define FORMATS FORMAT("event", "0-11") FORMAT("gt", "60-63")
#define COUNTER(config, start, rate) "pmu " PMU " " config " " start " " rate "\n"
/* rcs0 at 50 %, bcs0 at 10 %, vcs0 at 30 %, vcs1 at 10 %. */
#define TICKS                                                                                      \
    COUNTER("0x2", "7", "5e8")                                                                     \
    COUNTER("0x3", "100", "1e9")                                                                   \
    COUNTER("0x100002", "0", "1e8")                                                                \
    COUNTER("0x100003", "0", "1e9")                                                                \
    COUNTER("0x1000000000200002", "0", "3e8")                                                      \
    COUNTER("0x1000000000200003", "0", "1e9")                                                      \
    COUNTER("0x1000000000201002", "0", "1e8") COUNTER("0x1000000000201003", "0", "1e9")
#define BUSY IDLE("0", "0", "500") IDLE("1", "0", "200")
#define MACHINE CARD STATUS("active") DELAY BUSY TYPE("24") EVENTS FORMATS TICKS
#define PARANOID "file proc/sys/kernel/perf_event_paranoid\n| 2\n"

static const char sources[] = "xe,xe_pmu";

static const struct gtel_reading *busy(const struct lane *lane, const char *engine)
{
    return lane_find(lane, GTEL_M_ENGINE_BUSY, engine, NULL);
}

static void check_share(const struct lane *lane, const char *engine, double want)
{
    const struct gtel_reading *got = busy(lane, engine);
    if (CHECK(got))
        CHECK_NEAR(got->value.f64, want, 1e-7); /* a counter is cut to a whole tick */
}

static void check_capacity(const struct lane *lane, const char *engine, uint64_t want)
{
    const struct gtel_reading *got = lane_find(lane, GTEL_M_ENGINE_CAPACITY, engine, NULL);
    if (CHECK(got))
        CHECK_INT(got->value.u64, want);
}

static const char *origin_of(const struct gtel_reading *reading)
{
    return reading ? gtel_sources[reading->source]->origins[reading->origin] : "";
}

/*
 * Nothing is known at 0 s; at 1 s the GPU has worked, so a burst follows, and at 2 s it is reported
 * with the time of its end. No burst is longer than the window, and none is open at a gather.
 */
static void test_shares(void)
{
    struct lane lane;
    test_label = "shares";
    if (!CHECK(lane_init(&lane, MACHINE "end\n", sources)))
        return;
    for (int t = 0; t < 6; t++) {
        lane_gather(&lane);
        CHECK((busy(&lane, NULL) != NULL) == (t >= 2));
        if (t >= 2) {
            check_share(&lane, "render", 0.5);
            check_share(&lane, "copy", 0.1);
            check_share(&lane, "video", 0.2);
            check_capacity(&lane, "render", 1);
            check_capacity(&lane, "video", 2);
            CHECK_STR(gtel_str_of(origin_of(busy(&lane, "video"))), "xe PMU (sampled)");
            uint64_t now_ns = gtel_env_now(&lane.tree_env);
            CHECK(busy(&lane, "copy") && busy(&lane, "copy")->t_ns == now_ns - 900000000);
        }
        lane_step(&lane, 1000);
    }
    CHECK_INT(lane.fault->pmu_longest_ns, 100000000);
    /* Eight tries found the engines: one render, nine copy, eight video of which two are there. */
    CHECK_INT(lane.fault->pmu_opens, 5 + 4);
    CHECK_INT(lane.fault->logs[GTEL_LOG_WARNING], 0);
    CHECK_INT(lane.group.errors, 0);
    lane_done(&lane);
}

/* An engine more, as after a change of ccs_mode: it is known after the next rescan. */
static void test_more_engines(void)
{
    struct lane lane;
    test_label = "more engines";
    if (!CHECK(lane_init(&lane,
                         MACHINE "at 9s\n" COUNTER("0x1000000000202002", "0", "8e8")
                             COUNTER("0x1000000000202003", "0", "1e9") "end\n",
                         sources)))
        return;
    for (int t = 0; t < 34; t++) {
        lane_gather(&lane);
        if (t >= 2) { /* no gather is without values: those before the last burst are of two */
            check_share(&lane, "video", t < 31 ? 0.2 : 0.4);
            check_capacity(&lane, "video", t < 31 ? 2 : 3);
        }
        lane_step(&lane, 1000);
    }
    CHECK_INT(lane.group.errors, 0);
    lane_done(&lane);
}

/* A shorter interval has a shorter window: never more than a tenth of the time. */
static void test_windows(void)
{
    static const struct {
        uint64_t interval_ms;
        uint64_t window_ns;
    } cases[] = {{100, 10000000}, {300, 30000000}, {1000, 100000000}, {10000, 100000000}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lane lane;
        test_label = "windows";
        if (!CHECK(lane_init(&lane, MACHINE "end\n", sources)))
            return;
        for (int n = 0; n < 12; n++) {
            lane_gather(&lane);
            if (n >= 2)
                check_share(&lane, "video", 0.2);
            lane_step(&lane, cases[i].interval_ms);
        }
        CHECK_INT(lane.fault->pmu_longest_ns, cases[i].window_ns);
        lane_done(&lane);
    }
}

/* A gather that comes before the window is over ends the burst, and has its values. */
static void test_early_gather(void)
{
    struct lane lane;
    test_label = "a gather within the window";
    if (!CHECK(lane_init(&lane, MACHINE "end\n", sources)))
        return;
    lane_gather(&lane);
    lane_step(&lane, 1000);
    lane_gather(&lane);
    lane_step(&lane, 40);
    CHECK_INT(lane.fault->pmu_longest_ns, 0); /* still open */
    lane_gather(&lane);
    CHECK_INT(lane.fault->pmu_longest_ns, 40000000);
    check_share(&lane, "render", 0.5);
    lane_done(&lane);
}

/* GTs that sleep all the time: no event is opened, and each class is known to have done nothing. */
static void test_idle(void)
{
    struct lane lane;
    test_label = "idle";
    if (!CHECK(lane_init(&lane,
                         CARD STATUS("active") IDLE("0", "0", "1000") IDLE("1", "0", "999")
                             TYPE("24") EVENTS TICKS "end\n",
                         sources)))
        return;
    for (int t = 0; t < 10; t++) {
        lane_gather(&lane);
        CHECK((busy(&lane, NULL) != NULL) == (t >= 1));
        if (t >= 1) {
            check_share(&lane, "render", 0);
            check_share(&lane, "copy", 0);
            check_share(&lane, "video", 0);
            CHECK_STR(gtel_str_of(origin_of(busy(&lane, "video"))), "xe gtidle");
        }
        CHECK(!busy(&lane, "compute"));
        lane_step(&lane, 1000);
    }
    CHECK_INT(lane.fault->pmu_opens, 0);
    lane_done(&lane);
}

/*
 * GTs that sleep nearly all the time are no proof that nothing is done: gt0 works for 1.7 % of the
 * time, and is sampled. That gt1 is awake for 1 % without working may be the price of being read:
 * it is sampled too, in every gather, so that no value is missing.
 */
static void test_nearly_idle(void)
{
    static const char text[] = CARD STATUS("active") IDLE("0", "7", "983") IDLE("1", "3", "990")
        TYPE("24") EVENTS TICKS COUNTER("0x2", "0", "17e6") COUNTER("0x100002", "0", "0")
            COUNTER("0x1000000000200002", "0", "0") COUNTER("0x1000000000201002", "0", "0") "end\n";
    struct lane lane;
    test_label = "nearly idle";
    if (!CHECK(lane_init(&lane, text, sources)))
        return;
    for (int t = 0; t < 40; t++) {
        lane_gather(&lane);
        if (t >= 4) {
            check_share(&lane, "render", 0.017);
            check_share(&lane, "video", 0);
            CHECK_STR(gtel_str_of(origin_of(busy(&lane, "video"))), "xe PMU (sampled)");
        }
        lane_step(&lane, 1000);
    }
    CHECK_INT(lane.fault->pmu_longest_ns, 100000000);
    lane_done(&lane);
}

/* One GT works and the other sleeps: only the first one's counters are opened. */
static void test_half_idle(void)
{
    struct lane lane;
    test_label = "one GT idle";
    if (!CHECK(lane_init(
            &lane, MACHINE IDLE("1", "0", "1000") "pmu " PMU " 0x1000000000200002 0 9e8\nend\n",
            sources)))
        return;
    for (int t = 0; t < 3; t++) {
        lane_step(&lane, 1000);
        lane_gather(&lane);
    }
    check_share(&lane, "render", 0.5);
    check_share(&lane, "video", 0); /* as its GT says; the counters were not asked */
    CHECK_STR(gtel_str_of(origin_of(busy(&lane, "video"))), "xe gtidle");
    CHECK_STR(gtel_str_of(origin_of(busy(&lane, "copy"))), "xe PMU (sampled)");
    lane_done(&lane);
}

/*
 * The GPU stops working at 3 s. The burst that follows the gather of 3 s keeps gt0 awake for a
 * tenth of the next second, so its sleep falls short of the time by that; it is idle all the same,
 * rests from 5 s on, and is suspended at 6 s. From the end of that burst on nothing is opened.
 */
static void test_rest(void)
{
    static const char text[] = MACHINE "at 3s\n" IDLE("0", "1500", "900")
        IDLE("1", "600", "900") "at 4s\n" IDLE("0", "2400", "1000")
            IDLE("1", "1500", "1000") "at 6s\n" STATUS("suspended") "end\n";
    struct lane lane;
    uint64_t opens = 0;
    test_label = "rest";
    if (!CHECK(lane_init(&lane, text, sources)))
        return;
    for (int t = 0; t < 12; t++) {
        lane_gather(&lane);
        const struct gtel_device *device = lane_device(&lane, KEY);
        opens = t == 4 ? lane.fault->pmu_opens : opens;
        if (t == 3 || t == 4)
            check_share(&lane, "render", 0.5); /* the burst after the gather before */
        CHECK(device && device->is_left_alone == (t >= 5));
        CHECK(device && device->is_asleep == (t >= 6));
        CHECK(t < 5 || !busy(&lane, NULL));
        lane_step(&lane, 1000);
    }
    CHECK_INT(lane.fault->pmu_opens, opens);
    lane_done(&lane);
}

/* The same GPU without a delay does not rest: it is found idle, gather after gather, by itself. */
static void test_idle_again(void)
{
    static const char text[] = CARD BUSY TYPE("24") EVENTS TICKS "at 3s\n" IDLE("0", "1500", "900")
        IDLE("1", "600", "900") "at 4s\n" IDLE("0", "2400", "1000")
            IDLE("1", "1500", "1000") "end\n";
    struct lane lane;
    uint64_t opens = 0;
    test_label = "idle again";
    if (!CHECK(lane_init(&lane, text, sources)))
        return;
    for (int t = 0; t < 8; t++) {
        lane_gather(&lane);
        opens = t == 4 ? lane.fault->pmu_opens : opens;
        if (t >= 2)
            check_share(&lane, "render", t <= 4 ? 0.5 : 0);
        lane_step(&lane, 1000);
    }
    CHECK_INT(lane.fault->pmu_opens, opens);
    lane_done(&lane);
}

/* Without the right: said once, with what helps, and no zeros from an idle GPU. With it, all is
 * well from the next search for devices on. */
static void test_refused(const char *error)
{
    static const char last[] = "at 6s\n" IDLE("0", "3000", "1000") IDLE("1", "1200", "1000");
    struct lane lane;
    char text[8192];
    test_label = error;
    (void)snprintf(
        text, sizeof(text), "%spmu_error " PMU " %s\n%sat 9s\n%s%spmu_error " PMU " none\nend\n",
        MACHINE PARANOID, error, last, IDLE("0", "6000", "500"), IDLE("1", "4200", "500"));
    if (!CHECK(lane_init(&lane, text, sources)))
        return;
    lane_set(&lane, GTEL_O_RESCAN, "1s");
    for (int t = 0; t < 14; t++) {
        lane_gather(&lane);
        CHECK((busy(&lane, NULL) != NULL) == (t >= 11));
        CHECK_INT(lane.group.batch.failed[0], 0);
        CHECK(t != 10 || strstr(lane.fault->last_log, "perf_event_paranoid is 2"));
        lane_step(&lane, 1000);
    }
    CHECK_INT(lane.fault->logs[GTEL_LOG_WARNING], 1);
    CHECK_STR(gtel_str_of(lane.fault->last_log), "xe_pmu: " KEY ": engine use: works again");
    CHECK_INT(lane.group.errors, 0);
    lane_done(&lane);
}

/* No PMU in this kernel or of a VF, or one without events of engines: quiet, and nothing claimed.
 */
static void test_absent(void)
{
    static const char *const texts[] = {
        CARD STATUS("active") BUSY "end\n",
        CARD STATUS("active") BUSY TYPE("24") "file " DIR
                                              "/events/gt-c6-residency\n| event=1\nend\n",
        CARD STATUS("active") IDLE("0", "0", "1000") IDLE("1", "0", "1000") TYPE("24") "end\n",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct lane lane;
        test_label = "absent";
        if (!CHECK(lane_init(&lane, texts[i], sources)))
            return;
        for (int t = 0; t < 4; t++) {
            lane_gather(&lane);
            CHECK(!busy(&lane, NULL));
            lane_step(&lane, 1000);
        }
        CHECK_INT(lane.fault->logs[GTEL_LOG_WARNING], 0);
        CHECK_INT(lane.fault->pmu_opens, 0);
        lane_done(&lane);
    }
}

/* Ticks that stand still, restart or make no share: no value rather than a wrong one. */
static void test_odd_ticks(void)
{
    static const struct {
        const char *label;
        const char *text;
        double share; /* of rcs0; -1: of no engine anything */
    } cases[] = {
        {"no ticks at all", MACHINE COUNTER("0x3", "100", "0") "end\n", -1},
        {"backwards", MACHINE COUNTER("0x2", "1e12", "-5e8") "end\n", -1},
        {"the whole backwards", MACHINE COUNTER("0x3", "1e12", "-5e8") "end\n", -1},
        {"120 %", MACHINE COUNTER("0x2", "0", "12e8") "end\n", -1},
        {"a tick more than 105 %", MACHINE COUNTER("0x2", "0", "1050000010") "end\n", -1},
        {"105 %", MACHINE COUNTER("0x2", "0", "105e7") "end\n", 1},
        {"all", MACHINE COUNTER("0x2", "0", "1e9") "end\n", 1},
        {"almost all", MACHINE COUNTER("0x2", "0", "99e7") "end\n", 0.99},
        {"nothing", MACHINE COUNTER("0x2", "5", "0") "end\n", 0},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct lane lane;
        test_label = cases[i].label;
        if (!CHECK(lane_init(&lane, cases[i].text, sources)))
            return;
        for (int t = 0; t < 4; t++) {
            lane_gather(&lane);
            if (t >= 2 && cases[i].share >= 0)
                check_share(&lane, "render", cases[i].share);
            else
                CHECK(!busy(&lane, NULL));
            lane_step(&lane, 1000);
        }
        lane_done(&lane);
    }
}

/* XeEngines=hold: one group from the first gather on; ticks on the clock of all ticks. */
static void test_hold(void)
{
    struct lane lane;
    test_label = "hold";
    if (!CHECK(lane_init(&lane, MACHINE "end\n", sources)))
        return;
    lane_set(&lane, GTEL_O_XE_ENGINES, "hold");
    for (int t = 0; t < 5; t++) {
        lane_gather(&lane);
        const struct gtel_reading *got = lane_find(&lane, GTEL_M_ENGINE_TICKS, "video", NULL);
        if (CHECK(got)) {
            CHECK_NEAR(got->value.f64, 0.4 * t, 1e-9);
            CHECK(got->t_ns == 2000000000u * (uint64_t)t + 1);
            CHECK(got->has_device_clock);
            CHECK_STR(gtel_str_of(origin_of(got)), "xe PMU");
        }
        CHECK(!busy(&lane, NULL));
        for (size_t i = 0; i < lane.group.batch.n; i++) /* single engines only when asked for */
            CHECK(lane.group.batch.reading[i].metric != GTEL_M_ENGINE_TICKS ||
                  lane.group.batch.reading[i].dim[1].n == 0);
        check_capacity(&lane, "video", 2);
        lane_step(&lane, 1000);
    }
    CHECK_INT(lane.fault->pmu_opens, 4 + 1);
    lane_done(&lane);
}

/* Also without source xe beside it, a card that sleeps has its counters opened when it wakes. */
static void test_hold_asleep(void)
{
    struct lane lane;
    test_label = "hold, asleep";
    if (!CHECK(lane_init(&lane, MACHINE STATUS("suspended") "at 3s\n" STATUS("active") "end\n",
                         "xe_pmu")))
        return;
    lane_set(&lane, GTEL_O_XE_ENGINES, "hold");
    for (int t = 0; t < 5; t++) {
        lane_gather(&lane);
        CHECK((lane_find(&lane, GTEL_M_ENGINE_TICKS, "copy", NULL) != NULL) == (t >= 3));
        CHECK((lane.fault->pmu_opens > 0) == (t >= 3));
        lane_step(&lane, 1000);
    }
    lane_done(&lane);
}

static void test_off(void)
{
    struct lane lane;
    test_label = "off";
    if (!CHECK(lane_init(&lane, MACHINE "end\n", sources)))
        return;
    lane_set(&lane, GTEL_O_XE_ENGINES, "off");
    for (int t = 0; t < 4; t++) {
        lane_gather(&lane);
        CHECK(!busy(&lane, NULL) && !lane_find(&lane, GTEL_M_ENGINE_CAPACITY, NULL, NULL));
        lane_step(&lane, 1000);
    }
    CHECK_INT(lane.fault->pmu_opens, 0);
    CHECK_INT(lane.group.errors, 0);
    lane_done(&lane);
}

/* EngineInstances: each engine by itself, with its GT, beside its class; from sleep as well. */
static void test_instances(const char *mode)
{
    static const struct {
        const char *engine, *instance, *gt;
        double share;
    } want[] = {{"render", "rcs0", "0", 0.5},
                {"copy", "bcs0", "0", 0.1},
                {"video", "vcs0", "1", 0.3},
                {"video", "vcs1", "1", 0.1}};
    bool is_held = strcmp(mode, "hold") == 0;
    struct lane lane;
    test_label = mode;
    if (!CHECK(lane_init(&lane, MACHINE "at 4s\n" IDLE("1", "800", "1000") "end\n", sources)))
        return;
    lane_set(&lane, GTEL_O_XE_ENGINES, mode);
    lane_set(&lane, GTEL_O_ENGINE_INSTANCES, "on");
    for (int t = 0; t < 7; t++) {
        lane_gather(&lane);
        for (size_t i = 0; i < 4; i++) {
            const struct gtel_reading *got =
                lane_find(&lane, is_held ? GTEL_M_ENGINE_TICKS : GTEL_M_ENGINE_BUSY, want[i].engine,
                          want[i].instance);
            if (!CHECK((got != NULL) == (is_held || t >= 2)) || !got)
                continue;
            bool has_slept = t >= 6 && i >= 2;
            double now = is_held ? want[i].share * t : has_slept ? 0 : want[i].share;
            CHECK_NEAR(got->value.f64, now + (is_held && i == 0 ? 7e-9 : 0), 1e-7);
            CHECK_STR(got->dim[2], want[i].gt);
            if (has_slept && !is_held) /* known now; a sample is older */
                CHECK_INT(got->t_ns, gtel_env_now(&lane.tree_env));
        }
        if (t == 2 && !is_held)
            check_share(&lane, "video", 0.2);
        lane_step(&lane, 1000);
    }
    CHECK_INT(lane.group.errors, 0);
    lane_done(&lane);
}

/* Two functions: each has its values under its own name, and the GPU as a whole has none. */
static void test_functions(void)
{
    static const char text[] = CARD STATUS("active") IDLE("0", "0", "500") IDLE("1", "0", "1000")
        TYPE("24") EVENTS COUNTER("0x2", "0", "2e8") COUNTER("0x3", "0", "1e9")
            COUNTER("0x100000000002", "0", "3e8") COUNTER("0x100000000003", "0", "5e8")
                COUNTER("0x1000000000200003", "0", "1e9") "file " DEVICE "/sriov_numvfs\n| 1\n"
                                                          "end\n";
    struct lane lane;
    test_label = "functions";
    if (!CHECK(lane_init(&lane, text, sources)))
        return;
    for (int t = 0; t < 3; t++) {
        lane_step(&lane, 1000);
        lane_gather(&lane);
    }
    CHECK(!busy(&lane, NULL));
    const struct gtel_reading *pf = lane_find(&lane, GTEL_M_ENGINE_BUSY, "render", "pf");
    const struct gtel_reading *vf = lane_find(&lane, GTEL_M_ENGINE_BUSY, "render", "vf1");
    const struct gtel_reading *video = lane_find(&lane, GTEL_M_ENGINE_BUSY, "video", "vf1");
    CHECK(pf && vf && video);
    CHECK_NEAR(pf ? pf->value.f64 : -1, 0.2, 1e-9);
    CHECK_NEAR(vf ? vf->value.f64 : -1, 0.6, 1e-9);
    CHECK_NEAR(video ? video->value.f64 : -1, 0, 0);
    lane_done(&lane);
}

/* Unbound between 3 s and 5 s; then the PMU is back under another number, with other counters. */
static void test_unbind(const char *mode)
{
    static const char text[] =
        MACHINE "at 3500ms\ngone " DIR "\ngone sys/class/drm\ndir sys/class/drm\ngone " DEVICE
                "\nat 5500ms\n" CARD STATUS("active") IDLE("0", "0", "500") IDLE("1", "0", "500")
                    TYPE("25") EVENTS TICKS "end\n";
    struct lane lane;
    test_label = mode;
    if (!CHECK(lane_init(&lane, text, sources)))
        return;
    lane_set(&lane, GTEL_O_RESCAN, "1s");
    lane_set(&lane, GTEL_O_XE_ENGINES, mode);
    enum gtel_metric metric = strcmp(mode, "hold") == 0 ? GTEL_M_ENGINE_TICKS : GTEL_M_ENGINE_BUSY;
    for (int t = 0; t < 12; t++) {
        lane_gather(&lane);
        if (t == 3 || t >= 9)
            CHECK(lane_find(&lane, metric, "render", NULL));
        if (t == 5)
            CHECK(!lane_find(&lane, metric, "render", NULL));
        lane_step(&lane, 1000);
    }
    CHECK_INT(lane.fault->logs[GTEL_LOG_ERROR], 0);
    lane_done(&lane);
}

/* On every recorded machine with xe: no burst is longer than the window, and some have bursts. */
static void test_machines(void)
{
    static char names[MACHINES_MAX][MACHINE_NAME_MAX];
    size_t n = machine_names(names);
    uint64_t bursts = 0;
    for (size_t i = 0; i < n; i++) {
        struct lane lane;
        char *text = machine_text(names[i]);
        test_label = names[i];
        if (!CHECK(text) || !CHECK(lane_init(&lane, text, sources))) {
            free(text);
            return;
        }
        for (int t = 0; t < 12; t++) {
            lane_gather(&lane);
            lane_step(&lane, 1000);
        }
        CHECK(lane.fault->pmu_longest_ns <= 100000000);
        bursts += lane.fault->pmu_longest_ns > 0;
        lane_done(&lane);
        free(text);
    }
    test_label = "";
    CHECK(bursts >= 5);
}

/* Engine values in the last of some gathers of which one call to the outside fails. */
static double run_with_fault(const char *mode, uint64_t fail_at, int error, uint64_t *ret_calls)
{
    struct lane lane;
    double sum = 0;
    if (!CHECK(lane_init(&lane, MACHINE "end\n", sources)))
        return 0;
    lane_set(&lane, GTEL_O_XE_ENGINES, mode);
    lane_set(&lane, GTEL_O_RESCAN, "2s");
    env_fault_arm(lane.fault, fail_at, error);
    for (int t = 0; t < 5; t++) {
        lane_gather(&lane);
        lane_step(&lane, 1000);
    }
    *ret_calls = lane.fault->calls;
    CHECK(fail_at == 0 || lane.fault->has_failed);
    env_fault_arm(lane.fault, 0, 0);
    for (int t = 0; t < 6; t++) {
        lane_step(&lane, 1000);
        lane_gather(&lane);
    }
    for (size_t i = 0; i < lane.group.batch.n; i++) {
        const struct gtel_reading *reading = &lane.group.batch.reading[i];
        if (reading->metric == GTEL_M_ENGINE_BUSY || reading->metric == GTEL_M_ENGINE_TICKS)
            sum += reading->value.f64;
    }
    CHECK(lane.fault->logs[GTEL_LOG_WARNING] <= 2);
    lane_done(&lane);
    return sum;
}

/* Allocations of six steady gathers, those of the recorded machine included. */
static uint64_t count_allocations(const char *names, const char *mode)
{
    struct lane lane;
    if (!CHECK(lane_init(&lane, MACHINE "end\n", names)))
        return 0;
    lane_set(&lane, GTEL_O_XE_ENGINES, mode);
    for (int t = 0; t < 10; t++) {
        if (t == 4)
            alloc_fault_arm(0);
        lane_gather(&lane);
        lane_step(&lane, 1000);
    }
    uint64_t n = alloc_fault_count();
    lane_done(&lane);
    return n;
}

/* A gather, and the burst after it, take no memory once everything is known. */
static void test_no_allocation(const char *mode)
{
    test_label = mode;
    CHECK(count_allocations(sources, mode) == count_allocations("xe", mode));
}

/* A reading of one engine has both of its names, and that of a class none. */
static void check_names(const struct lane *lane)
{
    for (size_t i = 0; i < lane->group.batch.n; i++) {
        const struct gtel_reading *reading = &lane->group.batch.reading[i];
        if (reading->metric == GTEL_M_ENGINE_BUSY || reading->metric == GTEL_M_ENGINE_TICKS)
            CHECK_INT(reading->dim[1].n > 0, reading->dim[2].n > 0);
    }
}

/* Memory that runs out at any one time: values are there all the same, soon after. */
static void test_short_of_memory(const char *mode)
{
    uint64_t n = 1;
    for (uint64_t k = 0; k <= n; k++) {
        struct lane lane;
        char label[64];
        (void)snprintf(label, sizeof(label), "%s, allocation %u", mode, (unsigned)k);
        test_label = label;
        if (!CHECK(lane_init(&lane, MACHINE "end\n", sources)))
            return;
        lane_set(&lane, GTEL_O_XE_ENGINES, mode);
        lane_set(&lane, GTEL_O_RESCAN, "1s");
        lane_set(&lane, GTEL_O_ENGINE_INSTANCES, "on");
        alloc_fault_arm(k);
        for (int t = 0; t < 5; t++) {
            lane_gather(&lane);
            check_names(&lane);
            lane_step(&lane, 1000);
        }
        n = k == 0 ? alloc_fault_count() : n;
        alloc_fault_arm(0);
        for (int t = 0; t < 5; t++) {
            lane_step(&lane, 1000);
            lane_gather(&lane);
        }
        CHECK(busy(&lane, "video") || lane_find(&lane, GTEL_M_ENGINE_TICKS, "video", NULL));
        lane_done(&lane);
    }
    CHECK(n > 5);
}

/* For every outside call: it fails alone, and soon all values are there again. */
static void test_faults(const char *mode, int error)
{
    uint64_t calls = 0;
    uint64_t ignored = 0;
    test_label = mode;
    double want = run_with_fault(mode, 0, 0, &calls);
    CHECK(want > 0.5);
    CHECK(calls > 50);
    for (uint64_t k = 1; k <= calls; k++) {
        char label[64];
        (void)snprintf(label, sizeof(label), "%s, call %u with %d", mode, (unsigned)k, error);
        test_label = label;
        CHECK_NEAR(run_with_fault(mode, k, error, &ignored), want, 1e-9);
    }
    test_label = "";
}

#define BARE                                                                                       \
    "file " DEVICE "/uevent\n| DRIVER=xe\n| PCI_ID=8086:E20B\n| PCI_SLOT_NAME=" KEY "\n"           \
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/" KEY "/drm/card0\n"                     \
    "link " DEVICE "/drm/card0/device -> ../../../" KEY "\n"

/* Why no engine has a share, for the doctor. */
static void test_reasons(void)
{
    static const struct {
        const char *text;
        const char *mode;
        const char *why; /* NULL: all is well */
        const char *fix; /* how it begins */
    } cases[] = {
        {MACHINE "end\n", "burst", NULL, NULL},
        {MACHINE PARANOID "pmu_error " PMU " EACCES\nend\n", "burst",
         "opening perf events is refused",
         "kernel.perf_event_paranoid is 2: give the program CAP_PERFMON"},
        {CARD STATUS("active") BUSY TYPE("24") FORMATS TICKS "end\n", "burst",
         "no events of engines: the GuC firmware has an interface before 1.14.1",
         "install newer firmware (linux-firmware)"},
        {BARE STATUS("active") TYPE("24") EVENTS FORMATS TICKS "end\n", "burst",
         "idle residency, which shows when to measure, is not there",
         "set the option XeEngines to hold"},
        {MACHINE "end\n", "hold", NULL, NULL},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_findings findings = {0};
        struct lane lane;
        size_t about = 0;
        test_label = cases[i].text;
        if (!CHECK(lane_init(&lane, cases[i].text, sources)))
            return;
        lane_set(&lane, GTEL_O_XE_ENGINES, cases[i].mode);
        for (int t = 0; t < 3; t++) {
            lane_gather(&lane);
            lane_step(&lane, 1000);
        }
        gtel_group_diagnose(&lane.group, &findings);
        for (size_t k = 0; k < findings.n; k++) {
            const struct gtel_finding *finding = &findings.finding[k];
            if (!gtel_str_eq(finding->what, GTEL_STR(DIR)))
                continue;
            CHECK_INT(finding->measurement, GTEL_MEASUREMENT_GPU_ENGINE);
            CHECK_STR(finding->why, cases[i].why ? cases[i].why : "");
            CHECK(cases[i].fix && gtel_str_starts(finding->fix, gtel_str_of(cases[i].fix)));
            about++;
        }
        CHECK_INT(about, cases[i].why != NULL);
        gtel_findings_done(&findings);
        lane_done(&lane);
    }
    test_label = "";
}

int main(void)
{
    test_shares();
    test_more_engines();
    test_windows();
    test_early_gather();
    test_idle();
    test_reasons();
    test_nearly_idle();
    test_half_idle();
    test_rest();
    test_idle_again();
    test_refused("EACCES");
    test_refused("EPERM");
    test_absent();
    test_odd_ticks();
    test_hold();
    test_hold_asleep();
    test_off();
    test_instances("burst");
    test_instances("hold");
    test_functions();
    test_unbind("burst");
    test_unbind("hold");
    test_machines();
    test_no_allocation("burst");
    test_no_allocation("hold");
    test_short_of_memory("burst");
    test_short_of_memory("hold");
    test_faults("burst", -EIO);
    test_faults("burst", -ENODEV);
    test_faults("burst", -EACCES);
    test_faults("hold", -EIO);
    return test_result();
}
