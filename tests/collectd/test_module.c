/* SPDX-License-Identifier: MIT */
/* The callbacks and the configuration of a plugin, in a fake daemon and with a scripted context. */
#include "fakes/collectd_daemon.h"
#include "module.h"
#include "harness/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The context: what it was made with, and what it answers. */
static struct stub {
    int news;
    int frees;
    int gathers;
    int new_error;
    bool refuses_sources; /* -EINVAL while the Sources option names something */
    struct gtel_options options;
    char vendor[16];
    char helper[256];
    char helper_args[256];
    uint64_t interval_ns;
} stub;

struct gtel_context {
    int unused;
};
static struct gtel_context the_context;

int gtel_context_new(const struct gtel_setup *setup, struct gtel_context **ret)
{
    stub.news++;
    stub.options = *setup->options;
    stub.interval_ns = setup->interval_ns;
    (void)gtel_str_copy(stub.vendor, sizeof(stub.vendor), gtel_str_of(setup->vendor));
    (void)gtel_str_copy(stub.helper, sizeof(stub.helper), gtel_str_of(setup->helper));
    size_t n = 0;
    stub.helper_args[0] = '\0';
    for (size_t i = 0; setup->helper_args && setup->helper_args[i]; i++)
        n += (size_t)snprintf(stub.helper_args + n, sizeof(stub.helper_args) - n, "%s ",
                              setup->helper_args[i]);
    if (stub.new_error < 0)
        return stub.new_error;
    if (stub.refuses_sources && gtel_option_text(setup->options, GTEL_O_SOURCES).n > 0)
        return -EINVAL;
    *ret = &the_context;
    return 0;
}

void gtel_context_free(struct gtel_context *context)
{
    if (context)
        stub.frees++;
}

void gtel_context_gather(struct gtel_context *context)
{
    (void)context;
    stub.gathers++;
}

static int read_once(void)
{
    return fake_daemon.read(&fake_daemon.read_data);
}

/* A daemon that has just loaded the plugin. */
static void load(void)
{
    if (fake_daemon.shutdown)
        (void)fake_daemon.shutdown();
    fake_daemon_reset();
    stub = (struct stub){0};
    module_register();
}

static void configure(oconfig_item_t line)
{
    CHECK_INT(fake_daemon_configure(&line, 1), 0);
}

/* A program that may be run, so that the plugin takes it for its helper. */
static void configure_helper(void)
{
    configure((oconfig_item_t)FAKE_STRING("Helper", "/bin/sh"));
}

static void test_register(void)
{
    load();
    CHECK_STR(gtel_str_of(fake_daemon.name), "gpu_intel");
    CHECK(fake_daemon.config && fake_daemon.init && fake_daemon.shutdown);
    CHECK_INT(fake_daemon.registrations, 0);
    CHECK_INT(fake_daemon.shutdown(), 0); /* without init */
    CHECK_INT(fake_daemon.shutdown(), 0);
}

/* What a check of the configuration runs, and the start of the daemon, open nothing. */
static void test_life(void)
{
    load();
    configure_helper();
    CHECK_INT(fake_daemon.init(), 0);
    CHECK_INT(fake_daemon.init(), 0);
    CHECK_INT(fake_daemon.registrations, 1);
    CHECK_INT(fake_daemon.read_interval, TIME_T_TO_CDTIME_T_STATIC(1));
    CHECK_INT(stub.news, 0);

    CHECK_INT(read_once(), 0);
    CHECK_INT(read_once(), 0);
    CHECK_INT(stub.news, 1);
    CHECK_INT(stub.gathers, 2);
    CHECK_INT(stub.interval_ns, 1000000000);
    CHECK_STR(gtel_str_of(stub.vendor), "intel");
    CHECK_STR(gtel_str_of(stub.helper), "/bin/sh");
    CHECK_STR(gtel_str_of(stub.helper_args), "");

    CHECK_INT(fake_daemon.shutdown(), 0);
    CHECK_INT(stub.frees, 1);
    CHECK_INT(fake_daemon.log_n, 0);

    /* Once more from the beginning: the options are the defaults again. */
    CHECK_INT(fake_daemon.init(), 0);
    CHECK_INT(fake_daemon.registrations, 2);
    CHECK_INT(read_once(), 0);
    CHECK_INT(stub.news, 1); /* no helper where this build would be installed */
    CHECK_INT(fake_daemon_said(GTEL_HELPER_PATH), 1);
}

