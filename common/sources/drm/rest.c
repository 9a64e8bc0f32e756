/* SPDX-License-Identifier: MIT */
/* When to leave an idle GPU alone so that it can fall asleep. */
#include "sources/drm/rest.h"

static const uint64_t second_ns = 1000000000;

/*
 * xe's delay is 1 s, i915's 10 s, and both may be set to anything. A rest comes after a full
 * reading.
 */
enum { BLIND_SECONDS_MAX = 4, WATCHED_SECONDS_MAX = 90, PAUSE_SECONDS = 60 };

/*
 * When a GPU that nobody has used since must sleep: the timer of its delay may be late by a quarter
 * of that (kernel: drivers/base/power/runtime.c, rpm_suspend); and a second to fall asleep.
 */
static uint64_t latest_sleep(const struct gtel_rest *rest)
{
    return rest->delay_ns + rest->delay_ns / 4 + second_ns;
}

uint64_t gtel_rest_delay(uint64_t delay_ns, bool is_watched)
{
    uint64_t seconds = is_watched ? WATCHED_SECONDS_MAX : BLIND_SECONDS_MAX;
    return delay_ns <= seconds * second_ns ? delay_ns : 0;
}

bool gtel_rest_is_on(struct gtel_rest *rest, uint64_t now_ns)
{
    if (rest->until_ns == 0)
        return false;
    if (now_ns < rest->until_ns)
        return true;
    rest->until_ns = 0;
    uint64_t pause = rest->pause_ns ? 2 * rest->pause_ns : PAUSE_SECONDS * second_ns;
    rest->pause_ns = pause < 960 * second_ns ? pause : 960 * second_ns;
    rest->retry_ns = now_ns + rest->pause_ns;
    return false;
}

void gtel_rest_note(struct gtel_rest *rest, bool is_idle, uint64_t now_ns)
{
    uint64_t before = rest->seen_ns;
    rest->seen_ns = now_ns;
    /* Nothing is known of the time before the first check; read rarely, it can sleep in between. */
    if (!is_idle || before == 0 || now_ns - before > latest_sleep(rest)) {
        rest->idle_since_ns = 0;
        return;
    }
    if (rest->idle_since_ns == 0)
        rest->idle_since_ns = before;
    if (rest->delay_ns == 0 || now_ns < rest->retry_ns ||
        now_ns - rest->idle_since_ns < rest->delay_ns)
        return;
    rest->until_ns = now_ns + latest_sleep(rest);
    rest->idle_since_ns = 0;
}

/* What holds a GPU is there to stay more often than work is: the rest was short, but not lost. */
void gtel_rest_end(struct gtel_rest *rest, uint64_t now_ns)
{
    if (rest->until_ns == 0)
        return;
    rest->until_ns = 0;
    rest->retry_ns = now_ns + PAUSE_SECONDS * second_ns;
}

void gtel_rest_slept(struct gtel_rest *rest)
{
    uint64_t delay_ns = rest->delay_ns;
    *rest = (struct gtel_rest){.delay_ns = delay_ns};
}
