/* SPDX-License-Identifier: MIT */
/* Shares of one client: each kind of counter, counters that go back, births, spans of time. */
#include "sources/clients/table.h"
#include "harness/test.h"

#include <errno.h>

#define S 1000000000ull
#define TIME(n, engines)                                                                           \
    {                                                                                              \
        .kind = GTEL_SHARE_TIME, .count = (n), .capacity = (engines)                               \
    }
#define CYCLES(n, all, engines)                                                                    \
    {                                                                                              \
        .kind = GTEL_SHARE_CYCLES, .count = (n), .total = (all), .capacity = (engines)             \
    }
#define LUMPY(n)                                                                                   \
    {                                                                                              \
        .kind = GTEL_SHARE_TIME, .count = (n), .capacity = 1, .is_lumpy = true                     \
    }

enum { STEPS_MAX = 7 };

struct step {
    struct gtel_share_counter sample;
    uint64_t dt_ns; /* since the step before */
    int rc;
    double share;
};

static const struct {
    const char *label;
    size_t n;
    struct step step[STEPS_MAX];
} cases[] = {
    {"nanoseconds, one engine",
     3,
     {{TIME(5 * S, 1), 0, -EAGAIN, 0},
      {TIME(5 * S + S / 4, 1), S, 0, 0.25},
      {TIME(5 * S + S / 4, 1), S, 0, 0}}},
    {"nanoseconds, two engines: half of it",
     2,
     {{TIME(0, 2), 0, -EAGAIN, 0}, {TIME(50000000, 2), S, 0, 0.025}}},
    {"nanoseconds over the client's own time of 300 ms",
     2,
     {{TIME(0, 1), 0, -EAGAIN, 0}, {TIME(30000000, 1), 300000000, 0, 0.1}}},
    {"no capacity is one engine", 2, {{TIME(0, 0), 0, -EAGAIN, 0}, {TIME(S / 2, 0), S, 0, 0.5}}},
    {"a little too much is noise",
     2,
     {{TIME(0, 1), 0, -EAGAIN, 0}, {TIME(1040000000, 1), S, 0, 1}}},
    {"more than the engines can do is no share, and the base of the next one",
     3,
     {{TIME(0, 1), 0, -EAGAIN, 0},
      {TIME(2 * S, 1), S, -ERANGE, 0},
      {TIME(2 * S + S / 2, 1), S, 0, 0.5}}},
    {"5 % too much is noise, and all of the time",
     2,
     {{TIME(0, 1), 0, -EAGAIN, 0}, {TIME(1050000000, 1), S, 0, 1}}},
    {"a nanosecond more is not",
     2,
     {{TIME(0, 1), 0, -EAGAIN, 0}, {TIME(1050000001, 1), S, -ERANGE, 0}}},
    {"two engines can do that", 2, {{TIME(0, 2), 0, -EAGAIN, 0}, {TIME(2 * S, 2), S, 0, 1}}},
    {"a job that is counted at its end is all of the time",
     3,
     {{LUMPY(0), 0, -EAGAIN, 0}, {LUMPY(3 * S), S, 0, 1}, {LUMPY(3 * S), S, 0, 0}}},
    {"no time has passed: the base stays",
     3,
     {{TIME(0, 1), 0, -EAGAIN, 0}, {TIME(S / 2, 1), 0, -EAGAIN, 0}, {TIME(S / 2, 1), S, 0, 0.5}}},
    {"cycles of all cycles, whatever our clock says",
     2,
     {{CYCLES(1000, 100000, 1), 0, -EAGAIN, 0}, {CYCLES(5000, 120000, 1), 7 * S, 0, 0.2}}},
    {"cycles with capacity",
     2,
     {{CYCLES(0, 0, 4), 0, -EAGAIN, 0}, {CYCLES(80, 100, 4), S, 0, 0.2}}},
    {"the GPU's clock stands still: the base stays",
     3,
     {{CYCLES(0, 100, 1), 0, -EAGAIN, 0},
      {CYCLES(0, 100, 1), S, -EAGAIN, 0},
      {CYCLES(50, 200, 1), S, 0, 0.5}}},
    {"the GPU's clock restarts: one interval without a share",
     3,
     {{CYCLES(500, 1000, 1), 0, -EAGAIN, 0},
      {CYCLES(510, 100, 1), S, -EAGAIN, 0},
      {CYCLES(560, 200, 1), S, 0, 0.5}}},
    {"both restart",
     3,
     {{CYCLES(500, 1000, 1), 0, -EAGAIN, 0},
      {CYCLES(5, 10, 1), S, -EAGAIN, 0},
      {CYCLES(15, 110, 1), S, 0, 0.1}}},
    {"goes back and catches up: never negative, nothing counted twice",
     5,
     {{TIME(1000000000, 1), 0, -EAGAIN, 0},
      {TIME(1100000000, 1), S, 0, 0.1},
      {TIME(1050000000, 1), S, 1, 0},
      {TIME(1150000000, 1), S, 0, 0.05},
      {TIME(1250000000, 1), S, 0, 0.1}}},
    {"stays below: a new counter",
     6,
     {{TIME(9 * S, 1), 0, -EAGAIN, 0},
      {TIME(1 * S, 1), S, 1, 0},
      {TIME(1 * S + 100000000, 1), S, 1, 0},
      {TIME(1 * S + 200000000, 1), S, -EAGAIN, 0},
      {TIME(1 * S + 300000000, 1), S, 0, 0.1},
      {TIME(1 * S + 300000000, 1), S, 0, 0}}},
    {"cycles below: the total goes on",
     4,
     {{CYCLES(500, 1000, 1), 0, -EAGAIN, 0},
      {CYCLES(400, 1100, 1), S, 1, 0},
      {CYCLES(510, 1200, 1), S, 0, 0.1},
      {CYCLES(520, 1300, 1), S, 0, 0.1}}},
    {"another kind of counter has no base",
     3,
     {{TIME(S, 1), 0, -EAGAIN, 0},
      {CYCLES(10, 100, 1), S, -EAGAIN, 0},
      {CYCLES(20, 200, 1), S, 0, 0.1}}},
    {"no counter", 2, {{{0}, 0, -EAGAIN, 0}, {{0}, S, -EAGAIN, 0}}},
    {"64 bits",
     2,
     {{CYCLES(UINT64_MAX - 100, UINT64_MAX - 1000, 1), 0, -EAGAIN, 0},
      {CYCLES(UINT64_MAX, UINT64_MAX, 1), S, 0, 0.1}}},
};

