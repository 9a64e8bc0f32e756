/* SPDX-License-Identifier: MIT */
/* When a lane starts its helper, what it believes of it, and when it gives it up. */
#include "lanes/lane.h"
#include "harness/lane_way.h"
#include "recording/tree.h"
#include "harness/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEVICE "sys/devices/pci0000:00/0000:03:00.0"
#define CARD                                                                                       \
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:03:00.0/drm/card0\n"                \
    "file " DEVICE "/uevent\n| DRIVER=xe\n| PCI_SLOT_NAME=0000:03:00.0\n"                          \
    "link " DEVICE "/driver -> ../../../bus/pci/drivers/xe\n"                                      \
    "file " DEVICE "/drm/card0/dev\n| 226:0\n"                                                     \
    "link " DEVICE "/drm/card0/device -> ../../../0000:03:00.0\nend\n"

#define SAID "lane kernel: standard error of the helper: "

static const uint64_t second_ns = 1000000000u;
static const uint64_t mib = 1u << 20;

struct front {
    struct gtel_tree *tree;
    struct gtel_env env;
    struct gtel_options options;
    struct gtel_lane lane;
    struct gtel_registry registry;
    struct gtel_batch batch;
    struct gtel_buf buf;
    intptr_t peer; /* -1: none */
    enum gtel_log_level level;
    unsigned logs;
    char log[600];       /* the last one */
    struct gtel_buf all; /* a line for each */
    char script[32];     /* of a helper; "": none */
};

static void on_log(void *arg, enum gtel_log_level level, const char *text)
{
    struct front *front = arg;
    front->level = level;
    front->logs++;
    (void)gtel_str_copy(front->log, sizeof(front->log), gtel_str_of(text));
    gtel_buf_printf(&front->all, "%s\n", text);
}

