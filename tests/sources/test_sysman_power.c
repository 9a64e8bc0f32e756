/* SPDX-License-Identifier: MIT */
/* The Sysman source on recorded machines: which power domain stands for the GPU, and which is none.
 */
#include "harness/sysman_machine.h"
#include "harness/test.h"
#include "sources/level_zero/sysman/rows.h"

/*
 * Two domains of the whole GPU, in the order of the driver's list: the card's values are those of
 * the GPU, and the package's where the card has none.
 */
#define IS_PACKAGE(part) "call zesPowerGetProperties 1 " part " = 0 0 -1 -1 -1 2\n"
#define IS_CARD(part) "call zesPowerGetProperties 1 " part " = 0 0 -1 -1 -1 1\n"

#define COUNTS(part, joules) "call zesPowerGetEnergyCounter 1 " part " = " joules " 1001000\n"
#define LATER "at 1s\n" COUNTS("0", "6000000")

static const struct {
    const char *text;
    double joules; /* of the second gather; -1: none */
    double limit;
} heads[] = {
    {IS_CARD("0") IS_PACKAGE("1") LATER, 6, 190},
    {IS_PACKAGE("0") IS_CARD("1") LATER COUNTS("1", "2500000"), 2.5, 50},
    {IS_PACKAGE("0")
         IS_CARD("1") "call zesPowerGetLimits 1 1 = 0 0 0 0 -1 -1\n" LATER COUNTS("1", "2500000"),
     2.5, 190},
    {IS_PACKAGE("0")
         IS_CARD("1") "call zesPowerGetLimits = !nosymbol\n" LATER COUNTS("1", "2500000"),
     2.5, 190},
    /* a card that counts nothing, or that the driver has not */
    {IS_PACKAGE("0") IS_CARD("1") "call zesPowerGetEnergyCounter 1 1 = 0 1000\n" LATER, 6, 50},
    {IS_PACKAGE("0") IS_CARD("1") "call zesPowerGetEnergyCounter 1 1 = !0x78000003\n" LATER, 6, 50},
    {IS_PACKAGE("0") IS_CARD("1") "call zesPowerGetEnergyCounter 1 1 = !0x70010001\n" LATER, 6, 50},
    {IS_PACKAGE("0") "call zesPowerGetProperties 1 1 = !0x70010001\n" LATER, 6, 190},
};

static void test_heads(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(heads); i++) {
        struct machine m;
        test_label = heads[i].text;
        if (!begin(&m, heads[i].text))
            continue;
        gather(&m, 0);
        gather(&m, 1);
        CHECK_NEAR(value(&m, GTEL_M_GPU_ENERGY, NULL, NULL), heads[i].joules, 1e-9);
        CHECK_NEAR(value(&m, GTEL_M_GPU_POWER_LIMIT, NULL, NULL), heads[i].limit, 1e-9);
        finish(&m);
    }
    test_label = "";
}

/*
 * Battlemage before 6.17: energy of card and package may come from the kernel's hwmon, which has it
 * from registers that hold nonsense. That of chip and memory comes from telemetry.
 */
#define BMG(release)                                                                               \
    CARD("card0", "0000:03:00.0", "xe", "E20B")                                                    \
    I915 LIBRARY "file proc/sys/kernel/osrelease\n| " release "\n"

static void test_bad_energy(void)
{
    static const struct {
        const char *head;
        double joules; /* of card, package and GPU */
    } cases[] = {{BMG("6.16.4-2-MANJARO"), -1}, {BMG("6.17.0"), 5}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct machine m;
        test_label = cases[i].head;
        if (!begin_with(&m, cases[i].head,
                        "call zesDeviceEnumPowerDomains 1 = 4\n"
                        "call zesPowerGetProperties 1 2 = 0 0 -1 -1 -1 2\n"
                        "call zesPowerGetProperties 1 3 = 0 0 -1 -1 -1 5\n"
                        "call zesPowerGetEnergyCounter 1 2 = 5000000 1000\n"
                        "call zesPowerGetEnergyCounter 1 3 = 2000000 1000\n"))
            continue;
        spy.count_name = "zesPowerGetEnergyCounter";
        gather(&m, 0);
        CHECK_INT(spy.counted, cases[i].joules < 0 ? 2 : 4);
        CHECK_NEAR(value(&m, GTEL_M_ENERGY, "card", NULL), cases[i].joules, 1e-9);
        CHECK_NEAR(value(&m, GTEL_M_ENERGY, "pkg", NULL), cases[i].joules, 1e-9);
        CHECK_NEAR(value(&m, GTEL_M_GPU_ENERGY, NULL, NULL), cases[i].joules, 1e-9);
        CHECK_NEAR(value(&m, GTEL_M_ENERGY, "gpu", NULL), 2, 1e-9);
        CHECK_NEAR(value(&m, GTEL_M_ENERGY, "memory", NULL), 1.5, 1e-9);
        CHECK_NEAR(value(&m, GTEL_M_POWER_LIMIT, "card", NULL), 190, 1e-9);
        finish(&m);
    }
    test_label = "";
}

