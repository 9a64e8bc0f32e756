/* SPDX-License-Identifier: MIT */
/*
 * The command line of the program, and the configuration file that Telegraf's shim plugins take.
 *
 * Every row of the option table is an option here; the rest are switches of this program alone. One
 * dash or two, `-` and `_` are alike; `--name=value` and `--name value` too. What the command line
 * says wins over the file. Anything unknown or out of range is an error that says what is allowed:
 * a program that Telegraf starts should fail early and aloud.
 */
#ifndef GTEL_EXECD_ARGS_H
#define GTEL_EXECD_ARGS_H

#include "base/buf.h"
#include "tables/options.h"

enum gtel_args_action {
    GTEL_ARGS_RUN,
    GTEL_ARGS_DOCTOR,  /* the first word was `doctor` */
    GTEL_ARGS_SCRIPT,  /* the same: only the commands that fix what it found */
    GTEL_ARGS_CAPTURE, /* the first word was `capture` */
    GTEL_ARGS_HELP,
    GTEL_ARGS_VERSION,
    GTEL_ARGS_LIST_METRICS,
    GTEL_ARGS_LIST_SOURCES,
    GTEL_ARGS_LIST_OPTIONS,
    GTEL_ARGS_LIST_OPTIONS_COLLECTD,
    GTEL_ARGS_LANE /* run as the helper of the lane in `lane` */
};

enum { GTEL_ARGS_ERROR_MAX = 400, GTEL_ARGS_CONFIG_MAX = 65535 };

struct gtel_args {
    enum gtel_args_action action;
    bool is_once;
    bool is_watching; /* a table for people, again and again */
    bool is_explained;
    bool is_stepped;
    bool is_clock_off; /* -poll_interval_disabled: no own clock, whatever the interval */
    uint64_t count;    /* gathers until the end; 0: no end */
    uint64_t epoch_ns; /* monotonic time at which a recorded machine began; 0: now */
    const char *root;  /* as given, or NULL; lives as long as argv */
    const char *lane;  /* the same */
    const char *file;  /* the same: where a capture goes; NULL: standard output */
    struct gtel_options options;
};

/*
 * Parses the command line, without argv[0], and reads the files that --config names. Returns 0, or
 * -EINVAL with one sentence in error (of size bytes, at least 1); *args is unspecified then.
 */
int gtel_args_parse(struct gtel_args *args, int argc, char *const *argv, char *error, size_t size);
/*
 * Sets options from text: `name = value` with strings, numbers and arrays of strings, comments, and
 * the header [[inputs.gtel]]. file is its name for messages. An option that is set already stays.
 * Returns 0, or -EINVAL with "FILE:LINE: …" in error, where nothing of the text is repeated but the
 * value of a known option.
 */
int gtel_args_config(struct gtel_options *options, struct gtel_str text, const char *file,
                     char *error, size_t size);
/* Whether the program keeps its own clock, rather than gather at each newline. */
bool gtel_args_has_clock(const struct gtel_args *args);
/* Appends what --help prints. */
void gtel_args_help(struct gtel_buf *buf);

#endif
