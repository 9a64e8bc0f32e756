/* SPDX-License-Identifier: MIT */
/* gpu.busy_percent where no source reports it: from engines, else from idle time, never mixed. */
#include "base/buf.h"
#include "pipeline/headline.h"
#include "gtel.h"
#include "recording/tree.h"
#include "sources/source.h"
#include "harness/test.h"

#include <stdio.h>
#include <string.h>

#define I915 "sys/devices/pci0000:00/0000:00:02.0"
#define I915_CARD                                                                                  \
    "file " I915 "/uevent\n| DRIVER=i915\n| PCI_ID=8086:46A6\n| PCI_SLOT_NAME=0000:00:02.0\n"      \
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:00:02.0/drm/card0\n"                \
    "link " I915 "/drm/card0/device -> ../../../0000:00:02.0\n"                                    \
    "grow " I915 "/drm/card0/gt/gt0/rc6_residency_ms 5 800\n"
#define I915_PMU "sys/bus/event_source/devices/i915"
#define I915_EVENTS                                                                                \
    "file " I915_PMU "/type\n| 12\nfile " I915_PMU "/cpumask\n| 0\n"                               \
    "file " I915_PMU "/events/rcs0-busy\n| config=0x0\n"                                           \
    "file " I915_PMU "/events/rcs0-busy.unit\n| ns\n"                                              \
    "file " I915_PMU "/events/vcs0-busy\n| config=0x2000\n"                                        \
    "file " I915_PMU "/events/vcs0-busy.unit\n| ns\n"
/* Render 10 %, video 30 %; by its idle time the GPU is at 20 %. */
#define I915_COUNTERS "pmu i915 0x0 0 1e8\npmu i915 0x2000 0 3e8\n"

#define XE "sys/devices/pci0000:00/0000:03:00.0"
#define XE_CARD                                                                                    \
    "file " XE "/uevent\n| DRIVER=xe\n| PCI_ID=8086:E20B\n| PCI_SLOT_NAME=0000:03:00.0\n"          \
    "link sys/class/drm/card1 -> ../../devices/pci0000:00/0000:03:00.0/drm/card1\n"                \
    "link " XE "/drm/card1/device -> ../../../0000:03:00.0\n"                                      \
    "dir " XE "/tile0/gt0/engines/rcs\nfile " XE "/tile0/gt0/gtidle/name\n| gt0-rc\n"              \
    "grow " XE "/tile0/gt0/gtidle/idle_residency_ms 7 250\n"
#define XE_PMU "sys/bus/event_source/devices/xe_0000_03_00.0"
#define XE_EVENTS                                                                                  \
    "file " XE_PMU "/type\n| 13\nfile " XE_PMU "/cpumask\n| 0\n"                                   \
    "file " XE_PMU "/events/engine-active-ticks\n| event=0x02\n"                                   \
    "file " XE_PMU "/events/engine-total-ticks\n| event=0x03\n"
/* Render 60 %; by its idle time the GPU is at 75 %. */
#define XE_COUNTERS "pmu xe_0000_03_00.0 0x2 0 6e8\npmu xe_0000_03_00.0 0x3 0 1e9\n"

struct machine {
    struct gtel_tree *tree;
    struct gtel_env env;
    struct gtel_options options;
    struct gtel_sink sink;
    struct gtel_context *context;
    double busy;      /* in the last gather; negative: absent */
    double throttled; /* the same */
    const char *origin;
    char source[256]; /* metrics_source, as reported last */
    unsigned warnings;
};

static void on_begin(void *arg, uint64_t wall_ns)
{
    struct machine *machine = arg;
    (void)wall_ns;
    machine->busy = -1;
    machine->throttled = -1;
    machine->origin = "";
}

static void on_put(void *arg, const struct gtel_reading *reading, enum gtel_aspect aspect)
{
    struct machine *machine = arg;
    (void)aspect;
    if (reading->metric == GTEL_M_GPU_BUSY) {
        machine->busy = gtel_reading_number(reading);
        machine->origin = gtel_reading_origin(reading);
    }
    if (reading->metric == GTEL_M_GPU_THROTTLED)
        machine->throttled = gtel_reading_number(reading);
    if (reading->metric == GTEL_M_INFO_METRICS_SOURCE)
        (void)gtel_str_copy(machine->source, sizeof(machine->source), reading->value.text);
}

