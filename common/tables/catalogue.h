/* SPDX-License-Identifier: MIT */
/*
 * The metric table: ids, rows and look-up.
 *
 * The rows are in catalogue.def. Every name, unit, type and text that a user sees about a metric is
 * there and nowhere else: the sinks, `--list-metrics` and the tables of the READMEs read it.
 */
#ifndef GTEL_TABLES_CATALOGUE_H
#define GTEL_TABLES_CATALOGUE_H

#include "base/buf.h"
#include "base/str.h"

/* Tags that distinguish the parts of one GPU, at most: those of gpu_process. */
enum { GTEL_DIMS_MAX = 9 };

enum gtel_measurement {
#define GTEL_MEASUREMENT(id, ...) GTEL_MEASUREMENT_##id,
#include "tables/catalogue.def"
#undef GTEL_MEASUREMENT
    GTEL_MEASUREMENT_COUNT
};

enum gtel_metric {
#define GTEL_METRIC(id, ...) GTEL_M_##id,
#include "tables/catalogue.def"
#undef GTEL_METRIC
    GTEL_M_COUNT,
    GTEL_M_NONE = GTEL_M_COUNT /* no such metric */
};

enum gtel_kind {
    GTEL_KIND_GAUGE,
    GTEL_KIND_STATE, /* a gauge that seldom changes */
    GTEL_KIND_COUNTER,
    GTEL_KIND_RATIO,
    GTEL_KIND_TEXT
};
enum gtel_type { GTEL_TYPE_FLOAT, GTEL_TYPE_INT, GTEL_TYPE_STRING };

struct gtel_measurement_row {
    struct gtel_str name;
    const char *text;
    const char *dims[GTEL_DIMS_MAX]; /* tag keys; NULL from the first unused one on */
};

struct gtel_metric_row {
    enum gtel_measurement measurement;
    struct gtel_str field; /* empty: internal, never emitted */
    enum gtel_kind kind;
    enum gtel_type type;
    const char *unit;          /* UCUM, of the value inside the program */
    double scale;              /* line protocol = value × scale */
    enum gtel_metric rate;     /* derived from this counter, or GTEL_M_NONE */
    const char *collectd_type; /* NULL: not for collectd */
    const char *collectd_instance;
    double collectd_scale;
    const char *text;
};

/* The row of id, which must be below GTEL_M_COUNT. */
const struct gtel_metric_row *gtel_metric_row(enum gtel_metric id);
/* The row of a measurement, which must be below GTEL_MEASUREMENT_COUNT. */
const struct gtel_measurement_row *gtel_measurement_row(enum gtel_measurement id);

/* Appends the whole catalogue as Markdown tables: what the READMEs and --list-metrics show. */
void gtel_catalogue_write(struct gtel_buf *buf);

#endif
