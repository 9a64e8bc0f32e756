/* SPDX-License-Identifier: MIT */
/* When the Sysman source asks a GPU, when it leaves it alone, and when it takes it for lost. */
#include "harness/sysman_machine.h"
#include "harness/test.h"

#include <string.h>

/*
 * Functions that the driver lacks: a loader says of them that Level Zero is not started, and all
 * the others work on. Where the first call of each device says it, the device is lost.
 */
static const struct lack {
    const char *text;
    unsigned gathers; /* with a temperature, of ten */
    unsigned warnings;
} lacks[] = {
    {"call zesDeviceEnumFabricPorts 1 = !0x78000001\n", 10, 0},
    {"call zesFabricPortGetProperties 1 0 = !0x78000001\n", 10, 0},
    {"call zesRasGetStateExp 1 0 = !0x78000001\n", 10, 0},
    {"call zesDeviceGetState 1 = !0x78000001\n", 10, 0},
    {"at 4s\ncall zesFrequencyGetState 1 0 = !0x78000001\n", 10, 0},
    {"at 4s\ncall zesFrequencyGetState 1 0 = !0x78000001\n" XE_SAYS("0x78000001"), 3, 1},
    /* One question, or several of one family, say that the GPU is lost: the others answer. */
    {"at 4s\ncall zesMemoryGetBandwidth 1 0 = !0x70000001\n", 10, 1},
    {"at 4s\ncall zesMemoryGetBandwidth 1 0 = !0x70000006\n", 10, 1},
    {"at 4s\ncall zesMemoryGetBandwidth 1 0 = !0x78000020\n", 10, 1},
    {"at 4s\ncall zesMemoryGetBandwidth 1 0 = !0x70000001\n"
     "call zesMemoryGetState 1 0 = !0x70000001\n",
     10, 1},
    {"at 4s\ncall zesMemoryGetBandwidth 1 0 = !0x70000001\n"
     "call zesFrequencyGetState 1 0 = !0x70000001\n",
     4, 1},
    {"at 4s\ncall zesFrequencyGetState 1 0 = !0x70000001\n" XE_SAYS("0x70000001"), 3, 1},
    {"at 4s\ncall zesFrequencyGetState 1 0 = !0x78000020\n" XE_SAYS("0x78000020"), 3, 1},
};

static void test_lacks(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(lacks); i++) {
        struct machine m;
        unsigned reported = 0;
        test_label = lacks[i].text;
        if (!begin(&m, lacks[i].text))
            continue;
        for (unsigned k = 0; k < 10; k++) {
            gather(&m, 1);
            reported += value(&m, GTEL_M_TEMPERATURE, "gpu", NULL) > 0;
        }
        CHECK_INT(reported, lacks[i].gathers);
        CHECK_INT(spy.logs[GTEL_LOG_WARNING], lacks[i].warnings);
        finish(&m);
    }
    test_label = "";
}

/* Whichever reading fails: it is said once with its name. */
static void test_any_failure(void)
{
    static const char *const calls[] = {"zesDevicePciGetState",
                                        "zesDevicePciGetStats",
                                        "zesFabricPortGetFabricErrorCounters",
                                        "zesFabricPortGetState",
                                        "zesFabricPortGetThroughput",
                                        "zesFanGetState",
                                        "zesFrequencyGetState",
                                        "zesMemoryGetBandwidth",
                                        "zesMemoryGetState",
                                        "zesPowerGetEnergyCounter",
                                        "zesTemperatureGetState"};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(calls); i++) {
        struct machine m;
        char words[100];
        test_label = calls[i];
        if (!begin(&m, ""))
            continue;
        for (unsigned k = 0; k < 3; k++)
            gather(&m, 1);
        CHECK_INT(spy.logs[GTEL_LOG_WARNING], 0);
        spy.fail_code = 0x7ffffffe;
        spy.fail_all = calls[i];
        for (unsigned k = 0; k < 90; k++)
            gather(&m, 1);
        (void)snprintf(words, sizeof(words), "first %s with code 0x7ffffffe", calls[i]);
        CHECK(spy.logs[GTEL_LOG_WARNING] > 0 && strstr(spy.last_log, words) != NULL);
        finish(&m);
    }
    test_label = "";
}

