/* SPDX-License-Identifier: MIT */
/* From measured values to shares: limits, weights, names of reasons, and for how long they are. */
#include "harness/alloc_fault.h"
#include "harness/metrics_machine.h"
#include "harness/test.h"
#include "sources/level_zero/metrics/state.h"

#include <string.h>

enum { COLUMNS = 3, NUMBERS_MAX = 12 };

/* ---- activity ---- */

/* Of columns: time in nanoseconds, EU active, XMX. */
static const struct activity_case {
    const char *label;
    size_t n;
    double number[NUMBERS_MAX];
    bool is_fine;
    uint64_t samples;
    double active; /* -1: not known */
    double xmx;
} activities[] = {
    {"none", 0, {0}, true, 0, -1, -1},
    {"less than one report", 2, {1000, 40}, true, 0, -1, -1},
    {"one", 3, {1000, 40, 30}, true, 1, 0.4, 0.3},
    {"by their time", 6, {1000, 40, 30, 3000, 80, 50}, true, 2, 0.7, 0.45},
    {"and a part of one", 5, {1000, 40, 30, 3000, 80}, true, 1, 0.4, 0.3},
    {"nothing done", 3, {1000, 0, 0}, true, 1, 0, 0},
    {"a little more than all", 3, {1000, 105, 100}, true, 1, 1, 1},
    {"much more than all", 3, {1000, 105.5, 30}, true, 1, -1, 0.3},
    {"less than nothing", 3, {1000, -0.5, 30}, true, 1, -1, 0.3},
    {"all of it is none", 3, {1000, 200, 200}, false, 1, -1, -1},
    {"of no time", 3, {0, 40, 30}, true, 0, -1, -1},
    {"of negative time", 3, {-1, 40, 30}, true, 0, -1, -1},
    {"of just less than a minute", 3, {59999999999.0, 40, 30}, true, 1, 0.4, 0.3},
    {"of a minute", 3, {60e9, 40, 30}, true, 0, -1, -1},
    {"one of both is of no time", 6, {0, 10, 10, 1000, 40, 30}, true, 1, 0.4, 0.3},
    {"one of both has no XMX", 6, {1000, 40, 30, 1000, 60, 500}, true, 2, 0.5, 0.3},
};

static void set_numbers(struct gtel_zet_value *value, const double *number, size_t n)
{
    for (size_t i = 0; i < n; i++)
        value[i] = (struct gtel_zet_value){.type = GTEL_ZET_FLOAT64, .is.f64 = number[i]};
}

static void set_roles(struct gtel_l0m_meter *meter, uint32_t time)
{
    memset(meter, 0, sizeof(*meter));
    meter->columns = COLUMNS;
    for (size_t i = 0; i < GTEL_L0M_ROLES; i++)
        meter->role[i] = UINT32_MAX;
    meter->role[GTEL_L0M_TIME] = time;
    meter->role[GTEL_L0M_EU_ACTIVE] = 1;
    meter->role[GTEL_L0M_XMX] = 2;
}

static void test_activity(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(activities); i++) {
        const struct activity_case *c = &activities[i];
        struct gtel_zet_value value[NUMBERS_MAX];
        struct gtel_l0m_meter meter;
        test_label = c->label;
        set_roles(&meter, 0);
        set_numbers(value, c->number, c->n);
        CHECK_INT(gtel_l0m_read_activity(&meter, value, c->n), c->is_fine);
        CHECK_INT(meter.samples, c->samples);
        CHECK_NEAR(meter.share[GTEL_L0M_EU_ACTIVE], c->active, 1e-12);
        CHECK_NEAR(meter.share[GTEL_L0M_XMX], c->xmx, 1e-12);
        CHECK_NEAR(meter.share[GTEL_L0M_EU_STALL], -1, 0);
        CHECK_NEAR(meter.share[GTEL_L0M_FP64], -1, 0);
    }
    test_label = "";
}

/* Without a column of time, or one beyond the last, all reports weigh the same. */
static void test_no_time(void)
{
    static const uint32_t times[] = {UINT32_MAX, COLUMNS};
    static const double number[] = {1000, 40, 30, 90, 80, 50};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(times); i++) {
        struct gtel_zet_value value[NUMBERS_MAX];
        struct gtel_l0m_meter meter;
        set_roles(&meter, times[i]);
        meter.role[GTEL_L0M_FP64] = COLUMNS; /* there is none */
        set_numbers(value, number, GTEL_ARRAY_LEN(number));
        CHECK(gtel_l0m_read_activity(&meter, value, GTEL_ARRAY_LEN(number)));
        CHECK_NEAR(meter.share[GTEL_L0M_EU_ACTIVE], 0.6, 1e-12);
        CHECK_NEAR(meter.share[GTEL_L0M_XMX], 0.4, 1e-12);
        CHECK_NEAR(meter.share[GTEL_L0M_FP64], -1, 0);
        CHECK_INT(meter.samples, 2);
    }
}