/* A lane whose helper cannot be started: the tests play it themselves. */
static bool open_front(struct front *front, const char *text)
{
    char error[200];
    *front = (struct front){.peer = -1};
    if (!CHECK(gtel_tree_parse(gtel_str_of(text), &front->tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(front->tree, true, 0, &front->env) == 0))
        return false;
    front->env.log = (struct gtel_log){on_log, front};
    gtel_options_init(&front->options);
    gtel_buf_init(&front->buf, 1 << 20);
    gtel_buf_init(&front->all, 1 << 20);
    struct gtel_lane_setup setup = {.name = "kernel",
                                    .env = &front->env,
                                    .options = &front->options,
                                    .helper = "/nonexistent/gtel"};
    return CHECK(gtel_lane_init(&front->lane, &setup) == 0);
}

static void hang_up(struct front *front)
{
    if (front->peer != -1)
        lane_way_close(front->peer);
    front->peer = -1;
}

static void close_front(struct front *front)
{
    hang_up(front);
    gtel_lanes_done(&front->lane, 1, 0);
    gtel_buf_done(&front->buf);
    gtel_buf_done(&front->all);
    if (front->script[0])
        (void)unlink(front->script);
    gtel_batch_done(&front->batch);
    gtel_registry_done(&front->registry);
    gtel_env_tree_done(&front->env);
    gtel_tree_free(front->tree);
}

/* Starts a shell script as the helper of a lane. */
static bool start_script(struct front *front, const char *script)
{
    (void)gtel_str_copy(front->script, sizeof(front->script), GTEL_STR("/tmp/gtel-helper-XXXXXX"));
    int fd = mkstemp(front->script);
    size_t n = strlen(script);
    if (!CHECK(fd >= 0 && write(fd, script, n) == (ssize_t)n && fchmod(fd, 0700) == 0 &&
               close(fd) == 0))
        return false;
    front->lane.setup.helper = front->script;
    gtel_lane_tick(&front->lane, second_ns);
    CHECK_INT(front->lane.start_error, 0);
    CHECK_INT(front->lane.started_ns, second_ns);
    return CHECK(front->lane.state == GTEL_LANE_GREETING && front->lane.channel.pid > 0);
}

/* Sends what is in buf as the helper; what the front end makes of it. */
static int say(struct front *front)
{
    struct gtel_str payload;
    struct gtel_channel *channel = &front->lane.channel;
    CHECK(lane_way_send(front->peer, gtel_buf_text(&front->buf)));
    gtel_channels_wait(&channel, 1, second_ns);
    gtel_buf_reset(&front->buf);
    int got = gtel_lane_receive(&front->lane, &payload);
    if (got != 1)
        return got;
    int r = gtel_wire_read_answer(payload, &front->registry, &front->lane.map, &front->batch,
                                  &front->lane.answer);
    gtel_batch_reset(&front->batch);
    gtel_lane_understood(&front->lane, r);
    return 1;
}

static void say_hello(struct front *front, const char *version)
{
    gtel_wire_hello(&front->buf, gtel_str_of(version));
    CHECK_INT(say(front), 0);
}

/* A helper that has just been started, and has greeted. */
static bool connect_helper(struct front *front)
{
    hang_up(front);
    if (!CHECK(lane_way_open(&front->lane.channel, &front->peer)))
        return false;
    front->lane.state = GTEL_LANE_GREETING;
    front->lane.answers = 0;
    say_hello(front, GTEL_TEST_VERSION);
    return CHECK(front->lane.state == GTEL_LANE_IDLE);
}

static void answer(struct front *front, const struct gtel_answer *answer)
{
    gtel_lane_request(&front->lane, 7, 8, false);
    CHECK_INT(front->lane.state, GTEL_LANE_BUSY);
    CHECK(gtel_lane_is_waiting(&front->lane));
    gtel_wire_answer(&front->buf, answer, &front->registry, false, &front->batch);
    CHECK_INT(say(front), 1);
}

static void answer_times(struct front *front, unsigned n, uint64_t rss_bytes)
{
    const struct gtel_answer same = {.request = 7, .rss_bytes = rss_bytes};
    for (unsigned i = 0; i < n; i++)
        answer(front, &same);
}

/* A helper that cannot be started, the first one or a later one, is tried after growing pauses. */
static void test_tries(void)
{
    static const struct {
        const char *label;
        bool has_started; /* one before it */
    } cases[] = {{"the first helper", false}, {"its successors", true}};
    /* In which gathers it is tried; 0 after the last. */
    static const uint32_t tries[] = {1, 2, 4, 7, 12, 21, 38, 71, 136, 201, 0};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        static struct front front;
        size_t n = 0;
        test_label = cases[i].label;
        if (!open_front(&front, CARD))
            return;
        front.lane.started_ns = cases[i].has_started;
        for (uint32_t gather = 1; gather < 211; gather++) {
            front.lane.start_error = 0;
            gtel_lane_tick(&front.lane, gather * second_ns);
            if (front.lane.start_error == 0)
                continue;
            CHECK_INT(front.lane.start_error, -ENOENT);
            CHECK_INT(gather, tries[n]);
            n += n + 1 < GTEL_ARRAY_LEN(tries);
        }
        CHECK_INT(tries[n], 0);
        CHECK_INT(front.logs, 1);
        CHECK_INT(front.level, GTEL_LOG_ERROR);
        CHECK_STR(gtel_str_of(front.log),
                  "lane kernel: cannot start the helper /nonexistent/gtel: No such file or "
                  "directory; install gtel there, or name it with the option Helper; trying again");
        CHECK_INT(front.lane.restarts, 0);
        CHECK_INT(front.lane.started_ns, cases[i].has_started);
        close_front(&front);
    }
}

/* Without a GPU nothing is tried, and it is checked each Rescan interval (30 s). */
static void test_probes(void)
{
    static const struct {
        uint64_t now_s;
        bool is_tried;
    } cases[] = {{1, false}, {30, false}, {31, true}};
    static struct front front;
    test_label = "probes";
    if (!open_front(&front, "file proc/uptime\n| 1 1\nat 1500ms\n" CARD))
        return;
    CHECK_INT(gtel_option_number(&front.options, GTEL_O_RESCAN), 30 * second_ns);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        gtel_lane_tick(&front.lane, cases[i].now_s * second_ns);
        CHECK_INT(front.lane.start_error != 0, cases[i].is_tried);
        gtel_env_tree_step(&front.env, second_ns);
    }
    close_front(&front);
}

