/* SPDX-License-Identifier: MIT */
/* The energy of a GPU, split among processes: cases by hand, and that no joule is lost or made. */
#include "pipeline/attribution.h"
#include "harness/alloc_fault.h"
#include "harness/test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { READER = 3, DRIVER = 5, LINES_MAX = 24 };

struct known {
    const char *key, *gpu, *part;
};

struct machine {
    struct gtel_registry registry;
    struct gtel_series_table table;
    struct gtel_attribution attribution;
    uint64_t section;
    uint64_t gather;
};

static void begin_with(struct machine *m, const struct known *devices, size_t n)
{
    *m = (struct machine){.attribution.readers = 1u << READER};
    for (size_t i = 0; i < n; i++) {
        struct gtel_device *device = NULL;
        CHECK_INT(gtel_registry_add(&m->registry, gtel_str_of(devices[i].key), &device), 0);
        gtel_device_label(&m->registry, device, GTEL_LABEL_GPU, gtel_str_of(devices[i].gpu));
        gtel_device_label(&m->registry, device, GTEL_LABEL_INSTANCE, gtel_str_of(devices[i].part));
    }
    m->section = 1;
}

/* GPUs 0 and 1, and two parts of GPU 1. */
static void begin(struct machine *m)
{
    static const struct known devices[] = {
        {"a", "a", ""}, {"b", "b", ""}, {"b1", "b", "mig0"}, {"b2", "b", "mig1"}};
    begin_with(m, devices, GTEL_ARRAY_LEN(devices));
}

static void end(struct machine *m)
{
    gtel_attribution_done(&m->attribution);
    gtel_series_done(&m->table);
    gtel_registry_done(&m->registry);
}

/* device below 0: of the program itself. */
static void put(struct machine *m, int device, enum gtel_metric metric, const char *line,
                double value, uint8_t source)
{
    struct gtel_reading reading = {.device = device < 0 ? NULL : m->registry.device[device],
                                   .metric = (uint16_t)metric,
                                   .value_type = GTEL_VALUE_F64,
                                   .value.f64 = value,
                                   .source = source,
                                   .origin = 2,
                                   .has_device_clock = true,
                                   .dim = {gtel_str_of(line)}};
    if (metric == GTEL_M_PROCESS_COUNT) {
        reading.value_type = GTEL_VALUE_U64;
        reading.value.u64 = (uint64_t)value;
    }
    CHECK(gtel_series_offer(&m->table, &reading, 0, m->section, m->gather) != NULL);
}

/* With the mean of an engine over the interval, which says of the source that it takes means. */
static void put_mean(struct machine *m, int device, double busy)
{
    const struct gtel_reading engine = {.device = m->registry.device[device],
                                        .metric = GTEL_M_ENGINE_BUSY,
                                        .value_type = GTEL_VALUE_F64,
                                        .value.f64 = busy,
                                        .source = DRIVER,
                                        .is_derived = true,
                                        .dim = {GTEL_STR("render")}};
    put(m, device, GTEL_M_GPU_BUSY, "", busy, DRIVER);
    CHECK(gtel_series_offer(&m->table, &engine, 0, m->section, m->gather) != NULL);
}

/* share below 0: not known. */
static void put_line(struct machine *m, int device, const char *name, double share)
{
    put(m, device, GTEL_M_PROCESS_COUNT, name, 1, READER);
    if (share >= 0)
        put(m, device, GTEL_M_PROCESS_BUSY, name, share, READER);
}

static void put_lists(struct machine *m, int first, int last, double readable)
{
    for (int i = first; i <= last; i++)
        put(m, i, GTEL_M_GPU_PROCESSES, "", 1, READER);
    put(m, -1, GTEL_M_SELF_PROCESSES_VISIBLE, "", 100, READER);
    put(m, -1, GTEL_M_SELF_PROCESSES_READABLE, "", readable, READER);
}

static void run(struct machine *m, bool has_slept)
{
    const struct gtel_attribution_sample sample = {.registry = &m->registry,
                                                   .section = m->section,
                                                   .gather = m->gather,
                                                   .has_slept = has_slept};
    CHECK_INT(gtel_attribution_run(&m->attribution, &m->table, &sample), 0);
    gtel_series_age(&m->table, m->gather, m->gather * 1000000000);
    m->gather++;
    m->section += 2; /* one of what the program says of itself */
}

