/* SPDX-License-Identifier: MIT */
/* Number formats, bounded output, arenas, and the two tables. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/grow.h"
#include "base/index.h"
#include "tables/catalogue.h"
#include "tables/options.h"
#include "harness/test.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

static const struct {
    double value;
    int digits;
    const char *want;
} f64_cases[] = {
    {0, 9, "0"},
    {1, 9, "1"},
    {-40, 9, "-40"},
    {0.25, 9, "0.25"},
    {41.2, 9, "41.2"},
    {1.0 / 3, 9, "0.333333333"},
    {2.0 / 3, 15, "0.666666666666667"},
    {1e9, 9, "1000000000"},
    {123456789.123456, 15, "123456789.123456"},
    {999999999.9999999, 9, "1000000000"},
    {9.9999999999, 9, "10"},
    {0.000001, 9, "0.000001"},
    {0.0000000123, 9, "1.23e-8"},
    {1e20, 9, "100000000000000000000"},
    {1e21, 9, "1e+21"},
    {1.5e300, 9, "1.5e+300"},
    {4.9e-324, 9, "4.94065646e-324"},
    {NAN, 9, "0"},
};

static void test_f64(void)
{
    struct gtel_buf buf;
    gtel_buf_init(&buf, 64);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(f64_cases); i++) {
        test_label = f64_cases[i].want;
        gtel_buf_reset(&buf);
        gtel_buf_f64(&buf, f64_cases[i].value, f64_cases[i].digits);
        CHECK_STR(gtel_buf_text(&buf), f64_cases[i].want);
    }
    test_label = "round trip";
    uint64_t seed = 1;
    for (int i = 0; i < 200000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double v = ldexp((double)(seed >> 11), (int)(seed % 60) - 60);
        double back = 0;
        gtel_buf_reset(&buf);
        gtel_buf_f64(&buf, v, 15);
        if (gtel_str_f64(gtel_buf_text(&buf), &back) < 0 || fabs(back - v) > fabs(v) * 6e-15)
            CHECK_NEAR(back, v, fabs(v) * 6e-15);
    }
    gtel_buf_done(&buf);
}

static void test_buf(void)
{
    struct gtel_buf buf;
    test_label = "limit";
    gtel_buf_init(&buf, 10);
    gtel_buf_str(&buf, GTEL_STR("123456"));
    size_t mark = buf.n;
    gtel_buf_str(&buf, GTEL_STR("789012"));
    CHECK(buf.has_failed);
    gtel_buf_str(&buf, GTEL_STR("x")); /* once it failed, the rest of the record is dropped too */
    CHECK_INT(buf.n, mark);
    gtel_buf_back(&buf, mark);
    gtel_buf_str(&buf, GTEL_STR("7890"));
    CHECK(!buf.has_failed);
    CHECK_STR(gtel_buf_text(&buf), "1234567890");
    gtel_buf_reset(&buf);
    gtel_buf_i64(&buf, INT64_MIN);
    CHECK(buf.has_failed);
    gtel_buf_done(&buf);
    gtel_buf_init(&buf, 64);
    gtel_buf_i64(&buf, INT64_MIN);
    gtel_buf_u64(&buf, UINT64_MAX);
    gtel_buf_printf(&buf, "%s", "!");
    CHECK_STR(gtel_buf_text(&buf), "-922337203685477580818446744073709551615!");
    gtel_buf_done(&buf);
}

static void test_arena(void)
{
    struct gtel_arena arena = {0};
    test_label = "arena";
    void *first = gtel_arena_alloc(&arena, 100);
    CHECK(first != NULL);
    for (int i = 0; i < 1000; i++) {
        unsigned char *p = gtel_arena_alloc(&arena, 1000);
        if (!CHECK(p != NULL && p[0] == 0 && p[999] == 0))
            break;
        memset(p, 0xff, 1000);
    }
    CHECK(gtel_arena_alloc(&arena, SIZE_MAX) == NULL);
    gtel_arena_reset(&arena);
    CHECK(gtel_arena_alloc(&arena, 100) == first); /* the memory is kept */
    gtel_arena_done(&arena);
}

static bool ends_in_unit(struct gtel_str field)
{
    static const char *const units[] = {"_percent", "_bytes", "_celsius", "_watts",
                                        "_joules",  "_mhz",   "_seconds", "_rpm"};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(units); i++)
        if (gtel_str_ends(field, gtel_str_of(units[i])))
            return true;
    return false;
}

/* Whether measurement and field of a and b, joined by an underscore, are one name. */
static bool has_same_joined_name(const struct gtel_metric_row *a, const struct gtel_metric_row *b)
{
    struct gtel_buf names[2];
    const struct gtel_metric_row *rows[2] = {a, b};
    for (size_t i = 0; i < 2; i++) {
        gtel_buf_init(&names[i], 256);
        gtel_buf_str(&names[i], gtel_measurement_row(rows[i]->measurement)->name);
        gtel_buf_char(&names[i], '_');
        gtel_buf_str(&names[i], rows[i]->field);
    }
    bool is_same = gtel_str_eq(gtel_buf_text(&names[0]), gtel_buf_text(&names[1]));
    gtel_buf_done(&names[0]);
    gtel_buf_done(&names[1]);
    return is_same;
}

