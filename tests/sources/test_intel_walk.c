/* SPDX-License-Identifier: MIT */
/*
 * The fault walk: on each recorded machine whose name begins with an argument, with all sources of
 * the kernel lane, each outside call fails in turn. Nothing may crash, leak or stay broken.
 *
 *     test_intel_walk PREFIX...
 */
#include "cycle/group.h"
#include "fault_env.h"
#include "host/tree.h"
#include "sources/machine.h"
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Gathers with the fault, then without; a machine of many calls, for many cards, in strides. */
enum { GATHERS = 3, REST = 5, STEP_MS = 100, COST_MAX = 200000 };

static const int errors[] = {-EIO, -ENODEV, -EACCES, -EMFILE, -ENOENT};

struct walk {
    const char *name;
    struct gtel_tree *tree;
    struct gtel_options options;
    uint64_t calls;    /* in the gathers without a fault */
    uint64_t readings; /* a hash over what is read in the end */
    uint64_t logs;     /* what is said of the machine without a fault */
};

/* A hash over the keys of all readings, in any order: with the fault, counters are elsewhere. */
static uint64_t hash_batch(const struct gtel_batch *batch)
{
    uint64_t sum = batch->n;
    for (size_t i = 0; i < batch->n; i++) {
        const struct gtel_reading *reading = &batch->reading[i];
        uint64_t h = gtel_hash(GTEL_HASH_SEED, reading->device->key, strlen(reading->device->key));
        h = gtel_hash(h, &reading->metric, sizeof(reading->metric));
        for (size_t d = 0; d < GTEL_DIMS_MAX; d++)
            h = gtel_hash(h, reading->dim[d].p, reading->dim[d].n);
        sum += h;
    }
    return sum;
}

static void gather(struct gtel_group *group, struct gtel_env *env, int n)
{
    for (int i = 0; i < n; i++) {
        gtel_group_sample(group);
        gtel_env_tree_step(env, (uint64_t)STEP_MS * 1000000);
        uint64_t due = gtel_group_due(group);
        if (due > 0 && due <= gtel_env_now(env))
            gtel_group_tick(group);
    }
}

/* One life of the lane in which call k fails (0: none). */
static void live(struct walk *walk, uint64_t k, int error)
{
    static struct fault_env fault;
    struct gtel_group group;
    struct gtel_env env;
    gtel_tree_seek(walk->tree, 0);
    if (!CHECK(gtel_env_tree_init(walk->tree, true, 0, &env) == 0))
        return;
    fault_env_init(&fault, &env);
    fault_env_arm(&fault, k, error);
    if (CHECK(gtel_group_init(&group, "kernel", &fault.env, &walk->options) == 0)) {
        gather(&group, &env, GATHERS);
        uint64_t calls = fault.calls;
        CHECK(k == 0 || fault.has_failed);
        uint64_t logs = fault.logs[GTEL_LOG_WARNING] + fault.logs[GTEL_LOG_ERROR];
        fault_env_arm(&fault, 0, 0);
        gather(&group, &env, REST);
        gtel_group_sample(&group);
        uint64_t hash = hash_batch(&group.batch);
        for (size_t i = 0; k != 0 && i < group.registry.n; i++)
            CHECK(group.registry.device[i]->is_present);
        if (k == 0) {
            walk->calls = calls;
            walk->readings = hash;
            walk->logs = logs;
        }
        /* A file that is said not to be there is no fault. */
        CHECK(error == -ENOENT || hash == walk->readings);
        CHECK(logs <= walk->logs + 2); /* said once, or once by the source and once by the group */
        gtel_group_done(&group);
    }
    CHECK_INT(fault.open_files, 0);
    gtel_env_tree_done(&env);
}

static void walk_machine(const char *name)
{
    struct walk walk = {.name = name};
    char error[200];
    char label[128];
    char *text = machine_text(name);
    gtel_options_init(&walk.options);
    if (!CHECK(text) ||
        !CHECK(gtel_option_set(&walk.options, GTEL_O_RESCAN, GTEL_STR("100ms"), error,
                               sizeof(error)) == 0) ||
        !CHECK(gtel_tree_parse(gtel_str_of(text), &walk.tree, error, sizeof(error)) == 0))
        return;
    test_label = name;
    live(&walk, 0, 0);
    CHECK(walk.calls > 20);
    uint64_t stride = walk.calls * walk.calls / COST_MAX + 1;
    for (uint64_t k = 1; k <= walk.calls; k += stride) {
        int code = errors[k / stride % (sizeof(errors) / sizeof(errors[0]))];
        (void)snprintf(label, sizeof(label), "%s, call %llu of %llu with %d", name,
                       (unsigned long long)k, (unsigned long long)walk.calls, code);
        test_label = label;
        live(&walk, k, code);
    }
    test_label = "";
    gtel_tree_free(walk.tree);
    free(text);
}

int main(int argc, char **argv)
{
    static char names[MACHINES_MAX][MACHINE_NAME_MAX];
    size_t n = machine_names(names);
    for (size_t i = 0; i < n; i++)
        for (int a = 1; a < argc; a++)
            if (gtel_str_starts(gtel_str_of(names[i]), gtel_str_of(argv[a])))
                walk_machine(names[i]);
    return test_result();
}
