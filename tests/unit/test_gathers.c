/* SPDX-License-Identifier: MIT */
/* Gathers over time on a machine with one GPU: what may be said after something has happened. */
#include "lanes/lane.h"
#include "lanes/self.h"
#include "gtel.h"
#include "recording/tree.h"
#include "harness/test.h"

#include <errno.h>

#define CARD "sys/devices/pci0000:00/0000:00:02.0"
#define LINKS                                                                                      \
    "link sys/class/drm/card1 -> ../../devices/pci0000:00/0000:00:02.0/drm/card1\n"                \
    "file " CARD "/uevent\n| DRIVER=i915\n| PCI_SLOT_NAME=0000:00:02.0\n"                          \
    "file " CARD "/vendor\n| 0x8086\n"                                                             \
    "file " CARD "/device\n| 0x56a0\n"                                                             \
    "link " CARD "/driver -> ../../../bus/pci/drivers/i915\n"                                      \
    "file " CARD "/drm/card1/dev\n| 226:1\n"                                                       \
    "link " CARD "/drm/card1/device -> ../../../0000:00:02.0\n"                                    \
    "file " CARD "/power/runtime_status\n| active\n"                                               \
    "file " CARD "/hwmon/hwmon3/name\n| i915\n"                                                    \
    "file " CARD "/hwmon/hwmon3/temp1_input\n| 50000\n"

/* 10 W from 1 J on. */
#define ENERGY "grow " CARD "/hwmon/hwmon3/energy1_input 1000000 10000000\n"

enum { STEPS_MAX = 16 };

static const uint64_t second_ns = 1000000000u;

/* How long the machine says that it has slept. */
static uint64_t slept_ns;

struct machine {
    struct gtel_tree *tree;
    struct gtel_env env;
    struct gtel_options options;
    struct gtel_sink sink;
    struct gtel_context *context;
    unsigned count[GTEL_M_COUNT]; /* values in the last gather */
    double last[GTEL_M_COUNT];
    double sum[GTEL_M_COUNT];   /* of them */
    double least[GTEL_M_COUNT]; /* the minimum of the last one */
};

static void on_begin(void *arg, uint64_t wall_ns)
{
    (void)arg;
    (void)wall_ns;
}

static void on_put(void *arg, const struct gtel_reading *reading, enum gtel_aspect aspect)
{
    struct machine *machine = arg;
    double value = gtel_reading_number(reading);
    if (aspect == GTEL_ASPECT_MIN)
        machine->least[reading->metric] = value;
    if (aspect != GTEL_ASPECT_VALUE)
        return;
    machine->count[reading->metric]++;
    machine->last[reading->metric] = value;
    machine->sum[reading->metric] += value;
}

static void on_end(void *arg)
{
    (void)arg;
}

static void set(struct machine *machine, enum gtel_option id, const char *text)
{
    char error[128];
    CHECK_INT(gtel_option_set(&machine->options, id, gtel_str_of(text), error, sizeof(error)), 0);
}

static bool begin(struct machine *machine, const char *text, const char *rescan, const char *sample)
{
    char error[128];
    *machine = (struct machine){.sink = {machine, on_begin, on_put, on_end}};
    if (!CHECK(gtel_tree_parse(gtel_str_of(text), &machine->tree, error, sizeof(error)) == 0))
        return false;
    CHECK_INT(gtel_env_tree_init(machine->tree, true, 0, &machine->env), 0);
    gtel_options_init(&machine->options);
    set(machine, GTEL_O_RESCAN, rescan);
    set(machine, GTEL_O_SAMPLE_INTERVAL, sample);
    struct gtel_setup setup = {
        .env = &machine->env, .options = &machine->options, .sink = &machine->sink};
    return CHECK(gtel_context_new(&setup, &machine->context) == 0);
}

static void end(struct machine *machine)
{
    gtel_context_free(machine->context);
    gtel_env_tree_done(&machine->env);
    gtel_tree_free(machine->tree);
}

static void gather(struct machine *machine)
{
    memset(machine->count, 0, sizeof(machine->count));
    memset(machine->sum, 0, sizeof(machine->sum));
    gtel_context_gather(machine->context);
}

