/* SPDX-License-Identifier: MIT */
/*
 * Source wddm_clients: many processes without an allocation, GPUs that are not to be touched, bad
 * text, and the fault walk: what fails costs values, never makes wrong ones.
 */
#include "harness/alloc_fault.h"
#include "harness/readings.h"
#include "harness/source_lane.h"
#include "harness/test.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define ENGINES "file windows/counters/978C167D-4764-4D9C-9824-14747351DC81\n"
#define MEMORY "file windows/counters/F802502B-77B4-4713-81B3-3BE05759DA5D\n"

enum { TEXT_SIZE = 4 << 20, GPUS = 4, PROCESSES = 200, STATES = 8, GATHERS = 4, REST = 4 };

static char text[TEXT_SIZE];
static size_t length;

static void put(const char *fmt, ...) GTEL_PRINTF(1, 2);

static void put(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    length += (size_t)vsnprintf(text + length, sizeof(text) - length, fmt, args);
    va_end(args);
}

/* Each process works for 1 ms of each second on engine 0 of each GPU, and never on engine 1. */
static void put_machine(unsigned gpus, unsigned processes)
{
    length = 0;
    for (unsigned p = 1; p <= processes; p++)
        put("file proc/%u/stat\n| %u (p%u.exe) S 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 %u\n", p, p,
            p % 10, 1000 + p);
    for (unsigned t = 0; t < STATES; t++) {
        if (t > 0)
            put("at %us\n", t);
        put(ENGINES "| clock %u000000000\n", 100 + t);
        for (unsigned p = 1; p <= processes; p++)
            for (unsigned g = 1; g <= gpus; g++)
                put("| 1:%u pid_%u_luid_0x0_0x%x_phys_0_eng_0_engtype_3D\n"
                    "| 1:0 pid_%u_luid_0x0_0x%x_phys_0_eng_1_engtype_Copy\n",
                    (t + p) * 10000, p, g, p, g);
        put(MEMORY "| clock %u000000000\n", 100 + t);
        for (unsigned p = 1; p <= processes; p++)
            for (unsigned g = 1; g <= gpus; g++)
                put("| 1:3000 2:1000 3:200 4:2000 5:100 pid_%u_luid_0x0_0x%x_phys_0\n", p, g);
    }
    put("end\n");
}

static void put_gpus(struct gtel_registry *registry, unsigned gpus)
{
    for (unsigned g = 1; g <= gpus; g++) {
        struct gtel_device *device;
        char key[32];
        (void)snprintf(key, sizeof(key), "0000:%02x:00.0", g);
        if (CHECK(gtel_registry_add(registry, gtel_str_of(key), &device) == 0))
            device->luid = g;
    }
}

static void test_many(void)
{
    struct lane lane;
    put_machine(GPUS, PROCESSES);
    if (!CHECK(length < TEXT_SIZE - 1) ||
        !CHECK(lane_init_in(&lane, "kernel", text, "wddm_clients")))
        return;
    put_gpus(&lane.group.registry, GPUS);
    for (unsigned i = 0; i < STATES; i++) {
        alloc_fault_arm(0);
        gtel_group_sample(&lane.group);
        if (i >= 4)
            CHECK_INT(alloc_fault_count(), 0);
        lane_step(&lane, 1000);
    }
    const struct gtel_reading *busy = lane_find(&lane, GTEL_M_ENGINE_BUSY, "render", NULL);
    const struct gtel_reading *line = lane_find(&lane, GTEL_M_PROCESS_MEMORY, "p3.exe", NULL);
    const struct gtel_reading *render = lane_find(&lane, GTEL_M_PROCESS_RENDER, "p3.exe", NULL);
    if (CHECK(busy && line && render)) {
        CHECK_NEAR(busy->value.f64, 0.001 * PROCESSES, 1e-9);
        CHECK(line->value.u64 == 1000 * PROCESSES / 10);
        CHECK_NEAR(render->value.f64, 0.001 * PROCESSES / 10, 1e-9);
    }
    lane_done(&lane);
}

