/* SPDX-License-Identifier: MIT */
/*
 * Never wakes, the two commands: on every recorded machine with a GPU that sleeps, at every second
 * of it, `gtel doctor` and `gtel capture` do nothing that would wake a GPU while it sleeps, and no
 * longer than a burst what keeps one awake.
 */
#include "execd/capture.h"
#include "execd/doctor.h"
#include "harness/env_fault.h"
#include "recording/tree.h"
#include "harness/source_harness.h"
#include "harness/wake_watch.h"
#include "harness/test.h"

#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 16 << 20, SECONDS_MAX = 12 };

static const uint64_t half_ns = 500000000;

/* A machine from some second on. */
struct life {
    struct gtel_tree *tree;
    struct gtel_env env;
    struct env_fault fault;
    struct wakes wakes;
    struct gtel_options options;
};

static bool life_init(struct life *life, uint64_t start_ns)
{
    gtel_options_init(&life->options);
    gtel_tree_seek(life->tree, 0);
    if (!CHECK(gtel_env_tree_init(life->tree, true, 0, &life->env) == 0))
        return false;
    gtel_env_tree_step(&life->env, start_ns);
    env_fault_init(&life->fault, &life->env);
    wakes_init(&life->wakes, &life->fault);
    wakes_look(&life->wakes, &life->env);
    return true;
}

static void life_done(struct life *life)
{
    wakes_check(&life->wakes);
    CHECK_INT(life->fault.open_files, 0);
    gtel_env_tree_done(&life->env);
}

/* Lets time go on, and checks which cards sleep by then. */
static void go_to(void *arg, uint64_t t_ns)
{
    struct life *life = arg;
    uint64_t now_ns = gtel_env_now(&life->env);
    gtel_env_tree_step(&life->env, t_ns > now_ns ? t_ns - now_ns : 0);
    wakes_look(&life->wakes, &life->env);
}

/* The same with what sources ask for in between. */
static void pass(struct life *life, struct gtel_context *context, uint64_t ns)
{
    uint64_t end_ns = gtel_env_now(&life->env) + ns;
    for (;;) {
        uint64_t due_ns = gtel_context_due(context);
        if (due_ns == 0 || due_ns >= end_ns)
            break;
        go_to(life, due_ns);
        gtel_context_tick(context);
    }
    go_to(life, end_ns);
}

/* As the program does it: three looks in a second, then the report. */
static void examine(struct life *life, struct gtel_doctor *doctor)
{
    const struct gtel_sink sink = gtel_doctor_sink(doctor);
    const struct gtel_setup setup = {.env = &life->fault.env,
                                     .options = &life->options,
                                     .sink = &sink,
                                     .interval_ns = 2 * half_ns};
    struct gtel_buf report;
    if (!CHECK(gtel_context_new(&setup, &doctor->context) == 0))
        return;
    doctor->env = &life->fault.env;
    doctor->options = &life->options;
    gtel_context_sample(doctor->context, 0);
    pass(life, doctor->context, half_ns);
    gtel_context_sample(doctor->context, 0);
    pass(life, doctor->context, half_ns);
    gtel_buf_init(&report, TEXT_MAX);
    (void)gtel_doctor_report(doctor, false, &report);
    CHECK(report.n > 100);
    gtel_buf_done(&report);
    gtel_context_free(doctor->context);
}

static uint64_t check_doctor(struct life *life, uint64_t start_ns)
{
    struct gtel_doctor doctor;
    if (!life_init(life, start_ns))
        return 0;
    if (CHECK(gtel_doctor_init(&doctor) == 0)) {
        life->fault.env.log = gtel_doctor_log(&doctor);
        examine(life, &doctor);
        gtel_doctor_done(&doctor);
    }
    life_done(life);
    return life->wakes.seen_asleep;
}

static uint64_t check_capture(struct life *life, uint64_t start_ns)
{
    struct gtel_capture capture = {.options = &life->options,
                                   .go_to = go_to,
                                   .arg = life,
                                   .grain_ns = 1,
                                   .interval_ns = 2 * half_ns,
                                   .count = 4};
    struct gtel_buf record;
    if (!life_init(life, start_ns))
        return 0;
    capture.env = &life->fault.env;
    capture.log = life->fault.env.log;
    gtel_buf_init(&record, TEXT_MAX);
    CHECK_INT(gtel_capture_run(&capture, &record), 0);
    CHECK(record.n > 1000);
    gtel_buf_done(&record);
    life_done(life);
    return life->wakes.seen_asleep;
}

/* Returns how often a card was seen asleep. */
static uint64_t check_machine(const char *name)
{
    static struct life life;
    char label[MACHINE_NAME_MAX + 32];
    char error[200];
    uint64_t asleep = 0;
    char *text = machine_text(name);
    bool sleeps = CHECK(text) && strstr(text, "| suspend");
    if (sleeps &&
        CHECK(gtel_tree_parse(gtel_str_of(text), &life.tree, error, sizeof(error)) == 0)) {
        uint64_t end = gtel_tree_duration(life.tree) / (2 * half_ns);
        for (uint64_t s = 0; s <= end && s < SECONDS_MAX; s++) {
            (void)snprintf(label, sizeof(label), "%s at %u s", name, (unsigned)s);
            test_label = label;
            asleep += check_doctor(&life, s * 2 * half_ns);
            asleep += check_capture(&life, s * 2 * half_ns);
        }
        gtel_tree_free(life.tree);
    }
    test_label = "";
    free(text);
    return asleep;
}

int main(void)
{
    static char names[MACHINES_MAX][MACHINE_NAME_MAX];
    uint64_t asleep = 0;
    size_t n = machine_names(names);
    for (size_t i = 0; i < n; i++)
        asleep += check_machine(names[i]);
    CHECK(asleep > 20);
    return test_result();
}
