/* SPDX-License-Identifier: MIT */
/*
 * What one failing call costs: on a recorded machine, each outside call of the first gathers fails
 * in turn, once in each life of a whole context, and what that life reports is compared with a life
 * without a fault. One failing call costs its own values only, for a short time, and no other value
 * changes.
 *
 *     test_fault_costs OUT STRIDE MACHINE [OPTION VALUE]...
 *
 * OUT gets the costs as text (harness/costs.h), equal ones together, in the order of the calls. Of
 * the calls, one in STRIDE fails: the same ones whatever else is called.
 */
#include "harness/costs.h"
#include "harness/env_fault.h"
#include "harness/fixtures.h"
#include "harness/test.h"
#include "harness/tree_child.h"
#include "harness/tree_library.h"
#include "harness/tree_stall.h"
#include "recording/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FAILED_GATHERS = 3, /* in which calls fail: the one at the start, and two more */
    REST_GATHERS = COST_GATHERS - FAILED_GATHERS,
    CALLS_MAX = 8192,
    NAME_MAX_BYTES = 300,
    ERRORS_N = 4
};

#define SECOND UINT64_C(1000000000)

/* Each call fails with the first of them, and with another one. */
static const int errors[ERRORS_N] = {-EIO, -ENODEV, -EACCES, -ENOENT};
static const char *const error_names[ERRORS_N] = {"EIO", "ENODEV", "EACCES", "ENOENT"};

/* An outside call. */
struct call {
    char *name; /* "read 0000:03:00.0/power/runtime_status" */
    size_t gather;
};

/* A call that failed. */
struct fault {
    size_t call;
    size_t error; /* in errors */
    char *cost;
    bool is_counted;
    bool is_written;
};

struct machine {
    struct gtel_tree *tree;
    struct gtel_options options;
    struct call call[CALLS_MAX + 1]; /* from 1 */
    size_t calls;
    struct fault fault[CALLS_MAX];
    size_t faults;
    bool has_answer; /* the present fault is one */
    struct env_fault env;
    struct costs costs;
};

static struct machine machine;

/* ---- calls ---- */

/* A path from the last PCI address on: those before it are bridges. */
static const char *short_path(const char *path)
{
    const char *from = path;
    for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/'))
        if (strlen(p) > 13 && p[5] == ':' && p[8] == ':' && p[11] == '.' && p[13] == '/')
            from = p + 1;
    return from;
}

static void record(void *arg, enum fault_op op, const char *path)
{
    static const char *const words[] = {
        [FAULT_OPEN] = "open",     [FAULT_READ] = "read",     [FAULT_LIST] = "list",
        [FAULT_LINK] = "readlink", [FAULT_EXISTS] = "exists", [FAULT_STAT] = "stat",
        [FAULT_LIBRARY] = "load",  [FAULT_PMU] = "perf",      [FAULT_QUERY] = "query",
        [FAULT_STALL] = "stall",   [FAULT_UEVENT] = "uevent", [FAULT_RAS] = "ras",
        [FAULT_DRM_FDS] = "fds",   [FAULT_CHILD] = "tool",    [FAULT_CALL] = "call"};
    char name[NAME_MAX_BYTES];
    char pmu[GTEL_TREE_PMU_MAX] = "";
    (void)arg;
    if (op == FAULT_PMU_CLOSE || !CHECK(machine.calls < CALLS_MAX))
        return;
    if (op == FAULT_PMU)
        (void)gtel_tree_pmu_name(machine.env.inner, machine.env.pmu_type, pmu);
    (void)snprintf(name, sizeof(name), "%s %s", words[op],
                   op == FAULT_PMU ? pmu : short_path(path));
    struct call *call = &machine.call[++machine.calls];
    *call = (struct call){.gather = machine.costs.at};
    call->name = calloc(1, strlen(name) + 1);
    if (CHECK(call->name))
        memcpy(call->name, name, strlen(name));
}

