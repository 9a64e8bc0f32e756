/* SPDX-License-Identifier: MIT */
/* Single engines of NVIDIA GPUs. */
#include "harness/nvml_machine.h"
#include "harness/test.h"

static double busy(const struct machine *m, const char *class, const char *engine)
{
    const struct gtel_reading *r = find(m, "0000:19:00.0", GTEL_M_ENGINE_BUSY, class, engine);
    return r ? gtel_reading_number(r) : -1;
}

/* Shares, by what the library answers for the metric of the engine. */
static const struct {
    const char *answer;
    double want; /* -1: the engine is not there */
} shares[] = {
    {"0", 0},   {"37.5", 0.375}, {"100", 1},  {"100.0001", 1}, {"101", -1}, {"1e300", -1},
    {"-1", -1}, {"nan", -1},     {"inf", -1}, {"unnamed", -1}, {"!3", -1},  {"!21", -1},
};

static void want_engines(struct machine *m)
{
    char error[100];
    CHECK_INT(
        gtel_option_set(&m->options, GTEL_O_ENGINE_INSTANCES, GTEL_STR("on"), error, sizeof(error)),
        0);
    gtel_group_done(&m->group);
    start_lane(m);
}

static void test_shares(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(shares); i++) {
        struct machine m;
        char text[200];
        test_label = shares[i].answer;
        (void)snprintf(text, sizeof(text),
                       "call nvmlGpmQueryDeviceSupport 0 = 1\ncall nvmlGpmMetricsGet 0 31 = %s\n"
                       "call nvmlDeviceGetDecoderUtilization 0 = 12 100000\n",
                       shares[i].answer);
        if (!begin(&m, text))
            return;
        want_engines(&m);
        gather(&m, 0);
        CHECK_NEAR(busy(&m, "decode", "nvdec1"), -1, 0);
        gather(&m, 1);
        CHECK_NEAR(busy(&m, "decode", "nvdec1"), shares[i].want, 1e-12);
        CHECK_NEAR(busy(&m, "decode", "nvdec0"), -1, 0);
        CHECK_NEAR(busy(&m, "decode", ""), 0.12, 1e-12); /* the class keeps its own */
        CHECK_INT(m.group.batch.failed[0], 0);
        finish(&m);
    }
    test_label = "";
}

/* The first and the last of each kind, and no metric beside them. */
static const struct {
    unsigned id;
    const char *class;
    const char *engine;
} engines[] = {{30, "decode", "nvdec0"},  {37, "decode", "nvdec7"}, {40, "jpeg", "nvjpg0"},
               {47, "jpeg", "nvjpg7"},    {50, "ofa", "nvofa0"},    {51, "ofa", "nvofa1"},
               {166, "encode", "nvenc0"}, {169, "encode", "nvenc3"}};

static size_t count_engines(const struct machine *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->group.batch.n; i++)
        n += m->group.batch.reading[i].metric == GTEL_M_ENGINE_BUSY;
    return n;
}

static void test_engines(bool is_wanted)
{
    struct machine m;
    char text[8000] = "call nvmlGpmQueryDeviceSupport 0 = 1\n";
    size_t length = strlen(text);
    for (unsigned id = 22; id < 210; id++) /* 0.25 % more than the id before */
        length += (size_t)snprintf(text + length, sizeof(text) - length,
                                   "call nvmlGpmMetricsGet 0 %u = %.2f\n", id, id / 4.0);
    if (!begin(&m, text))
        return;
    if (is_wanted)
        want_engines(&m);
    gather(&m, 0);
    gather(&m, 1);
    CHECK_INT(count_engines(&m), is_wanted ? 22 : 0);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(engines) && is_wanted; i++) {
        test_label = engines[i].engine;
        CHECK_NEAR(busy(&m, engines[i].class, engines[i].engine), engines[i].id / 4e2, 1e-12);
    }
    test_label = "";
    finish(&m);
}

int main(void)
{
    test_shares();
    test_engines(true);
    test_engines(false);
    return test_result();
}
