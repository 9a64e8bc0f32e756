/* SPDX-License-Identifier: MIT */
/*
 * Takes out of texts what identifies a machine or a person.
 *
 * Serial numbers, uuids, board numbers and the names of the host and its users are replaced by
 * made-up ones of the same shape: letters stay letters, digits digits. The same text always becomes
 * the same, and once it has been seen as a secret it is replaced wherever it stands by itself.
 */
#ifndef GTEL_HOST_SCRUB_H
#define GTEL_HOST_SCRUB_H

#include "base/arena.h"
#include "base/buf.h"

enum gtel_scrub_kind {
    GTEL_SCRUB_SERIAL, /* serial, board and asset numbers */
    GTEL_SCRUB_UUID,
    GTEL_SCRUB_HOST,
    GTEL_SCRUB_USER,
    GTEL_SCRUB_KINDS
};

enum { GTEL_SCRUB_MAX = 256 };

struct gtel_scrub_secret {
    struct gtel_str real;
    struct gtel_str made_up;
    enum gtel_scrub_kind kind;
    bool is_used; /* it stood in a text */
};

/* A zeroed struct knows of no names. */
struct gtel_scrub {
    struct gtel_scrub_secret secret[GTEL_SCRUB_MAX];
    size_t n;
    size_t replaced[GTEL_SCRUB_KINDS]; /* different ones of each kind that stood in a text */
    bool has_failed;                   /* too many, or memory is out: a text may hold a secret */
    struct gtel_arena arena;
};

void gtel_scrub_done(struct gtel_scrub *scrub);
/* A name that is replaced from now on. Empty ones, and those below three bytes, are passed over. */
void gtel_scrub_name(struct gtel_scrub *scrub, enum gtel_scrub_kind kind, struct gtel_str name);
/*
 * What stands for a text of at least keep bytes from now on; its first keep bytes stay as they are.
 * Empty when there is no room for it. Valid as long as the scrubber.
 */
struct gtel_str gtel_scrub_made_up(struct gtel_scrub *scrub, enum gtel_scrub_kind kind,
                                   struct gtel_str real, size_t keep);
/* Appends the content of the file of that path, scrubbed by its name and by its text. */
void gtel_scrub_file(struct gtel_scrub *scrub, struct gtel_str path, struct gtel_str text,
                     struct gtel_buf *out);
/* The same by the text alone: KEY=VALUE with a key that says so, uuids, and what is known. */
void gtel_scrub_text(struct gtel_scrub *scrub, struct gtel_str text, struct gtel_buf *out);

/* "serial numbers", "uuids" … */
const char *gtel_scrub_kind_name(enum gtel_scrub_kind kind);

#endif
