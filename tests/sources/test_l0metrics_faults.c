/* SPDX-License-Identifier: MIT */
/* Level Zero's metrics with each call failing in turn, with each code of the specification. */
#include "sources/l0metrics.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

/* Gathers of one walk: seconds before each. The last ones are beyond all pauses. */
static const unsigned walk_steps[] = {0, 1, 1, 1, 700, 1};
enum { WALK_STEPS = GTEL_ARRAY_LEN(walk_steps) };

static bool is_transient(uint32_t code)
{
    return code == 1 || code == 0x70000002 || code == 0x70000003 || code == 0x70000007 ||
           code == 0x70010001 || code == 0x78000006 || code == 0x78000008 || code == 0x7ffffffe;
}

/* Looked for at a discovery, so a failure lasts until the next one. */
static bool is_lookup(const char *name)
{
    return strcmp(name, "zeDriverGet") == 0 || strncmp(name, "zeDevice", 8) == 0;
}

/* What comes back after a failure is as it was before, and whole. */
static void check_figures(const struct machine *m, size_t step)
{
    size_t n = m->group.batch.n;
    bool has_activity = value(m, GTEL_M_ACTIVITY, "xmx") >= 0;
    bool has_stalls = value(m, GTEL_M_STALL_SHARE, "send") >= 0;
    if (has_activity)
        CHECK_NEAR(value(m, GTEL_M_ACTIVITY, "xmx"), 0.45, 1e-9);
    if (has_stalls)
        CHECK_NEAR(value(m, GTEL_M_STALL_SHARE, "send"), 0.75, 1e-9);
    CHECK(step > 0 || n == 0);
    CHECK(is_all_closed());
}

static void walk_one(struct machine *m, unsigned at, uint32_t code)
{
    size_t failed_step = WALK_STEPS;
    start_lane(m);
    spy.fail_at = at;
    spy.fail_code = code;
    for (size_t i = 0; i < WALK_STEPS; i++) {
        gather(m, walk_steps[i]);
        if (spy.failed_name && failed_step == WALK_STEPS)
            failed_step = i;
        check_figures(m, i);
        bool is_lasting = spy.failed_name &&
                          (strcmp(spy.failed_name, "zeInit") == 0 || is_lookup(spy.failed_name));
        /* Told by the gather after the next window, a try of which is due at once. */
        if (i == failed_step + 2 && is_transient(code) && !is_lasting)
            CHECK(value(m, GTEL_M_ACTIVITY, "xmx") >= 0 &&
                  value(m, GTEL_M_STALL_SHARE, "send") >= 0);
        if (i == WALK_STEPS - 1 && !(spy.failed_name && strcmp(spy.failed_name, "zeInit") == 0))
            CHECK(value(m, GTEL_M_ACTIVITY, "xmx") >= 0 &&
                  value(m, GTEL_M_STALL_SHARE, "send") >= 0);
    }
    CHECK(spy.logs[GTEL_LOG_WARNING] <= 1);
    CHECK_INT(spy.early, 0);
    gtel_group_done(&m->group);
    CHECK_INT(spy.libraries, 0);
}

static void test_faults(void)
{
    static const uint32_t codes[] = {0x1,        0x70000001, 0x70000002, 0x70000003, 0x70000006,
                                     0x70000007, 0x70010000, 0x70010001, 0x70020000, 0x70020001,
                                     0x78000001, 0x78000002, 0x78000003, 0x78000004, 0x78000005,
                                     0x78000006, 0x78000007, 0x78000008, 0x7800000c, 0x7800000d,
                                     0x7800001b, 0x78000020, 0x7ffffffe};
    struct machine m;
    unsigned calls = 0;
    char label[100];
    if (!begin(&m, PARANOID("0")))
        return;
    for (size_t i = 0; i < 4; i++)
        gather(&m, walk_steps[i]);
    calls = spy.calls;
    CHECK(calls > 60);
    gtel_group_done(&m.group);
    for (unsigned at = 1; at <= calls; at++)
        for (size_t i = 0; i < GTEL_ARRAY_LEN(codes); i++) {
            (void)snprintf(label, sizeof(label), "call %u with code 0x%x", at, (unsigned)codes[i]);
            test_label = label;
            rewind_machine(&m);
            walk_one(&m, at, codes[i]);
        }
    test_label = "";
    rewind_machine(&m);
    start_lane(&m);
    finish(&m);
}

int main(void)
{
    test_faults();
    return test_result();
}
