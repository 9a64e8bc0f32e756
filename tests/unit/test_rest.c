/* SPDX-License-Identifier: MIT */
/* When an idle GPU is left alone: after its delay, until it must have slept, then more rarely. */
#include "sources/drm/rest.h"

#include "base/compiler.h"
#include "harness/test.h"

static const uint64_t second_ns = 1000000000;

/*
 * Reads an idle GPU each step seconds from 1 s on, unless it is left alone, and returns when the
 * first rest begins; 0: never within the time.
 */
static uint64_t first_rest(struct gtel_rest *rest, uint64_t step, uint64_t seconds)
{
    for (uint64_t t = 1; t <= seconds; t += step) {
        if (gtel_rest_is_on(rest, t * second_ns))
            return t;
        gtel_rest_note(rest, true, t * second_ns);
    }
    return 0;
}

static void test_delays(void)
{
    static const struct {
        const char *label;
        uint64_t seconds;
        bool is_watched;
        uint64_t want;
    } cases[] = {
        {"none", 0, true, 0},
        {"short", 4, false, 4},
        {"too long to be blind for", 5, false, 0},
        {"long, and something reports", 90, true, 90},
        {"too long", 91, true, 0},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        test_label = cases[i].label;
        CHECK_INT(gtel_rest_delay(cases[i].seconds * second_ns, cases[i].is_watched),
                  cases[i].want * second_ns);
    }
}

static void test_begin(void)
{
    static const struct {
        const char *label;
        uint64_t delay;
        uint64_t step;
        uint64_t want; /* the first time that it is not read */
    } cases[] = {
        {"it does not suspend", 0, 1, 0},
        {"read each second", 10, 1, 12},
        {"read every five seconds", 10, 5, 16},
        {"read every thirteen seconds, and it may not sleep in between", 10, 13, 27},
        {"read so rarely that it can sleep in between", 10, 14, 0},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_rest rest = {.delay_ns = cases[i].delay * second_ns};
        test_label = cases[i].label;
        CHECK_INT(first_rest(&rest, cases[i].step, 300), cases[i].want);
    }
    test_label = "two readings";
    for (uint64_t gap = 9; gap <= 14; gap++) {
        struct gtel_rest two = {.delay_ns = 10 * second_ns};
        gtel_rest_note(&two, true, second_ns);
        gtel_rest_note(&two, true, (1 + gap) * second_ns);
        CHECK(gtel_rest_is_on(&two, (2 + gap) * second_ns) == (gap >= 10 && gap <= 13));
    }
    test_label = "busy";
    struct gtel_rest rest = {.delay_ns = 10 * second_ns};
    for (uint64_t t = 1; t < 100; t++) {
        CHECK(!gtel_rest_is_on(&rest, t * second_ns));
        gtel_rest_note(&rest, t % 10 != 0, t * second_ns);
    }
}

/* Still awake after each rest: the next ones wait for 1, 2, 4, 8 and then always 16 minutes. */
static void test_pauses(void)
{
    static const uint64_t minutes[] = {1, 2, 4, 8, 16, 16};
    struct gtel_rest rest = {.delay_ns = 10 * second_ns};
    uint64_t t = first_rest(&rest, 1, 60);
    test_label = "pauses";
    for (size_t i = 0; i < GTEL_ARRAY_LEN(minutes); i++) {
        uint64_t begun = t;
        while (gtel_rest_is_on(&rest, t * second_ns))
            t++;
        CHECK_INT(t - begun, 13); /* of 13.5; and the second of the reading before */
        uint64_t ended = t;
        for (; !gtel_rest_is_on(&rest, t * second_ns) && t < ended + 7200; t++)
            gtel_rest_note(&rest, true, t * second_ns);
        CHECK_INT(t - ended, minutes[i] * 60 + 1);
    }
    gtel_rest_slept(&rest);
    CHECK(!gtel_rest_is_on(&rest, t * second_ns));
    for (uint64_t first = t; t < first + 100 && !gtel_rest_is_on(&rest, t * second_ns); t++)
        gtel_rest_note(&rest, true, t * second_ns);
    while (gtel_rest_is_on(&rest, t * second_ns))
        t++;
    CHECK_INT(rest.retry_ns, (t + 60) * second_ns); /* all forgotten but the delay */
}

/* Somebody uses it: no rest for a minute, and the pauses stay as they were. */
static void test_end(void)
{
    struct gtel_rest rest = {.delay_ns = 10 * second_ns};
    test_label = "end";
    gtel_rest_end(&rest, second_ns); /* of none */
    CHECK_INT(first_rest(&rest, 1, 60), 12);
    gtel_rest_end(&rest, 15 * second_ns);
    uint64_t t = 15;
    for (; !gtel_rest_is_on(&rest, t * second_ns) && t < 1000; t++)
        gtel_rest_note(&rest, true, t * second_ns);
    CHECK_INT(t, 15 + 60 + 1);
    CHECK_INT(rest.pause_ns, 0);
}

int main(void)
{
    test_delays();
    test_begin();
    test_pauses();
    test_end();
    return test_result();
}
