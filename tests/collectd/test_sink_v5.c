/* SPDX-License-Identifier: MIT */
/* Readings to value lists: the whole catalogue against the daemon's types, and single values. */
#include "fakes/collectd_daemon.h"
#include "sink_v5.h"
#include "harness/test.h"

#include <errno.h>
#include <math.h>

static struct gtel_device gpu = {
    .key = "0000:03:00.0",
    .label = {[GTEL_LABEL_GPU] = "0000:03:00.0"},
};
static struct gtel_device mig = {
    .key = "MIG-1",
    .label = {[GTEL_LABEL_GPU] = "0000:41:00.0", [GTEL_LABEL_INSTANCE] = "mig-1g.10gb-0"},
};
static struct gtel_device bare = {.key = "apple:1"};

static void write_log(void *arg, enum gtel_log_level level, const char *text)
{
    (void)arg;
    plugin_log(level == GTEL_LOG_WARNING ? LOG_WARNING : LOG_ERR, "%s", text);
}

static const struct gtel_log fake_log = {write_log, NULL};

static struct gtel_reading reading_f64(enum gtel_metric metric, double value)
{
    return (struct gtel_reading){.device = &gpu,
                                 .metric = (uint16_t)metric,
                                 .value_type = GTEL_VALUE_F64,
                                 .value.f64 = value};
}

static struct gtel_reading reading_u64(enum gtel_metric metric, uint64_t value)
{
    return (struct gtel_reading){.device = &gpu,
                                 .metric = (uint16_t)metric,
                                 .value_type = GTEL_VALUE_U64,
                                 .value.u64 = value};
}

/* Sends one reading through a fresh sink; NULL when nothing was dispatched. */
static const struct fake_value *emit(const struct gtel_reading *reading)
{
    struct gtel_sink_v5 sink;
    fake_daemon_clear();
    gtel_sink_v5_init(&sink, "gpu_test", &fake_log, TIME_T_TO_CDTIME_T_STATIC(2));
    struct gtel_sink table = gtel_sink_v5_sink(&sink);
    gtel_sink_begin(&table, 1767225600500000000u);
    table.put(table.arg, reading, GTEL_ASPECT_VALUE);
    gtel_sink_end(&table);
    return fake_daemon.n > 0 ? &fake_daemon.value[0] : NULL;
}

static const struct {
    const char *label;
    struct gtel_device *device;
    enum gtel_metric metric;
    const char *dim[GTEL_DIMS_MAX];
    int rc;
    const char *plugin_instance;
    const char *type_instance;
} name_cases[] = {
    {"no dimension", &gpu, GTEL_M_GPU_BUSY, {NULL}, 0, "0000:03:00.0", "busy"},
    {"one", &gpu, GTEL_M_ENGINE_BUSY, {"render"}, 0, "0000:03:00.0", "engine-render"},
    {"in the middle", &gpu, GTEL_M_ENGINE_WAIT, {"copy"}, 0, "0000:03:00.0", "engine-copy-wait"},
    {"a numbered second",
     &gpu,
     GTEL_M_ENGINE_BUSY,
     {"video", "1"},
     0,
     "0000:03:00.0",
     "engine-video-instance1"},
    {"a numbered third",
     &gpu,
     GTEL_M_ENGINE_WAIT,
     {"video", "", "1"},
     0,
     "0000:03:00.0",
     "engine-video-wait-gt1"},
    {"a named second",
     &gpu,
     GTEL_M_ERROR_COUNT,
     {"ecc", "uncorrected"},
     0,
     "0000:03:00.0",
     "error-ecc-uncorrected"},
    {"no first", &gpu, GTEL_M_ENGINE_WAIT, {""}, 0, "0000:03:00.0", "engine-wait"},
    {"an instance", &mig, GTEL_M_GPU_BUSY, {NULL}, 0, "0000:41:00.0-mig-1g.10gb-0", "busy"},
    {"no gpu label", &bare, GTEL_M_GPU_BUSY, {NULL}, 0, "apple:1", "busy"},
    {"the program itself", NULL, GTEL_M_SELF_GPUS, {NULL}, 0, "", "gtel-gpus"},
    {"bytes that cannot stand in a name",
     &gpu,
     GTEL_M_PROCESS_BUSY,
     {"a/b\n"},
     0,
     "0000:03:00.0",
     "process-a_b_-busy~cbe4d121"},
    {"a terminal's commands, and another language",
     &gpu,
     GTEL_M_PROCESS_BUSY,
     {"\xc2\x9b[31m\x9b\x1b\x7f\xc3\xa4"},
     0,
     "0000:03:00.0",
     "process-__[31m___\xc3\xa4-busy~a9a9fdc8"},
    {"all tags of a process",
     &gpu,
     GTEL_M_PROCESS_MEMORY,
     {"python3", "app", "train-0", "ml", "", "1392969", "a.service", "root", "4711"},
     0,
     "0000:03:00.0",
     "process-python3-memory-app-pod=train-0-namespace=ml-job_id=1392969-a.service-root-pid4711"},
    {"no collectd type", &gpu, GTEL_M_INFO_UUID, {NULL}, -ENOENT, "", ""},
};