/* The counter of a line; below 0: there is none. */
static double get(const struct machine *m, int device, const char *line)
{
    for (size_t i = 0; i < m->table.n; i++) {
        const struct gtel_series *series = m->table.sorted[i];
        if (series->now.metric == GTEL_M_PROCESS_JOULES &&
            series->now.device == m->registry.device[device] &&
            gtel_str_eq(series->now.dim[0], gtel_str_of(line)))
            return gtel_reading_number(&series->now);
    }
    return -1;
}

/* One interval of 100 J, after one that was the same. */
static const struct attribution_case {
    const char *label;
    double busy; /* below 0: not known */
    struct {
        const char *name; /* NULL: no more lines */
        double share;     /* below 0: not known */
        double want;      /* joules of the second interval */
    } line[3];
    double unattributed;
    double idle;
    double readable; /* of 100 processes */
    bool has_slept;
    bool is_asleep;
    bool is_part; /* the lines are of a part of GPU 1 */
} cases[] = {
    {"one that is known", 0.5, {{"a", 0.5, 50}}, 0, 50, 100, 0, 0, 0},
    {"two, all there is", 0.75, {{"a", 0.5, 50}, {"b", 0.25, 25}}, 0, 25, 100, 0, 0, 0},
    {"more than all", 0.5, {{"a", 0.5, 25}, {"b", 0.5, 25}}, 0, 50, 100, 0, 0, 0},
    {"full", 1, {{"a", 1, 50}, {"b", 1, 50}}, 0, 0, 100, 0, 0, 0},
    {"beyond full", 1.04, {{"a", 1, 100}}, 0, 0, 100, 0, 0, 0},
    {"one idle, one at work", 0.75, {{"a", 0, 0}, {"b", 0.5, 50}}, 25, 25, 100, 0, 0, 0},
    {"somebody else", 0.75, {{"a", 0.25, 25}}, 50, 25, 100, 0, 0, 0},
    {"somebody else, some may not be read", 0.75, {{"a", 0.25, 25}}, 50, 25, 50, 0, 0, 0},
    {"nobody", 0.25, {{NULL, 0, 0}}, 25, 75, 100, 0, 0, 0},
    {"nobody, idle", 0, {{NULL, 0, 0}}, 0, 100, 100, 0, 0, 0},
    {"idle lines", 0, {{"a", 0, 0}, {"b", 0, 0}}, 0, 100, 100, 0, 0, 0},
    {"a share that cannot be", 0, {{"a", 0.5, 0}}, 0, 100, 100, 0, 0, 0},
    {"one that is not known, alone", 0.75, {{"a", -1, 75}}, 0, 25, 100, 0, 0, 0},
    {"alone, some may not be read", 0.75, {{"a", -1, 0}}, 75, 25, 99, 0, 0, 0},
    {"one of two is not known", 0.75, {{"a", -1, 0}, {"b", 0.5, 0}}, 75, 25, 100, 0, 0, 0},
    {"the others are idle", 0.75, {{"c", 0, 0}, {"a", -1, 75}, {"b", 0, 0}}, 0, 25, 100, 0, 0, 0},
    {"two of three are not known",
     0.75,
     {{"a", -1, 0}, {"b", 0, 0}, {"c", -1, 0}},
     75,
     25,
     100,
     0,
     0,
     0},
    {"others are idle, some not read", 0.75, {{"a", -1, 0}, {"b", 0, 0}}, 75, 25, 99, 0, 0, 0},
    {"busy is not known", -1, {{"a", 0.5, 0}}, 100, 0, 100, 0, 0, 0},
    {"busy is not known, alone", -1, {{"a", -1, 0}}, 100, 0, 100, 0, 0, 0},
    {"the host has slept", 0.5, {{"a", 0.5, 0}}, 0, 100, 100, true, 0, 0},
    {"the GPU has fallen asleep", 0.5, {{"a", 0.5, 0}}, 0, 100, 100, 0, true, 0},
    {"other is a line", 0.5, {{"a", 0.25, 25}, {"other", 0.25, 25}}, 0, 50, 100, 0, 0, 0},
    {"a process called idle", 0.5, {{"idle", 0.5, 100}}, 0, 100, 100, 0, 0, 0},
    {"a process called unattributed", 0.75, {{"unattributed", 0.5, 75}}, 75, 25, 100, 0, 0, 0},
    {"a part, alone", 0.5, {{"a", 0.9, 50}}, 0, 50, 100, 0, 0, true},
    {"a part, two", 0.5, {{"a", 0.9, 0}, {"b", 0.1, 0}}, 50, 50, 100, 0, 0, true},
};

