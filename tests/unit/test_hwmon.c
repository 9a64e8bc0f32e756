/* SPDX-License-Identifier: MIT */
/* Labelled sensors of one hwmon directory. */
#include "sources/drm/hwmon.h"
#include "recording/tree.h"
#include "harness/test.h"

#include <errno.h>

#define DEVICE "sys/devices/gpu"
#define H DEVICE "/hwmon/hwmon12"

static const char machine[] =
    "dir sys/devices/none/hwmon\n"
    "file " H "/name\n| i915\n"
    "file " H "/temp10_input\n| 1\nfile " H "/temp10_label\n| vram_ch_4\n"
    "file " H "/temp2_input\n| 1\nfile " H "/temp2_crit\n| 1\nfile " H "/temp2_label\n| pkg\n"
    "file " H "/power1_max\n| 1\nfile " H "/pwm1\n| 1\nfile " H "/uevent\n| \n"
    "file sys/devices/broken/hwmon/hwmon1/name\n| i915\n"
    "file sys/devices/broken/hwmon/hwmon1/temp1_input\n| 1\n"
    "error sys/devices/broken/hwmon/hwmon1/temp1_label EIO\n"
    "file sys/devices/silent/hwmon/hwmon1/name\n| i915\n"
    "file sys/devices/silent/hwmon/hwmon1/temp9_input\n| 1\n"
    "file sys/devices/silent/hwmon/hwmon1/temp9_label\n"
    "refuse sys/devices/closed/hwmon/hwmon1 EACCES\n"
    "refuse sys/devices/unlisted/hwmon EACCES\n"
    "end\n";

static void check_list(const struct gtel_env *env, struct gtel_arena *arena)
{
    static const struct {
        const char *file;
        const char *item;
        const char *label;
        uint32_t channel;
    } want[] = {
        {"power1_max", "max", "", 1},
        {"pwm1", "", "", 1},
        {"temp2_crit", "crit", "pkg", 2},
        {"temp2_input", "input", "pkg", 2},
        {"temp10_input", "input", "vram_ch_4", 10},
    };
    char path[GTEL_FS_PATH_MAX];
    struct gtel_hwmon_attribute *list = NULL;
    size_t n = 0;
    CHECK_INT(gtel_hwmon_folder(env, DEVICE, path), 0);
    CHECK_STR(gtel_str_of(path), H);
    CHECK_INT(gtel_hwmon_list(env, arena, path, &list, &n), 0);
    if (!CHECK(n == 5))
        return;
    for (size_t i = 0; i < n; i++) {
        test_label = want[i].file;
        CHECK_STR(list[i].file, want[i].file);
        CHECK_STR(list[i].name.item, want[i].item);
        CHECK_STR(list[i].label, want[i].label);
        CHECK_INT(list[i].name.channel, want[i].channel);
    }
    test_label = "";
}

int main(void)
{
    struct gtel_arena arena = {0};
    struct gtel_tree *tree = NULL;
    struct gtel_env env;
    char path[GTEL_FS_PATH_MAX];
    char error[100];
    struct gtel_hwmon_attribute *list = NULL;
    size_t n = 0;
    if (!CHECK(gtel_tree_parse(gtel_str_of(machine), &tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0))
        return test_result();
    check_list(&env, &arena);
    CHECK_INT(gtel_hwmon_folder(&env, "sys/devices/none", path), -ENOENT);
    CHECK_INT(gtel_hwmon_folder(&env, "sys/devices/nowhere", path), -ENOENT);
    CHECK_INT(gtel_hwmon_folder(&env, "sys/devices/broken", path), 0);
    CHECK_INT(gtel_hwmon_list(&env, &arena, path, &list, &n), -EIO);
    CHECK_INT(gtel_hwmon_folder(&env, "sys/devices/silent", path), 0);
    CHECK_INT(gtel_hwmon_list(&env, &arena, path, &list, &n), -EINVAL); /* not "9" as its name */
    list = NULL;
    CHECK_INT(gtel_hwmon_list(&env, &arena, "sys/devices/closed/hwmon/hwmon1", &list, &n), -EACCES);
    CHECK_INT(gtel_hwmon_folder(&env, "sys/devices/unlisted", path), -EACCES);
    CHECK(!list);
    gtel_arena_done(&arena);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
    return test_result();
}
