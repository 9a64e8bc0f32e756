/* SPDX-License-Identifier: MIT */
/*
 * Source wddm_clients: many processes without an allocation, GPUs that are not to be touched, bad
 * text, and the fault walk: what fails costs values, never makes wrong ones.
 */
#include "harness/alloc_fault.h"
#include "harness/findings.h"
#include "harness/readings.h"
#include "harness/source_lane.h"
#include "harness/test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        uint64_t calls = lane.fault->calls;
        alloc_fault_arm(0);
        gtel_group_sample(&lane.group);
        if (i >= 4)
            CHECK_INT(alloc_fault_count(), 0);
        /* The start of a process is read once, not for each of its GPUs. */
        CHECK(i == 0 || lane.fault->calls - calls <= 2 * PROCESSES + 2);
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

#define HUGE_UNITS "184467440737095516" /* of 100 ns: the most that is a number of ns */
#define MORE_UNITS "184467440737095517"

/* When a process started, s seconds after the first gather: units of 100 ns since 1601. */
#define START(s) (UINT64_C(134116992000000000) + UINT64_C(10000000) * (s))

/* What a process has worked on a render engine of the one GPU, each second; NULL: it has nothing.
 */
static const struct work_case {
    const char *label;
    const char *units[4]; /* of 100 ns */
    uint64_t start[4];    /* another process when it is another one */
    double share[4];      /* of the process; -1: not known */
    double busy[4];       /* of the engine, beside 10 % by another process: 1 at most */
} works[] = {
    {"works",
     {"1000000", "3000000", "3000000", "13000000"},
     {50, 50, 50, 50},
     {-1, 0.2, 0, 1},
     {-1, 0.3, 0.1, 1}},
    {"a little more than all of the time",
     {"0", "10500000", "21000001", "21000001"},
     {50, 50, 50, 50},
     {-1, 1, -1, 0},
     {-1, 1, -1, 0.1}},
    {"comes without work",
     {NULL, "0", "5000000", "5000000"},
     {50, 50, 50, 50},
     {-1, 0, 0.5, 0},
     {-1, 0.1, 0.6, 0.1}},
    {"comes with work",
     {NULL, "1", "5000001", "5000001"},
     {50, 50, 50, 50},
     {-1, -1, 0.5, 0},
     {-1, -1, 0.6, 0.1}},
    {"starts in between and works",
     {NULL, "2000000", "5000000", "5000000"},
     {0, START(0) + 2, START(0) + 2, START(0) + 2},
     {-1, 0.2, 0.3, 0},
     {-1, 0.3, 0.4, 0.1}},
    {"starts just before the last gather",
     {NULL, "2000000", "5000000", "5000000"},
     {0, START(0), START(0), START(0)},
     {-1, -1, 0.3, 0},
     {-1, -1, 0.4, 0.1}},
    {"starts in this moment",
     {NULL, "2000000", "5000000", "5000000"},
     {0, START(1), START(1), START(1)},
     {-1, 0.2, 0.3, 0},
     {-1, 0.3, 0.4, 0.1}},
    {"starts later, by another clock",
     {NULL, "2000000", "5000000", "5000000"},
     {0, START(1) + 1, START(1) + 1, START(1) + 1},
     {-1, -1, 0.3, 0},
     {-1, -1, 0.4, 0.1}},
    {"did more than it had time for",
     {NULL, "10500001", "10500001", "10500001"},
     {0, START(0) + 2, START(0) + 2, START(0) + 2},
     {-1, -1, 0, 0},
     {-1, -1, 0.1, 0.1}},
    {"its number is used again, in between",
     {"1000000", "2000000", "3000000", "4000000"},
     {50, 50, START(1) + 2, START(1) + 2},
     {-1, 0.1, 0.3, 0.1},
     {-1, 0.2, 0.4, 0.2}},
    {"its number is used again",
     {"1000000", "2000000", "3000000", "4000000"},
     {50, 50, 60, 60},
     {-1, 0.1, -1, 0.1},
     {-1, 0.2, -1, 0.2}},
    {"ends at work",
     {"1000000", "2000000", NULL, NULL},
     {50, 50, 50, 50},
     {-1, 0.1, -1, -1},
     {-1, 0.2, -1, 0.1}},
    {"ends idle",
     {"1000000", "1000000", NULL, NULL},
     {50, 50, 50, 50},
     {-1, 0, -1, -1},
     {-1, 0.1, 0.1, 0.1}},
    {"the largest number",
     {HUGE_UNITS, HUGE_UNITS, HUGE_UNITS, HUGE_UNITS},
     {50, 50, 50, 50},
     {-1, 0, 0, 0},
     {-1, 0.1, 0.1, 0.1}},
    {"too large a number",
     {MORE_UNITS, MORE_UNITS, MORE_UNITS, MORE_UNITS},
     {50, 50, 50, 50},
     {-1, -1, -1, -1},
     {-1, -1, -1, -1}},
};