/* The driver is loaded again, and its counter is then beyond where it was: that is no power. */
static void test_reload(void)
{
    static const char text[] = LINKS ENERGY "at 3500ms\ngone " CARD "\n" LINKS "grow " CARD
                                            "/hwmon/hwmon3/energy1_input 200000000 10000000\nend\n";
    static const struct {
        const char *label;
        const char *rescan;
        int first; /* second of the first reading afterwards */
    } cases[] = {
        {"reload, seen while it was read", "1h", 5},
        {"reload, seen by a search for GPUs", "1s", 4},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct machine machine;
        test_label = cases[i].label;
        if (!begin(&machine, text, cases[i].rescan, "0s"))
            return;
        for (int s = 0; s < 8; s++) {
            gather(&machine);
            bool is_back = s >= cases[i].first;
            CHECK_INT(machine.count[GTEL_M_ENERGY], s <= 3 || is_back);
            CHECK_INT(machine.count[GTEL_M_POWER], (s > 0 && s <= 3) || s > cases[i].first);
            if (machine.count[GTEL_M_POWER] > 0)
                CHECK_NEAR(machine.last[GTEL_M_POWER], 10, 0.01);
            gtel_env_tree_step(&machine.env, second_ns);
        }
        end(&machine);
    }
}

/*
 * Asleep from 2 s to 4 s, with its counter of idle time at rest: no share of time spans the sleep,
 * and the first one after it is whole. The energy of the sleep is energy all the same.
 */
static void test_device_sleep(void)
{
    static const char text[] =
        LINKS ENERGY "grow " CARD "/drm/card1/gt/gt0/rc6_residency_ms 1000 400\n"
                     "at 1500ms\nfile " CARD "/power/runtime_status\n| suspended\n"
                     "grow " CARD "/drm/card1/gt/gt0/rc6_residency_ms 1600 0\n"
                     "at 4s\nfile " CARD "/power/runtime_status\n| active\n"
                     "grow " CARD "/drm/card1/gt/gt0/rc6_residency_ms 1600 400\nend\n";
    struct machine machine;
    test_label = "a GPU that sleeps";
    if (!begin(&machine, text, "1h", "0s"))
        return;
    for (int s = 0; s < 7; s++) {
        gather(&machine);
        CHECK_INT(machine.count[GTEL_M_FREQUENCY_IDLE], s == 1 || s > 4);
        CHECK_INT(machine.count[GTEL_M_POWER], s == 1 || s >= 4);
        if (machine.count[GTEL_M_FREQUENCY_IDLE] > 0)
            CHECK_NEAR(machine.last[GTEL_M_FREQUENCY_IDLE], 0.4, 1e-6);
        if (machine.count[GTEL_M_POWER] > 0)
            CHECK_NEAR(machine.last[GTEL_M_POWER], 10, 0.01);
        gtel_env_tree_step(&machine.env, second_ns);
    }
    end(&machine);
}

/*
 * Asleep between 2 s and 3 s, and as no gather has met it, only its kernel's count of that time
 * shows it: no share of idle time spans it, whether the count grows or begins again.
 */
static void test_missed_sleep(void)
{
    static const char text[] =
        LINKS ENERGY "grow " CARD "/drm/card1/gt/gt0/rc6_residency_ms 1000 400\n"
                     "file " CARD "/power/runtime_suspended_time\n| 1000\n"
                     "at 2500ms\nfile " CARD "/power/runtime_suspended_time\n| 1001\n"
                     "at 5500ms\nfile " CARD "/power/runtime_suspended_time\n| 1000\nend\n";
    struct machine machine;
    test_label = "a sleep that no gather has met";
    if (!begin(&machine, text, "1h", "0s"))
        return;
    for (int s = 0; s < 9; s++) {
        gather(&machine);
        CHECK_INT(machine.count[GTEL_M_FREQUENCY_IDLE], s > 0 && s != 3 && s != 6);
        CHECK_INT(machine.count[GTEL_M_POWER], s > 0);
        gtel_env_tree_step(&machine.env, second_ns);
    }
    end(&machine);
}

