/* SPDX-License-Identifier: MIT */
/*
 * Line-protocol encoder: a sink that writes readings as text for Telegraf and InfluxDB.
 *
 * Consecutive readings of one device, measurement and dimensions become the fields of one line.
 * Tags stand in the order of their keys: InfluxDB 1 and 2 sort the tags of lines that come in any
 * other order. The output is the intersection of what Telegraf, InfluxDB 1 to 3 and VictoriaMetrics
 * read: no unsigned numbers, no NaN, no empty tag, no backslash in a tag, no control character
 * anywhere, strings only where the catalogue has text.
 *
 * Nothing is allocated but by the output buffer. One encoder is used by one thread at a time.
 */
#ifndef GTEL_SINKS_LINEPROTO_H
#define GTEL_SINKS_LINEPROTO_H

#include "base/buf.h"
#include "pipeline/sink.h"
#include "tables/options.h"

enum {
    GTEL_LINEPROTO_LINE_MAX = 60000, /* bytes of a line: below all receivers' limits */
    GTEL_LINEPROTO_TAGS_MAX = 6 + GTEL_DIMS_MAX
};

/* One tag of a measurement: where its value comes from, and `,key=` ready to copy. */
struct gtel_lineproto_tag {
    uint8_t from;
    uint8_t n;
    char text[22];
};

struct gtel_lineproto {
    struct gtel_buf *out;
    char host[GTEL_OPTION_TEXT_MAX];
    struct gtel_lineproto_tag tag[GTEL_MEASUREMENT_COUNT][GTEL_LINEPROTO_TAGS_MAX];
    uint8_t ntags[GTEL_MEASUREMENT_COUNT];

    char time[24]; /* blank, timestamp and newline */
    size_t ntime;

    struct gtel_reading at; /* a reading of the line being written */
    size_t start;           /* its first byte in out */
    size_t nfields;
    enum {
        GTEL_LINEPROTO_NO_LINE,
        GTEL_LINEPROTO_OPEN, /* a line is being written */
        GTEL_LINEPROTO_LOST  /* it did not fit; its other readings are lost too */
    } line;
    uint64_t seen[(GTEL_M_COUNT * 3 + 63) / 64]; /* fields of the line, by metric and aspect */

    uint64_t lines;   /* written since init */
    uint64_t dropped; /* readings lost since init: no room, no such value in the format */
};

/*
 * Makes an encoder that appends to out, which the caller owns and empties. host: value of a host
 * tag (copied, cut to the limit of an option), or empty for none.
 */
void gtel_lineproto_init(struct gtel_lineproto *lp, struct gtel_buf *out, struct gtel_str host);
/* The sink of this encoder; valid as long as lp stays where it is. */
struct gtel_sink gtel_lineproto_sink(struct gtel_lineproto *lp);

/* Appends measurement and tags of a reading: the beginning of its line, without the blank. */
void gtel_lineproto_identity(const struct gtel_lineproto *lp, struct gtel_buf *buf,
                             const struct gtel_reading *reading);
/*
 * Appends a reading's value as the catalogue says: scaled, and as float, integer or string. Returns
 * 0, -ENODATA for an empty text, -EINVAL when a text is where a number belongs or the other way
 * round, -ERANGE for a number that the format cannot hold; nothing is appended then.
 */
int gtel_lineproto_value(struct gtel_buf *buf, const struct gtel_reading *reading);
/* Appends the field name of a reading: the catalogue's, and _min or _max. */
void gtel_lineproto_field(struct gtel_buf *buf, const struct gtel_reading *reading,
                          enum gtel_aspect aspect);

#endif
