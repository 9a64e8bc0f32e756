/* SPDX-License-Identifier: MIT */
/* Counters of amdgpu's gpu_metrics: that turn, begin again, or do not agree with the power. */
#include "pipeline/delta.h"
#include "harness/amd_table_machine.h"

#include <errno.h>

/* The rate between two gathers, as the core makes it; -1: none. */
struct meter {
    struct gtel_delta_state state;
};

static double rate(struct meter *meter, const struct gtel_reading *reading)
{
    double result = -1;
    if (!reading || gtel_delta_rate(&meter->state, reading, amd_machine.now_ns, S, &result) < 0)
        return -1;
    return result;
}

/* Navi 21 counts millijoules in 32 bits: 300 W, and the counter turns after 20 of 60 seconds. */
static void test_energy_turns(void)
{
    struct amd_life life;
    struct meter meter = {.state = {.host_ns = 0}};
    uint64_t counter = UINT64_C(0x100000000) - 20 * 300000;
    double first = (double)counter / 1e3;
    amd_life_begin(&life, 0x73bf);
    amd_table_begin("v1_3");
    amd_set("v1_3", GTEL_AMD_AVERAGE_SOCKET_POWER, 0, 300);
    for (unsigned i = 0; i <= 60; i++) {
        amd_set("v1_3", GTEL_AMD_ENERGY_ACCUMULATOR, 0, (counter + i * 300000) & 0xffffffff);
        /* At 20 s the counter is 0, which stands for "not provided": nothing is reported then. */
        CHECK_INT(amd_gather(&life), 0);
        CHECK_NEAR(amd_value(&life, GTEL_M_ENERGY, "pkg"), i == 20 ? -1 : first + i * 300.0, 1e-6);
        double watts = rate(&meter, amd_find(&life, GTEL_M_ENERGY, "pkg"));
        if (i > 0 && i != 20)
            CHECK_NEAR(watts, 300, 1e-6);
        amd_machine.now_ns += S;
    }
    CHECK_INT(amd_machine.logs, 0);
    /* A quarter of an hour unread: it may have turned at any power. No rate over that time. */
    amd_machine.now_ns += 900 * S;
    CHECK_INT(amd_gather(&life), 0);
    CHECK_NEAR(rate(&meter, amd_find(&life, GTEL_M_ENERGY, "pkg")), -1, 0);
    amd_machine.now_ns += S;
    amd_set("v1_3", GTEL_AMD_ENERGY_ACCUMULATOR, 0, (counter + 61 * 300000) & 0xffffffff);
    CHECK_INT(amd_gather(&life), 0);
    CHECK_NEAR(rate(&meter, amd_find(&life, GTEL_M_ENERGY, "pkg")), 300, 1e-6);
    /* The driver is loaded again: back to little, or a step that nothing can have used. */
    amd_machine.now_ns += S;
    amd_set("v1_3", GTEL_AMD_ENERGY_ACCUMULATOR, 0, 5);
    CHECK_INT(amd_gather(&life), 0);
    CHECK_NEAR(rate(&meter, amd_find(&life, GTEL_M_ENERGY, "pkg")), -1, 0);
    amd_machine.now_ns += S;
    amd_set("v1_3", GTEL_AMD_ENERGY_ACCUMULATOR, 0, 300005);
    CHECK_INT(amd_gather(&life), 0);
    CHECK_NEAR(rate(&meter, amd_find(&life, GTEL_M_ENERGY, "pkg")), 300, 1e-6);
    amd_machine.now_ns += S;
    amd_set("v1_3", GTEL_AMD_ENERGY_ACCUMULATOR, 0, 2000000000);
    CHECK_INT(amd_gather(&life), 0);
    CHECK_NEAR(rate(&meter, amd_find(&life, GTEL_M_ENERGY, "pkg")), -1, 0);
    amd_life_end(&life);
}

