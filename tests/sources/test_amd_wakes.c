/* SPDX-License-Identifier: MIT */
/*
 * Runtime power management of amdgpu, played on the recorded machines of AMD: no file that asks the
 * hardware is read while a card sleeps, whatever that would do on its kernel, and an idle card is
 * asleep after at most two autosuspend delays although a gather is made each second.
 *
 * A card falls asleep when nothing has used it for the delay. What uses it: work, and each read of
 * a file that asks the hardware. Up to Linux 6.14 such a read resumes a card that sleeps; since
 * then it fails with EPERM or EBUSY (kernel: amd/pm/amdgpu_pm.c). Links are read from configuration
 * space, which resumes as well since 6.1.157 and 6.12.54 (drivers/pci/pci-sysfs.c).
 */
#include "base/arena.h"
#include "base/buf.h"
#include "host/drm.h"
#include "host/fs.h"
#include "lanes/group.h"
#include "harness/env_fault.h"
#include "harness/source_harness.h"
#include "harness/test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CARDS_MAX = 16, DELAY_S = 5, END_S = 90 };

static const uint64_t second_ns = 1000000000;

static const struct rule {
    const char *label;
    int error; /* of a read of a sleeping card; 0: it resumes it */
} rules[] = {{"up to 6.14", 0}, {"7.x, asleep", EPERM}, {"7.x, suspending", EBUSY}};

struct sleeper {
    struct gtel_drm_card drm;
    bool is_asleep;
    bool is_busy;
    bool was_idle;         /* from the begin on */
    uint64_t used_ns;      /* last */
    uint64_t asleep_ns;    /* since when, while is_asleep */
    uint64_t suspended_ns; /* in all, before that */
};

static struct {
    const struct rule *rule;
    const struct gtel_env *machine;
    struct gtel_env_ops ops;
    struct gtel_env env; /* the machine with its power management */
    struct env_fault fault;
    struct sleeper card[CARDS_MAX];
    size_t n;
    const char *path; /* of the present call */
    uint64_t wakes;
    char first[FAULT_PATH_MAX];
} pm;

static struct sleeper *card_of(const char *path, const char **ret_file)
{
    for (size_t i = 0; i < pm.n; i++) {
        char start[128];
        (void)snprintf(start, sizeof(start), "/%s/device/", pm.card[i].drm.card);
        const char *found = strstr(path, start);
        if (!found) {
            (void)snprintf(start, sizeof(start), "/%s/", pm.card[i].drm.key);
            found = strstr(path, start);
        }
        if (found) {
            *ret_file = found + strlen(start);
            return &pm.card[i];
        }
    }
    return NULL;
}

/* Answered from the kernel's memory, on every kernel. */
static bool is_free(const char *file)
{
    static const char *const whole[] = {"vendor",      "device",        "class",
                                        "revision",    "uevent",        "unique_id",
                                        "power_state", "vbios_version", "pwm1_min"};
    static const char *const starts[] = {"mem_info_", "aer_dev_", "power/", "drm/", "product_"};
    static const char *const ends[] = {"/name", "_label", "_crit", "_emergency", "_crit_hyst"};
    while (strncmp(file, "../", 3) == 0) /* of a port above */
        file += 3;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(whole); i++)
        if (strcmp(file, whole[i]) == 0)
            return true;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(starts); i++)
        if (strncmp(file, starts[i], strlen(starts[i])) == 0)
            return true;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(ends); i++)
        if (gtel_str_ends(gtel_str_of(file), gtel_str_of(ends[i])))
            return true;
    return false;
}

static uint64_t now(void)
{
    return gtel_env_now(pm.machine);
}

/* What has happened to a card until now. */
static void update(struct sleeper *card)
{
    if (card->is_busy && !card->is_asleep)
        card->used_ns = now();
    if (!card->is_asleep && now() - card->used_ns >= DELAY_S * second_ns) {
        card->is_asleep = true;
        card->asleep_ns = card->used_ns + DELAY_S * second_ns;
    }
}

