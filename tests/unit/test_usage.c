/* SPDX-License-Identifier: MIT */
/* Who uses the GPUs: sums, names, lines that are shown, and what is remembered. */
#include "harness/alloc_fault.h"
#include "harness/test.h"
#include "harness/usage_machine.h"

#include <math.h>
#include <stdlib.h>

static const uint64_t mib = 1048576;

/* Sums */

static void test_sums(void)
{
    struct machine *m = machine_new("20", "");
    test_label = "sums";
    machine_begin(m, 10, "ffmpeg");
    machine_begin(m, 11, "ffmpeg");
    machine_begin(m, 12, "Xorg");
    machine_add(m, 0, 10, 100 * mib, 0.25);
    machine_add(m, 0, 10, 50 * mib, 0.25); /* another client of the same process */
    machine_add(m, 0, 11, 30 * mib, 0.125);
    machine_add(m, 0, 12, 7 * mib, 0);
    machine_gather(m, 10);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_MEMORY, "ffmpeg"), (double)(180 * mib), 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_COUNT, "ffmpeg"), 2, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_RENDER, "ffmpeg"), 0.625, 1e-12);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_BUSY, "ffmpeg"), 0.625, 1e-12);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_BUSY, "Xorg"), 0, 0); /* known to be idle */
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_MEMORY_SHARED, "Xorg"), -1, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_COPY, "ffmpeg"), -1, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_GPU_PROCESSES, ""), 3, 0);
    CHECK_INT(machine_lines(m, 0), 2); /* no line "other" of nothing */
    CHECK_INT(m->batch.reading[0].source, 3);
    CHECK_INT(m->batch.reading[0].origin, 1);
    CHECK_INT(m->batch.reading[0].t_ns, 0);
    machine_free(m);
}

/* A process that was seen for the first time has no share yet: absent, not 0, nor of its line. */
static void test_absent(void)
{
    struct machine *m = machine_new("20", "");
    test_label = "absent";
    machine_begin(m, 10, "new");
    machine_begin(m, 11, "old");
    machine_begin(m, 12, "old");
    machine_add(m, 0, 10, mib, -1);
    machine_add(m, 0, 11, mib, 0.5);
    machine_add(m, 0, 12, mib, -1);
    const struct gtel_use nothing = {0};
    machine_begin(m, 13, "nothing");
    gtel_usage_add(&m->usage, &m->device[0], 0, 0, machine_id(m, 13), &nothing);
    machine_gather(m, 10);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_BUSY, "new"), -1, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_RENDER, "new"), -1, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_BUSY, "old"), -1, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_RENDER, "old"), -1, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_MEMORY, "old"), (double)(2 * mib), 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_COUNT, "nothing"), 1, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_MEMORY, "nothing"), -1, 0);
    machine_free(m);
}

/* Whatever stands between the two rows is an amount of processes that adds up, mostly memory. */
static void test_kinds(void)
{
    test_label = "kinds of amounts";
    for (int metric = GTEL_M_PROCESS_MEMORY; metric < GTEL_M_PROCESS_BUSY; metric++) {
        const struct gtel_metric_row *row = gtel_metric_row((enum gtel_metric)metric);
        uint64_t bytes = 7;
        struct gtel_use_memory memory = {0};
        CHECK_INT(row->measurement, GTEL_MEASUREMENT_GPU_PROCESS);
        CHECK(row->kind == GTEL_KIND_GAUGE);
        CHECK(strcmp(row->unit, "By") == 0 || metric > GTEL_M_PROCESS_MEMORY_SYSTEM);
        CHECK(!gtel_use_memory_get(&memory, (enum gtel_metric)metric, &bytes) && bytes == 7);
        gtel_use_memory_put(&memory, (enum gtel_metric)metric, 0);
        CHECK(gtel_use_memory_get(&memory, (enum gtel_metric)metric, &bytes) && bytes == 0);
    }
}

/* A value that one part does not have is not reported of the whole, in whatever order they come.
 */
