/* SPDX-License-Identifier: MIT */
/* The command line. */
#include "execd/args.h"

#include "whole_file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum switch_id {
    SWITCH_FLAG,   /* the rows that only set a flag */
    SWITCH_NUMBER, /* a number of 1 or more */
    SWITCH_TEXT,   /* a text as it is given */
    SWITCH_FIX_SCRIPT,
    SWITCH_CONFIG,
    SWITCH_POLL_INTERVAL,
    SWITCH_ACTION /* the rows below that only choose an action */
};

#define PLACE(name) offsetof(struct gtel_args, name)
static const struct switch_row {
    const char *name;
    const char *value; /* what to call its value in --help; NULL: it takes none */
    enum switch_id id;
    size_t what;      /* where it is in the struct; of an action that one */
    const char *text; /* NULL: for the program's own use, not in --help */
} switches[] = {
    {"once", NULL, SWITCH_FLAG, PLACE(is_once),
     "Take two samples half a second apart, whatever the interval is (on a recorded machine, a "
     "second of its time), print the readings once and end: to a terminal as a table, else as line "
     "protocol."},
    {"watch", NULL, SWITCH_FLAG, PLACE(is_watching),
     "Print that table again each --interval (2s), until it is interrupted."},
    {"explain", NULL, SWITCH_FLAG, PLACE(is_explained),
     "Print a table instead of line protocol: each field with its value and where it comes from. "
     "Once, unless --count or --interval (2s) says otherwise."},
    {"fix-script", NULL, SWITCH_FIX_SCRIPT, 0,
     "Print the commands that gtel doctor advises as a shell script, to be read and run by a "
     "person."},
    {"count", "N", SWITCH_NUMBER, PLACE(count), "End after N gathers."},
    {"root", "PATH", SWITCH_TEXT, PLACE(root),
     "Read a directory instead of /, or play a recorded machine (a .tree file). The real machine "
     "is "
     "not touched."},
    {"stepped", NULL, SWITCH_FLAG, PLACE(is_stepped),
     "Let the time of a recorded machine advance by the interval at each gather, without waiting."},
    {"config", "FILE", SWITCH_CONFIG, 0,
     "Read options from FILE (name = value). The command line wins over it, and the first of "
     "several files."},
    {"poll-interval", "TIME", SWITCH_POLL_INTERVAL, 0, "The same as --interval."},
    {"poll-interval-disabled", NULL, SWITCH_FLAG, PLACE(is_clock_off),
     "Gather at newlines only, whatever the interval is."},
    {"list-metrics", NULL, SWITCH_ACTION, GTEL_ARGS_LIST_METRICS,
     "Print every measurement and field."},
    {"list-sources", NULL, SWITCH_ACTION, GTEL_ARGS_LIST_SOURCES,
     "Print where readings can come from and what each source needs."},
    {"list-options", NULL, SWITCH_ACTION, GTEL_ARGS_LIST_OPTIONS, NULL},
    {"list-options-collectd", NULL, SWITCH_ACTION, GTEL_ARGS_LIST_OPTIONS_COLLECTD, NULL},
    {"help", NULL, SWITCH_ACTION, GTEL_ARGS_HELP, "Print this text."},
    {"h", NULL, SWITCH_ACTION, GTEL_ARGS_HELP, NULL},
    {"version", NULL, SWITCH_ACTION, GTEL_ARGS_VERSION, "Print the version."},
    {"epoch", "NS", SWITCH_NUMBER, PLACE(epoch_ns), NULL},
    {"lane", "NAME", SWITCH_TEXT, PLACE(lane), NULL},
};

/* What to call the value of an option, by its type. */
static const char *const kinds[] = {"TIME", "N", "WORD", "WORD,WORD...", "TEXT", "PATH"};

/* One word of the command line, taken apart. */
struct word {
    struct gtel_str name; /* without dashes */
    const char *value;    /* behind the `=`, or the next word; NULL: none */
};

/* Where the sentence about what is wrong goes. */
struct problem {
    char *text;
    size_t size;
};

static int fail(struct problem problem, const char *fmt, ...) GTEL_PRINTF(2, 3);

