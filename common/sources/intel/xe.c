/* SPDX-License-Identifier: MIT */
/* Source xe: GPUs of Intel's xe driver, through sysfs and hwmon. */
#include "sources/intel/gpu.h"

enum { TILES_MAX = 16, GTS_MAX = 16 };

/*
 * What a GT is: gtidle/name ends in -rc for render or -mc for media. A VF has no gtidle; then the
 * engine classes decide.
 */
static bool is_media(struct gtel_attr_list *list, const char *dir)
{
    char buf[32];
    struct gtel_str name;
    int r = gtel_fs_text(list->env, GTEL_FS_AT("%s/gtidle/name", dir), buf, sizeof(buf), &name);
    gtel_attr_list_check(list, r);
    if (r == 0)
        return gtel_str_ends(name, GTEL_STR("-mc"));
    if (!gtel_fs_exists(list->env, GTEL_FS_AT("%s/engines/vcs", dir)))
        return false;
    return !gtel_fs_exists(list->env, GTEL_FS_AT("%s/engines/rcs", dir)) &&
           !gtel_fs_exists(list->env, GTEL_FS_AT("%s/engines/ccs", dir));
}

static void scan_gt(struct gtel_attr_list *list, const struct gtel_str *gt, const char *dir)
{
    /*
     * The state comes first: reading the requested clock wakes the GT, so that of one that sleeps
     * is not read. The limits are asked of the firmware, and the GT is awake until it has answered
     * (kernel: xe/xe_guc_pc.c, xe_guc_pc_get_min_freq). Idle time is milliseconds; xe extends a
     * 32-bit counter of 1.28 µs steps at each read, so it must be read at least every 90 minutes
     * (kernel: xe/xe_gt_idle.c). RP0, RPe, RPa and RPn are the highest, the efficient, the now
     * achievable and the lowest clock (kernel: xe/xe_gt_freq.c).
     */
    static const struct gtel_attr_file files[] = {
        {"gtidle/idle_status", {GTEL_M_FREQUENCY_ASLEEP, GTEL_ATTR_IDLE, 1}},
        {"freq0/act_freq", {GTEL_M_FREQUENCY_ACTUAL, GTEL_ATTR_INTEGER, 1e6}},
        {"freq0/cur_freq", {GTEL_M_FREQUENCY_REQUESTED, GTEL_ATTR_INTEGER, 1e6}},
        {"freq0/min_freq", {GTEL_M_FREQUENCY_MIN, GTEL_ATTR_RARE, 1e6}},
        {"freq0/max_freq", {GTEL_M_FREQUENCY_MAX, GTEL_ATTR_RARE, 1e6}},
        {"gtidle/idle_residency_ms", {GTEL_M_FREQUENCY_IDLE_TIME, GTEL_ATTR_COUNTER, 1e-3}},
        {"freq0/rp0_freq", {GTEL_M_FREQUENCY_HARDWARE_MAX, GTEL_ATTR_CLOCK, 1e6}},
        {"freq0/rpe_freq", {GTEL_M_FREQUENCY_EFFICIENT, GTEL_ATTR_CLOCK, 1e6}},
        {"freq0/rpa_freq", {GTEL_M_FREQUENCY_ACHIEVABLE, GTEL_ATTR_CLOCK, 1e6}},
        {"freq0/rpn_freq", {GTEL_M_FREQUENCY_HARDWARE_MIN, GTEL_ATTR_CLOCK, 1e6}},
        {"freq0/power_profile", {GTEL_M_FREQUENCY_POWER_SAVING, GTEL_ATTR_PROFILE, 1}},
    };
    gtel_attr_add_files(list, gt, dir, files, GTEL_ARRAY_LEN(files));
    gtel_intel_add_throttle(list, gt, GTEL_FS_AT("%s/freq0/throttle", dir), GTEL_STR("reason_"),
                            GTEL_STR("status"));
}

/* Ponte Vecchio's memory has a clock range of its own. */
static void scan_memory_clock(struct gtel_attr_list *list, const char *dir, struct gtel_str tile)
{
    static const struct gtel_attr_file files[] = {
        {"min_freq", {GTEL_M_FREQUENCY_MIN, GTEL_ATTR_INTEGER, 1e6}},
        {"max_freq", {GTEL_M_FREQUENCY_MAX, GTEL_ATTR_INTEGER, 1e6}},
    };
    const struct gtel_str memory[GTEL_ATTR_DIMS] = {GTEL_STR("memory"), {NULL, 0}, tile};
    gtel_attr_add_files(list, memory, GTEL_FS_AT("%s/memory/freq0", dir), files,
                        GTEL_ARRAY_LEN(files));
}

/* <device>/tileT/gtG; xe numbers GTs over all tiles. */
static void scan_xe(struct gtel_attr_list *list)
{
    uint64_t tiles[TILES_MAX];
    size_t ntiles = gtel_attr_numbers(list, list->card->path, GTEL_STR("tile"), tiles, TILES_MAX);
    for (size_t t = 0; t < ntiles; t++) {
        char dir[GTEL_FS_PATH_MAX];
        uint64_t gts[GTS_MAX];
        struct gtel_str tile = GTEL_STR_NONE;
        if (ntiles > 1)
            tile = gtel_attr_number_text(list, tiles[t]);
        gtel_fs_path(dir, "%s/tile%llu", list->card->path, (unsigned long long)tiles[t]);
        scan_memory_clock(list, dir, tile);
        size_t ngts = gtel_attr_numbers(list, dir, GTEL_STR("gt"), gts, GTS_MAX);
        for (size_t g = 0; g < ngts; g++) {
            gtel_fs_path(dir, "%s/tile%llu/gt%llu", list->card->path, (unsigned long long)tiles[t],
                         (unsigned long long)gts[g]);
            bool is_of_media = is_media(list, dir);
            const struct gtel_str gt[GTEL_ATTR_DIMS] = {is_of_media ? GTEL_STR("media")
                                                                    : GTEL_STR("graphics"),
                                                        gtel_attr_number_text(list, gts[g]), tile};
            scan_gt(list, gt, dir);
        }
    }
    gtel_intel_add_card(list);
}

static const char *const drivers[] = {"xe", NULL};

static const struct gtel_card_work work = {
    .own_size = sizeof(struct gtel_intel_gpu),
    .close = gtel_intel_close_gpu,
    .due_ns = gtel_intel_due,
    .tick = gtel_intel_tick,
    .add = scan_xe,
};

const struct gtel_source gtel_source_xe = {
    .name = "xe",
    .lane = "kernel",
    .vendor = "intel",
    .summary = "Clocks, idle time, throttling, energy, limits, temperatures, fans and PCIe link of "
               "GPUs with Intel's xe driver",
    .needs = "Linux 6.8 or newer; no rights",
    .origins = gtel_attr_origins,
    .state_size = sizeof(struct gtel_intel),
    .drivers = drivers,
    .work = &work,
    .discover = gtel_intel_discover,
    .sample = gtel_intel_sample,
    .diagnose = gtel_intel_diagnose,
};
