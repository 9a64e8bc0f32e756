/* SPDX-License-Identifier: MIT */
/*
 * Sources i915 and xe: what the rests in which an idle GPU may fall asleep do to one that works. It
 * is seen to work within seconds, and its energy is read at least each two minutes.
 */
#include "sources/drm/rest.h"
#include "harness/source_lane.h"
#include "harness/test.h"

#include <stdio.h>

#define KEY "0000:03:00.0"
#define DEVICE "sys/devices/pci0000:00/" KEY
#define CARD(driver)                                                                               \
    "file " DEVICE "/uevent\n| DRIVER=" driver "\n| PCI_ID=8086:56A0\n| PCI_SLOT_NAME=" KEY        \
    "\nlink sys/class/drm/card0 -> ../../devices/pci0000:00/" KEY "/drm/card0\n"                   \
    "link " DEVICE "/drm/card0/device -> ../../../" KEY "\nfile " DEVICE                           \
    "/hwmon/hwmon3/name\n| " driver "\n"                                                           \
    "grow " DEVICE "/hwmon/hwmon3/energy1_input 1000000 20000000\n"                                \
    "file " DEVICE "/power/control\n| auto\n" STATUS("active")
#define STATUS(status) "file " DEVICE "/power/runtime_status\n| " status "\n"
#define DELAY(ms) "file " DEVICE "/power/autosuspend_delay_ms\n| " ms "\n"
#define USERS(n) "file " DEVICE "/power/runtime_usage\n| " n "\n"
#define XE CARD("xe") "file " DEVICE "/tile0/gt0/gtidle/name\n| gt0-rc\n" XE_IDLE("7", "1000")
#define XE_IDLE(start, rate)                                                                       \
    "grow " DEVICE "/tile0/gt0/gtidle/idle_residency_ms " start " " rate "\n"
#define GT DEVICE "/drm/card0/gt/gt0"
#define I915 CARD("i915") I915_IDLE("7", "1000") I915_CLOCK("0")
#define I915_IDLE(start, rate) "grow " GT "/rc6_residency_ms " start " " rate "\n"
#define I915_CLOCK(mhz) "file " GT "/rps_act_freq_mhz\n| " mhz "\n"
#define PMU "i915_0000_03_00.0"
#define DIR "sys/bus/event_source/devices/" PMU
#define EVENT(name, config)                                                                        \
    "file " DIR "/events/" name "\n| config=" config "\nfile " DIR "/events/" name ".unit\n| ns\n"
#define COUNTERS                                                                                   \
    "file " DIR "/type\n| 12\nfile " DIR "/cpumask\n| 0\n" EVENT("rcs0-busy", "0x0")               \
        EVENT("rc6-residency", "0x100003") "pmu " PMU " 0x0 0 0\npmu " PMU " 0x100003 0 1e9\n"
#define COUNTERS_BUSY(busy, idle) "pmu " PMU " 0x0 " busy "\npmu " PMU " 0x100003 " idle "\n"

static bool has_energy(const struct lane *lane)
{
    return lane_find(lane, GTEL_M_GPU_ENERGY, NULL, NULL) != NULL;
}

/* Gathers each second: 'E' with energy, 'z' asleep, 'p' with what the PMU counts alone, else '.'.
 */
static void check_life(const char *label, const char *text, const char *want)
{
    struct lane lane;
    char got[64] = "";
    test_label = label;
    if (!CHECK(lane_init(&lane, text, "i915,xe")))
        return;
    for (size_t t = 0; want[t]; t++) {
        lane_gather(&lane);
        const struct gtel_device *device = lane_device(&lane, KEY);
        bool has_counts = lane_find(&lane, GTEL_M_ENGINE_BUSY_TIME, "render", NULL) != NULL;
        got[t] = (char)(has_energy(&lane) ? 'E' : has_counts ? 'p' : '.');
        if (device && device->is_asleep)
            got[t] = 'z';
        CHECK(device && device->is_left_alone == (got[t] != 'E'));
        lane_step(&lane, 1000);
    }
    CHECK_STR(gtel_str_of(got), want);
    CHECK_INT(lane.fault->logs[GTEL_LOG_WARNING], 0);
    lane_done(&lane);
}

