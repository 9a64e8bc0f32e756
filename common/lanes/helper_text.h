/* SPDX-License-Identifier: MIT */
/*
 * What a helper, and the vendor libraries in it, write to their standard error.
 *
 * It comes through a pipe and goes to the front end's log, line by line, so that a helper that
 * hangs holds no file of the front end open (`gtel doctor 2>&1 | cat` ends), and nothing that a
 * library prints goes around the log. Both ends never wait: a helper that writes more than the pipe
 * holds gets EAGAIN, or under Windows an empty success, and that text is dropped. How much is
 * logged is limited.
 */
#ifndef GTEL_LANES_HELPER_TEXT_H
#define GTEL_LANES_HELPER_TEXT_H

#include "host/env.h"

enum {
    GTEL_HELPER_LINE_MAX = 400, /* bytes; longer lines are cut */
    GTEL_HELPER_LINES = 32,     /* logged until gtel_helper_text_renew */
    GTEL_HELPER_LAST_LINES = 8  /* of these, so many are kept for what a helper writes last */
};

struct gtel_helper_text {
    intptr_t end; /* to read from, a descriptor or a HANDLE; -1: none */
    size_t n;
    uint32_t lines; /* logged since the renewal */
    char line[GTEL_HELPER_LINE_MAX];
};

/* No helper yet. */
void gtel_helper_text_init(struct gtel_helper_text *text);
/*
 * Makes the pipe for a new helper. *ret_end is the end for the helper, above its three standard
 * descriptors and that of its socket, or a HANDLE that can be inherited; the caller closes it by
 * gtel_helper_text_end. 0 or a negative errno.
 */
int gtel_helper_text_open(struct gtel_helper_text *text, intptr_t *ret_end);
void gtel_helper_text_end(intptr_t end);
/* Without waiting: the number of bytes, or 0 or less: nothing now, or never again. */
int64_t gtel_helper_text_read(intptr_t end, void *buf, size_t n);
/* Logs what has come, without waiting. lane: the name for the messages. */
void gtel_helper_text_forward(struct gtel_helper_text *text, const struct gtel_log *log,
                              const char *lane);
/* The same for the last time, half a line included; then closes the pipe. */
void gtel_helper_text_close(struct gtel_helper_text *text, const struct gtel_log *log,
                            const char *lane);
/* The helper works: all lines may be logged again. */
void gtel_helper_text_renew(struct gtel_helper_text *text);

#endif
