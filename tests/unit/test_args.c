/* SPDX-License-Identifier: MIT */
/* The program's command line and configuration file. */
#include "execd/args.h"
#include "harness/test.h"

#include <errno.h>
#include <stdio.h>

enum { WORDS_MAX = 6 };

static const struct good_case {
    const char *label;
    const char *words[WORDS_MAX];
    uint64_t interval_ns;
    uint64_t count;
    bool has_clock;
    bool is_once;
} good_cases[] = {
    {"nothing", {NULL}, 10000000000, 0, false, false},
    {"one dash", {"-interval", "2s"}, 2000000000, 0, true, false},
    {"with =", {"--interval=500ms"}, 500000000, 0, true, false},
    {"Telegraf's shim", {"-poll_interval", "1m"}, 60000000000, 0, true, false},
    {"shim, off", {"-poll_interval=1s", "-poll_interval_disabled"}, 1000000000, 0, false, false},
    {"last wins", {"--interval=1s", "--interval=3s"}, 3000000000, 0, true, false},
    {"count", {"--count", "3"}, 10000000000, 3, false, false},
    {"once", {"--once"}, 10000000000, 0, false, true},
    {"explain is once", {"--explain"}, 10000000000, 0, false, true},
    {"explain with a count", {"--explain", "--count=2"}, 2000000000, 2, true, false},
    {"explain with a count of one", {"--explain", "--count=1"}, 10000000000, 1, false, true},
    {"explain at newlines",
     {"--explain", "--count=2", "--poll-interval-disabled"},
     2000000000,
     2,
     false,
     false},
    {"explain with a clock", {"--explain", "--interval=1s"}, 1000000000, 0, true, false},
    {"one gather", {"--count=1"}, 10000000000, 1, false, false},
    {"several",
     {"--interval", "2s", "--wake", "never", "--count", "4"},
     2000000000,
     4,
     true,
     false},
    {"once with an interval", {"--interval", "2s", "--once"}, 2000000000, 0, true, true},
    {"samples within the interval",
     {"--interval=1s", "--sample-interval=999ms"},
     1000000000,
     0,
     true,
     false},
    {"samples without a clock", {"--sample-interval=20s"}, 10000000000, 0, false, false},
    {"other spelling", {"--SampleInterval=1s", "--info_interval=1h"}, 10000000000, 0, false, false},
    {"empty text", {"--host-tag="}, 10000000000, 0, false, false},
    /* What a front end without a clock of its own hands on. */
    {"helper",
     {"--lane", "kernel", "--interval=1s", "--sample-interval=5s"},
     1000000000,
     0,
     true,
     false},
};

static int parse(struct gtel_args *args, const char *const *words, char *error, size_t size)
{
    char *argv[WORDS_MAX];
    int argc = 0;
    for (; argc < WORDS_MAX && words[argc]; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc];
    return gtel_args_parse(args, argc, argv, error, size);
}

static void test_good(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(good_cases); i++) {
        struct gtel_args args;
        char error[GTEL_ARGS_ERROR_MAX] = "";
        test_label = good_cases[i].label;
        CHECK_INT(parse(&args, good_cases[i].words, error, sizeof(error)), 0);
        CHECK_STR(gtel_str_of(error), "");
        CHECK_INT(gtel_option_number(&args.options, GTEL_O_INTERVAL), good_cases[i].interval_ns);
        CHECK_INT(args.count, good_cases[i].count);
        CHECK_INT(gtel_args_has_clock(&args), good_cases[i].has_clock);
        CHECK_INT(args.is_once, good_cases[i].is_once);
    }
}