/* ---- stalls ---- */

static const struct {
    const char *label;
    size_t n;
    double number[NUMBERS_MAX]; /* address, and two counts */
    bool is_fine;
    uint64_t samples;
    uint64_t first;
    uint64_t second;
} stalls[] = {
    {"none", 0, {0}, true, 0, 0, 0},
    {"one line", 3, {5, 1, 2}, true, 3, 1, 2},
    {"two lines", 6, {5, 1, 2, 6, 3, 4}, true, 10, 4, 6},
    {"and a part of one", 5, {5, 1, 2, 6, 3}, true, 3, 1, 2},
    {"an address does not count", 3, {-7, 1, 2}, true, 3, 1, 2},
    {"very many", 3, {5, 999999999999999.0, 0}, true, 999999999999999, 999999999999999, 0},
    {"too many", 3, {5, 1e15, 0}, false, 0, 0, 0},
    {"negative", 3, {5, 1, -1}, false, 1, 1, 0},
};

static void test_stalls(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(stalls); i++) {
        struct gtel_zet_value value[NUMBERS_MAX];
        struct gtel_l0m_meter meter = {.columns = COLUMNS, .reasons = 2};
        test_label = stalls[i].label;
        meter.reason[0] = (struct gtel_l0m_reason){.column = 1, .count = 77}; /* of before */
        meter.reason[1] = (struct gtel_l0m_reason){.column = 2, .count = 77};
        set_numbers(value, stalls[i].number, stalls[i].n);
        CHECK_INT(gtel_l0m_read_stalls(&meter, value, stalls[i].n), stalls[i].is_fine);
        CHECK_INT(meter.samples, stalls[i].samples);
        CHECK_INT(meter.reason[0].count, stalls[i].first);
        CHECK_INT(meter.reason[1].count, stalls[i].second);
    }
    test_label = "";
}

/* How a reason is called, by the name of its metric. */
static void test_names(void)
{
    static const struct {
        const char *metric;
        const char *reason; /* NULL: it is none */
    } names[] = {
        {"SendStall", "send"},
        {"InstrFetchStall", "instrfetch"},
        {"SomethingElse", "somethingelse"},
        {"Stall", "stall"},
        {"AStall", "a"},
        {"ZStall", "z"},
        {"az09_AZStall", "az09_az"},
        {"a-b/c@[`{:Stall", "a_b_c_____"},
        {"ABCDEFGHIJKLMNOPQRSTUVWXStall", "abcdefghijklmnopqrstuvw"},
        {"ABCDEFGHIJKLMNOPQRSTUVWStall", "abcdefghijklmnopqrstuvw"},
        {"StallStall", "stall"},
        {"SendStalls", "sendstalls"},
        {"Active", NULL},
        {"ActiveStall", "active"},
        {"IP", NULL},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(names); i++) {
        struct machine m;
        char text[200];
        test_label = names[i].metric;
        (void)snprintf(text, sizeof(text), "call zetMetricGetProperties 1 1 2 = %s 1 1\n",
                       names[i].metric);
        if (!begin(&m, text))
            return;
        gather(&m, 0);
        gather(&m, 1);
        if (names[i].reason)
            CHECK_NEAR(value(&m, GTEL_M_STALL_SHARE, names[i].reason), 0.75, 1e-9);
        CHECK_NEAR(value(&m, GTEL_M_STALL_SHARE, "sbid"), names[i].reason ? 0.25 : 1, 1e-9);
        finish(&m);
    }
    test_label = "";
}

/* Where activity is not sampled with the stalls, there is no share of it. */
static void test_no_active(void)
{
    struct machine m;
    if (!begin(&m, "call zetMetricGetProperties 1 1 1 = DistStall 1 1\n"))
        return;
    gather(&m, 0);
    gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_STALL_SHARE, "dist"), 0.2, 1e-9);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "eu-loaded"), -1, 0);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY_STALL, "eu-loaded"), -1, 0);
    finish(&m);
}

/* ---- groups ---- */