static void test_partly(void)
{
    enum { MEMORY = 1, SHARED = 2, RENDER = 4, COPY = 8 };
    static const struct {
        const char *label;
        unsigned part[3];   /* what each has: the first two are of one process */
        double reported[4]; /* memory in MiB, shared, render, copy */
        double busy;
    } cases[] = {
        {"all", {15, 15, 15}, {3, 3, 0.3, 0.6}, 0.6},
        {"none", {0, 0, 0}, {-1, -1, -1, -1}, -1},
        {"nothing of a client", {0, 15, 15}, {-1, -1, -1, -1}, -1},
        {"nothing of the next one", {15, 0, 15}, {-1, -1, -1, -1}, -1},
        {"nothing of the other process", {15, 15, 0}, {-1, -1, -1, -1}, -1},
        {"no memory of one", {15, 15 - MEMORY, 15}, {-1, 3, 0.3, 0.6}, 0.6},
        {"nothing shared of one", {15 - SHARED, 15, 15}, {3, -1, 0.3, 0.6}, 0.6},
        {"a class less", {15, 15, 15 - COPY}, {3, 3, 0.3, -1}, -1},
        {"the same first", {15 - COPY, 15, 15}, {3, 3, 0.3, -1}, -1},
        {"no such class", {7, 7, 7}, {3, 3, 0.3, -1}, 0.3},
    };
    static const enum gtel_metric metrics[] = {GTEL_M_PROCESS_MEMORY, GTEL_M_PROCESS_MEMORY_SHARED,
                                               GTEL_M_PROCESS_RENDER, GTEL_M_PROCESS_COPY};
    for (size_t c = 0; c < GTEL_ARRAY_LEN(cases) * 2; c++) {
        /* Once as a line, and once as lines that are folded into "other". */
        struct machine *m = machine_new(c % 2 == 0 ? "20" : "0", "");
        const char *line = c % 2 == 0 ? "some" : "other";
        test_label = cases[c / 2].label;
        machine_begin(m, 10, "some");
        machine_begin(m, 11, c % 2 == 0 ? "some" : "others");
        for (uint32_t i = 0; i < 3; i++) {
            unsigned has = cases[c / 2].part[i];
            struct gtel_use use = {0};
            if ((has & MEMORY) != 0)
                gtel_use_memory_put(&use.memory, GTEL_M_PROCESS_MEMORY, mib);
            if ((has & SHARED) != 0)
                gtel_use_memory_put(&use.memory, GTEL_M_PROCESS_MEMORY_SHARED, mib);
            use.has_share = ((has & RENDER) != 0 ? 1u << GTEL_ENGINE_KIND_RENDER : 0) |
                            ((has & COPY) != 0 ? 1u << GTEL_ENGINE_KIND_COPY : 0);
            use.share[GTEL_ENGINE_KIND_RENDER] = 0.1;
            use.share[GTEL_ENGINE_KIND_COPY] = 0.2;
            gtel_usage_add(&m->usage, &m->device[0], 0, 0, machine_id(m, i < 2 ? 10 : 11), &use);
        }
        machine_gather(m, 10);
        for (size_t k = 0; k < GTEL_ARRAY_LEN(metrics); k++) {
            double reported = cases[c / 2].reported[k];
            double unit = k < 2 && reported > 0 ? (double)mib : 1;
            CHECK_NEAR(machine_get(m, 0, metrics[k], line), reported * unit, 1e-9);
        }
        CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_BUSY, line), cases[c / 2].busy, 1e-9);
        CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_COUNT, line), 2, 0);
        machine_free(m);
    }
}

static void test_shares(void)
{
    struct machine *m = machine_new("20", "");
    struct gtel_use use = {.has_share = 1u << GTEL_ENGINE_KIND_COPY | 1u << GTEL_ENGINE_KIND_OFA |
                                        1u << GTEL_ENGINE_KIND_OTHER};
    test_label = "shares";
    use.share[GTEL_ENGINE_KIND_COPY] = 0.75;
    use.share[GTEL_ENGINE_KIND_OFA] = NAN;
    use.share[GTEL_ENGINE_KIND_OTHER] = 0.8;
    use.share[GTEL_ENGINE_KIND_RENDER] = 1; /* without its bit: not known */
    for (uint32_t pid = 20; pid < 22; pid++) {
        machine_begin(m, pid, "two");
        gtel_usage_add(&m->usage, &m->device[0], 0, 0, machine_id(m, pid), &use);
        use.share[GTEL_ENGINE_KIND_OTHER] = 0.1;
    }
    machine_gather(m, 10);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_COPY, "two"), 1, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_OTHER, "two"), 0.9, 1e-12);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_OFA, "two"), -1, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_RENDER, "two"), -1, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_BUSY, "two"), 1, 0);
    machine_free(m);
}

