/* SPDX-License-Identifier: MIT */
/*
 * Never wakes: on every recorded machine, with all sources of the kernel lane, nothing that would
 * wake a GPU is done while it sleeps, and the counters of xe, which hold a GPU awake, are open no
 * longer than a burst.
 */
#include "cycle/group.h"
#include "fault_env.h"
#include "host/drm.h"
#include "host/tree.h"
#include "sources/machine.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

enum { CARDS_MAX = 32, STEP_MS = 250, GATHER_MS = 1000, TIME_MAX_MS = 100000 };

/* As the option XeEngines has it. */
static const uint64_t burst_ns = 100000000;

/* A card as it is at a time. */
struct card {
    struct gtel_drm_card drm;
    char node[GTEL_DRM_NODE_MAX]; /* "dev/dri/renderD128", or empty */
    uint32_t xe_pmu;              /* type of its PMU; 0: none */
    bool is_asleep;
};

struct watch {
    struct fault_env *fault;
    struct card card[CARDS_MAX];
    size_t n;
    uint64_t seen_asleep; /* cards and times */
    uint64_t looks;       /* allowed calls about sleeping cards */
    uint64_t wakes;       /* forbidden ones */
    uint64_t bursts;      /* of counters of xe */
    uint64_t longest_ns;  /* of them */
    char first[FAULT_PATH_MAX + 32];
};

/*
 * What the kernel answers from its own memory of the device: links, the names in a directory, and
 * some files, by the last part of the path.
 */
static bool is_harmless(enum fault_op op, struct gtel_str path)
{
    static const char *const names[] = {"/power/runtime_status", "/uevent", "/aer_dev_correctable",
                                        "/aer_dev_nonfatal", "/aer_dev_fatal"};
    if (op == FAULT_LINK || op == FAULT_LIST)
        return true;
    if (op == FAULT_EXISTS && gtel_str_ends(path, GTEL_STR("/survivability_mode")))
        return true;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (gtel_str_ends(path, gtel_str_of(names[i])))
            return true;
    return false;
}

static bool is_below(const char *path, const char *dir, const char *name)
{
    char start[128];
    (void)snprintf(start, sizeof(start), "%s%s/", dir, name);
    return strstr(path, start) != NULL;
}

static bool is_about(const struct watch *watch, const struct card *card, enum fault_op op,
                     const char *path)
{
    if (op == FAULT_PMU)
        return card->xe_pmu != 0 && watch->fault->pmu_type == card->xe_pmu;
    if (op == FAULT_QUERY) /* i915's does not wake */
        return strcmp(path, card->node) == 0 && strcmp(card->drm.driver, "xe") == 0;
    return is_below(path, "sys/class/drm/", card->drm.card) || is_below(path, "/", card->drm.key) ||
           (card->node[0] != '\0' && is_below(path, "sys/class/drm/", card->node + 8));
}

static void note_burst(struct watch *watch, const struct card *card)
{
    if (card->xe_pmu == 0 || watch->fault->pmu_type != card->xe_pmu)
        return;
    watch->bursts++;
    if (watch->fault->pmu_open_ns > watch->longest_ns)
        watch->longest_ns = watch->fault->pmu_open_ns;
}

static void on_call(void *arg, enum fault_op op, const char *path)
{
    struct watch *watch = arg;
    for (size_t i = 0; i < watch->n; i++) {
        const struct card *card = &watch->card[i];
        if (op == FAULT_PMU_CLOSE) {
            note_burst(watch, card);
            continue;
        }
        if (!card->is_asleep || !is_about(watch, card, op, path))
            continue;
        if (is_harmless(op, gtel_str_of(path))) {
            watch->looks++;
            continue;
        }
        if (watch->wakes++ == 0)
            (void)snprintf(watch->first, sizeof(watch->first), "%s: %s", card->drm.key, path);
    }
}

static void look_at(const struct gtel_env *env, const struct gtel_drm_card *drm, struct card *ret)
{
    char path[GTEL_FS_PATH_MAX];
    char name[GTEL_DRM_NAME_MAX + 4];
    char buf[32];
    struct gtel_str text;
    uint64_t type;
    *ret = (struct card){.drm = *drm};
    gtel_fs_path(path, "sys/class/drm/%s/device", drm->card);
    if (gtel_drm_render_node(env, path, ret->node) < 0)
        ret->node[0] = '\0';
    (void)snprintf(name, sizeof(name), "xe_%s", drm->key);
    for (char *p = name; *p; p++)
        *p = (char)(*p == ':' ? '_' : *p);
    gtel_fs_path(path, "sys/bus/event_source/devices/%s/type", name);
    if (gtel_fs_u64(env, path, &type) == 0)
        ret->xe_pmu = (uint32_t)type;
    gtel_fs_path(path, "sys/class/drm/%s/device/power/runtime_status", drm->card);
    ret->is_asleep = gtel_fs_text(env, path, buf, sizeof(buf), &text) == 0 &&
                     gtel_str_starts(text, GTEL_STR("suspend"));
}

