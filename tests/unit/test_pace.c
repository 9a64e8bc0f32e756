/* SPDX-License-Identifier: MIT */
/* When to gather and to end: absolute ticks, none made up for; input, signals, output. */
#include "execd/pace.h"

#include "base/compiler.h"
#include "base/str.h"
#include "harness/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct tick_case {
    const char *label;
    uint64_t tick_ns;
    uint64_t interval_ns;
    uint64_t now_ns;
    uint64_t want;
} tick_cases[] = {
    {"before the tick", 1000, 100, 999, 1000},
    {"at the tick", 1000, 100, 1000, 1100},
    {"a little late", 1000, 100, 1001, 1100},
    {"just before the next", 1000, 100, 1099, 1100},
    {"at the next", 1000, 100, 1100, 1200},
    {"many missed", 1000, 100, 98765, 98800},
    {"a long stall", 1, 3600000000000, 10000000000000000000u, 10000000800000000001u},
};

/* A pace on two pipes of the test's own. */
struct ends {
    struct gtel_pace pace;
    int to_in;
    int from_out;
};

static bool begin(struct ends *ends, uint64_t interval_ns)
{
    int in[2];
    int out[2];
    gtel_pace_init(&ends->pace, interval_ns, 0, true);
    if (!CHECK(pipe(in) == 0) || !CHECK(pipe(out) == 0))
        return false;
    ends->pace.in = in[0];
    ends->pace.out = out[1];
    ends->to_in = in[1];
    ends->from_out = out[0];
    return CHECK(ends->pace.signal >= 0);
}

static void end(struct ends *ends)
{
    (void)close(ends->to_in);
    (void)close(ends->from_out);
    (void)close(ends->pace.out);
    gtel_pace_done(&ends->pace);
}

static void ask(struct ends *ends, const char *text)
{
    CHECK_INT(write(ends->to_in, text, strlen(text)), strlen(text));
}

/* Newlines are requests, however many, and nothing else is; then the end. */
static void test_input(void)
{
    struct ends ends;
    test_label = "input";
    if (!begin(&ends, 0))
        return;
    int in = ends.pace.in;
    ask(&ends, "\n");
    CHECK_INT(gtel_pace_wait(&ends.pace), GTEL_PACE_GATHER);
    ask(&ends, "\n\n\n");
    CHECK_INT(gtel_pace_wait(&ends.pace), GTEL_PACE_GATHER);
    ask(&ends, "no newline");
    ends.pace.tick_ns = gtel_pace_now() + 20000000;
    CHECK_INT(gtel_pace_wait(&ends.pace), GTEL_PACE_TICK);
    ends.pace.tick_ns = 0;
    CHECK_INT(raise(SIGUSR1), 0);
    CHECK_INT(gtel_pace_wait(&ends.pace), GTEL_PACE_GATHER);
    ask(&ends, "\n");
    (void)close(ends.to_in);
    CHECK_INT(gtel_pace_wait(&ends.pace), GTEL_PACE_GATHER); /* asked for before the end */
    CHECK_INT(gtel_pace_wait(&ends.pace), GTEL_PACE_END);
    CHECK(ends.pace.ending == GTEL_PACE_INPUT_ENDED && ends.pace.error == 0);
    CHECK(!gtel_pace_is_cut(&ends.pace));
    (void)close(in);
    ends.to_in = -1;
    end(&ends);
}

/* Samples between gathers begin again with each gather. */
static void test_samples(void)
{
    const uint64_t step_ns = 50000000;
    struct ends ends;
    test_label = "samples";
    if (!begin(&ends, 0))
        return;
    ends.pace.sample_ns = step_ns;
    CHECK_INT(gtel_pace_wait(&ends.pace), GTEL_PACE_SAMPLE);
    CHECK(ends.pace.next_sample_ns > gtel_pace_now());
    for (int i = 0; i < 2; i++) {
        ask(&ends, "\n");
        uint64_t before = gtel_pace_now();
        CHECK_INT(gtel_pace_wait(&ends.pace), GTEL_PACE_GATHER);
        CHECK(ends.pace.next_sample_ns >= before + step_ns);
        CHECK_INT(gtel_pace_wait(&ends.pace), GTEL_PACE_SAMPLE);
        CHECK(gtel_pace_now() >= before + step_ns);
    }
    ask(&ends, "\n"); /* a request that waits already comes before a sample that is due */
    gtel_pace_pause(&ends.pace, gtel_pace_now() + 2 * step_ns);
    CHECK_INT(gtel_pace_wait(&ends.pace), GTEL_PACE_GATHER);
    end(&ends);
}