static void test_names(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(name_cases); i++) {
        test_label = name_cases[i].label;
        struct gtel_reading reading = {.device = name_cases[i].device,
                                       .metric = (uint16_t)name_cases[i].metric};
        for (size_t d = 0; d < GTEL_DIMS_MAX; d++)
            reading.dim[d] = gtel_str_of(name_cases[i].dim[d]);
        char device[DATA_MAX_NAME_LEN] = "";
        char part[DATA_MAX_NAME_LEN] = "";
        CHECK_INT(gtel_sink_v5_name(&reading, device, part), name_cases[i].rc);
        CHECK_STR(gtel_str_of(device), name_cases[i].plugin_instance);
        CHECK_STR(gtel_str_of(part), name_cases[i].type_instance);
    }
    test_label = "";
}

static void name_process(const char *process, size_t n, char *ret)
{
    char device[DATA_MAX_NAME_LEN];
    struct gtel_reading reading = reading_f64(GTEL_M_PROCESS_BUSY, 0.5);
    reading.dim[0] = (struct gtel_str){process, n};
    CHECK_INT(gtel_sink_v5_name(&reading, device, ret), 0);
}

/* 127 bytes fit; what is longer is cut, and still no two names are the same. */
static void test_long_names(void)
{
    char text[256];
    char name[DATA_MAX_NAME_LEN];
    char other[DATA_MAX_NAME_LEN];
    size_t fits = DATA_MAX_NAME_LEN - 1 - strlen("process-") - strlen("-busy");
    test_label = "long names";
    memset(text, 'x', sizeof(text));
    name_process(text, fits, name);
    CHECK_INT(strlen(name), DATA_MAX_NAME_LEN - 1);
    CHECK(gtel_str_ends(gtel_str_of(name), GTEL_STR("x-busy")));
    for (size_t n = fits + 1; n <= sizeof(text); n++) {
        name_process(text, n, other);
        CHECK_INT(strlen(other), DATA_MAX_NAME_LEN - 1);
        CHECK_INT(other[DATA_MAX_NAME_LEN - 1 - 9], '~');
        CHECK(strcmp(name, other) != 0);
        (void)gtel_str_copy(name, sizeof(name), gtel_str_of(other));
    }
    for (size_t i = 1; i + 1 < sizeof(text); i += 2) {
        text[i] = '\xc3';
        text[i + 1] = '\xa5';
    }
    for (size_t first = 0; first < 2; first++) { /* no half of a character */
        name_process(text + first, sizeof(text) - 1 - first, name);
        size_t end = strlen(name) - 9;
        CHECK((unsigned char)name[end - 1] == 0xa5 && name[end] == '~');
        CHECK_INT(end, DATA_MAX_NAME_LEN - 1 - 9 - !first);
    }
    memset(text, 'x', sizeof(text));
    text[0] = '/';
    for (size_t n = fits - 12; n <= fits; n++) { /* the mark fits behind it, or not */
        name_process(text, n, name);
        size_t length = strlen("process-") + n + strlen("-busy") + 9;
        CHECK_INT(strlen(name), length < DATA_MAX_NAME_LEN ? length : DATA_MAX_NAME_LEN - 1);
        CHECK_INT(name[strlen(name) - 9], '~');
    }
    name_process("a/b", 3, name);
    name_process("a_b", 3, other);
    CHECK_STR(gtel_str_of(other), "process-a_b-busy");
    CHECK(strncmp(name, "process-a_b-busy~", 17) == 0 && strlen(name) == 25);
    name_process("a\x01"
                 "b",
                 3, other);
    CHECK(strncmp(other, "process-a_b-busy~", 17) == 0 && strcmp(name, other) != 0);
    test_label = "";
}

