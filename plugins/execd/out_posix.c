/* SPDX-License-Identifier: MIT */
/* Standard output and standard error, as Telegraf reads them. */
#include "execd/out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NAP_NS = 1000000, DRAIN_NAPS = 500, CLOSE_NAPS = 5 };

bool gtel_out_init(void)
{
    bool has_output = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO) /* the lowest free number is used first */
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd > STDERR_FILENO)
        (void)close(fd);
    return has_output;
}

/* Bytes in the pipe that the reader has not taken; -1 where that is not known. */
static int unread(void)
{
    int n = -1;
    return ioctl(STDOUT_FILENO, FIONREAD, &n) < 0 ? -1 : n;
}

static bool is_pipe(void)
{
    struct stat st;
    return fstat(STDOUT_FILENO, &st) == 0 && S_ISFIFO(st.st_mode);
}

/*
 * How much of text can be written now without blocking. An empty pipe takes its whole size; one
 * that poll calls writable takes PIPE_BUF bytes (pipe(7)), which are cut behind a line where one
 * ends.
 */
static size_t next_part(struct gtel_str text)
{
    int room = -1;
#ifdef F_GETPIPE_SZ /* of Linux alone */
    room = unread() == 0 ? fcntl(STDOUT_FILENO, F_GETPIPE_SZ) : -1;
#endif
    size_t n = room > PIPE_BUF ? (size_t)room : PIPE_BUF;
    if (n >= text.n)
        return text.n;
    for (size_t i = n; i > 0; i--)
        if (text.p[i - 1] == '\n')
            return i;
    return n;
}

int gtel_out_write(struct gtel_pace *pace, struct gtel_str text)
{
    bool may_block = is_pipe();
    while (text.n > 0) {
        int r = gtel_pace_writable(pace);
        if (r < 0)
            return r;
        ssize_t n = write(STDOUT_FILENO, text.p, may_block ? next_part(text) : text.n);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return -errno;
        if (n > 0)
            text = gtel_str_skip(text, (size_t)n);
    }
    return 0;
}

static void nap(void)
{
    struct timespec ts = {.tv_nsec = NAP_NS};
    (void)nanosleep(&ts, NULL); /* woken early: the caller counts on */
}

void gtel_out_close(void)
{
    /* Telegraf closes its end of the pipe as soon as the program is gone, read or not. */
    struct pollfd item = {.fd = STDOUT_FILENO};
    for (int i = 0; i < DRAIN_NAPS && is_pipe() && unread() > 0; i++) {
        if (poll(&item, 1, 0) == 1)
            break; /* nobody reads it */
        nap();
    }
    (void)close(STDOUT_FILENO);
    /* It logs an error when it closes the pipe of the messages while it still waits for one. */
    (void)close(STDERR_FILENO);
    for (int i = 0; i < CLOSE_NAPS; i++)
        nap();
}

void gtel_out_message(struct gtel_str line)
{
    struct pollfd item = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&item, 1, 0) == 1 && (item.revents & POLLOUT) != 0)
        (void)!write(STDERR_FILENO, line.p, line.n); /* full or gone: nobody reads it */
}