/* A death after ten answers in a row begins a new series of pauses; after nine it does not. */
static void test_series_of_deaths(void)
{
    static const struct {
        unsigned answers;
        uint32_t pause; /* gathers */
    } cases[] = {{0, 0}, {0, 1}, {9, 2}, {1, 4}, {10, 0}, {9, 1}, {0, 2}};
    static struct front front;
    struct gtel_str none;
    test_label = "series of deaths";
    if (!open_front(&front, CARD))
        return;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases) && connect_helper(&front); i++) {
        answer_times(&front, cases[i].answers, 0);
        hang_up(&front);
        CHECK_INT(gtel_lane_receive(&front.lane, &none), 0);
        CHECK_INT(front.lane.state, GTEL_LANE_OFF);
        CHECK_INT(front.lane.pause, cases[i].pause);
    }
    close_front(&front);
}

static void test_growth(void)
{
    static const struct {
        const char *label;
        unsigned answers; /* before */
        uint64_t from_mib;
        uint64_t to_mib;
        uint64_t more;
        bool is_given_up;
    } cases[] = {
        {"by 256 MiB", 10, 40, 296, 0, false},
        {"by one byte more", 10, 40, 296, 1, true},
        {"before it has settled", 9, 40, 1000, 0, false},
        {"from a size that is not known", 10, 0, 1000, 0, false},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        static struct front front;
        test_label = cases[i].label;
        if (!open_front(&front, CARD) || !connect_helper(&front))
            return;
        answer_times(&front, cases[i].answers, cases[i].from_mib * mib);
        front.logs = 0;
        answer_times(&front, 1, cases[i].to_mib * mib + cases[i].more);
        CHECK_INT(front.lane.state, cases[i].is_given_up ? GTEL_LANE_OFF : GTEL_LANE_IDLE);
        CHECK_INT(front.logs, cases[i].is_given_up);
        if (cases[i].is_given_up)
            CHECK_STR(gtel_str_of(front.log), "lane kernel: helper has grown by more than 256 MiB: "
                                              "a library leaks memory; starting it again");
        close_front(&front);
    }
}

/* What the helpers before this one have counted stays counted; each counts from 0. */
static void test_totals(void)
{
    static struct front front;
    const struct gtel_answer first = {.request = 7, .errors = 3, .dropped = 5};
    const struct gtel_answer second = {
        .request = 7, .errors = 2, .dropped = 1, .needs_restart = true};
    test_label = "totals";
    if (!open_front(&front, CARD) || !connect_helper(&front))
        return;
    answer(&front, &first);
    CHECK_INT(front.lane.past.errors + front.lane.past.dropped, 0);
    hang_up(&front);
    gtel_lane_tick(&front.lane, 0);
    CHECK_STR(gtel_str_of(front.log), "lane kernel: helper ended; starting it again");
    CHECK_INT(front.level, GTEL_LOG_WARNING);
    CHECK_INT(front.lane.past.errors, 3);
    CHECK_INT(front.lane.past.dropped, 5);
    CHECK_INT(front.lane.answer.errors, 0);
    if (!connect_helper(&front))
        return;
    answer(&front, &second); /* asks for its successor */
    CHECK_STR(gtel_str_of(front.log), "lane kernel: works again");
    CHECK_INT(front.level, GTEL_LOG_INFO);
    CHECK_INT(front.lane.state, GTEL_LANE_OFF);
    CHECK(front.lane.is_renewed);
    CHECK_INT(front.lane.past.errors, 5);
    CHECK_INT(front.lane.past.dropped, 6);
    close_front(&front);
}

