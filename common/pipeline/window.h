/* SPDX-License-Identifier: MIT */
/*
 * Folding of several samples within one interval, by kind: counters and text keep the last, gauges
 * and ratios give mean, minimum and maximum, states the last, minimum and maximum: between "ok" and
 * "critical" is no "warning" that anything was in.
 */
#ifndef GTEL_PIPELINE_WINDOW_H
#define GTEL_PIPELINE_WINDOW_H

#include "pipeline/sink.h"

struct gtel_window {
    uint32_t n; /* samples since the last reset */
    double sum;
    double min;
    double max;
};

void gtel_window_reset(struct gtel_window *window);
void gtel_window_add(struct gtel_window *window, const struct gtel_reading *sample);
/*
 * Hands the folded readings to the sink: last, or their mean where several samples
 * were taken, then minimum and maximum. Nothing when the window is empty.
 */
void gtel_window_emit(const struct gtel_window *window, const struct gtel_reading *last,
                      const struct gtel_sink *sink);

#endif