static const struct life {
    const char *label;
    const char *text;
    const char *want;
} lives[] = {
    /* Idle from 0 s to 1 s, so left alone from then to 3.25 s; next time a minute later. */
    {"xe's own delay", XE DELAY("1000") "end\n", "EE..EEEEE"},
    {"xe's own delay, falls asleep", XE DELAY("1000") "at 2500ms\n" STATUS("suspended") "end\n",
     "EE.zzzz"},
    /* Too long to be blind, and nothing that says who uses it without being a user itself. */
    {"xe, 10 s", XE DELAY("10000") "end\n", "EEEEEEEEEEEEEEEEEEEEEEEEEE"},
    {"xe, 10 s, users counted",
     XE USERS("0") DELAY("10000") "at 20500ms\n" STATUS("suspended") "end\n",
     "EEEEEEEEEEE..........zzz"},
    {"xe, 10 s, used again at 13 s",
     XE USERS("0") DELAY("10000") "at 12500ms\n" USERS("1") XE_IDLE("12507", "0") "end\n",
     "EEEEEEEEEEE..EEEEEEEEEEEEEEE"},
    {"i915's own delay, falls asleep",
     I915 DELAY("10000") "at 20500ms\n" STATUS("suspended") "end\n", "EEEEEEEEEEE..........zzz"},
    {"i915, works at 13 s, without the right to counters",
     I915 DELAY("10000") "at 12500ms\n" I915_CLOCK("2400") I915_IDLE("12507", "0") "end\n",
     "EEEEEEEEEEE..EEEEEEEEEEEEEEE"},
    {"i915, a driver that counts, falls asleep",
     I915 COUNTERS DELAY("10000") "at 20500ms\n" STATUS("suspended") "end\n",
     "EEEEEEEEEEEppppppppppzzz"},
    /* The counters report the work immediately, and everything else is there at the next gather. */
    {"i915, a driver that counts, works at 13 s",
     I915 COUNTERS DELAY("10000") "at 12500ms\n" COUNTERS_BUSY("0 1e9", "125e8 0") "end\n",
     "EEEEEEEEEEEpppEEEEEEEEEEEEEE"},
    {"i915, 10 minutes", I915 DELAY("600000") "end\n", "EEEEEEEEEEEEEEEE"},
};

static const uint64_t s = 1000000000;

/* Someone uses the GPU: the rest ends, and the next one comes a minute later, however often. */
static void test_end(void)
{
    struct gtel_rest rest = {.delay_ns = 10 * s};
    test_label = "end of a rest";
    for (uint64_t round = 0; round < 5; round++) {
        uint64_t t = 100 + 100 * round;
        for (uint64_t i = 0; i <= 10; i++)
            gtel_rest_note(&rest, true, (t + i) * s);
        CHECK(gtel_rest_is_on(&rest, (t + 11) * s));
        gtel_rest_end(&rest, (t + 12) * s);
        CHECK(!gtel_rest_is_on(&rest, (t + 12) * s));
        CHECK_INT(rest.retry_ns, (t + 12 + 60) * s);
    }
}

/* Blind: for at most the time that users of the values would not mind; else as long as energy may
 * go unread. */
static void test_delay(void)
{
    test_label = "longest delay";
    CHECK_INT(gtel_rest_delay(1 * s, false), 1 * s);
    CHECK_INT(gtel_rest_delay(4 * s, false), 4 * s);
    CHECK_INT(gtel_rest_delay(4 * s + 1, false), 0);
    CHECK_INT(gtel_rest_delay(10 * s, true), 10 * s);
    CHECK_INT(gtel_rest_delay(90 * s, true), 90 * s);
    CHECK_INT(gtel_rest_delay(90 * s + 1, true), 0);
}

static struct {
    const struct gtel_env *env;
    uint64_t last_ns;
    uint64_t longest_ns;
} energy_reads;

static void note_read(void *arg, enum fault_op op, const char *path)
{
    uint64_t now_ns = gtel_env_now(energy_reads.env);
    (void)arg;
    if (op != FAULT_READ || !gtel_str_ends(gtel_str_of(path), GTEL_STR("/energy1_input")))
        return;
    uint64_t passed = energy_reads.last_ns > 0 ? now_ns - energy_reads.last_ns : 0;
    if (passed > energy_reads.longest_ns)
        energy_reads.longest_ns = passed;
    energy_reads.last_ns = now_ns;
}

/* Idle and held awake all the time, with the longest delay that has rests: one half hour. */
static void test_energy(const char *text, uint64_t interval_ms)
{
    struct lane lane;
    size_t rests = 0;
    test_label = text;
    if (!CHECK(lane_init(&lane, text, "i915,xe")))
        return;
    lane.fault->watch = note_read;
    energy_reads.env = &lane.tree_env;
    energy_reads.last_ns = 0;
    energy_reads.longest_ns = 0;
    for (uint64_t ms = 0; ms < 1800000; ms += interval_ms) {
        lane_gather(&lane);
        const struct gtel_device *device = lane_device(&lane, KEY);
        rests += device && device->is_left_alone;
        lane_step(&lane, interval_ms);
    }
    CHECK(rests > 0);
    CHECK(energy_reads.longest_ns > 0 && energy_reads.longest_ns <= 120 * s);
    lane.fault->watch = NULL;
    lane_done(&lane);
}

int main(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(lives); i++)
        check_life(lives[i].label, lives[i].text, lives[i].want);
    test_end();
    test_delay();
    test_energy(I915 DELAY("90000") "end\n", 1000);
    test_energy(I915 DELAY("90000") "end\n", 60000);
    test_energy(XE USERS("0") DELAY("90000") "end\n", 10000);
    test_label = "";
    return test_result();
}