static void test_versions(void)
{
    static struct front front;
    test_label = "version";
    if (!open_front(&front, CARD) || !connect_helper(&front))
        return;
    say_hello(&front, GTEL_TEST_VERSION); /* twice is no harm */
    CHECK_INT(front.lane.state, GTEL_LANE_IDLE);
    say_hello(&front, "0.0.123456789012345678901234567890123456789");
    CHECK_INT(front.lane.state, GTEL_LANE_OFF);
    CHECK_INT(front.logs, 1);
    CHECK_INT(front.level, GTEL_LOG_ERROR);
    CHECK_STR(gtel_str_of(front.log),
              "lane kernel: the helper /nonexistent/gtel is version "
              "0.0.123456789012345678901234567890123456 and this is version " GTEL_TEST_VERSION
              ": install the same version of both, or name the right program with the option "
              "Helper");
    CHECK_INT(front.lane.pause, 64); /* gathers: somebody has to install another one */
    close_front(&front);
}

static void log_line(struct front *front, uint8_t level, const char *text)
{
    gtel_wire_log(&front->buf, level, gtel_str_of(text));
    CHECK_INT(say(front), 0);
}

static void test_logs(void)
{
    static struct front front;
    test_label = "logs";
    if (!open_front(&front, CARD) || !connect_helper(&front))
        return;
    log_line(&front, GTEL_LOG_INFO, "one");
    CHECK_INT(front.level, GTEL_LOG_INFO);
    log_line(&front, GTEL_LOG_ERROR, "one"); /* again, by the same helper */
    CHECK_INT(front.level, GTEL_LOG_ERROR);
    CHECK_INT(front.logs, 2);
    log_line(&front, GTEL_LOG_DEBUG, "");
    CHECK_STR(gtel_str_of(front.log), "");

    test_label = "logs of a successor";
    front.logs = 0;
    const struct gtel_answer last = {.request = 7, .needs_restart = true};
    log_line(&front, GTEL_LOG_WARNING, "two");
    answer(&front, &last);
    if (!connect_helper(&front))
        return;
    log_line(&front, GTEL_LOG_WARNING, "two"); /* known */
    CHECK_INT(front.logs, 1);
    log_line(&front, GTEL_LOG_WARNING, "three");
    CHECK_STR(gtel_str_of(front.log), "three");
    log_line(&front, GTEL_LOG_WARNING, "two"); /* news again */
    CHECK_INT(front.logs, 3);
    close_front(&front);
}

/* What never fits into this state is no answer. */
static void test_unasked(void)
{
    static struct front front;
    const struct gtel_answer unasked = {.request = 7};
    test_label = "unasked";
    if (!open_front(&front, CARD) || !connect_helper(&front))
        return;
    gtel_wire_answer(&front.buf, &unasked, &front.registry, false, &front.batch);
    CHECK_INT(say(&front), 0);
    CHECK_INT(front.lane.state, GTEL_LANE_OFF);
    CHECK_STR(gtel_str_of(front.log), "lane kernel: helper protocol error; starting it again");
    CHECK_INT(front.level, GTEL_LOG_ERROR);
    gtel_lane_request(&front.lane, 1, 1, false); /* nobody to ask */
    CHECK_INT(front.lane.state, GTEL_LANE_OFF);
    close_front(&front);
}

static void test_lateness(void)
{
    static const struct {
        const char *label;
        uint32_t answers;
        uint64_t now_ns;
        uint64_t late;
    } cases[] = {
        {"starting", 0, 14999999999u, 0},
        {"no answer for five seconds", 0, 15000000000u, 1},
        {"after the first answer", 1, 10000000001u, 1},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        static struct front front;
        test_label = cases[i].label;
        if (!open_front(&front, CARD))
            return;
        front.lane.started_ns = 10 * second_ns;
        front.lane.answers = cases[i].answers;
        gtel_lane_missed(&front.lane, cases[i].now_ns, 500999999);
        CHECK_INT(front.lane.late, cases[i].late);
        CHECK_INT(front.logs, cases[i].late);
        gtel_lane_missed(&front.lane, cases[i].now_ns, 500999999);
        CHECK_INT(front.lane.late, 2 * cases[i].late);
        CHECK_INT(front.logs, cases[i].late); /* once */
        if (cases[i].late > 0)
            CHECK_STR(gtel_str_of(front.log), "lane kernel: no answer within 500 ms; its readings "
                                              "are missing until it answers");
        close_front(&front);
    }
}