/* ---- values that may differ ---- */

/* Why a value may differ in a life with a fault: of one origin, or of all. */
static const struct {
    enum gtel_metric metric;
    const char *origin;
    const char *why;
} excuses[] = {
    {GTEL_M_GPU_READINGS_FAILED, NULL, "it counts what fails"},
    {GTEL_M_SELF_ERRORS, NULL, "it counts what fails"},
    {GTEL_M_GPU_UP, NULL, "0: the GPU cannot be read"},
    {GTEL_M_INFO_METRICS_SOURCE, NULL, "it names the sources that work"},
    {GTEL_M_INFO_CARD, NULL, "another node of the same GPU"},
    {GTEL_M_INFO_MODES, NULL, "it names those that are known"},
    {GTEL_M_GPU_BUSY, NULL, "the busiest engine class of those that were ever read"},
    {GTEL_M_GPU_POWER, NULL, "the best domain of those that were ever read"},
    {GTEL_M_GPU_PROCESSES, "Level Zero",
     "without its start, a process that the library lists twice counts twice"},
    {GTEL_M_GPU_RESETS, "uevents", "messages are lost when they cannot be read"},
    {GTEL_M_ERROR_COUNT, "uevents", "messages are lost when they cannot be read"},
    {GTEL_M_GPU_PCIE_RX, "NVML GPM", "the source adds it up from when it works on"},
    {GTEL_M_GPU_PCIE_TX, "NVML GPM", "the source adds it up from when it works on"},
    {GTEL_M_ENGINE_BUSY_TIME, "sysfs (clients)", "the source adds it up from when it works on"},
};

/* That something is not there is no failure but an answer, and a wrong one here. */
static bool is_answer(const char *name, int error)
{
    return error == -ENOENT || error == -ENODEV ||
           gtel_str_starts(gtel_str_of(name), GTEL_STR("load ")) ||
           /* of another user's FUSE, which is no GPU; of a GPU that this container has not */
           (error == -EACCES &&
            (gtel_str_starts(gtel_str_of(name), GTEL_STR("stat ")) || strstr(name, "/kfd/")));
}

static bool is_excused(const struct cost_reading *reading)
{
    const struct gtel_source *source =
        reading->source == GTEL_SOURCE_CORE ? NULL : gtel_sources[reading->source];
    /* A tool's values are the mean of what it has written since the last gather. */
    if (machine.has_answer || (source && strcmp(source->name, "macmon") == 0))
        return true;
    for (size_t i = 0; i < sizeof(excuses) / sizeof(excuses[0]); i++)
        if (excuses[i].metric == reading->metric &&
            (!excuses[i].origin ||
             (source && strcmp(source->origins[reading->origin], excuses[i].origin) == 0)))
            return true;
    return false;
}

/* ---- lives ---- */

static void say(void *arg, enum gtel_log_level level, const char *text)
{
    (void)arg;
    costs_say(&machine.costs, level, text);
}

/* A second, with what sources ask for in it. */
static void step(struct gtel_env *env, struct gtel_context *context)
{
    uint64_t end_ns = gtel_env_now(env) + SECOND;
    for (;;) {
        uint64_t due_ns = gtel_context_due(context);
        uint64_t now_ns = gtel_env_now(env);
        if (due_ns == 0 || due_ns >= end_ns)
            break;
        gtel_env_tree_step(env, due_ns > now_ns ? due_ns - now_ns : 0);
        gtel_context_tick(context);
    }
    gtel_env_tree_step(env, end_ns - gtel_env_now(env));
}