/* The lines of a device, "other" included, have what was added, whatever is shown. */
static void test_random_sums(void)
{
    static const char *const limits[] = {"0", "1", "3", "20", "1000"};
    uint64_t random = 1;
    test_label = "random sums";
    for (size_t l = 0; l < GTEL_ARRAY_LEN(limits); l++) {
        struct machine *m = machine_new(limits[l], "");
        uint64_t limit = 0;
        CHECK_INT(gtel_str_u64(gtel_str_of(limits[l]), &limit), 0);
        for (int gather = 0; gather < 50; gather++) {
            uint64_t memory = 0;
            double share = 0;
            uint32_t n = gather % 10 == 9 ? 0 : 40;
            for (uint32_t i = 0; i < n; i++) {
                char name[16];
                random = random * 6364136223846793005u + 1442695040888963407u;
                (void)snprintf(name, sizeof(name), "p%d", (int)(random >> 33) % 30);
                machine_begin(m, 100 + i, name);
                machine_add(m, 1, 100 + i, (random >> 40) + i, (double)i / 1e4);
                memory += (random >> 40) + i;
                share += (double)i / 1e4;
            }
            gtel_usage_complete(&m->usage, &m->device[1], 3, 1);
            machine_gather(m, 7);
            CHECK_NEAR(machine_sum(m, 1, GTEL_M_PROCESS_MEMORY), (double)memory, 0);
            CHECK_NEAR(machine_sum(m, 1, GTEL_M_PROCESS_RENDER), share, 1e-9);
            CHECK_NEAR(machine_sum(m, 1, GTEL_M_PROCESS_COUNT), n, 0);
            CHECK_NEAR(machine_get(m, 1, GTEL_M_GPU_PROCESSES, ""), n, 0);
            CHECK(machine_lines(m, 1) <= limit + 1);
            CHECK_INT(machine_lines(m, 0), 0);
        }
        machine_free(m);
    }
}

/* Names */

static const struct {
    const char *label;
    const char *name;
    const char *shown;
} name_cases[] = {
    {"plain", "ffmpeg", "ffmpeg"},
    {"none", "", "?"},
    {"blanks", "   ", "?"},
    {"blanks around", " a ", "a"},
    {"line protocol", "a,b=c d\"", "a,b=c d\""},
    {"a parenthesis", "a) R 1", "a) R 1"},
    {"a backslash is a slash to the encoder", "a\\b", "a/b"},
    {"the same with a slash", "a/b", "a/b"},
    {"a backslash at the end", "a\\", "a/"},
    {"control characters", "a\nb\033", "a?b?"},
    {"UTF-8", "\xc3\xa4", "\xc3\xa4"},
    {"no UTF-8", "\xc3", "?"},
    {"the name of the rest", "other", "other"},
    {"almost", "Other", "Other"},
    {"longest", "123456789012345", "123456789012345"},
};

static void test_names(void)
{
    struct machine *m = machine_new("20", "");
    for (uint32_t i = 0; i < GTEL_ARRAY_LEN(name_cases); i++) {
        machine_begin(m, 100 + i, name_cases[i].name);
        machine_add(m, 0, 100 + i, (uint64_t)1 << i, -1);
    }
    machine_gather(m, 10);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(name_cases); i++) {
        double want = 0;
        test_label = name_cases[i].label;
        for (size_t k = 0; k < GTEL_ARRAY_LEN(name_cases); k++)
            if (strcmp(name_cases[i].shown, name_cases[k].shown) == 0)
                want += (double)((uint64_t)1 << k);
        CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_MEMORY, name_cases[i].shown), want, 0);
    }
    test_label = "names";
    CHECK_INT(machine_lines(m, 0), 12);
    machine_free(m);
}

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "01234567-89ab-cdef-0123-456789abcdef"

static const struct {
    const char *name;
    uint32_t uid;
    const char *cgroup;
} people[] = {
    {"python3", 1000, "0::/system.slice/docker-" HEX64 ".scope\n"},
    {"python3", 0,
     "0::/kubepods.slice/kubepods-pod01234567_89ab_cdef_0123_456789abcdef.slice/"
     "cri-containerd-" HEX64 ".scope\n"},
    {"jellyfin", 105, "0::/system.slice/jellyfin.service\n"},
    {"kworker/0:1", 0, "0::/\n"},
    {"old", 7, NULL},
    {"train", 1001, "0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n"},
};