static void on_end(void *arg)
{
    (void)arg;
}

static void on_log(void *arg, enum gtel_log_level level, const char *text)
{
    struct machine *machine = arg;
    (void)text;
    machine->warnings += level <= GTEL_LOG_WARNING;
}

static bool begin(struct machine *machine, const char *text, const char *sources)
{
    char error[128];
    *machine = (struct machine){.sink = {machine, on_begin, on_put, on_end}};
    if (!CHECK(gtel_tree_parse(gtel_str_of(text), &machine->tree, error, sizeof(error)) == 0))
        return false;
    CHECK_INT(gtel_env_tree_init(machine->tree, true, 0, &machine->env), 0);
    machine->env.log = (struct gtel_log){on_log, machine};
    gtel_options_init(&machine->options);
    CHECK_INT(gtel_option_set(&machine->options, GTEL_O_RESCAN, GTEL_STR("1s"), error, 128), 0);
    CHECK_INT(gtel_option_set(&machine->options, GTEL_O_SOURCES, gtel_str_of(sources), error, 128),
              0);
    CHECK_INT(gtel_option_set(&machine->options, GTEL_O_INFO_INTERVAL, GTEL_STR("5s"), error, 128),
              0);
    struct gtel_setup setup = {.env = &machine->env,
                               .options = &machine->options,
                               .sink = &machine->sink,
                               .interval_ns = 1000000000};
    if (!CHECK(gtel_context_new(&setup, &machine->context) == 0))
        return false;
    gtel_context_sample(machine->context, 0);
    return true;
}

/* The gather one second later. */
static void gather(struct machine *machine)
{
    uint64_t end_ns = gtel_env_now(&machine->env) + 1000000000;
    for (uint64_t due; (due = gtel_context_due(machine->context)) > 0 && due < end_ns;) {
        uint64_t now_ns = gtel_env_now(&machine->env);
        gtel_env_tree_step(&machine->env, due > now_ns ? due - now_ns : 0);
        gtel_context_tick(machine->context);
    }
    gtel_env_tree_step(&machine->env, end_ns - gtel_env_now(&machine->env));
    gtel_context_gather(machine->context);
}

static void end(struct machine *machine)
{
    gtel_context_free(machine->context);
    gtel_env_tree_done(&machine->env);
    gtel_tree_free(machine->tree);
}

static bool has_source(const struct machine *machine, const char *text)
{
    return strstr(machine->source, text) != NULL;
}

/*
 * The counters of i915 stop at 5 s and are back at 30 s. The last value from them is that of 4 s;
 * ten gathers later the GPU has its idle time instead, and metrics_source says so; at 30 s the
 * counters are there again and have a rate at 31 s, which takes the series back immediately.
 */
static void test_hand_over(void)
{
    static const char text[] = I915_CARD I915_EVENTS I915_COUNTERS
        "at 5s\npmu i915 0x0 500000000 0\npmu i915 0x2000 1500000000 0\ngone " I915_PMU
        "\nat 29500ms\n" I915_EVENTS "pmu i915 0x0 0 1e8\npmu i915 0x2000 0 3e8\nend\n";
    struct machine machine;
    test_label = "hand over";
    if (!begin(&machine, text, "i915"))
        return;
    for (int t = 1; t <= 45; t++) {
        gather(&machine);
        bool is_engine = t <= 4 || t >= 31;
        bool is_idle = t >= 15 && t <= 29;
        double want = is_engine ? 0.3 : is_idle ? 0.2 : -1;
        CHECK_NEAR(machine.busy, want, 1e-6);
        if (is_engine)
            CHECK_STR(gtel_str_of(machine.origin), "i915 PMU");
        if (is_idle)
            CHECK_STR(gtel_str_of(machine.origin), "idle residency");
        CHECK(has_source(&machine, "idle residency") == (is_idle || t == 30));
        if (t == 4 || t >= 32)
            CHECK(has_source(&machine, "i915 PMU"));
        if (t == 25) /* silent for two intervals of gpu_info */
            CHECK(!has_source(&machine, "i915 PMU"));
    }
    end(&machine);
}

/*
 * Busy files beside the PMU of i915: not used while that counts. It is gone from 5 s on; ten
 * gathers after its last value the files have the series, with no rate over the change, and what
 * they say differs on purpose. From 31 s on the counters have them back.
 */
