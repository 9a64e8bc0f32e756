/* SPDX-License-Identifier: MIT */
/* What the program says of itself, and when it says what a GPU is. */
#include "lanes/self.h"
#include "lanes/wire.h"
#include "recording/tree.h"
#include "sources/source.h"
#include "harness/test.h"

#include <errno.h>

static const uint64_t second_ns = 1000000000u;

struct machine {
    struct gtel_tree *tree;
    struct gtel_env env;
    struct gtel_options options;
    struct gtel_registry registry;
    struct gtel_device *device;
    struct gtel_wire_map map;
    struct gtel_self self;
    struct gtel_batch batch;
    unsigned logs;
    enum gtel_log_level level;
    char log[400];
};

static void on_log(void *arg, enum gtel_log_level level, const char *text)
{
    struct machine *machine = arg;
    machine->logs++;
    machine->level = level;
    (void)gtel_str_copy(machine->log, sizeof(machine->log), gtel_str_of(text));
}

static bool begin(struct machine *machine, const char *label)
{
    static const char text[] = "file proc/sys/kernel/osrelease\n| 6.17.0-5\n"
                               "file proc/self/statm\n| 9000 100 1\nend\n";
    char error[200];
    test_label = label;
    memset(machine, 0, sizeof(*machine));
    if (!CHECK(gtel_tree_parse(gtel_str_of(text), &machine->tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(machine->tree, true, 0, &machine->env) == 0))
        return false;
    machine->env.log = (struct gtel_log){on_log, machine};
    machine->env.page_size = 4096;
    gtel_options_init(&machine->options);
    gtel_self_init(&machine->self, &machine->env);
    machine->map.arrivals[0] = 1;
    return CHECK(
        gtel_registry_add(&machine->registry, GTEL_STR("0000:03:00.0"), &machine->device) == 0);
}

static void end(struct machine *machine)
{
    gtel_self_done(&machine->self, &machine->env);
    gtel_batch_done(&machine->batch);
    gtel_registry_done(&machine->registry);
    gtel_env_tree_done(&machine->env);
    gtel_tree_free(machine->tree);
    test_label = "";
}

static void record(struct machine *machine, const char *source, uint8_t origin)
{
    struct gtel_reading reading = {.device = machine->device, .metric = GTEL_M_GPU_AWAKE};
    reading.source = (uint8_t)gtel_source_find(gtel_str_of(source));
    reading.origin = origin;
    gtel_self_record(&machine->self, &reading);
}

/* A sample with a reading of the source, NULL: none; fills the batch with what is said of it. */
static void sample(struct machine *machine, const char *source, uint8_t origin)
{
    gtel_batch_reset(&machine->batch);
    gtel_self_begin(&machine->self, machine->self.request + 1);
    gtel_self_answered(&machine->self, &machine->registry, &machine->map, &machine->batch,
                       UINT32_MAX);
    if (source)
        record(machine, source, origin);
    gtel_self_report(&machine->self, &machine->registry, &machine->options, &machine->batch);
}

static const struct gtel_reading *find(const struct machine *machine, enum gtel_metric metric)
{
    for (size_t i = 0; i < machine->batch.n; i++)
        if (machine->batch.reading[i].metric == metric)
            return &machine->batch.reading[i];
    return NULL;
}

/* The text of a metric; "" where it was not said. */
static struct gtel_str text_of(const struct machine *machine, enum gtel_metric metric)
{
    const struct gtel_reading *reading = find(machine, metric);
    return reading ? reading->value.text : GTEL_STR_NONE;
}

/* Each InfoInterval (10 minutes), and as soon as something in it is new. */
static void test_times(void)
{
    static const struct {
        const char *label;
        uint64_t after_s; /* since the step before */
        const char *source;
        uint8_t origin;
        const char *card;
        const char *want; /* metrics_source; NULL: nothing is said */
    } steps[] = {
        {"the first time", 1, "i915", 1, "card0", "hwmon"},
        {"nothing new", 599, "i915", 1, "card0", NULL},
        {"its time", 1, "i915", 1, "card0", "hwmon"},
        {"another label", 1, "i915", 1, "card1", "hwmon"},
        {"nothing new again", 1, "i915", 1, "card1", NULL},
        {"one way more", 1, "i915", 2, "card1", "hwmon + i915 PMU"},
        {"a source more", 1, "amdgpu_parts", 0, "card1", "hwmon + i915 PMU + xcp_metrics"},
        {"one alone for an interval", 600, "i915", 0, "card1",
         "sysfs + hwmon + i915 PMU + xcp_metrics"},
        {"no more than that", 599, "i915", 0, "card1", NULL},
        {"the others were silent", 1, "i915", 0, "card1", "sysfs + hwmon + i915 PMU + xcp_metrics"},
        {"they are forgotten", 1, "i915", 0, "card1", "sysfs"},
        {"no reading", 3000, NULL, 0, "card1", NULL},
    };
    static struct machine machine;
    if (!begin(&machine, "times"))
        return;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(steps); i++) {
        test_label = steps[i].label;
        gtel_env_tree_step(&machine.env, steps[i].after_s * second_ns);
        gtel_device_relabel(&machine.registry, machine.device, GTEL_LABEL_CARD,
                            gtel_str_of(steps[i].card));
        sample(&machine, steps[i].source, steps[i].origin);
        CHECK_INT(find(&machine, GTEL_M_INFO) != NULL, steps[i].want != NULL);
        CHECK_STR(text_of(&machine, GTEL_M_INFO_METRICS_SOURCE), steps[i].want);
        CHECK_STR(text_of(&machine, GTEL_M_INFO_CARD), steps[i].want ? steps[i].card : "");
        CHECK_INT(find(&machine, GTEL_M_GPU_UP)->value.u64, steps[i].source != NULL);
    }
    end(&machine);
}