static const struct {
    const char *tags;
    const char *line[GTEL_ARRAY_LEN(people)]; /* of each process: all values, joined */
} tag_cases[] = {
    {"",
     {"python3||||||||", "python3||||||||", "jellyfin||||||||", "kworker/0:1||||||||",
      "old||||||||", "train||||||||"}},
    {"container",
     {"python3|0123456789ab|||||||", "python3|0123456789ab|||||||", "jellyfin||||||||",
      "kworker/0:1||||||||", "old||||||||", "train||||||||"}},
    {"pod_uid",
     {"python3||||||||", ("python3||||" POD "||||"), "jellyfin||||||||", "kworker/0:1||||||||",
      "old||||||||", "train||||||||"}},
    {"pod_uid,container",
     {"python3|0123456789ab|||||||", ("python3|0123456789ab|||" POD "||||"), "jellyfin||||||||",
      "kworker/0:1||||||||", "old||||||||", "train||||||||"}},
    {"user,unit",
     {("python3||||||docker-" HEX64 ".scope|1000|"),
      ("python3||||||cri-containerd-" HEX64 ".scope|0|"), "jellyfin||||||jellyfin.service|105|",
      "kworker/0:1|||||||0|", "old|||||||7|", "train||||||slurmstepd.scope|1001|"}},
    {"pid",
     {"python3||||||||200", "python3||||||||201", "jellyfin||||||||202", "kworker/0:1||||||||203",
      "old||||||||204", "train||||||||205"}},
    {"container,unit,user,pid",
     {"python3|0123456789ab|||||docker-" HEX64 ".scope|1000|200",
      "python3|0123456789ab|||||cri-containerd-" HEX64 ".scope|0|201",
      "jellyfin||||||jellyfin.service|105|202", "kworker/0:1|||||||0|203", "old|||||||7|204",
      "train||||||slurmstepd.scope|1001|205"}},
    {"job_id",
     {"python3||||||||", "python3||||||||", "jellyfin||||||||", "kworker/0:1||||||||",
      "old||||||||", "train|||||4711|||"}},
    {"job_id,pid",
     {"python3||||||||200", "python3||||||||201", "jellyfin||||||||202", "kworker/0:1||||||||203",
      "old||||||||204", "train|||||4711|||205"}},
};

static bool has_line(const struct machine *m, const char *want, uint64_t memory)
{
    for (size_t i = 0; i < m->batch.n; i++) {
        const struct gtel_reading *reading = &m->batch.reading[i];
        char text[512] = "";
        size_t n = 0;
        const char *const *tags = gtel_measurement_row(GTEL_MEASUREMENT_GPU_PROCESS)->dims;
        for (size_t d = 0; d < GTEL_DIMS_MAX && tags[d]; d++)
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%.*s", d > 0 ? "|" : "",
                                  GTEL_STR_ARG(reading->dim[d]));
        if (reading->metric == GTEL_M_PROCESS_MEMORY && strcmp(text, want) == 0)
            return (reading->value.u64 & memory) != 0;
    }
    printf("    no line %s\n", want);
    return false;
}

static void test_tags(void)
{
    for (size_t c = 0; c < GTEL_ARRAY_LEN(tag_cases); c++) {
        struct machine *m = machine_new("20", tag_cases[c].tags);
        test_label = tag_cases[c].tags;
        for (uint32_t i = 0; i < GTEL_ARRAY_LEN(people); i++) {
            machine_begin(m, 200 + i, people[i].name);
            m->process[200 + i].uid = people[i].uid;
            m->process[200 + i].cgroup = people[i].cgroup;
            machine_add(m, 0, 200 + i, (uint64_t)1 << i, -1);
        }
        machine_gather(m, 10);
        for (size_t i = 0; i < GTEL_ARRAY_LEN(people); i++)
            CHECK(has_line(m, tag_cases[c].line[i], (uint64_t)1 << i));
        machine_free(m);
    }
}