static const struct {
    const char *label;
    oconfig_item_t line;
    enum gtel_option id;
    uint64_t number;
    const char *text; /* NULL: the number counts */
    const char *said; /* in the one warning; NULL: none */
} config_cases[] = {
    {"a time", FAKE_STRING("Deadline", "300ms"), GTEL_O_DEADLINE, 300000000, NULL, NULL},
    {"a number of seconds", FAKE_NUMBER("Deadline", 0.25), GTEL_O_DEADLINE, 250000000, NULL, NULL},
    {"a number that looks worse in binary", FAKE_NUMBER("Deadline", 0.1), GTEL_O_DEADLINE,
     100000000, NULL, NULL},
    {"another case and separator", FAKE_NUMBER("re_scan", 60), GTEL_O_RESCAN, 60000000000, NULL,
     NULL},
    {"a time out of range", FAKE_NUMBER("Deadline", 3600), GTEL_O_DEADLINE, 500000000, NULL,
     "Deadline: '3600' is not a time from 10ms to 10s"},
    {"a huge number", FAKE_NUMBER("Deadline", 1e300), GTEL_O_DEADLINE, 500000000, NULL, "1e+300"},
    {"a negative one", FAKE_NUMBER("Rescan", -1), GTEL_O_RESCAN, 30000000000, NULL, "'-1'"},
    {"no time at all", FAKE_STRING("Deadline", "soon"), GTEL_O_DEADLINE, 500000000, NULL, "'soon'"},
    {"a word", FAKE_STRING("Wake", "always"), GTEL_O_WAKE, 1, NULL, NULL},
    {"a boolean for a word", FAKE_BOOLEAN("Wake", true), GTEL_O_WAKE, 0, NULL, "never,always"},
    {"text", FAKE_STRING("Sources", "xe,i915"), GTEL_O_SOURCES, 0, "xe,i915", NULL},
    {"on, yes or true without quotes", FAKE_BOOLEAN("ProcessEnergy", true), GTEL_O_PROCESS_ENERGY,
     1, NULL, NULL},
    {"off, no or false without quotes", FAKE_BOOLEAN("XeEngines", false), GTEL_O_XE_ENGINES, 2,
     NULL, NULL},
    {"a boolean for text", FAKE_BOOLEAN("Sources", false), GTEL_O_SOURCES, 0, "off", NULL},
    {"a path that is not absolute", FAKE_STRING("Helper", "bin/gtel"), GTEL_O_HELPER, 0, "",
     "not an absolute path"},
    {"an unknown option", FAKE_STRING("Deadlin", "1s"), GTEL_O_DEADLINE, 500000000, NULL,
     "unknown option 'Deadlin'"},
    {"a name that steers a terminal", FAKE_STRING("Dead\033[31m\302\233", "1s"), GTEL_O_DEADLINE,
     500000000, NULL, "unknown option 'Dead?[31m\?\?'"},
    {"an option of the program only", FAKE_STRING("HostTag", "x"), GTEL_O_HOST_TAG, 0, "",
     "unknown option 'HostTag'"},
    {"no value",
     {.key = (char[]){"Deadline"}},
     GTEL_O_DEADLINE,
     500000000,
     NULL,
     "needs one value"},
    {"a block",
     {.key = (char[]){"Deadline"}, .children = &(oconfig_item_t){0}, .children_num = 1},
     GTEL_O_DEADLINE,
     500000000,
     NULL,
     "unknown option"},
    {"several values",
     {.key = (char[]){"Sources"},
      .values_num = 2,
      .values =
          (oconfig_value_t[]){{.type = OCONFIG_TYPE_STRING, .value.string = (char[]){"xe"}},
                              {.type = OCONFIG_TYPE_STRING, .value.string = (char[]){"i915"}}}},
     GTEL_O_SOURCES,
     0,
     "xe,i915",
     NULL},
};

