/* SPDX-License-Identifier: MIT */
/* The source of Level Zero's metrics: values, windows, sleep, rivals, and what doctor says. */
#include "harness/findings.h"
#include "harness/metrics_machine.h"
#include "harness/test.h"

#include <stdlib.h>
#include <string.h>

#define ACTIVITY(text) "call zetMetricGroupCalculateMetricValues 1 0 = " text "\n"
#define COLUMN(number, text) "call zetMetricGetProperties 1 0 " number " = " text "\n"
#define STALLS(text) "call zetMetricGroupCalculateMetricValues 1 1 = " text "\n"

static void test_values(void)
{
    struct machine m;
    if (!begin(&m, ""))
        return;
    uint64_t start_ns = gtel_env_now(&m.env);
    gather(&m, 0);
    CHECK_INT(m.group.batch.n, 0); /* nothing is measured during a gather */
    gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "eu"), (0.40 * 1000 + 0.80 * 3000) / 4000, 1e-9);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY_STALL, "eu"), 0.20 * 1000 / 4000, 1e-9);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "xmx"), (0.30 * 1000 + 0.50 * 3000) / 4000, 1e-9);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY_STALL, "xmx"), -1, 0);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "alu2"), -1, 0);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY_SAMPLES, "xmx"), 2, 0);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY_DROPPED, "xmx"), 0, 0);
    CHECK_NEAR(value(&m, GTEL_M_STALL_SHARE, "send"), 3.0 / 4, 1e-9);
    CHECK_NEAR(value(&m, GTEL_M_STALL_SHARE, "sbid"), 1.0 / 4, 1e-9);
    CHECK_NEAR(value(&m, GTEL_M_STALL_SAMPLES, "send"), 3, 0);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "eu-loaded"), 1.0 / 5, 1e-9);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY_STALL, "eu-loaded"), 4.0 / 5, 1e-9);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY_SAMPLES, "eu-loaded"), 5, 0);
    CHECK_INT(m.group.batch.failed[0], 0);
    /* Of the time at which the first window ended. */
    CHECK_INT(m.group.batch.reading[0].t_ns, start_ns + 100000000);
    CHECK_INT(spy.logs[GTEL_LOG_WARNING] + spy.logs[GTEL_LOG_INFO], 0);
    finish(&m);
}

/* Names of metrics by platform, and what is made of them: -1 is nothing. */
static const struct {
    const char *label;
    const char *text;
    double eu;
    double stall;
    double xmx;
    double alu2;
} platforms[] = {
    {"Tiger Lake", COLUMN("1", "EuActive 6 2") COLUMN("2", "EuStall 6 2") COLUMN("3", "Other 6 2"),
     0.7, 0.05, -1, -1},
    {"DG2, Meteor Lake", "", 0.7, 0.05, 0.45, -1},
    {"Ponte Vecchio",
     COLUMN("1", "XVE_ACTIVE 6 2") COLUMN("2", "XVE_STALL 6 2")
         COLUMN("3", "XVE_INST_EXECUTED_XMX_ALL_UTILIZATION 6 2"),
     0.7, 0.05, 0.45, -1},
    {"Xe2 and later",
     COLUMN("1", "XVE_ACTIVE 6 2") COLUMN("2", "XVE_STALL 6 2")
         COLUMN("3", "XVE_INST_EXECUTED_ALU2_ALL_UTILIZATION 6 2"),
     0.7, 0.05, -1, 0.45},
    {"part of a name", COLUMN("3", "XmxActiveX 6 2"), 0.7, 0.05, -1, -1},
    {"no weights", COLUMN("0", "Gpu 0 1"), 0.6, 0.1, 0.4, -1},
};

static void test_platforms(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(platforms); i++) {
        struct machine m;
        test_label = platforms[i].label;
        if (!begin(&m, platforms[i].text))
            continue;
        gather(&m, 0);
        gather(&m, 1);
        CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "eu"), platforms[i].eu, 1e-9);
        CHECK_NEAR(value(&m, GTEL_M_ACTIVITY_STALL, "eu"), platforms[i].stall, 1e-9);
        CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "xmx"), platforms[i].xmx, 1e-9);
        CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "alu2"), platforms[i].alu2, 1e-9);
        finish(&m);
    }
    test_label = "";
}

