/* SPDX-License-Identifier: MIT */
/* What a helper process gets from a lane, and how it ends; scripts of a shell stand for it. */
#include "harness/lane_front.h"
#include "harness/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAID "lane kernel: standard error of the helper: "

static const uint64_t second_ns = 1000000000u;

static char script_path[32];

/* Starts a shell script as the helper of a lane. */
static bool start_script(struct lane_front *front, const char *script)
{
    (void)gtel_str_copy(script_path, sizeof(script_path), GTEL_STR("/tmp/gtel-helper-XXXXXX"));
    int fd = mkstemp(script_path);
    size_t n = strlen(script);
    if (!CHECK(fd >= 0 && write(fd, script, n) == (ssize_t)n && fchmod(fd, 0700) == 0 &&
               close(fd) == 0))
        return false;
    front->lane.setup.helper = script_path;
    front->lane.map.arrivals[0] = 7;
    gtel_lane_tick(&front->lane, 1, second_ns);
    CHECK_INT(front->lane.map.arrivals[0], UINT32_MAX); /* the helper counts from 1 */
    CHECK_INT(front->lane.start_error, 0);
    CHECK_INT(front->lane.started_ns, second_ns);
    return CHECK(front->lane.state == GTEL_LANE_GREETING && front->lane.channel.pid > 0);
}

static void end_script(struct lane_front *front)
{
    lane_front_close(front);
    CHECK(unlink(script_path) == 0);
}

static void await_end(struct lane_front *front)
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
    static struct lane_front front;
    struct sigaction ignored = {.sa_handler = SIG_IGN};
    struct sigaction before;
    sigset_t blocked;
    sigset_t mask;
    test_label = "inside";
    if (!lane_front_open(&front, LANE_FRONT_CARD))
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
    end_script(&front);
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
    static struct lane_front front;
    char error[200];
    test_label = "words";
    if (!lane_front_open(&front, LANE_FRONT_CARD))
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
    end_script(&front);
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
        static struct lane_front front;
        test_label = cases[i].label;
        if (!lane_front_open(&front, LANE_FRONT_CARD) || !start_script(&front, cases[i].script))
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
        CHECK(!front.lane.rx.p);
        end_script(&front);
    }
}

/* A lane that has never started leaves the descriptors of the program alone. */
static void test_descriptors(void)
{
    static struct lane_front front;
    test_label = "descriptors";
    if (!lane_front_open(&front, LANE_FRONT_CARD))
        return;
    lane_front_close(&front);
    for (int fd = 0; fd < 3; fd++)
        CHECK(fcntl(fd, F_GETFD) >= 0);
}

/* Starts that fail leave nothing open. */
static void test_failed_starts(void)
{
    static struct lane_front front;
    int next[2];
    test_label = "failed starts";
    if (!lane_front_open(&front, LANE_FRONT_CARD))
        return;
    front.lane.setup.helper = "/nonexistent/gtel";
    for (int i = 0; i < 2; i++) {
        next[i] = dup(0);
        CHECK(close(next[i]) == 0);
        for (uint64_t k = 1; k < 400 && i == 0; k++)
            gtel_lane_tick(&front.lane, 1, k * second_ns);
    }
    CHECK(front.lane.start_error < 0);
    CHECK_INT(next[1], next[0]);
    lane_front_close(&front);
}

int main(void)
{
    test_descriptors();
    test_failed_starts();
    test_inside();
    test_words();
    test_ends();
    return test_result();
}