static void test_config(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(config_cases); i++) {
        test_label = config_cases[i].label;
        struct gtel_options options;
        gtel_options_init(&options);
        load();
        configure_helper();
        configure(config_cases[i].line);
        CHECK_INT(fake_daemon_said("warning: gpu_intel: "), config_cases[i].said != NULL);
        if (config_cases[i].said)
            CHECK_INT(fake_daemon_said(config_cases[i].said), 1);
        CHECK_INT(fake_daemon.init(), 0);
        CHECK_INT(read_once(), 0);
        if (config_cases[i].id == GTEL_O_HELPER)
            CHECK_STR(gtel_str_of(stub.helper), "/bin/sh");
        else if (config_cases[i].text)
            CHECK_STR(gtel_option_text(&stub.options, config_cases[i].id), config_cases[i].text);
        else
            CHECK_INT(gtel_option_number(&stub.options, config_cases[i].id),
                      config_cases[i].number);
    }
    test_label = "";
}

/* Lines of one option: those of a list are one list, of others the last one counts. */
static void test_repeated(void)
{
    const struct {
        const char *label;
        oconfig_item_t line[2];
        enum gtel_option id;
        const char *text;
        const char *said; /* in the one warning; NULL: none */
    } cases[] = {
        {"sources",
         {FAKE_STRING("Sources", "xe"), FAKE_STRING("sources", "i915,hwmon")},
         GTEL_O_SOURCES,
         "xe,i915,hwmon",
         NULL},
        {"tags",
         {FAKE_STRING("ProcessTags", "user"), FAKE_STRING("ProcessTags", "pid")},
         GTEL_O_PROCESS_TAGS,
         "user,pid",
         NULL},
        {"tags, one wrong",
         {FAKE_STRING("ProcessTags", "user"), FAKE_STRING("ProcessTags", "x")},
         GTEL_O_PROCESS_TAGS,
         "user",
         "'user,x'"},
        {"an empty list",
         {FAKE_STRING("Sources", ""), FAKE_STRING("Sources", "xe")},
         GTEL_O_SOURCES,
         "xe",
         NULL},
        {"a word",
         {FAKE_STRING("Wake", "always"), FAKE_STRING("Wake", "never")},
         GTEL_O_WAKE,
         "never",
         "option Wake is set twice; the last line counts"},
        {"a word, one wrong",
         {FAKE_STRING("Wake", "always"), FAKE_STRING("Wake", "x")},
         GTEL_O_WAKE,
         "always",
         "'x'"},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        test_label = cases[i].label;
        load();
        configure_helper();
        configure(cases[i].line[0]);
        configure(cases[i].line[1]);
        CHECK_INT(fake_daemon_said("warning: gpu_intel: "), cases[i].said != NULL);
        if (cases[i].said)
            CHECK_INT(fake_daemon_said(cases[i].said), 1);
        CHECK_INT(fake_daemon.init(), 0);
        CHECK_INT(read_once(), 0);
        CHECK_STR(gtel_option_text(&stub.options, cases[i].id), cases[i].text);
    }
    test_label = "";
}

