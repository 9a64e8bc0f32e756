/* SPDX-License-Identifier: MIT */
/* The context on a machine without GPUs, and its log. */
#include "gtel.h"
#include "pipeline/series.h"
#include "recording/tree.h"
#include "harness/test.h"

#include <errno.h>

struct record {
    unsigned begins;
    unsigned puts;
    unsigned of_metric[GTEL_M_COUNT];
    double last_of[GTEL_M_COUNT];
    unsigned logs;
    char last[512];
};

static void on_begin(void *arg, uint64_t wall_ns)
{
    struct record *record = arg;
    CHECK(wall_ns > 0);
    record->begins++;
}

static void on_put(void *arg, const struct gtel_reading *reading, enum gtel_aspect aspect)
{
    struct record *record = arg;
    CHECK_INT(aspect, GTEL_ASPECT_VALUE);
    record->puts++;
    record->of_metric[reading->metric]++;
    record->last_of[reading->metric] = gtel_reading_number(reading);
}

static void on_end(void *arg)
{
    (void)arg;
}

static void on_log(void *arg, enum gtel_log_level level, const char *text)
{
    struct record *record = arg;
    (void)level;
    record->logs++;
    (void)gtel_str_copy(record->last, sizeof(record->last), gtel_str_of(text));
}

/* A recorded machine, options, and what a context on it emits. */
struct world {
    struct record record;
    struct gtel_sink sink;
    struct gtel_tree *tree;
    struct gtel_env env;
    struct gtel_options options;
    struct gtel_setup setup;
    struct gtel_context *context;
};