/* A process that has gone before it was asked costs its name, and no other process gives it one. */
static void test_gone(void)
{
    struct machine *m = machine_new("20", "");
    test_label = "gone";
    machine_begin(m, 10, "short");
    machine_begin(m, 11, "reused");
    machine_begin(m, 12, "known");
    machine_add(m, 0, 10, mib, 0.1);
    machine_add(m, 0, 11, mib, 0.1);
    machine_add(m, 0, 12, mib, 0.1);
    machine_end(m, 10);
    machine_begin(m, 11, "foreign");
    machine_gather(m, 10);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_COUNT, "other"), 2, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_COUNT, "foreign"), -1, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_COUNT, "known"), 1, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_COUNT, "reused"), -1, 0);
    /* Who was known keeps its name to the end; who has got the pid now is another. */
    struct gtel_process_id dead = machine_id(m, 12);
    struct gtel_use use = {0};
    gtel_use_memory_put(&use.memory, GTEL_M_PROCESS_MEMORY, mib);
    gtel_usage_add(&m->usage, &m->device[0], 0, 0, dead, &use);
    machine_begin(m, 12, "next");
    machine_add(m, 0, 12, 2 * mib, -1);
    m->now_ns += 100 * (uint64_t)1000000000; /* when names are checked again */
    machine_gather(m, 10);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_MEMORY, "known"), (double)mib, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_MEMORY, "next"), (double)(2 * mib), 0);
    /* A line vanishes with its processes, and other with its own. */
    machine_add(m, 0, 12, mib, 0);
    machine_gather(m, 10);
    CHECK_INT(machine_lines(m, 0), 1);
    gtel_usage_complete(&m->usage, &m->device[0], 0, 0);
    machine_gather(m, 10);
    CHECK_INT(machine_lines(m, 0), 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_GPU_PROCESSES, ""), 0, 0);
    CHECK_INT(m->batch.n, 1);
    machine_free(m);
}

/* A program that becomes another one is renamed in time; a pid without a start is believed. */
static void test_renamed(void)
{
    struct machine *m = machine_new("20", "");
    test_label = "renamed";
    machine_begin(m, 10, "sh");
    machine_add(m, 0, 10, mib, 0);
    machine_gather(m, 5);
    (void)gtel_str_copy(m->process[10].name, sizeof(m->process[10].name), GTEL_STR("blender"));
    for (int i = 0; i < 2; i++) {
        machine_add(m, 0, 10, mib, 0);
        machine_gather(m, 5);
    }
    machine_add(m, 0, 10, mib, 0);
    machine_gather(m, 5);
    CHECK_INT(machine_lines(m, 0), 1);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_COUNT, "blender"), 1, 0);
    struct gtel_use use = {0};
    gtel_use_memory_put(&use.memory, GTEL_M_PROCESS_MEMORY, mib);
    struct gtel_process_id id = {10, 0};
    gtel_usage_add(&m->usage, &m->device[1], 0, 0, id, &use);
    machine_gather(m, 5);
    CHECK_NEAR(machine_get(m, 1, GTEL_M_PROCESS_COUNT, "blender"), 1, 0);
    machine_free(m);
}

/* Devices */

static void test_devices(void)
{
    struct machine *m = machine_new("20", "");
    test_label = "devices";
    machine_begin(m, 10, "python");
    for (int gather = 0; gather < 9; gather++) {
        bool is_lost = gather >= 3 && gather < 6;
        machine_add(m, 0, 10, mib, 0.25);
        if (!is_lost)
            machine_add(m, 3, 10, 5 * mib, 0.5);
        uint64_t opened = m->opened;
        machine_gather(m, 1);
        CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_MEMORY, "python"), (double)mib, 0);
        CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_BUSY, "python"), 0.25, 0);
        CHECK_NEAR(machine_get(m, 0, GTEL_M_GPU_PROCESSES, ""), 1, 0);
        CHECK_NEAR(machine_get(m, 3, GTEL_M_PROCESS_MEMORY, "python"),
                   is_lost ? -1 : (double)(5 * mib), 0);
        CHECK_NEAR(machine_get(m, 3, GTEL_M_GPU_PROCESSES, ""), is_lost ? -1 : 1, 0);
        CHECK_INT(m->opened - opened, gather == 0); /* asked once for both */
    }
    machine_free(m);
}

/* What a source adds between gathers is no part of the next one. */
static void test_begin(void)
{
    struct machine *m = machine_new("20", "");
    test_label = "begin";
    machine_begin(m, 10, "a");
    machine_add(m, 0, 10, mib, 0.5);
    gtel_usage_begin(&m->usage);
    machine_gather(m, 1);
    CHECK_INT(m->batch.n, 0);
    machine_add(m, 0, 10, mib, 0.5);
    machine_gather(m, 1);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_MEMORY, "a"), (double)mib, 0);
    /* What a source adds without having looked for all: how many there are is not known. */
    gtel_usage_add(&m->usage, &m->device[0], 0, 0, machine_id(m, 10), &(struct gtel_use){0});
    machine_gather(m, 1);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_COUNT, "a"), 1, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_GPU_PROCESSES, ""), -1, 0);
    gtel_usage_complete(NULL, &m->device[0], 0, 0);
    gtel_usage_add(NULL, &m->device[0], 0, 0, machine_id(m, 10), &(struct gtel_use){0});
    machine_free(m);
}