static void test_resident(void)
{
    static const struct {
        const char *label;
        const char *text;
        uint64_t want;
    } cases[] = {
        {"pages", "file proc/self/statm\n| 9000 1234 800 10 0 500 0\nend\n", 1234 * 4096},
        {"the last word", "file proc/self/statm\n| 9000 1234\nend\n", 1234 * 4096},
        {"too short", "file proc/self/statm\n| 9000\nend\n", 0},
        {"no number", "file proc/self/statm\n| 9000 x\nend\n", 0},
        {"no file", "file proc/uptime\n| 1 1\nend\n", 0},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        static struct front front;
        struct gtel_fs_file file = {0};
        test_label = cases[i].label;
        if (!open_front(&front, cases[i].text))
            return;
        front.env.page_size = 4096;
        CHECK_INT(gtel_group_rss(&front.env, &file), cases[i].want);
        CHECK_INT(gtel_group_rss(&front.env, &file), cases[i].want); /* from the open file */
        front.env.page_size = 0;
        CHECK_INT(gtel_group_rss(&front.env, &file), 0);
        gtel_fs_close(&front.env, &file);
        close_front(&front);
    }
}

static void await_end(struct front *front)
{
    struct gtel_str none;
    for (int i = 0; i < 1000 && front->lane.state != GTEL_LANE_OFF; i++) {
        gtel_channel_nap(second_ns / 100);
        CHECK_INT(gtel_lane_receive(&front->lane, &none), 0);
    }
}

/* Signals as for a new login, whatever the agent does with its own; input and output to nowhere. */
static void test_inside(void)
{
    static const char script[] = "#!/bin/sh\ncat && echo nowhere\n"
                                 "while read key value; do case $key in Sig[BI]*)\n"
                                 "echo $key $((0x$value & 0x7fffffff)) >&2; esac\n"
                                 "done </proc/$$/status\n"
                                 "read pid name state parent group rest </proc/$$/stat\n"
                                 "echo $((group - $$)) >&2\n";
    static struct front front;
    struct sigaction ignored = {.sa_handler = SIG_IGN};
    struct sigaction before;
    sigset_t blocked;
    sigset_t mask;
    test_label = "inside";
    if (!open_front(&front, CARD))
        return;
    (void)sigemptyset(&blocked);
    (void)sigaddset(&blocked, SIGUSR1);
    CHECK(sigprocmask(SIG_BLOCK, &blocked, &mask) == 0);
    CHECK(sigaction(SIGUSR2, &ignored, &before) == 0);
    bool is_started = start_script(&front, script);
    CHECK(sigaction(SIGUSR2, &before, NULL) == 0 && sigprocmask(SIG_SETMASK, &mask, NULL) == 0);
    if (!is_started)
        return;
    int group = (int)getpgrp() - (int)front.lane.channel.pid;
    await_end(&front);
    char want[400];
    (void)snprintf(want, sizeof(want),
                   SAID "SigBlk: 0\n" SAID "SigIgn: 0\n" SAID
                        "%d\nlane kernel: helper ended without a greeting; starting it again\n",
                   group);
    CHECK_STR(gtel_buf_text(&front.all), want);
    close_front(&front);
}

