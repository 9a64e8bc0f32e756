/* SPDX-License-Identifier: MIT */
/*
 * The fault walk: on each recorded machine whose name begins with an argument, with all sources of
 * the kernel lane, outside calls fail in turn, one in each life of the lane. Nothing may crash,
 * leak or stay broken: after one interval more, everything is there as if nothing had failed.
 *
 *     test_intel_walk PREFIX... [PART PARTS]
 *
 * Each call of the first gathers fails, and a part of those while the machine's events happen: its
 * GPUs go, come back, sleep and hang. Of a machine of very many calls, for many cards, fewer fail;
 * but of each kind of call the first, the last and one between, on every machine.
 */
#include "lanes/group.h"
#include "harness/env_fault.h"
#include "recording/tree.h"
#include "harness/source_harness.h"
#include "harness/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    START_GATHERS = 3,
    WITHIN = 0,         /* gathers that may lack something after the one with the fault */
    SAMPLED_WITHIN = 3, /* until that is, too */
    REST_GATHERS = SAMPLED_WITHIN + 1,
    START_STEP_MS = 100,
    EVENTS_STEP_MS = 500,
    EVENTS_MAX_MS = 10000, /* of a machine whose files only go on growing */
    GATHERS_MAX = EVENTS_MAX_MS / EVENTS_STEP_MS + REST_GATHERS + 1,
    OPS = FAULT_DRM_FDS + 1,
    COST_MAX =
        800000 /* calls in all lives of a walk, about; more are made for the kinds of calls */
};

/* After the last of them nothing need be as before: a file that is not there is no fault. */
static const int errors[] = {-EIO, -ENODEV, -EACCES, -EMFILE, -ENOENT};

/* What a gather has brought. */
struct outcome {
    uint64_t readings; /* a hash over them */
    uint64_t sampled;  /* the same over engines of xe, which are measured after a gather that has
                          seen work: three gathers after the one that finds the GPU */
    uint64_t
        learned; /* the same over energies and fans: what they report depends on what was seen */
    /*
     * The same over throttling and levels of amdgpu, which are not compared: a reason shows once it
     * has been in force, and levels are read at each discovery. Nor are devices that are wedged.
     */
    uint64_t kept;
    uint64_t present; /* sum over the keys of devices that are there */
    uint64_t resting; /* the same of those that are left alone so that they can fall asleep */
    uint64_t calls;   /* made until its end, since the start */
};

struct walk {
    const char *name;
    struct gtel_tree *tree;
    struct gtel_options options;
    size_t gathers;
    size_t walked; /* in the first gathers; the others are for recovery */
    uint64_t step_ms;
    struct outcome outcome[GATHERS_MAX]; /* without a fault */
    uint64_t logs;
    uint8_t *op; /* of each call, from 1 */
    size_t ops;
    uint64_t of[OPS];     /* calls of each kind */
    uint64_t failed[OPS]; /* that were made to fail */
};

/*
 * Of the key of a reading, and of the value of a gauge. Counters that a source extends itself may
 * begin elsewhere after a fault.
 */
static uint64_t hash_reading(const struct gtel_reading *reading)
{
    const struct gtel_metric_row *row = gtel_metric_row((enum gtel_metric)reading->metric);
    uint64_t h = gtel_hash(GTEL_HASH_SEED, reading->device->key, strlen(reading->device->key));
    h = gtel_hash(h, &reading->metric, sizeof(reading->metric));
    for (size_t d = 0; d < GTEL_DIMS_MAX; d++)
        h = gtel_hash(h, reading->dim[d].p, reading->dim[d].n);
    double value = gtel_reading_number(reading);
    bool is_gauge = row->kind == GTEL_KIND_GAUGE || row->kind == GTEL_KIND_STATE;
    return is_gauge ? gtel_hash(h, &value, sizeof(value)) : h;
}

/* The sum that a reading belongs to. */
static uint64_t *sum_of(const struct gtel_reading *reading, struct outcome *outcome)
{
    enum gtel_metric metric = (enum gtel_metric)reading->metric;
    if (metric == GTEL_M_GPU_ENERGY || metric == GTEL_M_ENERGY || metric == GTEL_M_FAN_RPM)
        return &outcome->learned;
    bool is_amd = strcmp(reading->device->label[GTEL_LABEL_DRIVER], "amdgpu") == 0;
    if (is_amd && (metric == GTEL_M_GPU_THROTTLED || metric == GTEL_M_FREQUENCY_HARDWARE_MIN ||
                   metric == GTEL_M_FREQUENCY_HARDWARE_MAX ||
                   gtel_metric_row(metric)->measurement == GTEL_MEASUREMENT_GPU_THROTTLE))
        return &outcome->kept;
    /* Known from a message alone, which is lost when it cannot be read. */
    if (metric == GTEL_M_ERROR_COUNT && (gtel_str_eq(reading->dim[0], GTEL_STR("wedged")) ||
                                         gtel_str_eq(reading->dim[0], GTEL_STR("hang"))))
        return &outcome->kept;
    bool is_engine = gtel_metric_row(metric)->measurement == GTEL_MEASUREMENT_GPU_ENGINE;
    bool is_xe = strcmp(reading->device->label[GTEL_LABEL_DRIVER], "xe") == 0;
    return is_engine && is_xe ? &outcome->sampled : &outcome->readings;
}

