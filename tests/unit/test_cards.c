/* SPDX-License-Identifier: MIT */
/* The DRM cards of a lane and of a source. */
#include "harness/alloc_fault.h"
#include "harness/env_fault.h"
#include "recording/tree.h"
#include "sources/drm/cards.h"
#include "harness/test.h"

#include <errno.h>

#define CARD(n, addr, driver, status)                                                              \
    "link sys/class/drm/card" n " -> ../../devices/pci0000:00/" addr "/drm/card" n "\n"            \
    "link sys/devices/pci0000:00/" addr "/drm/card" n "/device -> ../../../" addr "\n"             \
    "file sys/devices/pci0000:00/" addr "/uevent\n| DRIVER=" driver "\n"                           \
    "| PCI_SLOT_NAME=" addr "\n"                                                                   \
    "file sys/devices/pci0000:00/" addr "/power/runtime_status\n| " status "\n"

static const char text[] =
    CARD("0", "0000:00:02.0", "i915", "active") CARD("1", "0000:03:00.0", "xe", "suspended")
        CARD("2", "0000:04:00.0", "amdgpu", "active") "at 2s\n"
                                                      "gone sys/class/drm/card0\n"
                                                      "at 4s\n" CARD("7", "0000:00:02.0", "i915",
                                                                     "active") "end\n";

static const char *const wanted[] = {"i915", "xe", NULL};
static size_t closed;

struct state {
    struct gtel_card *card;
    int mine;
};

static void on_close(const struct gtel_env *env, void *own)
{
    (void)env;
    (void)own;
    closed++;
}

/* A lane with one source. */
struct world {
    struct gtel_registry registry;
    struct gtel_cards cards;
    struct gtel_card_list list;
};

static void world_init(struct world *world, const struct gtel_env *env)
{
    *world = (struct world){
        .cards = {.env = env},
        .list = {
            .env = env, .drivers = wanted, .own_size = sizeof(struct state), .close = on_close}};
    world->registry.cards = &world->cards;
}

static void world_done(struct world *world)
{
    gtel_card_list_done(&world->list);
    gtel_cards_done(&world->cards);
    gtel_registry_done(&world->registry);
}

static int gather(struct world *world)
{
    gtel_cards_begin(&world->cards, &world->registry);
    return gtel_card_list_discover(&world->list, &world->registry);
}

static const struct gtel_card_slot *find(const struct world *world, const char *key)
{
    for (size_t i = 0; i < world->list.n; i++)
        if (strcmp(gtel_card_at(&world->list, i)->drm.key, key) == 0)
            return &world->list.slot[i];
    return NULL;
}

static void check_first(struct world *world)
{
    const struct gtel_card_slot *slot = find(world, "0000:00:02.0");
    const struct gtel_card_slot *other = find(world, "0000:03:00.0");
    CHECK_INT(world->list.n, 2);
    if (!CHECK(slot && other && slot->is_new))
        return;
    struct state *state = slot->own;
    const struct state *asleep = other->own;
    state->mine = 42;
    CHECK(gtel_card_may_read(state->card));
    state->card->device->is_left_alone = true;
    CHECK(!gtel_card_may_read(state->card));
    state->card->device->is_left_alone = false;
    CHECK(!gtel_card_may_read(asleep->card));
    CHECK(gtel_card_list_awaited(&world->list) == asleep->card);
    world->cards.may_wake = true;
    CHECK(gtel_card_may_read(asleep->card));
    CHECK(!gtel_card_list_awaited(&world->list));
    world->cards.may_wake = false;
}

