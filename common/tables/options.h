/* SPDX-License-Identifier: MIT */
/*
 * The option table: defaults, setting by name, checks, and the documentation table.
 *
 * The rows are in options.def. A name is compared without case, and `-`, `_` and no separator are
 * the same, so that `SampleInterval`, `--sample-interval` and `sample_interval` all set one option.
 */
#ifndef GTEL_TABLES_OPTIONS_H
#define GTEL_TABLES_OPTIONS_H

#include "base/buf.h"
#include "base/str.h"

enum gtel_option {
#define GTEL_OPTION(id, ...) GTEL_O_##id,
#include "tables/options.def"
#undef GTEL_OPTION
    GTEL_O_COUNT
};

enum gtel_option_type {
    GTEL_OPTION_DURATION,
    GTEL_OPTION_COUNT,
    GTEL_OPTION_CHOICE,
    GTEL_OPTION_WORDS, /* any of the words, comma separated */
    GTEL_OPTION_TEXT,
    GTEL_OPTION_PATH /* absolute, or empty */
};
enum gtel_option_where { GTEL_OPTION_EXECD = 1, GTEL_OPTION_COLLECTD = 2, GTEL_OPTION_BOTH = 3 };

struct gtel_option_row {
    const char *name;
    enum gtel_option_type type;
    const char *preset; /* the default, as a user would write it */
    const char *min;    /* CHOICE, WORDS: the words, comma separated; PATH: an example */
    const char *max;
    enum gtel_option_where where;
    const char *text;
};

enum { GTEL_OPTION_TEXT_MAX = 256 };

/* Plain data; copies are independent. */
struct gtel_options {
    struct {
        uint64_t number; /* nanoseconds, a count, the position of the choice, a bit per word */
        char text[GTEL_OPTION_TEXT_MAX];
        bool is_given; /* set by the user */
    } value[GTEL_O_COUNT];
};

const struct gtel_option_row *gtel_option_row(enum gtel_option id);
/* Sets every option to its default. */
void gtel_options_init(struct gtel_options *options);
/* The option of that name for this front end, or GTEL_O_COUNT. */
enum gtel_option gtel_option_find(struct gtel_str name, enum gtel_option_where where);
/*
 * Sets one option from text. Returns 0; -EINVAL or -ERANGE with a sentence in error (at least 1
 * byte, cut to size) that names the option, the value and what is allowed; the option is unchanged.
 */
int gtel_option_set(struct gtel_options *options, enum gtel_option id, struct gtel_str text,
                    char *error, size_t size);

uint64_t gtel_option_number(const struct gtel_options *options, enum gtel_option id);
struct gtel_str gtel_option_text(const struct gtel_options *options, enum gtel_option id);
/* Whether the option has that text. */
bool gtel_option_is(const struct gtel_options *options, enum gtel_option id, const char *text);

/* The command-line spelling: "--sample-interval". */
void gtel_option_flag(struct gtel_buf *buf, enum gtel_option id);
/* The option as it stands, as one command-line word: "--deadline=500ms". */
void gtel_option_argument(struct gtel_buf *buf, const struct gtel_options *options,
                          enum gtel_option id);
/* Appends the options of a front end as a Markdown table; with command-line or collectd names. */
void gtel_options_write(struct gtel_buf *buf, enum gtel_option_where where);

#endif