/* The card's limit is 190 W: twice that may be, more is a misreading. */
static void test_too_much(void)
{
    static const struct {
        const char *text;
        double joules; /* of the card, a second after 5 J; -1: none */
    } cases[] = {{"at 1s\n" COUNTS("0", "384000000"), 384},
                 {"at 1s\n" COUNTS("0", "386000000"), -1},
                 {"call zesPowerGetLimitsExt 1 0 = 1 0 2 0 0 1000000 3 0 1 0 0 320000\n"
                  "at 1s\n" COUNTS("0", "2004000000"),
                  2004},
                 {"call zesPowerGetLimitsExt 1 0 = 1 0 2 0 0 1100000 3 0 1 0 0 320000\n"
                  "at 1s\n" COUNTS("0", "2006000000"),
                  -1}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct machine m;
        test_label = cases[i].text;
        if (!begin(&m, cases[i].text))
            continue;
        gather(&m, 0);
        CHECK_NEAR(value(&m, GTEL_M_ENERGY, "card", NULL), 5, 1e-9);
        gather(&m, 1);
        CHECK_NEAR(value(&m, GTEL_M_ENERGY, "card", NULL), cases[i].joules, 1e-9);
        finish(&m);
    }
    test_label = "";
}

#define WRAP UINT64_C(262144000000)
#define SECOND 1000000

/* One step of a counter from 1000 s on, in microjoules and microseconds. */
static void test_steps(void)
{
    static const struct {
        const char *label;
        double limit_w;
        uint64_t wrap;
        uint64_t from;
        uint64_t to;
        int64_t us; /* later */
        bool has_slept;
        int64_t grown; /* -1: it is no step */
    } cases[] = {
        {"nothing", 0, 0, 5, 5, SECOND, false, 0},
        {"nothing, in no time", 0, 0, 5, 5, 0, false, -1},
        {"time goes back", 0, 0, 5, 6, -SECOND, false, -1},
        {"the most", 0, 0, 5, 2000000005, SECOND, false, 2000000000},
        {"more", 0, 0, 5, 2000000006, SECOND, false, -1},
        {"twice the limit", 700, 0, 5, 1400000005, SECOND, false, 1400000000},
        {"more than twice the limit", 700, 0, 5, 1400000006, SECOND, false, -1},
        {"twice a small limit", 1, 0, 5, 2000005, SECOND, false, 2000000},
        {"more than twice a small limit", 1, 0, 5, 2000006, SECOND, false, -1},
        {"a limit beyond all", 1001, 0, 5, 2000000006, SECOND, false, -1},
        {"lower", 0, 0, 5, 4, SECOND, false, -1},
        {"lower, behind the end", 0, WRAP, WRAP - 5, 4, SECOND, false, 9},
        {"lower, from the end on", 0, WRAP, WRAP, 4, SECOND, false, -1},
        {"lower after a sleep", 0, WRAP, WRAP - 5, 4, SECOND, true, -1},
        {"the same after a sleep", 0, WRAP, 5, 5, SECOND, true, 0},
        {"higher after a sleep", 0, WRAP, 5, 6, SECOND, true, 1},
        {"lower after a sleep, without an end", 0, 0, 5, 4, SECOND, true, -1},
        {"less time than the end needs", 0, WRAP, 5, 6, 131071999, false, 1},
        {"as much", 0, WRAP, 5, 6, 131072000, false, -1},
        {"as much, without an end", 0, 0, 5, 6, 131072000, false, 1},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        const struct gtel_zes_energy from = {cases[i].from, 1000 * SECOND};
        const struct gtel_zes_energy to = {cases[i].to, (uint64_t)(1000 * SECOND + cases[i].us)};
        struct gtel_sysman_energy energy = {0};
        bool is_step = cases[i].grown >= 0;
        test_label = cases[i].label;
        CHECK(gtel_sysman_energy_step(&energy, &from, cases[i].wrap, cases[i].limit_w));
        CHECK_INT(energy.total_uj, cases[i].from);
        energy.has_slept = cases[i].has_slept;
        CHECK_INT(gtel_sysman_energy_step(&energy, &to, cases[i].wrap, cases[i].limit_w), is_step);
        CHECK_INT(energy.total_uj, cases[i].from + (uint64_t)(is_step ? cases[i].grown : 0));
        CHECK_INT(energy.total_us, 1000 * SECOND + (is_step ? cases[i].us : 0));
    }
    test_label = "";
}

/* Two misreadings are skipped, each time; the third is where the counter goes on from. */
static void test_misreadings(void)
{
    static const struct {
        uint64_t uj;
        int64_t total; /* -1: no step */
    } steps[] = {{100, 100}, {200, 200}, {7, -1},  {8, -1},  {500, 500}, {600, 600}, {9, -1},
                 {10, -1},   {900, 900}, {11, -1}, {12, -1}, {13, -1},   {20, 907},  {30, 917}};
    struct gtel_sysman_energy energy = {0};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(steps); i++) {
        const struct gtel_zes_energy now = {steps[i].uj, (i + 1) * SECOND};
        CHECK_INT(gtel_sysman_energy_step(&energy, &now, 0, 0), steps[i].total >= 0);
        if (steps[i].total >= 0)
            CHECK_INT(energy.total_uj, steps[i].total);
    }
}

int main(void)
{
    test_steps();
    test_misreadings();
    test_too_much();
    test_heads();
    test_bad_energy();
    return test_result();
}
