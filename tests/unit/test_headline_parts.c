/* SPDX-License-Identifier: MIT */
/* Headlines: which parts stand for a GPU, sample by sample. */
#include "pipeline/headline.h"
#include "harness/test.h"

#include <string.h>

/* One sample of parts, and the headline that is made of them. */
enum { PARTS = 4 };
static const struct part_case {
    const char *label;
    enum gtel_headline_rule rule;
    struct {
        enum gtel_metric metric;
        const char *name; /* with /: of a part */
        double value;     /* negative: missing */
        uint32_t rank;
    } part[PARTS];
    double want; /* negative: none */
} part_cases[] = {
    {"the card before the package",
     GTEL_HEADLINE_POWER,
     {{GTEL_M_POWER, "pkg", 90, 1}, {GTEL_M_POWER, "card", 120, 1}},
     120},
    {"the package where there is no card",
     GTEL_HEADLINE_POWER,
     {{GTEL_M_POWER, "memory", 20, 1}, {GTEL_M_POWER, "pkg", 90, 1}},
     90},
    {"the package does not stand in for the card",
     GTEL_HEADLINE_POWER,
     {{GTEL_M_POWER, "card", -1, 1}, {GTEL_M_POWER, "pkg", 90, 1}},
     -1},
    {"the better source before the better name",
     GTEL_HEADLINE_POWER,
     {{GTEL_M_POWER, "card", 120, 2}, {GTEL_M_POWER, "pkg", 90, 1}},
     90},
    {"a tile is not the GPU",
     GTEL_HEADLINE_POWER,
     {{GTEL_M_POWER, "pkg-tile0", 90, 1}, {GTEL_M_POWER, "pkg-tile1", 80, 1}},
     -1},
    {"the first clock",
     GTEL_HEADLINE_FREQUENCY_ACTUAL,
     {{GTEL_M_FREQUENCY_ACTUAL, "graphics", 10, 1},
      {GTEL_M_FREQUENCY_ACTUAL, "graphics", 20, 1},
      {GTEL_M_FREQUENCY_ACTUAL, "media", 30, 1}},
     10},
    {"the first clock is missing",
     GTEL_HEADLINE_FREQUENCY_ACTUAL,
     {{GTEL_M_FREQUENCY_ACTUAL, "graphics", -1, 1}, {GTEL_M_FREQUENCY_ACTUAL, "graphics", 20, 1}},
     -1},
    {"the hottest tile",
     GTEL_HEADLINE_TEMPERATURE,
     {{GTEL_M_TEMPERATURE, "global", 70, 1},
      {GTEL_M_TEMPERATURE, "gpu-min", 80, 1},
      {GTEL_M_TEMPERATURE, "gpu-tile0", 50, 1},
      {GTEL_M_TEMPERATURE, "gpu-tile1", 60, 1}},
     60},
    {"the hottest by number",
     GTEL_HEADLINE_TEMPERATURE,
     {{GTEL_M_TEMPERATURE, "gpu0", 61, 1},
      {GTEL_M_TEMPERATURE, "gpu9", 51, 1},
      {GTEL_M_TEMPERATURE, "gpu-1", 41, 1}},
     61},
    {"the last number",
     GTEL_HEADLINE_TEMPERATURE,
     {{GTEL_M_TEMPERATURE, "gpu-1", 41, 1}, {GTEL_M_TEMPERATURE, "gpu9", 51, 1}},
     51},
    {"a number below",
     GTEL_HEADLINE_TEMPERATURE,
     {{GTEL_M_TEMPERATURE, "gpu0", 41, 1}, {GTEL_M_TEMPERATURE, "gpu-1", 51, 1}},
     51},
    {"another name that begins like it",
     GTEL_HEADLINE_TEMPERATURE,
     {{GTEL_M_TEMPERATURE, "gpux", 61, 1}, {GTEL_M_TEMPERATURE, "gp", 61, 1}},
     -1},
    {"another name as long",
     GTEL_HEADLINE_POWER,
     {{GTEL_M_POWER, "soc", 20, 1}, {GTEL_M_POWER, "core", 20, 1}},
     -1},
    {"an engine of a part",
     GTEL_HEADLINE_ENGINE_BUSY,
     {{GTEL_M_ENGINE_BUSY, "render/1", 0.9, 1}, {GTEL_M_ENGINE_BUSY, "render", 0.2, 1}},
     0.2},
    {"the better source has no main engine",
     GTEL_HEADLINE_ENGINE_BUSY,
     {{GTEL_M_ENGINE_BUSY, "render", 0.9, 2}, {GTEL_M_ENGINE_BUSY, "video", 0.5, 1}},
     -1},
    {"a reason that is called as an engine",
     GTEL_HEADLINE_ENGINE_BUSY,
     {{GTEL_M_ENGINE_BUSY, "video", 0.5, 1}, {GTEL_M_THROTTLE_ACTIVE, "compute", 1, 1}},
     -1},
    {"one tile is missing",
     GTEL_HEADLINE_TEMPERATURE,
     {{GTEL_M_TEMPERATURE, "gpu-tile0", 50, 1}, {GTEL_M_TEMPERATURE, "gpu-tile1", -1, 1}},
     -1},
    {"memories are not summed up",
     GTEL_HEADLINE_MEMORY_USED,
     {{GTEL_M_MEMORY_USED, "vram0", 1, 1}, {GTEL_M_MEMORY_USED, "vram1", 2, 1}},
     -1},
    {"the only memory",
     GTEL_HEADLINE_MEMORY_USED,
     {{GTEL_M_MEMORY_USED, "system", 5, 1}, {GTEL_M_MEMORY_USED, "vram", 3, 1}},
     3},
    {"a reason that holds, beside a missing one",
     GTEL_HEADLINE_THROTTLE_ACTIVE,
     {{GTEL_M_THROTTLE_ACTIVE, "pl1", 1, 1}, {GTEL_M_THROTTLE_STATUS, "", -1, 2}},
     1},
    {"no reason, beside a missing one",
     GTEL_HEADLINE_THROTTLE_ACTIVE,
     {{GTEL_M_THROTTLE_ACTIVE, "pl1", 0, 1}, {GTEL_M_THROTTLE_STATUS, "", -1, 2}},
     -1},
    {"a driver's summary, beside a late reason of another source",
     GTEL_HEADLINE_THROTTLE_STATUS,
     {{GTEL_M_THROTTLE_STATUS, "", 0, 1}, {GTEL_M_THROTTLE_ACTIVE, "any_power", -1, 2}},
     0},
    {"the summary of one GT is missing",
     GTEL_HEADLINE_THROTTLE_STATUS,
     {{GTEL_M_THROTTLE_STATUS, "", 0, 1}, {GTEL_M_THROTTLE_STATUS, "", -1, 1}},
     -1},
    {"no summary",
     GTEL_HEADLINE_THROTTLE_STATUS,
     {{GTEL_M_THROTTLE_ACTIVE, "pl1", 0, 1}, {GTEL_M_THROTTLE_ACTIVE, "any_power", -1, 2}},
     -1},
};