/* The energy of a package with more than the GPU is that of the GPU, and said to be of more. */
static void test_energy_of_more(void)
{
    static const struct {
        const char *label;
        uint16_t id;
        const char *revision;
        bool is_of_more;
    } cards[] = {{"MI250X: of both dies", 0x7408, "v1_3", true},
                 {"MI250: of both dies", 0x740c, "v1_3", true},
                 {"MI210: one die", 0x740f, "v1_3", false},
                 {"MI300A: CPUs, too", 0x74a0, "v1_4", true},
                 {"MI300X", 0x74a1, "v1_4", false}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cards); i++) {
        struct amd_life life;
        test_label = cards[i].label;
        amd_life_begin(&life, cards[i].id);
        amd_table_begin(cards[i].revision);
        amd_set(cards[i].revision, GTEL_AMD_ENERGY_ACCUMULATOR, 0, 65536 * 7);
        CHECK_INT(amd_gather(&life), 0);
        const struct gtel_reading *package = amd_find(&life, GTEL_M_ENERGY, "pkg");
        const struct gtel_reading *gpu = amd_find(&life, GTEL_M_GPU_ENERGY, NULL);
        CHECK(package && package->value.f64 == 7 && !package->is_apart);
        CHECK((gpu && gpu->value.f64 == 7 && gpu->is_apart) == cards[i].is_of_more);
        CHECK(!gpu == !cards[i].is_of_more);
        amd_life_end(&life);
    }
    test_label = "";
}

static const struct check_case {
    const char *label;
    uint64_t first_w; /* at first; from the second gather on: 100 */
    uint64_t step_j;  /* per second */
    uint64_t interval_s;
    unsigned gathers; /* until it is dropped; 0: it is not */
} check_cases[] = {
    {"agrees", 100, 100, 1, 0},
    {"all bursts are missed", 100, 750, 10, 0},
    {"a tenth of it", 100, 10, 1, 0},
    {"ten times", 100, 1000, 1, 0},
    {"too little", 100, 9, 1, 60},
    {"too much", 100, 1001, 1, 60},
    {"nothing", 100, 0, 1, 60},
    {"each 10 s: more gathers, a longer time", 100, 1005, 10, 20},
    {"agrees each 10 s", 100, 100, 10, 0},
    {"each 2 minutes", 100, 1005, 120, 20},
    {"more rarely: what it used meanwhile is not known", 100, 1005, 121, 0},
    {"the power of each moment", 4000, 100, 1, 0},
};

static void test_energy_check(void)
{
    for (size_t c = 0; c < GTEL_ARRAY_LEN(check_cases); c++) {
        struct amd_life life;
        uint64_t joules = 1000;
        test_label = check_cases[c].label;
        amd_life_begin(&life, 0x740f);
        amd_table_begin("v1_3");
        unsigned dropped = 0;
        for (unsigned i = 0; i < 200; i++) {
            amd_set("v1_3", GTEL_AMD_AVERAGE_SOCKET_POWER, 0,
                    i == 0 ? check_cases[c].first_w : 100);
            amd_set("v1_3", GTEL_AMD_ENERGY_ACCUMULATOR, 0, joules * 65536);
            CHECK_INT(amd_gather(&life), 0);
            bool has = amd_value(&life, GTEL_M_ENERGY, "pkg") >= 0;
            if (!has && dropped == 0)
                dropped = i;
            CHECK(!has == (dropped > 0)); /* for good */
            joules += check_cases[c].step_j * check_cases[c].interval_s;
            amd_machine.now_ns += check_cases[c].interval_s * S;
        }
        CHECK_INT(dropped, check_cases[c].gathers);
        gtel_amd_table_break(&life.table); /* nor does it come back after a sleep */
        CHECK_INT(amd_gather(&life), 0);
        CHECK((amd_value(&life, GTEL_M_ENERGY, "pkg") < 0) == (dropped > 0));
        CHECK_INT(amd_machine.logs, check_cases[c].gathers > 0);
        amd_life_end(&life);
    }
    test_label = "";
}

/* One gather a second later; what it reports of the energy, in joules. */
static double energy_at(struct amd_life *life, uint64_t millijoules)
{
    amd_machine.now_ns += S;
    amd_set("v1_3", GTEL_AMD_ENERGY_ACCUMULATOR, 0, millijoules);
    CHECK_INT(amd_gather(life), 0);
    return amd_value(life, GTEL_M_ENERGY, "pkg");
}

/* Navi 21 at 36 W for 30 s. The counter in millijoules. */
static uint64_t run_awake(struct amd_life *life, uint64_t millijoules)
{
    for (unsigned i = 0; i < 30; i++) {
        millijoules += 36000;
        CHECK_NEAR(energy_at(life, millijoules), (double)millijoules / 1e3, 1e-6);
    }
    return millijoules;
}