/* What was known of a GPU that has gone does not count for the one that replaces it. */
static void test_return(void)
{
    struct machine m;
    if (!begin(&m, "at 3s\ncall zesTemperatureGetState 1 0 = !0x70000001\n"
                   "call zesFanGetState 1 0 0 = !0x70000001\n"
                   "at 80s\ngone sys/class/drm/card0\n"
                   "gone sys/devices/pci0000:00/0000:03:00.0/drm\n" CARD(
                       "card2", "0000:03:00.0", "xe",
                       "56A0") "at 100s\ncall zesTemperatureGetState 1 0 = 61.5\n"
                               "call zesFanGetState 1 0 0 = 900\n"))
        return;
    for (unsigned i = 0; i < 120; i++)
        gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_TEMPERATURE, "gpu", NULL), 61.5, 0);
    CHECK_INT(spy.logs[GTEL_LOG_WARNING], 2);
    CHECK_INT(spy.logs[GTEL_LOG_INFO], 1);
    finish(&m);
}

/* A GPU that may fall asleep after two seconds, gathered once a second. */
#define SLEEPER                                                                                    \
    POWER("0000:03:00.0", "runtime_status", "active")                                              \
    POWER("0000:03:00.0", "control", "auto") POWER("0000:03:00.0", "autosuspend_delay_ms", "2000")
#define CLOCK "call zesFrequencyGetState 1 0 = "
#define GROW(gt, ms)                                                                               \
    "grow sys/devices/pci0000:00/0000:03:00.0/tile0/" gt "/gtidle/idle_residency_ms 5000 " ms "\n"

/* Only one that is known to be idle gets a rest: the kernel says how long each of the GTs slept. */
static const struct rest {
    const char *text;
    unsigned read; /* gathers with readings, of 30 */
} rests[] = {
    {"", 30},
    {GROW("gt0", "1000"), 4},
    {GROW("gt0", "300"), 30},
    {GROW("gt0", "1000") GROW("gt1", "300"), 30},
    {GROW("gt0", "1000") GROW("gt1", "1000"), 4},
    {GROW("gt0", "1000") "call zesDeviceEnumFrequencyDomains 1 = 0\n", 4},
    {GROW("gt0", "1000") "at 4s\n" GROW("gt0", "0"), 30},
};

static void test_rests(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(rests); i++) {
        struct machine m;
        char text[1024];
        unsigned read = 0;
        test_label = rests[i].text;
        (void)snprintf(text, sizeof(text), "%s%s", SLEEPER, rests[i].text);
        if (!begin(&m, text))
            continue;
        for (unsigned k = 0; k < 30; k++) {
            gather(&m, 1);
            read += readings_of(&m, xe) > 0;
        }
        CHECK_INT(read, rests[i].read);
        finish(&m);
    }
    test_label = "";
}

/* When one that may fall asleep after ten seconds is read while it is idle, in 260 seconds. */
static void test_rest_times(void)
{
    static const struct {
        const char *control;
        unsigned after[4]; /* seconds of readings beyond the first twelve; 0: no more */
    } cases[] = {{"auto", {92, 172, 252}}, {"on", {0}}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct machine m;
        char text[600];
        size_t next = 0;
        test_label = cases[i].control;
        (void)snprintf(
            text, sizeof(text),
            POWER("0000:03:00.0", "runtime_status", "active") POWER("0000:03:00.0", "control", "%s")
                POWER("0000:03:00.0", "autosuspend_delay_ms", "10000") GROW("gt0", "1000"),
            cases[i].control);
        if (!begin(&m, text))
            return;
        for (unsigned second = 1; second <= 260; second++) {
            gather(&m, 1);
            bool is_due = second <= 12 || cases[i].after[0] == 0 || second == cases[i].after[next];
            next += second == cases[i].after[next];
            CHECK_INT(readings_of(&m, xe) > 0, is_due);
        }
        finish(&m);
    }
    test_label = "";
}

