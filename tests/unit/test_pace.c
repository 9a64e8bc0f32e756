/* SPDX-License-Identifier: MIT */
/* The program's own clock: absolute ticks, none made up for. */
#include "execd/pace.h"

#include "base/compiler.h"
#include "base/str.h"
#include "test.h"

static const struct tick_case {
    const char *label;
    uint64_t tick_ns;
    uint64_t interval_ns;
    uint64_t now_ns;
    uint64_t want;
} tick_cases[] = {
    {"before the tick", 1000, 100, 999, 1000},
    {"at the tick", 1000, 100, 1000, 1100},
    {"a little late", 1000, 100, 1001, 1100},
    {"just before the next", 1000, 100, 1099, 1100},
    {"at the next", 1000, 100, 1100, 1200},
    {"many missed", 1000, 100, 98765, 98800},
    {"a long stall", 1, 3600000000000, 10000000000000000000u, 10000000800000000001u},
};

int main(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(tick_cases); i++) {
        const struct tick_case *c = &tick_cases[i];
        test_label = c->label;
        uint64_t next = gtel_pace_next_tick(c->tick_ns, c->interval_ns, c->now_ns);
        CHECK_INT(next, c->want);
        CHECK(next > c->now_ns && (next - c->tick_ns) % c->interval_ns == 0);
    }
    test_label = "no drift";
    uint64_t tick = 7;
    for (uint64_t now = 7; now < 100000; now += 33)
        tick = gtel_pace_next_tick(tick, 100, now);
    CHECK_INT(tick % 100, 7);
    return test_result();
}