static const struct bad_case {
    const char *words[WORDS_MAX];
    const char *says[3]; /* what the message must contain */
} bad_cases[] = {
    {{"--nonsense"}, {"--nonsense", "--help"}},
    {{"--helper=/x"}, {"--helper"}},
    {{"-v"}, {"unknown option -v:"}},
    {{"-verbose=1"}, {"unknown option -verbose:"}},
    {{"once"}, {"'once'", "not an option"}},
    {{"-"}, {"not an option"}},
    {{"--"}, {"not an option"}},
    {{""}, {"not an option"}},
    {{"--interval"}, {"--interval", "needs a value"}},
    {{"--interval", "--once"}, {"--interval", "needs a value"}},
    {{"--interval", "-once"}, {"--interval", "needs a value"}},
    {{"--interval=1ms"}, {"--interval: ", "'1ms'", "100ms to 1h"}},
    {{"--interval=fast"}, {"--interval: ", "'fast'", "10s"}},
    {{"--interval="}, {"--interval: ", "''"}},
    {{"--amd-tool=amd-smi"},
     {"--amd-tool: ", "'amd-smi' is not an absolute path", "as /opt/rocm/bin/amd-smi"}},
    {{"--wake=maybe"}, {"--wake: ", "'maybe'", "never,always"}},
    {{"--process-tags=pid,name"}, {"--process-tags: ", "'pid,name'", "container,pod,namespace"}},
    {{"--once=yes"}, {"--once", "no value", "'yes'"}},
    {{"--count=0"}, {"--count", "'0'", "1 or more"}},
    {{"--count=-1"}, {"--count", "'-1'"}},
    {{"--count=many"}, {"--count", "'many'"}},
    {{"--count"}, {"--count", "needs a value", "N"}},
    {{"--root="}, {"--root needs a value, as --root=PATH"}},
    {{"--sources"}, {"--sources needs a value, as --sources=TEXT"}},
    {{"--process-tags"}, {"--process-tags needs a value, as --process-tags=WORD,WORD..."}},
    {{"--wake"}, {"--wake needs a value, as --wake=never"}},
    {{"-poll_interval=fast"}, {"--poll_interval: 'fast' is not a time from 100ms to 1h"}},
    {{"capture", ""}, {"capture: '' is no name"}},
    {{"capture", "x.tree", "--list-metrics"}, {"capture", "--list-metrics"}},
    {{"--root", "", "--once"}, {"--root needs a value, as --root=PATH"}},
    {{"--stepped"}, {"--stepped", "--root FILE.tree"}},
    {{"--stepped", "--root=x.tree", "--lane=kernel"}, {"--stepped", "--root FILE.tree"}},
    {{"--interval=1s", "--sample-interval=1s"}, {"--sample-interval (1s)", "shorter", "(1s)"}},
    {{"--interval=1s", "--sample-interval=2s"}, {"--sample-interval (2s)", "shorter", "(1s)"}},
    {{"--epoch=0"}, {"--epoch", "'0'", "1 or more"}},
    {{"--onc"}, {"unknown option --onc:"}},
    {{"--oncee"}, {"unknown option --oncee:"}},
    {{"--_nce"}, {"unknown option --_nce:"}},
    {{"--listxmetrics"}, {"unknown option --listxmetrics:"}},
    {{"-=1"}, {"unknown option -:"}},
    {{"--once", "--once", "three"}, {"'three'", "not an option"}},
    {{"--once", "doctor"}, {"'doctor'", "comes before all options"}},
    {{"--once", "capture"}, {"'capture'", "comes before all options"}},
    {{"--once", "--watch"}, {"--watch goes with none of --once"}},
    {{"--watch", "--explain"}, {"--watch goes with none of --once"}},
    {{"doctor", "--watch"}, {"--watch goes with none of --once"}},
    {{"--once", "--count=3"}, {"--count goes with none of --once and doctor"}},
    {{"doctor", "--count=3"}, {"--count goes with none of --once and doctor"}},
    {{"doctor", "--explain"}, {"--explain goes with none of doctor and capture"}},
    {{"capture", "--explain"}, {"--explain goes with none of doctor and capture"}},
    {{"capture", "--root", "x.tree", "cap.tree"},
     {"'cap.tree'", "the file comes directly after capture: gtel capture FILE [OPTION]..."}},
    {{"--config=/nonexistent/gtel.conf"}, {"/nonexistent/gtel.conf", "No such file"}},
    {{"--fix-script"}, {"--fix-script", "gtel doctor --fix-script"}},
    {{"capture", "--fix-script"}, {"--fix-script", "gtel doctor --fix-script"}},
    {{"--config=/"}, {"--config /", "cannot be read"}},
};