static bool is_reported(const struct gtel_findings *findings, const char *why)
{
    for (size_t i = 0; i < findings->n; i++) {
        char text[256];
        (void)gtel_str_copy(text, sizeof(text), findings->finding[i].why);
        if (strstr(text, why))
            return true;
    }
    return false;
}

/* One GPU that sleeps keeps Level Zero from starting for all, and doctor says which. */
static void test_waiting(void)
{
    struct machine m;
    static const char why[] = "waits until 0000:04:00.0 is awake";
    if (!begin(&m, POWER("0000:04:00.0", "runtime_status",
                         "suspended") "at 3s\n" POWER("0000:04:00.0", "runtime_status", "active")))
        return;
    for (unsigned k = 1; k <= 4; k++) {
        struct gtel_findings findings = {0};
        gather(&m, 1);
        gtel_group_diagnose(&m.group, &findings);
        CHECK_INT(is_reported(&findings, why), k < 3);
        CHECK_INT(spy.opens, k < 4 ? 0 : 1); /* the gather after it woke looks again */
        gtel_findings_done(&findings);
    }
    finish(&m);
}

#ifndef _WIN32 /* it has other names */
static const char *last_name;

static int note_names(void *arg, const char *const *names, void **ret)
{
    for (size_t i = 0; names[i]; i++)
        last_name = names[i];
    int r = spy.ops->lib_open(arg, names, ret);
    spy.opens += r == 0;
    return r;
}

/* Some installations have the loader without its version alone. */
static void test_plain_name(void)
{
    struct machine m;
    if (!begin_with(&m,
                    XE I915 KERNEL "file usr/lib64/libze_loader.so\n"
                                   "library libze_loader.so.1\ncall zesInit =\n",
                    ""))
        return;
    last_name = "";
    spy.with_spy.lib_open = note_names;
    gather(&m, 1);
    CHECK(strcmp(last_name, "libze_loader.so") == 0);
    CHECK_NEAR(value(&m, GTEL_M_TEMPERATURE, "gpu", NULL), 61.5, 0);
    finish(&m);
}
#endif

/* Reasons of throttling that are not reported, for the doctor: none was ever set. */
static void test_withheld(void)
{
    static const char why[] = "they are reported once there was one";
    static const struct {
        const char *text;
        bool is_withheld;
    } cases[] = {
        {CLOCK "-1 300 -1 400 1400 0\n", true},
        {CLOCK "-1 300 -1 400 1400 1\n", false},
        {CLOCK "-1 300 -1 400 1400 1\nat 2s\n" CLOCK "-1 300 -1 400 1400 0\n", false},
        {CLOCK "untouched\n", false},
        {CLOCK "!0x78000003\n", false},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct machine m;
        struct gtel_findings findings = {0};
        test_label = cases[i].text;
        if (!begin(&m, cases[i].text))
            continue;
        gather(&m, 1);
        gather(&m, 1);
        gtel_group_diagnose(&m.group, &findings);
        CHECK_INT(is_reported(&findings, why), cases[i].is_withheld);
        CHECK(!cases[i].is_withheld || value(&m, GTEL_M_THROTTLE_ACTIVE, "pl1", "0") < 0);
        gtel_findings_done(&findings);
        finish(&m);
    }
    test_label = "";
}

