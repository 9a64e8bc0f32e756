/* SPDX-License-Identifier: MIT */
/* Sources i915 and xe: clocks of the hardware, states in words, and what is no reading of them. */
#include "harness/source_harness.h"
#include "harness/test.h"

#define KEY "0000:03:00.0"
#define DEVICE "sys/devices/pci0000:00/" KEY
#define CARD(driver)                                                                               \
    "file " DEVICE "/uevent\n| DRIVER=" driver "\n| PCI_ID=8086:56A5\n| PCI_SLOT_NAME=" KEY        \
    "\nlink sys/class/drm/card0 -> ../../devices/pci0000:00/" KEY "/drm/card0\n"                   \
    "link " DEVICE "/drm/card0/device -> ../../../" KEY "\n"
#define XE CARD("xe") "file " DEVICE "/tile0/gt0/gtidle/name\n| gt0-rc\n"
#define GT DEVICE "/tile0/gt0/"
#define I915 CARD("i915") "file " I915_GT "rps_act_freq_mhz\n| 600\n"
#define I915_GT DEVICE "/drm/card0/gt/gt0/"
#define FILE_IN(dir, name, text) "file " dir name "\n| " text "\nend\n"

/* One file, and the reading that it makes at 1 s: absent when value is negative. */
static const struct expected {
    const char *text;
    enum gtel_metric metric;
    const char *domain;
    double value;
} expected[] = {
    {XE FILE_IN(GT, "freq0/rp0_freq", "2850"), GTEL_M_FREQUENCY_HARDWARE_MAX, "graphics", 2850e6},
    {XE FILE_IN(GT, "freq0/rpe_freq", "1500"), GTEL_M_FREQUENCY_EFFICIENT, "graphics", 1500e6},
    {XE FILE_IN(GT, "freq0/rpn_freq", "400"), GTEL_M_FREQUENCY_HARDWARE_MIN, "graphics", 400e6},
    {XE FILE_IN(GT, "freq0/rpn_freq", "0"), GTEL_M_FREQUENCY_HARDWARE_MIN, "graphics", -1},
    {XE FILE_IN(GT, "freq0/rpa_freq", "2800"), GTEL_M_FREQUENCY_ACHIEVABLE, "graphics", 2800e6},
    {XE FILE_IN(GT, "freq0/rpa_freq", "20000"), GTEL_M_FREQUENCY_ACHIEVABLE, "graphics", 20e9},
    {XE FILE_IN(GT, "freq0/rpa_freq", "20001"), GTEL_M_FREQUENCY_ACHIEVABLE, "graphics", -1},
    {XE FILE_IN(GT, "freq0/rpa_freq", "627200"), GTEL_M_FREQUENCY_ACHIEVABLE, "graphics", -1},
    {XE FILE_IN(GT, "freq0/power_profile", "[base]    power_saving"), GTEL_M_FREQUENCY_POWER_SAVING,
     "graphics", 0},
    {XE FILE_IN(GT, "freq0/power_profile", "base    [power_saving]"), GTEL_M_FREQUENCY_POWER_SAVING,
     "graphics", 1},
    {XE FILE_IN(GT, "freq0/power_profile", "base power_saving [new]"),
     GTEL_M_FREQUENCY_POWER_SAVING, "graphics", -1},
    {XE FILE_IN(GT, "gtidle/idle_status", "gt-c0"), GTEL_M_FREQUENCY_ASLEEP, "graphics", 0},
    {XE FILE_IN(GT, "gtidle/idle_status", "gt-c6"), GTEL_M_FREQUENCY_ASLEEP, "graphics", 1},
    {XE FILE_IN(GT, "gtidle/idle_status", "unknown"), GTEL_M_FREQUENCY_ASLEEP, "graphics", -1},
    {I915 FILE_IN(I915_GT, "rps_boost_freq_mhz", "2400"), GTEL_M_FREQUENCY_BOOST, "graphics",
     2400e6},
    {I915 FILE_IN(I915_GT, "rps_RP0_freq_mhz", "2450"), GTEL_M_FREQUENCY_HARDWARE_MAX, "graphics",
     2450e6},
    {I915 FILE_IN(I915_GT, "rps_RP1_freq_mhz", "600"), GTEL_M_FREQUENCY_EFFICIENT, "graphics",
     600e6},
    {I915 FILE_IN(I915_GT, "rps_RPn_freq_mhz", "300"), GTEL_M_FREQUENCY_HARDWARE_MIN, "graphics",
     300e6},
    {I915 FILE_IN(I915_GT, "punit_req_freq_mhz", "0"), GTEL_M_FREQUENCY_PUNIT_REQUESTED, "graphics",
     0},
    {I915 FILE_IN(I915_GT, "rc6_enable", "7"), GTEL_M_FREQUENCY_SLEEP_ENABLED, "graphics", 1},
    {I915 FILE_IN(I915_GT, "rc6_enable", "0"), GTEL_M_FREQUENCY_SLEEP_ENABLED, "graphics", 0},
    {I915 FILE_IN(I915_GT, "rc6_enable", "0x6"), GTEL_M_FREQUENCY_SLEEP_ENABLED, "graphics", 0},
    {I915 FILE_IN(I915_GT, "rc6p_residency_ms", "2500"), GTEL_M_FREQUENCY_DEEP_IDLE_TIME,
     "graphics", 2.5},
    {I915 FILE_IN(I915_GT, "rc6pp_residency_ms", "500"), GTEL_M_FREQUENCY_DEEPEST_IDLE_TIME,
     "graphics", 0.5},
    {I915 FILE_IN(I915_GT, "media_RP0_freq_mhz", "1200"), GTEL_M_FREQUENCY_HARDWARE_MAX, "media",
     1200e6},
    {I915 FILE_IN(I915_GT, "media_RPn_freq_mhz", "300"), GTEL_M_FREQUENCY_HARDWARE_MIN, "media",
     300e6},
    {I915 FILE_IN(I915_GT, "media_freq_factor", "128"), GTEL_M_FREQUENCY_FACTOR, "media", 0.5},
    {I915 FILE_IN(I915_GT, "media_freq_factor", "256"), GTEL_M_FREQUENCY_FACTOR, "media", 1},
    {I915 FILE_IN(I915_GT, "media_freq_factor", "0"), GTEL_M_FREQUENCY_FACTOR, "media", -1},
    /* Linux 5.18 and older: the card's own files. */
    {CARD("i915") FILE_IN(DEVICE, "/drm/card0/gt_RP0_freq_mhz", "1150"),
     GTEL_M_FREQUENCY_HARDWARE_MAX, "graphics", 1150e6},
    {CARD("i915") FILE_IN(DEVICE, "/drm/card0/gt_boost_freq_mhz", "1150"), GTEL_M_FREQUENCY_BOOST,
     "graphics", 1150e6},
    {CARD("i915") FILE_IN(DEVICE, "/drm/card0/power/rc6_enable", "1"),
     GTEL_M_FREQUENCY_SLEEP_ENABLED, "graphics", 1},
    {CARD("i915") FILE_IN(DEVICE, "/drm/card0/power/rc6p_residency_ms", "4000"),
     GTEL_M_FREQUENCY_DEEP_IDLE_TIME, "graphics", 4},
};

