/* SPDX-License-Identifier: MIT */
/* What GTs and engines an xe GPU has: from its folders, and by trying to count each engine. */
#include "base/buf.h"
#include "harness/source_harness.h"
#include "harness/test.h"
#include "sources/intel/xe_perf.h"

#include <errno.h>
#include <inttypes.h>

#define DEVICE "sys/class/drm/card0/device"
#define RENDER "/engines/rcs\n"
#define TILE(tile, gt) "dir " DEVICE "/tile" tile "/gt" gt RENDER
#define SAME(number) TILE(number, number)
#define FOUR(a, b, c, d) SAME(a) SAME(b) SAME(c) SAME(d)
#define SIXTEEN                                                                                    \
    FOUR("0", "1", "2", "3")                                                                       \
    FOUR("4", "5", "6", "7") FOUR("8", "9", "10", "11") FOUR("12", "13", "14", "15")

static const struct {
    const char *text;
    uint32_t gts;
    uint32_t render;
} cases[] = {
    {SAME("0"), 0x1, 0x1},
    {"dir " DEVICE "/tile0/gt0\n" TILE("0", "1"), 0x3, 0x2}, /* one without engines */
    {SAME("0") TILE("1", "2") TILE("1", "31"), 0x80000005, 0x80000005},
    {TILE("0", "32") TILE("0", "x") TILE("0", "") TILE("x", "0") "dir " DEVICE "/gt0" RENDER, 0, 0},
    /* As many tiles as are searched; of one more, the last is skipped. */
    {SIXTEEN, 0xffff, 0xffff},
    {SIXTEEN SAME("16"), 0xffff, 0xffff},
};

static void test_scan(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_xe_engines engines = {.gts = 7, .n = 7};
        struct machine machine;
        char text[2400];
        (void)snprintf(text, sizeof(text), "%send\n", cases[i].text);
        test_label = cases[i].text;
        if (!CHECK(machine_init(&machine, text, "xe_pmu")))
            return;
        CHECK_INT(gtel_xe_engines_scan(&machine.fault->env, DEVICE, &engines), 0);
        CHECK_INT(engines.gts, cases[i].gts);
        CHECK_INT(engines.class_gts[GTEL_ENGINE_RENDER], cases[i].render);
        CHECK_INT(engines.n, 0);
        machine_done(&machine);
    }
    test_label = "";
}

/* Rather nothing than a part: whichever of the listings fails. */
static void test_scan_fails(void)
{
    for (uint64_t k = 1; k <= 5; k++) {
        struct gtel_xe_engines engines = {.gts = 7};
        struct machine machine;
        if (!CHECK(machine_init(&machine, SAME("0") SAME("1") "end\n", "xe_pmu")))
            return;
        machine.fault->fail_at = k;
        machine.fault->error = -EIO;
        CHECK_INT(gtel_xe_engines_scan(&machine.fault->env, DEVICE, &engines), -EIO);
        CHECK_INT(engines.gts, 0);
        CHECK_INT(engines.class_gts[GTEL_ENGINE_RENDER], 0);
        machine_done(&machine);
    }
}

#define KEY "0000:03:00.0"
#define PMU "xe_0000_03_00.0"
#define DIR "sys/bus/event_source/devices/" PMU

/* Eight GTs with so many copy engines each: what the list has room for, and no more. */
static void test_list(unsigned engines_each, size_t want)
{
    struct gtel_xe_engines engines = {.gts = 0xff, .class_gts[GTEL_ENGINE_COPY] = 0xff};
    struct gtel_xe_perf perf = {.type_number = 0};
    struct gtel_buf text;
    struct machine machine;
    gtel_buf_init(&text, 16384);
    gtel_buf_printf(&text, "file " DIR "/type\n| 24\nfile " DIR "/cpumask\n| 0\n"
                           "file " DIR "/events/engine-active-ticks\n| event=0x02\n"
                           "file " DIR "/events/engine-total-ticks\n| event=0x03\n");
    for (uint64_t gt = 0; gt < 8; gt++)
        for (uint64_t i = 0; i < engines_each; i++)
            gtel_buf_printf(&text, "pmu " PMU " 0x%" PRIx64 " 0 1e9\n",
                            gt << 60 | UINT64_C(1) << 20 | i << 12 | 3);
    gtel_buf_bytes(&text, "end\n", 5);
    if (CHECK(machine_init(&machine, text.p, "xe_pmu"))) {
        CHECK_INT(gtel_xe_perf_open(&machine.fault->env, KEY, &perf), 0);
        CHECK_INT(gtel_xe_engines_list(&machine.fault->env, DEVICE, &perf, &engines), 0);
        CHECK_INT(engines.n, want);
        for (size_t i = 0; i < engines.n && i < GTEL_XE_LIST_MAX; i++) {
            CHECK_INT(engines.engine[i].gt, i / engines_each);
            CHECK_INT(engines.engine[i].instance, i % engines_each);
        }
        gtel_xe_perf_close(&machine.fault->env, &perf);
        machine_done(&machine);
    }
    gtel_buf_done(&text);
}

/* Each value in its bits and in no others; a term may have all of them. */
static void test_config(void)
{
    const struct gtel_xe_engine engine = {.engine_class = 0x1f, .instance = 2, .gt = 3};
    const struct gtel_xe_perf terms = {.first = {0, 12, 20, 44, 60}, .last = {11, 19, 23, 59, 63}};
    const struct gtel_xe_perf whole = {.last = {63}};
    CHECK(gtel_xe_perf_config(&terms, 0x1005, &engine, 0x10007) == 0x3000700000f02005);
    CHECK(gtel_xe_perf_config(&whole, UINT64_MAX - 1, &(struct gtel_xe_engine){0}, 0) ==
          UINT64_MAX - 1);
}

int main(void)
{
    test_config();
    test_scan();
    test_scan_fails();
    test_list(1, 8);
    test_list(8, GTEL_XE_LIST_MAX);
    test_list(9, GTEL_XE_LIST_MAX);
    return test_result();
}
