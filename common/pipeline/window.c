/* SPDX-License-Identifier: MIT */
/* Folding of several samples within one interval. */
#include "pipeline/window.h"

void gtel_window_reset(struct gtel_window *window)
{
    *window = (struct gtel_window){0};
}

void gtel_window_add(struct gtel_window *window, const struct gtel_reading *sample)
{
    double v = gtel_reading_number(sample);
    window->min = window->n == 0 || v < window->min ? v : window->min;
    window->max = window->n == 0 || v > window->max ? v : window->max;
    window->sum += v;
    window->n++;
}

static void put(const struct gtel_sink *sink, const struct gtel_reading *last, double value,
                enum gtel_aspect aspect)
{
    struct gtel_reading folded = *last;
    folded.value_type = GTEL_VALUE_F64;
    folded.value.f64 = value;
    sink->put(sink->arg, &folded, aspect);
}

void gtel_window_emit(const struct gtel_window *window, const struct gtel_reading *last,
                      const struct gtel_sink *sink)
{
    if (window->n == 0)
        return;
    enum gtel_kind kind = gtel_metric_row((enum gtel_metric)last->metric)->kind;
    bool is_mean = window->n > 1 && (kind == GTEL_KIND_GAUGE || kind == GTEL_KIND_RATIO);
    if (is_mean)
        put(sink, last, window->sum / window->n, GTEL_ASPECT_VALUE);
    else
        sink->put(sink->arg, last, GTEL_ASPECT_VALUE);
    if (!is_mean && (window->n == 1 || kind != GTEL_KIND_STATE))
        return;
    put(sink, last, window->min, GTEL_ASPECT_MIN);
    put(sink, last, window->max, GTEL_ASPECT_MAX);
}