static void test_ends(void)
{
    struct ends ends;
    test_label = "SIGTERM";
    if (!begin(&ends, 3600000000000u))
        return;
    CHECK_INT(gtel_pace_wait(&ends.pace), GTEL_PACE_GATHER); /* the clock's first tick */
    CHECK_INT(raise(SIGTERM), 0);
    CHECK_INT(gtel_pace_wait(&ends.pace), GTEL_PACE_END);
    CHECK(gtel_pace_is_cut(&ends.pace));
    (void)close(ends.pace.in);
    end(&ends);

    test_label = "closed output";
    if (!begin(&ends, 0))
        return;
    CHECK_INT(gtel_pace_writable(&ends.pace), 0);
    (void)close(ends.from_out);
    ends.from_out = -1;
    CHECK_INT(gtel_pace_wait(&ends.pace), GTEL_PACE_END);
    CHECK_INT(gtel_pace_writable(&ends.pace), -EPIPE);
    (void)close(ends.pace.in);
    end(&ends);

    test_label = "nobody reads";
    if (!begin(&ends, 0))
        return;
    CHECK_INT(fcntl(ends.pace.out, F_SETFL, O_NONBLOCK), 0);
    while (write(ends.pace.out, "0123456789abcdef", 16) == 16)
        continue;
    CHECK_INT(raise(SIGTERM), 0);
    CHECK_INT(gtel_pace_wait(&ends.pace), GTEL_PACE_END);
    CHECK_INT(gtel_pace_writable(&ends.pace), -ETIMEDOUT);
    (void)close(ends.pace.in);
    end(&ends);
}

/* Reads everything after 50 ms, from a process of its own. */
static pid_t read_late(struct ends *ends)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    char bytes[4096];
    (void)usleep(50000);
    (void)close(ends->pace.out);
    while (read(ends->from_out, bytes, sizeof(bytes)) > 0)
        continue;
    _exit(0);
}

/* A full output is waited for, also when requests come meanwhile, and just after the end came. */
static void test_slow_reader(bool is_ending)
{
    struct ends ends;
    test_label = is_ending ? "slow reader at the end" : "slow reader";
    if (!begin(&ends, 0))
        return;
    CHECK_INT(fcntl(ends.pace.out, F_SETFL, O_NONBLOCK), 0);
    while (write(ends.pace.out, "0123456789abcdef", 16) == 16)
        continue;
    ask(&ends, "\n");
    if (is_ending)
        CHECK_INT(raise(SIGTERM), 0);
    pid_t pid = read_late(&ends);
    CHECK(pid > 0);
    CHECK_INT(gtel_pace_writable(&ends.pace), 0);
    CHECK_INT(gtel_pace_wait(&ends.pace), GTEL_PACE_GATHER);
    (void)close(ends.pace.in);
    end(&ends);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
}

static uint64_t cpu_ns(void)
{
    struct timespec used;
    CHECK_INT(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used), 0);
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

/* A pause lasts as long as it was asked for, sleeping, and leaves requests for later. */
static void test_pause(void)
{
    struct ends ends;
    test_label = "pause";
    if (!begin(&ends, 0))
        return;
    ask(&ends, "\n");
    uint64_t until = gtel_pace_now() + 200000000u;
    uint64_t before = cpu_ns();
    gtel_pace_pause(&ends.pace, until);
    CHECK(cpu_ns() - before < 100000000u);
    CHECK(gtel_pace_now() >= until);
    CHECK(!gtel_pace_is_cut(&ends.pace));
    CHECK_INT(gtel_pace_wait(&ends.pace), GTEL_PACE_GATHER);

    test_label = "pause cut by a closed output";
    (void)close(ends.from_out);
    ends.from_out = -1;
    uint64_t start = gtel_pace_now();
    gtel_pace_pause(&ends.pace, start + 3600000000000u);
    CHECK(gtel_pace_is_cut(&ends.pace));
    CHECK(ends.pace.ending != GTEL_PACE_GOES_ON);
    CHECK(ends.pace.ending_ns >= start && ends.pace.ending_ns <= gtel_pace_now());
    CHECK_INT(gtel_pace_wait(&ends.pace), GTEL_PACE_END);

    test_label = "files closed at the end";
    int fd = ends.pace.signal;
    (void)close(ends.pace.in);
    end(&ends);
    CHECK_INT(ends.pace.signal, -1);
    CHECK(fcntl(fd, F_GETFD) < 0 && errno == EBADF);
}

int main(void)
{
    (void)alarm(60); /* what waits for ever fails */
    test_input();
    test_samples();
    test_ends();
    test_slow_reader(false);
    test_slow_reader(true);
    test_pause();
    for (size_t i = 0; i < GTEL_ARRAY_LEN(tick_cases); i++) {
        const struct tick_case *c = &tick_cases[i];
        test_label = c->label;
        uint64_t next = gtel_pace_next_tick(c->tick_ns, c->interval_ns, c->now_ns);
        CHECK_INT(next, c->want);
        CHECK(next > c->now_ns && (next - c->tick_ns) % c->interval_ns == 0);
    }
    test_label = "no drift";
    uint64_t tick = 7;
    for (uint64_t now = 7; now < 100000; now += 33)
        tick = gtel_pace_next_tick(tick, 100, now);
    CHECK_INT(tick % 100, 7);
    return test_result();
}
