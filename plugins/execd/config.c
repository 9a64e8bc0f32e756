/* SPDX-License-Identifier: MIT */
/* The configuration file: the part of TOML that the files of Telegraf's shim plugins use. */
#include "execd/args.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { VALUE_MAX = 1024, NAME_MAX_BYTES = 64 };

/* ---- what is taken off a text; by most of it NULL is returned, or what is wrong ---- */

/* The next byte, or 0 at the end. NUL bytes in the text are refused by every caller. */
static char peek(struct gtel_str in)
{
    return in.n > 0 ? in.p[0] : '\0';
}

static bool take(struct gtel_str *in, char c)
{
    bool is_there = in->n > 0 && in->p[0] == c;
    *in = gtel_str_skip(*in, is_there);
    return is_there;
}

/* Blanks and a comment, up to the end of the line. */
static void take_blanks(struct gtel_str *in)
{
    while (take(in, ' ') || take(in, '\t') || take(in, '\r'))
        continue;
    if (peek(*in) == '#')
        *in = gtel_str_skip(*in, gtel_str_find(*in, '\n'));
}

/* The same and newlines, as they may stand within an array. */
static void take_space(struct gtel_str *in)
{
    do
        take_blanks(in);
    while (take(in, '\n'));
}

static const char *take_string(struct gtel_str *in, struct gtel_buf *value)
{
    char quote = peek(*in);
    for (*in = gtel_str_skip(*in, 1); !take(in, quote); *in = gtel_str_skip(*in, 1)) {
        if (quote == '"' && take(in, '\\') && peek(*in) != '"' && peek(*in) != '\\')
            return "only \\\" and \\\\ may follow a backslash; 'single quotes' take it as it is";
        if ((unsigned char)peek(*in) < ' ' && peek(*in) != '\t')
            return "a string that does not end on its line";
        gtel_buf_char(value, peek(*in));
    }
    return NULL;
}

static bool is_bare(char c)
{
    return gtel_is_alnum(c) || c == '-' || c == '_' || c == '.' || c == '+';
}

static struct gtel_str take_word(struct gtel_str *in)
{
    size_t n = 0;
    while (n < in->n && is_bare(in->p[n]))
        n++;
    struct gtel_str word = gtel_str_head(*in, n);
    *in = gtel_str_skip(*in, n);
    return word;
}

static const char *take_scalar(struct gtel_str *in, struct gtel_buf *value)
{
    if (peek(*in) == '"' || peek(*in) == '\'')
        return take_string(in, value);
    struct gtel_str word = take_word(in);
    gtel_buf_str(value, word);
    return word.n > 0 ? NULL : "a string, a number or an array must follow the =";
}

/* ["a", "b"] becomes a,b: lists of names are comma separated in the options. */
static const char *take_array(struct gtel_str *in, struct gtel_buf *value)
{
    for (take_space(in); !take(in, ']'); take_space(in)) {
        size_t before = value->n;
        const char *problem = take_scalar(in, value);
        if (problem)
            return problem;
        struct gtel_str item = gtel_str_skip(gtel_buf_text(value), before);
        if (value->has_failed || gtel_str_find(item, ',') < item.n)
            return "an array's strings must be short and without commas";
        take_space(in);
        if (!take(in, ',') && peek(*in) != ']')
            return "a comma or ] must follow an array's string";
        gtel_buf_char(value, ',');
    }
    if (value->n > 0)
        gtel_buf_back(value, value->n - 1);
    return NULL;
}

/* Nothing but blanks and a comment up to the end of the line. */
static const char *take_end(struct gtel_str *in)
{
    take_blanks(in);
    return in->n == 0 || peek(*in) == '\n' ? NULL : "nothing may follow on this line but a comment";
}

/* The table of this plugin (options of another one would be a mistake), or a pair: sets the name.
 */
static const char *take_line(struct gtel_str *in, struct gtel_str *ret_name, struct gtel_buf *value)
{
    static const struct gtel_str own = GTEL_STR_INIT("[[inputs.gtel]]");
    if (peek(*in) == '[' && !gtel_str_starts(*in, own))
        return "the only table is [[inputs.gtel]]";
    if (peek(*in) == '[') {
        *in = gtel_str_skip(*in, own.n);
        return take_end(in);
    }
    *ret_name = take_word(in);
    take_blanks(in);
    if (ret_name->n == 0 || ret_name->n > NAME_MAX_BYTES || !take(in, '='))
        return "expected: name = value";
    take_blanks(in);
    const char *problem = take(in, '[') ? take_array(in, value) : take_scalar(in, value);
    if (!problem)
        problem = take_end(in);
    return !problem && value->has_failed ? "the value is too long" : problem;
}

/* ---- options ---- */

static int fail(char *error, size_t size, const char *problem)
{
    (void)snprintf(error, size, "%s", problem);
    return -EINVAL;
}

/* Sets one option; is_seen are those that this file has set. */
static int set_pair(struct gtel_options *options, struct gtel_str name, struct gtel_str value,
                    bool *is_seen, char *error, size_t size)
{
    enum gtel_option id = gtel_option_find(name, GTEL_OPTION_EXECD);
    if (id == GTEL_O_COUNT && gtel_str_eq(name, GTEL_STR("poll_interval")))
        id = GTEL_O_INTERVAL;
    if (id == GTEL_O_COUNT) /* not its name: the file may be another user's, not to be read */
        return fail(error, size, "unknown option: `gtel --help` lists the options");
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

/* The line of text on which the rest begins. */
static size_t line_of(struct gtel_str text, struct gtel_str rest)
{
    size_t line = 1;
    for (size_t i = 0; i < text.n - rest.n; i++)
        line += text.p[i] == '\n';
    return line;
}

int gtel_args_config(struct gtel_options *options, struct gtel_str text, const char *file,
                     char *error, size_t size)
{
    struct gtel_str in = text;
    struct gtel_str from = text;
    struct gtel_buf value;
    bool is_seen[GTEL_O_COUNT] = {false};
    char problem[GTEL_ARGS_ERROR_MAX] = "";
    int r = 0;
    gtel_buf_init(&value, VALUE_MAX);
    if (gtel_str_starts(in, GTEL_STR("\xef\xbb\xbf"))) /* a byte order mark, of Windows */
        in = gtel_str_skip(in, 3);
    for (take_space(&in); r == 0 && in.n > 0; take_space(&in)) {
        struct gtel_str name = GTEL_STR_NONE;
        from = in;
        gtel_buf_reset(&value);
        const char *wrong = take_line(&in, &name, &value);
        if (wrong)
            r = fail(problem, sizeof(problem), wrong);
        else if (name.n > 0)
            r = set_pair(options, name, gtel_buf_text(&value), is_seen, problem, sizeof(problem));
    }
    gtel_buf_done(&value);
    if (r < 0)
        (void)snprintf(error, size, "%.120s:%zu: %s", file, line_of(text, from), problem);
    return r < 0 ? -EINVAL : 0;
}