/* Each label, in its order, and nothing where one is empty. */
static void test_labels(void)
{
    static const struct {
        enum gtel_label label;
        const char *text;
        enum gtel_metric metric;
    } labels[] = {
        {GTEL_LABEL_UUID, "u", GTEL_M_INFO_UUID},
        {GTEL_LABEL_TILE_UUIDS, "0=a 1=b", GTEL_M_INFO_TILE_UUIDS},
        {GTEL_LABEL_PCI_ID, "8086:e20b", GTEL_M_INFO_PCI_ID},
        {GTEL_LABEL_CARD, "card0", GTEL_M_INFO_CARD},
        {GTEL_LABEL_DRIVER_VERSION, "580.95", GTEL_M_INFO_DRIVER_VERSION},
        {GTEL_LABEL_FIRMWARE, "70.1", GTEL_M_INFO_FIRMWARE},
        {GTEL_LABEL_ARCHITECTURE, "Hopper", GTEL_M_INFO_ARCHITECTURE},
        {GTEL_LABEL_COMPUTE_CAPABILITY, "9.0", GTEL_M_INFO_COMPUTE_CAPABILITY},
        {GTEL_LABEL_CUDA_VERSION, "13.0", GTEL_M_INFO_CUDA_VERSION},
        {GTEL_LABEL_GSP_FIRMWARE, "580", GTEL_M_INFO_GSP_FIRMWARE},
        {GTEL_LABEL_MODES, "mig=off", GTEL_M_INFO_MODES},
        {GTEL_LABEL_MEMORY_VENDOR, "x", GTEL_M_INFO_MEMORY_VENDOR},
        {GTEL_LABEL_PROFILE, "1g.10gb", GTEL_M_INFO_PROFILE},
    };
    static struct machine machine;
    if (!begin(&machine, "labels"))
        return;
    for (size_t i = 0; i <= GTEL_ARRAY_LEN(labels); i++) {
        size_t texts = 0;
        sample(&machine, "xe", 0);
        for (size_t k = 0; k < GTEL_ARRAY_LEN(labels); k++)
            CHECK_STR(text_of(&machine, labels[k].metric), k < i ? labels[k].text : "");
        for (size_t k = 0; k < machine.batch.n; k++)
            texts += machine.batch.reading[k].value_type == GTEL_VALUE_TEXT;
        CHECK_INT(texts, i + 2); /* and the kernel, and where the values are from */
        CHECK_STR(text_of(&machine, GTEL_M_INFO_KERNEL), "6.17.0-5");
        if (i < GTEL_ARRAY_LEN(labels))
            gtel_device_label(&machine.registry, machine.device, labels[i].label,
                              gtel_str_of(labels[i].text));
    }
    for (int l = 0; l < GTEL_LABEL_COUNT; l++) { /* tags, too: the line is another one */
        sample(&machine, "xe", 0);
        CHECK(!find(&machine, GTEL_M_INFO));
        gtel_device_relabel(&machine.registry, machine.device, (enum gtel_label)l,
                            GTEL_STR("other"));
        sample(&machine, "xe", 0);
        CHECK(find(&machine, GTEL_M_INFO));
    }
    end(&machine);
}

/* The whole of what has no driver's counter for it, as long as it is so. */
static void test_idle(void)
{
    static struct machine machine;
    if (!begin(&machine, "idle"))
        return;
    struct gtel_reading busy = {
        .device = machine.device, .metric = GTEL_M_GPU_BUSY, .source = GTEL_SOURCE_CORE};
    for (int round = 0; round < 2; round++) {
        gtel_self_record(&machine.self, &busy);
        sample(&machine, "i915", 1);
        CHECK_STR(text_of(&machine, GTEL_M_INFO_METRICS_SOURCE),
                  round == 0 ? "hwmon + idle residency" : "hwmon");
        busy.source = (uint8_t)gtel_source_find(GTEL_STR("i915"));
        busy.origin = 1;
    }
    CHECK_INT(machine.self.readings, 1); /* of this sample */
    busy.is_derived = true;
    busy.device = NULL;
    gtel_self_record(&machine.self, &busy);
    CHECK_INT(machine.self.readings, 1);
    end(&machine);
}

