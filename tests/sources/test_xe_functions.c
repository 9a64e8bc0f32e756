/* SPDX-License-Identifier: MIT */
/* Source xe_pmu: the shares of virtual functions that come and go, and of very many. */
#include "base/buf.h"
#include "harness/source_lane.h"
#include "harness/test.h"

#include <stdio.h>

#define KEY "0000:03:00.0"
#define DEVICE "sys/devices/pci0000:00/" KEY
#define PMU "xe_0000_03_00.0"
#define DIR "sys/bus/event_source/devices/" PMU

static const char sources[] = "xe,xe_pmu";

/* One GT with rcs0: the GPU at 20 %; once it has a VF, that takes 60 % of its own ticks. */
#define LONE                                                                                       \
    "file " DEVICE "/uevent\n| DRIVER=xe\n| PCI_ID=8086:E20B\n| PCI_SLOT_NAME=" KEY "\n"           \
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/" KEY "/drm/card0\n"                     \
    "link " DEVICE "/drm/card0/device -> ../../../" KEY "\n"                                       \
    "dir " DEVICE "/tile0/gt0/engines/rcs\n"                                                       \
    "file " DEVICE "/tile0/gt0/gtidle/name\n| gt0-rc\n"                                            \
    "grow " DEVICE "/tile0/gt0/gtidle/idle_residency_ms 0 300\n"                                   \
    "file " DEVICE "/power/runtime_status\n| active\n"                                             \
    "file " DIR "/type\n| 24\nfile " DIR "/cpumask\n| 0\n"                                         \
    "file " DIR "/events/engine-active-ticks\n| event=0x02\n"                                      \
    "file " DIR "/events/engine-total-ticks\n| event=0x03\n"                                       \
    "pmu " PMU " 0x2 0 2e8\npmu " PMU " 0x3 0 1e9\n"                                               \
    "pmu " PMU " 0x100000000002 0 3e8\npmu " PMU " 0x100000000003 0 5e8\n"
#define VFS(number) "file " DEVICE "/sriov_numvfs\n| " number "\n"

/* The share of a part, or -1; held counters: that of the time between two gathers a second apart.
 */
static double share_of_part(const struct lane *lane, const char *part, struct gtel_reading *last)
{
    const struct gtel_reading *now = lane_find(lane, GTEL_M_ENGINE_BUSY, "render", part);
    if (now)
        return now->value.f64;
    now = lane_find(lane, GTEL_M_ENGINE_TICKS, "render", part);
    double share = -1;
    if (now && last->t_ns > 0 && now->t_ns > last->t_ns)
        share = (now->value.f64 - last->value.f64) / (double)(now->t_ns - last->t_ns) * 1e9;
    *last = now ? *now : (struct gtel_reading){0};
    return share;
}

/*
 * A VF comes at 3 s and goes at 7 s. No value of the time with one function is reported for two,
 * and the other way round: at each gather there is the truth, or nothing.
 */
static void test_functions_come_and_go(const char *mode)
{
    static const char text[] = LONE VFS("0") "at 2500ms\n" VFS("1") "at 6500ms\n" VFS("0") "end\n";
    struct lane lane;
    struct gtel_reading last[3] = {{0}};
    size_t seen[3] = {0};
    test_label = mode;
    if (!CHECK(lane_init(&lane, text, sources)))
        return;
    lane_set(&lane, GTEL_O_RESCAN, "1s");
    lane_set(&lane, GTEL_O_XE_ENGINES, mode);
    for (int t = 0; t < 12; t++) {
        static const struct {
            const char *part;
            double share;
        } parts[] = {{NULL, 0.2}, {"pf", 0.2}, {"vf1", 0.6}};
        lane_gather(&lane);
        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
            double share = share_of_part(&lane, parts[i].part, &last[i]);
            CHECK(share < 0 || (share > parts[i].share - 1e-6 && share < parts[i].share + 1e-6));
            seen[i] += share >= 0;
            CHECK(share < 0 || t <= 3 || t >= 7 || i > 0);
            CHECK(share < 0 || (t >= 3 && t <= 7) || i == 0);
        }
        lane_step(&lane, 1000);
    }
    CHECK(seen[0] >= 4 && seen[1] >= 2 && seen[2] >= 2);
    lane_done(&lane);
}

/* As many functions as one group of counters takes, and more; beyond any number of them none. */
static void test_many_functions(void)
{
    static const struct {
        unsigned vfs;
        unsigned shown; /* the last function with a value; 0: the GPU as a whole has one */
        bool has_reason;
    } cases[] = {{127, 127, false}, {128, 127, true}, {255, 127, true}, {256, 0, false}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_findings findings = {0};
        struct gtel_buf text;
        struct lane lane;
        char name[16];
        gtel_buf_init(&text, 1 << 20);
        gtel_buf_printf(&text, LONE "file " DEVICE "/sriov_numvfs\n| %u\n", cases[i].vfs);
        for (unsigned f = 2; f <= cases[i].vfs; f++)
            gtel_buf_printf(
                &text, "pmu " PMU " 0x%x00000000002 0 4e8\npmu " PMU " 0x%x00000000003 0 8e8\n", f,
                f);
        gtel_buf_str(&text, GTEL_STR("end\n"));
        gtel_buf_char(&text, '\0');
        (void)snprintf(name, sizeof(name), "%u VFs", cases[i].vfs);
        test_label = name;
        if (!CHECK(!text.has_failed && lane_init(&lane, text.p, sources)))
            return;
        for (int t = 0; t < 3; t++) {
            lane_step(&lane, 1000);
            lane_gather(&lane);
        }
        bool is_whole = cases[i].shown == 0;
        CHECK((lane_find(&lane, GTEL_M_ENGINE_BUSY, NULL, NULL) != NULL) == is_whole);
        CHECK((lane_find(&lane, GTEL_M_ENGINE_CAPACITY, "render", NULL) != NULL) == is_whole);
        CHECK((lane_find(&lane, GTEL_M_ENGINE_BUSY, "render", "pf") != NULL) == !is_whole);
        for (unsigned f = 1; f <= cases[i].vfs; f++) {
            char part[16];
            (void)snprintf(part, sizeof(part), "vf%u", f);
            const struct gtel_reading *got = lane_find(&lane, GTEL_M_ENGINE_BUSY, "render", part);
            if (CHECK((got != NULL) == (f <= cases[i].shown)) && got)
                CHECK_NEAR(got->value.f64, f == 1 ? 0.6 : 0.5, 1e-6);
        }
        gtel_group_diagnose(&lane.group, &findings);
        bool has_reason = false;
        for (size_t k = 0; k < findings.n; k++)
            has_reason = has_reason || gtel_str_eq(findings.finding[k].what, GTEL_STR(DIR));
        CHECK(has_reason == cases[i].has_reason);
        gtel_findings_done(&findings);
        lane_done(&lane);
        gtel_buf_done(&text);
        test_label = "";
    }
}

int main(void)
{
    test_functions_come_and_go("burst");
    test_functions_come_and_go("hold");
    test_many_functions();
    return test_result();
}