/* What drivers say that is not so, or not known: XMX, share of send, failed readings. */
static const struct {
    const char *text;
    double xmx;
    double send;
    uint32_t failed;
} quirks[] = {
    /* success, and nothing written: as the null driver */
    {"call zetMetricGroupGetProperties 1 0 = untouched\n", -1, 0.75, 0},
    {"call zetMetricGroupGetProperties 1 1 = untouched\n", 0.45, -1, 0},
    {COLUMN("3", "untouched"), -1, 0.75, 0},
    {"call zetMetricGetProperties 1 1 1 = untouched\n", 0.45, 0.75, 0},
    /* kinds of values */
    {COLUMN("3", "XmxActive 0 3"), 0.45, 0.75, 0},
    {COLUMN("3", "XmxActive 0 1"), 0.45, 0.75, 0},
    {COLUMN("3", "XmxActive 0 0"), 0.45, 0.75, 0},
    {COLUMN("3", "XmxActive 0 4"), -1, 0.75, 0}, /* truth is no number */
    {COLUMN("3", "XmxActive 0 99"), -1, 0.75, 0},
    /* numbers that cannot be */
    {ACTIVITY("1000 40 20 30 3000 80 0 250"), 0.3, 0.75, 0},
    {ACTIVITY("1000 40 20 101 3000 80 0 101"), 1, 0.75, 0},
    {ACTIVITY("0 40 20 30 0 80 0 50"), -1, 0.75, 0},
    {ACTIVITY("99000000000 40 20 30 3000 80 0 50"), 0.5, 0.75, 0},
    {ACTIVITY("1000 200 200 200"), -1, 0.75, 1},
    {STALLS("5 1 2 18446744073709551615"), 0.45, -1, 1},
    {ACTIVITY("untouched 4"), -1, 0.75, 0},
    {STALLS("untouched 8"), 0.45, -1, 1},
    /* not as many as columns, or none */
    {ACTIVITY("1000 40 20 30 3000"), -1, 0.75, 1},
    {ACTIVITY(""), -1, 0.75, 0},
    {STALLS("5 0 0 0"), 0.45, -1, 0},
    {STALLS("5 7 0 0"), 0.45, -1, 0}, /* no stall has no reasons */
    /* no data; lost data with and without any */
    {"call zetMetricStreamerReadData 1 0 = 0 0\n", -1, 0.75, 0},
    {"call zetMetricStreamerReadData 1 0 = 512 0x70020001\n", 0.45, 0.75, 0},
    {"call zetMetricStreamerReadData 1 1 = 0 0x70020001 64 0\n", 0.45, 0.75, 0},
    {"call zetMetricStreamerReadData 1 1 = 0 0x70020001 0 0x70020001 0 0\n", 0.45, -1, 0},
    {"call zetMetricStreamerReadData 1 1 = 0 0 0 0 0 0 0 0x70020001 64 0\n", 0.45, 0.75, 0},
    {"call zetMetricStreamerReadData 1 1 = !0x7ffffffe\n", 0.45, -1, 1},
    {"call zetMetricStreamerReadData 1 1 = 18446744073709551615 0\n", 0.45, -1, 1},
    {"call zetMetricStreamerReadData room 1 1 = 0\n", 0.45, -1, 1},
    {"call zetMetricStreamerReadData room 1 1 = !0x7ffffffe\n", 0.45, -1, 1},
    /* lists that change, and numbers of things that cannot be */
    {"call zetMetricGroupGet 1 = 2 1\n", 0.45, -1, 0},
    {"call zetMetricGroupGet 1 = 1 2\n", 0.45, -1, 0},
    {"call zetMetricGroupGet 1 = 4294967295\n", 0.45, 0.75, 0},
    {"call zetMetricGet 1 0 = 4294967295\n", -1, 0.75, 0},
    {"call zetMetricGroupGet 1 = 0\n", -1, -1, 0},
    /* for queries only, and both */
    {"call zetMetricGroupGetProperties 1 0 = ComputeBasic 1 0 4\n", -1, 0.75, 0},
    {"call zetMetricGroupGetProperties 1 0 = ComputeBasic 3 0 4\n", 0.45, 0.75, 0},
    /* the other calculation, for data that span tiles */
    {"call zetMetricGroupCalculateMetricValues 1 0 = !0x78000004\n"
     "call zetMetricGroupCalculateMultipleMetricValuesExp 1 0 = 2 1000 40 20 30 1000 40 20 60\n",
     0.45, 0.75, 0},
    {"call zetMetricGroupCalculateMetricValues 1 0 = !0x78000004\n"
     "call zetMetricGroupCalculateMultipleMetricValuesExp = !nosymbol\n",
     -1, 0.75, 1},
    {"call zetMetricGroupCalculateMetricValues 1 0 = !0x78000004\n"
     "call zetMetricGroupCalculateMultipleMetricValuesExp 1 0 = 4000000 1000 40 20 30\n",
     -1, 0.75, 1},
    {"call zetMetricGroupCalculateMetricValues 1 1 = !0x78000004\n"
     "call zetMetricGroupCalculateMultipleMetricValuesExp 1 1 = code 0x70020001 2 5 1 2 1 6 0 1 "
     "0\n",
     0.45, 0.75, 0},
    /* good values with the warning that samples were lost; the warning alone; another code */
    {STALLS("code 0x70020001 5 1 2 1 6 0 1 0"), 0.45, 0.75, 0},
    {ACTIVITY("code 0x70020001 1000 40 20 30 3000 80 0 50"), 0.45, 0.75, 0},
    {STALLS("code 0x70020001 untouched 8"), 0.45, -1, 1},
    {STALLS("!0x70020001"), 0.45, -1, 1},
    {STALLS("code 0x7ffffffe 5 1 2 1 6 0 1 0"), 0.45, -1, 1},
    /* another GPU, or none that is known; another vendor's */
    {"call zeDevicePciGetPropertiesExt 1 = 0 4 0 0\n", -1, -1, 0},
    {"call zeDevicePciGetPropertiesExt 1 = untouched\n", -1, -1, 0},
    {"call zeDeviceGetProperties 1 = 1 0x10de\n", -1, -1, 0},
};