static void test_life(struct gtel_env *tree_env, struct env_fault *fault)
{
    struct world world;
    size_t before = closed;
    world_init(&world, &fault->env);
    CHECK(gtel_cards_any(&fault->env, wanted));
    CHECK_INT(gather(&world), 0);
    CHECK_INT(closed, before + 2); /* of nothing: each card is opened once */
    check_first(&world);
    uint32_t version = world.cards.version;
    CHECK_INT(gather(&world), 0); /* nothing has changed */
    CHECK_INT(world.cards.version, version);
    const struct gtel_card_slot *slot = find(&world, "0000:00:02.0");
    CHECK(slot && !slot->is_new && ((const struct state *)slot->own)->mine == 42);
    gtel_env_tree_step(tree_env, 2000000000);
    CHECK_INT(gather(&world), 0);
    CHECK(!find(&world, "0000:00:02.0"));
    CHECK(world.cards.version != version);
    CHECK_INT(closed, before + 3);
    CHECK(!gtel_registry_find(&world.registry, GTEL_STR("0000:00:02.0"))->is_present);
    gtel_env_tree_step(tree_env, 2000000000);
    version = world.cards.version;
    gtel_cards_begin(&world.cards, &world.registry); /* no source asks, and still it is found */
    CHECK(world.cards.version != version);
    CHECK_INT(gather(&world), 0);
    slot = find(&world, "0000:00:02.0");
    CHECK(slot && slot->is_new);
    if (slot)
        CHECK_STR(gtel_str_of((*(struct gtel_card **)slot->own)->drm.card), "card7");
    const struct gtel_device *device =
        gtel_registry_find(&world.registry, GTEL_STR("0000:00:02.0"));
    CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_CARD]), "card7"); /* it was card0 */
    CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_DRIVER]), "i915");
    CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_VENDOR]), "intel");
    world_done(&world);
}

/* The driver is loaded again: all sources of the lane open the card again, once. */
static void test_restart(struct env_fault *fault)
{
    struct world world;
    world_init(&world, &fault->env);
    struct gtel_card_list second = world.list;
    CHECK_INT(gather(&world), 0);
    uint64_t calls = fault->calls;
    CHECK_INT(gtel_card_list_discover(&second, &world.registry), 0);
    CHECK_INT(fault->calls, calls); /* what is known of a card is not read again */
    struct gtel_card *card = gtel_card_at(&world.list, 0);
    uint32_t arrivals = card->device->arrivals;
    CHECK(gtel_card_at(&second, 0) == card);
    gtel_card_leave(card, &world.registry);
    CHECK(!gtel_card_may_read(card));
    CHECK_INT(gather(&world), 0);
    CHECK_INT(gtel_card_list_discover(&second, &world.registry), 0);
    CHECK(world.list.slot[0].is_new && second.slot[0].is_new);
    CHECK(!world.list.slot[1].is_new && !second.slot[1].is_new);
    CHECK_INT(card->device->arrivals, arrivals + 1);
    CHECK_INT(gather(&world), 0);
    CHECK(!world.list.slot[0].is_new);
    gtel_card_list_done(&second);
    world_done(&world);
}

/* Each outside call fails in turn: what is known stays, and nothing leaks or crashes. */
static void test_faults(struct env_fault *fault)
{
    for (uint64_t k = 1;; k++) {
        struct world world;
        world_init(&world, &fault->env);
        CHECK_INT(gather(&world), 0);
        size_t known = world.list.n;
        env_fault_arm(fault, k, -EIO);
        (void)gather(&world);
        bool has_failed = fault->has_failed;
        env_fault_arm(fault, 0, 0);
        CHECK_INT(world.list.n, known);
        CHECK_INT(gather(&world), 0);
        CHECK_INT(world.list.n, known);
        world_done(&world);
        if (!has_failed)
            break;
    }
    CHECK_INT(fault->open_files, 0);
}

/* Without memory for a card it is not there, which is said, and the next discovery finds it. */
static void test_no_memory(struct env_fault *fault)
{
    size_t failed = 0;
    test_label = "no memory";
    for (uint64_t k = 1;; k++) {
        struct world world;
        world_init(&world, &fault->env);
        alloc_fault_arm(k);
        int r = gather(&world);
        bool has_failed = alloc_fault_count() >= k;
        alloc_fault_arm(0);
        CHECK(r == 0 || r == -ENOMEM);
        CHECK(r < 0 || world.list.n == 2);
        failed += r < 0;
        CHECK_INT(gather(&world), 0);
        CHECK_INT(world.list.n, 2);
        world_done(&world);
        if (!has_failed)
            break;
    }
    CHECK(failed > 3);
    test_label = "";
}