static void test_cases(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        const struct attribution_case *c = &cases[i];
        struct machine m;
        int gpu = c->is_part ? 1 : 0;
        int part = c->is_part ? 2 : 0;
        begin(&m);
        test_label = c->label;
        for (int round = 0; round < 3; round++) {
            for (size_t k = 0; k < GTEL_ARRAY_LEN(c->line) && c->line[k].name; k++)
                put_line(&m, part, c->line[k].name, c->line[k].share);
            put_lists(&m, 0, 3, c->readable);
            put(&m, gpu, GTEL_M_GPU_ENERGY, "", 1000 + 100 * round, DRIVER);
            if (c->busy >= 0)
                put_mean(&m, gpu, c->busy);
            m.registry.device[gpu]->is_asleep = c->is_asleep;
            run(&m, c->has_slept);
        }
        for (size_t k = 0; k < GTEL_ARRAY_LEN(c->line) && c->line[k].name; k++)
            CHECK_NEAR(get(&m, part, c->line[k].name), 2 * c->line[k].want, 1e-9);
        CHECK_NEAR(get(&m, gpu, "unattributed"), 2 * c->unattributed, 1e-9);
        CHECK_NEAR(get(&m, gpu, "idle"), 2 * c->idle, 1e-9);
        CHECK_NEAR(get(&m, gpu == 0 ? 1 : 0, "idle"), -1, 0); /* it has no energy */
        end(&m);
    }
    test_label = "";
}

/* Each GPU has its own energy and lines, whichever was found first; two have no label. */
static void test_apart(void)
{
    static const struct known devices[] = {
        {"b1", "b", "mig0"}, {"a", "a", ""}, {"b", "b", ""}, {"c", "", ""}, {"d", "", ""}};
    static const struct {
        int device; /* of the GPU, and of its line */
        int part;
        double share; /* below 0: not known */
        double joules;
        double line, unattributed, idle;
    } gpus[] = {{1, 1, 0.5, 100, 50, 0, 50},
                {2, 0, -1, 200, 100, 0, 100},
                {3, 3, 0.25, 400, 100, 100, 200},
                {4, 4, 0, 800, 0, 400, 400}};
    struct machine m;
    begin_with(&m, devices, GTEL_ARRAY_LEN(devices));
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < GTEL_ARRAY_LEN(gpus); i++) {
            put_line(&m, gpus[i].part, "p", gpus[i].share);
            put(&m, gpus[i].device, GTEL_M_GPU_ENERGY, "", gpus[i].joules * round, DRIVER);
            put_mean(&m, gpus[i].device, 0.5);
        }
        put_lists(&m, 0, 4, 100);
        run(&m, false);
    }
    for (size_t i = 0; i < m.table.n; i++) {
        const struct gtel_reading *now = &m.table.sorted[i]->now;
        if (now->metric == GTEL_M_PROCESS_JOULES)
            CHECK(now->is_derived && now->source == GTEL_SOURCE_CORE && now->origin == 0 &&
                  !now->has_device_clock);
    }
    for (size_t i = 0; i < GTEL_ARRAY_LEN(gpus); i++) {
        CHECK_NEAR(get(&m, gpus[i].part, "p"), 2 * gpus[i].line, 1e-9);
        CHECK_NEAR(get(&m, gpus[i].device, "unattributed"), 2 * gpus[i].unattributed, 1e-9);
        CHECK_NEAR(get(&m, gpus[i].device, "idle"), 2 * gpus[i].idle, 1e-9);
    }
    end(&m);
}

/*
 * A momentary share sees a process that works in bursts now as 1, then as 0: it gets the half that
 * it has worked for in any case, and no more than that.
 */
