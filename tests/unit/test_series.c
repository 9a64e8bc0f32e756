/* SPDX-License-Identifier: MIT */
/* The memory between gathers: preference, ownership, order, ageing. */
#include "pipeline/series.h"
#include "harness/test.h"

static struct gtel_reading reading_of(const struct gtel_device *device, enum gtel_metric metric,
                                      struct gtel_str dim, double value)
{
    return (struct gtel_reading){.device = device,
                                 .metric = (uint16_t)metric,
                                 .dim = {dim},
                                 .value.f64 = value,
                                 .value_type = GTEL_VALUE_F64};
}

static void test_preference(void)
{
    struct gtel_series_table table = {0};
    struct gtel_device device = {.index = 0};
    struct gtel_reading good = reading_of(&device, GTEL_M_TEMPERATURE, GTEL_STR("pkg"), 40);
    struct gtel_reading other = good;
    other.value.f64 = 99;
    test_label = "preference";
    CHECK(gtel_series_offer(&table, &other, 5, 1, 1) != NULL); /* nobody else: taken */
    struct gtel_series *series = gtel_series_offer(&table, &good, 1, 1, 1);
    CHECK(series != NULL && series->now.value.f64 == 40); /* the better one replaces it */
    CHECK(gtel_series_offer(&table, &other, 5, 1, 1) == NULL);
    CHECK(gtel_series_offer(&table, &good, 1, 1, 1) == NULL); /* the same key twice */
    /* A silent owner keeps the series for some gathers, so that two sources do not mix. */
    CHECK(gtel_series_offer(&table, &other, 5, 2, 2) == NULL);
    series = gtel_series_offer(&table, &other, 5, 30, 1 + GTEL_SERIES_AGE);
    CHECK(series != NULL && series->now.value.f64 == 99);
    CHECK_INT(table.n, 1);
    gtel_series_done(&table);
}

static void test_gathers(void)
{
    struct gtel_series_table table = {0};
    struct gtel_device device = {.index = 0};
    struct gtel_reading reading = reading_of(&device, GTEL_M_ENERGY, GTEL_STR("pkg"), 40);
    const struct gtel_series *series = gtel_series_offer(&table, &reading, 1, 7, 7);
    test_label = "gathers";
    CHECK(series && series->now.gathers == 0); /* the first one */
    series = gtel_series_offer(&table, &reading, 1, 8, 8);
    CHECK(series && series->now.gathers == 1);
    series = gtel_series_offer(&table, &reading, 1, 14, 14);
    CHECK(series && series->now.gathers == 6);
    gtel_series_done(&table);
}

static void test_keys(void)
{
    struct gtel_series_table table = {0};
    struct gtel_device device[2] = {{.index = 0}, {.index = 1}};
    char name[16];
    test_label = "keys";
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof(name), "s%d", i);
        struct gtel_reading r =
            reading_of(&device[i % 2], GTEL_M_TEMPERATURE, gtel_str_of(name), i);
        CHECK(gtel_series_offer(&table, &r, 0, 1, 1) != NULL); /* name is copied */
    }
    struct gtel_reading self = reading_of(NULL, GTEL_M_SELF_GPUS, GTEL_STR_NONE, 1);
    struct gtel_reading up = reading_of(&device[0], GTEL_M_GPU_UP, GTEL_STR_NONE, 1);
    CHECK(gtel_series_offer(&table, &self, 0, 1, 1) != NULL);
    CHECK(gtel_series_offer(&table, &up, 0, 1, 1) != NULL);
    CHECK_INT(table.n, 1002);
    gtel_series_sort(&table);
    CHECK_INT(table.sorted[0]->now.metric, GTEL_M_GPU_UP);
    CHECK(table.sorted[1001]->now.device == NULL); /* the program itself comes last */
    for (size_t i = 1; i + 1 < table.n; i++)
        CHECK(table.sorted[i - 1]->now.device->index <= table.sorted[i]->now.device->index);

    gtel_series_age(&table, 1, 0);
    for (int i = 0; i < 10; i++) { /* these ten live on */
        (void)snprintf(name, sizeof(name), "s%d", i);
        struct gtel_reading r =
            reading_of(&device[i % 2], GTEL_M_TEMPERATURE, gtel_str_of(name), i);
        CHECK(gtel_series_offer(&table, &r, 0, 2, 2 + GTEL_SERIES_AGE) != NULL);
    }
    gtel_series_age(&table, 2 + GTEL_SERIES_AGE, GTEL_SERIES_AGE_NS + 1);
    CHECK_INT(table.n, 10);
    struct gtel_reading r = reading_of(&device[0], GTEL_M_TEMPERATURE, GTEL_STR("s4"), 4);
    CHECK(gtel_series_offer(&table, &r, 0, 3, 3 + GTEL_SERIES_AGE) != NULL);
    CHECK_INT(table.n, 10);
    gtel_series_done(&table);
}