/* Missing at the start, there later, gone again: one message each, and the daemon reads on. */
static void test_helper(void)
{
    char path[] = "/tmp/gtel-test-XXXXXX";
    oconfig_value_t value = {.type = OCONFIG_TYPE_STRING, .value.string = path};
    int fd = mkstemp(path);
    if (!CHECK(fd >= 0))
        return;
    (void)close(fd);
    load();
    configure((oconfig_item_t){.key = (char[]){"Helper"}, .values = &value, .values_num = 1});
    CHECK_INT(fake_daemon.init(), 0);
    for (int i = 0; i < 3; i++)
        CHECK_INT(read_once(), 0);
    CHECK_INT(stub.news, 0);
    CHECK_INT(fake_daemon_said(path), 1);
    CHECK_INT(fake_daemon_said("option Helper"), 1);

    CHECK_INT(chmod(path, 0700), 0);
    CHECK_INT(read_once(), 0);
    CHECK_INT(stub.gathers, 1);
    CHECK_INT(fake_daemon_said("is there now"), 1);

    CHECK_INT(unlink(path), 0);
    for (int i = 0; i < 3; i++)
        CHECK_INT(read_once(), 0);
    CHECK_INT(stub.gathers, 4); /* what runs goes on */
    CHECK_INT(fake_daemon_said("is not there"), 1);
}

static void test_faults(void)
{
    load();
    configure_helper();
    configure((oconfig_item_t)FAKE_STRING("Sources", "ex"));
    CHECK_INT(fake_daemon.init(), 0);
    stub.refuses_sources = true;
    CHECK_INT(read_once(), 0);
    CHECK_INT(stub.news, 2);
    CHECK_INT(stub.gathers, 1);
    CHECK_INT(fake_daemon_said("option Sources is ignored"), 1);

    load();
    configure_helper();
    CHECK_INT(fake_daemon.init(), 0);
    stub.new_error = -ENOMEM;
    for (int i = 0; i < 3; i++)
        CHECK_INT(read_once(), 0);
    CHECK_INT(fake_daemon_said("cannot start"), 1);
    stub.new_error = 0;
    CHECK_INT(read_once(), 0);
    CHECK_INT(stub.gathers, 1);
    CHECK_INT(fake_daemon_said("cannot start"), 1);

    load();
    fake_daemon.refuses_read = true;
    CHECK_INT(fake_daemon.init(), 0);
    CHECK_INT(fake_daemon_said("refused the read callback"), 1);
}

static const struct {
    const char *label;
    const char *name; /* in the folder */
    const char *said; /* NULL: it is read */
} root_cases[] = {
    {"a directory", "", NULL},
    {"a recorded machine", "/machine.tree", "not a directory"},
    {"no such directory", "/absent", "cannot read the machine"},
};

static void test_root(void)
{
    char dir[] = "/tmp/gtel-test-XXXXXX";
    if (!CHECK(mkdtemp(dir) != NULL))
        return;
    char machine[64];
    (void)snprintf(machine, sizeof(machine), "%s/machine.tree", dir);
    FILE *file = fopen(machine, "w");
    if (CHECK(file))
        CHECK(fputs("dir sys\nend\n", file) >= 0 && fclose(file) == 0);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(root_cases); i++) {
        test_label = root_cases[i].label;
        char path[64];
        (void)snprintf(path, sizeof(path), "%s%s", dir, root_cases[i].name);
        oconfig_value_t value = {.type = OCONFIG_TYPE_STRING, .value.string = path};
        load();
        configure_helper();
        configure((oconfig_item_t){.key = (char[]){"Root"}, .values = &value, .values_num = 1});
        CHECK_INT(fake_daemon.init(), 0);
        for (int k = 0; k < 3; k++)
            CHECK_INT(read_once(), 0);
        CHECK_INT(stub.gathers, root_cases[i].said ? 0 : 3);
        if (root_cases[i].said)
            CHECK_INT(fake_daemon_said(root_cases[i].said), 1);
        else
            CHECK(strstr(stub.helper_args, "--root"));
    }
    test_label = "";
    CHECK_INT(unlink(machine), 0);
    CHECK_INT(rmdir(dir), 0);
}

int main(void)
{
    test_register();
    test_life();
    test_config();
    test_repeated();
    test_helper();
    test_faults();
    test_root();
    if (fake_daemon.shutdown)
        (void)fake_daemon.shutdown();
    return test_result();
}