static void test_parts(void)
{
    struct gtel_device device = {.index = 0};
    for (size_t i = 0; i < sizeof(part_cases) / sizeof(part_cases[0]); i++) {
        struct gtel_headlines headlines = {0};
        struct gtel_series series[PARTS];
        struct gtel_reading reading;
        uint32_t rank;
        const struct part_case *c = &part_cases[i];
        test_label = c->label;
        memset(series, 0, sizeof(series));
        CHECK_INT(gtel_headlines_begin(&headlines, 1), 0);
        for (size_t k = 0; k < PARTS && c->part[k].name; k++) {
            series[k].now = (struct gtel_reading){.device = &device,
                                                  .metric = (uint16_t)c->part[k].metric,
                                                  .value_type = GTEL_VALUE_F64,
                                                  .value.f64 = c->part[k].value};
            struct gtel_str name = gtel_str_of(c->part[k].name);
            size_t slash = gtel_str_find(name, '/');
            series[k].now.dim[0] = (struct gtel_str){name.p, slash};
            series[k].now.dim[1] = gtel_str_skip(name, slash + 1);
            series[k].rank = c->part[k].rank;
            gtel_headlines_add(&headlines, &series[k], false, c->part[k].value < 0);
        }
        bool has_value = gtel_headlines_get(&headlines, 0, c->rule, &reading, &rank);
        CHECK_INT(has_value, c->want >= 0);
        if (has_value)
            CHECK_NEAR(gtel_reading_number(&reading), c->want, 1e-12);
        gtel_headlines_done(&headlines);
    }
}