/* What is shown */

static void test_limits(void)
{
    static const struct {
        const char *limit;
        size_t lines;
        const char *last; /* the last one shown */
        const char *next; /* the first one that is not */
    } cases[] = {
        {"0", 1, "other", "p49"}, {"1", 2, "p49", "p48"},    {"20", 21, "p30", "p29"},
        {"49", 50, "p1", "p0"},   {"50", 50, "p0", "other"}, {"1000", 50, "p0", "other"},
    };
    for (size_t c = 0; c < GTEL_ARRAY_LEN(cases); c++) {
        struct machine *m = machine_new(cases[c].limit, "");
        test_label = cases[c].limit;
        for (uint32_t i = 0; i < 50; i++) {
            char name[16];
            (void)snprintf(name, sizeof(name), "p%u", i);
            machine_begin(m, 100 + i, name);
            machine_add(m, 0, 100 + i, (i + 1) * mib, 0);
        }
        machine_gather(m, 10);
        CHECK_INT(machine_lines(m, 0), cases[c].lines);
        CHECK(machine_get(m, 0, GTEL_M_PROCESS_MEMORY, cases[c].last) > 0);
        CHECK(machine_get(m, 0, GTEL_M_PROCESS_MEMORY, cases[c].next) < 0);
        machine_free(m);
    }
}

/* Time counts as much as memory. */
static void test_rank(void)
{
    struct machine *m = machine_new("2", "");
    test_label = "rank";
    machine_begin(m, 10, "big");
    machine_begin(m, 11, "middle");
    machine_begin(m, 12, "busy");
    machine_add(m, 0, 10, 600 * mib, -1);
    machine_add(m, 0, 11, 390 * mib, -1);
    machine_add(m, 0, 12, 10 * mib, 0.5);
    machine_gather(m, 10);
    CHECK(machine_get(m, 0, GTEL_M_PROCESS_MEMORY, "big") > 0);
    CHECK(machine_get(m, 0, GTEL_M_PROCESS_MEMORY, "busy") > 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_MEMORY, "other"), (double)(390 * mib), 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_BUSY, "other"), -1, 0);
    machine_free(m);
}

/* In whatever order processes come, the lines are those of the largest. */
static void test_largest(void)
{
    enum { PROCESSES = 6, ORDERS = 720 };
    test_label = "the largest";
    for (unsigned order = 0; order < ORDERS; order++) {
        struct machine *m = machine_new("2", "");
        uint64_t size[PROCESSES];
        unsigned code = order;
        for (unsigned i = 0; i < PROCESSES; i++) { /* the order of that number */
            unsigned at = code % (i + 1);
            code /= i + 1;
            for (unsigned k = i; k > at; k--)
                size[k] = size[k - 1];
            size[at] = i + 1;
        }
        for (unsigned i = 0; i < PROCESSES; i++) {
            char name[] = "p0";
            name[1] = (char)('0' + size[i]);
            machine_begin(m, 10 + i, name);
            machine_add(m, 0, 10 + i, size[i] * mib, -1);
        }
        machine_gather(m, 10);
        CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_MEMORY, "p6"), (double)(6 * mib), 0);
        CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_MEMORY, "p5"), (double)(5 * mib), 0);
        CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_MEMORY, "other"), (double)(10 * mib), 0);
        CHECK_INT(machine_lines(m, 0), 3);
        machine_free(m);
    }
}

