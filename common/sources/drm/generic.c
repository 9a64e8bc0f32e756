/* SPDX-License-Identifier: MIT */
/* Source drm: what GPUs of every DRM driver without a source of its own have in common. */
#include "sources/drm/attr_source.h"
#include "sources/drm/hwmon.h"
#include "sources/drm/link.h"

#include <string.h>

static const char *const others[] = {"amdgpu", "i915", "nvidia", "xe"}; /* have their own sources */

/* A card without a render node is a display; a facade has a GPU where one device is that. */
static bool is_wanted(const struct gtel_env *env, const struct gtel_drm_card *drm)
{
    char path[GTEL_FS_PATH_MAX];
    char node[GTEL_DRM_NODE_MAX];
    for (size_t i = 0; i < GTEL_ARRAY_LEN(others); i++)
        if (strcmp(others[i], drm->driver) == 0)
            return false;
    gtel_fs_path(path, "sys/class/drm/%s/device", drm->card);
    return gtel_card_has_gpu(drm) && gtel_drm_render_node(env, path, node) == 0 &&
           gtel_card_core(env, drm, path) == 0;
}

/*
 * The clock in force, and the limits of user, cooling and hardware together, in hertz, from memory
 * (kernel: drivers/devfreq/devfreq.c). The one folder has the name of the GPU's device.
 */
static void add_clock(struct gtel_attr_list *list)
{
    static const struct gtel_attr_file files[] = {
        {"cur_freq", {GTEL_M_FREQUENCY_ACTUAL, GTEL_ATTR_CLOCK, 1}},
        {"min_freq", {GTEL_M_FREQUENCY_MIN, GTEL_ATTR_CLOCK, 1}},
        {"max_freq", {GTEL_M_FREQUENCY_MAX, GTEL_ATTR_CLOCK, 1}},
    };
    static const struct gtel_str dims[GTEL_ATTR_DIMS] = {GTEL_STR_INIT("graphics")};
    char path[GTEL_FS_PATH_MAX];
    struct gtel_str *names;
    size_t n = 0;
    gtel_fs_path(path, "%s/devfreq", list->card->core_path);
    gtel_attr_list_check(list, gtel_fs_list(list->env, path, list->arena, 4, &names, &n));
    if (n == 0)
        return;
    gtel_fs_path(path, "%s/devfreq/%.*s", list->card->core_path, GTEL_STR_ARG(names[0]));
    gtel_attr_add_files(list, dims, path, files, GTEL_ARRAY_LEN(files));
}

/*
 * The sensors of nouveau and radeon leave the autosuspend delay alone (kernel: nouveau_hwmon.c,
 * radeon_pm.c). Others may start it again, and the link does on newer kernels: neither is read of a
 * card that may fall asleep by itself.
 */
static void add(struct gtel_attr_list *list)
{
    const char *driver = list->card->drm.driver;
    bool may_sleep = gtel_awake_delay(list->env, list->card->path) > 0;
    if (!may_sleep || strcmp(driver, "nouveau") == 0 || strcmp(driver, "radeon") == 0)
        gtel_hwmon_add(list);
    if (!may_sleep)
        gtel_link_add(list);
    add_clock(list);
    gtel_link_add_errors(list);
}

static const struct gtel_card_work work = {
    .is_wanted = is_wanted,
    .add = add,
    .failure = "drm: %s",
};

const struct gtel_source gtel_source_drm = {
    .name = "drm",
    .lane = "kernel",
    .vendor = "drm",
    .summary = "Power state, sensors, clocks and PCIe link of GPUs of every DRM driver without a "
               "source of its own: nouveau, radeon, panfrost, panthor, lima, msm, v3d, vc4",
    .needs = "no rights; what there is depends on the driver",
    .origins = gtel_attr_origins,
    .work = &work,
};