static void test_momentary(void)
{
    static const struct {
        double busy;
        double share[2];
        double want[2]; /* joules of 100 */
        double unattributed;
    } moments[] = {
        {0, {0.5, 0}, {50, 0}, 0},      {1, {0.5, 0}, {50, 0}, 50}, {0.1, {0.5, 0.25}, {50, 25}, 0},
        {0, {0.75, 0.75}, {50, 50}, 0}, {0, {0, 0}, {0, 0}, 0},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(moments); i++) {
        struct machine m;
        begin(&m);
        for (int round = 0; round < 2; round++) {
            put_line(&m, 0, "a", moments[i].share[0]);
            put_line(&m, 0, "b", moments[i].share[1]);
            put_lists(&m, 0, 3, 100);
            put(&m, 0, GTEL_M_GPU_ENERGY, "", 1000 + 100 * round, DRIVER);
            put(&m, 0, GTEL_M_GPU_BUSY, "", moments[i].busy, DRIVER);
            put(&m, 0, GTEL_M_ENGINE_BUSY, "", moments[i].busy, DRIVER); /* no mean, either */
            run(&m, false);
        }
        CHECK_NEAR(get(&m, 0, "a"), moments[i].want[0], 1e-9);
        CHECK_NEAR(get(&m, 0, "b"), moments[i].want[1], 1e-9);
        CHECK_NEAR(get(&m, 0, "unattributed"), moments[i].unattributed, 1e-9);
        end(&m);
    }
}

/* What the counter does between two gathers. */
static void test_counter(void)
{
    static const struct {
        const char *label;
        double joules; /* of the counter; below 0: none in this gather */
        uint8_t source;
        uint32_t arrivals;
        uint32_t sleeps;              /* of the GPU */
        bool has_slept;               /* the host */
        double a, unattributed, idle; /* of counters, afterwards */
    } steps[] = {
        {"the first", 500, DRIVER, 1, 0, false, 0, 0, 0},
        {"grows", 600, DRIVER, 1, 0, false, 50, 0, 50},
        {"stands", 600, DRIVER, 1, 0, false, 50, 0, 50},
        {"went back", 10, DRIVER, 1, 0, false, 50, 0, 50},
        {"grows from there", 30, DRIVER, 1, 0, false, 60, 0, 60},
        {"another counter", 5000, DRIVER + 1, 1, 0, false, 60, 0, 60},
        {"grows", 5020, DRIVER + 1, 1, 0, false, 70, 0, 70},
        {"removed and back, beyond", 9000, DRIVER + 1, 2, 0, false, 70, 0, 70},
        {"grows", 9020, DRIVER + 1, 2, 0, false, 80, 0, 80},
        {"not read", -1, DRIVER + 1, 2, 0, false, 80, 0, 80},
        {"shares are of the last interval only", 9040, DRIVER + 1, 2, 0, false, 80, 20, 80},
        {"asleep", -1, DRIVER + 1, 2, 1, false, 80, 20, 80},
        {"awake again", 9060, DRIVER + 1, 2, 1, false, 80, 20, 100},
        {"grows", 9080, DRIVER + 1, 2, 1, false, 90, 20, 110},
        {"the host has slept", 9100, DRIVER + 1, 2, 1, true, 90, 20, 130},
        {"grows", 9120, DRIVER + 1, 2, 1, false, 100, 20, 140},
    };
    struct machine m;
    begin(&m);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(steps); i++) {
        test_label = steps[i].label;
        m.registry.device[0]->arrivals = steps[i].arrivals;
        m.registry.device[0]->sleeps = steps[i].sleeps;
        put_line(&m, 0, "a", 0.5);
        put_lists(&m, 0, 3, 100);
        put(&m, 0, GTEL_M_GPU_BUSY, "", 0.5, DRIVER);
        if (steps[i].joules >= 0)
            put(&m, 0, GTEL_M_GPU_ENERGY, "", steps[i].joules, steps[i].source);
        run(&m, steps[i].has_slept);
        CHECK_NEAR(get(&m, 0, "a"), steps[i].a, 1e-9);
        CHECK_NEAR(get(&m, 0, "unattributed"), steps[i].unattributed, 1e-9);
        CHECK_NEAR(get(&m, 0, "idle"), steps[i].idle, 1e-9);
    }
    test_label = "";
    end(&m);
}

/*
 * What several samples of the first gather have grown by is before the first report. The readings
 * come in any order; a GPU without a list of processes has no lines.
 */
