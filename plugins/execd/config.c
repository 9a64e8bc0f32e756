/* SPDX-License-Identifier: MIT */
/* The configuration file: the part of TOML that the files of Telegraf's shim plugins use. */
#include "execd/args.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { VALUE_MAX = 1024, NAME_MAX_BYTES = 64 };

/* The text not read yet, and where it is. */
struct reader {
    struct gtel_str rest;
    size_t line;
    const char *problem; /* set with the first failure */
};

static int fail(struct reader *in, const char *problem)
{
    in->problem = problem;
    return -EINVAL;
}

/* The next byte, or 0 at the end. NUL bytes in the text are refused by every caller. */
static char peek(const struct reader *in)
{
    return in->rest.n > 0 ? in->rest.p[0] : '\0';
}

static void skip(struct reader *in)
{
    if (peek(in) == '\n')
        in->line++;
    in->rest = gtel_str_skip(in->rest, 1);
}

static void skip_blanks(struct reader *in)
{
    while (peek(in) == ' ' || peek(in) == '\t' || peek(in) == '\r')
        skip(in);
}

static void skip_line(struct reader *in)
{
    while (in->rest.n > 0 && peek(in) != '\n')
        skip(in);
}

/* Blanks, newlines and comments, as they may stand within an array. */
static void skip_space(struct reader *in)
{
    for (;;) {
        skip_blanks(in);
        if (peek(in) == '#')
            skip_line(in);
        if (peek(in) != '\n')
            return;
        skip(in);
    }
}

static int take_string(struct reader *in, struct gtel_buf *value)
{
    char quote = peek(in);
    skip(in);
    while (peek(in) != quote) {
        char c = peek(in);
        if ((unsigned char)c < ' ' && c != '\t')
            return fail(in, "a string that does not end on its line");
        if (c == '\\' && quote == '"') {
            skip(in);
            c = peek(in);
            if (c != '"' && c != '\\')
                return fail(in,
                            "only \\\" and \\\\ may follow a backslash; 'single quotes' take it "
                            "as it is");
        }
        gtel_buf_char(value, c);
        skip(in);
    }
    skip(in);
    return 0;
}

static bool is_bare(char c)
{
    return gtel_is_alnum(c) || c == '-' || c == '_' || c == '.' || c == '+';
}

static int take_scalar(struct reader *in, struct gtel_buf *value)
{
    if (peek(in) == '"' || peek(in) == '\'')
        return take_string(in, value);
    size_t before = value->n;
    while (is_bare(peek(in))) {
        gtel_buf_char(value, peek(in));
        skip(in);
    }
    return value->n > before ? 0 : fail(in, "a string, a number or an array must follow the =");
}

/* ["a", "b"] becomes a,b: lists of names are comma separated in the options. */
static int take_array(struct reader *in, struct gtel_buf *value)
{
    skip(in);
    for (skip_space(in); peek(in) != ']'; skip_space(in)) {
        size_t before = value->n;
        int r = take_scalar(in, value);
        if (r < 0)
            return r;
        struct gtel_str item = gtel_str_skip(gtel_buf_text(value), before);
        if (value->has_failed || gtel_str_find(item, ',') < item.n)
            return fail(in, "an array's strings must be short and without commas");
        skip_space(in);
        if (peek(in) == ',')
            skip(in);
        else if (peek(in) != ']')
            return fail(in, "a comma or ] must follow an array's string");
        gtel_buf_char(value, ',');
    }
    skip(in);
    if (value->n > 0)
        gtel_buf_back(value, value->n - 1);
    return 0;
}

/* Nothing but blanks and a comment up to the end of the line. */
static int take_end(struct reader *in)
{
    skip_blanks(in);
    if (peek(in) == '#')
        skip_line(in);
    if (in->rest.n > 0 && peek(in) != '\n')
        return fail(in, "nothing may follow on this line but a comment");
    return 0;
}