/* What Level Zero answers instead of a value, for the doctor; nothing of what it gives. */
static void test_answers(void)
{
    static const struct {
        const char *text; /* what the call for the temperature answers */
        const char *why;  /* NULL: there is nothing to say */
    } cases[] = {
        {"61.5", NULL},
        {"!0x78000003", "this GPU, driver or loader does not have it"},
        {"!0x78000001", "this GPU, driver or loader does not have it"},
        {"!0x70010001", "the driver has no value now"},
        {"!0x70010000", "Level Zero does not let this user have it"},
        {"!0x7ffffffe", "Level Zero answers code 0x7ffffffe"},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct machine m;
        struct gtel_findings findings = {0};
        char text[100];
        size_t about = 0;
        (void)snprintf(text, sizeof(text), "call zesTemperatureGetState 1 0 = %s\n", cases[i].text);
        test_label = text;
        if (!begin(&m, text))
            continue;
        gather(&m, 1);
        gather(&m, 1);
        gtel_group_diagnose(&m.group, &findings);
        for (size_t k = 0; k < findings.n; k++) {
            const struct gtel_finding *finding = &findings.finding[k];
            if (!finding->device || strcmp(finding->device->key, xe) != 0 ||
                !gtel_str_eq(finding->what, GTEL_STR("zesTemperatureGetState")))
                continue;
            about++;
            CHECK_INT(finding->measurement, GTEL_MEASUREMENT_GPU_TEMPERATURE_SENSOR);
            CHECK_STR(finding->why, cases[i].why ? cases[i].why : "");
        }
        CHECK_INT(about, cases[i].why != NULL);
        gtel_findings_done(&findings);
        finish(&m);
    }
    test_label = "";
}

/* A GPU that Level Zero reports lost has that as its one reason; one that it does not know, a hint.
 */
static void test_missing_gpu(void)
{
    static const struct {
        const char *text;
        const char *why;
    } cases[] = {
        {"at 2s\ncall zesTemperatureGetState 1 0 = !0x70000001\n" XE_SAYS("0x70000001"),
         "(code 0x70000001)"},
        {"call zesDeviceGet 0 = 1\n", "it does not know this GPU"},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct machine m;
        struct gtel_findings findings = {0};
        size_t about = 0;
        test_label = cases[i].text;
        if (!begin(&m, cases[i].text))
            continue;
        gather(&m, 1);
        gather(&m, 1);
        gather(&m, 1);
        gtel_group_diagnose(&m.group, &findings);
        for (size_t k = 0; k < findings.n; k++)
            about += findings.finding[k].device && strcmp(findings.finding[k].device->key, xe) == 0;
        CHECK(is_reported(&findings, cases[i].why));
        CHECK_INT(about, 1);
        gtel_findings_done(&findings);
        finish(&m);
    }
    test_label = "";
}

/* ---- energy at long intervals ---- */

#define ENERGY_OF(part, second, micro_joules)                                                      \
    "at " #second "s\ncall zesPowerGetEnergyCounter 1 " part " = " #micro_joules " " #second       \
    "000000\n"
#define ENERGY(second, micro_joules) ENERGY_OF("1", second, micro_joules)

/* What a lane does between gathers: as many ticks as come due within that time. */
static unsigned idle_for(struct machine *m, unsigned seconds)
{
    unsigned ticks = 0;
    for (unsigned i = 0; i < seconds; i++) {
        uint64_t due = gtel_group_due(&m->group);
        m->env.ops = spy.ops;
        gtel_env_tree_step(&m->env, 1000000000);
        m->env.ops = &spy.with_spy;
        if (due == 0 || due > gtel_env_now(&m->env))
            continue;
        gtel_group_tick(&m->group);
        ticks++;
    }
    return ticks;
}

#define NO_LIMITS                                                                                  \
    "call zesPowerGetLimitsExt 1 0 = !0x78000003\ncall zesPowerGetLimits 1 0 = !0x78000003\n"      \
    "call zesPowerGetLimits 1 1 = !0x78000003\n"

/*
 * Battlemage's counters restart at 2^18 J. Of something that draws 1500 W they do so each 175 s:
 * in ten minutes four times.
 */
static void test_long_intervals(void)
{
    struct machine m;
    if (!begin_with(&m, BATTLEMAGE I915 LIBRARY,
                    NO_LIMITS ENERGY(1, 200000000000) ENERGY(121, 117856000000)
                        ENERGY(241, 35712000000) ENERGY(361, 215712000000) ENERGY(481, 133568000000)
                            ENERGY(600, 49924000000)))
        return;
    gather(&m, 1);
    const struct gtel_reading *r = find(&m, xe, GTEL_M_ENERGY, "memory", NULL);
    double first = CHECK(r != NULL) ? gtel_reading_number(r) : 0;
    spy.count_name = "zesPowerGetEnergyCounter";
    CHECK_INT(idle_for(&m, 599), 4);
    CHECK_INT(spy.counted, 4 * 2); /* both domains, and nothing else */
    gather(&m, 0);
    r = find(&m, xe, GTEL_M_ENERGY, "memory", NULL);
    if (CHECK(r != NULL)) {
        CHECK_NEAR(gtel_reading_number(r) - first, 599 * 1500.0, 1e-6);
        CHECK_INT(r->t_ns, 600 * UINT64_C(1000000000));
    }
    finish(&m);
}