static void test_quirks(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(quirks); i++) {
        struct machine m;
        test_label = quirks[i].text;
        if (!begin(&m, quirks[i].text))
            continue;
        gather(&m, 0);
        gather(&m, 1);
        CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "xmx"), quirks[i].xmx, 1e-6);
        CHECK_NEAR(value(&m, GTEL_M_STALL_SHARE, "send"), quirks[i].send, 1e-9);
        CHECK_INT(m.group.batch.failed[0], quirks[i].failed);
        CHECK(is_all_closed());
        finish(&m);
    }
    test_label = "";
}

/* What was lost is reported, by a read or with the values, of its own window and of no other. */
static const struct {
    const char *text;
    double of_xmx;
    double of_send;
} losses[] = {
    {"call zetMetricStreamerReadData 1 0 = 512 0x70020001\n", 1, 0},
    {"call zetMetricStreamerReadData 1 1 = 0 0x70020001 64 0\n", 0, 1},
    /* room for five reads of what the driver's buffer holds, and 64 bytes in the first one */
    {"call zetMetricStreamerReadData room 1 1 = 12\n", 0, 1},
    {"call zetMetricStreamerReadData room 1 1 = 13\n", 0, 0},
    {ACTIVITY("code 0x70020001 1000 40 20 30 3000 80 0 50"), 1, 0},
    {STALLS("code 0x70020001 5 1 2 1 6 0 1 0"), 0, 1},
    {"call zetMetricGroupCalculateMetricValues 1 1 = !0x78000004\n"
     "call zetMetricGroupCalculateMultipleMetricValuesExp 1 1 = code 0x70020001 2 5 1 2 1 6 0 1 "
     "0\n",
     0, 1},
};

static void test_losses(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(losses); i++) {
        struct machine m;
        test_label = losses[i].text;
        if (!begin(&m, losses[i].text))
            continue;
        gather(&m, 0);
        for (unsigned k = 0; k < 3; k++) {
            gather(&m, 1);
            CHECK_NEAR(value(&m, GTEL_M_ACTIVITY_DROPPED, "xmx"), losses[i].of_xmx, 0);
            CHECK_NEAR(value(&m, GTEL_M_STALL_DROPPED, "send"), losses[i].of_send, 0);
            CHECK_NEAR(value(&m, GTEL_M_STALL_SHARE, "send"), 0.75, 1e-9);
        }
        CHECK_INT(spy.logs[GTEL_LOG_WARNING], 0);
        finish(&m);
    }
    test_label = "";
}

#define CLOSE(group, answer) "call zetMetricStreamerClose 1 " group " =" answer "\n"

/*
 * Streams that fail to close. One of stalls is no more then, nor one that may span tiles: these are
 * closed once, and all is measured as ever. Others are closed again; until that works there is
 * nothing, and the driver's code is reported.
 */
static const struct {
    const char *text;
    double xmx; /* after two seconds */
    double send;
    unsigned closes; /* in two seconds */
    unsigned warnings;
} closes[] = {
    {"", 0.45, 0.75, 4, 0},
    {CLOSE("1", " !0x7ffffffe"), 0.45, 0.75, 4, 0},
    {CLOSE("1", " !0x78000002"), 0.45, 0.75, 4, 0},
    {CLOSE("0", " !0x7ffffffe") "at 2s\n" CLOSE("0", ""), -1, -1, 11, 2},
};

static void test_closes(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(closes); i++) {
        struct machine m;
        test_label = closes[i].text;
        if (!begin(&m, closes[i].text))
            continue;
        spy.count_name = "zetMetricStreamerClose";
        gather(&m, 0);
        gather(&m, 1);
        CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "xmx"), 0.45, 1e-9);
        gather(&m, 1);
        CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "xmx"), closes[i].xmx, 1e-9);
        CHECK_NEAR(value(&m, GTEL_M_STALL_SHARE, "send"), closes[i].send, 1e-9);
        CHECK_INT(spy.counted, closes[i].closes);
        CHECK_INT(spy.logs[GTEL_LOG_WARNING], closes[i].warnings);
        CHECK(closes[i].warnings == 0 ||
              strstr(spy.last_log, "zetMetricStreamerClose answers code 0x7ffffffe: the driver"));
        for (unsigned k = 0; k < 5; k++)
            gather(&m, 1);
        CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "xmx"), 0.45, 1e-9);
        CHECK_NEAR(value(&m, GTEL_M_STALL_SHARE, "send"), 0.75, 1e-9);
        finish(&m);
    }
    test_label = "";
}