static void test_order(void)
{
    static const char text[] = I915_CARD I915_EVENTS I915_COUNTERS
        "grow " I915 "/drm/card0/engine/rcs0/busy 90000000000 500000000\n"
        "grow " I915 "/drm/card0/engine/vcs0/busy 70000000000 400000000\n"
        "at 5s\npmu i915 0x0 500000000 0\npmu i915 0x2000 1500000000 0\ngone " I915_PMU
        "\nat 29500ms\n" I915_EVENTS "pmu i915 0x0 0 1e8\npmu i915 0x2000 0 3e8\nend\n";
    struct machine machine;
    test_label = "order";
    if (!begin(&machine, text, "i915,busy_files"))
        return;
    for (int t = 1; t <= 45; t++) {
        gather(&machine);
        bool is_files = t >= 16 && t <= 29;
        double want = is_files ? 0.5 : t <= 4 || t >= 31 ? 0.3 : -1;
        CHECK_NEAR(machine.busy, want, 1e-6);
        if (is_files)
            CHECK_STR(gtel_str_of(machine.origin), "sysfs (engine counters)");
        CHECK(!has_source(&machine, "idle residency"));
    }
    end(&machine);
}

/* Sums over clients, which are shares already, come behind the counters of the engines. */
static void test_clients(void)
{
    static const char host[] =
        "link proc/self/ns/pid -> pid:[4026531836]\nfile proc/1/comm\n| init\n"
        "file proc/self/stat\n| 42 (gtel) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0\n"
        "file proc/1/stat\n| 1 (init) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0\n"
        "char proc/1/fd/5 226:128\n"
        "link sys/class/drm/renderD128 -> ../../devices/pci0000:00/0000:00:02.0/drm/renderD128\n"
        "link " I915 "/drm/renderD128/device -> ../../../0000:00:02.0\n"
        "file proc/1/fdinfo/5\n";
    /* 70 %: more than there is, so that the two differ. */
    static const unsigned ms[] = {1000, 1700, 2400, 3100, 3800};
    struct gtel_buf text;
    struct machine machine;
    gtel_buf_init(&text, 1 << 16);
    gtel_buf_printf(&text, "%s%s%s%s", I915_CARD, I915_EVENTS, I915_COUNTERS, host);
    for (unsigned t = 0; t < 5; t++) {
        if (t > 0)
            gtel_buf_printf(&text, "at %us\nfile proc/1/fdinfo/5\n", t);
        gtel_buf_printf(&text,
                        "| drm-driver:\ti915\n| drm-pdev:\t0000:00:02.0\n"
                        "| drm-client-id:\t3\n| drm-engine-render:\t%u000000 ns\n",
                        ms[t]);
    }
    gtel_buf_printf(&text, "end\n");
    gtel_buf_char(&text, '\0');
    for (int has_pmu = 0; has_pmu <= 1; has_pmu++) {
        test_label = has_pmu ? "PMU before clients" : "clients alone";
        if (!begin(&machine, text.p, has_pmu ? "i915,drm_clients" : "drm_clients"))
            break;
        for (int t = 1; t <= 4; t++) {
            gather(&machine);
            CHECK_NEAR(machine.busy, has_pmu ? 0.3 : 0.7, 1e-6);
            CHECK_STR(gtel_str_of(machine.origin), has_pmu ? "i915 PMU" : "DRM clients");
        }
        end(&machine);
    }
    gtel_buf_done(&text);
}

/*
 * The engines of clients are all of their GPU, whatever their classes are: the busiest counts. A
 * share of video engines alone, as NVML has it, says nothing of the whole GPU.
 */