static void test_bad(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(bad_cases); i++) {
        struct gtel_args args;
        char error[GTEL_ARGS_ERROR_MAX] = "";
        test_label = bad_cases[i].words[0];
        CHECK_INT(parse(&args, bad_cases[i].words, error, sizeof(error)), -EINVAL);
        for (size_t j = 0; j < 3 && bad_cases[i].says[j]; j++)
            if (!CHECK(strstr(error, bad_cases[i].says[j]) != NULL))
                printf("    '%s' is not in: %s\n", bad_cases[i].says[j], error);
    }
}

static const struct {
    const char *words[WORDS_MAX];
    enum gtel_args_action action;
    bool is_once;
    bool is_stepped;
} action_cases[] = {
    {{NULL}, GTEL_ARGS_RUN, false, false},
    {{"--help"}, GTEL_ARGS_HELP, false, false},
    {{"-h"}, GTEL_ARGS_HELP, false, false},
    {{"--version"}, GTEL_ARGS_VERSION, false, false},
    {{"--list_metrics"}, GTEL_ARGS_LIST_METRICS, false, false},
    {{"--list-sources"}, GTEL_ARGS_LIST_SOURCES, false, false},
    {{"--list-options"}, GTEL_ARGS_LIST_OPTIONS, false, false},
    {{"--list-options-collectd"}, GTEL_ARGS_LIST_OPTIONS_COLLECTD, false, false},
    {{"--lane=kernel"}, GTEL_ARGS_LANE, false, false},
    {{"doctor"}, GTEL_ARGS_DOCTOR, true, false},
    {{"doctor", "--root=/x"}, GTEL_ARGS_DOCTOR, true, false},
    {{"doctor", "--fix-script"}, GTEL_ARGS_SCRIPT, true, false},
    {{"capture"}, GTEL_ARGS_CAPTURE, true, false},
    {{"capture", "--root=x.tree"}, GTEL_ARGS_CAPTURE, true, true},
    {{"--once"}, GTEL_ARGS_RUN, true, false},
    {{"--once", "--root=x"}, GTEL_ARGS_RUN, true, false},
    {{"--once", "--root=x.tree"}, GTEL_ARGS_RUN, true, true},
    {{"--root=x.tree"}, GTEL_ARGS_RUN, false, false},
    {{"--stepped", "--root=x.tree"}, GTEL_ARGS_RUN, false, true},
};

static void test_actions(void)
{
    struct gtel_args args;
    char error[GTEL_ARGS_ERROR_MAX] = "";
    for (size_t i = 0; i < GTEL_ARRAY_LEN(action_cases); i++) {
        const char *const *words = action_cases[i].words;
        test_label = words[0] ? words[0] : "no words";
        CHECK_INT(parse(&args, words, error, sizeof(error)), 0);
        CHECK_INT(args.action, action_cases[i].action);
        CHECK_INT(args.is_once, action_cases[i].is_once);
        CHECK_INT(args.is_stepped, action_cases[i].is_stepped);
        CHECK(!args.is_explained && !args.is_clock_off);
    }
    static const char *const helper[WORDS_MAX] = {"--lane=level-zero", "--epoch", "7", "--root=x"};
    test_label = "a helper";
    CHECK_INT(parse(&args, helper, error, sizeof(error)), 0);
    CHECK_STR(gtel_str_of(args.lane), "level-zero");
    CHECK_STR(gtel_str_of(args.root), "x");
    CHECK_INT(args.epoch_ns, 7);
    test_label = "a long name";
    char word[120] = "--";
    const char *const words[WORDS_MAX] = {word};
    memset(word + 2, 'x', 77);
    for (size_t n = 77; n <= 80; n++) { /* of it 80 bytes are repeated, with the dashes */
        char want[GTEL_ARGS_ERROR_MAX];
        CHECK_INT(parse(&args, words, error, sizeof(error)), -EINVAL);
        (void)snprintf(want, sizeof(want), "unknown option %.*s: `gtel --help` lists the options",
                       (int)(n < 78 ? n + 2 : 80), word);
        CHECK_STR(gtel_str_of(error), want);
        word[2 + n] = 'x';
    }
}