/* Listings of cards, which fail. */
struct listing {
    struct env_fault *fault;
    unsigned lists;
    bool fails;
};

static void on_list(void *arg, enum fault_op op, const char *path)
{
    struct listing *listing = arg;
    if (op != FAULT_LIST || strcmp(path, "sys/class/drm") != 0)
        return;
    listing->lists++;
    if (!listing->fails)
        return;
    listing->fault->error = -EIO;
    listing->fault->fail_at = listing->fault->calls + 1;
}

/* After a listing that failed the next four gathers list again, whatever the sources do. */
static void test_retries(struct env_fault *fault)
{
    struct world world;
    struct listing listing = {.fault = fault};
    test_label = "retries";
    world_init(&world, &fault->env);
    fault->watch = on_list;
    fault->watch_arg = &listing;
    CHECK_INT(gather(&world), 0);
    CHECK_INT(world.list.n, 2);
    CHECK_INT(listing.lists, 1);
    for (int n = 0; n < 2; n++) {
        listing.fails = true;
        CHECK_INT(gather(&world), -EIO);
        CHECK_INT(listing.lists, 2);
        CHECK_INT(world.list.n, 2); /* what is known stays */
        for (unsigned i = 1; i <= 7; i++) {
            gtel_cards_begin(&world.cards, &world.registry);
            CHECK_INT(listing.lists, 2 + (i < 4 ? i : 4));
        }
        listing.fails = false;
        CHECK_INT(gather(&world), 0);
        listing.lists = 0;
        gtel_cards_begin(&world.cards, &world.registry);
        CHECK_INT(listing.lists, 0);
        CHECK_INT(gtel_card_list_discover(&world.list, &world.registry), 0);
        CHECK_INT(listing.lists, 1);
        CHECK_INT(gtel_card_list_discover(&world.list, &world.registry), 0);
        CHECK_INT(listing.lists, 1); /* once per gather */
    }
    fault->watch = NULL;
    env_fault_arm(fault, 0, 0);
    world_done(&world);
    test_label = "";
}

#define BOARD "sys/devices/pci0000:00/0000:05:00."
#define FUNCTION(n, card) CARD(card, "0000:05:00." n, "xe", "active")

/* A card with two virtual functions: they are parts of it, and never mistaken for each other. */
static void test_functions(void)
{
    static const char board[] = FUNCTION("0", "0") FUNCTION("1", "1") FUNCTION("2", "2")
        FUNCTION("3", "3") "link " BOARD "0/virtfn0 -> ../0000:05:00.1\nlink " BOARD
                           "0/virtfn1 -> ../0000:05:00.2\n"
                           "link " BOARD "1/physfn -> ../0000:05:00.0\nlink " BOARD
                           "2/physfn -> ../0000:05:00.0\n"
                           "link " BOARD "3/physfn -> ../0000:05:00.0\nend\n";
    static const struct {
        const char *key;
        const char *gpu;
        const char *instance;
    } want[] = {
        {"0000:05:00.0", "0000:05:00.0", ""},
        {"0000:05:00.1", "0000:05:00.0", "vf1"},
        {"0000:05:00.2", "0000:05:00.0", "vf2"},
        {"0000:05:00.3", "0000:05:00.3", ""}, /* unknown to its card: better alone than wrong */
    };
    char error[200];
    struct gtel_tree *tree;
    struct gtel_env env;
    struct env_fault fault;
    if (!CHECK(gtel_tree_parse(gtel_str_of(board), &tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0))
        return;
    env_fault_init(&fault, &env);
    for (uint64_t k = 0; k == 0 || fault.has_failed; k++) {
        struct world world;
        world_init(&world, &fault.env);
        env_fault_arm(&fault, k, -EIO);
        (void)gather(&world);
        bool has_failed = fault.has_failed;
        env_fault_arm(&fault, 0, 0);
        CHECK_INT(gather(&world), 0); /* a failed look is repeated */
        for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
            const struct gtel_device *device =
                gtel_registry_find(&world.registry, gtel_str_of(want[i].key));
            if (!CHECK(device))
                continue;
            CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_GPU]), want[i].gpu);
            CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_INSTANCE]), want[i].instance);
        }
        world_done(&world);
        fault.has_failed = has_failed;
    }
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
}

