/* SPDX-License-Identifier: MIT */
/*
 * A strict reader of line protocol for tests: it takes only what every receiver takes.
 *
 * That is the intersection of Telegraf, InfluxDB 1, 2 and 3 and VictoriaMetrics: keys once, sorted
 * tags, no tag named as a field, no empty tag, no escape but the needed ones, well-formed UTF-8
 * without control characters, numbers with a digit on both sides of the dot, a timestamp on every
 * line.
 */
#ifndef GTEL_TESTS_HARNESS_LINEPROTO_CHECK_H
#define GTEL_TESTS_HARNESS_LINEPROTO_CHECK_H

#include "base/str.h"

enum { LP_TAGS_MAX = 32, LP_FIELDS_MAX = 1024 };

/* Key and value as they stand in the line, escapes included. */
struct lp_pair {
    struct gtel_str key;
    struct gtel_str value;
};

struct lp_line {
    struct gtel_str measurement;
    struct lp_pair tag[LP_TAGS_MAX];
    size_t ntags;
    struct lp_pair field[LP_FIELDS_MAX];
    size_t nfields;
    uint64_t t_ns;
};

/* Reads one line without its newline. NULL, or what is wrong with it. */
const char *lp_line(struct gtel_str text, struct lp_line *ret);
/* Reads text that must consist of whole lines; *ret_lines counts them. NULL, or what is wrong. */
const char *lp_text(struct gtel_str text, size_t *ret_lines);
/* The value of a tag or field, or the empty text. */
struct gtel_str lp_tag(const struct lp_line *line, const char *key);
struct gtel_str lp_field(const struct lp_line *line, const char *key);
/* A tag without its backslashes; buf must have value.n + 1 bytes. */
const char *lp_plain(char *buf, struct gtel_str value);
/* A string field without its quotes and backslashes. */
const char *lp_string(char *buf, struct gtel_str value);

#endif