/* All gathers until REST_GATHERS after the fault. Returns the number of the last one. */
static size_t gather_all(struct gtel_env *env, struct gtel_context *context)
{
    struct costs *costs = &machine.costs;
    size_t last = COST_GATHERS - 1;
    bool has_failed = false;
    for (size_t i = 0; i <= last; i++) {
        costs_next(costs, i);
        if (i > 0)
            step(env, context);
        gtel_context_set_findings(context, &costs->findings);
        if (i > 0)
            gtel_context_gather(context);
        else
            gtel_context_sample(context, 0);
        gtel_context_set_findings(context, NULL);
        costs_take_findings(costs);
        if (!has_failed && machine.env.has_failed)
            last = i + REST_GATHERS;
        has_failed = machine.env.has_failed;
    }
    return last;
}

/* One life in which call at (0: none) fails. Returns the number of its gathers. */
static size_t live(size_t at, int error)
{
    static struct gtel_env_ops ops;
    struct gtel_env env;
    struct gtel_context *context = NULL;
    struct gtel_sink sink = costs_sink(&machine.costs);
    size_t last = 0;
    gtel_tree_seek(machine.tree, 0);
    if (!CHECK(gtel_env_tree_init(machine.tree, true, 0, &env) == 0))
        return 0;
    tree_library_play(&env, machine.tree, TEST_PLAYED);
    tree_child_play(&env, machine.tree, &ops);
    tree_stall_play(&env, machine.tree);
    env_fault_init(&machine.env, &env);
    env_fault_arm(&machine.env, at, error);
    machine.env.has_players = true;
    machine.env.watch = at == 0 ? record : NULL;
    machine.env.said = say;
    costs_begin(&machine.costs, at == 0);
    const struct gtel_setup setup = {
        .env = &machine.env.env, .options = &machine.options, .sink = &sink, .interval_ns = SECOND};
    if (CHECK(gtel_context_new(&setup, &context) == 0)) {
        last = gather_all(&env, context);
        machine.env.watch = NULL;
        gtel_context_free(context);
    }
    CHECK(at == 0 || machine.env.has_failed);
    CHECK_INT(machine.env.open_files, 0);
    gtel_env_tree_done(&env);
    return last + 1;
}

static void fail(size_t at, size_t error)
{
    char label[NAME_MAX_BYTES + 40];
    struct fault *fault = &machine.fault[machine.faults];
    if (!CHECK(machine.faults < CALLS_MAX))
        return;
    (void)snprintf(label, sizeof(label), "%s in gather %zu with %s", machine.call[at].name,
                   machine.call[at].gather, error_names[error]);
    test_label = label;
    machine.has_answer = is_answer(machine.call[at].name, errors[error]);
    size_t gathers = live(at, errors[error]);
    struct gtel_str text = costs_text(&machine.costs, gathers, machine.call[at].gather);
    *fault = (struct fault){.call = at, .error = error, .cost = calloc(1, text.n + 1)};
    if (CHECK(fault->cost))
        (void)gtel_str_copy(fault->cost, text.n + 1, text);
    machine.faults++;
    test_label = "";
}

/* Calls of libraries have one error; the same calls are chosen, whatever comes before them. */
static void fail_in_turn(uint64_t stride)
{
    for (size_t at = 1; at <= machine.calls; at++) {
        const struct call *call = &machine.call[at];
        uint64_t hash = gtel_fnv(GTEL_HASH_SEED, call->name, strlen(call->name));
        bool has_errno = !gtel_str_starts(gtel_str_of(call->name), GTEL_STR("call ")) &&
                         !gtel_str_starts(gtel_str_of(call->name), GTEL_STR("load "));
        if (call->gather >= FAILED_GATHERS || (hash + call->gather) % stride != 0)
            continue;
        fail(at, 0);
        if (has_errno)
            fail(at, 1 + hash / stride % 3);
    }
}

/* ---- the text ---- */

static bool is_alike(const struct fault *a, const struct fault *b)
{
    return !b->is_written && a->cost && b->cost && strcmp(a->cost, b->cost) == 0;
}