static const struct {
    const char *label;
    enum gtel_metric metric;
    bool is_f64;
    uint64_t u64;
    double f64;
    bool is_sent;
    int ds_type;
    double gauge;
    int64_t derive;
} value_cases[] = {
    {"a ratio", GTEL_M_GPU_BUSY, true, 0, 0.425, true, DS_TYPE_GAUGE, 42.5, 0},
    {"a ratio of nothing", GTEL_M_GPU_BUSY, true, 0, 0, true, DS_TYPE_GAUGE, 0, 0},
    {"a ratio above 1", GTEL_M_GPU_BUSY, true, 0, 1.002, true, DS_TYPE_GAUGE, 100, 0},
    {"a ratio below 0", GTEL_M_GPU_BUSY, true, 0, -0.001, true, DS_TYPE_GAUGE, 0, 0},
    {"not a number", GTEL_M_GPU_BUSY, true, 0, NAN, false, 0, 0, 0},
    {"not finite", GTEL_M_GPU_POWER, true, 0, INFINITY, false, 0, 0, 0},
    {"hertz stay hertz", GTEL_M_GPU_FREQUENCY, true, 0, 2.1e9, true, DS_TYPE_GAUGE, 2.1e9, 0},
    {"volts", GTEL_M_VOLTAGE, true, 0, 0.75, true, DS_TYPE_GAUGE, 0.75, 0},
    {"below freezing", GTEL_M_TEMPERATURE, true, 0, -4.5, true, DS_TYPE_GAUGE, -4.5, 0},
    {"energy is a gauge", GTEL_M_GPU_ENERGY, true, 0, 1234.5, true, DS_TYPE_GAUGE, 1234.5, 0},
    {"seconds to whole ms", GTEL_M_ENGINE_BUSY_TIME, true, 0, 1.2346, true, DS_TYPE_DERIVE, 0,
     1235},
    {"bytes exactly", GTEL_M_GPU_PCIE_RX, false, 9007199254740993u, 0, true, DS_TYPE_DERIVE, 0,
     9007199254740993},
    {"the last that fits", GTEL_M_GPU_PCIE_RX, false, INT64_MAX, 0, true, DS_TYPE_DERIVE, 0,
     INT64_MAX},
    {"one more", GTEL_M_GPU_PCIE_RX, false, (uint64_t)INT64_MAX + 1, 0, false, 0, 0, 0},
    {"a double beyond it", GTEL_M_ENGINE_BUSY_TIME, true, 0, 1e17, false, 0, 0, 0},
    {"a counter below 0", GTEL_M_ENGINE_BUSY_TIME, true, 0, -1, false, 0, 0, 0},
    {"a counter that is no number", GTEL_M_ENGINE_BUSY_TIME, true, 0, NAN, false, 0, 0, 0},
    {"an internal counter", GTEL_M_FREQUENCY_IDLE_TIME, true, 0, 1, false, 0, 0, 0},
};

static void test_values(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(value_cases); i++) {
        test_label = value_cases[i].label;
        struct gtel_reading reading = value_cases[i].is_f64
                                          ? reading_f64(value_cases[i].metric, value_cases[i].f64)
                                          : reading_u64(value_cases[i].metric, value_cases[i].u64);
        const struct fake_value *value = emit(&reading);
        CHECK_INT(value != NULL, value_cases[i].is_sent);
        if (value && value_cases[i].ds_type == DS_TYPE_DERIVE)
            CHECK_INT(value->value.derive, value_cases[i].derive);
        else if (value)
            CHECK_NEAR(value->value.gauge, value_cases[i].gauge, 1e-9);
    }
    test_label = "";
}