/* What the driver does not close at all ends with the process, where that can be restarted. */
static void test_stuck(void)
{
    for (unsigned can_renew = 0; can_renew < 2; can_renew++) {
        struct machine m;
        unsigned after = 0;
        if (!begin(&m, CLOSE("0", " !0x7ffffffe") "at 30s\n" CLOSE("0", "")))
            return;
        m.group.registry.renewal = can_renew ? GTEL_RENEWAL_POSSIBLE : GTEL_RENEWAL_NEVER;
        for (unsigned k = 1; k <= 29; k++) {
            gather(&m, 1);
            after = after == 0 && m.group.registry.renewal == GTEL_RENEWAL_DUE ? k : after;
        }
        CHECK_INT(after, can_renew ? 4 : 0);
        CHECK_INT(spy.logs[GTEL_LOG_INFO], can_renew);
        for (unsigned k = 0; k < 70; k++)
            gather(&m, 1);
        CHECK(can_renew || value(&m, GTEL_M_STALL_SHARE, "send") > 0);
        gtel_group_tick(&m.group);
        finish(&m);
    }
}

/* One window of each kind after a gather, read as often as it takes, closed before the next. */
static void test_windows(void)
{
    struct machine m;
    if (!begin(&m, ""))
        return;
    spy.count_name = "zetMetricStreamerReadData";
    gather(&m, 0);
    CHECK_INT(spy.windows, 0);
    for (unsigned i = 1; i <= 3; i++) {
        gather(&m, 1);
        CHECK_INT(spy.windows, 2 * i);
        CHECK_INT(spy.counted, i * (1 + 2 + 1 + 4)); /* each asks for its capacity first */
        CHECK(is_all_closed());
        CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "xmx"), 0.45, 1e-9);
    }
    finish(&m);
}

/*
 * In short order there is one measurement a second, and its result is reported until the next one.
 */
static void test_short_interval(void)
{
    struct machine m;
    if (!begin(&m, "at 1s\n" STALLS("5 0 0 0")))
        return;
    gather(&m, 0);
    for (unsigned i = 1; i <= 40; i++) {
        gather_ms(&m, 100);
        CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "xmx"), 0.45, 1e-9);
        /* The first ends at 140 ms; the second at 1040 ms, without a sample. */
        CHECK_INT(value(&m, GTEL_M_STALL_SHARE, "send") >= 0, i >= 2 && i <= 10);
    }
    CHECK_INT(spy.windows, 10); /* at least 900 ms apart */
    finish(&m);
}

/* In the middle of a window nothing of the GPU is read; there the lane ends. */
static void test_end_within(void)
{
    struct machine m;
    if (!begin(&m, POWER("runtime_status", "active") "grow " IDLE_FILE " 5000 1000\n"))
        return;
    gather(&m, 0);
    unsigned before = spy.reads;
    gather_ms(&m, 30);
    CHECK(spy.reads <= before + 1); /* its power state alone */
    CHECK_INT(spy.streams, 1);
    CHECK_INT(m.group.batch.n, 0);
    finish(&m);
}

/* A GPU that sleeps all the time is measured once, when nothing is known of it, and then left. */
static void test_idle(void)
{
    struct machine m;
    if (!begin(&m, "grow " IDLE_FILE " 5000 1000\n"
                   "at 4s\ngrow " IDLE_FILE " 9000 200\n"
                   "at 8s\ngrow " IDLE_FILE " 9800 1000\n"))
        return;
    gather(&m, 0);
    gather(&m, 1);
    CHECK_INT(spy.windows, 2);
    gather(&m, 1);
    gather(&m, 1);
    gather(&m, 1);
    CHECK_INT(spy.windows, 2);
    CHECK_INT(m.group.batch.n, 0);
    gather(&m, 1); /* it has worked from 4 s to 5 s */
    gather(&m, 1);
    CHECK_INT(spy.windows, 4);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "xmx"), 0.45, 1e-9);
    gather(&m, 1);
    gather(&m, 2); /* at 9 s it has worked up to 8 s: once more */
    gather(&m, 1);
    CHECK_INT(spy.windows, 10);
    gather(&m, 1);
    CHECK_INT(spy.windows, 10);
    finish(&m);
}

#define SLEPT(first, sum)                                                                          \
    "grow " IDLE_FILE " 5000 " first "\nat 1s\ngrow " IDLE_FILE " " sum " 1000\n"
#define THIRD(ms, sum)                                                                             \
    SLEPT("860", "5860")                                                                           \
    "at 2s\ngrow " IDLE_FILE " 6860 " ms "\nat 3s\ngrow " IDLE_FILE " " sum " 1000\n"
#define NO_ACTIVITY ACTIVITY("1000 0 0 0")
#define NO_STALLS STALLS("5 0 0 0")

/*
 * Measuring keeps the GPU awake, and so does the burst that source xe_pmu may then have at the same
 * time: that is not treated as work. Milliseconds of sleep in the first second, and from then on.
 */