/* Each second in another order. */
static void put_work(const struct work_case *work)
{
    length = 0;
    put("file proc/6/stat\n| 6 (other.exe) S 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 40\n");
    for (unsigned t = 0; t < 4; t++) {
        if (t > 0)
            put("at %us\n", t);
        put("file proc/5/stat\n| 5 (this.exe) S 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 %" PRIu64 "\n",
            work->start[t]);
        put(ENGINES "| clock %u000000000\n", 100 + t);
        for (unsigned i = 0; i < 3; i++) {
            unsigned line = (t + i) % 3;
            if (line == 0)
                put("| 1:%u pid_6_luid_0x0_0x1_phys_0_eng_0_engtype_3D\n", t * 1000000);
            else if (line == 1 && work->units[t])
                put("| 1:%s pid_5_luid_0x0_0x1_phys_0_eng_0_engtype_3D\n", work->units[t]);
            else if (line == 2)
                put("| 1:%u pid_6_luid_0x0_0x1_phys_0_eng_1_engtype_Copy\n", t * 3000000);
        }
    }
    put("end\n");
}

static double value_of(const struct lane *lane, enum gtel_metric metric, const char *dim)
{
    const struct gtel_reading *got = lane_find(lane, metric, dim, NULL);
    return got ? gtel_reading_number(got) : -1;
}

static void test_works(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(works); i++) {
        struct lane lane;
        test_label = works[i].label;
        put_work(&works[i]);
        if (!CHECK(lane_init_in(&lane, "kernel", text, "wddm_clients")))
            return;
        put_gpus(&lane.group.registry, 1);
        for (unsigned t = 0; t < 4; t++) {
            gtel_group_sample(&lane.group);
            CHECK_NEAR(value_of(&lane, GTEL_M_PROCESS_RENDER, "this.exe"), works[i].share[t], 1e-9);
            CHECK_NEAR(value_of(&lane, GTEL_M_PROCESS_RENDER, "other.exe"), t == 0 ? -1 : 0.1,
                       1e-9);
            CHECK_NEAR(value_of(&lane, GTEL_M_PROCESS_COPY, "other.exe"), t == 0 ? -1 : 0.3, 1e-9);
            CHECK_NEAR(value_of(&lane, GTEL_M_ENGINE_BUSY, "render"), works[i].busy[t], 1e-9);
            /* All engines are known, or none is reported. */
            CHECK_NEAR(value_of(&lane, GTEL_M_ENGINE_BUSY, "copy"), works[i].busy[t] < 0 ? -1 : 0.3,
                       1e-9);
            /* Another gather too soon knows nothing of them, and leaves the next one its bases. */
            gtel_group_sample(&lane.group);
            CHECK(!lane_find(&lane, GTEL_M_PROCESS_RENDER, NULL, NULL));
            CHECK(!lane_find(&lane, GTEL_M_ENGINE_BUSY, NULL, NULL));
            lane_step(&lane, 1000);
        }
        lane_done(&lane);
    }
    test_label = "";
}

static int64_t read_too_much(void *arg, int handle, void *buf, size_t n)
{
    (void)arg;
    (void)handle;
    (void)buf;
    (void)n;
    return -E2BIG;
}

/* After a gather without values of engines the next one begins again. */
static void test_begins_again(void)
{
    static const double want[] = {-1, 0.001, -1, -1, 0.001};
    for (int is_left_alone = 0; is_left_alone < 2; is_left_alone++) {
        struct lane lane;
        test_label = is_left_alone ? "left alone" : "an error";
        put_machine(1, 3);
        length -= strlen("end\n");
        put("at 20s\n" ENGINES "| clock 120000000000\nend\n");
        if (!CHECK(lane_init_in(&lane, "kernel", text, "wddm_clients")))
            return;
        put_gpus(&lane.group.registry, 1);
        struct gtel_env_ops failing = *lane.fault->env.ops;
        const struct gtel_env_ops *working = lane.fault->env.ops;
        failing.file_read = read_too_much;
        for (size_t t = 0; t < GTEL_ARRAY_LEN(want); t++) {
            lane.group.registry.device[0]->is_left_alone = is_left_alone && t == 2;
            lane.fault->env.ops = !is_left_alone && t == 2 ? &failing : working;
            gtel_group_sample(&lane.group);
            CHECK_NEAR(value_of(&lane, GTEL_M_PROCESS_RENDER, "p2.exe"), want[t], 1e-9);
            CHECK_NEAR(value_of(&lane, GTEL_M_ENGINE_BUSY, "render"),
                       want[t] < 0 ? -1 : 3 * want[t], 1e-9);
            lane_step(&lane, 1000);
        }
        lane_done(&lane);
    }
    test_label = "";
}

