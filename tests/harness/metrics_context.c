/* SPDX-License-Identifier: MIT */
/* The source of Level Zero's metrics with a whole context around its lane. */
#include "harness/metrics_machine.h"

#include "harness/test.h"

#define SECOND 1000000000u

void start_whole(struct machine *m, const struct gtel_sink *sink)
{
    struct gtel_setup setup = {
        .env = &m->env, .options = &m->options, .sink = sink, .interval_ns = SECOND};
    forget_calls();
    CHECK_INT(gtel_context_new(&setup, &m->context), 0);
}

static uint64_t due(const struct machine *m)
{
    return gtel_context_due(m->context);
}

static void tick(struct machine *m)
{
    gtel_context_tick(m->context);
}

void gather_whole(struct machine *m, unsigned seconds)
{
    pass_ms(m, seconds * 1000, due, tick);
    gtel_context_gather(m->context);
}

void end_whole(struct machine *m)
{
    gtel_context_free(m->context);
    m->context = NULL;
    CHECK(is_all_closed());
    CHECK_INT(spy.libraries, 0);
    CHECK_INT(spy.early, 0);
    CHECK_INT(spy.dead, 0);
}
