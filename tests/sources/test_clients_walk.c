/* SPDX-License-Identifier: MIT */
/*
 * The fault walk of the lane clients: on each recorded machine with clients, each outside call
 * fails in turn. Nothing may crash, leak or stay broken, nothing is reported that is not true, and
 * all is there again within one interval.
 */
#include "lanes/group.h"
#include "harness/env_fault.h"
#include "recording/tree.h"
#include "harness/fixtures.h"
#include "harness/readings.h"
#include "harness/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Gathers with the fault, then without; in strides where there are many calls. */
enum { GATHERS = 4, REST = 24, STEP_MS = 500, COST_MAX = 400000 };

struct walk {
    struct gtel_tree *tree;
    struct gtel_options options;
    uint64_t calls;                /* in the gathers without a fault */
    const struct env_fault *fault; /* of the present life */
    bool hides_sleep;              /* the fault says that there is no file that reports it */
    struct gathered truth[GATHERS + REST]; /* without a fault */
};

static double number_of(const struct gtel_batch *batch, uint64_t key)
{
    for (size_t i = 0; i < batch->n; i++)
        if (gathered_key(&batch->reading[i], (enum gtel_metric)batch->reading[i].metric) == key)
            return gtel_reading_number(&batch->reading[i]);
    return -1;
}

/*
 * A value is what it is without the fault, or it is omitted. A line that lacks a process says so
 * by its count; "other" has those whose names could not be read; what says how much could be seen
 * differs. is_true: the fault was no wrong answer, as that a descriptor or a sensor is not there.
 */
static void check_truth(const struct gathered *truth, const struct gtel_batch *batch, bool is_true)
{
    for (size_t i = 0; i < batch->n; i++) {
        const struct gtel_reading *reading = &batch->reading[i];
        enum gtel_metric metric = (enum gtel_metric)reading->metric;
        const struct gtel_metric_row *row = gtel_metric_row(metric);
        double value = gtel_reading_number(reading);
        double want = gathered_value(truth, gathered_key(reading, metric));
        uint64_t count = gathered_key(reading, GTEL_M_PROCESS_COUNT);
        bool is_line = row->measurement == GTEL_MEASUREMENT_GPU_PROCESS;
        if (row->kind == GTEL_KIND_RATIO)
            CHECK(value >= 0 && value <= 1);
        if (metric == GTEL_M_PROCESS_COUNT)
            CHECK(value >= 1 && value <= 10);
        else if (is_line && number_of(batch, count) == gathered_value(truth, count) &&
                 !gtel_str_eq(reading->dim[0], GTEL_STR("other")) &&
                 (is_true || row->kind == GTEL_KIND_RATIO))
            CHECK_NEAR(value, want, 1e-9);
        else if (reading->device && !is_line && is_true)
            CHECK_NEAR(value, want, 1e-9);
    }
}

/* Whether all is reported that is reported without a fault. */
static bool is_all_reported(const struct gathered *truth, const struct gtel_batch *batch)
{
    size_t n = 0;
    for (size_t i = 0; i < batch->n; i++) {
        const struct gtel_reading *reading = &batch->reading[i];
        uint64_t key = gathered_key(reading, (enum gtel_metric)reading->metric);
        n += gathered_value(truth, key) == gtel_reading_number(reading);
    }
    return n == truth->n && batch->n == truth->n;
}

/* Without that file a GPU never sleeps, and what is read then is true in its own way. */
static void note_hidden(void *arg, enum fault_op op, const char *path)
{
    struct walk *walk = arg;
    const struct env_fault *fault = walk->fault;
    if (op == FAULT_OPEN && fault->calls + 1 == fault->fail_at && fault->error == -ENOENT)
        walk->hides_sleep = gtel_str_ends(gtel_str_of(path), GTEL_STR("/power/runtime_status"));
}

static void gather(struct walk *walk, struct gtel_group *group, unsigned i, uint64_t k,
                   bool is_true)
{
    gtel_group_sample(group);
    if (k == 0)
        gathered_take(&walk->truth[i], &group->batch);
    else if (!walk->hides_sleep)
        check_truth(&walk->truth[i], &group->batch, is_true);
}