#define UDEV(name) "file run/udev/data/+pci:0000:03:00.0\n| E:ID_MODEL_FROM_DATABASE=" name "\n"
#define LIST(id, name)                                                                             \
    "file usr/share/misc/pci.ids\n| 8086  Intel Corporation\n| \t" id "  " name "\n"

static void check_label(const struct gtel_drm_card *drm, const char *machine, enum gtel_label label,
                        const char *want)
{
    char error[200];
    struct gtel_tree *tree;
    struct gtel_env env;
    struct gtel_registry registry = {0};
    struct gtel_device *device = NULL;
    if (!CHECK(gtel_tree_parse(gtel_str_of(machine), &tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0) ||
        !CHECK(gtel_registry_add(&registry, gtel_str_of(drm->key), &device) == 0))
        return;
    gtel_cards_label(&env, &registry, device, drm);
    CHECK_STR(gtel_str_of(device->label[label]), want);
    gtel_registry_done(&registry);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
}

static void check_model(const struct gtel_drm_card *drm, const char *machine, const char *want)
{
    check_label(drm, machine, GTEL_LABEL_MODEL, want);
}

/* A market name, else the platform's, else the ids; the same with and without databases. */
static void test_names(void)
{
    static const struct {
        const char *label;
        const char *text;
        uint16_t id;
        const char *want;
    } cases[] = {
        {"ours", "end\n", 0x56a0, "Intel Arc A770"},
        {"the list's", LIST("56a0", "DG2 [Arc A770]") "end\n", 0x56a0, "Intel Arc A770"},
        {"udev's", UDEV("DG2 [Arc A770]") "end\n", 0x56a0, "Intel Arc A770"},
        {"a newer one", LIST("56a0", "DG2 [Arc A770 II]") "end\n", 0x56a0, "Intel Arc A770 II"},
        {"the list before udev", LIST("56a0", "[New 1]") UDEV("[Old 1]") "end\n", 0x56a0,
         "Intel New 1"},
        {"ours, integrated", "end\n", 0x46a6, "Intel Alder Lake-P GT2 Iris Xe Graphics"},
        {"the list's, integrated", LIST("46a6", "Alder Lake-P GT2 [Iris Xe Graphics]") "end\n",
         0x46a6, "Intel Alder Lake-P GT2 Iris Xe Graphics"},
        {"an older list", LIST("46a6", "Alder Lake-P Integrated Graphics Controller") "end\n",
         0x46a6, "Intel Alder Lake-P GT2 Iris Xe Graphics"},
        {"a name without brackets", LIST("5917", "UHD Graphics 620") "end\n", 0x5917,
         "Intel UHD Graphics 620"},
        {"a code name", "end\n", 0x5917, "Intel Kaby Lake"},
        {"nothing known", "end\n", 0xfffe, "Intel 8086:fffe"},
        {"no ids", "end\n", 0, ""}, /* no name that would stay once they can be read */
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        const struct gtel_drm_card drm = {.key = "0000:03:00.0",
                                          .driver = "xe",
                                          .is_pci = true,
                                          .vendor_id = cases[i].id ? 0x8086 : 0,
                                          .device_id = cases[i].id};
        test_label = cases[i].label;
        check_model(&drm, cases[i].text, cases[i].want);
    }
    test_label = "";
}

#define PLUGGED(n, id)                                                                             \
    CARD(n, "0000:03:00.0", "xe\n| PCI_ID=8086:" id, "active")                                     \
    "file usr/share/misc/pci.ids\n| 8086  Intel\n| \te20b  Battlemage G21 [Arc B580]\n"            \
    "| \t56a0  DG2 [Arc A770]\n"

/* Another card in the same enclosure, also where its address was empty for no listing. */
static void test_swapped(void)
{
    static const char *const machines[] = {
        PLUGGED("1", "E20B") "at 1s\ngone sys/class/drm/card1\nat 2s\n" PLUGGED("1",
                                                                                "56A0") "end\n",
        PLUGGED("1", "E20B") "at 2s\n" PLUGGED("1", "56A0") "end\n"};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(machines); i++) {
        char error[200];
        struct gtel_tree *tree;
        struct gtel_env env;
        struct world world;
        test_label = i == 0 ? "swapped" : "swapped between listings";
        if (!CHECK(gtel_tree_parse(gtel_str_of(machines[i]), &tree, error, sizeof(error)) == 0) ||
            !CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0))
            return;
        world_init(&world, &env);
        for (int t = 0; t <= 2; t++) {
            CHECK_INT(gather(&world), 0);
            gtel_env_tree_step(&env, 1000000000);
        }
        const struct gtel_device *device = world.registry.device[0];
        CHECK_INT(world.registry.n, 1);
        CHECK_INT(device->arrivals, 2);
        CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_PCI_ID]), "8086:56a0");
        CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_MODEL]), "Intel Arc A770");
        CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_CARD]), "card1");
        world_done(&world);
        gtel_env_tree_done(&env);
        gtel_tree_free(tree);
    }
    test_label = "";
}