static int fail(struct problem problem, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(problem.text, problem.size, fmt, args);
    va_end(args);
    return -EINVAL;
}

static bool is_name(struct gtel_str given, const char *name)
{
    if (given.n != strlen(name))
        return false;
    for (size_t i = 0; i < given.n; i++)
        if (given.p[i] != name[i] && !(given.p[i] == '_' && name[i] == '-'))
            return false;
    return true;
}

static const struct switch_row *find_switch(struct gtel_str name)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(switches); i++)
        if (is_name(name, switches[i].name))
            return &switches[i];
    return NULL;
}

static int read_config(struct gtel_options *options, const char *path, struct problem problem)
{
    char why[160] = "";
    struct gtel_buf text;
    gtel_buf_init(&text, GTEL_ARGS_CONFIG_MAX);
    int r = gtel_whole_file_read(path, &text, why, sizeof(why));
    r = r < 0 ? fail(problem, "--config %.200s: cannot be read: %s", path, why)
              : gtel_args_config(options, gtel_buf_text(&text), path, problem.text, problem.size);
    gtel_buf_done(&text);
    return r;
}

static int set_number(uint64_t *ret, const struct word *word, struct problem problem)
{
    uint64_t v = 0;
    if (gtel_str_u64(gtel_str_of(word->value), &v) < 0 || v == 0)
        return fail(problem, "--%.*s: '%.80s' is not a whole number of 1 or more",
                    GTEL_STR_ARG(word->name), word->value);
    *ret = v;
    return 0;
}

/* What is wrong with a value is said of the option as it was written. */
static int set_option(struct gtel_args *args, enum gtel_option option, const struct word *word,
                      struct problem problem)
{
    char why[GTEL_ARGS_ERROR_MAX] = "";
    struct gtel_str text = gtel_str_of(word->value);
    int r = gtel_option_set(&args->options, option, text, why, sizeof(why));
    size_t skip = strlen(gtel_option_row(option)->name);
    return r < 0 ? fail(problem, "--%.*s%s", GTEL_STR_ARG(word->name), why + skip) : 0;
}

static int set_switch(struct gtel_args *args, const struct switch_row *row, const struct word *word,
                      struct problem problem)
{
    void *place = (char *)args + row->what;
    switch (row->id) {
    case SWITCH_FLAG:
        *(bool *)place = true;
        return 0;
    case SWITCH_NUMBER:
        return set_number(place, word, problem);
    case SWITCH_TEXT:
        *(const char **)place = word->value;
        return 0;
    case SWITCH_FIX_SCRIPT:
        if (args->action != GTEL_ARGS_DOCTOR && args->action != GTEL_ARGS_SCRIPT)
            return fail(problem, "--fix-script is for gtel doctor: gtel doctor --fix-script");
        args->action = GTEL_ARGS_SCRIPT;
        return 0;
    case SWITCH_CONFIG:
        return read_config(&args->options, word->value, problem);
    case SWITCH_POLL_INTERVAL:
        return set_option(args, GTEL_O_INTERVAL, word, problem);
    default:
        args->action = (enum gtel_args_action)row->what;
        return 0;
    }
}

static int refuse_word(const struct gtel_args *args, const char *word, struct problem problem)
{
    bool is_command = strcmp(word, "doctor") == 0 || strcmp(word, "capture") == 0;
    if (args->action == GTEL_ARGS_CAPTURE)
        return fail(problem,
                    "'%.80s': the file comes directly after capture: gtel capture FILE [OPTION]...",
                    word);
    return fail(problem, "'%.80s' %s: `gtel --help` lists them", word,
                is_command ? "comes before all options" : "is not an option");
}

