/* SPDX-License-Identifier: MIT */
/*
 * The sink behind --explain: each line's identity, then its fields with value, source and origin.
 *
 * For people, not for parsing.
 */
#ifndef GTEL_EXECD_EXPLAIN_H
#define GTEL_EXECD_EXPLAIN_H

#include "sinks/lineproto.h"

struct gtel_explain {
    struct gtel_buf *out;
    struct gtel_lineproto encoder; /* only asked how it would write names and values */
    struct gtel_buf identity;
    struct gtel_buf last; /* the identity written last */
};

/* out is the caller's. host as for the encoder. */
void gtel_explain_init(struct gtel_explain *explain, struct gtel_buf *out, struct gtel_str host);
void gtel_explain_done(struct gtel_explain *explain);
/* Valid as long as explain stays where it is. */
struct gtel_sink gtel_explain_sink(struct gtel_explain *explain);

#endif
