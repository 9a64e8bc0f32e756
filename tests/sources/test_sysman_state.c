/* SPDX-License-Identifier: MIT */
/* The state of GPUs and their processes, as the Sysman source reads them. */
#include "harness/sysman_machine.h"
#include "harness/test.h"

#include <string.h>

/* A value of the xe card with something changed; -1: it is not there. */
static const struct change {
    const char *text;
    enum gtel_metric metric;
    const char *dim;
    const char *dim_2;
    double want;
} changes[] = {
    /* of xe it is no answer that nothing is said */
    {"call zesDeviceGetState 1 = 0 2\n", GTEL_M_GPU_RESET_NEEDED, NULL, NULL, -1},
    {"call zesDeviceGetState 1 = 0 0\n", GTEL_M_GPU_RESET_NEEDED, NULL, NULL, -1},
    {"call zesDeviceGetState 1 = 1 0\n", GTEL_M_GPU_RESET_NEEDED, NULL, NULL, 1},
    {"call zesDeviceGetState 1 = 1\n", GTEL_M_GPU_RESET_NEEDED, NULL, NULL, 1},
    {"call zesDeviceGetState 1 = 1\n", GTEL_M_GPU_REPAIRED, NULL, NULL, -1},
    {"call zesDeviceGetState 1 = 2 2\n", GTEL_M_GPU_RESET_NEEDED, NULL, NULL, 1},
    {"call zesDeviceGetState 1 = 0 2\n", GTEL_M_GPU_REPAIRED, NULL, NULL, 1},
    {"call zesDeviceGetState 1 = 0 0\n", GTEL_M_GPU_REPAIRED, NULL, NULL, -1},
    {"call zesDeviceGetState 1 = 0 77\n", GTEL_M_GPU_REPAIRED, NULL, NULL, -1},
    {"call zesDeviceGetState 1 = untouched\n", GTEL_M_GPU_RESET_NEEDED, NULL, NULL, -1},
    {"call zesDeviceEccAvailable 1 = 0\n", GTEL_M_GPU_ECC, NULL, NULL, -1},
    {"call zesDeviceEccAvailable 1 = untouched\n", GTEL_M_GPU_ECC, NULL, NULL, -1},
    {"call zesDeviceGetEccState 1 = untouched\n", GTEL_M_GPU_ECC, NULL, NULL, -1},
    {"call zesDeviceGetEccState 1 = 0 0 0\n", GTEL_M_GPU_ECC, NULL, NULL, -1},
    {"call zesDeviceGetEccState 1 = 2 2 0\n", GTEL_M_GPU_ECC, NULL, NULL, 0},
    {"call zesDeviceGetEccState 1 = 2 1 2\n", GTEL_M_GPU_ECC_PENDING, NULL, NULL, 1},
    {"call zesDeviceGetEccState 1 = 1 0 0\n", GTEL_M_GPU_ECC_PENDING, NULL, NULL, -1},
#define LIMITS                                                                                     \
    "call zesPowerGetLimitsExt 1 0 = 1 0 2 0 0 190000 2 0 2 0 0 250000 3 0 2 0 0 300000 "          \
    "4 0 2 0 0 400000 1 0 1 0 0 20000 2 0 1 0 0 25000 3 0 1 0 0 30000 4 0 1 0 0 40000\n"
    /* each level and unit by itself, milliwatts and milliamperes */
    {LIMITS, GTEL_M_POWER_LIMIT, "card", NULL, 190},
    {LIMITS, GTEL_M_POWER_BURST_LIMIT, "card", NULL, 250},
    {LIMITS, GTEL_M_POWER_PEAK_LIMIT, "card", NULL, 300},
    {LIMITS, GTEL_M_INSTANT_POWER_LIMIT, "card", NULL, 400},
    {LIMITS, GTEL_M_CURRENT_LIMIT, "card", NULL, 20},
    {LIMITS, GTEL_M_BURST_CURRENT_LIMIT, "card", NULL, 25},
    {LIMITS, GTEL_M_PEAK_CURRENT_LIMIT, "card", NULL, 30},
    {LIMITS, GTEL_M_INSTANT_CURRENT_LIMIT, "card", NULL, 40},
    {"call zesPowerGetLimitsExt 1 0 = 4 0 2 0 0 400000\n", GTEL_M_POWER_PEAK_LIMIT, "card", NULL,
     -1},
    /* the mains' and any source's: the lower one binds; the battery's does not, nor one of 0 */
    {"call zesPowerGetLimitsExt 1 0 = 3 1 2 0 0 300000 3 0 2 0 0 350000 3 2 2 0 0 100000 "
     "3 0 2 0 0 0\n",
     GTEL_M_POWER_PEAK_LIMIT, "card", NULL, 300},
    /* neither a level nor a unit that is not known is one that is */
    {"call zesPowerGetLimitsExt 1 0 = 0 0 2 0 0 300000\n", GTEL_M_POWER_LIMIT, "card", NULL, -1},
    {"call zesPowerGetLimitsExt 1 0 = 9 0 2 0 0 300000\n", GTEL_M_INSTANT_POWER_LIMIT, "card", NULL,
     -1},
    {"call zesPowerGetLimitsExt 1 0 = 1 0 0 0 0 300000\n", GTEL_M_POWER_LIMIT, "card", NULL, -1},
#undef LIMITS
    {"call zesMemoryGetState 1 0 = 1 750 1000\n", GTEL_M_MEMORY_HEALTH, "vram0", NULL, 0},
    {"call zesMemoryGetState 1 0 = 0 750 1000\n", GTEL_M_MEMORY_HEALTH, "vram0", NULL, -1},
    {"call zesMemoryGetState 1 0 = 4 750 1000\n", GTEL_M_MEMORY_HEALTH, "vram0", NULL, 2},
    {"call zesMemoryGetState 1 0 = 9 750 1000\n", GTEL_M_MEMORY_HEALTH, "vram0", NULL, -1},
    {"call zesFrequencyGetProperties 1 0 = 0 0 0 0 0\n", GTEL_M_FREQUENCY_HARDWARE_MAX, "graphics",
     "0", -1},
    {"call zesFrequencyGetProperties 1 0 = 0 0 0 -1 -1\n", GTEL_M_FREQUENCY_HARDWARE_MIN,
     "graphics", "0", -1},
    {"call zesRasGetState 1 0 = untouched\n", GTEL_M_GPU_RESETS, NULL, NULL, -1},
    /* A second set without an answer: the sum would be one of the first alone. */
    {"call zesDeviceEnumRasErrorSets 1 = 2\ncall zesRasGetProperties 1 1 = 0 0 0\n"
     "call zesRasGetState 1 1 = !0x70010001\n",
     GTEL_M_GPU_RESETS, NULL, NULL, -1},
    {"call zesDeviceEnumRasErrorSets 1 = 2\ncall zesRasGetProperties 1 1 = 0 0 0\n"
     "call zesRasGetStateExp 1 1 = 0 5 7 2\n",
     GTEL_M_GPU_RESETS, NULL, NULL, 6},
    /* The card's sets and those of its tiles report the same resets: 1 + 2 of the tiles, not 3 + 3.
     */
    {"call zesDeviceEnumRasErrorSets 1 = 3\ncall zesRasGetState 1 0 = 3 0 0 0 0 0 0\n"
     "call zesRasGetProperties 1 1 = 1 1 0\ncall zesRasGetState 1 1 = 1 0 0 0 0 0 0\n"
     "call zesRasGetProperties 1 2 = 1 1 1\ncall zesRasGetState 1 2 = 2 0 0 0 0 0 0\n",
     GTEL_M_GPU_RESETS, NULL, NULL, 3},
    {"call zesDeviceEnumRasErrorSets 1 = 2\ncall zesRasGetState 1 0 = !0x70010001\n"
     "call zesRasGetProperties 1 1 = 1 1 0\ncall zesRasGetState 1 1 = 4 0 0 0 0 0 0\n",
     GTEL_M_GPU_RESETS, NULL, NULL, 4},
    {"call zesDeviceEnumRasErrorSets 1 = 2\ncall zesRasGetProperties 1 1 = 1 1 0\n"
     "call zesRasGetState 1 1 = !0x70010001\n",
     GTEL_M_GPU_RESETS, NULL, NULL, -1},
    /* Of each severity by itself: 1 of the card's, 4 of the tile's corrected ones. */
    {"call zesDeviceEnumRasErrorSets 1 = 2\ncall zesRasGetProperties 1 1 = 0 1 0\n"
     "call zesRasGetState 1 1 = 4 0 0 0 0 0 0\n",
     GTEL_M_GPU_RESETS, NULL, NULL, 5},
    /* Errors without any kind that is a reset. */
    {"call zesRasGetStateExp 1 0 = 5 2\n", GTEL_M_GPU_RESETS, NULL, NULL, -1},
};

