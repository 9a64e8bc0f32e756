/* SPDX-License-Identifier: MIT */
/* Source i915: GPUs of Intel's i915 driver, through sysfs, hwmon and the perf PMU. */
#include "sources/intel/gpu.h"

/*
 * By file of a GT and by file of the card. The residencies are milliseconds in 32 bits, which wrap
 * after 49.7 days; reading them wakes the device, so they are read only when that is awake already.
 * RP0, RP1 and RPn are the hardware's highest, efficient and lowest clock. RC6p and RC6pp are
 * deeper sleep of Sandy Bridge and Ivy Bridge. (kernel: gt/intel_gt_sysfs_pm.c, i915_sysfs.c)
 */
static const struct gtel_attr_file of_gt[] = {
    {"rps_act_freq_mhz", {GTEL_M_FREQUENCY_ACTUAL, GTEL_ATTR_INTEGER, 1e6}},
    {"rps_cur_freq_mhz", {GTEL_M_FREQUENCY_REQUESTED, GTEL_ATTR_INTEGER, 1e6}},
    {"rps_min_freq_mhz", {GTEL_M_FREQUENCY_MIN, GTEL_ATTR_INTEGER, 1e6}},
    {"rps_max_freq_mhz", {GTEL_M_FREQUENCY_MAX, GTEL_ATTR_INTEGER, 1e6}},
    {"rc6_residency_ms", {GTEL_M_FREQUENCY_IDLE_TIME, GTEL_ATTR_COUNTER32, 1e-3}},
    {"rps_boost_freq_mhz", {GTEL_M_FREQUENCY_BOOST, GTEL_ATTR_CLOCK, 1e6}},
    {"rps_RP0_freq_mhz", {GTEL_M_FREQUENCY_HARDWARE_MAX, GTEL_ATTR_CLOCK, 1e6}},
    {"rps_RP1_freq_mhz", {GTEL_M_FREQUENCY_EFFICIENT, GTEL_ATTR_CLOCK, 1e6}},
    {"rps_RPn_freq_mhz", {GTEL_M_FREQUENCY_HARDWARE_MIN, GTEL_ATTR_CLOCK, 1e6}},
    {"punit_req_freq_mhz", {GTEL_M_FREQUENCY_PUNIT_REQUESTED, GTEL_ATTR_INTEGER, 1e6}},
    {"rc6_enable", {GTEL_M_FREQUENCY_SLEEP_ENABLED, GTEL_ATTR_MASK, 1}},
    {"rc6p_residency_ms", {GTEL_M_FREQUENCY_DEEP_IDLE_TIME, GTEL_ATTR_COUNTER32, 1e-3}},
    {"rc6pp_residency_ms", {GTEL_M_FREQUENCY_DEEPEST_IDLE_TIME, GTEL_ATTR_COUNTER32, 1e-3}},
};
static const struct gtel_attr_file of_card[] = {
    {"gt_act_freq_mhz", {GTEL_M_FREQUENCY_ACTUAL, GTEL_ATTR_INTEGER, 1e6}},
    {"gt_cur_freq_mhz", {GTEL_M_FREQUENCY_REQUESTED, GTEL_ATTR_INTEGER, 1e6}},
    {"gt_min_freq_mhz", {GTEL_M_FREQUENCY_MIN, GTEL_ATTR_INTEGER, 1e6}},
    {"gt_max_freq_mhz", {GTEL_M_FREQUENCY_MAX, GTEL_ATTR_INTEGER, 1e6}},
    {"power/rc6_residency_ms", {GTEL_M_FREQUENCY_IDLE_TIME, GTEL_ATTR_COUNTER32, 1e-3}},
    {"gt_boost_freq_mhz", {GTEL_M_FREQUENCY_BOOST, GTEL_ATTR_CLOCK, 1e6}},
    {"gt_RP0_freq_mhz", {GTEL_M_FREQUENCY_HARDWARE_MAX, GTEL_ATTR_CLOCK, 1e6}},
    {"gt_RP1_freq_mhz", {GTEL_M_FREQUENCY_EFFICIENT, GTEL_ATTR_CLOCK, 1e6}},
    {"gt_RPn_freq_mhz", {GTEL_M_FREQUENCY_HARDWARE_MIN, GTEL_ATTR_CLOCK, 1e6}},
    {"power/rc6_enable", {GTEL_M_FREQUENCY_SLEEP_ENABLED, GTEL_ATTR_MASK, 1}},
    {"power/rc6p_residency_ms", {GTEL_M_FREQUENCY_DEEP_IDLE_TIME, GTEL_ATTR_COUNTER32, 1e-3}},
    {"power/rc6pp_residency_ms", {GTEL_M_FREQUENCY_DEEPEST_IDLE_TIME, GTEL_ATTR_COUNTER32, 1e-3}},
};
/*
 * Where the media engines of a GT have a clock of their own (6.0). The factor is in 256ths of the
 * graphics clock, as the file media_freq_factor.scale says; 0 leaves it to the hardware.
 */