/* Prometheus, VictoriaMetrics and Telegraf's outputs for them write measurement_field. */
static void test_joined_names(void)
{
    for (size_t i = 0; i < GTEL_M_COUNT; i++) {
        const struct gtel_metric_row *a = gtel_metric_row((enum gtel_metric)i);
        for (size_t k = i + 1; k < GTEL_M_COUNT && a->field.n > 0; k++) {
            const struct gtel_metric_row *b = gtel_metric_row((enum gtel_metric)k);
            test_label = b->field.p;
            CHECK(b->field.n == 0 || !has_same_joined_name(a, b));
        }
    }
}

static void test_catalogue(void)
{
    for (size_t i = 0; i < GTEL_M_COUNT; i++) {
        const struct gtel_metric_row *row = gtel_metric_row((enum gtel_metric)i);
        struct gtel_str text = gtel_str_of(row->text);
        test_label = row->text;
        CHECK(gtel_str_ends(text, GTEL_STR(".")));
        CHECK(row->kind != GTEL_KIND_RATIO || gtel_str_ends(row->field, GTEL_STR("percent")));
        CHECK(row->kind != GTEL_KIND_RATIO || (row->scale == 100 && row->type == GTEL_TYPE_FLOAT));
        CHECK((row->kind == GTEL_KIND_TEXT) == (row->type == GTEL_TYPE_STRING));
        CHECK(row->rate == GTEL_M_NONE || row->kind == GTEL_KIND_COUNTER);
        for (size_t k = 0; k < i; k++) {
            const struct gtel_metric_row *other = gtel_metric_row((enum gtel_metric)k);
            CHECK(row->field.n == 0 || row->measurement != other->measurement ||
                  !gtel_str_eq(row->field, other->field));
        }
        /* collectd's names have the first dimension in the pattern. */
        CHECK(!row->collectd_type || (strchr(row->collectd_instance, '%') != NULL) ==
                                         (gtel_measurement_row(row->measurement)->dims[0] != NULL));
        if (ends_in_unit(row->field))
            CHECK(row->unit[0] != '\0');
    }
}

static const struct {
    const char *name;
    const char *value;
    int rc; /* of set; -ENOENT: no such option */
    const char *message;
} option_cases[] = {
    {"Interval", "2s", 0, ""},
    {"interval", "500ms", 0, ""},
    {"sample_interval", "1s", 0, ""},
    {"sample-interval", "0s", 0, ""},
    {"SAMPLEINTERVAL", "100ms", 0, ""},
    {"Interval", "1ms", -ERANGE, "Interval: '1ms' is not a time from 100ms to 1h"},
    {"Interval", "soon", -EINVAL, "'soon'"},
    {"Deadline", "", -EINVAL, "Deadline: ''"},
    {"Wake", "sometimes", -EINVAL, "never,always"},
    {"Wake", "always", 0, ""},
    {"ProcessTags", "unit, container,unit", 0, ""},
    {"ProcessTags", "", 0, ""},
    {"ProcessTags", "pid,name", -EINVAL, "some of: container,pod,namespace,pod_uid,"},
    {"ProcessTags", ",user", -EINVAL, "ProcessTags: ',user'"},
    {"AmdTool", "amd-smi", -EINVAL,
     "AmdTool: 'amd-smi' is not an absolute path, as /opt/rocm/bin/amd-smi"},
    {"AmdTool", "", 0, ""},
    {"Helper", "./gtel", -EINVAL, "absolute path, as /usr/bin/gtel"},
    {"ProcessLimit", "1001", -ERANGE, "0 to 1000"},
    {"NoSuch", "1", -ENOENT, ""},
    {"Intervax", "1s", -ENOENT, ""},
    {"", "1", -ENOENT, ""},
};