static void test_held(void)
{
    static const struct {
        const char *text;
        unsigned windows;
    } cases[] = {
        {SLEPT("800", "5800"), 2},
        {SLEPT("799", "5799"), 4},
        {NO_ACTIVITY NO_STALLS SLEPT("670", "5670"), 2},
        {NO_ACTIVITY NO_STALLS SLEPT("669", "5669"), 4},
        /* work that one of the two has found */
        {NO_ACTIVITY SLEPT("799", "5799"), 4},
        {NO_STALLS SLEPT("799", "5799"), 4},
        /* without a result nothing is known to have been empty */
        {ACTIVITY("!0x7ffffffe") STALLS("!0x7ffffffe") SLEPT("740", "5740"), 4},
        /* a little work in the third second, in which nothing was measured */
        {THIRD("969", "7829"), 4},
        {THIRD("970", "7830"), 2},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct machine m;
        test_label = cases[i].text;
        if (!begin(&m, cases[i].text))
            continue;
        for (unsigned k = 0; k < 5; k++)
            gather(&m, k > 0);
        CHECK_INT(spy.windows, cases[i].windows);
        finish(&m);
    }
    test_label = "";
}

/* Level Zero starts when no GPU sleeps; one that has fallen asleep is not measured. */
static void test_asleep(void)
{
    struct machine m;
    if (!begin(&m,
               POWER("runtime_status", "suspended") POWER("control", "auto")
                   POWER("autosuspend_delay_ms", "1000") "at 3s\n" POWER(
                       "runtime_status", "active") "at 6s\n" POWER("runtime_status", "suspended")))
        return;
    gather(&m, 0);
    gather(&m, 1);
    gather(&m, 1);
    CHECK_INT(spy.calls, 0);
    gather(&m, 1);
    gather(&m, 1); /* found at 3 s or 4 s */
    gather(&m, 1);
    CHECK(spy.windows > 0);
    gather(&m, 1);
    unsigned windows = spy.windows;
    gather(&m, 1);
    gather(&m, 1);
    CHECK_INT(spy.windows, windows);
    CHECK_INT(m.group.batch.n, 0);
    finish(&m);
}

/* An idle GPU that may suspend gets rests in which nothing of it but its state is read. */
static void test_rest(void)
{
    struct machine m;
    unsigned rests = 0;
    if (!begin(&m, POWER("runtime_status", "active") POWER("control", "auto")
                       POWER("autosuspend_delay_ms", "1000") "grow " IDLE_FILE " 5000 1000\n"))
        return;
    for (unsigned i = 0; i < 10; i++) {
        unsigned before = spy.reads;
        gather(&m, 1);
        CHECK(spy.reads > before);
        rests += spy.reads == before + 1;
    }
    CHECK_INT(spy.windows, 2);
    CHECK(rests >= 1 && rests <= 3); /* in vain: the next one is a minute later */
    finish(&m);
}

static const char rival[] = "call zetMetricStreamerOpen 1 0 = !0x7ffffffe\n"
                            "at 5s\ncall zetMetricStreamerOpen 1 0 = 1024 10000000\n";

/* Another program measures: reported once, no failed reading, tried again, and the rest goes on. */
static void test_rival(void)
{
    struct machine m;
    char text[400];
    (void)snprintf(text, sizeof(text), "%s%s", PARANOID("0"), rival);
    if (!begin(&m, text))
        return;
    gather(&m, 0);
    for (unsigned i = 0; i < 5; i++) {
        gather(&m, 1);
        CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "xmx"), -1, 0);
        CHECK_NEAR(value(&m, GTEL_M_STALL_SHARE, "send"), 0.75, 1e-9);
        CHECK_INT(m.group.batch.failed[0], 0);
    }
    CHECK_INT(spy.logs[GTEL_LOG_WARNING], 1);
    CHECK(strstr(spy.last_log, "another program measures") != NULL);
    for (unsigned i = 0; i < 8; i++)
        gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "xmx"), 0.45, 1e-9);
    CHECK(strstr(spy.last_log, "works again") != NULL);
    finish(&m);
}