/* The cards as they are now; env is the machine itself, unwatched. */
static void look_at_cards(const struct gtel_env *env, struct watch *watch)
{
    static const char *const drivers[] = {"i915", "xe"};
    struct gtel_arena arena = {0};
    watch->n = 0;
    for (size_t d = 0; d < 2; d++) {
        struct gtel_drm_card *cards = NULL;
        size_t n = 0;
        size_t missed = 0;
        if (gtel_drm_list(env, &arena, gtel_str_of(drivers[d]), &cards, &n, &missed) < 0)
            continue;
        for (size_t i = 0; i < n && watch->n < CARDS_MAX; i++) {
            look_at(env, &cards[i], &watch->card[watch->n]);
            watch->seen_asleep += watch->card[watch->n++].is_asleep;
        }
    }
    gtel_arena_done(&arena);
}

/* To that time, with what sources ask for in between. */
static void step_to(struct gtel_group *group, struct gtel_env *env, uint64_t t_ns)
{
    for (;;) {
        uint64_t now = gtel_env_now(env);
        uint64_t due = gtel_group_due(group);
        if (due == 0 || due >= t_ns)
            break;
        gtel_env_tree_step(env, due > now ? due - now : 0);
        gtel_group_tick(group);
    }
    gtel_env_tree_step(env, t_ns - gtel_env_now(env));
}

/* A gather each second, with a look for GPUs in each. */
static void run(struct gtel_group *group, struct gtel_env *env, struct watch *watch, uint64_t end)
{
    uint64_t start = gtel_env_now(env);
    for (uint64_t ms = 0; ms <= end; ms += STEP_MS) {
        look_at_cards(env, watch);
        if (ms % GATHER_MS == 0)
            gtel_group_sample(group);
        step_to(group, env, start + (ms + STEP_MS) * 1000000);
    }
}

/* Returns how often a card was seen asleep, and adds up the bursts of counters. */
static uint64_t check_machine(const char *name, uint64_t *bursts)
{
    static struct fault_env fault;
    struct watch watch = {.fault = &fault};
    struct gtel_group group;
    struct gtel_options options;
    struct gtel_tree *tree = NULL;
    struct gtel_env env;
    char error[200];
    char *text = machine_text(name);
    test_label = name;
    gtel_options_init(&options);
    if (!CHECK(text) ||
        !CHECK(gtel_option_set(&options, GTEL_O_RESCAN, GTEL_STR("100ms"), error, sizeof(error)) ==
               0) ||
        !CHECK(gtel_tree_parse(gtel_str_of(text), &tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0))
        return 0;
    fault_env_init(&fault, &env);
    fault.watch = on_call;
    fault.watch_arg = &watch;
    if (CHECK(gtel_group_init(&group, "kernel", &fault.env, &options) == 0)) {
        uint64_t end = gtel_tree_duration(tree) / 1000000 + 4000;
        run(&group, &env, &watch, end < TIME_MAX_MS ? end : TIME_MAX_MS);
        gtel_group_done(&group);
    }
    fault.watch = NULL;
    fault.watch_arg = NULL;
    CHECK_INT(watch.wakes, 0);
    CHECK_STR(gtel_str_of(watch.first), "");
    CHECK(watch.longest_ns <= burst_ns);
    *bursts += watch.bursts;
    CHECK((watch.looks > 0) == (watch.seen_asleep > 0));
    CHECK_INT(fault.open_files, 0);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
    free(text);
    return watch.seen_asleep;
}

int main(void)
{
    static char names[MACHINES_MAX][MACHINE_NAME_MAX];
    uint64_t asleep = 0;
    uint64_t bursts = 0;
    size_t n = machine_names(names);
    for (size_t i = 0; i < n; i++)
        asleep += check_machine(names[i], &bursts);
    test_label = "";
    CHECK(asleep > 20); /* the machines do have cards that sleep */
    CHECK(bursts > 20);
    printf("%llu bursts of counters\n", (unsigned long long)bursts);
    return test_result();
}
