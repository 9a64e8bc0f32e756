/* SPDX-License-Identifier: MIT */
/* GPUs that a DRM driver has. */
#include "base/buf.h"
#include "base/compiler.h"
#include "harness/env_fault.h"
#include "host/drm.h"
#include "recording/tree.h"
#include "sources/drm/cards.h"
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

static const struct {
    const char *card;
    const char *key;
    const char *driver;
    const char *folder;
    uint16_t vendor_id;
    uint16_t device_id;
    bool is_pci;
} cards[] = {
    {"card1", "0000:01:00.0", "i915", "sys/class/drm", 0x8086, 0x56a0, true},
    {"card2", "0000:02:00.0", "xe", "sys/class/drm", 0, 0, true},
    {"card3", "gpu0", "xe", "sys/class/drm", 0, 0, false},
    {"card5", "0000:05:00.0", "amdgpu", "sys/class/drm", 0x1002, 0x73bf, true},
    {"card10", "0000:0a:00.0", "xe", "sys/class/drm", 0x8086, 0xe20b, true},
    {"accel0", "0000:00:0b.0", "intel_vpu", "sys/class/accel", 0x8086, 0x643e, true},
};

static void check_list(const struct gtel_env *env)
{
    struct gtel_arena arena = {0};
    struct gtel_drm_devices list = {.missed = 1};
    CHECK_INT(gtel_drm_devices(env, &arena, false, &list), 0);
    CHECK_INT(list.missed, 0);
    CHECK_INT(list.n, sizeof(cards) / sizeof(cards[0]));
    for (size_t i = 0; i < list.n && i < sizeof(cards) / sizeof(cards[0]); i++) {
        const struct gtel_drm_card *card = &list.device[i].card;
        test_label = cards[i].card;
        CHECK_STR(gtel_str_of(card->card), cards[i].card);
        CHECK_STR(gtel_str_of(card->key), cards[i].key);
        CHECK_STR(gtel_str_of(card->driver), cards[i].driver);
        CHECK_STR(gtel_str_of(gtel_drm_folder(card)), cards[i].folder);
        CHECK_INT(card->vendor_id, cards[i].vendor_id);
        CHECK_INT(card->device_id, cards[i].device_id);
        CHECK_INT(card->is_pci, cards[i].is_pci);
    }
    test_label = "";
    if (CHECK(list.n == 6))
        CHECK_INT(list.device[4].card.pci.bus, 0x0a);
    gtel_arena_done(&arena);
}

static void check_any(const struct gtel_env *env)
{
    static const char *const i915[] = {"i91", "i915", NULL};
    static const char *const npu[] = {"intel_vpu", NULL};
    static const char *const others[] = {"i91", "radeon", "", NULL};
    CHECK(gtel_cards_any(env, i915));
    CHECK(gtel_cards_any(env, npu));
    CHECK(!gtel_cards_any(env, others));
}

/* A search that fails is distinguished from a card that is not there. */
static void check_missed(struct env_fault *fault)
{
    struct gtel_arena arena = {0};
    struct gtel_drm_devices list = {0};
    env_fault_arm(fault, 6, -EIO); /* two lists, open, read of card1, open, read of card2 */
    CHECK_INT(gtel_drm_devices(&fault->env, &arena, false, &list), 0);
    CHECK_INT(list.n, 5);
    CHECK_INT(list.missed, 1);
    for (uint64_t call = 1; call <= 2; call++) {
        env_fault_arm(fault, call, -EIO);
        CHECK_INT(gtel_drm_devices(&fault->env, &arena, false, &list), -EIO);
    }
    env_fault_arm(fault, 0, 0);
    gtel_arena_done(&arena);
}

#define LONGEST "123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" /* 63 bytes */
#define SLOT "xe\n| PCI_SLOT_NAME="

/* What a list does not hold is counted, and no name is cut. */
static void check_limits(void)
{
    static const struct {
        const char *label;
        const char *driver;
        const char *key;
        const char *vendor;
        unsigned cards; /* of that device */
        unsigned accels;
        size_t devices;
        size_t nodes;
        size_t missed;
    } cases[] = {
        {"the longest driver", LONGEST, "gpu0", "0x1", 1, 0, 1, 1, 0},
        {"a longer driver", "0" LONGEST, "gpu0", "0x1", 1, 0, 0, 0, 1},
        {"the longest key", "xe", LONGEST, "0x1", 1, 0, 1, 1, 0},
        {"a longer key", "xe", "0" LONGEST, "0x1", 1, 0, 0, 0, 1},
        {"the longest name of a slot", SLOT LONGEST, "gpu0", "0x1", 1, 0, 1, 1, 0},
        {"a longer one", SLOT "0" LONGEST, "gpu0", "0x1", 1, 0, 0, 0, 1},
        {"the largest vendor", "xe", "0000:01:00.0", "0xffff", 1, 0, 1, 1, 0},
        {"no vendor", "xe", "0000:01:00.0", "0x10000", 1, 0, 0, 0, 1},
        {"as many cards as fit", "xe", "gpu0", "0x1", GTEL_DRM_NODES_MAX, 0, 1, GTEL_DRM_NODES_MAX,
         0},
        {"two more", "xe", "gpu0", "0x1", GTEL_DRM_NODES_MAX + 2, 0, 1, GTEL_DRM_NODES_MAX, 2},
        {"and accelerators", "xe", "gpu0", "0x1", GTEL_DRM_NODES_MAX - 1, 2, 2, GTEL_DRM_NODES_MAX,
         1},
    };
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_arena arena = {0};
        struct gtel_drm_devices list = {0};
        struct gtel_tree *tree = NULL;
        struct gtel_env env;
        char error[100];
        test_label = cases[i].label;
        gtel_buf_reset(&text);
        gtel_buf_printf(&text, "file d/%s/uevent\n| DRIVER=%s\nfile d/%s/vendor\n| %s\n",
                        cases[i].key, cases[i].driver, cases[i].key, cases[i].vendor);
        for (unsigned n = 0; n < cases[i].cards; n++)
            gtel_buf_printf(&text, "link sys/class/drm/card%u/device -> ../../../../d/%s\n", n,
                            cases[i].key);
        for (unsigned n = 0; n < cases[i].accels; n++)
            gtel_buf_printf(&text, "link sys/class/accel/accel%u/device -> ../../../../d/%s\n", n,
                            cases[i].key);
        gtel_buf_str(&text, GTEL_STR("end\n"));
        if (!CHECK(gtel_tree_parse(gtel_buf_text(&text), &tree, error, sizeof(error)) == 0) ||
            !CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0))
            break;
        CHECK_INT(gtel_drm_devices(&env, &arena, false, &list), 0);
        CHECK_INT(list.n, cases[i].devices);
        CHECK_INT(list.nodes, cases[i].nodes);
        CHECK_INT(list.missed, cases[i].missed);
        gtel_arena_done(&arena);
        gtel_env_tree_done(&env);
        gtel_tree_free(tree);
    }
    test_label = "";
    gtel_buf_done(&text);
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
    check_any(&env);
    check_node(&env);
    check_missed(&fault);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
    check_limits();
    return test_result();
}