static void check(const struct expected *want)
{
    struct machine machine;
    struct gtel_str text = gtel_str_of(want->text);
    test_label = want->text + (text.n > 60 ? text.n - 60 : 0);
    if (!CHECK(machine_init(&machine, want->text, strstr(want->text, "DRIVER=xe") ? "xe" : "i915")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    const struct gtel_reading *got = machine_find(&machine, NULL, want->metric, want->domain, "0");
    if (CHECK((got != NULL) == (want->value >= 0)) && got)
        CHECK_NEAR(gtel_reading_number(got), want->value, 1e-9);
    CHECK_INT(machine.batch.failed[0], 0);
    CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 0);
    machine_done(&machine);
}

/*
 * Limits are asked of the firmware: a new one shows within a minute, and a failure at the read
 * itself. The requested clock is read while the GT is awake, up to 2 s.
 */
static void test_rare(void)
{
    static const char text[] =
        XE "file " GT "gtidle/idle_status\n| gt-c0\nfile " GT "freq0/cur_freq\n| 900\n"
           "file " GT "freq0/max_freq\n| 2850\n"
           "at 2s\nfile " GT "gtidle/idle_status\n| gt-c6\nfile " GT "freq0/max_freq\n| 2000\n"
           "at 100s\nerror " GT "freq0/max_freq EIO\n"
           "at 121s\nfile " GT "freq0/max_freq\n| 1800\nend\n";
    struct machine machine;
    test_label = "rare";
    if (!CHECK(machine_init(&machine, text, "xe")))
        return;
    for (int t = 0; t < 125; t++) {
        double want = t < 60 ? 2850e6 : t < 120 ? 2000e6 : t == 120 ? -1 : 1800e6;
        CHECK_INT(machine_gather(&machine), 0);
        const struct gtel_reading *got =
            machine_find(&machine, NULL, GTEL_M_FREQUENCY_MAX, "graphics", "0");
        CHECK_NEAR(got ? gtel_reading_number(got) : -1, want, 0);
        got = machine_find(&machine, NULL, GTEL_M_FREQUENCY_REQUESTED, "graphics", "0");
        CHECK_NEAR(got ? gtel_reading_number(got) : -1, t < 2 ? 900e6 : -1, 0);
        CHECK_INT(machine.batch.failed[0], t == 120);
        machine_step(&machine, 1000);
    }
    machine_done(&machine);
    test_label = "";
}

int main(void)
{
    test_rare();
    for (size_t i = 0; i < GTEL_ARRAY_LEN(expected); i++)
        check(&expected[i]);
    return test_result();
}