/* A third group, of two columns: which names of groups and of columns are known. */
#define TYPES(group, column)                                                                       \
    "call zetMetricGroupGet 1 = 3\n"                                                               \
    "call zetMetricGroupGetProperties 1 2 = " group " 2 0 2\n"                                     \
    "call zetMetricGet 1 2 = 2\n"                                                                  \
    "call zetMetricGetProperties 1 2 0 = GpuTime 0 1\n"                                            \
    "call zetMetricGetProperties 1 2 1 = " column " 6 2\n"                                         \
    "call zetMetricStreamerOpen 1 2 = 1024 10000000\n"                                             \
    "call zetMetricStreamerReadData 1 2 = 512 0\n"                                                 \
    "call zetMetricGroupCalculateMetricValues 1 2 = 1000 60\n"
#define EXECUTED(what) "XVE_INST_EXECUTED_" what "_UTILIZATION"

static const struct {
    const char *text;
    const char *unit;
    double want;
} types[] = {
    {TYPES("Ext1005", EXECUTED("XMX_BF16")), "xmx-bf16", 0.6},
    {TYPES("VectorEngine39", EXECUTED("XMX_FP16")), "xmx-fp16", 0.6},
    {TYPES("Ext1000", EXECUTED("XMX_INT8")), "xmx-int8", 0.6},
    {TYPES("VectorEngine138", EXECUTED("XMX_INT4")), "xmx-int4", 0.6},
    {TYPES("Ext1000", EXECUTED("FP16")), "fp16", 0.6},
    {TYPES("Ext1000", EXECUTED("FP32")), "fp32", 0.6},
    {TYPES("Ext1000", EXECUTED("FP64")), "fp64", 0.6},
    {TYPES("Ext1000", EXECUTED("INT64")), "fp64", -1},
    {TYPES("Ext10", EXECUTED("FP64")), "fp64", -1},
    {TYPES("Ext1000", "XmxActive"), "xmx", 0.45}, /* of the other group */
    /* Of two groups of one name the first with columns that are known counts. */
    {TYPES("ComputeBasic", EXECUTED("FP64")), "fp64", -1},
    {TYPES("ComputeBasic", "XmxActive"), "xmx", 0.45},
    {TYPES("ComputeBasic", "XmxActive") "call zetMetricGroupGetProperties 1 0 = Other 2 0 4\n",
     "xmx", 0.6},
};

static void test_types(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(types); i++) {
        struct machine m;
        test_label = types[i].text;
        if (!begin(&m, types[i].text))
            return;
        gather(&m, 0);
        gather(&m, 1);
        CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, types[i].unit), types[i].want, 1e-9);
        CHECK_NEAR(value(&m, GTEL_M_STALL_SHARE, "send"), 0.75, 1e-9);
        CHECK_INT(m.group.batch.failed[0], 0);
        finish(&m);
    }
    test_label = "";
}

/* A group of which nothing is known leaves nothing to the next one: not its column of time. */
static void test_two_groups(void)
{
    struct machine m;
    if (!begin(&m, TYPES("ComputeBasic",
                         "XmxActive") "call zetMetricGetProperties 1 0 0 = A 6 2\ncall "
                                      "zetMetricGetProperties 1 0 1 = "
                                      "GpuTime 0 1\ncall zetMetricGetProperties 1 0 2 = B 6 2\n"
                                      "call zetMetricGetProperties 1 0 3 = C 6 2\n"
                                      "call zetMetricGetProperties 1 2 0 = D 6 2\n"
                                      "call zetMetricGroupCalculateMetricValues 1 2 = 7 20 7 60\n"))
        return;
    gather(&m, 0);
    gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "xmx"), 0.4, 1e-9); /* none has a weight */
    finish(&m);
}

/* What the driver has not written is no value, not even in the first column. */
static void test_untouched(void)
{
    struct machine m;
    if (!begin(&m, "call zetMetricGetProperties 1 0 0 = XmxActive 0 2\n"
                   "call zetMetricGetProperties 1 0 3 = B 0 2\n"
                   "call zetMetricGroupCalculateMetricValues 1 0 = untouched 4\n"))
        return;
    gather(&m, 0);
    gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "xmx"), -1, 0);
    CHECK_INT(m.group.batch.failed[0], 1);
    finish(&m);
}

/* A result of 100 ms is repeated until it is 1.2 s old, unless there is a newer one. */
static void test_kept(void)
{
    struct machine m;
    if (!begin(&m, "grow " IDLE_FILE " 5000 1000\n"))
        return;
    gather(&m, 0);
    for (unsigned tenth = 1; tenth <= 20; tenth++) {
        gather_ms(&m, 100);
        CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "xmx"), tenth <= 13 ? 0.45 : -1, 1e-9);
        CHECK_NEAR(value(&m, GTEL_M_STALL_SHARE, "send"), tenth >= 2 && tenth <= 13 ? 0.75 : -1,
                   1e-9);
    }
    CHECK_INT(spy.windows, 2);
    finish(&m);
}

