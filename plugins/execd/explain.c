/* SPDX-License-Identifier: MIT */
/* The sink behind --explain. */
#include "execd/explain.h"

#include "gtel.h"

enum { FIELD_WIDTH = 28, VALUE_WIDTH = 18 };

static void begin(void *arg, uint64_t wall_ns)
{
    struct gtel_explain *explain = arg;
    (void)wall_ns;
    gtel_buf_reset(&explain->last);
}

/* Fills up with blanks from the byte at start to a column, and at least one. */
static void pad(struct gtel_buf *buf, size_t start, size_t width)
{
    do
        gtel_buf_char(buf, ' ');
    while (!buf->has_failed && buf->n - start < width);
}

static void put_source(struct gtel_buf *buf, const struct gtel_reading *reading)
{
    const char *origin = gtel_reading_origin(reading);
    const char *how = reading->is_derived ? ", rate of a counter" : "";
    if (reading->is_derived && reading->metric == GTEL_M_GPU_BUSY)
        how = ", the busiest engine class";
    if (reading->is_derived && reading->metric == GTEL_M_GPU_THROTTLED)
        how = ", any of its reasons";
    if (reading->source != GTEL_SOURCE_CORE)
        gtel_buf_printf(buf, "%s: %s%s", gtel_sources[reading->source]->name, origin, how);
    else if (reading->is_derived)
        gtel_buf_printf(buf, "gtel: %s", origin);
    else
        gtel_buf_str(buf, GTEL_STR("gtel: counted by the program"));
}

static void put(void *arg, const struct gtel_reading *reading, enum gtel_aspect aspect)
{
    struct gtel_explain *explain = arg;
    struct gtel_buf *out = explain->out;
    gtel_buf_reset(&explain->identity);
    gtel_lineproto_identity(&explain->encoder, &explain->identity, reading);
    if (!gtel_str_eq(gtel_buf_text(&explain->identity), gtel_buf_text(&explain->last))) {
        gtel_buf_reset(&explain->last);
        gtel_buf_str(&explain->last, gtel_buf_text(&explain->identity));
        gtel_buf_printf(out, "%.*s\n", GTEL_STR_ARG(gtel_buf_text(&explain->identity)));
    }
    size_t before = out->n;
    gtel_buf_str(out, GTEL_STR("  "));
    gtel_lineproto_field(out, reading, aspect);
    pad(out, before, FIELD_WIDTH);
    size_t value = out->n;
    if (gtel_lineproto_value(out, reading) < 0) {
        gtel_buf_back(out, before);
        return;
    }
    pad(out, value, VALUE_WIDTH);
    put_source(out, reading);
    gtel_buf_char(out, '\n');
    if (out->has_failed)
        gtel_buf_back(out, before);
}

void gtel_explain_init(struct gtel_explain *explain, struct gtel_buf *out, struct gtel_str host)
{
    explain->out = out;
    gtel_lineproto_init(&explain->encoder, out, host);
    gtel_buf_init(&explain->identity, GTEL_LINEPROTO_LINE_MAX);
    gtel_buf_init(&explain->last, GTEL_LINEPROTO_LINE_MAX);
}

void gtel_explain_done(struct gtel_explain *explain)
{
    gtel_buf_done(&explain->identity);
    gtel_buf_done(&explain->last);
}

struct gtel_sink gtel_explain_sink(struct gtel_explain *explain)
{
    return (struct gtel_sink){.arg = explain, .begin = begin, .put = put};
}