static const struct {
    const char *text;
    enum gtel_measurement measurement;
    const char *says[2];
} reasons[] = {
    {"call zetMetricStreamerOpen 1 0 = !0x7ffffffe\n" PARANOID("1"),
     GTEL_MEASUREMENT_GPU_ACTIVITY,
     {"zetMetricStreamerOpen: 0: the kernel lets only those measure who have CAP_PERFMON "
      "(dev.xe.observation_paranoid is not 0): give the program CAP_PERFMON and restart it; "
      "or:\nsysctl dev.xe.observation_paranoid=0"}},
    {"call zetMetricStreamerOpen 1 1 = !0x7ffffffe\n" PARANOID("0"),
     GTEL_MEASUREMENT_GPU_STALL,
     {"zetMetricStreamerOpen: 0: another program measures: only one at a time can: end the other "
      "one (vtune, unitrace, oneprof, Intel GPA, xpumd), or set the option L0Metrics to off"}},
    {"call zetMetricStreamerOpen 1 1 = !0x7ffffffe\n" PARANOID(
         "1") "file proc/self/status\n| CapEff:\t0000004000000000\n",
     GTEL_MEASUREMENT_GPU_STALL,
     {"zetMetricStreamerOpen: 0: another program measures: only one at a time can: end the other "
      "one (vtune, unitrace, oneprof, Intel GPA, xpumd), or set the option L0Metrics to off"}},
    {"call zetDeviceEnableMetricsExp 1 = !0x70020000\n" PARANOID("0"),
     GTEL_MEASUREMENT_GPU_ACTIVITY,
     {"zetDeviceEnableMetricsExp: 0: Intel's metrics libraries are missing, or this GPU has no "
      "metrics, or another program measures: install Intel's Metrics Discovery and Metrics Library "
      "(libigdmd.so.1, libigdml.so.1)",
      "zetDeviceEnableMetricsExp: 0: Intel's metrics libraries are missing, or this GPU has no "
      "metrics, or another program measures: install Intel's Metrics Discovery and Metrics Library "
      "(libigdmd.so.1, libigdml.so.1)"}},
    {"call zetMetricGroupGet 1 = 0\n",
     GTEL_MEASUREMENT_GPU_ACTIVITY,
     {"zetMetricGroupGetProperties: 0: this GPU has none of the metrics that gtel knows "
      "(ComputeBasic, EuStallSampling): ",
      "zetMetricGroupGetProperties: 0: this GPU has none of the metrics that gtel knows "
      "(ComputeBasic, EuStallSampling): "}},
    {"call zetMetricGroupGetProperties 1 0 = Other 2 0 4\n",
     GTEL_MEASUREMENT_GPU_ACTIVITY,
     {"ComputeBasic: 0: Level Zero lists no such group: the metrics libraries are missing: install "
      "Intel's Metrics Discovery and Metrics Library (libigdmd.so.1, libigdml.so.1)"}},
    {"call zetMetricGroupGetProperties 1 1 = Other 2 0 4\n" PARANOID("0"),
     GTEL_MEASUREMENT_GPU_STALL,
     {"EuStallSampling: 0: Level Zero lists no such group: stalls are sampled on Ponte Vecchio and "
      "from Xe2 on, with xe of Linux 6.15 or newer, and not while another program does: "}},
    {"call zetMetricGroupGetProperties 1 1 = Other 2 0 4\n" PARANOID("1"),
     GTEL_MEASUREMENT_GPU_STALL,
     {"EuStallSampling: 0: the kernel lets only those measure who have CAP_PERFMON "
      "(dev.xe.observation_paranoid is not 0): give the program CAP_PERFMON and restart it; "
      "or:\nsysctl dev.xe.observation_paranoid=0"}},
    {"call zetMetricStreamerReadData 1 0 = !0x70000001\n",
     GTEL_MEASUREMENT_GPU_ACTIVITY,
     {"zetMetricStreamerReadData: 0: Level Zero answers code 0x70000001: "}},
    {"call zeInit = !0x78000001\n",
     GTEL_MEASUREMENT_GPU_ACTIVITY,
     {"zeInit: 0: it finds no GPU: is Intel's driver for it installed (libze-intel-gpu1, "
      "intel-level-zero-gpu)?: "}},
    {"call zeInit = !0x70010000\n",
     GTEL_MEASUREMENT_GPU_ACTIVITY,
     {"zeInit: 0: this user may not open the GPU's device nodes: add it to the group render: "}},
    {"call zeDeviceGet 0 = 0\n",
     GTEL_MEASUREMENT_GPU_ACTIVITY,
     {"Level Zero: 0: it does not know this GPU: install Intel's Level Zero driver for it "
      "(libze-intel-gpu1, intel-level-zero-gpu)"}},
    {POWER("runtime_status", "suspended"),
     GTEL_MEASUREMENT_GPU_ACTIVITY,
     {"Level Zero: 0: it starts with all GPUs together, and waits until 0000:03:00.0 is awake: let "
      "that GPU work once, or set the option Wake to always"}},
    {"library libze_loader.so.1 gone\n",
     GTEL_MEASUREMENT_GPU_ACTIVITY,
     {"libze_loader.so.1: 0: it cannot be opened: apt install libze1 (Debian), level-zero "
      "(Ubuntu)"}},
};

static void test_doctor(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(reasons); i++) {
        struct machine m;
        struct gtel_findings findings = {0};
        test_label = reasons[i].text;
        if (!begin(&m, reasons[i].text))
            continue;
        gather(&m, 0);
        gather(&m, 1);
        gtel_group_diagnose(&m.group, &findings);
        check_findings(&findings, reasons[i].says, GTEL_ARRAY_LEN(reasons[i].says));
        CHECK_INT(findings.finding[0].measurement, reasons[i].measurement);
        gtel_findings_done(&findings);
        finish(&m);
    }
    test_label = "";
}

