/* SPDX-License-Identifier: MIT */
/* GPUs that a DRM driver has. */
#include "harness/env_fault.h"
#include "host/drm.h"
#include "recording/tree.h"
#include "harness/test.h"

#include <errno.h>

static const struct {
    const char *name;
    bool want;
} name_cases[] = {
    {"card0", true},        {"card10", true},   {"card255", true}, {"card", false},
    {"card0-eDP-1", false}, {"card-1", false},  {"cards", false},  {"renderD128", false},
    {"controlD64", false},  {"version", false}, {"card1 ", false}, {"", false},
};

#define CARD(n, addr, driver, id)                                                                  \
    "link sys/class/drm/card" n " -> ../../devices/pci0000:00/" addr "/drm/card" n "\n"            \
    "link sys/devices/pci0000:00/" addr "/drm/card" n "/device -> ../../../" addr "\n"             \
    "file sys/devices/pci0000:00/" addr "/uevent\n| DRIVER=" driver "\n| PCI_ID=" id "\n"          \
    "| PCI_SLOT_NAME=" addr "\n"

static const char machine[] =
    CARD("10", "0000:0a:00.0", "xe", "8086:E20B") CARD("2", "0000:02:00.0", "xe", "bad") CARD(
        "1", "0000:01:00.0", "i915",
        "8086:56A0") "dir sys/class/drm/card2-DP-1\n"
                     /* no uevent text: the links say the same */
                     "link sys/class/drm/card3 -> ../../devices/platform/gpu0/drm/card3\n"
                     "link sys/devices/platform/gpu0/drm/card3/device -> ../../../gpu0\n"
                     "link sys/devices/platform/gpu0/driver -> ../../../bus/platform/drivers/xe\n"
                     /* a card without a driver */
                     "link sys/class/drm/card4 -> ../../devices/platform/gpu1/drm/card4\n"
                     "link sys/devices/platform/gpu1/drm/card4/device -> ../../../gpu1\n"
                     /* a uevent text that says nothing, and ids in files of their own */
                     "link sys/class/drm/card5 -> ../../devices/pci0000:00/0000:05:00.0/drm/card5\n"
                     "link sys/devices/pci0000:00/0000:05:00.0/drm/card5/device -> "
                     "../../../0000:05:00.0\n"
                     "link sys/devices/pci0000:00/0000:05:00.0/driver -> "
                     "../../../bus/pci/drivers/amdgpu\n"
                     "file sys/devices/pci0000:00/0000:05:00.0/uevent\n"
                     "file sys/devices/pci0000:00/0000:05:00.0/vendor\n| 0x1002\n"
                     "file sys/devices/pci0000:00/0000:05:00.0/device\n| 0x73bf\n"
                     /* an NPU, and an entry of its folder that is none */
                     "link sys/class/accel/accel0 -> ../../devices/pci0000:00/0000:00:0b.0/accel/"
                     "accel0\n"
                     "link sys/devices/pci0000:00/0000:00:0b.0/accel/accel0/device -> "
                     "../../../0000:00:0b.0\n"
                     "file sys/devices/pci0000:00/0000:00:0b.0/uevent\n| DRIVER=intel_vpu\n"
                     "| PCI_ID=8086:643E\n| PCI_SLOT_NAME=0000:00:0b.0\n"
                     "dir sys/class/accel/accelerator\n"
                     "dir sys/devices/pci0000:00/0000:0a:00.0/drm/renderD130\n"
                     "dir sys/devices/pci0000:00/0000:0a:00.0/drm/renderD129\n"
                     "dir sys/devices/pci0000:00/0000:0a:00.0/drm/renderD1x\n"
                     "dir sys/devices/pci0000:00/0000:02:00.0/drm/renderD99999999999\n"
                     "end\n";

static void check_node(const struct gtel_env *env)
{
    char node[GTEL_DRM_NODE_MAX] = "";
    CHECK_INT(gtel_drm_render_node(env, "sys/class/drm/card10/device", node), 0);
    CHECK_STR(gtel_str_of(node), "dev/dri/renderD129");
    CHECK_INT(gtel_drm_render_node(env, "sys/class/drm/card1/device", node), -ENOENT);
    CHECK_INT(gtel_drm_render_node(env, "sys/class/drm/card2/device", node), -ENOENT);
    CHECK_INT(gtel_drm_render_node(env, "sys/class/drm/card9/device", node), -ENOENT);
}