static void test_first_gather(void)
{
    struct machine m;
    begin(&m);
    for (int sample = 0; sample < 3; sample++) {
        m.gather = sample < 2 ? 0 : 1;
        for (int gpu = 0; gpu < 2; gpu++) {
            put(&m, gpu, GTEL_M_GPU_ENERGY, "", sample, 0);
            put_mean(&m, gpu, 0.5);
        }
        put(&m, 0, GTEL_M_PROCESS_COUNT, "b", 1, READER);
        put(&m, 0, GTEL_M_PROCESS_COUNT, "a", 1, READER);
        put(&m, 0, GTEL_M_PROCESS_BUSY, "b", 0.125, READER);
        put(&m, 0, GTEL_M_PROCESS_BUSY, "a", 0.25, READER);
        put_lists(&m, 0, 0, 100);
        run(&m, false);
        CHECK_NEAR(get(&m, 0, "a"), sample < 2 ? 0 : 0.25, 1e-9);
        CHECK_NEAR(get(&m, 0, "b"), sample < 2 ? 0 : 0.125, 1e-9);
        CHECK_NEAR(get(&m, 0, "unattributed"), sample < 2 ? 0 : 0.125, 1e-9);
        CHECK_NEAR(get(&m, 0, "idle"), sample < 2 ? 0 : 0.5, 1e-9);
        CHECK_NEAR(get(&m, 1, "idle"), -1, 0);
    }
    end(&m);
}

/*
 * A line has the GPU to itself only when it had it when energy was read before, too. Of a capital
 * letter is known that it is idle, but not what it has done before it ended.
 */
static void test_alone(void)
{
    static const char *const names[] = {"a",  "a",  "b", "b", "ab", "b", "bA",
                                        "bA", "Ab", "b", "b", "aB", "aB"};
    static const double want_a[] = {0, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 100};
    static const double want_b[] = {-1, -1, 0, 50, 50, 50, 100, 150, 200, 200, 250, 250, 250};
    struct machine m;
    begin(&m);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(names); i++) {
        test_label = names[i];
        for (const char *p = names[i]; *p; p++)
            put_line(&m, 0, *p == 'a' || *p == 'A' ? "a" : "b", *p < 'a' ? 0 : -1);
        put_lists(&m, 0, 3, 100);
        put(&m, 0, GTEL_M_GPU_BUSY, "", 0.5, DRIVER);
        put(&m, 0, GTEL_M_GPU_ENERGY, "", 100.0 * (double)i, DRIVER);
        run(&m, false);
        CHECK_NEAR(get(&m, 0, "a"), want_a[i], 1e-9);
        CHECK_NEAR(get(&m, 0, "b"), want_b[i], 1e-9);
    }
    test_label = "";
    end(&m);
}

/* A line may have the GPU to itself where all lists are there, and each process could be read. */
static void test_lists(void)
{
    static const struct {
        const char *label;
        double visible, readable; /* below 0: not known */
        int hidden;               /* the device whose list is missing once; -1: none */
        uint8_t source;           /* of the lists */
        double want;              /* of three intervals, 50 J each */
    } lists[] = {
        {"all are read", 100, 100, -1, READER, 150},
        {"the only one is read", 1, 1, -1, READER, 150},
        {"none is there", 0, 0, -1, READER, 0},
        {"how many are there is not known", -1, -1, -1, READER, 0},
        {"a driver knows all", -1, -1, -1, DRIVER, 150},
        {"the GPU's list is missing once", 100, 100, 1, READER, 50},
        {"that of its last part", 100, 100, 3, READER, 50},
        {"that of another GPU", 100, 100, 0, READER, 150},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(lists); i++) {
        struct machine m;
        test_label = lists[i].label;
        begin(&m);
        for (int round = 0; round < 4; round++) {
            put_line(&m, 1, "a", -1);
            for (int device = 0; device < 4; device++)
                if (round != 1 || device != lists[i].hidden)
                    put(&m, device, GTEL_M_GPU_PROCESSES, "", 1, lists[i].source);
            if (lists[i].visible >= 0) {
                put(&m, -1, GTEL_M_SELF_PROCESSES_VISIBLE, "", lists[i].visible, READER);
                put(&m, -1, GTEL_M_SELF_PROCESSES_READABLE, "", lists[i].readable, READER);
            }
            put(&m, -1, GTEL_M_SELF_PROCESSES_WAITING, "", 7, READER);
            put(&m, 1, GTEL_M_GPU_ENERGY, "", 1000 + 100 * round, DRIVER);
            put_mean(&m, 1, 0.5);
            run(&m, false);
        }
        CHECK_NEAR(get(&m, 1, "a"), lists[i].want, 1e-9);
        CHECK_NEAR(get(&m, 1, "unattributed"), 150 - lists[i].want, 1e-9);
        CHECK_NEAR(get(&m, 1, "idle"), 150, 1e-9);
        end(&m);
    }
    test_label = "";
}