/* Processes of a similar size do not take turns; one that uses more gets a place in time. */
static void test_stable(void)
{
    struct machine *m = machine_new("2", "");
    uint64_t random = 7;
    const char *shown[2] = {NULL, NULL};
    static const char *const names[] = {"a", "b", "c", "d"};
    int changes = 0;
    test_label = "stable";
    for (uint32_t i = 0; i < 5; i++)
        machine_begin(m, 10 + i, i < 4 ? names[i] : "late");
    for (int gather = 0; gather < 1000; gather++) {
        for (uint32_t i = 0; i < 4; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            machine_add(m, 0, 10 + i, 100 * mib, 0.2 + (double)(random >> 44) / 1048576 * 0.2);
        }
        machine_gather(m, 1);
        size_t n = 0;
        for (size_t i = 0; i < 4; i++) {
            if (machine_get(m, 0, GTEL_M_PROCESS_COUNT, names[i]) < 0 || n == 2)
                continue;
            changes += shown[n] && shown[n] != names[i];
            shown[n++] = names[i];
        }
        CHECK_INT(n, 2);
    }
    CHECK(changes <= 2);
    int gathers = 0;
    while (gathers < 700 && machine_get(m, 0, GTEL_M_PROCESS_COUNT, "late") < 0) {
        for (uint32_t i = 0; i < 4; i++)
            machine_add(m, 0, 10 + i, 100 * mib, 0.3);
        machine_add(m, 0, 14, 100 * mib, 0.9);
        machine_gather(m, 1);
        gathers++;
    }
    CHECK(gathers > 0 && gathers <= 601);
    machine_free(m);
}

/* Names that never come again do not become series without end. */
static void test_short_lived(void)
{
    static bool seen[10000 + 86400];
    struct machine *m = machine_new("20", "");
    size_t distinct = 0;
    test_label = "short-lived";
    machine_begin(m, 1, "Xorg");
    for (uint32_t i = 0; i < GTEL_ARRAY_LEN(seen); i++) { /* one a second, for a day and more */
        char name[32];
        uint32_t pid = 2 + i % 30000;
        (void)snprintf(name, sizeof(name), "job-%u", i);
        machine_begin(m, pid, name);
        machine_add(m, 0, 1, mib, 0);
        machine_add(m, 0, pid, 2 * mib, 0.5);
        machine_gather(m, 1);
        machine_end(m, pid);
        CHECK(machine_get(m, 0, GTEL_M_PROCESS_COUNT, "Xorg") > 0);
        CHECK_NEAR(machine_sum(m, 0, GTEL_M_PROCESS_MEMORY), (double)(3 * mib), 0);
        seen[i] = machine_get(m, 0, GTEL_M_PROCESS_COUNT, name) > 0;
        distinct += seen[i];
    }
    CHECK(distinct <= 20 + GTEL_ARRAY_LEN(seen) * 20 / 600);
    CHECK(m->usage.lines.size <= 512 && m->usage.names.size <= 64);
    /* A name that stays gets a line all the same, within ten minutes. */
    machine_begin(m, 5, "training");
    int waited = 0;
    do {
        machine_add(m, 0, 5, mib, 0.1);
        machine_gather(m, 1);
    } while (machine_get(m, 0, GTEL_M_PROCESS_COUNT, "training") < 0 && ++waited < 700);
    CHECK(waited <= 600);
    machine_free(m);
}

/* A name that has a place comes and goes as it likes, for ten minutes. */
static void test_known(void)
{
    struct machine *m = machine_new("1", "");
    test_label = "known";
    machine_begin(m, 10, "cron");
    machine_begin(m, 11, "new");
    for (int gather = 0; gather < 100; gather++) {
        uint32_t pid = 10;
        if (gather % 3 == 0)
            machine_add(m, 0, pid, mib, 0.5);
        else
            gtel_usage_complete(&m->usage, &m->device[0], 0, 0);
        machine_gather(m, 0.25);
        CHECK(gather % 3 != 0 || machine_get(m, 0, GTEL_M_PROCESS_COUNT, "cron") > 0);
        CHECK_INT(machine_lines(m, 0), gather % 3 == 0);
    }
    machine_add(m, 0, 11, mib, 0.5);
    machine_gather(m, 600);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_COUNT, "other"), 1, 0); /* no place is free */
    machine_add(m, 0, 11, mib, 0.5);
    machine_gather(m, 1);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_COUNT, "new"), 1, 0);
    machine_free(m);
}

/* Limits of memory */

static void add_many(struct machine *m, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        machine_add(m, 0, 100 + i, mib, 0);
}

