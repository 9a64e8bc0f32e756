/* SPDX-License-Identifier: MIT */
/*
 * The sink for people: one row per GPU, below it the processes that use most of it.
 *
 * What is not known is "-". Nothing is kept from one gather to the next. For a terminal, not for
 * parsing: control characters of names never arrive there.
 */
#ifndef GTEL_EXECD_TABLE_H
#define GTEL_EXECD_TABLE_H

#include "base/buf.h"
#include "pipeline/sink.h"

enum { GTEL_TABLE_PROCESSES = 5 };

struct gtel_table_process {
    struct gtel_str dim[GTEL_DIMS_MAX];
    double busy; /* percent; less than 0: unknown */
    double bytes;
};

struct gtel_table {
    struct gtel_buf *out;
    struct gtel_buf text;
    const struct gtel_device *device; /* of the row being collected; NULL: none yet */
    double value[GTEL_M_COUNT];       /* of that GPU as a whole, as its fields; NAN: unknown */
    struct gtel_table_process process[GTEL_TABLE_PROCESSES + 1]; /* the busiest first */
    size_t n;
    bool clears; /* each table takes the place of the one before */
};

/* out is the caller's: tables are appended to it, with clears each behind a clear screen. */
void gtel_table_init(struct gtel_table *table, struct gtel_buf *out, bool clears);
void gtel_table_done(struct gtel_table *table);
/* Valid as long as table stays where it is. */
struct gtel_sink gtel_table_sink(struct gtel_table *table);

#endif
