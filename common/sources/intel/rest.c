/* SPDX-License-Identifier: MIT */
/* When to leave an idle GPU alone so that it can fall asleep. */
#include "sources/intel/rest.h"

static const uint64_t second_ns = 1000000000;

bool gtel_intel_rest_is_on(struct gtel_intel_rest *rest, uint64_t now_ns)
{
    if (rest->until_ns == 0)
        return false;
    if (now_ns < rest->until_ns)
        return true;
    rest->until_ns = 0;
    uint64_t pause = rest->pause_ns ? 2 * rest->pause_ns : 60 * second_ns;
    rest->pause_ns = pause < 960 * second_ns ? pause : 960 * second_ns;
    rest->retry_ns = now_ns + rest->pause_ns;
    return false;
}

void gtel_intel_rest_note(struct gtel_intel_rest *rest, bool is_idle, uint64_t now_ns)
{
    uint64_t before = rest->seen_ns;
    rest->seen_ns = now_ns;
    /* Nothing is known of the time before the first look; read rarely, it can sleep in between. */
    if (!is_idle || before == 0 || now_ns - before > rest->delay_ns + second_ns) {
        rest->idle_since_ns = 0;
        return;
    }
    if (rest->idle_since_ns == 0)
        rest->idle_since_ns = before;
    if (rest->delay_ns == 0 || now_ns < rest->retry_ns ||
        now_ns - rest->idle_since_ns < rest->delay_ns)
        return;
    /* A second more than the delay: the kernel suspends by a timer with slack. */
    rest->until_ns = now_ns + rest->delay_ns + second_ns;
    rest->idle_since_ns = 0;
}

void gtel_intel_rest_slept(struct gtel_intel_rest *rest)
{
    uint64_t delay_ns = rest->delay_ns;
    *rest = (struct gtel_intel_rest){.delay_ns = delay_ns};
}