static const struct config_case {
    const char *label;
    const char *text;
    const char *says; /* NULL: good */
    uint64_t interval_ns;
    const char *sources;
} config_cases[] = {
    {"empty", "", NULL, 10000000000, ""},
    {"comments and the table", "# a\n[[inputs.gtel]]\n\n  [[inputs.gtel]] \t# b\r\ninterval=2\n",
     NULL, 2000000000, ""},
    {"the table alone", "[[inputs.gtel]]", NULL, 10000000000, ""},
    {"an option behind the table", "\n[[inputs.gtel]] wake=\"always\" interval=zzz\n",
     "f:2: nothing may follow on this line but a comment", 0, ""},
    {"an open table", "[[inputs.gtel]\n", "f:1: the only table is [[inputs.gtel]]", 0, ""},
    {"another table", "[agent]\ninterval = \"1s\"\n", "f:1: the only table is ", 0, ""},
    {"another plugin", "[[inputs.cpu]]\n", "f:1: the only table is ", 0, ""},
    {"strings", "interval = \"2s\" # two\nsources='xe,nvml'\n", NULL, 2000000000, "xe,nvml"},
    {"number", "interval = 3", NULL, 3000000000, ""},
    {"shim", "poll_interval = \"1m\"\r\n", NULL, 60000000000, ""},
    {"array", "sources = [ \"xe\", 'i915' ]", NULL, 10000000000, "xe,i915"},
    {"array over lines", "sources = [\n  \"xe\", # b\n\n  \"nvml\",\n]\ninterval=1\n", NULL,
     1000000000, "xe,nvml"},
    {"empty array", "sources = []\n", NULL, 10000000000, ""},
    {"empty string in an array", "sources = [\"\", \"xe\"]", NULL, 10000000000, ",xe"},
    {"an empty string alone", "sources = [\"\"]", NULL, 10000000000, ""},
    {"escapes", "sources = \"a\\\\b\\\"c\"", NULL, 10000000000, "a\\b\"c"},
    {"unknown", "\n\nspeed = 1\n", "f:3: unknown option: ", 0, ""},
    {"out of range", "interval = \"1ms\"", "f:1: interval: '1ms' is not a time from 100ms", 0, ""},
    {"no value", "interval =\n", "f:1: a string, a number or an array", 0, ""},
    {"no =", "interval 5\n", "f:1: expected: name = value", 0, ""},
    {"no name", "= 5\n", "f:1: expected: name = value", 0, ""},
    {"junk behind", "interval = 5 s\n", "f:1: nothing may follow", 0, ""},
    {"open string", "sources = \"xe\ninterval = 1\n", "f:1: a string that does not end", 0, ""},
    {"string to the end", "sources = \"xe", "f:1: a string that does not end", 0, ""},
    {"odd escape", "sources = \"\\n\"", "f:1: only", 0, ""},
    {"open array", "sources = [\"xe\"", "f:1: a comma or ]", 0, ""},
    {"open array 2", "sources = [\"xe\",", "f:1: a string, a number", 0, ""},
    {"comma in an array", "sources = [\"a,b\"]", "without commas", 0, ""},
    {"twice", "interval = 1\ninterval = 2\n", "f:2: interval is set twice", 0, ""},
    {"twice, by two names", "interval = 1\npoll_interval = 2\n", "f:2: poll_interval is set twice",
     0, ""},
    {"one byte behind", "interval = 5 s", "f:1: nothing may follow", 0, ""},
    {"all kinds of blanks", " \tinterval\t \r=\t 2 \t\r\n\r\n", NULL, 2000000000, ""},
    {"single quotes keep a backslash", "sources = 'a\\\\b\"c'", NULL, 10000000000, "a\\\\b\"c"},
    {"a tab in a string", "sources = \"a\tb c\"", NULL, 10000000000, "a\tb c"},
    {"a control character", "sources = \"a\x1f\"", "f:1: a string that does not end", 0, ""},
    {"beyond ASCII", "sources = \"\xc3\xa4\"", NULL, 10000000000, "\xc3\xa4"},
    {"bare words", "sources = 09azAZ-_.+", NULL, 10000000000, "09azAZ-_.+"},
    {"before 0", "sources = a/", "f:1: nothing may follow", 0, ""},
    {"behind 9", "sources = a:", "f:1: nothing may follow", 0, ""},
    {"before A", "sources = a@", "f:1: nothing may follow", 0, ""},
    {"behind Z", "sources = a[", "f:1: nothing may follow", 0, ""},
    {"before a", "sources = a`", "f:1: nothing may follow", 0, ""},
    {"behind z", "sources = a{", "f:1: nothing may follow", 0, ""},
    {"bare words in an array", "sources = [xe, 1]", NULL, 10000000000, "xe,1"},
    {"an array without commas", "sources = [\"xe\" \"i915\"]", "f:1: a comma or ]", 0, ""},
    {"behind an array", "sources = [\"xe\"] x\n", "f:1: nothing may follow", 0, ""},
    {"an array's string is open", "\nsources = [\"xe\n\"]", "f:2: a string that does not end", 0,
     ""},
    {"a name of 64 bytes", "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl = 1\n",
     "f:1: unknown option: `gtel --help` lists the options", 0, ""},
    {"a name of 65 bytes",
     "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklm = 1\n",
     "f:1: expected: name = value", 0, ""},
    {"the second line of two", "interval = 1\nsources = \"xe\" x\n", "f:2: nothing may follow", 0,
     ""},
    {"a byte order mark", "\xef\xbb\xbf# a\ninterval = 1\n", NULL, 1000000000, ""},
    {"a mistake behind one", "\xef\xbb\xbf\nspeed = 1\n", "f:2: unknown option: ", 0, ""},
    {"two of them", "\xef\xbb\xbf\xef\xbb\xbfinterval = 1\n", "f:1: expected: name = value", 0, ""},
    {"inline table", "wake = { a = 1 }", "f:1: a string, a number", 0, ""},
};

