/* SPDX-License-Identifier: MIT */
/*
 * Never wakes: on every recorded machine, with all sources of the kernel lane and with those that
 * are off unless asked for, nothing that would wake a GPU is done while it sleeps, and the counters
 * of xe, which hold a GPU awake, are open no longer than a burst.
 */
#include "lanes/group.h"
#include "harness/env_fault.h"
#include "recording/tree.h"
#include "harness/source_harness.h"
#include "harness/wake_watch.h"
#include "harness/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_MS = 250, GATHER_MS = 1000, TIME_MAX_MS = 100000 };

/* Its card, which has a PMU, never works: its counters are not opened while it is awake, either. */
static const char idle_machine[] = "xe-sleep";

static bool set(struct gtel_options *options, enum gtel_option option, const char *value)
{
    char error[200];
    return CHECK(gtel_option_set(options, option, gtel_str_of(value), error, sizeof(error)) == 0);
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

/* A gather each second, with a search for GPUs in each. */
static void run(struct gtel_group *group, struct gtel_env *env, struct wakes *wakes, uint64_t end)
{
    uint64_t start = gtel_env_now(env);
    for (uint64_t ms = 0; ms <= end; ms += STEP_MS) {
        wakes_look(wakes, env);
        if (ms % GATHER_MS == 0)
            gtel_group_sample(group);
        step_to(group, env, start + (ms + STEP_MS) * 1000000);
    }
}

/*
 * is_asked: for what is off by itself, too. Returns how often a card was seen asleep, and adds up
 * the bursts of counters.
 */
static uint64_t check_machine(const char *name, bool is_asked, uint64_t *bursts)
{
    static struct env_fault fault;
    struct wakes wakes;
    struct gtel_group group;
    struct gtel_options options;
    struct gtel_tree *tree = NULL;
    struct gtel_env env;
    char error[200];
    char *text = machine_text(name);
    test_label = name;
    gtel_options_init(&options);
    if (!CHECK(text) || !set(&options, GTEL_O_RESCAN, "100ms") ||
        !set(&options, GTEL_O_XE_STALLS, is_asked ? "on" : "off") ||
        !CHECK(gtel_tree_parse(gtel_str_of(text), &tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0))
        return 0;
    env_fault_init(&fault, &env);
    wakes_init(&wakes, &fault);
    if (CHECK(gtel_group_init(&group, "kernel", &fault.env, &options) == 0)) {
        uint64_t end = gtel_tree_duration(tree) / 1000000 + 4000;
        run(&group, &env, &wakes, end < TIME_MAX_MS ? end : TIME_MAX_MS);
        gtel_group_done(&group);
    }
    wakes_check(&wakes);
    *bursts += wakes.bursts;
    CHECK(strcmp(name, idle_machine) != 0 || wakes.bursts == 0);
    CHECK_INT(fault.open_files, 0);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
    free(text);
    return wakes.seen_asleep;
}

int main(void)
{
    static char names[MACHINES_MAX][MACHINE_NAME_MAX];
    uint64_t asleep = 0;
    uint64_t bursts = 0;
    size_t n = machine_names(names);
    for (size_t i = 0; i < n; i++)
        asleep += check_machine(names[i], false, &bursts) + check_machine(names[i], true, &bursts);
    test_label = "";
    CHECK(asleep > 20); /* the machines do have cards that sleep */
    CHECK(bursts > 20);
    printf("%llu bursts of counters\n", (unsigned long long)bursts);
    return test_result();
}