/* A search for GPUs that fails says nothing about those that are known: they are read on. */
static void test_failed_look(void)
{
    static const char text[] = LINKS ENERGY "at 1500ms\nrefuse sys/class/drm EACCES\nend\n";
    struct machine machine;
    test_label = "a check that fails";
    if (!begin(&machine, text, "1s", "0s"))
        return;
    for (int s = 0; s < STEPS_MAX; s++) {
        gather(&machine);
        CHECK_INT(machine.count[GTEL_M_ENERGY], 1);
        gtel_env_tree_step(&machine.env, second_ns);
    }
    CHECK(machine.last[GTEL_M_SELF_ERRORS] > 0);
    end(&machine);
}

static int fail(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    (void)registry;
    (void)batch;
    (*(unsigned *)state)++;
    return -EIO;
}

static int find_none(void *state, struct gtel_registry *registry)
{
    (void)state;
    (void)registry;
    return 0;
}

/* A source that fails is tried again after 64 s or one gather, however rare the gathers are. */
static void test_tries(void)
{
    static const struct gtel_source source = {
        .name = "x", .discover = find_none, .sample = fail, .state_size = sizeof(unsigned)};
    static const struct {
        const char *label;
        uint64_t step_s; /* between gathers */
        unsigned tries;  /* in 100 gathers: 1, 2, 4, 7, 12 … */
    } cases[] = {{"tries, 1 s", 1, 8}, {"tries, 20 s", 20, 27}, {"tries, 300 s", 300, 99}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct machine machine;
        struct gtel_group group;
        unsigned tries = 0;
        test_label = cases[i].label;
        if (!begin(&machine, "end\n", "1h", "0s"))
            return;
        CHECK_INT(gtel_group_init(&group, "none", &machine.env, &machine.options), 0);
        group.entry[0] = (struct gtel_group_entry){.source = source, .state = &tries};
        group.n = 1;
        for (int gather = 0; gather < 100; gather++) {
            gtel_group_sample(&group);
            gtel_env_tree_step(&machine.env, cases[i].step_s * second_ns);
        }
        CHECK_INT(tries, cases[i].tries);
        group.n = 0;
        gtel_group_done(&group);
        end(&machine);
    }
}

/* What the kernel remembers of a GPU does not show that the GPU answers. */
static void test_indirect(void)
{
    static const char text[] = LINKS "uevents on\nerror " CARD "/power/runtime_status EIO\nend\n";
    struct machine machine;
    test_label = "a GPU that is only heard of";
    if (!begin(&machine, text, "1h", "0s"))
        return;
    gather(&machine);
    CHECK_INT(machine.count[GTEL_M_GPU_RESETS], 1);
    CHECK_INT(machine.count[GTEL_M_GPU_UP], 1);
    CHECK_INT((int)machine.last[GTEL_M_GPU_UP], 0);
    end(&machine);
}

/* A driver that takes a GPU says so: it is read immediately, not at the next search for GPUs. */
static void test_hotplug(void)
{
    static const char text[] =
        "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:00:03.0/drm/card0\n"
        "file sys/devices/pci0000:00/0000:00:03.0/uevent\n| DRIVER=xe\n"
        "| PCI_SLOT_NAME=0000:00:03.0\n"
        "link sys/devices/pci0000:00/0000:00:03.0/drm/card0/device -> ../../../0000:00:03.0\n"
        "uevents on\nat 1500ms\n" LINKS ENERGY
        "uevent bind /devices/pci0000:00/0000:00:02.0 SUBSYSTEM=pci DRIVER=i915\nend\n";
    struct machine machine;
    test_label = "a driver that comes";
    if (!begin(&machine, text, "1h", "0s"))
        return;
    for (int s = 0; s < 4; s++) {
        gather(&machine);
        CHECK_INT(machine.count[GTEL_M_ENERGY], s >= 2);
        gtel_env_tree_step(&machine.env, second_ns);
    }
    end(&machine);
}

static uint64_t suspended_ns(void *arg)
{
    (void)arg;
    return slept_ns;
}

/* A rate does not span a sleep; two clocks that were not read at the same moment are no sleep. */
static void test_sleep(void)
{
    struct machine machine;
    test_label = "sleep";
    if (!begin(&machine, LINKS ENERGY "end\n", "30s", "0s"))
        return;
    struct gtel_env_ops ops = *machine.env.ops;
    ops.suspended_ns = suspended_ns;
    machine.env.ops = &ops;
    for (int s = 0; s < STEPS_MAX; s++) {
        slept_ns = (s >= 7 ? 2 * second_ns : 0) + (s % 2 ? 20000000 : 0);
        gather(&machine);
        CHECK_INT(machine.count[GTEL_M_POWER], s > 0 && s != 7);
        gtel_env_tree_step(&machine.env, second_ns);
    }
    end(&machine);
}

