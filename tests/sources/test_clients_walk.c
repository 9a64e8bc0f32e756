/* SPDX-License-Identifier: MIT */
/*
 * The fault walk of the lane clients: on each recorded machine with clients, each outside call
 * fails in turn. Nothing may crash, leak or stay broken, and nothing is told that is not true.
 */
#include "cycle/group.h"
#include "fault_env.h"
#include "host/tree.h"
#include "sources/machine.h"
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Gathers with the fault, then without; in strides where there are many calls. */
enum { GATHERS = 4, REST = 24, STEP_MS = 500, COST_MAX = 400000 };

static const int errors[] = {-EIO, -ENODEV, -EACCES, -EMFILE, -ENOENT, -ESRCH, -EPERM};

struct walk {
    struct gtel_tree *tree;
    struct gtel_options options;
    uint64_t calls; /* in the gathers without a fault */
    uint64_t hash;  /* over the keys of what is read in the end */
    size_t n;       /* readings in the end */
};

static uint64_t hash_batch(const struct gtel_batch *batch)
{
    uint64_t sum = batch->n;
    for (size_t i = 0; i < batch->n; i++) {
        const struct gtel_reading *reading = &batch->reading[i];
        const char *key = reading->device ? reading->device->key : "";
        uint64_t h = gtel_hash(GTEL_HASH_SEED, key, strlen(key));
        h = gtel_hash(h, &reading->metric, sizeof(reading->metric));
        for (size_t d = 0; d < GTEL_DIMS_MAX; d++)
            h = gtel_hash(h, reading->dim[d].p, reading->dim[d].n);
        sum += h;
    }
    return sum;
}

/* Shares and counts are those of whole clients, whatever fails. */
static void check_truth(const struct gtel_batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        const struct gtel_reading *reading = &batch->reading[i];
        const struct gtel_metric_row *row = gtel_metric_row((enum gtel_metric)reading->metric);
        double value = gtel_reading_number(reading);
        if (row->kind == GTEL_KIND_RATIO)
            CHECK(value >= 0 && value <= 1);
        if (reading->metric == GTEL_M_PROCESS_COUNT)
            CHECK(value >= 1 && value <= 10);
    }
}

static void gather(struct gtel_group *group, struct gtel_env *env, int n)
{
    for (int i = 0; i < n; i++) {
        gtel_group_sample(group);
        check_truth(&group->batch);
        gtel_env_tree_step(env, (uint64_t)STEP_MS * 1000000);
    }
}

/* A file that is said not to be there is no fault. */
static void finish(struct walk *walk, struct gtel_group *group, bool is_first, int error)
{
    gtel_group_sample(group);
    if (is_first) {
        walk->hash = hash_batch(&group->batch);
        walk->n = group->batch.n;
        return;
    }
    CHECK(error == -ENOENT || hash_batch(&group->batch) == walk->hash);
    for (size_t i = 0; i < group->registry.n; i++)
        CHECK(group->registry.device[i]->is_present);
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
    if (CHECK(gtel_group_init(&group, "clients", &fault.env, &walk->options) == 0)) {
        gather(&group, &env, GATHERS);
        CHECK(k == 0 || fault.has_failed);
        walk->calls = k == 0 ? fault.calls : walk->calls;
        fault_env_arm(&fault, 0, 0);
        gather(&group, &env, REST);
        finish(walk, &group, k == 0, error);
        gtel_group_done(&group);
    }
    CHECK_INT(fault.open_files, 0);
    gtel_env_tree_done(&env);
}

static void walk_machine(const char *name)
{
    struct walk walk = {0};
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
    CHECK(walk.calls > 100 && walk.n > 3);
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

int main(void)
{
    static char names[MACHINES_MAX][MACHINE_NAME_MAX];
    size_t n = machine_names(names);
    for (size_t i = 0; i < n; i++)
        if (gtel_str_starts(gtel_str_of(names[i]), GTEL_STR("clients-")))
            walk_machine(names[i]);
    return test_result();
}