/* Only counters that need it, and only while the GPU may be asked. */
static const struct keep {
    const char *label;
    const char *text;
    unsigned ticks;
    unsigned read; /* of two domains each */
} keeps[] = {
    {"a GPU that is awake", "", 4, 8},
    {"a GPU that sleeps", "at 3s\n" POWER("0000:03:00.0", "runtime_status", "suspended"), 4, 0},
    {"a GPU that stands still",
     POWER("0000:03:00.0", "control", "auto")
         POWER("0000:03:00.0", "autosuspend_delay_ms", "500000") GROW("gt0", "1000"),
     4, 8},
    {"a GPU that is lost",
     "at 3s\ncall zesPowerGetEnergyCounter 1 0 = !0x70000001\n" XE_SAYS("0x70000001"), 4, 4},
    {"a GPU that does not report", "call zesDeviceEnumPowerDomains 1 = 0\n", 0, 0},
};

static void test_keeps(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(keeps); i++) {
        struct machine m;
        char text[1024];
        test_label = keeps[i].label;
        (void)snprintf(text, sizeof(text), "%s%s",
                       POWER("0000:03:00.0", "runtime_status", "active"), keeps[i].text);
        if (!begin_with(&m, BATTLEMAGE I915 LIBRARY, text))
            continue;
        gather(&m, 1);
        gather(&m, 1);
        spy.count_name = "zesPowerGetEnergyCounter";
        CHECK_INT(idle_for(&m, 599), keeps[i].ticks);
        CHECK_INT(spy.counted, keeps[i].read);
        finish(&m);
    }
    test_label = "";
}

/* A GPU of the same driver behind it, whose counters do not restart, changes nothing. */
static void test_keeps_before_another(void)
{
    struct machine m;
    if (!begin_with(&m, BATTLEMAGE CARD("card1", "0000:04:00.0", "xe", "56A0") LIBRARY, ""))
        return;
    gather(&m, 1);
    CHECK_INT(idle_for(&m, 599), 4);
    finish(&m);
}

/* A-series: 64 bits. */
static void test_kept_by_hardware(void)
{
    struct machine m;
    if (!begin_with(&m, CARD("card0", "0000:03:00.0", "xe", "56A0") I915 KERNEL LIBRARY, ""))
        return;
    gather(&m, 1);
    CHECK(value(&m, GTEL_M_ENERGY, "card", NULL) > 0);
    CHECK_INT(idle_for(&m, 599), 0);
    finish(&m);
}

#define SLEEPS(part)                                                                               \
    POWER("0000:03:00.0", "runtime_status", "active")                                              \
    ENERGY_OF(part, 1, 250100000000)                                                               \
    ENERGY_OF(part, 2, 250200000000)                                                               \
    "at 3s\n" POWER("0000:03:00.0", "runtime_status",                                              \
                    "suspended") "at 103s\n" POWER("0000:03:00.0", "runtime_status", "active")
#define XE_CARD(id) CARD("card0", "0000:03:00.0", "xe", id) I915 KERNEL LIBRARY

/*
 * 100 W, and asleep for 100 s: a counter with an end that is lower afterwards goes on from there,
 * and so does its time.
 */