/* Parts: the processes of one that never had a list are in that of the GPU. */
static void test_partitions(void)
{
    static const struct {
        const char *label;
        int parts[2]; /* so many have a list in the first round, and in the others */
        double want;  /* of 100 J */
    } cases_of[] = {{"never a list", {0, 0}, 100},
                    {"all have one", {2, 2}, 100},
                    {"one has lost its list", {2, 1}, 0},
                    {"all have lost theirs", {2, 0}, 0}};
    static const struct known devices[] = {{"a", "a", ""}, {"a0", "a", "0"}, {"a1", "a", "1"}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases_of); i++) {
        struct machine m;
        test_label = cases_of[i].label;
        begin_with(&m, devices, GTEL_ARRAY_LEN(devices));
        for (int round = 0; round < 3; round++) {
            put_line(&m, 0, "a", -1);
            put_lists(&m, 0, cases_of[i].parts[round > 0], 100);
            put(&m, 0, GTEL_M_GPU_ENERGY, "", 100 * round, DRIVER);
            put_mean(&m, 0, 0.5);
            run(&m, false);
        }
        CHECK_NEAR(get(&m, 0, "a"), cases_of[i].want, 1e-9);
        CHECK_NEAR(get(&m, 0, "unattributed"), 100 - cases_of[i].want, 1e-9);
        end(&m);
    }
    test_label = "";
}

/* What counts more than the GPU is nobody's, also of one line alone, and over a sleep. */
static void test_more(void)
{
    static const struct {
        const char *label;
        bool is_apart;
        double share; /* below 0: not known */
        bool has_slept;
        double line, unattributed, idle; /* of 100 J */
    } gpus[] = {
        {"of more than the GPU", true, 0.25, false, 0, 100, 0},
        {"the same, one line alone", true, -1, false, 0, 100, 0},
        {"the same, asleep", true, 0.25, true, 0, 100, 0},
        {"of the GPU", false, 0.25, false, 25, 25, 50},
        {"the same, one line alone", false, -1, false, 50, 0, 50},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(gpus); i++) {
        struct machine m;
        test_label = gpus[i].label;
        begin(&m);
        for (int round = 0; round < 2; round++) {
            const struct gtel_reading energy = {.device = m.registry.device[0],
                                                .metric = GTEL_M_GPU_ENERGY,
                                                .value_type = GTEL_VALUE_F64,
                                                .value.f64 = 100 * round,
                                                .is_apart = gpus[i].is_apart};
            put_line(&m, 0, "a", gpus[i].share);
            put_lists(&m, 0, 3, 100);
            CHECK(gtel_series_offer(&m.table, &energy, 0, m.section, m.gather) != NULL);
            put_mean(&m, 0, 0.5);
            run(&m, gpus[i].has_slept);
        }
        CHECK_NEAR(get(&m, 0, "a"), gpus[i].line, 1e-9);
        CHECK_NEAR(get(&m, 0, "unattributed"), gpus[i].unattributed, 1e-9);
        CHECK_NEAR(get(&m, 0, "idle"), gpus[i].idle, 1e-9);
        end(&m);
    }
    test_label = "";
}

/*
 * Of a vendor's library, which has energy and shares in each fourth gather only: the shares are
 * about all of the time, and so are means of the busy share, also of a moment each.
 */
