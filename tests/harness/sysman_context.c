/* SPDX-License-Identifier: MIT */
/* The Sysman source with a whole context around its lane, on recorded machines. */
#include "harness/sysman_machine.h"

#include "harness/test.h"

#define SECOND 1000000000u

void start_whole(struct machine *m, const struct gtel_sink *sink)
{
    struct gtel_setup setup = {
        .env = &m->env, .options = &m->options, .sink = sink, .interval_ns = SECOND};
    forget_calls();
    CHECK_INT(gtel_context_new(&setup, &m->context), 0);
}

void gather_whole(struct machine *m, unsigned seconds)
{
    go_on(m, seconds);
    gtel_context_gather(m->context);
}

void end_whole(struct machine *m)
{
    gtel_context_free(m->context);
    m->context = NULL;
    CHECK_INT(spy.closes, spy.opens);
    CHECK_INT(spy.early, 0);
}