/*
 * While a card sleeps its counter stands still, or begins again: that is no turn of its 32 bits,
 * and no energy that the power of before and after would have to agree with.
 */
static void test_energy_over_sleep(void)
{
    struct amd_life life;
    amd_life_begin(&life, 0x73bf);
    amd_table_begin("v1_3");
    amd_set("v1_3", GTEL_AMD_AVERAGE_SOCKET_POWER, 0, 36);
    uint64_t counter = run_awake(&life, 3500000000);
    gtel_amd_table_break(&life.table);
    amd_machine.now_ns += 90 * S;
    for (unsigned i = 0; i < 3; i++)
        counter = run_awake(&life, counter); /* it stood still, and is right for good */
    gtel_amd_table_break(&life.table);
    amd_machine.now_ns += 300 * S;
    CHECK_NEAR(energy_at(&life, 5000), 5, 1e-9);
    CHECK_NEAR(energy_at(&life, 41000), 41, 1e-9);
    /* A table that cannot be read: the card may have been reset. */
    amd_machine.now_ns += S;
    amd_machine.error = -EBUSY;
    CHECK_INT(amd_gather(&life), -ENODATA);
    amd_machine.error = 0;
    CHECK_NEAR(energy_at(&life, 36000), 36, 1e-9);
    CHECK_NEAR(energy_at(&life, 72000), 72, 1e-9);
    CHECK_INT(amd_machine.logs, 0);
    amd_life_end(&life);
}

/* One gather: so many ticks, of which so many with PPT in force. Returns its share, or -1. */
static double ppt_share(struct amd_life *life, struct meter *meter, uint64_t ticks, uint64_t held)
{
    static uint64_t all;
    static uint64_t ppt;
    all = ticks > 0 ? all + ticks : 0xfffffff0u; /* 0: a new life, short of the turn of both */
    ppt = ticks > 0 ? ppt + held : 0xffffffffu - 100;
    amd_machine.now_ns += S;
    amd_set("v1_6", GTEL_AMD_ACCUMULATION_COUNTER, 0, all & 0xffffffff);
    amd_set("v1_6", GTEL_AMD_PPT_RESIDENCY_ACC, 0, ppt & 0xffffffff);
    CHECK_INT(amd_gather(life), 0);
    return rate(meter, amd_find(life, GTEL_M_THROTTLE_RESIDENCY, "ppt"));
}

static void test_residencies(void)
{
    struct amd_life life;
    struct meter meter = {.state = {.host_ns = 0}};
    amd_life_begin(&life, 0x74a1);
    amd_table_begin("v1_6");
    amd_set("v1_6", GTEL_AMD_AVERAGE_GFX_ACTIVITY, 0, 90);
    CHECK_NEAR(ppt_share(&life, &meter, 0, 0), -1, 0); /* a share needs two tables */
    CHECK(amd_find(&life, GTEL_M_THROTTLE_RESIDENCY, "prochot") == NULL); /* not available */
    CHECK_NEAR(ppt_share(&life, &meter, 1000, 250), 0.25, 1e-9);          /* both turn here */
    CHECK_NEAR(ppt_share(&life, &meter, 1000, 0), 0, 1e-9);
    CHECK_NEAR(ppt_share(&life, &meter, 500, 500), 1, 1e-9); /* all of the time, while it works */
    CHECK_NEAR(ppt_share(&life, &meter, 1000, 1100), -1, 0); /* more than all: none */
    CHECK_NEAR(ppt_share(&life, &meter, 1000, 300), 0.3, 1e-9);
    amd_set("v1_6", GTEL_AMD_AVERAGE_GFX_ACTIVITY, 0, 4);
    CHECK_NEAR(ppt_share(&life, &meter, 1000, 500), -1, 0); /* a part of it was idle */
    CHECK_NEAR(ppt_share(&life, &meter, 1000, 1000), -1, 0);
    CHECK_NEAR(ppt_share(&life, &meter, 1000, 999), -1, 0);
    CHECK_NEAR(ppt_share(&life, &meter, 1000, 0), 0, 1e-9); /* no reason at all, also idle */
    amd_set("v1_6", GTEL_AMD_AVERAGE_GFX_ACTIVITY, 0, 5);
    CHECK_NEAR(ppt_share(&life, &meter, 1000, 600), -1, 0);
    CHECK_NEAR(ppt_share(&life, &meter, 1000, 600), 0.6, 1e-9); /* of these alone */
    gtel_amd_table_break(&life.table);
    CHECK_NEAR(ppt_share(&life, &meter, 1000, 500), -1, 0); /* a part of it slept */
    CHECK_NEAR(ppt_share(&life, &meter, 1000, 500), 0.5, 1e-9);
    /* The driver is loaded again: both begin again. */
    amd_machine.now_ns += S;
    amd_set("v1_6", GTEL_AMD_ACCUMULATION_COUNTER, 0, 40);
    amd_set("v1_6", GTEL_AMD_PPT_RESIDENCY_ACC, 0, 40);
    CHECK_INT(amd_gather(&life), 0);
    CHECK_NEAR(rate(&meter, amd_find(&life, GTEL_M_THROTTLE_RESIDENCY, "ppt")), -1, 0);
    amd_machine.now_ns += S;
    amd_set("v1_6", GTEL_AMD_ACCUMULATION_COUNTER, 0, 1040);
    amd_set("v1_6", GTEL_AMD_PPT_RESIDENCY_ACC, 0, 540);
    CHECK_INT(amd_gather(&life), 0);
    CHECK_NEAR(rate(&meter, amd_find(&life, GTEL_M_THROTTLE_RESIDENCY, "ppt")), 0.5, 1e-9);
    amd_life_end(&life);
}