static void test_frame(void)
{
    struct gtel_reading reading = reading_f64(GTEL_M_GPU_POWER, 75);
    const struct fake_value *value = emit(&reading);
    if (!CHECK(value != NULL))
        return;
    CHECK_STR(gtel_str_of(value->list.plugin), "gpu_test");
    CHECK_STR(gtel_str_of(value->list.type), "power");
    CHECK_STR(gtel_str_of(value->list.host), ""); /* the daemon fills it in */
    CHECK_INT(value->list.interval, TIME_T_TO_CDTIME_T_STATIC(2));
    /* What comes each 30 gathers: the daemon forgets a value after two of its intervals. */
    reading.gathers = 30;
    value = emit(&reading);
    CHECK(value && value->list.interval == TIME_T_TO_CDTIME_T_STATIC(60));
    reading.gathers = 1;
    value = emit(&reading);
    if (!CHECK(value != NULL))
        return;
    CHECK_INT(value->list.interval, TIME_T_TO_CDTIME_T_STATIC(2));
    CHECK_INT(value->list.time, (UINT64_C(1767225600) << 30) + (1u << 29));

    struct gtel_sink_v5 sink;
    gtel_sink_v5_init(&sink, "gpu_test", &fake_log, 0);
    struct gtel_sink table = gtel_sink_v5_sink(&sink);
    fake_daemon_clear();
    table.put(table.arg, &reading, GTEL_ASPECT_MIN);
    table.put(table.arg, &reading, GTEL_ASPECT_MAX);
    CHECK_INT(fake_daemon.n, 0);
}

/* A daemon with other types: those rows are off, said once; the others stay. */
static void test_unknown_type(void)
{
    struct gtel_reading lost = reading_f64(GTEL_M_GPU_BUSY, 0.5);
    struct gtel_reading kept = reading_f64(GTEL_M_GPU_POWER, 75);
    fake_daemon.unknown_type = "percent";
    CHECK(emit(&lost) == NULL);
    CHECK_INT(fake_daemon_said("type 'percent'"), 1);
    CHECK(emit(&kept) != NULL);
    fake_daemon.unknown_type = NULL;
}

/* A daemon whose own types.db has another form of a type. */
static void test_other_forms(void)
{
    static const struct {
        const char *label;
        size_t values;
        int ds_type;
        uint64_t bytes;
        bool is_sent;
        bool is_known;
    } cases[] = {
        {"a counter", 1, DS_TYPE_COUNTER, 9007199254740993u, true, true},
        {"a counter's last value", 1, DS_TYPE_COUNTER, UINT64_MAX, true, true},
        {"a gauge", 1, DS_TYPE_GAUGE, 1 << 30, true, true},
        {"neither", 1, DS_TYPE_ABSOLUTE, 5, false, false},
        {"two values", 2, DS_TYPE_DERIVE, 5, false, false},
        {"none", 0, DS_TYPE_DERIVE, 5, false, false},
    };
    const char *type = gtel_metric_row(GTEL_M_GPU_PCIE_RX)->collectd_type;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        data_source_t source[2] = {{.type = cases[i].ds_type}, {.type = cases[i].ds_type}};
        struct gtel_reading reading = reading_u64(GTEL_M_GPU_PCIE_RX, cases[i].bytes);
        test_label = cases[i].label;
        fake_daemon.other_type = type;
        fake_daemon.other_set = (data_set_t){.ds_num = cases[i].values, .ds = source};
        const struct fake_value *value = emit(&reading);
        CHECK_INT(value != NULL, cases[i].is_sent);
        CHECK_INT(fake_daemon_said("with one value; its values are dropped"), !cases[i].is_known);
        if (value && cases[i].ds_type == DS_TYPE_COUNTER)
            CHECK(value->value.counter == cases[i].bytes);
        else if (value)
            CHECK_NEAR(value->value.gauge, (double)cases[i].bytes, 0);
    }
    fake_daemon.other_type = type;
    fake_daemon.other_set =
        (data_set_t){.ds_num = 1, .ds = &(data_source_t){.type = DS_TYPE_COUNTER}};
    test_label = "a counter below 0";
    struct gtel_reading below = reading_f64(GTEL_M_GPU_PCIE_RX, -1);
    CHECK(emit(&below) == NULL);
    fake_daemon.other_type = NULL;
    test_label = "";
}

