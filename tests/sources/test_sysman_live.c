/* SPDX-License-Identifier: MIT */
/* When the Sysman source asks a GPU, when it leaves it alone, and when it takes it for lost. */
#include "sources/sysman.h"
#include "test.h"

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
    {"at 4s\ncall zesFrequencyGetState 1 0 = !0x78000001\n"
     "call zesDeviceGetProperties 1 = !0x78000001\n",
     3, 1},
};

static void test_lacks(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(lacks); i++) {
        struct machine m;
        unsigned told = 0;
        test_label = lacks[i].text;
        if (!begin(&m, lacks[i].text))
            continue;
        for (unsigned k = 0; k < 10; k++) {
            gather(&m, 1);
            told += value(&m, GTEL_M_TEMPERATURE, "gpu", NULL) > 0;
        }
        CHECK_INT(told, lacks[i].gathers);
        CHECK_INT(spy.logs[GTEL_LOG_WARNING], lacks[i].warnings);
        finish(&m);
    }
    test_label = "";
}

/* A GPU that may fall asleep after two seconds, gathered once a second. */
#define SLEEPER                                                                                    \
    POWER("0000:03:00.0", "runtime_status", "active")                                              \
    POWER("0000:03:00.0", "control", "auto") POWER("0000:03:00.0", "autosuspend_delay_ms", "2000")
#define CLOCK "call zesFrequencyGetState 1 0 = "
#define TWO_CLOCKS                                                                                 \
    "call zesDeviceEnumFrequencyDomains 1 = 2\ncall zesFrequencyGetProperties 1 1 = 2 0 0\n"

#define GROW(gt, ms)                                                                               \
    "grow sys/devices/pci0000:00/0000:03:00.0/tile0/" gt "/gtidle/idle_residency_ms 5000 " ms "\n"

/*
 * Only one that is known to stand still gets a rest: a clock that is not told may run, unless the
 * kernel says how long the GTs slept.
 */
static const struct rest {
    const char *text;
    unsigned read; /* gathers with readings, of 30 */
} rests[] = {
    {CLOCK "-1 300 -1 400 0 0\n", 3},
    {CLOCK "-1 300 -1 400 1400 0\n", 30},
    {CLOCK "!0x70010001\n", 30},
    {CLOCK "untouched\n", 30},
    {"call zesDeviceEnumFrequencyDomains 1 = 0\n", 30},
    {"call zesDeviceEnumFrequencyDomains 1 = !0x78000003\n", 30},
    {"call zesFrequencyGetProperties 1 0 = !0x70010001\n", 30},
    {TWO_CLOCKS CLOCK "-1 300 -1 400 0 0\ncall zesFrequencyGetState 1 1 = -1 300 -1 400 0 0\n", 3},
    {TWO_CLOCKS CLOCK "-1 300 -1 400 0 0\ncall zesFrequencyGetState 1 1 = -1 300 -1 400 9 0\n", 30},
    {TWO_CLOCKS CLOCK "-1 300 -1 400 0 0\ncall zesFrequencyGetState 1 1 = !0x70010001\n", 30},
    {CLOCK "-1 300 -1 400 -1 0\n", 30},
    {GROW("gt0", "1000") CLOCK "-1 300 -1 400 -1 0\n", 4},
    {GROW("gt0", "1000") "call zesDeviceEnumFrequencyDomains 1 = 0\n", 4},
    {GROW("gt0", "1000") CLOCK "!0x70010001\n", 4},
    {GROW("gt0", "300") CLOCK "-1 300 -1 400 -1 0\n", 30},
    {GROW("gt0", "1000") GROW("gt1", "300") CLOCK "-1 300 -1 400 -1 0\n", 30},
    {GROW("gt0", "1000") GROW("gt1", "1000") CLOCK "-1 300 -1 400 -1 0\n", 4},
    {GROW("gt0", "1000") CLOCK "-1 300 -1 400 9 0\n", 30},
    {CLOCK "-1 2850 -1 400 2850 0\nat 4s\n" CLOCK "!0x70010001\n", 30},
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

static bool is_told(const struct gtel_findings *findings, const char *why)
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
        CHECK_INT(is_told(&findings, why), k < 3);
        CHECK_INT(spy.opens, k < 4 ? 0 : 1); /* the gather after it woke looks anew */
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

int main(void)
{
#ifndef _WIN32
    test_plain_name();
#endif
    test_waiting();
    test_rests();
    test_lacks();
    return test_result();
}