static bool begin(struct world *world, const char *text)
{
    char error[128];
    *world = (struct world){
        .sink = {&world->record, on_begin, on_put, on_end},
        .setup = {.env = &world->env, .options = &world->options, .sink = &world->sink}};
    gtel_options_init(&world->options);
    if (!CHECK(gtel_tree_parse(gtel_str_of(text), &world->tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(world->tree, true, 0, &world->env) == 0))
        return false;
    world->env.log = (struct gtel_log){on_log, &world->record};
    return true;
}

static void set(struct world *world, enum gtel_option option, const char *text)
{
    char error[128];
    CHECK_INT(gtel_option_set(&world->options, option, gtel_str_of(text), error, sizeof(error)), 0);
}

static void end(struct world *world)
{
    gtel_context_free(world->context);
    gtel_env_tree_done(&world->env);
    gtel_tree_free(world->tree);
}

static void test_no_gpu(void)
{
    struct world world;
    if (!begin(&world, "end\n"))
        return;
    CHECK_INT(gtel_context_new(&world.setup, &world.context), 0);
    for (int i = 0; i < 5; i++) {
        gtel_context_gather(world.context);
        gtel_env_tree_step(&world.env, 1000000000);
    }
    CHECK_INT(world.record.begins, 5);
    CHECK_INT(world.record.of_metric[GTEL_M_SELF_GPUS], 5);
    CHECK_INT(world.record.of_metric[GTEL_M_GPU_UP], 0);
    CHECK_INT(world.record.logs, 1); /* said once */
    CHECK(strstr(world.record.last, "no GPU found:") != NULL);
    gtel_context_free(world.context);
    world.context = NULL;

    set(&world, GTEL_O_SOURCES, "i915");
    CHECK_INT(gtel_context_new(&world.setup, &world.context), 0);
    gtel_context_gather(world.context);
    CHECK(strstr(world.record.last, "no GPU found by the sources in the option Sources:") != NULL);
    gtel_context_free(world.context);
    world.context = NULL;

    set(&world, GTEL_O_SOURCES, "nosuch");
    CHECK_INT(gtel_context_new(&world.setup, &world.context), -EINVAL);
    CHECK(strstr(world.record.last, "nosuch") != NULL);
    end(&world);
}

/* Names of other plugins' sources alone are an error, which names the plugin's own. */
static void test_foreign_sources(void)
{
    static const struct {
        const char *label;
        const char *vendor;
        const char *sources;
        const char *energy;
        const char *want; /* part of the message; NULL: there are sources */
        bool works;       /* all the same */
    } cases[] = {
        {"none given", "amd", "", "off", NULL, false},
        {"one of the two", "amd", "xe,amdgpu", "off", NULL, false},
        {"only others", "amd", "xe, i915", "off",
         "Sources names no source of this plugin; it has: amdgpu_uevents, amdgpu, ", false},
        {"no plugin", NULL, "xe", "off", NULL, false},
        {"not for the energy of processes", "clients", "xe", "off", "it has: drm_clients", false},
        {"for the energy of processes", "clients", "xe", "on", NULL, false},
        {"a wrong name first", "amd", "nosuch,xe", "off", "Sources: 'nosuch' is no source", false},
        {"off without its own option", "intel", "xe_stall", "off",
         "source xe_stall reports nothing unless the option XeStalls is on", true},
        {"off in the program", NULL, "xe_stall", "off", "unless the option --xe-stalls is on",
         true},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct world world;
        test_label = cases[i].label;
        if (!begin(&world, "end\n"))
            return;
        set(&world, GTEL_O_SOURCES, cases[i].sources);
        set(&world, GTEL_O_PROCESS_ENERGY, cases[i].energy);
        world.setup.vendor = cases[i].vendor;
        CHECK_INT(gtel_context_new(&world.setup, &world.context),
                  cases[i].want && !cases[i].works ? -EINVAL : 0);
        CHECK_INT(world.record.logs, cases[i].want != NULL);
        CHECK(strstr(world.record.last, cases[i].want ? cases[i].want : "") != NULL);
        end(&world);
    }
    test_label = "";
}

#define DEVICE "sys/devices/pci0000:00/0000:03:00.0"
/* 25 W, counted in microjoules. */
static const char counting[] =
    "file " DEVICE "/uevent\n| DRIVER=i915\n| PCI_ID=8086:56A0\n| PCI_SLOT_NAME=0000:03:00.0\n"
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:03:00.0/drm/card0\n"
    "link " DEVICE "/drm/card0/device -> ../../../0000:03:00.0\n"
    "file " DEVICE "/hwmon/hwmon3/name\n| i915\n"
    "grow " DEVICE "/hwmon/hwmon3/energy1_input 1000000 25000000\nend\n";

/* Whether a rate is reported after each step: not after a gap of more than ten intervals, nor in
 * less than a tenth of one. What the interval is, is given or learned. */
static void test_intervals(void)
{
    static const struct {
        const char *label;
        unsigned given_s;
        struct {
            unsigned ms;
            bool has_rate;
        } step[8]; /* up to one of 0 ms */
    } cases[] = {
        {"learned from two periods", 0, {{1000, true}, {1000, true}, {12000, false}, {1000, true}}},
        {"nearly equal ones", 0, {{1000, true}, {1900, true}, {18000, true}, {20000, false}}},
        {"not from one", 0, {{1000, true}, {12000, true}, {200000, true}}},
        {"not from two that differ", 0, {{1000, true}, {2100, true}, {25000, true}}},
        {"learned again",
         0,
         {{1000, true}, {1000, true}, {12000, false}, {12000, false}, {100000, true}}},
        {"a call too soon", 0, {{10000, true}, {10000, true}, {900, false}, {10000, true}}},
        {"given", 2, {{19000, true}, {21000, false}, {19000, true}, {100, false}, {2000, true}}},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct world world;
        test_label = cases[i].label;
        if (!begin(&world, counting))
            return;
        set(&world, GTEL_O_SOURCES, "i915");
        world.setup.interval_ns = cases[i].given_s * UINT64_C(1000000000);
        if (!CHECK(gtel_context_new(&world.setup, &world.context) == 0))
            return;
        gtel_context_gather(world.context);
        for (size_t k = 0; cases[i].step[k].ms > 0; k++) {
            gtel_env_tree_step(&world.env, cases[i].step[k].ms * UINT64_C(1000000));
            world.record.of_metric[GTEL_M_GPU_POWER] = 0;
            gtel_context_gather(world.context);
            if (!CHECK(world.record.of_metric[GTEL_M_GPU_POWER] == cases[i].step[k].has_rate))
                printf("    step %zu\n", k);
        }
        end(&world);
    }
    test_label = "";
}

/* What changes seldom: sent when it is new, has changed, has come back, or after InfoInterval. */
static const char limits[] =
    "file " DEVICE "/uevent\n| DRIVER=i915\n| PCI_ID=8086:56A0\n| PCI_SLOT_NAME=0000:03:00.0\n"
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:03:00.0/drm/card0\n"
    "link " DEVICE "/drm/card0/device -> ../../../0000:03:00.0\n"
    "file " DEVICE "/hwmon/hwmon3/name\n| i915\n"
    "file " DEVICE "/hwmon/hwmon3/fan1_input\n| 700\n"
    "file " DEVICE "/hwmon/hwmon3/power1_max\n| 190000000\n"
    "at 20s\n"
    "file " DEVICE "/hwmon/hwmon3/power1_max\n| 150000000\n"
    "at 40s\ngone " DEVICE "/hwmon/hwmon3/power1_max\n"
    "at 60s\nfile " DEVICE "/hwmon/hwmon3/power1_max\n| 150000000\nend\n";

static void test_unchanged(void)
{
    static const struct {
        const char *label;
        unsigned limit;    /* how often it is sent */
        unsigned restarts; /* the same: a counter that stays 0 */
    } gathers[] = {
        {"new", 1, 1},      {"the same", 0, 0}, {"changed", 1, 0},  {"the same", 0, 0},
        {"gone", 0, 0},     {"gone", 0, 0},     {"back", 1, 0},     {"the same", 0, 0},
        {"80 s old", 0, 1}, {"the same", 0, 0}, {"the same", 0, 0}, {"the same", 0, 0},
        {"the same", 0, 0}, {"the same", 0, 0}, {"80 s old", 1, 0}, {"the same", 0, 0},
    };
    for (int is_omitting = 0; is_omitting < 2; is_omitting++) {
        struct world world;
        if (!begin(&world, limits))
            return;
        set(&world, GTEL_O_SOURCES, "i915");
        set(&world, GTEL_O_INFO_INTERVAL, "80s");
        set(&world, GTEL_O_UNCHANGED, is_omitting ? "omit" : "send");
        if (!CHECK(gtel_context_new(&world.setup, &world.context) == 0))
            return;
        for (size_t i = 0; i < GTEL_ARRAY_LEN(gathers); i++) {
            test_label = gathers[i].label;
            memset(world.record.of_metric, 0, sizeof(world.record.of_metric));
            gtel_context_gather(world.context);
            bool is_gone = i == 4 || i == 5;
            CHECK_INT(world.record.of_metric[GTEL_M_POWER_LIMIT],
                      is_omitting ? gathers[i].limit : !is_gone);
            CHECK_INT(world.record.of_metric[GTEL_M_SELF_LANE_RESTARTS],
                      is_omitting ? gathers[i].restarts : 1);
            CHECK_INT(world.record.of_metric[GTEL_M_GPU_UP], 1);
            gtel_env_tree_step(&world.env, UINT64_C(10000000000));
        }
        end(&world);
    }
    test_label = "";
}

/* A state that was different for a moment between the samples of an interval is no known one. */
static void test_flash(void)
{
    static const struct {
        const char *label;
        double samples[2];
        bool is_sent;
    } gathers[] = {{"new", {0, 0}, true},
                   {"the same", {0, 0}, false},
                   {"for a moment", {1, 0}, true},
                   {"after a mean", {0, 0}, true},
                   {"the same again", {0, 0}, false}};
    struct gtel_series series = {
        .now = {.metric = GTEL_M_THROTTLE_ACTIVE, .value_type = GTEL_VALUE_F64}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(gathers); i++) {
        test_label = gathers[i].label;
        gtel_window_reset(&series.window);
        for (size_t k = 0; k < 2; k++) {
            series.now.value.f64 = gathers[i].samples[k];
            gtel_window_add(&series.window, &series.now);
        }
        CHECK(gtel_series_mark_sent(&series, i + 1, i + 1, 1000) == gathers[i].is_sent);
    }
    test_label = "";
}

/*
 * A row that is read each sixth gather, with InfoInterval of 400 s and a gather each 10 s: what it
 * skips is no absence, and it is sent again before it is older than that.
 */
static void test_slow(void)
{
    static const struct {
        const char *label;
        uint64_t gather;
        bool is_sent;
    } readings[] = {{"new", 1, true},
                    {"the next", 2, false},
                    {"the first pause, which may be an absence", 8, true},
                    {"the same pause", 14, false},
                    {"half as long again", 23, false},
                    {"the same pause", 29, false},
                    {"the same pause", 35, false},
                    {"390 s old at the next reading", 41, false},
                    {"450 s old at the next reading", 47, true},
                    {"an absence of ten gathers", 57, true},
                    {"a shorter pause", 63, false}};
    struct gtel_series series = {
        .now = {.metric = GTEL_M_THROTTLE_ACTIVE, .value_type = GTEL_VALUE_F64}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(readings); i++) {
        uint64_t now_ns = readings[i].gather * UINT64_C(10000000000);
        test_label = readings[i].label;
        gtel_window_reset(&series.window);
        gtel_window_add(&series.window, &series.now);
        CHECK(gtel_series_mark_sent(&series, readings[i].gather, now_ns, UINT64_C(400000000000)) ==
              readings[i].is_sent);
    }
    test_label = "";
}

#define XE "sys/devices/pci0000:00/0000:03:00.0"
#define XE_PMU "sys/bus/event_source/devices/xe_0000_03_00.0"
/* A GPU that works, whose counters are refused; the message of that shows that they are opened. */
static const char refusing[] =
    "file " XE "/uevent\n| DRIVER=xe\n| PCI_ID=8086:E20B\n| PCI_SLOT_NAME=0000:03:00.0\n"
    "link sys/class/drm/card1 -> ../../devices/pci0000:00/0000:03:00.0/drm/card1\n"
    "link " XE "/drm/card1/device -> ../../../0000:03:00.0\n"
    "dir " XE "/tile0/gt0/engines/rcs\nfile " XE "/tile0/gt0/gtidle/name\n| gt0-rc\n"
    "grow " XE "/tile0/gt0/gtidle/idle_residency_ms 7 250\n"
    "file " XE_PMU "/type\n| 13\nfile " XE_PMU "/cpumask\n| 0\n"
    "file " XE_PMU "/events/engine-active-ticks\n| event=0x02\n"
    "file " XE_PMU "/events/engine-total-ticks\n| event=0x03\n"
    "pmu_error xe_0000_03_00.0 EACCES\nend\n";

/* Bursts of two plugins keep a GT awake for each other: the plugin of the processes makes none. */
static void test_meters(void)
{
    static const struct {
        const char *vendor;
        unsigned logs;
    } cases[] = {{"intel", 1}, {"clients", 0}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct world world;
        test_label = cases[i].vendor;
        if (!begin(&world, refusing))
            return;
        set(&world, GTEL_O_SOURCES, "xe,xe_pmu");
        set(&world, GTEL_O_PROCESS_ENERGY, "on");
        world.setup.vendor = cases[i].vendor;
        world.setup.interval_ns = 1000000000;
        CHECK_INT(gtel_context_new(&world.setup, &world.context), 0);
        for (int t = 0; t < 4; t++) {
            gtel_context_gather(world.context);
            gtel_env_tree_step(&world.env, 500000000);
            gtel_context_tick(world.context);
            gtel_env_tree_step(&world.env, 500000000);
        }
        CHECK_INT(world.record.logs, cases[i].logs);
        end(&world);
    }
    test_label = "";
}

/* A GPU is down where what shows it alive is silent, and not where that is not read at all. */
static void test_up(void)
{
    enum { NOT_SAID = 2 };
    static const struct {
        const char *label;
        const char *sources;
        unsigned alive; /* 0, 1 or NOT_SAID */
        unsigned dead;
    } cases[] = {
        {"all sources", "", 1, 0},
        {"its driver's own", "xe,drm_memory", 1, 0},
        {"another driver's and one of both", "i915,drm_memory", NOT_SAID, NOT_SAID},
        {"rights", "xe_pmu,drm_memory", NOT_SAID, NOT_SAID},
        {"all beside the driver's own", "xe_pmu,xe_stall,busy_files,drm_memory,rapl,drm_health",
         NOT_SAID, NOT_SAID},
    };
    for (size_t i = 0; i < 2 * GTEL_ARRAY_LEN(cases); i++) {
        bool is_dead = i % 2 == 1;
        unsigned want = is_dead ? cases[i / 2].dead : cases[i / 2].alive;
        struct world world;
        char text[sizeof(refusing) + 100];
        (void)snprintf(text, sizeof(text), "%s%s",
                       is_dead ? "error " XE "/power/runtime_status EIO\n" : "", refusing);
        test_label = cases[i / 2].label;
        if (!begin(&world, text))
            return;
        set(&world, GTEL_O_SOURCES, cases[i / 2].sources);
        CHECK_INT(gtel_context_new(&world.setup, &world.context), 0);
        gtel_context_gather(world.context);
        CHECK_INT(world.record.of_metric[GTEL_M_SELF_GPUS], 1);
        CHECK_INT(world.record.of_metric[GTEL_M_GPU_UP], want != NOT_SAID);
        CHECK_NEAR(world.record.last_of[GTEL_M_GPU_UP], want == 1, 0);
        end(&world);
    }
    test_label = "";
}

#define AMD "sys/devices/pci0000:00/0000:03:00.0"
#define VRAM(item, bytes) "file " AMD "/mem_info_vram_" item "\n| " bytes "\n"

/* Used memory as a share of its size: of the region, and of the GPU. */
static void test_shares(void)
{
    static const struct {
        const char *label;
        const char *files;
        unsigned shares;
        double share;
    } cases[] = {
        {"a quarter", VRAM("used", "250") VRAM("total", "1000"), 1, 0.25},
        {"nothing", VRAM("used", "0") VRAM("total", "1000"), 1, 0},
        {"all", VRAM("used", "1000") VRAM("total", "1000"), 1, 1},
        {"more than there is", VRAM("used", "1001") VRAM("total", "1000"), 0, 0},
        {"no size", VRAM("used", "250"), 0, 0},
        {"a size of 0", VRAM("used", "0") VRAM("total", "0"), 0, 0},
        {"no use", VRAM("total", "1000"), 0, 0},
        {"of different regions", VRAM("used", "250") "file " AMD "/mem_info_gtt_total\n| 1000\n", 0,
         0},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct world world;
        char text[1024];
        (void)snprintf(text, sizeof(text),
                       "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:03:00.0/drm/card0"
                       "\nlink " AMD "/drm/card0/device -> ../../../0000:03:00.0\n"
                       "file " AMD "/uevent\n| DRIVER=amdgpu\n| PCI_SLOT_NAME=0000:03:00.0\n"
                       "%send\n",
                       cases[i].files);
        test_label = cases[i].label;
        if (!begin(&world, text))
            return;
        CHECK_INT(gtel_context_new(&world.setup, &world.context), 0);
        gtel_context_gather(world.context);
        CHECK_INT(world.record.of_metric[GTEL_M_MEMORY_USED_RATIO], cases[i].shares);
        CHECK_INT(world.record.of_metric[GTEL_M_GPU_MEMORY_USED_RATIO], cases[i].shares);
        CHECK_NEAR(world.record.last_of[GTEL_M_MEMORY_USED_RATIO], cases[i].share, 0);
        CHECK_NEAR(world.record.last_of[GTEL_M_GPU_MEMORY_USED_RATIO], cases[i].share, 0);
        end(&world);
    }
    test_label = "";
}

#define GT(n) "sys/devices/pci0000:00/0000:03:00.0/tile0/gt" n "/freq0/throttle/"
#define REASONS(n) "file " GT(n) "status\n| 0\nfile " GT(n) "reason_pl1\n| 0\n"

/* A GPU is not throttled while all its GTs say so; one that is silent for long does not count. */
static void test_silent_part(void)
{
    static const char text[] =
        "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:03:00.0/drm/card0\n"
        "file sys/devices/pci0000:00/0000:03:00.0/uevent\n| DRIVER=xe\n"
        "| PCI_SLOT_NAME=0000:03:00.0\n"
        "link sys/devices/pci0000:00/0000:03:00.0/drm/card0/device -> ../../../0000:03:00.0\n"
        "file sys/devices/pci0000:00/0000:03:00.0/power/runtime_status\n| active\n" REASONS("0")
            REASONS("1") "at 5s\nerror " GT("1") "status EIO\nerror " GT(
                "1") "reason_pl1 EIO\nend\n";
    struct world world;
    test_label = "silent part";
    if (!begin(&world, text))
        return;
    CHECK_INT(gtel_context_new(&world.setup, &world.context), 0);
    for (unsigned second = 0; second < 20; second++) {
        bool is_known = second < 5 || second > 4 + GTEL_SERIES_AGE / 2;
        world.record.of_metric[GTEL_M_GPU_THROTTLED] = 0;
        gtel_context_gather(world.context);
        CHECK_INT(world.record.of_metric[GTEL_M_GPU_THROTTLED], is_known);
        gtel_env_tree_step(&world.env, 1000000000);
    }
    end(&world);
    test_label = "";
}

int main(void)
{
    test_silent_part();
    test_shares();
    test_up();
    test_meters();
    test_intervals();
    test_unchanged();
    test_flash();
    test_slow();
    test_no_gpu();
    test_foreign_sources();
    return test_result();
}