static void test_feed(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gtel_share share = {0};
        test_label = cases[i].label;
        for (size_t k = 0; k < cases[i].n; k++) {
            const struct step *step = &cases[i].step[k];
            double got = -1;
            CHECK_INT(gtel_share_feed(&share, &step->sample, step->dt_ns, &got), step->rc);
            CHECK_NEAR(got, step->rc < 0 ? -1 : step->share, 1e-12);
        }
    }
    test_label = "";
}

static const struct {
    const char *label;
    struct gtel_share_counter sample;
    uint64_t dt_ns;
    uint64_t total_before;
    int rc;
    double share;
} births[] = {
    {"the whole count", TIME(200000000, 1), S, 0, 0, 0.2},
    {"the whole count, two engines", TIME(200000000, 2), S, 0, 0, 0.1},
    {"has done nothing at any age", TIME(0, 1), 0, 0, 0, 0},
    {"older than its process", TIME(5 * S, 1), S, 0, -ERANGE, 0},
    {"older than its process, counted in lumps", LUMPY(5 * S), S, 0, -ERANGE, 0},
    {"5 % too much is noise", TIME(1050000000, 1), S, 0, 0, 1},
    {"a nanosecond more is not", TIME(1050000001, 1), S, 0, -ERANGE, 0},
    {"no time", TIME(1, 1), 0, 0, -EAGAIN, 0},
    {"a nanosecond", TIME(1, 1), 1, 0, 0, 1},
    {"cycles, since the first one of others", CYCLES(300, 1001, 1), S, 1, 0, 0.3},
    {"cycles, none since", CYCLES(300, 1000, 1), S, 1000, -EAGAIN, 0},
    {"cycles, with the total of others", CYCLES(300, 2000, 1), S, 1000, 0, 0.3},
    {"cycles, no other client", CYCLES(300, 2000, 1), S, 0, -EAGAIN, 0},
    {"cycles, the clock restarted", CYCLES(300, 2000, 1), S, 3000, -EAGAIN, 0},
    {"cycles, has done nothing", CYCLES(0, 2000, 1), S, 0, 0, 0},
    {"no counter", {0}, S, 0, -EAGAIN, 0},
};

static void test_born(void)
{
    for (size_t i = 0; i < sizeof(births) / sizeof(births[0]); i++) {
        struct gtel_share share = {0};
        double got = -1;
        test_label = births[i].label;
        CHECK_INT(gtel_share_born(&share, &births[i].sample, births[i].dt_ns,
                                  births[i].total_before, &got),
                  births[i].rc);
        CHECK_NEAR(got, births[i].rc < 0 ? -1 : births[i].share, 1e-12);
    }
    /* What was counted at birth is the base of what comes. */
    struct gtel_share share = {0};
    const struct gtel_share_counter first = TIME(200000000, 1);
    const struct gtel_share_counter second = TIME(300000000, 1);
    double got = -1;
    test_label = "after birth";
    CHECK_INT(gtel_share_born(&share, &first, S, 0, &got), 0);
    CHECK_INT(gtel_share_feed(&share, &second, S, &got), 0);
    CHECK_NEAR(got, 0.1, 1e-12);
    test_label = "";
}

