/* SPDX-License-Identifier: MIT */
/* The Sysman source with each call failing in turn, with each code that the specification has. */
#include "sources/sysman.h"
#include "test.h"

#include <string.h>

/* Gathers of one walk: seconds before each. The last ones are beyond all pauses. */
static const unsigned walk_steps[] = {1, 1, 1, 700, 1};
enum { WALK_STEPS = GTEL_ARRAY_LEN(walk_steps) };

/* Counters go on at each of these times. */
static const char moving[] = "at 1s\ncall zesPowerGetEnergyCounter 1 0 = 5100000 2000\n"
                             "call zesPowerGetEnergyCounter 1 1 = 1600000 2000\n"
                             "at 2s\ncall zesPowerGetEnergyCounter 1 0 = 5200000 3000\n"
                             "call zesPowerGetEnergyCounter 1 1 = 1700000 3000\n"
                             "at 3s\ncall zesPowerGetEnergyCounter 1 0 = 5300000 4000\n"
                             "call zesPowerGetEnergyCounter 1 1 = 1800000 4000\n"
                             "at 703s\ncall zesPowerGetEnergyCounter 1 0 = 5400000 5000\n"
                             "call zesPowerGetEnergyCounter 1 1 = 1900000 5000\n"
                             "at 704s\ncall zesPowerGetEnergyCounter 1 0 = 5500000 6000\n"
                             "call zesPowerGetEnergyCounter 1 1 = 2000000 6000\n";

struct whole {
    size_t xe[WALK_STEPS];
    size_t i915[WALK_STEPS];
    unsigned calls;
};

static bool is_transient(uint32_t code)
{
    return code == 1 || code == 0x70000002 || code == 0x70000003 || code == 0x70000007 ||
           code == 0x70010001 || code == 0x70020000 || code == 0x70020001 || code == 0x78000006 ||
           code == 0x78000008 || code == 0x7ffffffe;
}

/* A call before the readings themselves: what it fails with lasts until the next discovery. */
static bool is_lookup(const char *name)
{
    return strstr(name, "Init") || strstr(name, "DriverGet") || strstr(name, "DeviceGet") ||
           strstr(name, "zesDevicePciGetProperties");
}

static void walk_one(struct machine *m, unsigned at, uint32_t code, const struct whole *whole)
{
    start_lane(m);
    spy.fail_at = at;
    spy.fail_code = code;
    for (size_t i = 0; i < WALK_STEPS; i++) {
        bool had_failed = spy.failed_name != NULL;
        gather(m, walk_steps[i]);
        if (!spy.failed_name) {
            CHECK_INT(readings_of(m, xe), whole->xe[i]);
            continue;
        }
        bool is_sticky = strstr(spy.failed_name, "Init");
        if (!is_sticky && !is_lookup(spy.failed_name))
            CHECK(readings_of(m, xe) == whole->xe[i] || readings_of(m, i915) == whole->i915[i]);
        if (had_failed && is_transient(code) && !is_sticky && !is_lookup(spy.failed_name))
            CHECK_INT(readings_of(m, xe), whole->xe[i]); /* back within an interval */
        if (walk_steps[i] < 100)
            continue;
        spy.fail_at = 0;
    }
    if (strstr(spy.failed_name ? spy.failed_name : "", "Init"))
        CHECK_INT(m->group.batch.n, 0);
    else
        CHECK_INT(readings_of(m, xe) + readings_of(m, i915),
                  whole->xe[WALK_STEPS - 1] + whole->i915[WALK_STEPS - 1]);
    CHECK(spy.logs[GTEL_LOG_WARNING] <= 1);
    CHECK_INT(spy.early, 0);
    gtel_group_done(&m->group);
    CHECK_INT(spy.opens, spy.closes);
}

static bool walk_reference(struct machine *m, struct whole *whole)
{
    if (!begin(m, moving))
        return false;
    for (size_t i = 0; i < WALK_STEPS; i++) {
        gather(m, walk_steps[i]);
        whole->xe[i] = readings_of(m, xe);
        whole->i915[i] = readings_of(m, i915);
        if (i == 1)
            whole->calls = spy.calls;
        CHECK(whole->xe[i] >= 40 && whole->i915[i] >= 2);
    }
    gtel_group_done(&m->group);
    return CHECK(whole->calls > 80);
}

static void test_faults(void)
{
    static const uint32_t codes[] = {0x1,        0x70000001, 0x70000002, 0x70000003, 0x70000006,
                                     0x70000007, 0x70010000, 0x70010001, 0x70020000, 0x70020001,
                                     0x78000001, 0x78000002, 0x78000003, 0x78000004, 0x78000005,
                                     0x78000006, 0x78000007, 0x78000008, 0x7800000c, 0x7800000d,
                                     0x7800001b, 0x78000020, 0x7ffffffe};
    struct machine m;
    struct whole whole = {0};
    char label[64];
    if (!walk_reference(&m, &whole))
        return;
    for (unsigned at = 1; at <= whole.calls; at++)
        for (size_t i = 0; i < GTEL_ARRAY_LEN(codes); i++) {
            (void)snprintf(label, sizeof(label), "call %u with code 0x%x", at, (unsigned)codes[i]);
            test_label = label;
            rewind_machine(&m);
            walk_one(&m, at, codes[i], &whole);
        }
    test_label = "";
    start_lane(&m);
    finish(&m);
}

int main(void)
{
    test_faults();
    return test_result();
}