/* Gathers that are asked for more often than samples would be taken: each has its rates. */
static void test_rare_samples(void)
{
    struct machine machine;
    test_label = "SampleInterval beyond the interval";
    if (!begin(&machine, LINKS ENERGY "end\n", "30s", "1m"))
        return;
    for (int s = 0; s < STEPS_MAX; s++) {
        gather(&machine);
        CHECK_INT(machine.count[GTEL_M_POWER], s > 0);
        gtel_env_tree_step(&machine.env, 5 * second_ns);
    }
    end(&machine);
}

/* What was sampled early in a long interval is part of it, however many samples came after. */
static void test_early_sample(void)
{
    static const char text[] =
        LINKS ENERGY "at 10500ms\nerror " CARD "/hwmon/hwmon3/temp1_input EIO\nend\n";
    struct machine machine;
    test_label = "samples early in an interval";
    if (!begin(&machine, text, "30s", "100ms"))
        return;
    for (int n = 1; n <= 300; n++) {
        gtel_env_tree_step(&machine.env, second_ns / 10);
        if (n % 100 != 0) {
            gtel_context_sample(machine.context, 0);
            continue;
        }
        gather(&machine);
        CHECK_INT(machine.count[GTEL_M_TEMPERATURE], n <= 200);
    }
    end(&machine);
}

/* A client that has worked for so long, of a process that began after as many ticks as its pid. */
static void put_client(struct gtel_buf *text, unsigned pid, char name, unsigned ms)
{
    gtel_buf_printf(text,
                    "char proc/%u/fd/5 226:128\n"
                    "file proc/%u/stat\n| %u (%c) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %u 0 0\n"
                    "file proc/%u/fdinfo/5\n| drm-driver:\ti915\n| drm-pdev:\t0000:00:02.0\n"
                    "| drm-client-id:\t%u\n| drm-engine-render:\t%u000000 ns\n"
                    "| drm-resident-local0:\t8 MiB\n",
                    pid, pid, pid, name, pid, pid, pid, ms);
}

/*
 * One after the other has the GPU to itself: "a" in the first three samples of an interval, "b" in
 * the last one. Their shares together are not more than the GPU. Memory is the mean while it was
 * there.
 */
static void test_one_after_another(void)
{
    struct gtel_buf text;
    struct machine machine;
    test_label = "one after another";
    gtel_buf_init(&text, 1 << 16);
    gtel_buf_printf(&text, LINKS
                    "link sys/class/drm/renderD128 -> "
                    "../../devices/pci0000:00/0000:00:02.0/drm/renderD128\n"
                    "link " CARD "/drm/renderD128/device -> ../../../0000:00:02.0\n"
                    "link proc/self/ns/pid -> pid:[4026531836]\n"
                    "file proc/1/comm\n| init\nlink proc/1/fd/0 -> /dev/null\n"
                    "file proc/1/stat\n| 1 (init) S 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 0 0 0\n");
    for (unsigned t = 0; t < 4; t++) {
        put_client(&text, 50, 'a', 1000 * t);
        gtel_buf_printf(&text, "at %us\n", t + 1);
    }
    gtel_buf_printf(&text, "gone proc/50\n");
    put_client(&text, 450, 'b', 500);
    gtel_buf_printf(&text, "end\n");
    gtel_buf_char(&text, '\0');
    if (!begin(&machine, text.p, "30s", "1s"))
        return;
    gather(&machine);
    for (int t = 1; t <= 3; t++) {
        gtel_env_tree_step(&machine.env, second_ns);
        gtel_context_sample(machine.context, 0);
    }
    gtel_env_tree_step(&machine.env, second_ns);
    gather(&machine);
    CHECK_INT(machine.count[GTEL_M_PROCESS_BUSY], 2);
    CHECK_NEAR(machine.sum[GTEL_M_PROCESS_BUSY], 0.75 + 0.125, 1e-9);
    CHECK_NEAR(machine.sum[GTEL_M_PROCESS_RENDER], 0.75 + 0.125, 1e-9);
    CHECK_NEAR(machine.least[GTEL_M_PROCESS_BUSY], 0, 0);
    CHECK_NEAR(machine.last[GTEL_M_PROCESS_MEMORY], 8 << 20, 0);
    CHECK_NEAR(machine.last[GTEL_M_GPU_PROCESSES], 1, 0);
    end(&machine);
    gtel_buf_done(&text);
}