static struct gtel_device two_devices[2] = {{.index = 0}, {.index = 1}};

/* Of the first device; value negative: missing. */
static void add_part(struct gtel_headlines *headlines, struct gtel_series *series,
                     enum gtel_metric metric, const char *name, double value)
{
    series->now = (struct gtel_reading){.device = &two_devices[0],
                                        .metric = (uint16_t)metric,
                                        .value_type = GTEL_VALUE_F64,
                                        .value.f64 = value < 0 ? -value : value,
                                        .dim = {gtel_str_of(name)}};
    gtel_headlines_add(headlines, series, false, value < 0);
}

/* A better part that answers late stands for the GPU, but no counter jumps to it. */
static void test_late_part(void)
{
    static const struct {
        enum gtel_headline_rule rule;
        enum gtel_metric metric;
        uint32_t rank; /* of the source */
        bool is_kept;
    } cases[] = {{GTEL_HEADLINE_POWER, GTEL_M_POWER, 1, true},
                 {GTEL_HEADLINE_POWER, GTEL_M_POWER, 0, true},
                 {GTEL_HEADLINE_ENERGY, GTEL_M_ENERGY, 1, false},
                 {GTEL_HEADLINE_ENERGY, GTEL_M_ENERGY, 0, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gtel_headlines headlines = {0};
        struct gtel_series series[2] = {{.rank = cases[i].rank}, {.rank = cases[i].rank}};
        struct gtel_series other = {.rank = cases[i].rank + 1};
        struct gtel_reading reading;
        uint32_t rank;
        test_label = cases[i].is_kept ? "late part of a gauge" : "late part of a counter";
        CHECK_INT(gtel_headlines_begin(&headlines, 1), 0);
        add_part(&headlines, &series[0], cases[i].metric, "pkg", 7);
        CHECK(gtel_headlines_get(&headlines, 0, cases[i].rule, &reading, &rank));
        CHECK_INT(gtel_headlines_begin(&headlines, 1), 0);
        CHECK(!gtel_headlines_get(&headlines, 0, cases[i].rule, &reading, &rank));
        for (int gather = 0; gather < 3; gather++) {
            CHECK_INT(gtel_headlines_begin(&headlines, 1), 0);
            add_part(&headlines, &series[0], cases[i].metric, "pkg", 7);
            CHECK(gather > 0 || gtel_headlines_get(&headlines, 0, cases[i].rule, &reading, &rank));
            add_part(&headlines, &series[1], cases[i].metric, "card", 7);
            CHECK_INT(gtel_headlines_get(&headlines, 0, cases[i].rule, &reading, &rank),
                      cases[i].is_kept);
        }
        CHECK_INT(gtel_headlines_begin(&headlines, 1), 0);
        add_part(&headlines, &series[0], cases[i].metric, "pkg", 7);
        CHECK_INT(gtel_headlines_get(&headlines, 0, cases[i].rule, &reading, &rank),
                  !cases[i].is_kept);
        CHECK_INT(gtel_headlines_begin(&headlines, 1), 0);
        add_part(&headlines, &other, cases[i].metric, "pkg", 7); /* the series decides */
        CHECK(gtel_headlines_get(&headlines, 0, cases[i].rule, &reading, &rank));
        gtel_headlines_done(&headlines);
    }
    test_label = "";
}

/* Which metrics are made, and what a headline says of itself. */
static void test_made(void)
{
    static const struct {
        enum gtel_headline_rule rule;
        enum gtel_metric headline;
        enum gtel_metric part;
        const char *name;
        uint32_t position;
        bool is_derived;
    } made[] = {
        {GTEL_HEADLINE_POWER, GTEL_M_GPU_POWER, GTEL_M_POWER, "card", 0, false},
        {GTEL_HEADLINE_ENERGY, GTEL_M_GPU_ENERGY, GTEL_M_ENERGY, "pkg", 1, false},
        {GTEL_HEADLINE_POWER_LIMIT, GTEL_M_GPU_POWER_LIMIT, GTEL_M_POWER_LIMIT, "pkg", 1, false},
        {GTEL_HEADLINE_TEMPERATURE, GTEL_M_GPU_TEMPERATURE, GTEL_M_TEMPERATURE, "junction", 4,
         false},
        {GTEL_HEADLINE_FREQUENCY_ACTUAL, GTEL_M_GPU_FREQUENCY, GTEL_M_FREQUENCY_ACTUAL, "npu", 1,
         false},
        {GTEL_HEADLINE_MEMORY_USED, GTEL_M_GPU_MEMORY_USED, GTEL_M_MEMORY_USED, "vram", 0, false},
        {GTEL_HEADLINE_MEMORY_TOTAL, GTEL_M_GPU_MEMORY_TOTAL, GTEL_M_MEMORY_TOTAL, "vram", 0,
         false},
        {GTEL_HEADLINE_ENGINE_BUSY, GTEL_M_GPU_BUSY, GTEL_M_ENGINE_BUSY, "compute", 0, true},
    };
    size_t n = 0;
    for (int metric = 0; metric < GTEL_M_COUNT; metric++)
        n += gtel_headline_is_made((enum gtel_metric)metric);
    CHECK_INT(n, GTEL_ARRAY_LEN(made) + 1);
    CHECK(gtel_headline_is_made(GTEL_M_GPU_THROTTLED));
    for (size_t i = 0; i < GTEL_ARRAY_LEN(made); i++) {
        struct gtel_headlines headlines = {0};
        struct gtel_series series = {.rank = 3};
        struct gtel_reading reading;
        uint32_t rank;
        test_label = made[i].name;
        CHECK(gtel_headline_is_made(made[i].headline));
        CHECK_INT(gtel_headlines_begin(&headlines, 1), 0);
        add_part(&headlines, &series, made[i].part, made[i].name, 7);
        if (CHECK(gtel_headlines_get(&headlines, 0, made[i].rule, &reading, &rank))) {
            CHECK_INT(reading.metric, made[i].headline);
            CHECK(reading.is_derived == made[i].is_derived);
            CHECK_INT(reading.dim[0].n, 0);
            /* One behind what the source itself reads, which is context.c's 3 times NAMES. */
            CHECK_INT(rank, GTEL_RANK_HEADLINE + 3 * GTEL_HEADLINE_NAMES + made[i].position + 1);
        }
        gtel_headlines_done(&headlines);
    }
    test_label = "";
}

/* What a sample before had is not there in the next one, of no device. */
static void test_forgets(void)
{
    struct gtel_headlines headlines = {0};
    struct gtel_series series[2][2] = {0};
    struct gtel_reading reading;
    uint32_t rank;
    for (int gather = 0; gather < 2; gather++) {
        CHECK_INT(gtel_headlines_begin(&headlines, 2), 0);
        for (size_t d = 0; d < 2; d++) {
            for (size_t k = gather == 0 ? 0 : 1; k < 2; k++) {
                series[d][k].now =
                    (struct gtel_reading){.device = &two_devices[d],
                                          .metric = GTEL_M_ENGINE_BUSY,
                                          .value_type = GTEL_VALUE_F64,
                                          .value.f64 = 0.5,
                                          .dim = {gtel_str_of(k == 0 ? "render" : "video")}};
                gtel_headlines_add(&headlines, &series[d][k], false, false);
            }
            CHECK_INT(gtel_headlines_get(&headlines, d, GTEL_HEADLINE_ENGINE_BUSY, &reading, &rank),
                      gather == 0);
        }
    }
    gtel_headlines_done(&headlines);
}

static void check_idle(const struct gtel_reading *reading, uint32_t rank, double want)
{
    CHECK_NEAR(gtel_reading_number(reading), want, 1e-12);
    CHECK(reading->is_derived && reading->source == GTEL_SOURCE_CORE &&
          reading->origin == GTEL_HEADLINE_IDLE);
    CHECK(rank > GTEL_RANK_HEADLINE + GTEL_RANK_STEP);
}

/* Idle time stands for a GPU from the second sample on, where a GT has slept and no engine counts.
 */
static void test_idle_parts(void)
{
    enum { SAMPLES = 3, IDLES = 4 };
    static const struct {
        const char *label;
        struct {
            enum gtel_metric metric;
            const char *name;
            double value; /* negative: missing */
        } part[IDLES];
        int from; /* the first sample with a value; SAMPLES: none */
        double want;
    } cases[] = {
        {"it has slept",
         {{GTEL_M_FREQUENCY_IDLE_TIME, "graphics", 5}, {GTEL_M_FREQUENCY_IDLE, "graphics", 0.75}},
         1,
         0.25},
        {"the one that slept least",
         {{GTEL_M_FREQUENCY_IDLE_TIME, "graphics", 5},
          {GTEL_M_FREQUENCY_IDLE, "graphics", 0.75},
          {GTEL_M_FREQUENCY_IDLE, "media", 0.5}},
         1,
         0.5},
        {"never",
         {{GTEL_M_FREQUENCY_IDLE_TIME, "", 0}, {GTEL_M_FREQUENCY_IDLE, "graphics", 0.75}},
         SAMPLES,
         0},
        {"one of two never",
         {{GTEL_M_FREQUENCY_IDLE_TIME, "graphics", 0},
          {GTEL_M_FREQUENCY_IDLE_TIME, "media", 5},
          {GTEL_M_FREQUENCY_IDLE, "graphics", 0.75}},
         SAMPLES,
         0},
        {"not known", {{GTEL_M_FREQUENCY_IDLE, "graphics", 0.75}}, SAMPLES, 0},
        {"missing",
         {{GTEL_M_FREQUENCY_IDLE_TIME, "graphics", -5}, {GTEL_M_FREQUENCY_IDLE, "graphics", 0.75}},
         SAMPLES,
         0},
        {"media alone",
         {{GTEL_M_FREQUENCY_IDLE_TIME, "media", 5}, {GTEL_M_FREQUENCY_IDLE, "media", 0.75}},
         SAMPLES,
         0},
        {"engines are counted",
         {{GTEL_M_ENGINE_BUSY_TIME, "render", 0},
          {GTEL_M_FREQUENCY_IDLE_TIME, "graphics", 5},
          {GTEL_M_FREQUENCY_IDLE, "graphics", 0.75}},
         SAMPLES,
         0},
        {"or their ticks",
         {{GTEL_M_ENGINE_TICKS, "render", 0},
          {GTEL_M_FREQUENCY_IDLE_TIME, "graphics", 5},
          {GTEL_M_FREQUENCY_IDLE, "graphics", 0.75}},
         SAMPLES,
         0},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_headlines headlines = {0};
        struct gtel_reading reading;
        uint32_t rank;
        test_label = cases[i].label;
        for (int sample = 0; sample < SAMPLES; sample++) {
            struct gtel_series series[IDLES] = {0};
            CHECK_INT(gtel_headlines_begin(&headlines, 1), 0);
            for (size_t k = 0; k < IDLES && cases[i].part[k].name; k++)
                add_part(&headlines, &series[k], cases[i].part[k].metric, cases[i].part[k].name,
                         cases[i].part[k].value);
            bool has_value =
                gtel_headlines_get(&headlines, 0, GTEL_HEADLINE_FREQUENCY_IDLE, &reading, &rank);
            CHECK_INT(has_value, sample >= cases[i].from);
            if (has_value)
                check_idle(&reading, rank, cases[i].want);
        }
        gtel_headlines_done(&headlines);
    }
    test_label = "";
}

/* A sample in which its idle time is missing, or that of media alone is there, is none. */
static void test_idle_gaps(void)
{
    static const struct {
        const char *name;
        double value; /* negative: missing */
        bool has_value;
    } samples[] = {{"graphics", -0.75, false}, {"graphics", 0.75, false},
                   {"graphics", 0.75, true},   {"media", 0.75, false},
                   {"graphics", 0.75, true},   {"graphics", -0.75, false}};
    struct gtel_headlines headlines = {0};
    struct gtel_reading reading;
    uint32_t rank;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(samples); i++) {
        struct gtel_series series[2] = {0};
        CHECK_INT(gtel_headlines_begin(&headlines, 1), 0);
        add_part(&headlines, &series[0], GTEL_M_FREQUENCY_IDLE_TIME, "graphics", 5);
        add_part(&headlines, &series[1], GTEL_M_FREQUENCY_IDLE, samples[i].name, samples[i].value);
        CHECK_INT(gtel_headlines_get(&headlines, 0, GTEL_HEADLINE_FREQUENCY_IDLE, &reading, &rank),
                  samples[i].has_value);
    }
    gtel_headlines_done(&headlines);
}