/* Hashes over all readings, in any order. */
static void hash_batch(const struct gtel_batch *batch, struct outcome *outcome)
{
    for (size_t i = 0; i < batch->n; i++) {
        const struct gtel_reading *reading = &batch->reading[i];
        *sum_of(reading, outcome) += hash_reading(reading);
    }
}

static void record(void *arg, enum fault_op op, const char *path)
{
    struct walk *walk = arg;
    (void)path;
    if (op == FAULT_PMU_CLOSE)
        return;
    if (walk->ops % 1024 == 0) {
        uint8_t *more = realloc(walk->op, walk->ops + 1024 + 1);
        if (!CHECK(more))
            return;
        walk->op = more;
    }
    walk->op[++walk->ops] = (uint8_t)op;
    walk->of[op]++;
}

static struct outcome gather(struct gtel_group *group, struct gtel_env *env, uint64_t step_ms,
                             const struct env_fault *fault)
{
    struct outcome outcome = {0};
    gtel_group_sample(group);
    hash_batch(&group->batch, &outcome);
    outcome.calls = fault->calls;
    for (size_t i = 0; i < group->registry.n; i++) { /* a fault may change their order */
        const struct gtel_device *device = group->registry.device[i];
        uint64_t h = gtel_hash(GTEL_HASH_SEED, device->key, strlen(device->key));
        outcome.resting += device->is_left_alone ? h : 0;
        outcome.present += device->is_present ? h : 0;
    }
    gtel_env_tree_step(env, step_ms * 1000000);
    uint64_t due = gtel_group_due(group);
    if (due > 0 && due <= gtel_env_now(env))
        gtel_group_tick(group);
    return outcome;
}

/* Beyond the gathers in which something may still be missing, all is as if nothing had failed. */
static void compare(const struct walk *walk, int error, size_t gather, size_t failed_in,
                    const struct outcome *outcome)
{
    const struct outcome *whole = &walk->outcome[gather];
    if (outcome->resting != whole->resting)
        return; /* how long a GPU is left alone depends on what was seen of it before */
    bool is_due = failed_in > gather || gather > failed_in + WITHIN;
    bool is_sample_due = failed_in > gather || gather > failed_in + SAMPLED_WITHIN;
    /*
     * A GPU that said that it is gone has begun a new life. A counter that stands still is known to
     * do so one gather after it was read first.
     */
    bool is_learned_due = error != -ENODEV && (failed_in > gather || gather > failed_in + 1);
    if (!CHECK(!is_due || outcome->readings == whole->readings) ||
        !CHECK(!is_learned_due || outcome->learned == whole->learned) ||
        !CHECK(!is_due || outcome->present == whole->present) ||
        !CHECK(!is_sample_due || outcome->sampled == whole->sampled))
        printf("in gather %zu, failed in %zu\n", gather, failed_in);
}

/* One life of the lane in which call k fails (0: none). Returns the gather in which it did. */
static void live(struct walk *walk, uint64_t k, int error)
{
    static struct env_fault fault;
    struct gtel_group group;
    struct gtel_env env;
    gtel_tree_seek(walk->tree, 0);
    if (!CHECK(gtel_env_tree_init(walk->tree, true, 0, &env) == 0))
        return;
    env_fault_init(&fault, &env);
    env_fault_arm(&fault, k, error);
    fault.watch = k == 0 ? record : NULL;
    fault.watch_arg = walk;
    size_t failed_in = GATHERS_MAX;
    if (CHECK(gtel_group_init(&group, "kernel", &fault.env, &walk->options) == 0)) {
        for (size_t i = 0; i < walk->gathers && i <= failed_in + REST_GATHERS; i++) {
            struct outcome outcome = gather(&group, &env, walk->step_ms, &fault);
            if (fault.has_failed && failed_in > i)
                failed_in = i;
            if (k == 0)
                walk->outcome[i] = outcome;
            else if (error != -ENOENT)
                compare(walk, error, i, failed_in, &outcome);
        }
        uint64_t logs = fault.logs[GTEL_LOG_WARNING] + fault.logs[GTEL_LOG_ERROR];
        walk->logs = k == 0 ? logs : walk->logs;
        CHECK(k == 0 || fault.has_failed);
        CHECK(logs <= walk->logs + 2); /* said once, or once by the source and once by the group */
        gtel_group_done(&group);
    }
    CHECK_INT(fault.open_files, 0);
    fault.watch_arg = NULL; /* they end with this life */
    fault.inner = NULL;
    gtel_env_tree_done(&env);
}