static void test_config(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(config_cases); i++) {
        const struct config_case *c = &config_cases[i];
        struct gtel_options options;
        char error[GTEL_ARGS_ERROR_MAX] = "";
        test_label = c->label;
        gtel_options_init(&options);
        int r = gtel_args_config(&options, gtel_str_of(c->text), "f", error, sizeof(error));
        CHECK_INT(r, c->says ? -EINVAL : 0);
        if (c->says && !CHECK(strstr(error, c->says) != NULL))
            printf("    %s\n", error);
        if (c->says)
            continue;
        CHECK_STR(gtel_str_of(error), "");
        CHECK_INT(gtel_option_number(&options, GTEL_O_INTERVAL), c->interval_ns);
        CHECK_STR(gtel_option_text(&options, GTEL_O_SOURCES), c->sources);
    }
    test_label = "too long";
    char text[2200] = "sources = \"";
    memset(text + strlen(text), 'x', 2100);
    text[2111] = '"';
    struct gtel_options options;
    char error[GTEL_ARGS_ERROR_MAX] = "";
    gtel_options_init(&options);
    CHECK_INT(gtel_args_config(&options, gtel_str_of(text), "f", error, sizeof(error)), -EINVAL);
    CHECK_STR(gtel_str_of(error), "f:1: the value is too long");
    text[strlen("sources = ")] = '[';
    text[strlen("sources = [")] = '"';
    text[2112] = ']';
    CHECK_INT(gtel_args_config(&options, gtel_str_of(text), "f", error, sizeof(error)), -EINVAL);
    CHECK_STR(gtel_str_of(error), "f:1: an array's strings must be short and without commas");

    test_label = "the command line wins";
    gtel_options_init(&options);
    CHECK_INT(gtel_option_set(&options, GTEL_O_INTERVAL, GTEL_STR("5s"), error, sizeof(error)), 0);
    CHECK_INT(gtel_args_config(&options, GTEL_STR("interval = 1"), "f", error, sizeof(error)), 0);
    CHECK_INT(gtel_option_number(&options, GTEL_O_INTERVAL), 5000000000);
    CHECK_INT(gtel_args_config(&options, GTEL_STR("interval = x"), "f", error, sizeof(error)),
              -EINVAL);
}