static void test_rare(void)
{
    enum { EACH = 4 };
    static const struct {
        const char *label;
        double busy[EACH]; /* the last one with energy; below 0: not known */
        const char *lines; /* in all of them, but for early -2: in the last one alone */
        const char *extra; /* in the second one alone */
        double share;      /* of each line in the last one; below 0: not known */
        double early;      /* and of a in the first one */
        uint64_t slept;    /* in which gather the host had slept, from 1 on */
        double a, unattributed, idle;
    } cases_of[] = {
        {"mean", {1, 0, 0.5, 0.5}, "a", "", 0.25, -1, 0, 25, 25, 50},
        {"of moments, which saw none of it", {0, 0, 0, 0}, "a", "", 0.5, -1, 0, 50, 0, 50},
        {"of a process that is new", {0, 0, 0, 0.8}, "a", "", 1, -2, 0, 25, 0, 75},
        {"more than all", {1, 1, 1, 1}, "ab", "", 1, -1, 0, 50, 0, 0},
        {"of some known", {-1, 1, -1, 0.5}, "a", "", 0.25, -1, 0, 25, 50, 25},
        {"beyond full", {9, 0, 0, 1}, "a", "", 0.25, -1, 0, 25, 25, 50},
        {"a bit beyond full", {1.5, 0, 0, 1}, "a", "", 0.25, -1, 0, 25, 25, 50},
        {"a share before", {0.5, 0.5, 0.5, 0.5}, "a", "", 0.25, 0.25, 0, 0, 100, 0},
        {"of nothing before", {0.5, 0.5, 0.5, 0.5}, "a", "", 0.25, 0, 0, 0, 100, 0},
        {"alone", {1, 0, 0, 1}, "a", "", -1, -1, 0, 50, 0, 50},
        {"not all the time", {1, 0, 0, 1}, "a", "b", -1, -1, 0, 0, 50, 50},
        {"the host has slept", {1, 1, 1, 1}, "a", "", 0.25, -1, 2, 0, 0, 100},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases_of); i++) {
        struct machine m;
        begin(&m);
        m.attribution.readers = 0;
        test_label = cases_of[i].label;
        for (int k = -1; k < EACH; k++) {
            bool is_last = k == EACH - 1 || k < 0;
            double share = k == 0 ? cases_of[i].early : is_last ? cases_of[i].share : -1;
            bool is_there = cases_of[i].early > -2 || k == EACH - 1;
            for (const char *p = cases_of[i].lines; is_there && *p; p++)
                put_line(&m, 0, (char[]){*p, '\0'}, share);
            for (const char *p = cases_of[i].extra; k == 1 && *p; p++)
                put_line(&m, 0, (char[]){*p, '\0'}, -1);
            put_lists(&m, 0, 3, 100);
            if (is_last)
                put(&m, 0, GTEL_M_GPU_ENERGY, "", k < 0 ? 100 : 200, DRIVER);
            if (k < 0 || cases_of[i].busy[k] >= 0)
                put(&m, 0, GTEL_M_GPU_BUSY, "", k < 0 ? 1 : cases_of[i].busy[k], DRIVER);
            run(&m, k >= 0 && cases_of[i].slept == (uint64_t)k + 1);
        }
        CHECK_NEAR(get(&m, 0, "a"), cases_of[i].a, 1e-9);
        CHECK_NEAR(get(&m, 0, "unattributed"), cases_of[i].unattributed, 1e-9);
        CHECK_NEAR(get(&m, 0, "idle"), cases_of[i].idle, 1e-9);
        for (size_t k = 0; k < m.table.n; k++)
            if (m.table.sorted[k]->now.metric == GTEL_M_PROCESS_JOULES)
                CHECK_INT(m.table.sorted[k]->now.gathers, EACH);
        end(&m);
    }
    test_label = "";
}

/* ---- conservation ---- */

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

static double chance(void)
{
    return draw(1000001) / 1e6;
}

/* All counters of a GPU and its parts. none may go back. */
static double sum_of(const struct machine *m, const char *gpu, double *last, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < m->table.n; i++) {
        const struct gtel_series *series = m->table.sorted[i];
        if (series->now.metric != GTEL_M_PROCESS_JOULES ||
            strcmp(series->now.device->label[GTEL_LABEL_GPU], gpu) != 0)
            continue;
        struct gtel_str name = series->now.dim[0];
        uint64_t k = name.n == 1 ? (uint64_t)(name.p[0] - 'A') : name.p[0] == 'i' ? n - 1 : n - 2;
        double *before = &last[series->now.device->index * n + k];
        CHECK(series->now.value.f64 >= *before);
        *before = series->now.value.f64;
        sum += series->now.value.f64;
    }
    return sum;
}

static void put_random(struct machine *m, int device)
{
    char name[2] = "A";
    for (int k = 0; k < LINES_MAX; k++, name[0]++)
        if (draw(8) == 0)
            put_line(m, device, name, draw(20) == 0 ? -1 : chance());
    if (draw(30) > 0)
        put(m, device, GTEL_M_GPU_PROCESSES, "", 1, READER);
}

