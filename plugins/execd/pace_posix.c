/* SPDX-License-Identifier: MIT */
/* When to gather, and when to end: files and signals. */
#include "execd/pace.h"

#include "execd/signals.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { READS_MAX = 32 };

const char gtel_pace_call[] = "ppoll";
const char gtel_pace_fix[] =
    "; see whether a sandbox (SystemCallFilter= of the unit, seccomp of the "
    "container) refuses it";

uint64_t gtel_pace_now(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail on Linux */
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A terminal, a pipe or a socket: something whose end somebody means. */
static bool is_held(int fd)
{
    struct stat st;
    return isatty(fd) || (fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)));
}

void gtel_pace_open(struct gtel_pace *pace, bool watches_input)
{
    pace->out = STDOUT_FILENO;
    if (watches_input && (pace->interval_ns == 0 || is_held(STDIN_FILENO)))
        pace->in = STDIN_FILENO;
    pace->signal = gtel_signals_open();
}

void gtel_pace_done(struct gtel_pace *pace)
{
    if (pace->signal >= 0)
        (void)close(pace->signal);
    pace->signal = -1;
}

static void read_signals(struct gtel_pace *pace)
{
    int number;
    while (gtel_signals_next(pace->signal, &number)) {
        if (number == SIGUSR1)
            pace->is_pending = true;
        else
            gtel_pace_begin_end(pace, GTEL_PACE_STOPPED);
    }
}

static bool is_readable(int fd)
{
    struct pollfd item = {.fd = fd, .events = POLLIN};
    return poll(&item, 1, 0) == 1;
}

/* Takes everything that is there, so that newlines that have queued up are one request. */
static void read_input(struct gtel_pace *pace)
{
    char bytes[4096];
    for (int i = 0; i < READS_MAX; i++) {
        ssize_t n = read(pace->in, bytes, sizeof(bytes));
        if (n < 0 && (errno == EINTR || errno == EAGAIN || ++pace->failed_reads < READS_MAX))
            return; /* an error that stays, as of a terminal that is gone, is an end */
        if (n <= 0) {
            pace->in = -1;
            gtel_pace_begin_end(pace, GTEL_PACE_INPUT_ENDED);
            return;
        }
        pace->failed_reads = 0;
        if (memchr(bytes, '\n', (size_t)n)) {
            pace->is_pending = true;
            pace->newlines++;
        }
        if (!is_readable(pace->in))
            return;
    }
}

#ifdef __linux__

static int wait_until(struct pollfd *item, nfds_t n, uint64_t t_ns)
{
    uint64_t now = gtel_pace_now();
    uint64_t left = t_ns > now ? t_ns - now : 0;
    struct timespec timeout = {.tv_sec = (time_t)(left / 1000000000u),
                               .tv_nsec = (long)(left % 1000000000u)};
    return ppoll(item, n, t_ns == UINT64_MAX ? NULL : &timeout, NULL);
}

#else

static int wait_until(struct pollfd *item, nfds_t n, uint64_t t_ns)
{
    uint64_t now = gtel_pace_now();
    uint64_t ms = t_ns > now ? (t_ns - now + 999999u) / 1000000u : 0;
    return poll(item, n, t_ns == UINT64_MAX ? -1 : ms < INT_MAX ? (int)ms : INT_MAX);
}

#endif

bool gtel_pace_wait_any(struct gtel_pace *pace, uint64_t t_ns, bool wants_out)
{
    struct pollfd item[] = {
        {.fd = pace->in, .events = POLLIN},
        {.fd = pace->signal, .events = POLLIN},
        {.fd = pace->out, .events = wants_out ? POLLOUT : 0},
    };
    int n = wait_until(item, 3, t_ns);
    if (n < 0 && errno != EINTR) {
        /* Refused, as by a sandbox, or no memory: to ask again would only use a processor up. */
        pace->error = -errno;
        return false;
    }
    if (n <= 0)
        return false; /* time is up, or a signal that nobody takes: the caller checks the clock */
    if (item[1].revents != 0)
        read_signals(pace);
    if (item[0].revents != 0)
        read_input(pace);
    /* POLLERR: the last reader of the pipe is gone. POLLHUP: the terminal or the socket is. */
    if ((item[2].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0)
        gtel_pace_begin_end(pace, GTEL_PACE_OUT_CLOSED);
    return (item[2].revents & POLLOUT) != 0;
}