/* Takes argv[i] and, where it has a value of its own word, that; returns how many, or -EINVAL. */
static int take_word(struct gtel_args *args, int left, char *const *argv, struct problem problem)
{
    struct gtel_str text = gtel_str_of(argv[0]);
    size_t dashes = gtel_str_starts(text, GTEL_STR("--")) ? 2 : 1;
    if (text.n <= dashes || text.p[0] != '-')
        return refuse_word(args, argv[0], problem);
    size_t n = gtel_str_find(text, '=');
    struct word word = {.name = gtel_str_skip(gtel_str_head(text, n), dashes)};
    bool has_own_value = n < text.n; /* behind an `=` */
    if (has_own_value)
        word.value = text.p + n + 1;
    else if (left > 1 && argv[1][0] != '-')
        word.value = argv[1];

    const struct switch_row *row = find_switch(word.name);
    enum gtel_option option = row ? GTEL_O_COUNT : gtel_option_find(word.name, GTEL_OPTION_EXECD);
    if (!row && option == GTEL_O_COUNT)
        return fail(problem, "unknown option %.*s: `gtel --help` lists the options",
                    (int)(n < 80 ? n : 80), text.p);
    bool needs_value = !row || row->value;
    /* A variable that is not set is no wish for the real machine. */
    bool is_empty = row && row->id == SWITCH_TEXT && word.value && !word.value[0];
    const char *hint = row ? row->value : gtel_option_row(option)->preset;
    if (needs_value && (!word.value || is_empty))
        return fail(problem, "--%.*s needs a value, as --%.*s=%s", GTEL_STR_ARG(word.name),
                    GTEL_STR_ARG(word.name), hint[0] ? hint : kinds[gtel_option_row(option)->type]);
    if (!needs_value && has_own_value)
        return fail(problem, "--%.*s takes no value, and '%.80s' was given",
                    GTEL_STR_ARG(word.name), word.value);
    int r = row ? set_switch(args, row, &word, problem) : set_option(args, option, &word, problem);
    if (r < 0)
        return -EINVAL;
    return needs_value && !has_own_value ? 2 : 1;
}

enum { CAPTURE_COUNT = 3 };

/* A sub-command, which is the first word, and what belongs to it; returns how many words. */
static int take_command(struct gtel_args *args, int argc, char *const *argv)
{
    if (argc > 0 && strcmp(argv[0], "doctor") == 0) {
        args->action = GTEL_ARGS_DOCTOR;
        args->is_once = true;
        return 1;
    }
    if (argc == 0 || strcmp(argv[0], "capture") != 0)
        return 0;
    args->action = GTEL_ARGS_CAPTURE;
    args->is_once = true;
    args->count = CAPTURE_COUNT;
    if (argc == 1 || argv[1][0] == '-')
        return 1;
    args->file = argv[1];
    return 2;
}

/* What would be ignored without a word. */
static int refuse_together(const struct gtel_args *args, struct problem problem)
{
    bool is_capture = args->action == GTEL_ARGS_CAPTURE;
    bool is_doctor = args->action == GTEL_ARGS_DOCTOR || args->action == GTEL_ARGS_SCRIPT;
    if (args->is_watching && (args->is_once || args->is_explained))
        return fail(problem, "--watch goes with none of --once, --explain, doctor and capture");
    if (args->is_explained && (is_doctor || is_capture))
        return fail(problem, "--explain goes with none of doctor and capture");
    if (args->count > 0 && args->is_once && (is_doctor || args->action == GTEL_ARGS_RUN))
        return fail(problem, "--count goes with none of --once and doctor");
    if (args->file && !args->file[0])
        return fail(problem, "capture: '' is no name of a file");
    if (args->file && args->action >= GTEL_ARGS_LIST_METRICS)
        return fail(problem, "capture FILE goes with none of --list-metrics and --list-sources");
    return 0;
}