/* What is read once a minute lives on at any interval, and energy for an hour. */
static void test_age(void)
{
    static const struct {
        const char *label;
        uint64_t step_ns; /* between gathers */
        uint64_t gathers; /* without a reading */
        size_t left;
    } cases[] = {
        {"each minute, a gather a second", 1000000000, 60, 2},
        {"each minute, ten gathers a second", 100000000, 600, 2},
        {"after 150 s", 1000000000, 149, 2},
        {"after more than that", 1000000000, 151, 1},
        {"20 gathers of a minute", 60000000000, 20, 2},
        {"21 gathers of a minute", 60000000000, 21, 1},
        {"an hour", 1000000000, 3599, 1},
        {"more than an hour", 1000000000, 3601, 0},
        {"20 gathers of five minutes", 300000000000, 20, 2},
        {"21 gathers of five minutes", 300000000000, 21, 0},
        {"61 gathers of a minute", 60000000000, 61, 0},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_series_table table = {0};
        struct gtel_device device = {.index = 0};
        struct gtel_reading errors = reading_of(&device, GTEL_M_ERROR_COUNT, GTEL_STR_NONE, 1);
        struct gtel_reading joules = reading_of(&device, GTEL_M_PROCESS_JOULES, GTEL_STR("a"), 1);
        test_label = cases[i].label;
        CHECK(gtel_series_offer(&table, &errors, 0, 1, 1) != NULL);
        CHECK(gtel_series_count(&table, &joules, 1, 1) != NULL);
        for (uint64_t gather = 1; gather <= 1 + cases[i].gathers; gather++)
            gtel_series_age(&table, gather, gather * cases[i].step_ns);
        CHECK_INT(table.n, cases[i].left);
        gtel_series_done(&table);
    }
}

/* What is counted adds up over gathers, and the window has each sum. */
static void test_count(void)
{
    static const double added[] = {1, 0, 2.5, 4};
    struct gtel_series_table table = {0};
    struct gtel_device device = {.index = 0};
    double sum = 0;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(added); i++) {
        struct gtel_reading joules = reading_of(&device, GTEL_M_PROCESS_JOULES, GTEL_STR("a"), 0);
        joules.value_type = GTEL_VALUE_F64;
        joules.value.f64 = added[i];
        joules.t_ns = 100 + i;
        sum += added[i];
        const struct gtel_series *series = gtel_series_count(&table, &joules, 1, 1 + i);
        if (!CHECK(series != NULL))
            break;
        CHECK_NEAR(series->now.value.f64, sum, 0);
        CHECK_INT(series->now.t_ns, joules.t_ns);
        CHECK_INT(series->gather, 1 + i);
        CHECK_NEAR(series->window.min, 1, 0);
        CHECK_NEAR(series->window.max, sum, 0);
        CHECK_INT(series->window.n, i + 1);
    }
    CHECK_INT(table.n, 1);
    gtel_series_done(&table);
}

static void add_samples(struct gtel_series_table *table, const struct gtel_reading *reading,
                        unsigned n)
{
    struct gtel_series *series = gtel_series_offer(table, reading, 0, 1, 1);
    for (unsigned i = 0; i < n && CHECK(series != NULL); i++)
        gtel_window_add(&series->window, reading);
}

/* A share of 0.5 in samples of a line, which is not in all samples that have a list. */
static void test_absences(void)
{
    enum { READER = 3, LIBRARY = 4 };
    static const struct {
        const char *label;
        int list_of; /* the device that has a list; the line is of device 1 */
        uint8_t source;
        enum gtel_metric metric;
        unsigned lists, lines, shares; /* samples */
        unsigned want;                 /* of the share */
    } cases[] = {
        {"in each", 1, READER, GTEL_M_PROCESS_BUSY, 4, 4, 4, 4},
        {"in one of four", 1, READER, GTEL_M_PROCESS_BUSY, 4, 1, 1, 4},
        {"of a class of engines", 1, READER, GTEL_M_PROCESS_OTHER, 4, 3, 3, 4},
        {"not known in the first of two", 1, READER, GTEL_M_PROCESS_BUSY, 4, 2, 1, 3},
        {"not in this interval", 1, READER, GTEL_M_PROCESS_BUSY, 4, 0, 0, 0},
        {"more often than the list", 1, READER, GTEL_M_PROCESS_BUSY, 2, 3, 3, 3},
        {"no list", 1, READER, GTEL_M_PROCESS_BUSY, 0, 2, 2, 2},
        {"a list of the GPU before", 0, READER, GTEL_M_PROCESS_BUSY, 4, 2, 2, 2},
        {"shares that are rarer than lists", 1, LIBRARY, GTEL_M_PROCESS_BUSY, 4, 2, 1, 1},
        {"made by the core", 1, GTEL_SOURCE_CORE, GTEL_M_PROCESS_BUSY, 4, 2, 2, 2},
        {"memory", 1, READER, GTEL_M_PROCESS_MEMORY, 4, 2, 2, 2},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_series_table table = {0};
        struct gtel_device device[2] = {{.index = 0}, {.index = 1}};
        const struct gtel_str name = GTEL_STR("a");
        const struct gtel_reading list =
            reading_of(&device[cases[i].list_of], GTEL_M_GPU_PROCESSES, GTEL_STR_NONE, 1);
        const struct gtel_reading line = reading_of(&device[1], GTEL_M_PROCESS_COUNT, name, 1);
        struct gtel_reading share = reading_of(&device[1], cases[i].metric, name, 0.5);
        test_label = cases[i].label;
        share.source = cases[i].source;
        add_samples(&table, &share, cases[i].shares);
        add_samples(&table, &line, cases[i].lines);
        add_samples(&table, &list, cases[i].lists);
        gtel_series_sort(&table);
        gtel_series_add_absences(&table, 1u << READER);
        const struct gtel_window *window = &table.sorted[2]->window;
        CHECK_INT(window->n, cases[i].want);
        CHECK_NEAR(window->sum, 0.5 * cases[i].shares, 0);
        CHECK_NEAR(window->min, cases[i].want > cases[i].shares ? 0 : 0.5 * (window->n > 0), 0);
        CHECK_NEAR(window->max, 0.5 * (window->n > 0), 0);
        gtel_series_done(&table);
    }
    test_label = "";
}

int main(void)
{
    test_absences();
    test_age();
    test_count();
    test_preference();
    test_gathers();
    test_keys();
    return test_result();
}