/*
 * Two tiles of which one reports its other errors only for a while: no sum, and never a lower one.
 */
static void test_resets(void)
{
    static const double want[] = {9, 9, -1, -1, 10, -1, 11};
    struct machine m;
    if (!begin(&m, "call zesDeviceEnumRasErrorSets 1 = 2\n"
                   "call zesRasGetProperties 1 0 = 1 1 0\ncall zesRasGetProperties 1 1 = 1 1 1\n"
                   "call zesRasGetStateExp 1 0 = 0 2 4 1\ncall zesRasGetStateExp 1 1 = 0 7 4 1\n"
                   "at 3s\ncall zesRasGetStateExp 1 1 = 4 1\n"
                   "at 5s\ncall zesRasGetStateExp 1 1 = 0 8 4 1\n"
                   "at 6s\ncall zesRasGetStateExp 1 0 =\n"
                   "at 7s\ncall zesRasGetStateExp 1 0 = 0 3 4 1\n"))
        return;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(want); i++) {
        gather(&m, 1);
        CHECK_NEAR(value(&m, GTEL_M_GPU_RESETS, NULL, NULL), want[i], 0);
    }
    finish(&m);
}

static void test_changes(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(changes); i++) {
        struct machine m;
        test_label = changes[i].text;
        if (!begin(&m, changes[i].text))
            continue;
        gather(&m, 1);
        CHECK_NEAR(value(&m, changes[i].metric, changes[i].dim, changes[i].dim_2), changes[i].want,
                   0);
        finish(&m);
    }
    test_label = "";
}