static void test_main_engines(void)
{
    static const struct {
        const char *label;
        const char *source;
        const char *engine[2];
        double share[2];
        double want; /* negative: none */
    } cases[] = {
        {"clients: video alone", "drm_clients", {"decode", "encode"}, {0.2, 0.6}, 0.6},
        {"clients: other alone", "drm_clients", {"other", NULL}, {0.3, 0}, 0.3},
        {"clients: video beside render", "drm_clients", {"render", "video"}, {0.1, 0.5}, 0.5},
        {"NVML: video alone", "nvml", {"decode", "encode"}, {0.2, 0.6}, -1},
        {"a PMU: video beside render", "i915", {"render", "video"}, {0.1, 0.5}, 0.5},
        {"a PMU: video alone", "i915", {"video", NULL}, {0.5, 0}, -1},
    };
    struct gtel_device device = {.index = 0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gtel_headlines headlines = {0};
        struct gtel_series series[2];
        struct gtel_reading reading;
        uint32_t rank;
        int source = gtel_source_find(gtel_str_of(cases[i].source));
        test_label = cases[i].label;
        if (source < 0)
            continue; /* not in this build */
        memset(series, 0, sizeof(series));
        CHECK_INT(gtel_headlines_begin(&headlines, 1), 0);
        for (size_t k = 0; k < 2 && cases[i].engine[k]; k++) {
            series[k].now = (struct gtel_reading){.device = &device,
                                                  .metric = GTEL_M_ENGINE_BUSY,
                                                  .source = (uint8_t)source,
                                                  .value_type = GTEL_VALUE_F64,
                                                  .value.f64 = cases[i].share[k]};
            series[k].now.dim[0] = gtel_str_of(cases[i].engine[k]);
            series[k].rank = 1;
            gtel_headlines_add(&headlines, &series[k], gtel_sources[source]->has_all_engines,
                               false);
        }
        CHECK_INT(gtel_headlines_get(&headlines, 0, GTEL_HEADLINE_ENGINE_BUSY, &reading, &rank),
                  cases[i].want >= 0);
        if (cases[i].want >= 0)
            CHECK_NEAR(gtel_reading_number(&reading), cases[i].want, 1e-12);
        gtel_headlines_done(&headlines);
    }
}

/* Of a GPU some of whose engines are counted, and the others known from its clients. */
static void test_engines_of_two(void)
{
    static const struct {
        const char *label;
        const char *engine[2];
        double share[2]; /* negative: missing */
        bool has_all_engines[2];
        double want; /* negative: none */
    } cases[] = {
        {"clients have the rest", {"render", "decode"}, {0.03, 0.95}, {false, true}, 0.95},
        {"less of it", {"decode", "render"}, {0.95, 0.03}, {true, false}, 0.95},
        {"render by clients alone", {"decode", "render"}, {0.2, 0.1}, {false, true}, 0.2},
        {"the rest is missing", {"render", "decode"}, {0.03, -1}, {false, true}, -1},
        {"another source has some", {"render", "decode"}, {0.03, 0.95}, {false, false}, 0.03},
    };
    struct gtel_device device = {.index = 0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gtel_headlines headlines = {0};
        struct gtel_series series[2] = {0};
        struct gtel_reading reading;
        uint32_t rank;
        test_label = cases[i].label;
        CHECK_INT(gtel_headlines_begin(&headlines, 1), 0);
        for (size_t k = 0; k < 2; k++) {
            series[k].now = (struct gtel_reading){.device = &device,
                                                  .metric = GTEL_M_ENGINE_BUSY,
                                                  .value_type = GTEL_VALUE_F64,
                                                  .value.f64 = cases[i].share[k]};
            series[k].now.dim[0] = gtel_str_of(cases[i].engine[k]);
            series[k].rank = cases[i].has_all_engines[k] ? 9 : (uint32_t)k + 1;
            gtel_headlines_add(&headlines, &series[k], cases[i].has_all_engines[k],
                               cases[i].share[k] < 0);
        }
        bool has_value =
            gtel_headlines_get(&headlines, 0, GTEL_HEADLINE_ENGINE_BUSY, &reading, &rank);
        CHECK_INT(has_value, cases[i].want >= 0);
        if (has_value)
            CHECK_NEAR(gtel_reading_number(&reading), cases[i].want, 1e-12);
        gtel_headlines_done(&headlines);
    }
}

/* An xe GPU whose counters are refused from 5 s to 25 s: the same, with values from bursts. */
static void test_refused(void)
{
    static const char text[] = XE_CARD XE_EVENTS XE_COUNTERS
        "at 5s\npmu_error xe_0000_03_00.0 EACCES\nat 25s\npmu_error xe_0000_03_00.0 none\nend\n";
    struct machine machine;
    test_label = "refused for a while";
    if (!begin(&machine, text, "xe,xe_pmu"))
        return;
    for (int t = 1; t <= 35; t++) {
        gather(&machine);
        bool is_engine = (t >= 2 && t <= 5) || t >= 27;
        bool is_idle = t >= 16 && t <= 25;
        if (t != 26) /* the gather after the right has come: still idle time, or a burst already */
            CHECK_NEAR(machine.busy, is_engine ? 0.6 : is_idle ? 0.75 : -1, 1e-6);
        CHECK(has_source(&machine, "idle residency") == (is_idle || (t == 26)) || t == 26);
    }
    CHECK_INT(machine.warnings, 1);
    end(&machine);
}