#define BOARD_UEVENT(compatible)                                                                   \
    "file sys/class/drm/card0/device/uevent\n| DRIVER=panthor\n" compatible "end\n"

/* Without PCI the model is what the device tree calls it; without that there is none. */
static void test_boards(void)
{
    static const struct gtel_drm_card drm = {
        .key = "fb000000.gpu", .driver = "panthor", .card = "card0"};
    static const struct {
        const char *label;
        const char *text;
        const char *want;
    } cases[] = {
        {"compatible",
         BOARD_UEVENT("| OF_COMPATIBLE_0=rockchip,rk3588-mali\n| OF_COMPATIBLE_1=arm,mali\n"),
         "rockchip,rk3588-mali"},
        {"none", BOARD_UEVENT("| OF_COMPATIBLE_N=0\n"), ""},
        {"empty", BOARD_UEVENT("| OF_COMPATIBLE_0=\n"), ""},
        {"no file", "end\n", ""},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        test_label = cases[i].label;
        check_model(&drm, cases[i].text, cases[i].want);
    }
    test_label = "";
}

#define DISPLAY                                                                                    \
    "file sys/class/drm/card0/device/uevent\n| DRIVER=msm_dpu\n| "                                 \
    "OF_COMPATIBLE_0=qcom,sm8550-mdss\n"
#define ADRENO(name, chip)                                                                         \
    "file sys/bus/platform/drivers/adreno/" name                                                   \
    "/uevent\n| DRIVER=adreno\n| OF_COMPATIBLE_0=" chip "\n"

/* Of a GPU behind a display's card the model is its own. */
static void test_facades(void)
{
    static const struct gtel_drm_card drm = {
        .key = "ae00000.display-subsystem", .driver = "msm_dpu", .card = "card0"};
    test_label = "facades";
    check_model(&drm, DISPLAY ADRENO("3d00000.gpu", "qcom,adreno-43050a01") "end\n",
                "qcom,adreno-43050a01");
    check_model(&drm, DISPLAY "end\n", "");
    check_model(&drm, DISPLAY ADRENO("3d00000.gpu", "a") ADRENO("3e00000.gpu", "b") "end\n", "");
    test_label = "";
}