/* A group that does not say what it is stops no other one, counts as failed, and is asked again. */
static void test_silent_group(void)
{
    struct machine m;
    if (!begin(&m, "call zetMetricGroupGetProperties 1 0 = !0x7ffffffe\n"
                   "at 3s\ncall zetMetricGroupGetProperties 1 0 = ComputeBasic 2 0 4\n"))
        return;
    gather(&m, 0);
    gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "xmx"), -1, 0);
    CHECK_NEAR(value(&m, GTEL_M_STALL_SHARE, "send"), 0.75, 1e-9);
    CHECK_INT(m.group.batch.failed[0], 1);
    CHECK(strstr(spy.last_log, "zetMetricGroupGetProperties answers code 0x7ffffffe") != NULL);
    for (unsigned i = 0; i < 6; i++)
        gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "xmx"), 0.45, 1e-9);
    CHECK_INT(spy.logs[GTEL_LOG_INFO], 1);
    finish(&m);
}

/* Measurement after measurement takes no more memory than the first ones. */
static void test_no_leak(void)
{
    struct machine m;
    int64_t live = 0;
    if (!begin(&m, ""))
        return;
    for (unsigned i = 0; i < 12; i++) {
        gather(&m, 1);
        live = i == 5 ? alloc_fault_live() : live;
    }
    CHECK(spy.windows > 8);
    CHECK_INT(alloc_fault_live(), live);
    finish(&m);
}

#define GROUP_OF(device, number, name)                                                             \
    "call zetMetricGroupGetProperties " device " " number " = " name " 2 0 2\n"                    \
    "call zetMetricGet " device " " number " = 2\n"                                                \
    "call zetMetricGetProperties " device " " number " 0 = XmxActive 0 2\n"                        \
    "call zetMetricGetProperties " device " " number                                               \
    " 1 = " EXECUTED("FP64") " 0 2\n"                                                              \
                             "call zetMetricStreamerOpen " device " " number " = 1024 10000000\n"  \
                             "call zetMetricStreamerReadData " device " " number " = 512 0\n"      \
                             "call zetMetricGroupCalculateMetricValues " device " " number         \
                             " = 30 60\n"

/* Of two tiles one has more to measure: the other one waits for the next gather meanwhile. */
static void test_two_tiles(void)
{
    struct machine m;
    if (!begin(&m, "call zeDeviceGetSubDevices 1 = 2 3\n"
                   "call zeDeviceGetProperties 3 = 1 0x8086 0\n"
                   "call zeDeviceGetProperties 4 = 1 0x8086 1\n"
                   "call zetDeviceEnableMetricsExp 3 =\ncall zetDeviceEnableMetricsExp 4 =\n"
                   "call zetMetricGroupGet 3 = 1\ncall zetMetricGroupGet 4 = 2\n" GROUP_OF(
                       "3", "0", "ComputeBasic") GROUP_OF("4", "0", "ComputeBasic")
                       GROUP_OF("4", "1", "Ext1000")))
        return;
    gather(&m, 0);
    gather_ms(&m, 99);
    CHECK_INT(spy.windows, 2);
    gather_ms(&m, 2);
    CHECK_INT(spy.windows, 3);
    gather_ms(&m, 200);
    CHECK_INT(spy.windows, 3);
    CHECK(is_all_closed());
    finish(&m);
}

/* A GPU whose tiles are not all known is left for later, also when another driver lists it. */
static void test_two_drivers(void)
{
    struct machine m;
    if (!begin(&m, "call zeDriverGet = 2\ncall zeDeviceGet 1 = 1\n"
                   "call zeDeviceGetProperties 16 = 1 0x8086\n"
                   "call zeDevicePciGetPropertiesExt 16 = 0 3 0 0\n"
                   "call zeDeviceGetSubDevices 1 = !0x70020000\n"))
        return;
    spy.count_name = "zetDeviceEnableMetricsExp";
    gather(&m, 0);
    CHECK_INT(m.group.batch.failed[0], 1);
    gather(&m, 1);
    CHECK_INT(spy.counted, 0);
    finish(&m);
}

int main(void)
{
    test_activity();
    test_no_time();
    test_stalls();
    test_names();
    test_no_active();
    test_types();
    test_two_groups();
    test_untouched();
    test_two_drivers();
    test_silent_group();
    test_no_leak();
    test_two_tiles();
    test_kept();
    return test_result();
}