static void resume(struct sleeper *card)
{
    if (card->is_asleep)
        card->suspended_ns += now() - card->asleep_ns;
    card->is_asleep = false;
    card->used_ns = now();
}

static int64_t answer(void *buf, size_t n, const char *format, uint64_t value)
{
    char text[32];
    int size = snprintf(text, sizeof(text), format, value);
    size_t copied = (size_t)size < n ? (size_t)size : n;
    memcpy(buf, text, copied);
    return (int64_t)copied;
}

static int64_t read_power(const struct sleeper *card, const char *file, void *buf, size_t n)
{
    uint64_t ns = card->suspended_ns + (card->is_asleep ? now() - card->asleep_ns : 0);
    if (strcmp(file, "power/runtime_status") == 0)
        return answer(buf, n, card->is_asleep ? "suspended\n" : "active\n", 0);
    if (strcmp(file, "power/runtime_suspended_time") == 0)
        return answer(buf, n, "%" PRIu64 "\n", ns / 1000000);
    if (strcmp(file, "power/autosuspend_delay_ms") == 0)
        return answer(buf, n, "%" PRIu64 "\n", (uint64_t)DELAY_S * 1000);
    return answer(buf, n, "auto\n", 0);
}

static int64_t file_read(void *arg, int handle, void *buf, size_t n)
{
    const char *file;
    struct sleeper *card = card_of(pm.path, &file);
    if (card)
        update(card);
    if (card && strncmp(file, "power/", strlen("power/")) == 0)
        return read_power(card, file, buf, n);
    if (!card || is_free(file))
        return pm.machine->ops->file_read(arg, handle, buf, n);
    if (card->is_asleep) {
        if (pm.wakes++ == 0)
            (void)snprintf(pm.first, sizeof(pm.first), "%s", pm.path);
        if (pm.rule->error)
            return -pm.rule->error;
    }
    resume(card);
    return pm.machine->ops->file_read(arg, handle, buf, n);
}

static void on_call(void *arg, enum fault_op op, const char *path)
{
    (void)arg;
    if (op == FAULT_READ)
        pm.path = path;
}

static void list_cards(void)
{
    struct gtel_arena arena = {0};
    struct gtel_drm_devices list = {0};
    (void)gtel_drm_devices(pm.machine, &arena, false, &list);
    for (size_t i = 0; i < list.n; i++) {
        const struct gtel_drm_card *card = &list.device[i].card;
        struct sleeper *known = NULL;
        char path[GTEL_FS_PATH_MAX];
        char buf[32];
        struct gtel_str text;
        uint64_t busy = 0;
        if (strcmp(card->driver, "amdgpu") != 0)
            continue;
        for (size_t k = 0; k < pm.n; k++)
            if (strcmp(pm.card[k].drm.key, card->key) == 0)
                known = &pm.card[k];
        if (!known && CHECK(pm.n < CARDS_MAX)) {
            known = &pm.card[pm.n++];
            *known = (struct sleeper){.used_ns = now(), .was_idle = true};
        }
        if (!known)
            continue;
        known->drm = *card;
        gtel_fs_path(path, "sys/class/drm/%s/device/power/runtime_status", card->card);
        /* One that was recorded asleep does not say whether it works. */
        if (gtel_fs_text(pm.machine, path, buf, sizeof(buf), &text) == 0)
            known->was_idle = known->was_idle && gtel_str_eq(text, GTEL_STR("active"));
        gtel_fs_path(path, "sys/class/drm/%s/device/gpu_busy_percent", card->card);
        known->is_busy = gtel_fs_u64(pm.machine, path, &busy) == 0 && busy > 0;
        known->was_idle = known->was_idle && !known->is_busy;
    }
    gtel_arena_done(&arena);
}