/* Whether call k is the first, the last or the middle one of its kind. */
static bool is_mark(const struct walk *walk, uint64_t k, const uint64_t *seen)
{
    uint64_t n = walk->of[walk->op[k]];
    uint64_t at = seen[walk->op[k]];
    return at == 1 || at == n || at == (n + 1) / 2;
}

/* Chosen by a hash: a step of even width would meet the same kind of call again and again. */
static bool is_chosen(uint64_t k, uint64_t stride)
{
    return stride <= 1 || gtel_hash(GTEL_HASH_SEED, &k, sizeof(k)) % stride == 0;
}

static void fail_in_turn(struct walk *walk)
{
    char label[128];
    uint64_t seen[OPS] = {0};
    uint64_t calls = walk->outcome[walk->walked - 1].calls;
    uint64_t stride = calls * walk->outcome[walk->gathers - 1].calls / COST_MAX + 1;
    uint64_t lives = 0;
    memset(walk->of, 0, sizeof(walk->of));
    for (uint64_t k = 1; k <= calls; k++)
        walk->of[walk->op[k]]++;
    for (uint64_t k = 1; k <= calls; k++) {
        seen[walk->op[k]]++;
        if (!is_chosen(k, stride) && !is_mark(walk, k, seen))
            continue;
        walk->failed[walk->op[k]]++;
        int error = errors[lives++ % (sizeof(errors) / sizeof(errors[0]))];
        (void)snprintf(label, sizeof(label), "%s, %llu ms, call %llu of %llu with %d", walk->name,
                       (unsigned long long)walk->step_ms, (unsigned long long)k,
                       (unsigned long long)calls, error);
        test_label = label;
        if (test_is_mine())
            live(walk, k, error);
    }
    test_label = walk->name;
    printf("%s, %llu ms: %llu of %llu calls failed\n", walk->name,
           (unsigned long long)walk->step_ms, (unsigned long long)lives, (unsigned long long)calls);
    for (int op = 0; op < OPS; op++)
        CHECK(walk->of[op] == 0 || walk->failed[op] > 0);
}

static void walk_machine(const char *name, struct gtel_tree *tree, size_t walked, uint64_t step_ms)
{
    struct walk walk = {.name = name,
                        .tree = tree,
                        .gathers = walked + REST_GATHERS,
                        .walked = walked,
                        .step_ms = step_ms};
    char error[200];
    gtel_options_init(&walk.options);
    test_label = name;
    if (CHECK(gtel_option_set(&walk.options, GTEL_O_RESCAN, GTEL_STR("100ms"), error,
                              sizeof(error)) == 0)) {
        live(&walk, 0, 0);
        CHECK(walk.ops > 20);
        fail_in_turn(&walk);
    }
    test_label = "";
    free(walk.op);
}

static void walk_both(const char *name)
{
    char error[200];
    struct gtel_tree *tree = NULL;
    char *text = machine_text(name);
    if (!CHECK(text) ||
        !CHECK(gtel_tree_parse(gtel_str_of(text), &tree, error, sizeof(error)) == 0)) {
        free(text);
        return;
    }
    walk_machine(name, tree, START_GATHERS, START_STEP_MS);
    uint64_t ms = gtel_tree_duration(tree) / 1000000 + 2 * EVENTS_STEP_MS;
    ms = ms > EVENTS_MAX_MS ? EVENTS_MAX_MS : ms;
    walk_machine(name, tree, ms / EVENTS_STEP_MS + 1, EVENTS_STEP_MS);
    gtel_tree_free(tree);
    free(text);
}

int main(int argc, char **argv)
{
    static char names[MACHINES_MAX][MACHINE_NAME_MAX];
    test_split(&argc, argv);
    size_t n = machine_names(names);
    for (int a = 1; a < argc; a++) {
        size_t walked = 0;
        for (size_t i = 0; i < n; i++)
            if (gtel_str_starts(gtel_str_of(names[i]), gtel_str_of(argv[a]))) {
                walk_both(names[i]);
                walked++;
            }
        CHECK(walked > 0);
    }
    return test_result();
}