/* The firmware is asked once a minute, and what it said is reported in between. */
static void test_pace(void)
{
    struct machine m;
    if (!begin(&m, "at 30s\ncall zesDeviceGetEccState 1 = 1 2 1\n"))
        return;
    spy.count_name = "zesDeviceGetEccState";
    gather(&m, 1);
    for (unsigned i = 0; i < 58; i++) {
        CHECK_NEAR(value(&m, GTEL_M_GPU_ECC, NULL, NULL), 1, 0);
        CHECK_NEAR(value(&m, GTEL_M_GPU_ECC_PENDING, NULL, NULL), 0, 0);
        gather(&m, 1);
    }
    CHECK_INT(spy.counted, 1);
    gather(&m, 2);
    CHECK_INT(spy.counted, 2);
    CHECK_NEAR(value(&m, GTEL_M_GPU_ECC_PENDING, NULL, NULL), 1, 0);
    finish(&m);
}

static double of_i915(const struct machine *m, enum gtel_metric metric, const char *process)
{
    const struct gtel_reading *r = find(m, i915, metric, process, NULL);
    return r ? gtel_reading_number(r) : -1;
}

/* i915's driver asks the kernel in each call: nothing said is that no reset is needed. */
static void test_reasons_of_i915(void)
{
    static const struct {
        const char *text;
        double want;
    } cases[] = {{"call zesDeviceGetState 0 = 0 0\n", 0},
                 {"call zesDeviceGetState 0 = 1 0\n", 1},
                 {"call zesDeviceGetState 0 = 3 2\n", 1},
                 {"call zesDeviceGetState 0 = untouched\n", -1}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct machine m;
        test_label = cases[i].text;
        if (!begin(&m, cases[i].text))
            continue;
        gather(&m, 1);
        CHECK_NEAR(of_i915(&m, GTEL_M_GPU_RESET_NEEDED, NULL), cases[i].want, 0);
        finish(&m);
    }
    test_label = "";
}

/* A GPU that answers nothing because it wants a reset says at least that. */
static void test_reset(void)
{
    struct machine m;
    if (!begin(&m, "call zesDeviceGetState 1 = 0 1\n"
                   "at 2s\ncall zesTemperatureGetState 1 0 = !0x70000006\n" XE_SAYS(
                       "0x70000006") "at 40s\ncall zesTemperatureGetState 1 0 = 60\n" XE_ANSWERS))
        return;
    gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_GPU_RESET_NEEDED, NULL, NULL), -1, 0);
    for (unsigned i = 0; i < 35; i++) { /* also when it is asked again */
        gather(&m, 1);
        CHECK_NEAR(value(&m, GTEL_M_GPU_RESET_NEEDED, NULL, NULL), 1, 0);
    }
    CHECK_NEAR(value(&m, GTEL_M_TEMPERATURE, "memory", NULL), -1, 0);
    gather(&m, 60);
    CHECK_NEAR(value(&m, GTEL_M_GPU_RESET_NEEDED, NULL, NULL), -1, 0);
    CHECK_NEAR(value(&m, GTEL_M_TEMPERATURE, "memory", NULL), 66, 0);
    finish(&m);
}