static void test_doctor(void)
{
    char *const first[] = {(char[]){"doctor"}, (char[]){"--root=x.tree"}, NULL};
    char *const second[] = {(char[]){"--once"}, (char[]){"doctor"}, NULL};
    struct gtel_args args;
    char error[GTEL_ARGS_ERROR_MAX] = "";
    test_label = "doctor";
    CHECK_INT(gtel_args_parse(&args, 2, first, error, sizeof(error)), 0);
    CHECK_INT(args.action, GTEL_ARGS_DOCTOR);
    CHECK(args.is_once && args.is_stepped);
    CHECK_INT(gtel_args_parse(&args, 2, second, error, sizeof(error)), -EINVAL);
}

static void test_capture(void)
{
    char *const bare[] = {(char[]){"capture"}, NULL};
    char *const full[] = {(char[]){"capture"}, (char[]){"out.tree"}, (char[]){"--count=5"},
                          (char[]){"--root=x.tree"}, NULL};
    char *const two[] = {(char[]){"capture"}, (char[]){"a"}, (char[]){"b"}, NULL};
    struct gtel_args args;
    char error[GTEL_ARGS_ERROR_MAX] = "";
    test_label = "capture";
    CHECK_INT(gtel_args_parse(&args, 1, bare, error, sizeof(error)), 0);
    CHECK_INT(args.action, GTEL_ARGS_CAPTURE);
    CHECK_INT(args.count, 3);
    CHECK(!args.file && !args.is_stepped);
    CHECK_INT(gtel_args_parse(&args, 4, full, error, sizeof(error)), 0);
    CHECK_INT(args.count, 5);
    CHECK(args.is_stepped);
    CHECK_STR(gtel_str_of(args.file), "out.tree");
    CHECK_INT(gtel_args_parse(&args, 3, two, error, sizeof(error)), -EINVAL);
}

/* A line of an option's text ends where the next word does not fit; option and text are apart. */
static void check_wrapped(struct gtel_str rest)
{
    static const struct gtel_str indent = GTEL_STR_INIT("      ");
    struct gtel_str line;
    struct gtel_str word;
    size_t before = 0; /* bytes of the line before, of the same text */
    size_t lines = 0;
    bool is_option = false; /* the line before */
    while (gtel_str_line(&rest, &line)) {
        bool is_text = gtel_str_starts(line, indent) && line.n > indent.n &&
                       line.p[indent.n] != ' ' && !gtel_str_starts(line, GTEL_STR("      any of"));
        struct gtel_str words = line;
        if (is_text && before > 0 && gtel_str_word(&words, &word))
            CHECK(before + 1 + word.n > 80);
        if (is_option)
            CHECK(gtel_str_starts(line, indent));
        is_option = gtel_str_starts(line, GTEL_STR("  --"));
        lines += is_text;
        before = is_text ? line.n : 0;
    }
    CHECK(lines > 40);
}