/* Neither a GPU that sleeps, nor an adapter that is none: the counters are not even read. */
static void test_left_alone(void)
{
    struct lane lane;
    put_machine(1, 3);
    if (!CHECK(lane_init_in(&lane, "kernel", text, "wddm_clients")))
        return;
    gtel_group_sample(&lane.group);
    CHECK_INT(lane.group.batch.n, 0);
    put_gpus(&lane.group.registry, 1);
    lane.group.registry.device[0]->is_left_alone = true;
    for (int i = 0; i < 3; i++) {
        uint64_t calls = lane.fault->calls;
        gtel_group_sample(&lane.group);
        CHECK_INT(lane.group.batch.n, 0);
        CHECK_INT(lane.fault->calls, calls);
        lane_step(&lane, 1000);
    }
    lane.group.registry.device[0]->is_left_alone = false;
    gtel_group_sample(&lane.group);
    CHECK(lane_find(&lane, GTEL_M_PROCESS_MEMORY, "p1.exe", NULL));
    CHECK(!lane_find(&lane, GTEL_M_ENGINE_BUSY, NULL, NULL)); /* first: no difference */
    lane_done(&lane);
}

static void life(struct env_fault *fault, struct gathered *learned, const struct gathered *truth,
                 uint64_t at, int error)
{
    struct gtel_tree *tree;
    struct gtel_env env;
    struct gtel_options options;
    struct gtel_group group;
    char why[200];
    gtel_options_init(&options);
    if (!CHECK(gtel_option_set(&options, GTEL_O_RESCAN, GTEL_STR("100ms"), why, sizeof(why)) ==
               0) ||
        !CHECK(gtel_tree_parse(gtel_str_of(text), &tree, why, sizeof(why)) == 0))
        return;
    CHECK_INT(gtel_option_set(&options, GTEL_O_SOURCES, GTEL_STR("wddm_clients"), why, sizeof(why)),
              0);
    CHECK_INT(gtel_env_tree_init(tree, true, 0, &env), 0);
    env_fault_init(fault, &env);
    CHECK_INT(gtel_group_init(&group, "kernel", &fault->env, &options), 0);
    put_gpus(&group.registry, 1);
    env_fault_arm(fault, at, error);
    for (unsigned i = 0; i < GATHERS + REST; i++) {
        gtel_group_sample(&group);
        if (learned)
            gathered_take(&learned[i], &group.batch);
        for (size_t k = 0; truth && k < group.batch.n; k++) {
            const struct gtel_reading *reading = &group.batch.reading[k];
            double want =
                gathered_value(&truth[i], gathered_key(reading, (enum gtel_metric)reading->metric));
            const struct gtel_metric_row *row = gtel_metric_row((enum gtel_metric)reading->metric);
            if (row->kind == GTEL_KIND_RATIO && want >= 0)
                CHECK_NEAR(gtel_reading_number(reading), want, 1e-9);
        }
        if (truth && i == GATHERS + REST - 1)
            CHECK_INT(group.batch.n, truth[i].n);
        gtel_env_tree_step(&env, 1000000000);
    }
    gtel_group_done(&group);
    CHECK_INT(fault->open_files, 0);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
}

static void test_walk(void)
{
    static const int errors[] = {-EIO, -EACCES, -ENOENT, -ENODATA, -EMFILE};
    static struct gathered truth[GATHERS + REST];
    static struct env_fault fault;
    char label[64];
    put_machine(1, 3);
    life(&fault, truth, NULL, 0, 0);
    CHECK(truth[1].n > 10 && fault.calls > 20);
    uint64_t calls = fault.calls / 2; /* those of the first half; the others show the recovery */
    for (uint64_t at = 1; at <= calls; at++)
        for (size_t e = 0; e < GTEL_ARRAY_LEN(errors); e++) {
            (void)snprintf(label, sizeof(label), "call %u, error %d", (unsigned)at, errors[e]);
            test_label = label;
            life(&fault, NULL, truth, at, errors[e]);
        }
    test_label = "";
}

int main(void)
{
    test_many();
    test_left_alone();
    test_walk();
    return test_result();
}