/* Failed readings are summed up, whichever lane reports them; a removed GPU is down. */
static void test_failures(void)
{
    static struct machine machine;
    if (!begin(&machine, "failures"))
        return;
    for (uint64_t i = 1; i < 4; i++) {
        gtel_batch_reset(&machine.batch);
        machine.batch.failed[0] = 2;
        gtel_self_begin(&machine.self, machine.self.request + 1);
        gtel_self_answered(&machine.self, &machine.registry, &machine.map, &machine.batch,
                           UINT32_MAX);
        gtel_self_answered(&machine.self, &machine.registry, &machine.map, &machine.batch, 0);
        record(&machine, "drm_clients", 0); /* proves nothing */
        gtel_self_report(&machine.self, &machine.registry, &machine.options, &machine.batch);
        CHECK_INT(find(&machine, GTEL_M_GPU_READINGS_FAILED)->value.u64, 4 * i);
        CHECK_INT(find(&machine, GTEL_M_GPU_UP)->value.u64, 0);
        CHECK(!find(&machine, GTEL_M_INFO));
    }
    sample(&machine, "xe", 0);
    gtel_batch_reset(&machine.batch);
    gtel_self_begin(&machine.self, machine.self.request + 1);
    gtel_self_answered(&machine.self, &machine.registry, &machine.map, &machine.batch, 0);
    gtel_self_report(&machine.self, &machine.registry, &machine.options, &machine.batch);
    CHECK(!find(&machine, GTEL_M_GPU_UP)); /* what the sample before has shown is over */
    gtel_registry_lost(&machine.registry, machine.device);
    sample(&machine, "xe", 0);
    CHECK_INT(find(&machine, GTEL_M_GPU_UP)->value.u64, 0);
    CHECK(!find(&machine, GTEL_M_INFO));
    end(&machine);
}

/* Down where a source that was read is for its driver, or for every one, and gives nothing. */
static void test_drivers(void)
{
    static const struct {
        const char *source;
        bool is_for;
    } cases[] = {{"xe", true}, {"i915", false}, {"amdgpu", false}, {"nvml", true}};
    static struct machine machine;
    if (!begin(&machine, "drivers"))
        return;
    gtel_device_label(&machine.registry, machine.device, GTEL_LABEL_DRIVER, GTEL_STR("xe"));
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        test_label = cases[i].source;
        gtel_batch_reset(&machine.batch);
        gtel_self_begin(&machine.self, machine.self.request + 1);
        gtel_self_answered(&machine.self, &machine.registry, &machine.map, &machine.batch,
                           1u << gtel_source_find(gtel_str_of(cases[i].source)));
        gtel_self_report(&machine.self, &machine.registry, &machine.options, &machine.batch);
        const struct gtel_reading *up = find(&machine, GTEL_M_GPU_UP);
        CHECK_INT(up != NULL, cases[i].is_for);
        CHECK(!up || up->value.u64 == 0);
    }
    end(&machine);
}

static void test_totals(void)
{
    const struct gtel_self_totals totals = {.gather_ns = 1500000,
                                            .dropped = 2,
                                            .lanes_late = 3,
                                            .lane_restarts = 4,
                                            .errors = 5,
                                            .rss_bytes = 1000};
    static const struct {
        enum gtel_metric metric;
        double want;
    } cases[] = {
        {GTEL_M_SELF_GATHER, 0.0015}, {GTEL_M_SELF_GPUS, 1},
        {GTEL_M_SELF_READINGS, 1},    {GTEL_M_SELF_DROPPED, 2},
        {GTEL_M_SELF_LANES_LATE, 3},  {GTEL_M_SELF_LANE_RESTARTS, 4},
        {GTEL_M_SELF_ERRORS, 5},      {GTEL_M_SELF_RSS, 100 * 4096 + 1000},
    };
    static struct machine machine;
    struct gtel_device *removed;
    if (!begin(&machine, "totals"))
        return;
    CHECK_INT(gtel_registry_add(&machine.registry, GTEL_STR("0000:04:00.0"), &removed), 0);
    gtel_registry_lost(&machine.registry, removed);
    sample(&machine, "xe", 0);
    gtel_batch_reset(&machine.batch);
    gtel_self_totals(&machine.self, &machine.registry, &totals, &machine.batch);
    CHECK_INT(machine.batch.n, GTEL_ARRAY_LEN(cases));
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        const struct gtel_reading *reading = find(&machine, cases[i].metric);
        if (CHECK(reading && !reading->device))
            CHECK_NEAR(gtel_reading_number(reading), cases[i].want, 1e-12);
    }
    machine.env.page_size = 0; /* not known: nothing is said */
    gtel_batch_reset(&machine.batch);
    gtel_self_totals(&machine.self, &machine.registry, &totals, &machine.batch);
    CHECK(!find(&machine, GTEL_M_SELF_RSS));
    end(&machine);
}