int gtel_args_parse(struct gtel_args *args, int argc, char *const *argv, char *error, size_t size)
{
    const struct problem problem = {error, size};
    *args = (struct gtel_args){.action = GTEL_ARGS_RUN};
    gtel_options_init(&args->options);
    for (int i = take_command(args, argc, argv); i < argc;) {
        int n = take_word(args, argc - i, argv + i, problem);
        if (n < 0)
            return n;
        i += n;
    }
    if (args->lane)
        args->action = GTEL_ARGS_LANE;
    if (refuse_together(args, problem) < 0)
        return -EINVAL;
    if (args->is_explained && args->count <= 1 && !gtel_args_has_clock(args))
        args->is_once = true;
    if ((args->is_watching || (args->is_explained && !args->is_once)) &&
        !args->options.value[GTEL_O_INTERVAL].is_given)
        (void)gtel_option_set(&args->options, GTEL_O_INTERVAL, GTEL_STR("2s"), error, size);
    bool is_clocked = gtel_args_has_clock(args);
    /* Two gathers of a recorded machine need no real time, and give the same values each time. */
    if (args->is_once && args->root && gtel_str_ends(gtel_str_of(args->root), GTEL_STR(".tree")))
        args->is_stepped = true;
    if (args->is_stepped && (!args->root || args->lane))
        return fail(problem, "--stepped needs a recorded machine: --root FILE.tree");
    uint64_t sample_ns = gtel_option_number(&args->options, GTEL_O_SAMPLE_INTERVAL);
    uint64_t interval_ns = gtel_option_number(&args->options, GTEL_O_INTERVAL);
    /* A helper gets the options of its front end but not what switched the clock off. */
    if (is_clocked && !args->lane && sample_ns > 0 && sample_ns >= interval_ns)
        return fail(problem, "--sample-interval (%s) must be shorter than --interval (%s)",
                    gtel_option_text(&args->options, GTEL_O_SAMPLE_INTERVAL).p,
                    gtel_option_text(&args->options, GTEL_O_INTERVAL).p);
    return 0;
}

bool gtel_args_has_clock(const struct gtel_args *args)
{
    return args->options.value[GTEL_O_INTERVAL].is_given && !args->is_clock_off;
}

/* ---- help ---- */

enum { HELP_INDENT = 6 };

static void put_text(struct gtel_buf *buf, const char *text)
{
    gtel_buf_printf(buf, "%*s", HELP_INDENT, "");
    gtel_buf_wrap(buf, HELP_INDENT, HELP_INDENT, gtel_str_of(text));
}

static void put_option(struct gtel_buf *buf, enum gtel_option id)
{
    const struct gtel_option_row *row = gtel_option_row(id);
    gtel_buf_str(buf, GTEL_STR("  "));
    gtel_option_flag(buf, id);
    gtel_buf_printf(buf, "=%s", kinds[row->type]);
    if (row->type == GTEL_OPTION_CHOICE)
        gtel_buf_printf(buf, "  one of %s; default %s\n", row->min, row->preset);
    else if (row->type == GTEL_OPTION_WORDS)
        gtel_buf_printf(buf, "\n      any of %s.\n", row->min);
    else if (row->type == GTEL_OPTION_TEXT || row->type == GTEL_OPTION_PATH)
        gtel_buf_char(buf, '\n');
    else
        gtel_buf_printf(buf, "  %s to %s; default %s\n", row->min, row->max, row->preset);
    put_text(buf, row->text);
}

void gtel_args_help(struct gtel_buf *buf)
{
    gtel_buf_str(buf,
                 GTEL_STR("Usage: gtel [OPTION]...\n"
                          "       gtel doctor [OPTION]...\n"
                          "       gtel capture [FILE] [OPTION]...\n\n"
                          "Reads the GPUs of this machine and writes line protocol to standard "
                          "output:\nonce for each newline on standard input, until the input ends. "
                          "Telegraf runs it\nso with [[inputs.execd]] and signal = \"STDIN\". By "
                          "hand, try\n\n    gtel --once\n    gtel doctor    what is missing, why, "
                          "and how to get it; status 1 when\n                   something can "
                          "be fixed\n    gtel capture   write a recorded machine: what "
                          "the sources read in --count\n                   gathers (3), without "
                          "serial numbers and names; a FILE\n                   that exists is "
                          "not replaced\n\nWhat to do:\n\n"));
    for (size_t i = 0; i < GTEL_ARRAY_LEN(switches); i++) {
        const struct switch_row *row = &switches[i];
        if (!row->text)
            continue;
        gtel_buf_printf(buf, "  --%s%s%s\n", row->name, row->value ? "=" : "",
                        row->value ? row->value : "");
        put_text(buf, row->text);
    }
    gtel_buf_str(buf, GTEL_STR("\nOptions (a TIME is 500ms, 10s, 2m or 1h):\n\n"));
    for (size_t i = 0; i < GTEL_O_COUNT; i++)
        if ((gtel_option_row((enum gtel_option)i)->where & GTEL_OPTION_EXECD) != 0)
            put_option(buf, (enum gtel_option)i);
}