/* What a process that works ends with is not known, in a gather that follows too soon, either. */
static void test_ends_between(void)
{
    static const double want[] = {-1, 0.3, -1, -1, 0.1};
    static const unsigned steps[] = {1000, 1, 999, 1000, 1000};
    struct lane lane;
    length = 0;
    put("file proc/5/stat\n| 5 (this.exe) S 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 40\n");
    put("file proc/6/stat\n| 6 (other.exe) S 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 40\n");
    for (unsigned t = 0, ms = 0; t < GTEL_ARRAY_LEN(steps); ms += steps[t++]) {
        if (t > 0)
            put("at %ums\n", ms);
        put(ENGINES "| clock %u000000\n", 100000 + ms);
        put("| 1:%u pid_6_luid_0x0_0x1_phys_0_eng_0_engtype_3D\n", ms * 1000);
        if (t < 2)
            put("| 1:%u pid_5_luid_0x0_0x1_phys_0_eng_0_engtype_3D\n", ms * 2000);
    }
    put("end\n");
    if (!CHECK(lane_init_in(&lane, "kernel", text, "wddm_clients")))
        return;
    put_gpus(&lane.group.registry, 1);
    for (size_t t = 0; t < GTEL_ARRAY_LEN(steps); t++) {
        gtel_group_sample(&lane.group);
        CHECK_NEAR(value_of(&lane, GTEL_M_ENGINE_BUSY, "render"), want[t], 1e-9);
        lane_step(&lane, steps[t]);
    }
    lane_done(&lane);
}

/* Memory of a process, in the counters of one adapter or of two. */
static void test_memory(void)
{
    static const struct {
        const char *label;
        const char *counters[2];
        double memory;
        double system;
        double allocated;
    } cases[] = {
        {"all of it", {"2:1000 3:200 4:2000", NULL}, 1000, 200, 2000},
        {"two adapters of a GPU", {"2:1000 3:200 4:2000", "2:10 3:2 4:20"}, 1010, 202, 2020},
        {"all that was committed is resident", {"2:1000 3:200 4:1000", NULL}, 1000, 200, 1000},
        {"a GPU without memory of its own", {"2:1000 3:200 4:999", NULL}, 1000, -1, -1},
        {"it is not known what was committed", {"2:1000 3:200", NULL}, 1000, -1, -1},
        {"it is not known what is resident", {"3:200 4:2000", NULL}, -1, 200, 2000},
        {"the other one's is not known", {"2:1000 3:200 4:2000", "3:2 4:20"}, -1, 202, 2020},
        {"nothing", {"2:0 3:0 4:0", NULL}, 0, 0, 0},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct lane lane;
        test_label = cases[i].label;
        length = 0;
        put("file proc/5/stat\n| 5 (this.exe) S 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 40\n");
        put(MEMORY "| clock 100000000000\n");
        for (unsigned phys = 0; phys < 2 && cases[i].counters[phys]; phys++)
            put("| %s pid_5_luid_0x0_0x1_phys_%u\n", cases[i].counters[phys], phys);
        put("end\n");
        if (!CHECK(lane_init_in(&lane, "kernel", text, "wddm_clients")))
            return;
        put_gpus(&lane.group.registry, 1);
        gtel_group_sample(&lane.group);
        CHECK_NEAR(value_of(&lane, GTEL_M_PROCESS_MEMORY, "this.exe"), cases[i].memory, 0);
        CHECK_NEAR(value_of(&lane, GTEL_M_PROCESS_MEMORY_SYSTEM, "this.exe"), cases[i].system, 0);
        CHECK_NEAR(value_of(&lane, GTEL_M_PROCESS_MEMORY_ALLOCATED, "this.exe"), cases[i].allocated,
                   0);
        lane_done(&lane);
    }
    test_label = "";
}

