/* SPDX-License-Identifier: MIT */
/* Counters to rates: wraps, resets, gaps, catch-up calls, device clocks; and the window. */
#include "pipeline/delta.h"
#include "pipeline/series.h"
#include "harness/test.h"

#include <errno.h>
#include <math.h>

#define S 1000000000ull

struct step {
    uint64_t host_ns;
    uint64_t t_ns;
    uint64_t value;
    int rc;
    double rate;
};

static const struct delta_case {
    const char *label;
    uint64_t interval_ns;
    struct step step[5];
} cases[] = {
    {"steady",
     1 * S,
     {{1 * S, 1 * S, 100, -EAGAIN, 0},
      {2 * S, 2 * S, 150, 0, 50},
      {3 * S, 3 * S, 150, 0, 0},
      {4 * S, 4 * S, 152, 0, 2}}},
    {"reset gives no rate",
     1 * S,
     {{1 * S, 1 * S, 100, -EAGAIN, 0}, {2 * S, 2 * S, 5, -ERANGE, 0}, {3 * S, 3 * S, 15, 0, 10}}},
    {"gap gives no rate",
     1 * S,
     {{1 * S, 1 * S, 0, -EAGAIN, 0},
      {12 * S, 12 * S, 99, -EAGAIN, 0},
      {13 * S, 13 * S, 100, 0, 1}}},
    {"ten intervals are no gap",
     1 * S,
     {{1 * S, 1 * S, 0, -EAGAIN, 0}, {11 * S, 11 * S, 100, 0, 10}}},
    {"catch-up keeps the base",
     1 * S,
     {{1 * S, 1 * S, 0, -EAGAIN, 0},
      {1 * S + S / 20, 1 * S + S / 20, 1000, -EAGAIN, 0},
      {2 * S, 2 * S, 2000, 0, 2000}}},
    {"the same time twice", 0, {{1 * S, 1 * S, 0, -EAGAIN, 0}, {1 * S, 1 * S, 7, -EAGAIN, 0}}},
    {"device clock",
     1 * S,
     {{1 * S, 500, 10, -EAGAIN, 0},
      {2 * S, 500 + 4 * S, 30, 0, 5},
      {3 * S, 400, 50, -ERANGE, 0},
      {4 * S, 400 + S, 60, 0, 10}}},
    {"device clock stood still", 1 * S, {{1 * S, 5, 10, -EAGAIN, 0}, {2 * S, 5, 10, -EAGAIN, 0}}},
    {"64 bits are subtracted exactly",
     1 * S,
     {{1 * S, 1 * S, 18446744073709551600ull, -EAGAIN, 0},
      {2 * S, 2 * S, 18446744073709551615ull, 0, 15}}},
    {"interval not known", 0, {{1 * S, 1 * S, 0, -EAGAIN, 0}, {1001 * S, 1001 * S, 1000, 0, 1}}},
};

static void test_rates(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_delta_state state = {0};
        test_label = cases[i].label;
        for (const struct step *step = cases[i].step; step->host_ns > 0 && step < cases[i].step + 5;
             step++) {
            struct gtel_reading sample = {
                .t_ns = step->t_ns, .value.u64 = step->value, .value_type = GTEL_VALUE_U64};
            double rate = -1;
            CHECK_INT(gtel_delta_rate(&state, &sample, step->host_ns, cases[i].interval_ns, &rate),
                      step->rc);
            CHECK_NEAR(rate, step->rc == 0 ? step->rate : -1, 1e-9);
        }
    }
}

static void test_shares(void)
{
    double share = -1;
    test_label = "share";
    CHECK_INT(gtel_delta_share(0.5, &share), 0);
    CHECK_NEAR(share, 0.5, 0);
    CHECK_INT(gtel_delta_share(1.04, &share), 0);
    CHECK_NEAR(share, 1, 0);
    CHECK_INT(gtel_delta_share(1.06, &share), -ERANGE);
    CHECK_INT(gtel_delta_share(-0.01, &share), -ERANGE);
}

struct seen {
    size_t n;
    double value[4];
    enum gtel_aspect aspect[4];
};

static void see(void *arg, const struct gtel_reading *reading, enum gtel_aspect aspect)
{
    struct seen *seen = arg;
    seen->value[seen->n] = gtel_reading_number(reading);
    seen->aspect[seen->n++] = aspect;
}

static void test_window(enum gtel_metric metric, size_t want_n, double want_value)
{
    static const uint64_t samples[] = {10, 30, 14};
    struct seen seen = {0};
    struct gtel_sink sink = {&seen, NULL, see, NULL};
    struct gtel_window window = {0};
    struct gtel_reading reading = {.metric = (uint16_t)metric, .value_type = GTEL_VALUE_U64};
    gtel_window_emit(&window, &reading, &sink);
    CHECK_INT(seen.n, 0); /* nothing sampled, nothing said */
    for (size_t i = 0; i < GTEL_ARRAY_LEN(samples); i++) {
        reading.value.u64 = samples[i];
        gtel_window_add(&window, &reading);
    }
    gtel_window_emit(&window, &reading, &sink);
    CHECK_INT(seen.n, want_n);
    CHECK_NEAR(seen.value[0], want_value, 0);
    if (want_n == 3) {
        CHECK_INT(seen.aspect[1], GTEL_ASPECT_MIN);
        CHECK_NEAR(seen.value[1], 10, 0);
        CHECK_INT(seen.aspect[2], GTEL_ASPECT_MAX);
        CHECK_NEAR(seen.value[2], 30, 0);
    }
}

/* The value comes from another path for a while: no difference is taken between the two. */
static void test_paths(void)
{
    static const struct {
        uint8_t source;
        uint8_t origin;
        bool has_device_clock;
        int rc;
    } steps[] = {{1, 0, false, -EAGAIN}, {1, 0, false, 0},      {1, 2, false, -EAGAIN},
                 {1, 2, false, 0},       {1, 2, true, -EAGAIN}, {4, 2, true, -EAGAIN},
                 {4, 2, true, 0}};
    struct gtel_delta_state state = {0};
    test_label = "paths";
    for (size_t i = 0; i < GTEL_ARRAY_LEN(steps); i++) {
        struct gtel_reading reading = {.metric = GTEL_M_ENERGY,
                                       .value_type = GTEL_VALUE_F64,
                                       .t_ns = (i + 1) * S,
                                       .source = steps[i].source,
                                       .origin = steps[i].origin,
                                       .has_device_clock = steps[i].has_device_clock};
        double rate = 0;
        reading.value.f64 = (double)(10 * i);
        CHECK_INT(gtel_delta_rate(&state, &reading, (i + 1) * S, S, &rate), steps[i].rc);
        CHECK_NEAR(rate, steps[i].rc == 0 ? 10 : 0, 0);
    }
}

int main(void)
{
    test_paths();
    test_rates();
    test_shares();
    test_label = "window of a gauge";
    test_window(GTEL_M_GPU_UP, 3, 14); /* the last one: no mean, and its bounds */
    test_window(GTEL_M_FAN_RPM, 3, 18);
    test_label = "window of a counter";
    test_window(GTEL_M_GPU_PCIE_RX, 1, 14);
    test_label = "state";
    static const enum gtel_metric states[] = {GTEL_M_GPU_HEALTH,       GTEL_M_GPU_AWAKE,
                                              GTEL_M_GPU_THROTTLED,    GTEL_M_FREQUENCY_ASLEEP,
                                              GTEL_M_ACTIVITY_DROPPED, GTEL_M_STALL_DROPPED};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(states); i++)
        test_window(states[i], 3, 14);
    return test_result();
}