/* Created and imported memory, by name; those without one are still there. */
static void test_processes(void)
{
    struct machine m;
    if (!begin(&m, "at 2s\ncall zesDeviceProcessesGetState 0 =\n"
                   "at 3s\ncall zesDeviceProcessesGetState 0 = !0x70010000\n"))
        return;
    gather(&m, 1);
    CHECK_NEAR(of_i915(&m, GTEL_M_GPU_PROCESSES, NULL), 2, 0);
    CHECK_NEAR(of_i915(&m, GTEL_M_PROCESS_MEMORY, "train.py"), 6400, 0);
    CHECK_NEAR(of_i915(&m, GTEL_M_PROCESS_MEMORY_SHARED, "train.py"), 1000, 0);
    CHECK_NEAR(of_i915(&m, GTEL_M_PROCESS_COUNT, "train.py"), 1, 0);
    CHECK_NEAR(of_i915(&m, GTEL_M_PROCESS_MEMORY, "other"), 100, 0);
    gather(&m, 1);
    CHECK_NEAR(of_i915(&m, GTEL_M_GPU_PROCESSES, NULL), 0, 0);
    CHECK_NEAR(of_i915(&m, GTEL_M_PROCESS_MEMORY, "train.py"), -1, 0);
    gather(&m, 1);
    CHECK_NEAR(of_i915(&m, GTEL_M_GPU_PROCESSES, NULL), -1, 0);
    CHECK_INT(spy.logs[GTEL_LOG_INFO], 1); /* the hint about rights */
    finish(&m);
}

/* One that is counted without its number or its memory: the list is not whole, so there is none. */
static void test_unknown_process(void)
{
    static const struct {
        const char *text;
        double n;
    } cases[] = {
        {"1 400 0 2 7 400 0 2", 2}, {"0 400 0 2 7 400 0 2", -1}, {"7 400 0 2 8 -1 0 2", -1}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct machine m;
        char text[128];
        test_label = cases[i].text;
        (void)snprintf(text, sizeof(text), "call zesDeviceProcessesGetState 0 = %s\n",
                       cases[i].text);
        if (!begin(&m, text))
            continue;
        gather(&m, 1);
        CHECK_NEAR(of_i915(&m, GTEL_M_GPU_PROCESSES, NULL), cases[i].n, 0);
        CHECK((of_i915(&m, GTEL_M_PROCESS_MEMORY, "train.py") > 0) == (cases[i].n > 0));
        finish(&m);
    }
    test_label = "";
}

/* From 5.19 on the kernel reports i915's, and in more detail. */
static void test_newer_kernel(void)
{
    static const char *const releases[] = {"5.19.0", "6.8.0-40-generic", "7.0"};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(releases); i++) {
        struct machine m;
        char head[2048];
        test_label = releases[i];
        (void)snprintf(head, sizeof(head), "%sfile proc/sys/kernel/osrelease\n| %s\n%s", XE I915,
                       releases[i], LIBRARY);
        if (!begin_with(&m, head, ""))
            continue;
        spy.count_name = "zesDeviceProcessesGetState";
        gather(&m, 1);
        CHECK_INT(spy.counted, 0);
        CHECK_NEAR(of_i915(&m, GTEL_M_GPU_PROCESSES, NULL), -1, 0);
        finish(&m);
    }
    test_label = "";
}

/* Far more than were counted: the driver refuses, and reports how many there are. */
static void test_growing(void)
{
    static const unsigned counted[] = {1, 3, 20, 40, 41, 1000, UINT32_MAX};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(counted); i++) {
        struct machine m;
        struct gtel_buf text;
        gtel_buf_init(&text, 8192);
        gtel_buf_printf(&text, "call zesDeviceProcessesGetState 0 = counts %u", counted[i]);
        for (unsigned pid = 100; pid < 140; pid++)
            gtel_buf_printf(&text, " %u 100 0 1", pid);
        gtel_buf_bytes(&text, "\n", 2);
        if (begin(&m, text.p)) {
            gather(&m, 1);
            CHECK_NEAR(of_i915(&m, GTEL_M_GPU_PROCESSES, NULL), 40, 0);
            CHECK_NEAR(of_i915(&m, GTEL_M_PROCESS_MEMORY, "other"), 4000, 0);
            finish(&m);
        }
        gtel_buf_done(&text);
    }
}