static const struct gtel_attr_file of_media[] = {
    {"media_RP0_freq_mhz", {GTEL_M_FREQUENCY_HARDWARE_MAX, GTEL_ATTR_CLOCK, 1e6}},
    {"media_RPn_freq_mhz", {GTEL_M_FREQUENCY_HARDWARE_MIN, GTEL_ATTR_CLOCK, 1e6}},
    {"media_freq_factor", {GTEL_M_FREQUENCY_FACTOR, GTEL_ATTR_LIMIT, 1.0 / 256}},
};

/* cardN/gt/gtG, since 5.19. i915 has at most GTs 0 and 1; 1 is the media GT of Meteor Lake. */
static void scan_gt(struct gtel_attr_list *list, uint64_t number)
{
    char dir[GTEL_FS_PATH_MAX];
    struct gtel_str gt[GTEL_ATTR_DIMS] = {number == 0 ? GTEL_STR("graphics") : GTEL_STR("media"),
                                          gtel_attr_number_text(list, number)};
    gtel_fs_path(dir, "%s/gt/gt%llu", list->card_path, (unsigned long long)number);
    gtel_attr_add_files(list, gt, dir, of_gt, GTEL_ARRAY_LEN(of_gt));
    gtel_intel_add_throttle(list, gt, dir, GTEL_STR("throttle_reason_"),
                            GTEL_STR("throttle_reason_status"));
    gt[GTEL_INTEL_DOMAIN] = GTEL_STR("media");
    gtel_attr_add_files(list, gt, dir, of_media, GTEL_ARRAY_LEN(of_media));
}

/* Kernels before 5.19 have the card's own files alone. */
static void scan_i915(struct gtel_attr_list *list)
{
    static const struct gtel_str card[GTEL_ATTR_DIMS] = {GTEL_STR_INIT("graphics"),
                                                         GTEL_STR_INIT("0")};
    uint64_t gts[8];
    size_t n = gtel_attr_numbers(list, GTEL_FS_AT("%s/gt", list->card_path), GTEL_STR("gt"), gts,
                                 GTEL_ARRAY_LEN(gts));
    if (n == 0)
        gtel_attr_add_files(list, card, list->card_path, of_card, GTEL_ARRAY_LEN(of_card));
    for (size_t i = 0; i < n; i++)
        scan_gt(list, gts[i]);
    gtel_intel_add_card(list);
}

static const char *const drivers[] = {"i915", NULL};

static const struct gtel_card_work work = {
    .own_size = sizeof(struct gtel_intel_gpu),
    .close = gtel_intel_close_gpu,
    .due_ns = gtel_intel_due,
    .tick = gtel_intel_tick,
    .add = scan_i915,
};

/* In the order of GTEL_ATTR_SYSFS … GTEL_INTEL_PMU. */
static const char *const origins[] = {"sysfs", "hwmon", "i915 PMU", NULL};

const struct gtel_source gtel_source_i915 = {
    .name = "i915",
    .lane = "kernel",
    .vendor = "intel",
    .summary = "Engine use, clocks, idle time, throttling, energy, limits, temperature, fan and "
               "PCIe link of GPUs with Intel's i915 driver",
    .needs = "Linux 5.4 or newer, 6.2 for power; no rights but CAP_PERFMON for engine use and "
             "interrupts",
    .origins = origins,
    .state_size = sizeof(struct gtel_intel),
    .drivers = drivers,
    .work = &work,
    .discover = gtel_intel_discover,
    .sample = gtel_intel_sample,
    .diagnose = gtel_intel_diagnose,
};