static const struct fake_type *type_of(const struct gtel_metric_row *row)
{
    for (const struct fake_type *t = fake_types; t->type; t++)
        if (strcmp(t->type, row->collectd_type) == 0)
            return t;
    return NULL;
}

/* Every row: a known type, a counter as DERIVE or as a gauge by intent, no two rows with one name.
 */
static void test_catalogue(void)
{
    for (size_t i = 0; i < GTEL_M_COUNT; i++) {
        const struct gtel_metric_row *row = gtel_metric_row((enum gtel_metric)i);
        test_label = row->text;
        if (!row->collectd_type)
            continue;
        const struct fake_type *type = type_of(row);
        if (!CHECK(type != NULL))
            continue;
        CHECK(row->kind != GTEL_KIND_TEXT);
        const char *part = strchr(row->collectd_instance, '%');
        CHECK(!part || (part > row->collectd_instance && part[-1] == '-'));
        CHECK(strlen(row->collectd_type) < DATA_MAX_NAME_LEN);
        CHECK_INT(row->kind == GTEL_KIND_RATIO, strcmp(row->collectd_type, "percent") == 0);
        if (row->kind == GTEL_KIND_RATIO)
            CHECK_NEAR(row->collectd_scale, 100, 0);
        /* collectd has no type for energy that only grows. */
        if (row->kind == GTEL_KIND_COUNTER)
            CHECK(type->ds_type == DS_TYPE_DERIVE || strcmp(type->type, "energy") == 0);
        else
            CHECK_INT(type->ds_type, DS_TYPE_GAUGE);
        for (size_t k = 0; k < i; k++) {
            const struct gtel_metric_row *other = gtel_metric_row((enum gtel_metric)k);
            CHECK(!other->collectd_type || strcmp(other->collectd_type, row->collectd_type) != 0 ||
                  strcmp(other->collectd_instance, row->collectd_instance) != 0);
        }
    }
    test_label = "";
}

/* "value:GAUGE:0:100.1" as the fake's facts. */
static void check_definition(const struct fake_type *type, struct gtel_str text)
{
    static const char *const words[] = {"COUNTER", "GAUGE", "DERIVE", "ABSOLUTE"};
    struct gtel_str part[4] = {{0}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(part); i++)
        CHECK(gtel_str_part(&text, ':', &part[i]));
    CHECK_STR(part[0], type->source);
    CHECK_STR(part[1], words[type->ds_type]);
    for (size_t i = 0; i < 2; i++) {
        double bound = i == 0 ? type->min : type->max;
        double got = NAN;
        if (!gtel_str_eq(part[2 + i], GTEL_STR("U")))
            CHECK_INT(gtel_str_f64(part[2 + i], &got), 0);
        CHECK_INT(isnan(got), isnan(bound));
        if (!isnan(bound))
            CHECK_NEAR(got, bound, 0);
    }
}

/* Our copy of the facts against the daemon's file, where collectd is installed. */
static void test_types_db(void)
{
    FILE *file = fopen("/usr/share/collectd/types.db", "r");
    if (!file)
        return;
    size_t found = 0;
    size_t want = 0;
    char line[1024];
    while (fgets(line, sizeof(line), file)) {
        struct gtel_str rest = gtel_str_of(line);
        struct gtel_str name;
        struct gtel_str definition;
        if (!gtel_str_word(&rest, &name) || !gtel_str_word(&rest, &definition))
            continue;
        for (const struct fake_type *t = fake_types; t->type; t++) {
            if (!gtel_str_eq(name, gtel_str_of(t->type)))
                continue;
            test_label = t->type;
            check_definition(t, definition);
            found++;
        }
    }
    test_label = "";
    (void)fclose(file);
    for (const struct fake_type *t = fake_types; t->type; t++)
        want++;
    CHECK_INT(found, want);
}

int main(void)
{
    test_names();
    test_long_names();
    test_values();
    test_frame();
    test_unknown_type();
    test_other_forms();
    test_catalogue();
    test_types_db();
    return test_result();
}
