/* SPDX-License-Identifier: MIT */
/* All devices with DRM nodes, and which node is whose. */
#include "harness/env_fault.h"
#include "host/drm.h"
#include "recording/tree.h"
#include "harness/test.h"

#include <errno.h>
#include <stdlib.h>

#define NODE(folder, node, parent)                                                                 \
    "link sys/class/" folder "/" node " -> ../../devices/" parent "/" folder "/" node "\n"         \
    "link sys/devices/" parent "/" folder "/" node "/device -> ../../../" parent "\n"

static const char machine[] =
    "file sys/devices/0000:00:02.0/uevent\n| DRIVER=i915\n| PCI_ID=8086:A780\n"
    "| PCI_SLOT_NAME=0000:00:02.0\n" NODE("drm", "card10", "0000:00:02.0")
        NODE("drm", "renderD138", "0000:00:02.0")
    /* a board without PCI: display and 3D are two devices */
    "file sys/devices/gpu/uevent\n| DRIVER=vc4-drm\n" NODE(
        "drm", "card1",
        "gpu") "file sys/devices/fec00000.v3d/uevent\n| DRIVER=v3d\n" NODE("drm", "card0",
                                                                           "fec00000.v3d")
        NODE("drm", "renderD128",
             "fec00000.v3d") "file sys/devices/0000:00:0b.0/uevent\n| DRIVER=intel_vpu\n"
                             "| PCI_SLOT_NAME=0000:00:0b.0\n" NODE("accel", "accel0",
                                                                   "0000:00:0b.0")
    /* a partition of a GPU shows nothing */
    "file sys/devices/xcp.1/uevent\n| DRIVER=amdgpu\n" NODE("drm", "renderD129", "xcp.1")
    /* not bound to a driver, and what is no node */
    "link sys/class/drm/card7 -> ../../devices/none/drm/card7\n"
    "dir sys/class/drm/card1-HDMI-A-1\ndir sys/class/drm/renderDx\nend\n";

static const struct {
    const char *key;
    const char *path;
    const char *driver;
    bool is_accel;
    bool has_work;
} want[] = {
    {"fec00000.v3d", "sys/class/drm/card0/device", "v3d", false, true},
    {"gpu", "sys/class/drm/card1/device", "vc4-drm", false, false},
    {"0000:00:02.0", "sys/class/drm/card10/device", "i915", false, true},
    {"xcp.1", "sys/class/drm/renderD129/device", "amdgpu", false, true},
    {"0000:00:0b.0", "sys/class/accel/accel0/device", "intel_vpu", true, true},
};

static const struct gtel_drm_node nodes[] = {
    {226, 0, 0},   {226, 1, 1},   {226, 10, 2}, {226, 128, 0},
    {226, 129, 3}, {226, 138, 2}, {261, 0, 4},
};

static void check_list(const struct gtel_drm_devices *list)
{
    if (!CHECK(list->n == sizeof(want) / sizeof(want[0])) ||
        !CHECK(list->nodes == sizeof(nodes) / sizeof(nodes[0])))
        return;
    for (size_t i = 0; i < list->n; i++) {
        const struct gtel_drm_device *device = &list->device[i];
        CHECK_STR(gtel_str_of(device->card.key), want[i].key);
        CHECK_STR(gtel_str_of(device->path), want[i].path);
        CHECK_STR(gtel_str_of(device->card.driver), want[i].driver);
        CHECK_INT(gtel_drm_is_accel(&device->card), want[i].is_accel);
        CHECK_INT(device->has_work, want[i].has_work);
    }
    for (size_t i = 0; i < list->nodes; i++) {
        CHECK_INT(list->node[i].major, nodes[i].major);
        CHECK_INT(list->node[i].minor, nodes[i].minor);
        CHECK_INT(list->node[i].device, nodes[i].device);
    }
}

static void test_machine(void)
{
    struct gtel_tree *tree;
    struct gtel_env env;
    struct gtel_arena arena = {0};
    struct gtel_drm_devices list = {0};
    struct env_fault *fault = calloc(1, sizeof(*fault));
    char error[200];
    if (!CHECK(fault) ||
        !CHECK(gtel_tree_parse(gtel_str_of(machine), &tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0))
        return;
    env_fault_init(fault, &env);
    CHECK_INT(gtel_drm_devices(&fault->env, &arena, true, &list), 0);
    CHECK_INT(list.missed, 0);
    check_list(&list);
    uint64_t calls = fault->calls;
    for (uint64_t k = 1; k <= calls; k++) {
        list = (struct gtel_drm_devices){0};
        gtel_arena_reset(&arena);
        env_fault_arm(fault, k, -EIO);
        int r = gtel_drm_devices(&fault->env, &arena, true, &list);
        CHECK(r == -EIO || list.missed > 0);
    }
    gtel_arena_done(&arena);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
    free(fault);
}

static void test_nothing(void)
{
    struct gtel_tree *tree;
    struct gtel_env env;
    struct gtel_arena arena = {0};
    struct gtel_drm_devices list;
    char error[200];
    if (!CHECK(gtel_tree_parse(GTEL_STR("dir sys/class/net\nend\n"), &tree, error, sizeof(error)) ==
               0) ||
        !CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0))
        return;
    CHECK_INT(gtel_drm_devices(&env, &arena, true, &list), -ENOENT);
    gtel_arena_done(&arena);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
}

int main(void)
{
    test_machine();
    test_nothing();
    return test_result();
}