/* A loader before 1.22 has a variable instead of the call, for all GPUs or none. */
static void test_variable(void)
{
    struct machine m;
    CHECK(getenv("ZET_ENABLE_METRICS") == NULL);
    if (begin(&m, "call zetDeviceEnableMetricsExp = !nosymbol\n")) {
        gather(&m, 0);
        gather(&m, 1);
        const char *variable = getenv("ZET_ENABLE_METRICS");
        CHECK(variable && strcmp(variable, "1") == 0);
        CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "xmx"), 0.45, 1e-9);
        finish(&m);
    }
    if (begin(&m, "call zetDeviceEnableMetricsExp = !nosymbol\ncall zeInit = !0x70020000\n")) {
        gather(&m, 0);
        gather(&m, 1);
        CHECK_INT(spy.logs[GTEL_LOG_WARNING], 1);
        CHECK(strstr(spy.last_log, "all or none") != NULL);
        finish(&m);
    }
}

/* Off unless asked for; without the loader's file the lane would not even start. */
static void test_opt_in(void)
{
    struct machine m;
    char error[100];
    if (!begin(&m, ""))
        return;
    CHECK_INT(m.group.n, 1);
    CHECK(gtel_source_present(&m.group.entry[0].source, &m.env));
    gtel_group_done(&m.group);
    CHECK_INT(gtel_option_set(&m.options, GTEL_O_L0_METRICS, GTEL_STR("off"), error, sizeof(error)),
              0);
    start_lane(&m);
    CHECK_INT(m.group.n, 0);
    gather(&m, 1);
    CHECK_INT(spy.calls, 0);
    finish(&m);
}

/* The card goes in the middle of a window, and another one comes: all is closed and found again. */
static void test_gone(void)
{
    struct machine m;
    if (!begin(&m, "at 1s\ngone sys/class/drm/card0\nat 40s\n" CARD("xe")))
        return;
    gather(&m, 0);
    gather_ms(&m, 950);
    gather_ms(&m, 60);
    gather(&m, 31);
    CHECK_INT(m.group.batch.n, 0);
    CHECK(is_all_closed());
    CHECK_INT(spy.enabled, 0);
    gather(&m, 31);
    gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "xmx"), 0.45, 1e-9);
    finish(&m);
}

/* Tiles in an order of the driver's own: each with a share of its own. */
#define TILE(device, share)                                                                        \
    "call zetDeviceEnableMetricsExp " device " =\ncall zetMetricGroupGet " device " = 1\n"         \
    "call zetMetricGroupGetProperties " device " 0 = ComputeBasic 2 0 2\n"                         \
    "call zetMetricGet " device " 0 = 2\n"                                                         \
    "call zetMetricGetProperties " device " 0 0 = GpuTime 0 1\n"                                   \
    "call zetMetricGetProperties " device " 0 1 = XmxActive 0 2\n"                                 \
    "call zetMetricStreamerOpen " device " 0 = 1024 10000000\n"                                    \
    "call zetMetricStreamerReadData " device " 0 = 512 0\n"                                        \
    "call zetMetricGroupCalculateMetricValues " device " 0 = 1000 " share "\n"
#define TILES "call zeDeviceGetSubDevices 1 = 2 3\n" TILE("3", "30") TILE("4", "40")
#define NUMBER(device, number) "call zeDeviceGetProperties " device " = 1 0x8086 " number "\n"

static const struct tiles {
    const char *text;
    const char *tile[2]; /* of the two devices */
} tiles[] = {
    {TILES NUMBER("3", "1") NUMBER("4", "0"), {"1", "0"}},
    {TILES NUMBER("3", "2") NUMBER("4", "5"), {"2", "5"}},
    {TILES NUMBER("3", "1") NUMBER("4", "1"), {"0", "1"}},
    {TILES, {"0", "1"}},
    {TILES NUMBER("3", "1") "call zeDeviceGetProperties 4 = untouched\n", {"0", "1"}},
    /* What fails now is looked for again, and the card is not treated as a single tile. */
    {TILES NUMBER("3", "1") NUMBER("4", "0") "call zeDeviceGetProperties 4 = !0x70020000\n"
                                             "at 2s\n" NUMBER("4", "0"),
     {"1", "0"}},
    {TILES NUMBER("3", "1") NUMBER("4", "0") "call zeDeviceGetSubDevices 1 = !0x70020000\n"
                                             "at 2s\ncall zeDeviceGetSubDevices 1 = 2 3\n",
     {"1", "0"}},
};

static double of_tile(const struct machine *m, const char *tile)
{
    for (size_t i = 0; i < m->group.batch.n; i++) {
        const struct gtel_reading *r = &m->group.batch.reading[i];
        if (r->metric == GTEL_M_ACTIVITY && gtel_str_eq(r->dim[0], GTEL_STR("xmx")) &&
            gtel_str_eq(r->dim[1], gtel_str_of(tile)))
            return gtel_reading_number(r);
    }
    return -1;
}