/* The GPU that has come to the address has less: its part stands for it once the other is silent.
 */
static void test_return(void)
{
    static const struct {
        const char *label;
        enum gtel_headline_rule rule;
        enum gtel_metric metric;
    } cases[] = {{"return of a gauge", GTEL_HEADLINE_POWER, GTEL_M_POWER},
                 {"return of a counter", GTEL_HEADLINE_ENERGY, GTEL_M_ENERGY}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_headlines headlines = {0};
        struct gtel_series series[2] = {{.rank = 1}, {.rank = 1}};
        struct gtel_reading reading;
        uint32_t rank;
        test_label = cases[i].label;
        CHECK_INT(gtel_headlines_begin(&headlines, 1), 0);
        add_part(&headlines, &series[0], cases[i].metric, "card", 7);
        CHECK(gtel_headlines_get(&headlines, 0, cases[i].rule, &reading, &rank));
        two_devices[0].arrivals++;
        CHECK_INT(gtel_headlines_begin(&headlines, 1), 0);
        add_part(&headlines, &series[0], cases[i].metric, "card", -7);
        add_part(&headlines, &series[1], cases[i].metric, "pkg", 7);
        CHECK(!gtel_headlines_get(&headlines, 0, cases[i].rule, &reading, &rank));
        CHECK_INT(gtel_headlines_begin(&headlines, 1), 0);
        add_part(&headlines, &series[1], cases[i].metric, "pkg", 7);
        CHECK(gtel_headlines_get(&headlines, 0, cases[i].rule, &reading, &rank));
        gtel_headlines_done(&headlines);
    }
    test_label = "";
}

int main(void)
{
    test_parts();
    test_late_part();
    test_return();
    test_made();
    test_forgets();
    test_idle_parts();
    test_idle_gaps();
    return test_result();
}
