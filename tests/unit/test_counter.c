/* SPDX-License-Identifier: MIT */
/* Counters that wrap, begin again or jump. */
#include "base/counter.h"
#include "base/compiler.h"
#include "harness/test.h"

#define S UINT64_C(1000000000)
#define BITS_32 (UINT64_C(1) << 32)

static const struct {
    const char *label;
    uint64_t range;
    double most;
    uint64_t last;
    uint64_t value;
    uint64_t after_ns;
    enum gtel_counter_result result;
    uint64_t sum; /* 100 before */
} cases[] = {
    {"it grows", 0, 0, 5, 12, S, GTEL_COUNTER_STEP, 107},
    {"it stays", 0, 0, 5, 5, S, GTEL_COUNTER_STEP, 100},
    {"all 64 bits", 0, 0, 0, UINT64_MAX - 100, S, GTEL_COUNTER_STEP, UINT64_MAX},
    {"it goes back", 0, 0, 12, 5, S, GTEL_COUNTER_RESET, 100},
    {"it wraps", BITS_32, 0, BITS_32 - 1, 4, S, GTEL_COUNTER_STEP, 105},
    {"it wraps to 0", BITS_32, 0, BITS_32 - 1, 0, S, GTEL_COUNTER_STEP, 101},
    {"it goes back from beyond its range", 1000, 0, 1000, 4, S, GTEL_COUNTER_RESET, 100},
    {"as fast as it can", 0, 50, 0, 100, 2 * S, GTEL_COUNTER_STEP, 200},
    {"faster", 0, 50, 0, 101, 2 * S, GTEL_COUNTER_IMPOSSIBLE, 100},
    {"a second's step in less", 0, 50, 0, 50, S / 10, GTEL_COUNTER_STEP, 150},
    {"more than that", 0, 50, 0, 51, S / 10, GTEL_COUNTER_IMPOSSIBLE, 100},
    {"no time between", 0, 50, 0, 50, 0, GTEL_COUNTER_STEP, 150},
    {"a reset that looks like a wrap", BITS_32, 1000, 3000000000, 10, S, GTEL_COUNTER_IMPOSSIBLE,
     100},
    {"just too short for a second wrap", 1000, 10, 999, 4, 100 * S, GTEL_COUNTER_STEP, 105},
    {"it may have wrapped twice", 1000, 10, 999, 4, 100 * S + 1, GTEL_COUNTER_UNKNOWN, 100},
    {"it has not moved, or is through", 1000, 10, 4, 4, 101 * S, GTEL_COUNTER_UNKNOWN, 100},
};

static void test_cases(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_counter counter = {.range = cases[i].range,
                                       .most = cases[i].most,
                                       .last = cases[i].last,
                                       .last_ns = 7 * S,
                                       .sum = 100};
        test_label = cases[i].label;
        CHECK_INT(gtel_counter_add(&counter, cases[i].value, 7 * S + cases[i].after_ns),
                  cases[i].result);
        CHECK_INT(counter.sum, cases[i].sum);
        CHECK_INT(counter.last, cases[i].value);
        CHECK_INT(counter.last_ns, 7 * S + cases[i].after_ns);
    }
}

/* The first value adds nothing; after a result that is no step the next one counts again. */
static void test_course(void)
{
    struct gtel_counter counter = {.range = 1000, .most = 10};
    test_label = "course";
    CHECK_INT(gtel_counter_add(&counter, 990, S), GTEL_COUNTER_FIRST);
    CHECK_INT(counter.sum, 0);
    CHECK_INT(gtel_counter_add(&counter, 995, 2 * S), GTEL_COUNTER_STEP);
    CHECK_INT(gtel_counter_add(&counter, 2, 3 * S), GTEL_COUNTER_STEP);
    CHECK_INT(counter.sum, 12);
    CHECK_INT(gtel_counter_add(&counter, 500, 4 * S), GTEL_COUNTER_IMPOSSIBLE);
    CHECK_INT(gtel_counter_add(&counter, 501, 5 * S), GTEL_COUNTER_STEP);
    CHECK_INT(counter.sum, 13);
}

int main(void)
{
    test_cases();
    test_course();
    return test_result();
}