/*
 * One life of the lane in which call k fails (0: none). Returns how many gathers after the fault
 * lack something. is_true: the fault says nothing wrong about what there is.
 */
static unsigned live(struct walk *walk, uint64_t k, int error, bool is_true)
{
    static struct env_fault fault;
    struct gtel_group group;
    struct gtel_env env;
    unsigned missing = 0;
    gtel_tree_seek(walk->tree, 0);
    if (!CHECK(gtel_env_tree_init(walk->tree, true, 0, &env) == 0))
        return 0;
    env_fault_init(&fault, &env);
    env_fault_arm(&fault, k, error);
    fault.watch = note_hidden;
    fault.watch_arg = walk;
    walk->fault = &fault;
    walk->hides_sleep = false;
    if (CHECK(gtel_group_init(&group, "clients", &fault.env, &walk->options) == 0)) {
        for (unsigned i = 0; i < GATHERS + REST; i++) {
            if (i == GATHERS) {
                CHECK(k == 0 || fault.has_failed);
                walk->calls = k == 0 ? fault.calls : walk->calls;
                env_fault_arm(&fault, 0, 0);
            }
            gather(walk, &group, i, k, is_true);
            if (i >= GATHERS && !is_all_reported(&walk->truth[i], &group.batch))
                missing = i + 1 - GATHERS;
            gtel_env_tree_step(&env, (uint64_t)STEP_MS * 1000000);
        }
        for (size_t i = 0; i < group.registry.n; i++)
            CHECK(group.registry.device[i]->is_present);
        gtel_group_done(&group);
    }
    CHECK_INT(fault.open_files, 0);
    gtel_env_tree_done(&env);
    return missing;
}

/*
 * What fails is there again in the next gather, and shares, which take two, in the one after it.
 * What is said to be gone, or not to be for us, is looked for less often; of a file that is said
 * not to exist that may be the last word until the device comes again.
 */
static void walk_call(struct walk *walk, uint64_t k, uint64_t n)
{
    static const int broken[] = {-EIO, -EMFILE, -EAGAIN};
    static const int denied[] = {-ENODEV, -EACCES, -ENOENT, -ESRCH, -EPERM};
    int error = broken[n % GTEL_ARRAY_LEN(broken)];
    CHECK(live(walk, k, error, true) <= 1);
    error = denied[n % GTEL_ARRAY_LEN(denied)];
    unsigned missing = live(walk, k, error, false);
    CHECK(missing < REST || error == -ENOENT);
}

static void walk_machine(const char *name)
{
    static struct walk walk;
    char error[200];
    char label[128];
    char *text = machine_text(name);
    walk = (struct walk){0};
    gtel_options_init(&walk.options);
    if (!CHECK(text) ||
        !CHECK(gtel_option_set(&walk.options, GTEL_O_RESCAN, GTEL_STR("100ms"), error,
                               sizeof(error)) == 0) ||
        !CHECK(gtel_tree_parse(gtel_str_of(text), &walk.tree, error, sizeof(error)) == 0))
        return;
    test_label = name;
    (void)live(&walk, 0, 0, true);
    CHECK(walk.calls > 100 && walk.truth[GATHERS + REST - 1].n > 3);
    uint64_t stride = walk.calls * walk.calls / COST_MAX + 1;
    for (uint64_t k = 1; k <= walk.calls; k += stride) {
        if (!test_is_mine())
            continue;
        (void)snprintf(label, sizeof(label), "%s, call %llu of %llu", name, (unsigned long long)k,
                       (unsigned long long)walk.calls);
        test_label = label;
        walk_call(&walk, k, k / stride);
    }
    test_label = "";
    gtel_tree_free(walk.tree);
    free(text);
}

int main(int argc, char **argv)
{
    static char names[MACHINES_MAX][MACHINE_NAME_MAX];
    test_split(&argc, argv);
    size_t n = machine_names(names);
    for (size_t i = 0; i < n; i++)
        if (gtel_str_starts(gtel_str_of(names[i]), GTEL_STR("clients-")))
            walk_machine(names[i]);
    return test_result();
}