static void test_options(void)
{
    struct gtel_options options;
    gtel_options_init(&options);
    test_label = "defaults";
    for (size_t i = 0; i < GTEL_O_COUNT; i++) {
        char error[200];
        struct gtel_options copy = options;
        CHECK(!options.value[i].is_given);
        CHECK_INT(gtel_option_set(&copy, (enum gtel_option)i,
                                  gtel_str_of(gtel_option_row((enum gtel_option)i)->preset), error,
                                  sizeof(error)),
                  0);
    }
    CHECK_INT(gtel_option_number(&options, GTEL_O_DEADLINE), 500000000);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(option_cases); i++) {
        char error[200] = "";
        test_label = option_cases[i].name;
        enum gtel_option id = gtel_option_find(gtel_str_of(option_cases[i].name), GTEL_OPTION_BOTH);
        CHECK((id == GTEL_O_COUNT) == (option_cases[i].rc == -ENOENT));
        if (id == GTEL_O_COUNT)
            continue;
        CHECK_INT(
            gtel_option_set(&options, id, gtel_str_of(option_cases[i].value), error, sizeof(error)),
            option_cases[i].rc);
        CHECK(strstr(error, option_cases[i].message) != NULL);
    }
    char error[200];
    char text[GTEL_OPTION_TEXT_MAX + 1];
    memset(text, 'x', sizeof(text));
    for (size_t n = GTEL_OPTION_TEXT_MAX - 1; n <= GTEL_OPTION_TEXT_MAX; n++) {
        bool fits = n < GTEL_OPTION_TEXT_MAX;
        const struct gtel_str value = {text, n};
        test_label = "longest text";
        CHECK_INT(gtel_option_set(&options, GTEL_O_HOST_TAG, value, error, sizeof(error)),
                  fits ? 0 : -ERANGE);
        CHECK_INT(gtel_option_text(&options, GTEL_O_HOST_TAG).n, GTEL_OPTION_TEXT_MAX - 1);
        CHECK(fits ||
              strcmp(error, "HostTag: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                            "xxxxxxxxxxxxxxxxxxxxxxxxx…' is longer than 255 bytes") == 0);
    }
    for (size_t i = 0; i < GTEL_OPTION_TEXT_MAX; i++)
        text[i] = "pid,"[i % 4];
    struct gtel_str words = {text, GTEL_OPTION_TEXT_MAX};
    CHECK_INT(gtel_option_set(&options, GTEL_O_PROCESS_TAGS, words, error, sizeof(error)), -ERANGE);
    words.n--;
    CHECK_INT(gtel_option_set(&options, GTEL_O_PROCESS_TAGS, words, error, sizeof(error)), 0);
    test_label = "a bit per word";
    CHECK_INT(gtel_option_set(&options, GTEL_O_PROCESS_TAGS, GTEL_STR("pid,container"), error,
                              sizeof(error)),
              0);
    CHECK_INT(gtel_option_number(&options, GTEL_O_PROCESS_TAGS), 128 + 1);
    test_label = "";
    struct gtel_buf buf;
    gtel_buf_init(&buf, 256);
    gtel_option_argument(&buf, &options, GTEL_O_SAMPLE_INTERVAL);
    CHECK_STR(gtel_buf_text(&buf), "--sample-interval=100ms");
    gtel_buf_done(&buf);
}

static void test_index(void)
{
    struct gtel_index index = {0};
    size_t at = 0;
    test_label = "index";
    CHECK_INT(gtel_index_next(&index, 1, &at), GTEL_INDEX_NONE);
    for (size_t i = 0; i < 1000; i++) { /* ten numbers to each of a hundred hashes */
        CHECK_INT(gtel_index_reserve(&index, i + 1), 0);
        gtel_index_put(&index, (i % 100) << 20, i);
    }
    for (size_t h = 0; h < 100; h++) {
        bool seen[10] = {false};
        at = 0;
        for (int64_t i = 0; (i = gtel_index_next(&index, h << 20, &at)) != GTEL_INDEX_NONE;)
            if (CHECK(i >= 0 && i < 1000 && i % 100 == (int64_t)h))
                seen[i / 100] = true;
        for (size_t i = 0; i < 10; i++)
            CHECK(seen[i]);
    }
    at = 0;
    CHECK_INT(gtel_index_next(&index, 100u << 20, &at), GTEL_INDEX_NONE);
    gtel_index_reset(&index);
    at = 0;
    CHECK_INT(gtel_index_next(&index, 1u << 20, &at), GTEL_INDEX_NONE);
    CHECK(index.size >= 2000);
    gtel_index_done(&index);
}

typedef bool grow_fn(void *list, size_t *size, size_t n, size_t max, size_t bytes);

/* Only the one that says so sets new entries. */
static void test_growth(grow_fn *grow, bool is_zeroed)
{
    enum { MAX = 100 };
    uint32_t *list = NULL;
    size_t size = 0;
    for (size_t n = 1; n <= MAX; n++) {
        CHECK(grow(&list, &size, n, MAX, sizeof(*list)));
        CHECK(size >= n && size <= MAX);
        CHECK(!is_zeroed || list[n - 1] == 0);
        list[n - 1] = (uint32_t)n;
    }
    for (size_t i = 0; i < MAX; i++)
        CHECK_INT(list[i], i + 1);
    CHECK(!grow(&list, &size, MAX + 1, MAX, sizeof(*list)) && size == MAX);
    CHECK(grow(&list, &size, 0, MAX, sizeof(*list)) && size == MAX);
    free(list);
}

int main(void)
{
    (void)setlocale(LC_ALL, ""); /* whatever it is, numbers do not change */
    test_f64();
    test_buf();
    test_arena();
    test_catalogue();
    test_joined_names();
    test_options();
    test_index();
    test_growth(gtel_grow, false);
    test_growth(gtel_grow_zeroed, true);
    return test_result();
}