static void test_energy_over_sleep(void)
{
    static const struct {
        const char *head;
        const char *text;
        double slept; /* counted in the first gather after the sleep; -1: nothing is reported */
    } cases[] = {
        {XE_CARD("E20B"), SLEEPS("1") ENERGY(103, 2000000000) ENERGY(104, 2100000000), -1},
        {XE_CARD("E20B"), SLEEPS("1") ENERGY(103, 250300000000) ENERGY(104, 250400000000), 100},
        /* the first domain of the list, too */
        {XE_CARD("E20B"),
         "call zesPowerGetProperties 1 0 = 0 0 -1 -1 -1 4\ncall zesPowerGetProperties 1 1 = 0 0 -1 "
         "-1 -1 1\n" SLEEPS("0") ENERGY_OF("0", 103, 2000000000) ENERGY_OF("0", 104, 2100000000),
         -1},
        {XE_CARD("56A0"), SLEEPS("1") ENERGY(103, 250300000000) ENERGY(104, 250400000000), 100},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct machine m;
        double slept = cases[i].slept;
        test_label = cases[i].text;
        if (!begin_with(&m, cases[i].head, cases[i].text))
            continue;
        gather(&m, 1);
        gather(&m, 1);
        CHECK_NEAR(value(&m, GTEL_M_ENERGY, "memory", NULL), 250200, 1e-6);
        gather(&m, 50);
        CHECK_INT(readings_of(&m, xe), 0);
        gather(&m, 51);
        CHECK_NEAR(value(&m, GTEL_M_ENERGY, "memory", NULL), slept < 0 ? -1 : 250200 + slept, 1e-6);
        gather(&m, 1);
        const struct gtel_reading *r = find(&m, xe, GTEL_M_ENERGY, "memory", NULL);
        if (CHECK(r != NULL)) {
            CHECK_NEAR(gtel_reading_number(r), 250300 + (slept < 0 ? 0 : slept), 1e-6);
            CHECK_INT(r->t_ns, (slept < 0 ? 3 : 104) * UINT64_C(1000000000));
        }
        finish(&m);
    }
    test_label = "";
}

#define CARD_ENERGY(second, joules, micro_seconds)                                                 \
    "at " #second "s\ncall zesPowerGetEnergyCounter 1 0 = " #joules "000000 " #micro_seconds "\n"  \
    "call zesPowerGetEnergyCounter 1 1 = 3" #second "00000 " #micro_seconds "\n"

/*
 * Crescent Island: 100 W over the end of the counter, of 32 bits, and over that of the clock beside
 * it, which restarts after 112 s. Of its memory two counters that end after 4 J are added up.
 */
static void test_crescent_island(void)
{
    struct machine m;
    double first = 0;
    if (!begin_with(&m, CARD("card0", "0000:03:00.0", "xe", "674C") I915 KERNEL LIBRARY,
                    CARD_ENERGY(1, 262000, 110500000) CARD_ENERGY(2, 262100, 111500000) CARD_ENERGY(
                        3, 56, 700000) CARD_ENERGY(4, 156, 1700000) CARD_ENERGY(124, 12156, 9700000)
                        CARD_ENERGY(244, 24156, 17700000) CARD_ENERGY(364, 36156, 25700000)))
        return;
    for (unsigned i = 1; i <= 5; i++) {
        if (i == 5)
            CHECK_INT(idle_for(&m, 359), 2);
        gather(&m, 1);
        const struct gtel_reading *r = find(&m, xe, GTEL_M_ENERGY, "card", NULL);
        unsigned second = i == 5 ? 364 : i;
        if (!CHECK(r != NULL))
            continue;
        first = i == 1 ? gtel_reading_number(r) : first;
        CHECK_NEAR(gtel_reading_number(r) - first, 100.0 * (second - 1), 1e-6);
        CHECK(r->has_device_clock);
        CHECK_INT(r->t_ns, (second + 1) * UINT64_C(1000000000)); /* ours begins with 1 s */
        CHECK_NEAR(value(&m, GTEL_M_ENERGY, "memory", NULL), -1, 0);
    }
    finish(&m);
}

int main(void)
{
#ifndef _WIN32
    test_plain_name();
#endif
    test_waiting();
    test_rests();
    test_rest_times();
    test_lacks();
    test_withheld();
    test_answers();
    test_missing_gpu();
    test_long_intervals();
    test_keeps();
    test_keeps_before_another();
    test_kept_by_hardware();
    test_crescent_island();
    test_any_failure();
    test_return();
    test_energy_over_sleep();
    return test_result();
}