/* What is given of the options that the program has, then what the front end adds. */
static void test_words(void)
{
    static const char *const more[] = {"--root", "/a b", NULL};
    static const struct {
        enum gtel_option id;
        const char *value;
    } given[] = {{GTEL_O_INTERVAL, "5s"},
                 {GTEL_O_SOURCES, "xe"},
                 {GTEL_O_HELPER, "/bin/true"},
                 {GTEL_O_HOST_TAG, "here"}};
    static struct front front;
    char error[200];
    test_label = "words";
    if (!open_front(&front, CARD))
        return;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(given); i++)
        CHECK_INT(gtel_option_set(&front.options, given[i].id, gtel_str_of(given[i].value), error,
                                  sizeof(error)),
                  0);
    front.lane.setup.helper_args = more;
    if (!start_script(&front, "#!/bin/sh\nfor word; do echo \"$word\"; done >&2\n"))
        return;
    await_end(&front);
    CHECK_STR(gtel_buf_text(&front.all),
              SAID "--lane\n" SAID "kernel\n" SAID "--interval=5s\n" SAID "--sources=xe\n" SAID
                   "--host-tag=here\n" SAID "--root\n" SAID "/a b\n"
                   "lane kernel: helper ended without a greeting; starting it again\n");
    close_front(&front);
}

/* A command line has room for 63 words. */
static void test_many_words(void)
{
    static const struct {
        size_t words; /* beside the three first ones */
        int error;
    } cases[] = {{60, -ENOENT}, {61, -E2BIG}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        const char *more[62] = {NULL};
        static struct front front;
        test_label = "many words";
        if (!open_front(&front, CARD))
            return;
        for (size_t k = 0; k < cases[i].words; k++)
            more[k] = "word";
        front.lane.setup.helper_args = more;
        gtel_lane_tick(&front.lane, second_ns);
        CHECK_INT(front.lane.start_error, cases[i].error);
        close_front(&front);
    }
}

/* Those that end by themselves are only waited for; those that hang are killed. */
static void test_ends(void)
{
    static const struct {
        const char *label;
        const char *script;
        bool is_late;
        bool is_killed; /* and that is logged */
    } cases[] = {
        {"ends", "#!/bin/sh\nexec cat <&3\n", true, false},
        {"hangs", "#!/bin/sh\ntrap '' TERM\nexec sleep 100\n", true, true},
        {"hangs, but was in time so far", "#!/bin/sh\nexec sleep 100\n", false, false},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        static struct front front;
        test_label = cases[i].label;
        if (!open_front(&front, CARD) || !start_script(&front, cases[i].script))
            return;
        pid_t pid = front.lane.channel.pid;
        uint64_t before_ns = gtel_env_real_now();
        bool ends = i == 0;
        front.lane.is_late = cases[i].is_late;
        gtel_lanes_done(&front.lane, 1, ends ? 20 * second_ns : second_ns / 5);
        uint64_t took_ns = gtel_env_real_now() - before_ns;
        CHECK(took_ns < 10 * second_ns);
        CHECK(ends || took_ns >= second_ns / 5); /* it had that time */
        CHECK(kill(pid, 0) < 0 && errno == ESRCH);
        CHECK_INT(front.logs, cases[i].is_killed);
        if (cases[i].is_killed) {
            CHECK_INT(front.level, GTEL_LOG_WARNING);
            CHECK_STR(gtel_str_of(front.log),
                      "lane kernel: the helper hangs: killed at the end of the program");
        }
        CHECK_INT(front.lane.channel.fd, -1);
        CHECK(!front.lane.rx);
        close_front(&front);
    }
}

/* A lane that has never started leaves the descriptors of the program alone. */
static void test_descriptors(void)
{
    static struct front front;
    test_label = "descriptors";
    if (!open_front(&front, CARD))
        return;
    close_front(&front);
    for (int fd = 0; fd < 3; fd++)
        CHECK(fcntl(fd, F_GETFD) >= 0);
}

int main(void)
{
    test_descriptors();
    test_inside();
    test_words();
    test_many_words();
    test_ends();
    test_tries();
    test_probes();
    test_series_of_deaths();
    test_growth();
    test_totals();
    test_versions();
    test_logs();
    test_unasked();
    test_lateness();
    test_resident();
    return test_result();
}
