/* SPDX-License-Identifier: MIT */
/* Energy of processes in whole contexts: of the program, and of the plugin of the processes. */
#include "base/compiler.h"
#include "gtel.h"
#include "harness/fixtures.h"
#include "harness/test.h"
#include "recording/tree.h"

#include <stdlib.h>
#include <string.h>

enum { GATHERS = 9, POINTS_MAX = 200 };

static const uint64_t second_ns = 1000000000u;

struct point {
    char process[32];
    uint64_t wall_ns;
    double joules;
};

struct machine {
    struct gtel_tree *tree;
    struct gtel_env env;
    struct gtel_options options;
    struct gtel_sink sink;
    struct gtel_context *context;
    uint64_t wall_ns;
    bool is_open; /* between begin and end */
    bool is_emitted[GTEL_M_COUNT];
    struct point point[POINTS_MAX];
    size_t n;
};

static void on_begin(void *arg, uint64_t wall_ns)
{
    struct machine *machine = arg;
    CHECK(!machine->is_open);
    machine->is_open = true;
    machine->wall_ns = wall_ns;
}

static void on_put(void *arg, const struct gtel_reading *reading, enum gtel_aspect aspect)
{
    struct machine *machine = arg;
    CHECK(machine->is_open);
    machine->is_emitted[reading->metric] = true;
    if (reading->metric != GTEL_M_PROCESS_JOULES || aspect != GTEL_ASPECT_VALUE ||
        !CHECK(machine->n < POINTS_MAX))
        return;
    struct point *point = &machine->point[machine->n++];
    (void)gtel_str_copy(point->process, sizeof(point->process), reading->dim[0]);
    point->wall_ns = machine->wall_ns;
    point->joules = gtel_reading_number(reading);
}

static void on_end(void *arg)
{
    struct machine *machine = arg;
    CHECK(machine->is_open);
    machine->is_open = false;
}

static void set(struct machine *machine, enum gtel_option id, const char *text)
{
    char error[128];
    CHECK_INT(gtel_option_set(&machine->options, id, gtel_str_of(text), error, sizeof(error)), 0);
}

/* In which gather the time of day is set back; -1: in none. */
static int set_back_at = -1;
static uint64_t set_back_ns;
static uint64_t (*tree_wall_ns)(void *);

static uint64_t wall_ns(void *arg)
{
    return tree_wall_ns(arg) - set_back_ns;
}