/* The gathers in which a call of that name had this cost with that error. */
static void write_gathers(FILE *out, const struct fault *fault, size_t error)
{
    const char *name = machine.call[fault->call].name;
    size_t last = COST_GATHERS;
    for (size_t i = 0; i < machine.faults; i++) {
        struct fault *other = &machine.fault[i];
        const struct call *call = &machine.call[other->call];
        if (other->error != error || strcmp(call->name, name) != 0 || !is_alike(fault, other))
            continue;
        if (call->gather != last)
            (void)fprintf(out, "%s%zu", last == COST_GATHERS ? " " : ",", call->gather);
        last = call->gather;
        other->is_counted = true;
    }
    if (last != COST_GATHERS)
        (void)fprintf(out, " %s", error_names[error]);
}

static void write_calls(FILE *out, const struct fault *fault)
{
    const char *name = machine.call[fault->call].name;
    (void)fprintf(out, "%s:", name);
    for (size_t e = 0; e < ERRORS_N; e++)
        write_gathers(out, fault, e);
    (void)fprintf(out, "\n");
    for (size_t i = 0; i < machine.faults; i++)
        machine.fault[i].is_written |= machine.fault[i].is_counted;
}

static void write_costs(FILE *out, const char *name, uint64_t stride)
{
    (void)fprintf(
        out,
        "# %s: what one failing call costs; one of %llu calls fails.\n"
        "# CALL: the gathers in which it failed, and with what; then what that cost, the\n"
        "# gather with the fault being +0; then what is logged and reported by doctor.\n",
        name, (unsigned long long)stride);
    for (size_t i = 0; i < machine.faults; i++) {
        const struct fault *fault = &machine.fault[i];
        if (fault->is_written)
            continue;
        for (size_t j = i; j < machine.faults; j++)
            if (j == i || is_alike(fault, &machine.fault[j]))
                write_calls(out, &machine.fault[j]);
        (void)fprintf(out, "%s\n", fault->cost && fault->cost[0] ? fault->cost : "    nothing\n");
    }
}

/* ---- the program ---- */

static bool set_options(int argc, char **argv)
{
    char error[200] = "";
    gtel_options_init(&machine.options);
    bool is_set =
        gtel_option_set(&machine.options, GTEL_O_RESCAN, GTEL_STR("2s"), error, sizeof(error)) == 0;
    for (int i = 0; is_set && i + 1 < argc; i += 2) {
        enum gtel_option option = gtel_option_find(gtel_str_of(argv[i]), GTEL_OPTION_EXECD);
        is_set = gtel_option_set(&machine.options, option, gtel_str_of(argv[i + 1]), error,
                                 sizeof(error)) == 0;
    }
    if (!is_set)
        printf("%s\n", error);
    return is_set;
}

static void forget_all(void)
{
    for (size_t i = 0; i <= machine.calls; i++)
        free(machine.call[i].name);
    for (size_t i = 0; i < machine.faults; i++)
        free(machine.fault[i].cost);
    costs_done(&machine.costs);
    gtel_tree_free(machine.tree);
}

int main(int argc, char **argv)
{
    char error[200] = "";
    char *text = argc > 3 ? machine_text(argv[3]) : NULL;
    uint64_t stride = 1;
    if (!CHECK(text) || !CHECK(gtel_str_u64(gtel_str_of(argv[2]), &stride) == 0 && stride > 0) ||
        !CHECK(set_options(argc - 4, argv + 4)) ||
        !CHECK(gtel_tree_parse(gtel_str_of(text), &machine.tree, error, sizeof(error)) == 0))
        return 1;
    free(text);
    machine.costs.is_excused = is_excused;
    (void)live(0, 0);
    CHECK(machine.calls > 20);
    fail_in_turn(stride);
    FILE *out = fopen(argv[1], "w");
    if (CHECK(out)) {
        write_costs(out, argv[3], stride);
        CHECK(fclose(out) == 0);
    }
    printf("%zu calls, %zu lives\n", machine.calls, machine.faults);
    forget_all();
    return test_result();
}