static void test_fabric(void)
{
    static const struct amd_want want[] = {
        {GTEL_M_FABRIC_UP, "xgmi0", 1},
        {GTEL_M_FABRIC_RX, "xgmi0", 3072},
        {GTEL_M_FABRIC_TX, "xgmi0", 0},
        {GTEL_M_FABRIC_UP, "xgmi1", 0},
        {GTEL_M_FABRIC_RX, "xgmi1", -1},
        {GTEL_M_FABRIC_UP, "xgmi2", -1},
        {GTEL_M_FABRIC_RX, "xgmi2", 1024},
        {GTEL_M_FABRIC_UP, "xgmi3", -1},
        {GTEL_M_FABRIC_TX, "xgmi3", -1},
        {GTEL_M_GPU_PCIE_REPLAYS, "", 7},
        {GTEL_M_ERROR_COUNT, "pcie_recovery", 0},
        {GTEL_M_ERROR_COUNT, "pcie_nak_sent", 4294967294},
        {GTEL_M_ERROR_COUNT, "pcie_nak_received", -1},
    };
    struct amd_life life;
    amd_life_begin(&life, 0x74a1);
    amd_table_begin("v1_7");
    amd_set("v1_7", GTEL_AMD_XGMI_LINK_STATUS, 0, 1); /* active */
    amd_set("v1_7", GTEL_AMD_XGMI_READ_DATA_ACC, 0, 3);
    amd_set("v1_7", GTEL_AMD_XGMI_WRITE_DATA_ACC, 0, 0);
    amd_set("v1_7", GTEL_AMD_XGMI_LINK_STATUS, 1, 0); /* inactive */
    amd_set("v1_7", GTEL_AMD_XGMI_READ_DATA_ACC, 1, 0);
    amd_set("v1_7", GTEL_AMD_XGMI_LINK_STATUS, 2, 2); /* not available */
    amd_set("v1_7", GTEL_AMD_XGMI_READ_DATA_ACC, 2, 1);
    amd_set("v1_7", GTEL_AMD_XGMI_WRITE_DATA_ACC, 3, UINT64_C(1) << 55); /* no number of bytes */
    amd_set("v1_7", GTEL_AMD_PCIE_REPLAY_COUNT_ACC, 0, 7);
    amd_set("v1_7", GTEL_AMD_PCIE_L0_TO_RECOV_COUNT_ACC, 0, 0);
    amd_set("v1_7", GTEL_AMD_PCIE_NAK_SENT_COUNT_ACC, 0, 4294967294);
    CHECK_INT(amd_gather(&life), 0);
    amd_check(&life, want, GTEL_ARRAY_LEN(want));
    /* A reset: no card has so many errors that 32 bits turn. */
    amd_machine.now_ns += S;
    amd_set("v1_7", GTEL_AMD_PCIE_NAK_SENT_COUNT_ACC, 0, 2);
    CHECK_INT(amd_gather(&life), 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_ERROR_COUNT, "pcie_nak_sent"), 2, 0);
    amd_life_end(&life);
}