static void test_tiles(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(tiles); i++) {
        struct machine m;
        test_label = tiles[i].text;
        if (!begin(&m, tiles[i].text))
            continue;
        for (unsigned k = 0; k < 130; k++)
            gather(&m, 1);
        CHECK_NEAR(of_tile(&m, tiles[i].tile[0]), 0.3, 1e-9);
        CHECK_NEAR(of_tile(&m, tiles[i].tile[1]), 0.4, 1e-9);
        CHECK_NEAR(of_tile(&m, ""), -1, 0);
        finish(&m);
    }
    test_label = "";
}

#define SECOND_CARD                                                                                \
    "link sys/class/drm/card2 -> ../../devices/pci0000:00/0000:05:00.0/drm/card2\n"                \
    "link sys/devices/pci0000:00/0000:05:00.0/drm/card2/device -> ../../../0000:05:00.0\n"         \
    "file sys/devices/pci0000:00/0000:05:00.0/uevent\n| DRIVER=xe\n| PCI_ID=8086:E20B\n"           \
    "| PCI_SLOT_NAME=0000:05:00.0\n"
#define GOES "gone sys/class/drm/card0\ngone " DEVICE "drm\n"

/*
 * When a new process may do better: each case is gathered once a second, and the helper wants to be
 * restarted after so many of them; 0: never.
 */
static const struct renewal {
    const char *label;
    const char *text;
    bool is_inline;
    unsigned after;
    unsigned infos; /* lines in the log by then */
} renewals[] = {
    {"all is well", "", false, 0, 0},
    {"the start fails", "call zeInit = !0x78000001\n", false, 601, 0},
    {"the start fails, in one process", "call zeInit = !0x78000001\n", true, 0, 0},
    {"the start finds no driver's GPU", "call zeDriverGet = 0\n", false, 601, 0},
    {"nor any device of one", "call zeDeviceGet 0 = 0\ncall zeDeviceGet 1 = 0\n", false, 601, 0},
    {"a GPU comes", "at 100s\n" SECOND_CARD, false, 121, 1},
    {"a right is given",
     "call zetMetricGroupGetProperties 1 1 = Other 2 0 4\n" PARANOID("1") "at 70s\n" PARANOID("0"),
     false, 91, 1},
    {"a right is given, in one process",
     "call zetMetricGroupGetProperties 1 1 = Other 2 0 4\n" PARANOID("1") "at 70s\n" PARANOID("0"),
     true, 0, 0},
    {"a right is given to enable metrics",
     "call zetDeviceEnableMetricsExp 1 = !0x70010000\n" PARANOID("1") "at 70s\n" PARANOID("0"),
     false, 91, 1},
    {"no right is given", "call zetMetricGroupGetProperties 1 1 = Other 2 0 4\n" PARANOID("1"),
     false, 0, 0},
    {"the right was there", "call zetMetricGroupGetProperties 1 1 = Other 2 0 4\n" PARANOID("0"),
     false, 0, 0},
    {"a right that nothing lacked is given", PARANOID("1") "at 70s\n" PARANOID("0"), false, 0, 0},
    {"a GPU goes", "at 5s\n" GOES, false, 0, 0},
    {"a GPU goes and comes", "at 5s\n" GOES "at 9s\n" CARD("xe"), false, 9, 1},
    {"a GPU goes and comes immediately", "at 5s\n" GOES CARD("xe"), false, 5, 1},
};

static void test_renewals(void)
{
    enum { SECONDS = 700 };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(renewals); i++) {
        struct machine m;
        unsigned after = 0;
        test_label = renewals[i].label;
        if (!begin(&m, renewals[i].text))
            continue;
        m.group.registry.renewal =
            renewals[i].is_inline ? GTEL_RENEWAL_NEVER : GTEL_RENEWAL_POSSIBLE;
        for (unsigned k = 1; k <= SECONDS && after == 0; k++) {
            gather(&m, 1);
            after = m.group.registry.renewal == GTEL_RENEWAL_DUE ? k : 0;
        }
        CHECK_INT(after, renewals[i].after);
        CHECK_INT(spy.logs[GTEL_LOG_INFO], renewals[i].infos);
        finish(&m);
    }
    test_label = "";
}

/* The library is asked which GPUs there are when one is not known, not again and again. */
static void test_found_once(void)
{
    struct machine m;
    if (!begin(&m, ""))
        return;
    spy.count_name = "zeDriverGet";
    for (unsigned k = 0; k < 200; k++)
        gather(&m, 1);
    CHECK_INT(spy.counted, 2); /* how many, and which */
    finish(&m);
}

int main(void)
{
    test_renewals();
    test_tiles();
    test_values();
    test_platforms();
    test_quirks();
    test_losses();
    test_closes();
    test_found_once();
    test_stuck();
    test_windows();
    test_short_interval();
    test_end_within();
    test_idle();
    test_held();
    test_asleep();
    test_rest();
    test_rival();
    test_doctor();
    test_opt_in();
    test_gone();
    test_variable(); /* last: the variable stays */
    return test_result();
}
