/* SPDX-License-Identifier: MIT */
/*
 * Output text with a limit, and number formats that no locale can change.
 *
 * Writing past the limit, or out of memory, sets a flag and drops the write; the caller marks a
 * place before a record and returns to it when the flag is set, so that a cut record never leaves.
 */
#ifndef GTEL_BASE_BUF_H
#define GTEL_BASE_BUF_H

#include "base/compiler.h"
#include "base/str.h"

#include <string.h>

struct gtel_buf {
    char *p;
    size_t n;        /* bytes in use */
    size_t size;     /* bytes allocated */
    size_t limit;    /* n never exceeds it */
    bool has_failed; /* a write was dropped since the last gtel_buf_back or reset */
};

/* Allocates nothing. limit in bytes. */
void gtel_buf_init(struct gtel_buf *buf, size_t limit);
void gtel_buf_done(struct gtel_buf *buf);
/* Empties it and clears has_failed; keeps the memory. */
void gtel_buf_reset(struct gtel_buf *buf);
/* Returns to an earlier length n and clears has_failed. */
void gtel_buf_back(struct gtel_buf *buf, size_t n);

/* Makes room for n more bytes; false, with the flag set, when there is none. */
bool gtel_buf_make_room(struct gtel_buf *buf, size_t n);
/* Appends n bytes for the caller to write; NULL, with the flag set, when there is no room. */
static inline char *gtel_buf_room(struct gtel_buf *buf, size_t n)
{
    if ((buf->has_failed || n > buf->size - buf->n) && !gtel_buf_make_room(buf, n))
        return NULL;
    buf->n += n;
    return buf->p + buf->n - n;
}
static inline void gtel_buf_bytes(struct gtel_buf *buf, const void *p, size_t n)
{
    char *at = n > 0 ? gtel_buf_room(buf, n) : NULL;
    if (at)
        memcpy(at, p, n);
}
void gtel_buf_str(struct gtel_buf *buf, struct gtel_str s);
void gtel_buf_char(struct gtel_buf *buf, char c);
void gtel_buf_u64(struct gtel_buf *buf, uint64_t v);
void gtel_buf_i64(struct gtel_buf *buf, int64_t v);
/*
 * A finite v with at most digits (1 to 15) significant digits, without trailing zeros: "0.25",
 * "-40", "1e+21". A digit stands before the dot; NaN and infinities must be skipped by the caller
 * and are written as 0.
 */
void gtel_buf_f64(struct gtel_buf *buf, double v, int digits);
/* For messages and tables only: numbers in %f and %g would depend on the locale. */
void gtel_buf_printf(struct gtel_buf *buf, const char *fmt, ...) GTEL_PRINTF(2, 3);

/*
 * Words of text in lines of at most 80 columns: the first one begins at column `at`, the others
 * behind so many blanks.
 */
void gtel_buf_wrap(struct gtel_buf *buf, size_t at, size_t indent, struct gtel_str text);

/*
 * Makes all of it fit to be shown: each control character but the newline, and each byte that is no
 * UTF-8, becomes '?'.
 */
void gtel_buf_clean(struct gtel_buf *buf);

/* The content so far; valid until the next write. */
struct gtel_str gtel_buf_text(const struct gtel_buf *buf);

#endif