/* They come and go between counting and filling: the list is filled again. */
static void test_changing(void)
{
    struct machine m;
    bool was_it = false;
    if (!begin(&m, ""))
        return;
    for (unsigned at = 1; at < 300 && !was_it; at++) {
        gtel_group_done(&m.group);
        rewind_machine(&m);
        start_lane(&m);
        spy.count_name = "zesDeviceProcessesGetState";
        spy.fail_at = at;
        spy.fail_code = GTEL_ZE_INVALID_SIZE;
        gather(&m, 1);
        was_it = spy.failed_name && strcmp(spy.failed_name, spy.count_name) == 0 &&
                 spy.counted == 3; /* counted, filled in vain, and filled once more */
    }
    CHECK(was_it);
    CHECK_NEAR(of_i915(&m, GTEL_M_GPU_PROCESSES, NULL), 2, 0);
    finish(&m);
}

/*
 * When a new process may do better: each case is gathered once a second, and the helper wants to be
 * restarted after so many of them; 0: never.
 */
static const struct renewal {
    const char *label;
    const char *text;
    bool is_inline;
    unsigned after;
    unsigned infos; /* lines in the log by then */
} renewals[] = {
    {"all is well", "", false, 0, 0},
    {"the start fails", "call zesInit = !0x78000001\n", false, 601, 1},
    {"the start fails, in one process", "call zesInit = !0x78000001\n", true, 0, 1},
    {"the start finds no driver's GPU", "call zesDriverGet = 0\n", false, 601, 0},
    {"nor any device of one", "call zesDeviceGet 0 = 0\ncall zesDeviceGet 1 = 0\n", false, 601, 0},
    {"a GPU is lost after it has worked",
     "at 3s\ncall zesTemperatureGetState 1 0 = !0x70000001\n" XE_SAYS("0x70000001"), false, 33, 1},
    {"a GPU is lost, and its first call answers what is remembered",
     "at 3s\ncall zesTemperatureGetState 1 0 = !0x70000001\n"
     "call zesMemoryGetState 1 0 = !0x70000001\n",
     false, 33, 1},
    {"one question says that the GPU is lost",
     "at 3s\ncall zesTemperatureGetState 1 0 = !0x70000001\n", false, 0, 0},
    {"a GPU that never worked",
     "call zesTemperatureGetState 1 0 = !0x70000001\n"
     "call zesTemperatureGetState 1 1 = !0x70000001\ncall zesFanGetState 1 0 0 = !0x70000001\n",
     false, 0, 0},
    {"a GPU that answers again",
     "at 3s\ncall zesTemperatureGetState 1 0 = !0x70000001\n" XE_SAYS(
         "0x70000001") "at 20s\ncall zesTemperatureGetState 1 0 = 61\n" XE_ANSWERS,
     false, 0, 1},
    {"a GPU comes", "at 100s\n" CARD("card2", "0000:05:00.0", "xe", "E20B"), false, 121, 1},
    {"a GPU goes", "at 5s\ngone sys/class/drm/card0\n", false, 0, 0},
    {"a GPU goes and comes",
     "at 5s\ngone sys/class/drm/card0\ngone sys/devices/pci0000:00/0000:03:00.0/drm\n"
     "at 9s\n" XE,
     false, 9, 1},
    {"a GPU goes and comes immediately",
     "at 5s\ngone sys/class/drm/card0\ngone sys/devices/pci0000:00/0000:03:00.0/drm\n" XE, false, 5,
     1},
};

static void test_renewals(void)
{
    enum { SECONDS = 700 };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(renewals); i++) {
        struct machine m;
        unsigned after = 0;
        test_label = renewals[i].label;
        if (!begin(&m, renewals[i].text))
            continue;
        m.group.registry.renewal =
            renewals[i].is_inline ? GTEL_RENEWAL_NEVER : GTEL_RENEWAL_POSSIBLE;
        for (unsigned k = 1; k <= SECONDS && after == 0; k++) {
            gather(&m, 1);
            after = m.group.registry.renewal == GTEL_RENEWAL_DUE ? k : 0;
        }
        CHECK_INT(after, renewals[i].after);
        CHECK_INT(spy.logs[GTEL_LOG_INFO], renewals[i].infos);
        finish(&m);
    }
    test_label = "";
}

int main(void)
{
    test_renewals();
    test_changes();
    test_resets();
    test_pace();
    test_reasons_of_i915();
    test_reset();
    test_processes();
    test_unknown_process();
    test_growing();
    test_newer_kernel();
    test_changing();
    return test_result();
}