/* What a counter does, and the energy that counts: what both ends of an interval have reported. */
struct meter {
    double joules;
    double reported; /* below 0: nothing yet, or another life of the counter */
    double counted;
    bool is_asleep;
};

static void run_meter(struct machine *m, int gpu, struct meter *meter)
{
    struct gtel_device *device = m->registry.device[gpu];
    meter->joules += draw(3) == 0 ? 0 : 300 * chance();
    bool was_asleep = meter->is_asleep;
    meter->is_asleep = draw(meter->is_asleep ? 4 : 40) == 0 ? !was_asleep : was_asleep;
    device->sleeps += meter->is_asleep && !was_asleep;
    device->is_asleep = meter->is_asleep;
    if (draw(200) == 0) { /* a reset */
        meter->joules = 10 * chance();
    } else if (draw(200) == 0) { /* it was removed, and may count from anywhere */
        meter->joules = 1e6 * chance();
        meter->reported = -1;
        device->arrivals++;
    }
    if (meter->is_asleep || draw(25) == 0)
        return; /* not read */
    put(m, gpu, GTEL_M_GPU_ENERGY, "", meter->joules, DRIVER);
    if (draw(20) > 0)
        put_mean(m, gpu, chance() * 1.05);
    if (m->gather > 0 && meter->reported >= 0 && meter->joules >= meter->reported)
        meter->counted += meter->joules - meter->reported;
    meter->reported = meter->joules;
}

static void test_conservation(void)
{
    enum { GATHERS = 10000, SLOTS = LINES_MAX + 2 };
    static double last[4 * SLOTS];
    static const char *const gpus[] = {"a", "b"};
    struct meter meter[2] = {{.reported = -1}, {.reported = -1}};
    struct machine m;
    double worst = 0;
    begin(&m);
    seed = 4711;
    test_label = "conservation";
    for (int i = 0; i < GATHERS; i++) {
        for (int device = 0; device < 4; device++)
            put_random(&m, device);
        put(&m, -1, GTEL_M_SELF_PROCESSES_VISIBLE, "", 100, READER);
        put(&m, -1, GTEL_M_SELF_PROCESSES_READABLE, "", draw(50) == 0 ? 99 : 100, READER);
        for (int gpu = 0; gpu < 2; gpu++)
            run_meter(&m, gpu, &meter[gpu]);
        run(&m, draw(100) == 0);
        for (int gpu = 0; gpu < 2; gpu++) {
            double sum = sum_of(&m, gpus[gpu], last, SLOTS);
            double error = fabs(sum - meter[gpu].counted) / (meter[gpu].counted + 1);
            worst = error > worst ? error : worst;
        }
    }
    CHECK(meter[0].counted > 100000 && meter[1].counted > 100000);
    CHECK(worst < 1e-9);
    CHECK(m.table.n < 1000);
    printf("worst error %.1e of %.0f J\n", worst, meter[0].counted);
    test_label = "";
    end(&m);
}

/* Without memory nothing is attributed, and the next gather makes up for it. */
static void test_no_memory(void)
{
    for (uint64_t at = 1; at <= 2; at++) {
        struct machine m;
        begin(&m);
        test_label = "no memory";
        for (int round = 0; round < 3; round++) {
            const struct gtel_attribution_sample sample = {
                .registry = &m.registry, .section = m.section, .gather = m.gather};
            put_line(&m, 0, "a", 0.5);
            put_lists(&m, 0, 3, 100);
            put(&m, 0, GTEL_M_GPU_BUSY, "", 0.5, DRIVER);
            put(&m, 0, GTEL_M_GPU_ENERGY, "", 100 * round, DRIVER);
            alloc_fault_arm(round == 0 ? at : 0);
            CHECK_INT(gtel_attribution_run(&m.attribution, &m.table, &sample),
                      round == 0 ? -ENOMEM : 0);
            alloc_fault_arm(0);
            m.section++;
            m.gather++;
        }
        CHECK_NEAR(get(&m, 0, "a"), 50, 1e-9);
        CHECK_NEAR(get(&m, 0, "idle"), 50, 1e-9);
        end(&m);
    }
    test_label = "";
}

int main(void)
{
    test_cases();
    test_apart();
    test_momentary();
    test_counter();
    test_first_gather();
    test_alone();
    test_lists();
    test_partitions();
    test_more();
    test_rare();
    test_conservation();
    test_no_memory();
    return test_result();
}
