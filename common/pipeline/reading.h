/* SPDX-License-Identifier: MIT */
/*
 * One reading, and the batch that carries readings through a cycle.
 *
 * A reading is plain data in base units: seconds, bytes, watts, joules, degrees Celsius, hertz,
 * volts, ratio 0 to 1. Its key is (device, metric, dimensions). It owns nothing: strings live in
 * the batch's arena, in constants or in the device.
 *
 * Who appends does not check for duplicates: the merge does (pipeline/series.h).
 */
#ifndef GTEL_PIPELINE_READING_H
#define GTEL_PIPELINE_READING_H

#include "base/arena.h"
#include "pipeline/device.h"
#include "tables/catalogue.h"

enum gtel_value_type { GTEL_VALUE_U64, GTEL_VALUE_F64, GTEL_VALUE_TEXT };

struct gtel_reading {
    const struct gtel_device *device; /* NULL: the program itself */
    uint64_t t_ns;                    /* monotonic clock; the device's own when has_device_clock */
    union {
        uint64_t u64;
        double f64;
        struct gtel_str text;
    } value;
    uint16_t metric;       /* enum gtel_metric */
    uint8_t value_type;    /* enum gtel_value_type */
    uint8_t source;        /* position in gtel_sources */
    uint8_t origin;        /* position in that source's list of origins */
    bool has_device_clock; /* t_ns counts on a clock of the device: only differences mean something
                            */
    bool is_derived;       /* a rate that delta made from a counter of that origin */
    bool is_apart;         /* of more than the GPU: no headline is made of it, no process has it */
    uint16_t gathers;      /* since the one before it in its series, set there; 0: not known */
    struct gtel_str dim[GTEL_DIMS_MAX]; /* in the order of the measurement's row; may be empty */
};

_Static_assert(sizeof(struct gtel_reading) <= 192, "a reading is at most 192 bytes");

/* The value of `source` in readings that the core makes itself. */
enum { GTEL_SOURCE_CORE = 255 };

struct gtel_findings;
struct gtel_usage;

enum { GTEL_BATCH_MAX = 65536 }; /* readings in one batch; more are dropped and counted */

struct gtel_batch {
    struct gtel_reading *reading;
    size_t n;
    size_t size;
    struct gtel_arena arena;
    uint64_t t_ns;  /* time given to what is appended next */
    uint8_t source; /* set by the core before it calls a source */
    uint8_t origin; /* set by the source: which of its origins the next readings come from */
    /* Where sources report what single processes use (processes/usage.h); NULL outside a lane. */
    struct gtel_usage *usage;
    struct gtel_findings
        *findings;    /* of what is missing (pipeline/finding.h); NULL: not asked for */
    uint64_t dropped; /* readings lost to the limit or to memory since the batch was made */
    struct gtel_reading blank;         /* zeroed: a copy is faster than clearing */
    uint32_t failed_sources;           /* sources that could not work at all, since the reset */
    uint32_t failed[GTEL_DEVICES_MAX]; /* failed readings by device index, since the reset */
};

void gtel_batch_done(struct gtel_batch *batch);
/* Forgets readings, strings and failures; keeps the memory. */
void gtel_batch_reset(struct gtel_batch *batch);

/*
 * Appends one reading with no dimension (dim empty) or one. dim must outlive the batch's reset: a
 * constant, text in the source's state, or from gtel_batch_text. A value that is not finite is
 * dropped. Nothing can fail that the caller could fix: losses are counted in `dropped`.
 */
void gtel_batch_u64(struct gtel_batch *batch, const struct gtel_device *device,
                    enum gtel_metric metric, struct gtel_str dim, uint64_t value);
void gtel_batch_f64(struct gtel_batch *batch, const struct gtel_device *device,
                    enum gtel_metric metric, struct gtel_str dim, double value);
/* The same of either type: rounded where the catalogue has an integer, which is never negative. */
void gtel_batch_number(struct gtel_batch *batch, const struct gtel_device *device,
                       enum gtel_metric metric, struct gtel_str dim, double value);
/* The same with device, time and dimensions of another reading. */
void gtel_batch_like(struct gtel_batch *batch, const struct gtel_reading *like,
                     enum gtel_metric metric, double value);
/* The count of one kind of errors. */
void gtel_batch_error(struct gtel_batch *batch, const struct gtel_device *device,
                      struct gtel_str kind, struct gtel_str severity, uint64_t count);
/*
 * Appends a reading that the caller has filled in: device, metric, value, value_type, dim; t_ns 0
 * takes the batch's time. source and origin are set here.
 */
void gtel_batch_put(struct gtel_batch *batch, const struct gtel_reading *reading);
/*
 * The same, but for a value that is filled in afterwards (before, the copy would wait for it);
 * NULL: there is no room, and the loss is counted.
 */
struct gtel_reading *gtel_batch_add(struct gtel_batch *batch, const struct gtel_reading *reading);
/* Counts one failed reading of a device; NULL: the source as a whole does not work now. */
void gtel_batch_failed(struct gtel_batch *batch, const struct gtel_device *device);
/* A copy of text that lives as long as the batch's content; empty when memory is out. */
struct gtel_str gtel_batch_text(struct gtel_batch *batch, struct gtel_str text);

/* Whether both are about the same part of the same device, by all dimensions. */
bool gtel_reading_is_same_part(const struct gtel_reading *a, const struct gtel_reading *b);
/* The value as a number; 0 for text. */
double gtel_reading_number(const struct gtel_reading *reading);
/* Whether it comes from one of these sources: a bit each. */
bool gtel_reading_is_of(const struct gtel_reading *reading, uint32_t sources);

#endif