/* The next helper counts from 0; what is reported to the user goes on. */
static void test_totals(void)
{
    struct machine machine;
    struct gtel_lane lane;
    test_label = "totals of a lane";
    if (!begin(&machine, "end\n", "30s", "0s"))
        return;
    struct gtel_lane_setup setup = {.name = "kernel",
                                    .env = &machine.env,
                                    .options = &machine.options,
                                    .helper = "/nonexistent/gtel"};
    CHECK_INT(gtel_lane_init(&lane, &setup), 0);
    for (unsigned i = 1; i <= 2; i++) {
        lane.answer = (struct gtel_answer){.errors = 3, .dropped = 5, .rss_bytes = 7};
        gtel_lane_understood(&lane, -EPROTO);
        CHECK_INT(lane.past.errors, 3 * i);
        CHECK_INT(lane.past.dropped, 5 * i);
        CHECK_INT(lane.answer.errors + lane.answer.dropped + lane.answer.rss_bytes, 0);
    }
    gtel_lanes_done(&lane, 1, 0);
    end(&machine);
}

/* What a helper reports, as a front end takes it in: returns whether device i is known after it. */
static bool report(const struct gtel_registry *reported, struct gtel_registry *registry,
                   struct gtel_wire_map *map, struct gtel_self *self, size_t i)
{
    struct gtel_answer answer = {.request = 1};
    struct gtel_batch none = {0};
    struct gtel_batch batch = {0};
    struct gtel_buf buf;
    struct gtel_frame frame;
    size_t used;
    gtel_buf_init(&buf, GTEL_FRAME_MAX);
    gtel_wire_answer(&buf, &answer, reported, true, &none);
    CHECK_INT(gtel_frame_next(gtel_buf_text(&buf), &frame, &used), 0);
    CHECK_INT(gtel_wire_read_answer(frame.payload, registry, map, &batch, &answer), 0);
    gtel_self_begin(self, self->request + 1);
    gtel_self_answered(self, registry, map, &batch, UINT32_MAX);
    gtel_batch_done(&batch);
    gtel_buf_done(&buf);
    return self->device[i].answer != GTEL_SELF_NONE;
}

/* A GPU that a new helper never sees is down, not unknown; one that came back counts from 0. */
static void test_new_helper(void)
{
    struct gtel_registry before = {0};
    struct gtel_registry after = {0};
    struct gtel_registry registry = {0};
    struct machine machine;
    struct gtel_self self;
    struct gtel_device *device;
    static struct gtel_wire_map map;
    test_label = "new helper";
    if (!begin(&machine, "end\n", "30s", "0s"))
        return;
    gtel_self_init(&self, &machine.env);
    CHECK_INT(gtel_registry_add(&before, GTEL_STR("0000:03:00.0"), &device), 0);
    CHECK_INT(gtel_registry_add(&before, GTEL_STR("0000:04:00.0"), &device), 0);
    CHECK(report(&before, &registry, &map, &self, 0));
    CHECK_INT(registry.device[1]->arrivals, 1);
    gtel_registry_lost(&before, device);
    CHECK_INT(gtel_registry_add(&before, GTEL_STR("0000:04:00.0"), &device), 0);
    CHECK(report(&before, &registry, &map, &self, 0));
    CHECK_INT(registry.device[0]->arrivals, 1);
    CHECK_INT(registry.device[1]->arrivals, 2);

    CHECK_INT(gtel_registry_add(&after, GTEL_STR("0000:04:00.0"), &device), 0);
    CHECK(report(&after, &registry, &map, &self, 0));
    CHECK(self.device[1].answer != GTEL_SELF_NONE);
    CHECK_INT(map.n, 1);
    gtel_self_done(&self, &machine.env);
    gtel_registry_done(&before);
    gtel_registry_done(&after);
    gtel_registry_done(&registry);
    end(&machine);
}

static size_t count(const struct gtel_batch *batch, enum gtel_metric metric)
{
    size_t n = 0;
    for (size_t i = 0; i < batch->n; i++)
        n += batch->reading[i].metric == metric;
    return n;
}