/* Without PCI the vendor is that of the driver's hardware. */
static void test_makers(void)
{
    static const char *const makers[][2] = {{"adreno", "qualcomm"},  {"msm", "qualcomm"},
                                            {"mdp4", "qualcomm"},    {"lima", "arm"},
                                            {"vc4-drm", "broadcom"}, {"powervr", "imagination"},
                                            {"tyr", "arm"},          {"panthor", "arm"},
                                            {"etnaviv", "vivante"},  {"gpu2040", ""}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(makers); i++) {
        struct gtel_drm_card drm = {.key = "fb000000.gpu", .card = "card0"};
        test_label = makers[i][0];
        (void)snprintf(drm.driver, sizeof(drm.driver), "%s", makers[i][0]);
        check_label(&drm, "end\n", GTEL_LABEL_VENDOR, makers[i][1]);
    }
    test_label = "";
}

#define AMD_LIST                                                                                   \
    "file usr/share/libdrm/amdgpu.ids\n| 1.0.0\n| 744C,\tC8,\tAMD Radeon RX 7900 XTX\n"            \
    "| 744C,\tCC,\tAMD Radeon RX 7900 XT\n| 75A0,\t00,\tAMD Instinct MI350X\n"
#define AMD_CARD(n, device, revision)                                                              \
    "file sys/class/drm/card" n "/device/uevent\n| DRIVER=amdgpu\n| PCI_ID=1002:" device "\n"      \
    "| PCI_SLOT_NAME=0000:0" n ":00.0\nfile sys/class/drm/card" n                                  \
    "/device/revision\n| 0x" revision "\n"
#define PRODUCT(n, name) "file sys/class/drm/card" n "/device/product_name\n| " name "\n"