static void check_list(const struct gtel_env *env)
{
    struct gtel_arena arena = {0};
    struct gtel_drm_card *cards = NULL;
    size_t n = 0;
    size_t missed = 1;
    CHECK_INT(gtel_drm_list(env, &arena, GTEL_STR("xe"), &cards, &n, &missed), 0);
    CHECK_INT(missed, 0);
    if (CHECK(n == 3)) {
        CHECK_STR(gtel_str_of(cards[0].card), "card2");
        CHECK_STR(gtel_str_of(cards[0].key), "0000:02:00.0");
        CHECK_INT(cards[0].vendor_id, 0);
        CHECK_STR(gtel_str_of(cards[1].card), "card3");
        CHECK_STR(gtel_str_of(cards[1].key), "gpu0");
        CHECK(!cards[1].is_pci);
        CHECK_STR(gtel_str_of(cards[2].card), "card10");
        CHECK_INT(cards[2].pci.bus, 0x0a);
        CHECK_INT(cards[2].device_id, 0xe20b);
    }
    CHECK(gtel_drm_has(env, GTEL_STR("i915")));
    CHECK(!gtel_drm_has(env, GTEL_STR("i91")));
    CHECK(!gtel_drm_has(env, GTEL_STR("radeon")));
    CHECK_INT(gtel_drm_list(env, &arena, GTEL_STR("amdgpu"), &cards, &n, &missed), 0);
    if (CHECK(n == 1)) {
        CHECK_INT(cards[0].vendor_id, 0x1002);
        CHECK_INT(cards[0].device_id, 0x73bf);
        CHECK_STR(gtel_str_of(gtel_drm_folder(&cards[0])), "sys/class/drm");
    }
    CHECK(gtel_drm_has(env, GTEL_STR("intel_vpu")));
    CHECK_INT(gtel_drm_list(env, &arena, GTEL_STR_NONE, &cards, &n, &missed), 0);
    if (CHECK(n == 6)) {
        CHECK_STR(gtel_str_of(cards[4].card), "card10");
        CHECK(!gtel_drm_is_accel(&cards[4]));
        CHECK_STR(gtel_str_of(cards[5].card), "accel0");
        CHECK_STR(gtel_str_of(cards[5].key), "0000:00:0b.0");
        CHECK_STR(gtel_str_of(gtel_drm_folder(&cards[5])), "sys/class/accel");
    }
    gtel_arena_done(&arena);
}

/* A search that fails is distinguished from a card that is not there. */
static void check_missed(struct env_fault *fault)
{
    struct gtel_arena arena = {0};
    struct gtel_drm_card *cards = NULL;
    size_t n = 0;
    size_t missed = 0;
    env_fault_arm(fault, 6, -EIO); /* two lists, open, read of card1, open, read of card2 */
    CHECK_INT(gtel_drm_list(&fault->env, &arena, GTEL_STR("xe"), &cards, &n, &missed), 0);
    CHECK_INT(n, 2);
    CHECK_INT(missed, 1);
    env_fault_arm(fault, 1, -EIO);
    CHECK_INT(gtel_drm_list(&fault->env, &arena, GTEL_STR("xe"), &cards, &n, &missed), -EIO);
    env_fault_arm(fault, 2, -EIO);
    CHECK_INT(gtel_drm_list(&fault->env, &arena, GTEL_STR("xe"), &cards, &n, &missed), -EIO);
    env_fault_arm(fault, 0, 0);
    gtel_arena_done(&arena);
}

int main(void)
{
    for (size_t i = 0; i < sizeof(name_cases) / sizeof(name_cases[0]); i++) {
        test_label = name_cases[i].name;
        CHECK(gtel_drm_is_card(gtel_str_of(name_cases[i].name)) == name_cases[i].want);
    }
    test_label = "";
    static struct env_fault fault;
    struct gtel_tree *tree = NULL;
    struct gtel_env env;
    char error[100];
    if (!CHECK(gtel_tree_parse(gtel_str_of(machine), &tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0))
        return test_result();
    env_fault_init(&fault, &env);
    check_list(&env);
    check_node(&env);
    check_missed(&fault);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
    return test_result();
}