static const struct {
    const char *label;
    size_t n;
    struct {
        uint64_t now_ms;
        uint64_t suspended_ms;
        enum gtel_share_span span;
        uint64_t dt_ms;
    } step[8];
} spans[] = {
    {"steady",
     3,
     {{0, 0, GTEL_SPAN_FIRST, 0},
      {1000, 0, GTEL_SPAN_WHOLE, 1000},
      {2000, 0, GTEL_SPAN_WHOLE, 1000}}},
    {"a late call and the one that catches up",
     4,
     {{1000, 0, GTEL_SPAN_FIRST, 0},
      {2000, 0, GTEL_SPAN_WHOLE, 1000},
      {2050, 0, GTEL_SPAN_SHORT, 50},
      {3000, 0, GTEL_SPAN_WHOLE, 1000}}},
    {"the same instant",
     3,
     {{5, 0, GTEL_SPAN_FIRST, 0}, {5, 0, GTEL_SPAN_SHORT, 0}, {105, 0, GTEL_SPAN_WHOLE, 100}}},
    {"the host slept",
     4,
     {{1000, 7, GTEL_SPAN_FIRST, 0},
      {2000, 7, GTEL_SPAN_WHOLE, 1000},
      {3000, 60000, GTEL_SPAN_GAP, 1000},
      {4000, 60000, GTEL_SPAN_WHOLE, 1000}}},
    {"the host's sleep is never reported quite the same",
     4,
     {{1000, 7, GTEL_SPAN_FIRST, 0},
      {2000, 8, GTEL_SPAN_WHOLE, 1000},
      {3000, 6, GTEL_SPAN_WHOLE, 1000},
      {4000, 0, GTEL_SPAN_WHOLE, 1000}}},
    {"nobody asked for long, then as before",
     4,
     {{0, 0, GTEL_SPAN_FIRST, 0},
      {1000, 0, GTEL_SPAN_WHOLE, 1000},
      {61000, 0, GTEL_SPAN_GAP, 60000},
      {62000, 0, GTEL_SPAN_WHOLE, 1000}}},
    {"a new, slow pace",
     5,
     {{0, 0, GTEL_SPAN_FIRST, 0},
      {1000, 0, GTEL_SPAN_WHOLE, 1000},
      {61000, 0, GTEL_SPAN_GAP, 60000},
      {121000, 0, GTEL_SPAN_WHOLE, 60000},
      {181000, 0, GTEL_SPAN_WHOLE, 60000}}},
    {"a new, fast pace",
     5,
     {{0, 0, GTEL_SPAN_FIRST, 0},
      {10000, 0, GTEL_SPAN_WHOLE, 10000},
      {10500, 0, GTEL_SPAN_SHORT, 500},
      {11000, 0, GTEL_SPAN_WHOLE, 1000},
      {11500, 0, GTEL_SPAN_WHOLE, 500}}},
    {"below five seconds nothing is a gap",
     3,
     {{0, 0, GTEL_SPAN_FIRST, 0},
      {100, 0, GTEL_SPAN_WHOLE, 100},
      {4900, 0, GTEL_SPAN_WHOLE, 4800}}},
    {"five seconds are no gap",
     3,
     {{0, 0, GTEL_SPAN_FIRST, 0},
      {100, 0, GTEL_SPAN_WHOLE, 100},
      {5100, 0, GTEL_SPAN_WHOLE, 5000}}},
    {"more are one",
     3,
     {{0, 0, GTEL_SPAN_FIRST, 0}, {100, 0, GTEL_SPAN_WHOLE, 100}, {5101, 0, GTEL_SPAN_GAP, 5001}}},
    {"ten intervals are no gap",
     3,
     {{0, 0, GTEL_SPAN_FIRST, 0},
      {1000, 0, GTEL_SPAN_WHOLE, 1000},
      {11000, 0, GTEL_SPAN_WHOLE, 10000}}},
    {"more than ten are one",
     3,
     {{0, 0, GTEL_SPAN_FIRST, 0},
      {1000, 0, GTEL_SPAN_WHOLE, 1000},
      {11001, 0, GTEL_SPAN_GAP, 10001}}},
    {"a tenth of a second is no sleep",
     3,
     {{0, 0, GTEL_SPAN_FIRST, 0},
      {1000, 100, GTEL_SPAN_WHOLE, 1000},
      {2000, 201, GTEL_SPAN_GAP, 1000}}},
};

static void test_spans(void)
{
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        struct gtel_share_clock clock = {0};
        test_label = spans[i].label;
        for (size_t k = 0; k < spans[i].n; k++) {
            uint64_t dt_ns = 0;
            CHECK_INT(gtel_share_tick(&clock, spans[i].step[k].now_ms * 1000000,
                                      spans[i].step[k].suspended_ms * 1000000, &dt_ns),
                      spans[i].step[k].span);
            CHECK_INT(dt_ns, spans[i].step[k].dt_ms * 1000000);
        }
    }
    test_label = "";
}

static void test_below(void)
{
    struct gtel_client client = {0};
    test_label = "of a client";
    CHECK(!gtel_client_is_below(&client));
    for (size_t e = 0; e < GTEL_CLIENT_ENGINES_MAX; e++) {
        client.share[e].below = 1;
        CHECK(gtel_client_is_below(&client));
        client.share[e].below = 0;
    }
    test_label = "";
}

int main(void)
{
    test_below();
    test_feed();
    test_born();
    test_spans();
    return test_result();
}