/* More processes than can be asked together, and more than are distinguished at all. */
static void test_many(void)
{
    struct machine *m = machine_new("1000", "pid");
    test_label = "many";
    for (uint32_t i = 0; i < GTEL_USES_MAX + 1000; i++)
        machine_begin(m, 100 + i, "many");
    for (int gather = 0; gather < 3; gather++) {
        uint64_t opened = m->opened;
        add_many(m, 800);
        machine_gather(m, 1);
        CHECK(m->opened - opened <= 500);
        CHECK_INT(machine_lines(m, 0), gather == 0 ? 501 : 800);
        CHECK_NEAR(machine_sum(m, 0, GTEL_M_PROCESS_MEMORY), (double)(800 * mib), 0);
    }
    for (int gather = 0; gather < 3; gather++) {
        add_many(m, GTEL_USES_MAX + 1000);
        machine_gather(m, 1);
        CHECK_NEAR(machine_sum(m, 0, GTEL_M_PROCESS_MEMORY), (double)((GTEL_USES_MAX + 1000) * mib),
                   0);
        CHECK_NEAR(machine_get(m, 0, GTEL_M_GPU_PROCESSES, ""), GTEL_USES_MAX + 1000, 0);
    }
    CHECK_INT(m->usage.dropped, 0);
    machine_free(m);
}

/* Names that are not there any more are remembered while they have a place. */
static void test_forgotten(void)
{
    enum { NAMES = 1000, PHASES = 4 };
    struct machine *m = machine_new("1000", "pid");
    test_label = "forgotten";
    for (uint32_t pid = 1; pid <= NAMES * PHASES; pid++)
        machine_begin(m, pid, "many");
    for (uint32_t phase = 0; phase < PHASES; phase++) {
        for (int gather = 0; gather < 4; gather++) {
            for (uint32_t i = 1; i <= NAMES; i++)
                for (size_t device = 0; device < MACHINE_DEVICES; device++)
                    machine_add(m, device, phase * NAMES + i, mib, 0);
            machine_gather(m, gather < 3 ? 1 : 700); /* all places are free again */
        }
        CHECK_INT(machine_lines(m, 0), NAMES);
        CHECK(m->usage.lines.n <= 2 * NAMES * MACHINE_DEVICES);
    }
    machine_free(m);
}

static void test_steady(void)
{
    struct machine *m = machine_new("20", "unit,pid");
    test_label = "steady";
    for (uint32_t i = 0; i < 300; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "p%u", i % 100);
        machine_begin(m, 100 + i, name);
    }
    for (int gather = 0; gather < 400; gather++) {
        if (gather == 3)
            alloc_fault_arm(0);
        for (uint32_t i = 0; i < 300; i++) {
            machine_add(m, i % 2, 100 + i, (i + 1) * mib, (double)(i % 7) / 1000);
            machine_add(m, 2, 100 + i, (300 - i) * mib, -1);
        }
        machine_gather(m, 1);
    }
    CHECK_INT(alloc_fault_count(), 0);
    machine_free(m);
}

/* Any allocation may fail: the amounts stay, a name may be lost. */
static void test_no_memory(void)
{
    test_label = "no memory";
    for (uint64_t fail_at = 1; fail_at < 400; fail_at++) {
        struct machine *m = machine_new("20", "");
        (void)gtel_batch_text(&m->batch, GTEL_STR("x"));
        gtel_batch_u64(&m->batch, NULL, GTEL_M_SELF_GPUS, GTEL_STR_NONE, 0); /* its first memory */
        for (uint32_t i = 0; i < 70; i++) {
            char name[16];
            (void)snprintf(name, sizeof(name), "p%u", i);
            machine_begin(m, 100 + i, name);
        }
        alloc_fault_arm(fail_at);
        for (int gather = 0; gather < 3; gather++) {
            add_many(m, 70);
            machine_gather(m, 1);
            double lost = (double)(m->usage.dropped * mib);
            double sum = machine_sum(m, 0, GTEL_M_PROCESS_MEMORY);
            CHECK(sum == (double)(70 * mib) || (gather == 0 && sum + lost == (double)(70 * mib)));
        }
        bool has_failed = alloc_fault_count() >= fail_at;
        alloc_fault_arm(0);
        machine_free(m);
        if (!has_failed)
            return;
    }
    CHECK(false); /* more allocations than were thought of */
}

int main(void)
{
    test_sums();
    test_absent();
    test_kinds();
    test_partly();
    test_shares();
    test_random_sums();
    test_names();
    test_tags();
    test_gone();
    test_renamed();
    test_devices();
    test_begin();
    test_limits();
    test_rank();
    test_largest();
    test_stable();
    test_short_lived();
    test_known();
    test_many();
    test_forgotten();
    test_steady();
    test_no_memory();
    return test_result();
}