/* Gathers each second, the first one without being emitted, as the program does. */
static void play(struct machine *machine, const char *text, const char *vendor, const char *energy,
                 const char *sample)
{
    char error[128];
    *machine = (struct machine){.sink = {machine, on_begin, on_put, on_end}};
    gtel_options_init(&machine->options);
    set(machine, GTEL_O_PROCESS_ENERGY, energy);
    set(machine, GTEL_O_SAMPLE_INTERVAL, sample);
    struct gtel_setup setup = {.env = &machine->env,
                               .options = &machine->options,
                               .sink = &machine->sink,
                               .vendor = vendor,
                               .interval_ns = second_ns};
    if (!CHECK(gtel_tree_parse(gtel_str_of(text), &machine->tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(machine->tree, true, 0, &machine->env) == 0) ||
        !CHECK(gtel_context_new(&setup, &machine->context) == 0))
        return;
    struct gtel_env_ops ops = *machine->env.ops;
    tree_wall_ns = ops.wall_ns;
    ops.wall_ns = wall_ns;
    machine->env.ops = &ops;
    gtel_context_sample(machine->context, 0);
    for (int i = 0; i < GATHERS; i++) {
        set_back_ns = i == set_back_at ? 3600 * second_ns : set_back_ns;
        gtel_env_tree_step(&machine->env, second_ns);
        gtel_context_gather(machine->context);
    }
    CHECK(!machine->is_open);
    gtel_context_free(machine->context);
    gtel_env_tree_done(&machine->env);
    gtel_tree_free(machine->tree);
    set_back_ns = 0;
}

/* The growth of all lines from their first point to their last one. */
static double growth(const struct machine *machine)
{
    double sum = 0;
    for (size_t i = 0; i < machine->n; i++) {
        const struct point *first = &machine->point[i];
        const struct point *last = first;
        bool is_first = true;
        for (size_t k = 0; k < machine->n; k++) {
            const struct point *point = &machine->point[k];
            if (strcmp(point->process, first->process) != 0)
                continue;
            is_first = is_first && k >= i;
            CHECK(k <= i || point->wall_ns > first->wall_ns);
            last = point;
        }
        sum += is_first ? last->joules - first->joules : 0;
    }
    return sum;
}

static void test_vendors(const char *text)
{
    static struct machine all;
    static struct machine clients;
    static struct machine without;
    static struct machine folded;
    test_label = "all sources";
    play(&all, text, NULL, "on", "0s");
    CHECK(all.n > 30);
    CHECK_NEAR(growth(&all), 1000, 1e-9); /* 6200 J at 9 s, 5200 J at 1 s */
    test_label = "the plugin of the processes";
    play(&clients, text, "clients", "on", "0s");
    play(&without, text, "clients", "off", "0s");
    CHECK_INT(clients.n, all.n);
    for (size_t i = 0; i < all.n && i < clients.n; i++) {
        CHECK_STR(gtel_str_of(clients.point[i].process), all.point[i].process);
        CHECK_NEAR(clients.point[i].joules, all.point[i].joules, 1e-9);
        CHECK(clients.point[i].wall_ns == all.point[i].wall_ns);
    }
    CHECK_INT(without.n, 0);
    for (size_t i = 0; i < GTEL_M_COUNT; i++) /* what it reads besides, it keeps to itself */
        CHECK(!clients.is_emitted[i] || without.is_emitted[i] || i == GTEL_M_PROCESS_JOULES);
    test_label = "several samples in an interval";
    play(&folded, text, NULL, "on", "500ms");
    CHECK_NEAR(growth(&folded), 1000, 1e-9);
    test_label = "other plugins";
    play(&without, text, "intel", "on", "0s");
    CHECK_INT(without.n, 0); /* they know no processes */
    test_label = "";
}

/* The line of a process that is there from 3 s on begins with 0 at 2 s. */
static void test_begin(const char *text)
{
    static struct machine machine;
    test_label = "a new line";
    play(&machine, text, NULL, "on", "0s");
    size_t n = 0;
    uint64_t first_ns = machine.n > 0 ? machine.point[0].wall_ns : 0;
    for (size_t i = 0; i < machine.n; i++) {
        const struct point *point = &machine.point[i];
        if (strcmp(point->process, "late") != 0)
            continue;
        CHECK(n > 0 || (point->joules == 0 && point->wall_ns == first_ns + second_ns));
        CHECK(n != 1 || (point->joules > 0 && point->wall_ns == first_ns + 2 * second_ns));
        n++;
    }
    CHECK(n > 2);
    test_label = "";
}

/* The same while the clock is set back by an hour: 0 lies a second before what follows. */
static void test_set_back(const char *text)
{
    static struct machine machine;
    const struct point *begin = NULL;
    size_t i = 0;
    test_label = "a new line, and an earlier clock";
    set_back_at = 2;
    play(&machine, text, NULL, "on", "0s");
    set_back_at = -1;
    for (; i < machine.n; i++) {
        if (strcmp(machine.point[i].process, "late") != 0)
            continue;
        if (begin)
            break;
        begin = &machine.point[i];
    }
    if (CHECK(begin && i < machine.n)) {
        CHECK_NEAR(begin->joules, 0, 0);
        CHECK(machine.point[i].joules > 0);
        CHECK(machine.point[i].wall_ns == begin->wall_ns + second_ns);
    }
    test_label = "";
}

int main(void)
{
    char *text = machine_text("jobs");
    if (CHECK(text != NULL)) {
        test_vendors(text);
        test_begin(text);
        test_set_back(text);
    }
    free(text);
    return test_result();
}