#define NONE "no GPU found: " WHY
#define OF_SOURCES "no GPU found by the sources in the option Sources: " WHY
#define WHY                                                                                        \
    "no driver that is known here (gtel --list-sources) is loaded, a vendor's "                    \
    "library is missing, or GPUs do not answer (gtel doctor says more); checking again every "
#define FILES                                                                                      \
    "it is not known which GPUs there are: Too many open files; this process has too many files "  \
    "open: raise LimitNOFILE= of the unit, or the limit of the user (ulimit -n); trying again"

/* Each change once. */
static void test_found(void)
{
    static const struct {
        size_t devices;
        int shortage;
        uint64_t rescan_ms;
        const char *want; /* NULL: nothing */
        enum gtel_log_level level;
    } steps[] = {
        {0, 0, 30000, NONE "30 s", GTEL_LOG_WARNING},
        {0, 0, 30000, NULL, 0},
        {0, -EMFILE, 30000, NULL, 0}, /* it is known that there were none */
        {2, 0, 30000, "GPUs found: 2", GTEL_LOG_INFO},
        {2, -EMFILE, 30000, NULL, 0},
        {0, -EMFILE, 30000, FILES, GTEL_LOG_ERROR},
        {0, -EMFILE, 30000, NULL, 0},
        {3, -EMFILE, 30000, "GPUs found: 3", GTEL_LOG_INFO},
        {0, 0, 1001, NONE "2 s", GTEL_LOG_WARNING},
    };
    static struct machine machine;
    if (!begin(&machine, "found"))
        return;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(steps); i++) {
        machine.logs = 0;
        gtel_self_say_found(&machine.self, steps[i].devices, steps[i].shortage,
                            steps[i].rescan_ms * 1000000);
        CHECK_INT(machine.logs, steps[i].want != NULL);
        if (!steps[i].want)
            continue;
        CHECK_STR(gtel_str_of(machine.log), steps[i].want);
        CHECK_INT(machine.level, steps[i].level);
    }
    end(&machine);
    for (int shortage = 0; shortage >= -EMFILE; shortage -= EMFILE) {
        if (!begin(&machine, "the first message"))
            return;
        gtel_self_say_found(&machine.self, 0, shortage, 1000000000);
        CHECK_STR(gtel_str_of(machine.log), shortage ? FILES : NONE "1 s");
        gtel_self_say_found(&machine.self, 1, shortage, 1000000000);
        CHECK_STR(gtel_str_of(machine.log), "GPUs found: 1");
        end(&machine);
    }
    if (!begin(&machine, "found in the first place"))
        return;
    gtel_self_say_found(&machine.self, 2, 0, second_ns);
    CHECK_INT(machine.logs, 0);
    gtel_self_say_found(&machine.self, 0, 0, second_ns);
    CHECK_STR(gtel_str_of(machine.log), NONE "1 s");
    end(&machine);
    if (!begin(&machine, "with the option Sources"))
        return;
    machine.self.is_narrowed = true;
    gtel_self_say_found(&machine.self, 0, 0, second_ns);
    CHECK_STR(gtel_str_of(machine.log), OF_SOURCES "1 s");
    end(&machine);
}

/* A bit stands for each way of a source. */
static void test_origins(void)
{
    for (size_t s = 0; gtel_sources[s]; s++) {
        static struct machine machine;
        size_t n = 0;
        if (!begin(&machine, gtel_sources[s]->name))
            return;
        while (gtel_sources[s]->origins[n])
            n++;
        CHECK(n <= 32);
        for (size_t o = 0; o < n; o++) {
            record(&machine, gtel_sources[s]->name, (uint8_t)o);
            CHECK_INT(machine.self.device[0].origins[s], (UINT64_C(2) << o) - 1);
        }
        if (n > 0 && !gtel_sources[s]->is_indirect) {
            sample(&machine, gtel_sources[s]->name, 0);
            CHECK(gtel_str_starts(text_of(&machine, GTEL_M_INFO_METRICS_SOURCE),
                                  gtel_str_of(gtel_sources[s]->origins[0])));
        }
        end(&machine);
    }
}

int main(void)
{
    test_origins();
    test_times();
    test_labels();
    test_idle();
    test_failures();
    test_drivers();
    test_totals();
    test_found();
    return test_result();
}