/*
 * A GPU of which only indirect readings have come, because the other lane is late or there is none.
 */
static void test_indirect_only(void)
{
    struct gtel_registry registry = {0};
    struct gtel_options options;
    struct gtel_self self;
    struct gtel_env env;
    struct gtel_tree *tree = NULL;
    struct gtel_device *device;
    static struct gtel_wire_map map;
    static struct gtel_batch batch;
    char error[128];
    test_label = "indirect only";
    CHECK_INT(gtel_tree_parse(GTEL_STR("end\n"), &tree, error, sizeof(error)), 0);
    CHECK_INT(gtel_env_tree_init(tree, true, 0, &env), 0);
    gtel_options_init(&options);
    gtel_self_init(&self, &env);
    CHECK_INT(gtel_registry_add(&registry, GTEL_STR("0000:03:00.0"), &device), 0);
    map.arrivals[0] = 1;
    for (int has_direct_sources = 0; has_direct_sources < 2; has_direct_sources++) {
        gtel_batch_reset(&batch);
        gtel_self_begin(&self, self.request + 1);
        gtel_self_answered(&self, &registry, &map, &batch, 0);
        gtel_self_answered(&self, &registry, &map, &batch, has_direct_sources ? UINT32_MAX : 0);
        gtel_self_report(&self, &registry, &options, &batch);
        CHECK_INT(count(&batch, GTEL_M_GPU_UP), has_direct_sources);
        CHECK_INT(count(&batch, GTEL_M_INFO), !has_direct_sources);
        CHECK_INT(count(&batch, GTEL_M_GPU_READINGS_FAILED), 1);
    }
    gtel_self_done(&self, &env);
    gtel_batch_done(&batch);
    gtel_registry_done(&registry);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
}

/*
 * Two lanes with a GPU each. One is late: of its GPU nothing is known, and nothing is said; that of
 * the other is up.
 */
static void test_late_lane(void)
{
    struct gtel_registry registry = {0};
    struct gtel_options options;
    struct gtel_self self;
    struct gtel_env env;
    struct gtel_tree *tree = NULL;
    struct gtel_device *device[2];
    static struct gtel_wire_map map[2];
    static struct gtel_batch batch;
    char error[128];
    test_label = "a late lane";
    CHECK_INT(gtel_tree_parse(GTEL_STR("end\n"), &tree, error, sizeof(error)), 0);
    CHECK_INT(gtel_env_tree_init(tree, true, 0, &env), 0);
    gtel_options_init(&options);
    gtel_self_init(&self, &env);
    CHECK_INT(gtel_registry_add(&registry, GTEL_STR("0000:03:00.0"), &device[0]), 0);
    CHECK_INT(gtel_registry_add(&registry, GTEL_STR("0000:04:00.0"), &device[1]), 0);
    map[0].arrivals[0] = 1;
    map[1].arrivals[1] = 1;
    for (int late = 0; late < 2; late++) {
        struct gtel_reading reading = {.device = device[!late], .metric = GTEL_M_GPU_AWAKE};
        reading.source = (uint8_t)gtel_source_find(GTEL_STR("i915"));
        gtel_batch_reset(&batch);
        gtel_self_begin(&self, self.request + 1);
        gtel_self_answered(&self, &registry, &map[!late], &batch, UINT32_MAX);
        gtel_self_record(&self, &reading);
        gtel_self_report(&self, &registry, &options, &batch);
        CHECK(self.device[late].answer == GTEL_SELF_NONE);
        CHECK(self.device[!late].answer != GTEL_SELF_NONE);
        CHECK_INT(count(&batch, GTEL_M_GPU_UP), 1);
        CHECK_INT(count(&batch, GTEL_M_GPU_READINGS_FAILED), 1);
        for (size_t i = 0; i < batch.n; i++) {
            CHECK(batch.reading[i].device == device[!late]);
            if (batch.reading[i].metric == GTEL_M_GPU_UP)
                CHECK_INT(batch.reading[i].value.u64, 1);
        }
    }
    gtel_self_done(&self, &env);
    gtel_batch_done(&batch);
    gtel_registry_done(&registry);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
}

