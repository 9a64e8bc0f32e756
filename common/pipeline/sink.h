/* SPDX-License-Identifier: MIT */
/*
 * What a sink is: where a gather's readings go.
 *
 * The context calls begin, put for each reading, end; once for the readings of this gather, and
 * before that once for each late helper whose answer has come in meanwhile, with that answer's own
 * time. Readings come in a fixed order: the program itself last, devices as they were found; within
 * a device by measurement, then dimensions, then metric, so that the fields of one line follow each
 * other. Internal metrics (without a field) never arrive.
 */
#ifndef GTEL_PIPELINE_SINK_H
#define GTEL_PIPELINE_SINK_H

#include "pipeline/reading.h"

enum gtel_aspect {
    GTEL_ASPECT_VALUE, /* the value, or the mean of several samples */
    GTEL_ASPECT_MIN,   /* these two only where several samples were taken in the interval */
    GTEL_ASPECT_MAX
};

struct gtel_sink {
    void *arg;
    /* wall_ns: since 1970, the same for all that follows. This one and end may be NULL. */
    void (*begin)(void *arg, uint64_t wall_ns);
    void (*put)(void *arg, const struct gtel_reading *reading, enum gtel_aspect aspect);
    void (*end)(void *arg);
};

static inline void gtel_sink_begin(const struct gtel_sink *sink, uint64_t wall_ns)
{
    if (sink->begin)
        sink->begin(sink->arg, wall_ns);
}

static inline void gtel_sink_end(const struct gtel_sink *sink)
{
    if (sink->end)
        sink->end(sink->arg);
}

#endif