/* Without any counters: from idle time, but for the first value, and not from a clock that stands.
 */
static void test_idle_only(void)
{
    struct machine machine;
    test_label = "idle time only";
    if (!begin(&machine, I915_CARD "end\n", "i915"))
        return;
    for (int t = 1; t <= 4; t++) {
        gather(&machine);
        CHECK_NEAR(machine.busy, t >= 2 ? 0.2 : -1, 1e-9);
        CHECK(has_source(&machine, "idle residency") == (t >= 2));
    }
    end(&machine);
    test_label = "no RC6";
    if (!begin(&machine, I915_CARD "grow " I915 "/drm/card0/gt/gt0/rc6_residency_ms 0 0\nend\n",
               "i915"))
        return;
    for (int t = 1; t <= 4; t++) {
        gather(&machine);
        CHECK_NEAR(machine.busy, -1, 0);
    }
    end(&machine);
}

/* The media GT works from 3 s on, cannot be read at 5 s, and then has never slept. */
static void test_idle_media(void)
{
    static const char text[] =
        XE_CARD "file " XE "/tile0/gt1/gtidle/name\n| gt1-mc\n"
                "grow " XE "/tile0/gt1/gtidle/idle_residency_ms 9 900\n"
                "at 3s\ngrow " XE "/tile0/gt1/gtidle/idle_residency_ms 2709 100\n"
                "at 4500ms\nerror " XE "/tile0/gt1/gtidle/idle_residency_ms EIO\n"
                "at 5500ms\nfile " XE "/tile0/gt1/gtidle/idle_residency_ms\n| 0\nend\n";
    static const double want[] = {-1, -1, 0.75, 0.75, 0.9, -1, -1, -1};
    struct machine machine;
    test_label = "idle time of a media GT";
    if (!begin(&machine, text, "xe"))
        return;
    for (int t = 1; t <= 7; t++) {
        gather(&machine);
        CHECK_NEAR(machine.busy, want[t], 1e-9);
    }
    end(&machine);
}

#define XE_REASONS XE "/tile0/gt0/freq0/throttle/"
#define XE_REASONS_2 XE "/tile0/gt1/freq0/throttle/"

/* 1 s: only the summary of the second GT; 2 s: a reason of the first; 3 s: none; 4 s: a file fails.
 */
static void test_throttled(void)
{
    static const char text[] =
        XE_CARD "file " XE_REASONS "status\n| 0\nfile " XE_REASONS "reason_pl1\n| 0\n"
                "dir " XE "/tile0/gt1/engines/vcs\nfile " XE "/tile0/gt1/gtidle/name\n| gt1-mc\n"
                "file " XE_REASONS_2 "status\n| 1\nfile " XE_REASONS_2 "reason_pl2\n| 0\n"
                "at 2s\nfile " XE_REASONS "reason_pl1\n| 1\nfile " XE_REASONS_2 "status\n| 0\n"
                "at 3s\nfile " XE_REASONS "reason_pl1\n| 0\n"
                "at 4s\nerror " XE_REASONS_2 "status EIO\n"
                "at 5s\nfile " XE_REASONS_2 "status\n| 0\nend\n";
    static const double want[] = {-1, 1, 1, 0, -1, 0};
    struct machine machine;
    test_label = "throttled";
    if (!begin(&machine, text, "xe"))
        return;
    for (int t = 1; t <= 5; t++) {
        gather(&machine);
        CHECK_NEAR(machine.throttled, want[t], 0);
    }
    end(&machine);
    test_label = "no reasons";
    if (!begin(&machine, XE_CARD "end\n", "xe"))
        return;
    gather(&machine);
    CHECK_NEAR(machine.throttled, -1, 0);
    end(&machine);
}

int main(void)
{
    test_hand_over();
    test_order();
    test_clients();
    test_main_engines();
    test_engines_of_two();
    test_refused();
    test_idle_only();
    test_idle_media();
    test_throttled();
    return test_result();
}