/*
 * A GPU that two lanes know. The late answer of one adds what the other has not said since its
 * request: nothing twice at one time, nothing older than what is known.
 */
static void test_late_answer(void)
{
    static const struct {
        const char *label;
        uint64_t request;
        bool is_direct;
        size_t up;
        size_t failed;
    } steps[] = {
        {"in time, indirect", 1, false, 0, 1}, {"late, direct", 1, true, 1, 0},
        {"late, once more", 1, true, 0, 0},    {"in time, direct", 5, true, 1, 1},
        {"late, indirect", 5, false, 0, 0},    {"much later", 2, true, 0, 0},
        {"the next", 6, true, 1, 1},
    };
    static struct machine machine;
    static struct gtel_wire_map map;
    static struct gtel_batch batch;
    struct gtel_registry registry = {0};
    struct gtel_self self;
    struct gtel_device *device;
    if (!begin(&machine, "end\n", "30s", "0s"))
        return;
    gtel_self_init(&self, &machine.env);
    CHECK_INT(gtel_registry_add(&registry, GTEL_STR("0000:03:00.0"), &device), 0);
    map.arrivals[0] = 1;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(steps); i++) {
        test_label = steps[i].label;
        gtel_batch_reset(&batch);
        gtel_self_begin(&self, steps[i].request);
        gtel_self_answered(&self, &registry, &map, &batch, steps[i].is_direct ? UINT32_MAX : 0);
        gtel_self_report(&self, &registry, &machine.options, &batch);
        CHECK_INT(count(&batch, GTEL_M_GPU_UP), steps[i].up);
        CHECK_INT(count(&batch, GTEL_M_GPU_READINGS_FAILED), steps[i].failed);
    }
    gtel_self_done(&self, &machine.env);
    gtel_batch_done(&batch);
    gtel_registry_done(&registry);
    end(&machine);
}

/* Devices come and go under new names: one too many costs its own readings, not the lane's. */
static void test_full(void)
{
    struct gtel_registry reported = {0};
    struct gtel_registry registry = {0};
    struct gtel_device *device;
    struct gtel_answer answer = {.request = 1};
    static struct gtel_batch sent;
    static struct gtel_batch batch;
    static struct gtel_wire_map map;
    struct gtel_frame frame;
    struct gtel_buf buf;
    size_t used;
    test_label = "a full registry";
    for (int i = 0; i < GTEL_DEVICES_MAX; i++) {
        char key[16];
        (void)snprintf(key, sizeof(key), "nvidia:%d", i);
        CHECK_INT(gtel_registry_add(&registry, gtel_str_of(key), &device), 0);
    }
    CHECK_INT(gtel_registry_add(&reported, GTEL_STR("nvidia:new"), &device), 0);
    gtel_batch_u64(&sent, device, GTEL_M_FAN_RPM, GTEL_STR_NONE, 1);
    gtel_batch_failed(&sent, device);
    CHECK_INT(gtel_registry_add(&reported, GTEL_STR("nvidia:7"), &device), 0);
    gtel_batch_u64(&sent, device, GTEL_M_FAN_RPM, GTEL_STR_NONE, 2);
    gtel_buf_init(&buf, GTEL_FRAME_MAX);
    gtel_wire_answer(&buf, &answer, &reported, true, &sent);
    CHECK_INT(gtel_frame_next(gtel_buf_text(&buf), &frame, &used), 0);
    CHECK_INT(gtel_wire_read_answer(frame.payload, &registry, &map, &batch, &answer), 0);
    CHECK_INT(batch.n, 1);
    if (batch.n == 1)
        CHECK_STR(gtel_str_of(batch.reading[0].device->key), "nvidia:7");
    CHECK_INT(batch.dropped + registry.dropped, 2);
    gtel_buf_done(&buf);
    gtel_batch_done(&sent);
    gtel_batch_done(&batch);
    gtel_registry_done(&reported);
    gtel_registry_done(&registry);
}

int main(void)
{
    test_full();
    test_totals();
    test_new_helper();
    test_indirect_only();
    test_late_lane();
    test_late_answer();
    test_reload();
    test_device_sleep();
    test_missed_sleep();
    test_failed_look();
    test_tries();
    test_indirect();
    test_hotplug();
    test_rare_samples();
    test_early_sample();
    test_one_after_another();
    test_sleep();
    return test_result();
}