/*
 * What happens from outside: from 20 s to 40 s every card sleeps, and at 60 s something wakes them.
 */
static void happen(uint64_t s)
{
    for (size_t i = 0; i < pm.n; i++) {
        struct sleeper *card = &pm.card[i];
        update(card);
        if (s == 20 && !card->is_asleep) {
            card->is_asleep = true;
            card->asleep_ns = now();
        }
        if (s == 60 || (s == 40 && card->is_busy))
            resume(card);
    }
}

/* Counts the cards that were idle all the time, which must have slept in time. */
static size_t run(struct gtel_group *group, struct gtel_env *tree_env)
{
    size_t slept = 0;
    for (uint64_t s = 0; s < END_S; s++) {
        list_cards();
        happen(s);
        gtel_group_sample(group);
        for (uint64_t due = gtel_group_due(group); due != 0 && due < now() + second_ns;
             due = gtel_group_due(group)) {
            gtel_env_tree_step(tree_env, due > now() ? due - now() : 0);
            gtel_group_tick(group);
        }
        gtel_env_tree_step(tree_env, second_ns - now() % second_ns);
        for (size_t i = 0; i < pm.n; i++) {
            update(&pm.card[i]);
            if (!pm.card[i].was_idle || (s != 2 * DELAY_S && s != 60 + 2 * DELAY_S))
                continue;
            CHECK(pm.card[i].is_asleep);
            slept++;
        }
    }
    return slept;
}

static size_t check(const char *name, const char *text, const struct rule *rule)
{
    struct gtel_group group;
    struct gtel_options options;
    struct gtel_tree *tree = NULL;
    struct gtel_env tree_env;
    char error[200];
    size_t slept = 0;
    test_label = name;
    memset(&pm, 0, sizeof(pm));
    pm.rule = rule;
    gtel_options_init(&options);
    if (!CHECK(gtel_option_set(&options, GTEL_O_RESCAN, GTEL_STR("1s"), error, sizeof(error)) ==
               0) ||
        !CHECK(gtel_tree_parse(gtel_str_of(text), &tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(tree, true, 0, &tree_env) == 0))
        return 0;
    pm.machine = &tree_env;
    pm.ops = *tree_env.ops;
    pm.ops.file_read = file_read;
    pm.env = tree_env;
    pm.env.ops = &pm.ops;
    env_fault_init(&pm.fault, &pm.env);
    pm.fault.watch = on_call;
    if (CHECK(gtel_group_init(&group, "kernel", &pm.fault.env, &options) == 0)) {
        slept = run(&group, &tree_env);
        gtel_group_done(&group);
    }
    CHECK(pm.n > 0);
    CHECK_INT(pm.wakes, 0);
    CHECK_STR(gtel_str_of(pm.first), "");
    gtel_env_tree_done(&tree_env);
    gtel_tree_free(tree);
    return slept;
}

int main(void)
{
    static char names[MACHINES_MAX][MACHINE_NAME_MAX];
    size_t n = machine_names(names);
    size_t machines = 0;
    size_t slept = 0;
    for (size_t i = 0; i < n; i++) {
        char *text = strncmp(names[i], "amd-", 4) == 0 ? machine_text(names[i]) : NULL;
        char *later = text ? strstr(text, "\nat ") : NULL;
        for (size_t r = 0; text && r < GTEL_ARRAY_LEN(rules); r++)
            (void)check(names[i], text, &rules[r]);
        if (later) /* its first state for good */
            (void)snprintf(later, strlen(later), "\nend\n");
        for (size_t r = 0; text && r < GTEL_ARRAY_LEN(rules); r++)
            slept += check(names[i], text, &rules[r]);
        machines += text != NULL;
        free(text);
    }
    test_label = "";
    printf("%zu machines, %zu times asleep in time\n", machines, slept);
    CHECK(machines > 20);
    CHECK(slept > 60);
    return test_result();
}