/* The table of this plugin: options of another one would be a mistake. */
static int take_header(struct reader *in)
{
    static const struct gtel_str own = GTEL_STR_INIT("[[inputs.gtel]]");
    if (!gtel_str_starts(in->rest, own))
        return fail(in, "the only table is [[inputs.gtel]]");
    in->rest = gtel_str_skip(in->rest, own.n);
    return take_end(in);
}

static int take_pair(struct reader *in, struct gtel_str *ret_name, struct gtel_buf *value)
{
    struct gtel_str name = {in->rest.p, 0};
    while (is_bare(peek(in)) && name.n < NAME_MAX_BYTES) {
        skip(in);
        name.n++;
    }
    skip_blanks(in);
    if (name.n == 0 || peek(in) != '=')
        return fail(in, "expected: name = value");
    skip(in);
    skip_blanks(in);
    int r = peek(in) == '[' ? take_array(in, value) : take_scalar(in, value);
    if (r < 0)
        return r;
    r = take_end(in);
    if (r < 0)
        return r;
    if (value->has_failed)
        return fail(in, "the value is too long");
    *ret_name = name;
    return 0;
}

/* Sets one option; is_seen are those that this file has set. */
static int set_pair(struct gtel_options *options, struct gtel_str name, struct gtel_str value,
                    bool *is_seen, char *error, size_t size)
{
    enum gtel_option id = gtel_option_find(name, GTEL_OPTION_EXECD);
    if (id == GTEL_O_COUNT && gtel_str_eq(name, GTEL_STR("poll_interval")))
        id = GTEL_O_INTERVAL;
    if (id == GTEL_O_COUNT) {
        /* Without the name: the file may be another one, and not this user's to read. */
        (void)snprintf(error, size, "unknown option: `gtel --help` lists the options");
        return -EINVAL;
    }
    if (is_seen[id]) {
        (void)snprintf(error, size, "%.*s is set twice", GTEL_STR_ARG(name));
        return -EINVAL;
    }
    is_seen[id] = true;
    /* The command line has set it: only check whether the value would do. */
    struct gtel_options scratch = *options;
    struct gtel_options *to = options->value[id].is_given ? &scratch : options;
    char why[GTEL_ARGS_ERROR_MAX] = "";
    int r = gtel_option_set(to, id, value, why, sizeof(why));
    if (r < 0) /* with the name as it is written in the file */
        (void)snprintf(error, size, "%.*s%s", GTEL_STR_ARG(name),
                       why + strlen(gtel_option_row(id)->name));
    return r;
}

int gtel_args_config(struct gtel_options *options, struct gtel_str text, const char *file,
                     char *error, size_t size)
{
    struct reader in = {.rest = text, .line = 1};
    struct gtel_buf value;
    bool is_seen[GTEL_O_COUNT] = {false};
    char problem[GTEL_ARGS_ERROR_MAX] = "";
    size_t line = 0;
    int r = 0;
    gtel_buf_init(&value, VALUE_MAX);
    if (gtel_str_starts(in.rest, GTEL_STR("\xef\xbb\xbf"))) /* a byte order mark, of Windows */
        in.rest = gtel_str_skip(in.rest, 3);
    for (skip_space(&in); r == 0 && in.rest.n > 0; skip_space(&in)) {
        struct gtel_str name = GTEL_STR_NONE;
        line = in.line;
        gtel_buf_reset(&value);
        r = peek(&in) == '[' ? take_header(&in) : take_pair(&in, &name, &value);
        if (r < 0)
            (void)snprintf(problem, sizeof(problem), "%s", in.problem);
        else if (name.n > 0)
            r = set_pair(options, name, gtel_buf_text(&value), is_seen, problem, sizeof(problem));
    }
    gtel_buf_done(&value);
    if (r < 0)
        (void)snprintf(error, size, "%.120s:%zu: %s", file, line, problem);
    return r < 0 ? -EINVAL : 0;
}