/* The board's own text, libdrm's list by the revision, pci.ids, the ids. */
static void test_amd_names(void)
{
    static const char machine[] = AMD_CARD("1", "744C", "c8") AMD_CARD("2", "744C", "cc")
        PRODUCT("2", "") AMD_CARD("3", "744C", "c1") AMD_CARD("4", "75A0", "00")
            PRODUCT("4", "AMD Instinct MI350X OAM") AMD_CARD("5", "7550", "c0") AMD_LIST
        "file usr/share/misc/pci.ids\n| 1002  Advanced Micro Devices\n"
        "| \t744c  Navi 31 [Radeon RX 7900 XT/7900 XTX]\nend\n";
    static const char *const want[] = {"AMD Radeon RX 7900 XTX", "AMD Radeon RX 7900 XT",
                                       "AMD Radeon RX 7900 XT/7900 XTX", "AMD Instinct MI350X OAM",
                                       "AMD 1002:7550"};
    static const char *const drivers[] = {"amdgpu", NULL};
    char error[200];
    struct gtel_tree *tree;
    struct gtel_env env;
    struct gtel_cards cards = {0};
    struct gtel_registry registry = {.cards = &cards};
    if (!CHECK(gtel_tree_parse(gtel_str_of(machine), &tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0))
        return;
    cards.env = &env;
    struct gtel_card_list list = {
        .env = &env, .drivers = drivers, .own_size = sizeof(struct gtel_card *)};
    CHECK_INT(gtel_card_list_discover(&list, &registry), 0);
    CHECK_INT(list.n, GTEL_ARRAY_LEN(want));
    for (size_t i = 0; i < list.n && i < GTEL_ARRAY_LEN(want); i++)
        CHECK_STR(gtel_str_of(gtel_card_at(&list, i)->device->label[GTEL_LABEL_MODEL]), want[i]);
    gtel_card_list_done(&list);
    gtel_cards_done(&cards);
    gtel_registry_done(&registry);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
}

/* Every word of the kernel (Documentation/ABI/testing/sysfs-devices-power), and another one. */
static void test_statuses(void)
{
    static const struct {
        const char *status;
        int rc;
        bool is_asleep;
    } cases[] = {{"active", 0, false},   {"unsupported", 0, false},
                 {"suspended", 0, true}, {"suspending", 0, true},
                 {"resuming", 0, true},  {"error", -EIO, false},
                 {"halfway", 0, false},  {"", 0, false}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        char machine[512];
        char error[200];
        struct gtel_tree *tree = NULL;
        struct gtel_env env;
        struct gtel_awake awake = {0};
        bool is_asleep = false;
        test_label = cases[i].status;
        (void)snprintf(machine, sizeof(machine), CARD("0", "0000:00:02.0", "i915", "%s") "end\n",
                       cases[i].status);
        if (!CHECK(gtel_tree_parse(gtel_str_of(machine), &tree, error, sizeof(error)) == 0))
            return;
        CHECK_INT(gtel_env_tree_init(tree, true, 0, &env), 0);
        CHECK_INT(gtel_awake_open(&env, &awake, "sys/devices/pci0000:00/0000:00:02.0"), 0);
        CHECK_INT(gtel_awake_look(&env, &awake, &is_asleep), cases[i].rc);
        CHECK_INT(is_asleep, cases[i].is_asleep);
        gtel_awake_close(&env, &awake);
        gtel_env_tree_done(&env);
        gtel_tree_free(tree);
    }
    test_label = "";
}

/* The GPU behind a card that is a display controller: the one device of the GPU's own driver. */
static void test_core(void)
{
#define DRIVERS "sys/bus/platform/drivers/adreno"
#define GPU(name) "link " DRIVERS "/" name " -> ../../../../devices/platform/" name "\n"
    static const struct {
        const char *label;
        const char *driver;
        const char *machine;
        int want;
        const char *path;
    } cases[] = {
        {"a card that is the GPU", "i915", "end\n", 0, "sys/class/drm/card0/device"},
        {"one", "msm_dpu",
         GPU("3d00000.gpu") "file " DRIVERS "/bind\nlink " DRIVERS "/module -> ../x\nend\n", 0,
         DRIVERS "/3d00000.gpu"},
        {"two", "msm", GPU("3d00000.gpu") GPU("3e00000.gpu") "end\n", -ENOENT, NULL},
        {"none", "msm", "file " DRIVERS "/bind\nend\n", -ENOENT, NULL},
        {"no driver", "msm", "end\n", -ENOENT, NULL},
        {"refused", "msm", GPU("3d00000.gpu") "refuse " DRIVERS " EACCES\nend\n", -EACCES, NULL},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_tree *tree = NULL;
        struct gtel_env env;
        struct gtel_drm_card drm = {.card = "card0"};
        char path[GTEL_FS_PATH_MAX];
        char error[100];
        test_label = cases[i].label;
        (void)gtel_str_copy(drm.driver, sizeof(drm.driver), gtel_str_of(cases[i].driver));
        if (!CHECK(gtel_tree_parse(gtel_str_of(cases[i].machine), &tree, error, sizeof(error)) ==
                   0) ||
            !CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0))
            return;
        CHECK_INT(gtel_card_core(&env, &drm, path), cases[i].want);
        if (cases[i].path)
            CHECK_STR(gtel_str_of(path), cases[i].path);
        gtel_env_tree_done(&env);
        gtel_tree_free(tree);
    }
    test_label = "";
}

int main(void)
{
    char error[200];
    struct gtel_tree *tree;
    struct gtel_env tree_env;
    struct env_fault fault;
    if (!CHECK(gtel_tree_parse(gtel_str_of(text), &tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(tree, true, 0, &tree_env) == 0))
        return test_result();
    env_fault_init(&fault, &tree_env);
    test_no_memory(&fault);
    test_retries(&fault);
    test_faults(&fault);
    test_restart(&fault);
    test_life(&tree_env, &fault);
    test_functions();
    test_statuses();
    test_names();
    test_swapped();
    test_boards();
    test_facades();
    test_makers();
    test_amd_names();
    gtel_env_tree_done(&tree_env);
    gtel_tree_free(tree);
    test_core();
    return test_result();
}
