/* SPDX-License-Identifier: MIT */
/*
 * Texts and numbers in a JSON text, each with the names that lead to it. Reads by yajl, builds
 * nothing, allocates nothing: yajl works in memory of the caller. No input or output.
 */
#ifndef GTEL_PARSE_JSON_H
#define GTEL_PARSE_JSON_H

#include "base/str.h"

enum { GTEL_JSON_DEPTH = 8, GTEL_JSON_KEY_MAX = 64 };

/* Where a value is. A name of GTEL_JSON_KEY_MAX bytes or more is the empty one. */
struct gtel_json_path {
    size_t n;                             /* 0: the outermost value */
    struct gtel_str key[GTEL_JSON_DEPTH]; /* in an array the position, "0" … */
};

struct gtel_json_visitor {
    void *arg;
    /*
     * A number, as it is written, or a text, without its escapes; true, false and null are passed
     * over. All is valid during the call only.
     */
    void (*value)(void *arg, const struct gtel_json_path *path, struct gtel_str text);
    /* All of an object or array has come. */
    void (*end)(void *arg, const struct gtel_json_path *path);
};

/* How much memory gtel_json_read needs for a text of n bytes. */
size_t gtel_json_memory(size_t n);

/*
 * Reads the value at the beginning of text; what follows it is not read. memory, of
 * gtel_json_memory(text.n) bytes, is aligned for any type. 0; -EBADMSG when the text is no JSON or
 * ends early; -E2BIG when it is deeper than GTEL_JSON_DEPTH. What was passed on before stays valid:
 * the objects whose end has come are whole.
 */
int gtel_json_read(struct gtel_str text, void *memory, const struct gtel_json_visitor *visitor);

/*
 * The rest of text from the next line on that begins with an object or array; empty when there is
 * none. Tools write warnings in front of them.
 */
struct gtel_str gtel_json_find(struct gtel_str text);

#endif
