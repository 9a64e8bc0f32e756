/* SPDX-License-Identifier: MIT */
/* Source xe: GPUs of Intel's xe driver, through sysfs and hwmon. */
#include "sources/intel/gpu.h"

enum { TILES_MAX = 16, GTS_MAX = 16 };

/*
 * What a GT is: gtidle/name ends in -rc for render or -mc for media. A VF has no gtidle; then the
 * engine classes tell.
 */
static bool is_media(struct gtel_intel_scan *scan, const char *dir)
{
    char path[GTEL_FS_PATH_MAX];
    char buf[32];
    struct gtel_str name;
    gtel_fs_path(path, "%s/gtidle/name", dir);
    int r = gtel_fs_text(scan->env, path, buf, sizeof(buf), &name);
    gtel_intel_doubt(scan, r);
    if (r == 0)
        return gtel_str_ends(name, GTEL_STR("-mc"));
    if (!gtel_fs_exists(scan->env, gtel_fs_path(path, "%s/engines/vcs", dir)))
        return false;
    return !gtel_fs_exists(scan->env, gtel_fs_path(path, "%s/engines/rcs", dir)) &&
           !gtel_fs_exists(scan->env, gtel_fs_path(path, "%s/engines/ccs", dir));
}

static void scan_gt(struct gtel_intel_scan *scan, struct gtel_intel_gt *gt, const char *dir)
{
    static const char *const clocks[4] = {"freq0/act_freq", "freq0/cur_freq", "freq0/min_freq",
                                          "freq0/max_freq"};
    /*
     * Milliseconds; xe extends a 32-bit counter of 1.28 µs steps at each read, so it must be read
     * at least every 90 minutes (kernel: xe/xe_gt_idle.c).
     */
    static const struct gtel_intel_kind idle = {
        GTEL_M_FREQUENCY_IDLE_TIME, GTEL_INTEL_COUNTER, 1e-3,
        GTEL_INTEL_NO_HEADLINE,     GTEL_INTEL_SYSFS,   true};
    /*
     * The state comes first: reading the requested clock wakes the GT. RP0, RPe, RPa and RPn are
     * the highest, the efficient, the now achievable and the lowest clock (kernel:
     * xe/xe_gt_freq.c).
     */
    static const struct gtel_intel_figure state[] = {
        {"gtidle/idle_status", GTEL_M_FREQUENCY_ASLEEP, GTEL_INTEL_IDLE, 1},
    };
    static const struct gtel_intel_figure figures[] = {
        {"freq0/rp0_freq", GTEL_M_FREQUENCY_HARDWARE_MAX, GTEL_INTEL_LEVEL, 1e6},
        {"freq0/rpe_freq", GTEL_M_FREQUENCY_EFFICIENT, GTEL_INTEL_LEVEL, 1e6},
        {"freq0/rpa_freq", GTEL_M_FREQUENCY_ACHIEVABLE, GTEL_INTEL_LEVEL, 1e6},
        {"freq0/rpn_freq", GTEL_M_FREQUENCY_HARDWARE_MIN, GTEL_INTEL_LEVEL, 1e6},
        {"freq0/power_profile", GTEL_M_FREQUENCY_POWER_SAVING, GTEL_INTEL_PROFILE, 1},
    };
    char throttle[GTEL_FS_PATH_MAX];
    gtel_intel_add_figures(scan, gt, dir, state, GTEL_ARRAY_LEN(state));
    gtel_intel_add_clocks(scan, gt, dir, clocks);
    const struct gtel_str dims[3] = {gt->domain, gt->gt, gt->tile};
    gtel_intel_add(scan, &idle, dims, dir, GTEL_STR("gtidle/idle_residency_ms"));
    gtel_fs_path(throttle, "%s/freq0/throttle", dir);
    gtel_intel_add_throttle(scan, gt, throttle, GTEL_STR("reason_"), GTEL_STR("status"));
    gtel_intel_add_figures(scan, gt, dir, figures, GTEL_ARRAY_LEN(figures));
}

/* Ponte Vecchio's memory has a clock range of its own. */
static void scan_memory_clock(struct gtel_intel_scan *scan, const char *dir, struct gtel_str tile)
{
    static const char *const clocks[4] = {NULL, NULL, "memory/freq0/min_freq",
                                          "memory/freq0/max_freq"};
    char path[GTEL_FS_PATH_MAX];
    struct gtel_intel_gt memory = {.domain = GTEL_STR("memory"), .tile = tile};
    if (gtel_fs_exists(scan->env, gtel_fs_path(path, "%s/memory/freq0", dir)))
        gtel_intel_add_clocks(scan, &memory, dir, clocks);
}

/* <device>/tileT/gtG; xe numbers GTs over all tiles. */
static void scan_xe(struct gtel_intel_scan *scan)
{
    uint64_t tiles[TILES_MAX];
    size_t ntiles = gtel_intel_numbers(scan, scan->device_path, GTEL_STR("tile"), tiles, TILES_MAX);
    bool has_main = false;
    for (size_t t = 0; t < ntiles; t++) {
        char dir[GTEL_FS_PATH_MAX];
        uint64_t gts[GTS_MAX];
        struct gtel_str tile = GTEL_STR_NONE;
        if (ntiles > 1)
            tile = gtel_intel_number_text(scan, tiles[t]);
        gtel_fs_path(dir, "%s/tile%llu", scan->device_path, (unsigned long long)tiles[t]);
        scan_memory_clock(scan, dir, tile);
        size_t ngts = gtel_intel_numbers(scan, dir, GTEL_STR("gt"), gts, GTS_MAX);
        for (size_t g = 0; g < ngts; g++) {
            struct gtel_intel_gt gt = {.domain = GTEL_STR("media"), .tile = tile};
            gt.gt = gtel_intel_number_text(scan, gts[g]);
            gtel_fs_path(dir, "%s/tile%llu/gt%llu", scan->device_path, (unsigned long long)tiles[t],
                         (unsigned long long)gts[g]);
            if (!is_media(scan, dir)) {
                gt.domain = GTEL_STR("graphics");
                gt.is_main = !has_main;
                has_main = true;
            }
            scan_gt(scan, &gt, dir);
        }
    }
}

static const char *const drivers[] = {"xe", NULL};

static bool present(const struct gtel_env *env)
{
    return gtel_cards_any(env, drivers);
}

static int open_xe(void *state, const struct gtel_env *env, const struct gtel_options *options)
{
    return gtel_intel_open(state, env, options, drivers, scan_xe);
}

const struct gtel_source gtel_source_xe = {
    .name = "xe",
    .lane = "kernel",
    .vendor = "intel",
    .summary = "Clocks, idle time, throttling, energy, limits, temperatures, fans and PCIe link of "
               "GPUs with Intel's xe driver",
    .needs = "Linux 6.8 or newer; no rights",
    .seen = "not tried on hardware",
    .origins = gtel_intel_origins,
    .state_size = sizeof(struct gtel_intel),
    .present = present,
    .open = open_xe,
    .discover = gtel_intel_discover,
    .sample = gtel_intel_sample,
    .diagnose = gtel_intel_diagnose,
    .due_ns = gtel_intel_due,
    .tick = gtel_intel_tick,
    .close = gtel_intel_close,
};
