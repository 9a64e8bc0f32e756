/* SPDX-License-Identifier: MIT */
/* When to gather, and when to end. */
#include "execd/pace.h"

#include <errno.h>

/* How long a reader that does not read may hold up the end; Telegraf waits 5 s before SIGTERM. */
static const uint64_t blocked_end_ns = 1000000000u;

void gtel_pace_init(struct gtel_pace *pace, uint64_t interval_ns, uint64_t sample_ns,
                    bool watches_input)
{
    uint64_t now = gtel_pace_now();
    *pace = (struct gtel_pace){.in = -1,
                               .signal = -1,
                               .interval_ns = interval_ns,
                               .next_ns = now,
                               .sample_ns = sample_ns,
                               .next_sample_ns = now + sample_ns};
    gtel_pace_open(pace, watches_input);
}

uint64_t gtel_pace_next_tick(uint64_t tick_ns, uint64_t interval_ns, uint64_t now_ns)
{
    if (now_ns < tick_ns)
        return tick_ns;
    return now_ns - (now_ns - tick_ns) % interval_ns + interval_ns;
}

/* What is due now, if anything. */
static bool is_due(struct gtel_pace *pace, enum gtel_pace_event *ret)
{
    uint64_t now = gtel_pace_now();
    bool is_tick = pace->interval_ns > 0 && now >= pace->next_ns && !pace->ending;
    if (pace->ending == GTEL_PACE_OUT_CLOSED || pace->error < 0 ||
        (pace->ending && !pace->is_pending)) {
        *ret = GTEL_PACE_END;
        return true;
    }
    if (pace->is_pending || is_tick) {
        *ret = GTEL_PACE_GATHER;
        if (is_tick)
            pace->next_ns = gtel_pace_next_tick(pace->next_ns, pace->interval_ns, now);
        if (pace->sample_ns > 0)
            pace->next_sample_ns = now + pace->sample_ns;
        pace->is_pending = false;
        return true;
    }
    if (pace->sample_ns > 0 && now >= pace->next_sample_ns) {
        pace->next_sample_ns = gtel_pace_next_tick(pace->next_sample_ns, pace->sample_ns, now);
        *ret = GTEL_PACE_SAMPLE;
        return true;
    }
    if (pace->tick_ns > 0 && now >= pace->tick_ns) {
        *ret = GTEL_PACE_TICK;
        return true;
    }
    return false;
}

enum gtel_pace_event gtel_pace_wait(struct gtel_pace *pace)
{
    enum gtel_pace_event event = GTEL_PACE_END;
    (void)gtel_pace_wait_any(pace, 0, false);
    while (!is_due(pace, &event)) {
        uint64_t until = pace->interval_ns > 0 ? pace->next_ns : UINT64_MAX;
        if (pace->sample_ns > 0 && pace->next_sample_ns < until)
            until = pace->next_sample_ns;
        if (pace->tick_ns > 0 && pace->tick_ns < until)
            until = pace->tick_ns;
        (void)gtel_pace_wait_any(pace, until, false);
    }
    return event;
}

bool gtel_pace_is_cut(const struct gtel_pace *pace)
{
    return pace->ending >= GTEL_PACE_STOPPED || pace->error < 0;
}

void gtel_pace_pause(struct gtel_pace *pace, uint64_t t_ns)
{
    while (!gtel_pace_is_cut(pace) && gtel_pace_now() < t_ns)
        (void)gtel_pace_wait_any(pace, t_ns, false);
}

int gtel_pace_writable(struct gtel_pace *pace)
{
    for (;;) {
        bool is_ready = gtel_pace_wait_any(
            pace, pace->ending ? pace->ending_ns + blocked_end_ns : UINT64_MAX, true);
        if (pace->ending == GTEL_PACE_OUT_CLOSED)
            return -EPIPE;
        if (is_ready)
            return 0;
        if (pace->error < 0)
            return pace->error;
        if (pace->ending && gtel_pace_now() >= pace->ending_ns + blocked_end_ns)
            return -ETIMEDOUT;
    }
}