/* What is said of sets that cannot be read. */
static void test_diagnose(void)
{
#define FIX                                                                                        \
    "performance counters may be switched off, or damaged: lodctr /Q shows it, lodctr /R makes "   \
    "them again (both as administrator)"
#define SOURCE_OF(error) "wddm_clients: " error ": the source does not work; it is tried again: "
#define SOURCE SOURCE_OF("5")
#define ENGINE_SET "counter set GPU Engine: 5: : " FIX
#define MEMORY_SET "counter set GPU Process Memory: 5: : " FIX
    static const char *const says[4][3] = {{NULL},
                                           {SOURCE, ENGINE_SET, NULL},
                                           {SOURCE, MEMORY_SET, NULL},
                                           {SOURCE, ENGINE_SET, MEMORY_SET}};
    for (unsigned bad = 0; bad < 4; bad++) { /* a bit for each set */
        struct gtel_findings findings = {0};
        struct lane lane;
        test_label = bad == 0 ? "both sets" : bad == 3 ? "none" : "one of them";
        put_machine(1, 3);
        length -= strlen("end\n");
        put("at 20s\n");
        if ((bad & 1) != 0)
            put("error windows/counters/978C167D-4764-4D9C-9824-14747351DC81 EIO\n");
        if ((bad & 2) != 0)
            put("error windows/counters/F802502B-77B4-4713-81B3-3BE05759DA5D EIO\n");
        put("end\n");
        if (!CHECK(lane_init_in(&lane, "kernel", text, "wddm_clients")))
            return;
        put_gpus(&lane.group.registry, 1);
        gtel_group_sample(&lane.group);
        lane_step(&lane, 20000);
        gtel_group_sample(&lane.group);
        gtel_group_diagnose(&lane.group, &findings);
        check_findings(&findings, says[bad], 3);
        gtel_findings_done(&findings);
        lane_done(&lane);
    }
    test_label = "";
}

/* The same of a Windows that lacks both sets, and of one that does not let this user have them. */
static void test_no_sets(void)
{
#define RIGHT                                                                                      \
    "run gtel as administrator or as LocalSystem, or add its user to the group Performance "       \
    "Monitor Users"
    static const struct {
        const char *text;
        const char *says[3];
    } cases[] = {
        {"",
         {"counter set GPU Engine: 2: : " FIX, "counter set GPU Process Memory: 2: : " FIX, NULL}},
        {"error windows/counters/978C167D-4764-4D9C-9824-14747351DC81 EACCES\n"
         "error windows/counters/F802502B-77B4-4713-81B3-3BE05759DA5D EACCES\n",
         {"wddm_clients: 13: the source does not work; it is tried again: ",
          "counter set GPU Engine: 13: : " RIGHT, "counter set GPU Process Memory: 13: : " RIGHT}}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_findings findings = {0};
        struct lane lane;
        length = 0;
        put("file System32/setupapi.dll\n%send\n", cases[i].text);
        if (!CHECK(lane_init_in(&lane, "kernel", text, "wddm_clients")))
            return;
        put_gpus(&lane.group.registry, 1);
        gtel_group_sample(&lane.group);
        gtel_group_diagnose(&lane.group, &findings);
        check_findings(&findings, cases[i].says, 3);
        gtel_findings_done(&findings);
        lane_done(&lane);
    }
}

/* Sets that are longer than any that is read, and no memory for one: each is said. */
static void test_no_room(void)
{
    static const char *const says[2][3] = {
        {SOURCE_OF("12"), "counter set GPU Engine: 12: : " FIX, NULL},
        {SOURCE_OF("7"), "counter set GPU Engine: 7: : " FIX,
         "counter set GPU Process Memory: 7: : " FIX}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(says); i++) {
        struct gtel_findings findings = {0};
        struct lane lane;
        test_label = i == 0 ? "no memory" : "too long";
        put_machine(1, 3);
        if (!CHECK(lane_init_in(&lane, "kernel", text, "wddm_clients")))
            return;
        put_gpus(&lane.group.registry, 1);
        struct gtel_env_ops ops = *lane.fault->env.ops;
        if (i == 1)
            ops.file_read = read_too_much;
        lane.fault->env.ops = &ops;
        alloc_fault_arm(i == 0 ? 1 : 0);
        gtel_group_sample(&lane.group);
        alloc_fault_arm(0);
        gtel_group_diagnose(&lane.group, &findings);
        check_findings(&findings, says[i], 3);
        gtel_findings_done(&findings);
        lane_done(&lane);
    }
    test_label = "";
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
    static const int errors[] = {-EIO, -EACCES, -ENOENT, -ENODATA, -EMFILE, -E2BIG};
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
    test_works();
    test_begins_again();
    test_ends_between();
    test_memory();
    test_diagnose();
    test_no_sets();
    test_no_room();
    test_walk();
    return test_result();
}