static void test_help(void)
{
    struct gtel_buf buf;
    struct gtel_str rest;
    struct gtel_str line;
    test_label = "help";
    gtel_buf_init(&buf, 1 << 16);
    gtel_args_help(&buf);
    gtel_buf_char(&buf, '\0');
    CHECK(!buf.has_failed);
    CHECK(strstr(buf.p, "--poll-interval=TIME") != NULL);
    CHECK(strstr(buf.p, "--helper") == NULL && strstr(buf.p, "--lane") == NULL);
    for (size_t i = 0; i < GTEL_O_COUNT; i++) {
        struct gtel_buf flag;
        gtel_buf_init(&flag, 100);
        gtel_option_flag(&flag, (enum gtel_option)i);
        gtel_buf_char(&flag, '\0');
        bool is_ours = (gtel_option_row((enum gtel_option)i)->where & GTEL_OPTION_EXECD) != 0;
        if (is_ours)
            CHECK(strstr(buf.p, flag.p) != NULL);
        gtel_buf_done(&flag);
    }
    rest = gtel_buf_text(&buf);
    while (gtel_str_line(&rest, &line))
        CHECK(line.n <= 80 && !gtel_str_ends(line, GTEL_STR(" ")));
    check_wrapped(gtel_buf_text(&buf));
    gtel_buf_done(&buf);
}

/* The table of the options that the documents have: of each front end its own, and all of them. */
static void test_documents(void)
{
    static const struct {
        enum gtel_option_where where;
        const char *has[8];
    } tables[] = {
        {GTEL_OPTION_EXECD,
         {"| option | default | values | meaning |\n|---|---|---|---|\n| `--",
          "| `--interval` | `10s` | 100ms to 1h | ", "| `--host-tag` | (empty) | text | ",
          "| `--wake` | `never` | `never`, `always` | ",
          "| `--process-tags` | (empty) | any of `container`, `pod`, "}},
        {GTEL_OPTION_COLLECTD,
         {"| option | default | values | meaning |\n|---|---|---|---|\n| `",
          "| `Wake` | `never` | `never`, `always` | ",
          "| `ProcessTags` | (empty) | any of `container`, `pod`, "}},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(tables); i++) {
        struct gtel_buf buf;
        size_t rows = 0;
        size_t wanted = 2;
        test_label = i == 0 ? "the program's options" : "the plugins' options";
        gtel_buf_init(&buf, 1 << 16);
        gtel_options_write(&buf, tables[i].where);
        gtel_buf_char(&buf, '\0');
        CHECK(!buf.has_failed);
        for (size_t k = 0; k < 8 && tables[i].has[k]; k++)
            if (!CHECK(strstr(buf.p, tables[i].has[k]) != NULL))
                printf("    %s\n", tables[i].has[k]);
        for (size_t id = 0; id < GTEL_O_COUNT; id++) {
            const struct gtel_option_row *row = gtel_option_row((enum gtel_option)id);
            if ((row->where & tables[i].where) == 0)
                continue;
            char end[600];
            (void)snprintf(end, sizeof(end), " | %s |\n", row->text);
            CHECK(strstr(buf.p, end) != NULL);
            wanted++;
        }
        for (const char *p = buf.p; *p; p++)
            rows += *p == '\n';
        CHECK_INT(rows, wanted);
        gtel_buf_done(&buf);
    }
    test_label = "";
}

int main(void)
{
    test_good();
    test_bad();
    test_actions();
    test_config();
    test_doctor();
    test_capture();
    test_help();
    test_documents();
    return test_result();
}