/* All links, each with its own data; the most that is a number of bytes, and one more. */
static void test_links(void)
{
    enum { LINKS = 8 };
    const uint64_t most = UINT64_MAX / 1024;
    struct amd_life life;
    amd_life_begin(&life, 0x74a1);
    amd_table_begin("v1_7");
    for (unsigned i = 0; i < LINKS; i++) {
        amd_set("v1_7", GTEL_AMD_XGMI_LINK_STATUS, i, 1);
        amd_set("v1_7", GTEL_AMD_XGMI_READ_DATA_ACC, i, i + 1);
        amd_set("v1_7", GTEL_AMD_XGMI_WRITE_DATA_ACC, i, i == 6 ? most : i == 7 ? most + 1 : i + 9);
    }
    CHECK_INT(amd_gather(&life), 0);
    for (unsigned i = 0; i < LINKS; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "xgmi%u", i);
        CHECK_NEAR(amd_value(&life, GTEL_M_FABRIC_UP, name), 1, 0);
        CHECK_NEAR(amd_value(&life, GTEL_M_FABRIC_RX, name), (i + 1) * 1024, 0);
        const double want = i == 6 ? (double)(most * 1024) : i == 7 ? -1 : (i + 9) * 1024.0;
        CHECK_NEAR(amd_value(&life, GTEL_M_FABRIC_TX, name), want, 0);
    }
    CHECK(!amd_find(&life, GTEL_M_FABRIC_UP, "xgmi8"));
    amd_life_end(&life);
}

static const struct fabric_case {
    const char *label;
    unsigned unit;
    unsigned links;
    unsigned step; /* KiB in a second */
    double want;   /* bytes per second; -1: none */
} fabric_cases[] = {
    {"kibibytes", GTEL_AMD_UNIT_KB, 2, 128, 128 * 1024},
    {"no unit", GTEL_AMD_UNIT_NONE, 2, 128, 128 * 1024},
    {"a bandwidth", GTEL_AMD_UNIT_GB, 2, 128, -1},
    {"all links together", GTEL_AMD_UNIT_KB, 1, 128, -1},
};

/* xGMI in a self-describing table; 30 is the attribute of what is written. */
static void test_fabric_forms(void)
{
    for (size_t c = 0; c < GTEL_ARRAY_LEN(fabric_cases); c++) {
        const struct fabric_case *fabric = &fabric_cases[c];
        struct amd_life life;
        struct meter meter = {.state = {.host_ns = 0}};
        test_label = fabric->label;
        amd_life_begin(&life, 0x74a1);
        for (unsigned i = 0; i < 5; i++) {
            amd_put(4, 4, 1);
            amd_put(8, 8, fabric->unit << 24 | 6 << 20 | 30 << 10 | fabric->links);
            for (unsigned link = 0; link < fabric->links; link++)
                amd_put(16 + (size_t)link * 8, 8, 0xffffff00u + link + i * (uint64_t)fabric->step);
            amd_machine.n = 16 + (size_t)fabric->links * 8;
            amd_put(0, 4, amd_machine.n | 1 << 16 | 9 << 24);
            CHECK_INT(amd_gather(&life), 0);
            double bytes = rate(&meter, amd_find(&life, GTEL_M_FABRIC_TX, "xgmi1"));
            CHECK_NEAR(bytes, i == 0 ? -1 : fabric->want, 1e-6);
            CHECK(fabric->want > 0 || amd_value(&life, GTEL_M_FABRIC_TX, "xgmi0") < 0);
            amd_machine.now_ns += S;
        }
        amd_life_end(&life);
    }
    test_label = "";
}

int main(void)
{
    if (!amd_machine_init())
        return test_result();
    test_energy_turns();
    test_energy_of_more();
    test_energy_check();
    test_energy_over_sleep();
    test_residencies();
    test_fabric();
    test_links();
    test_fabric_forms();
    amd_machine_done();
    return test_result();
}
