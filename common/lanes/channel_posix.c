/* SPDX-License-Identifier: MIT */
/* A helper process behind a socket pair. */
#include "lanes/channel.h"

#include "host/fs.h"
#include "host/spawn_posix.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HELPER_FD = 3, WAIT_MAX = 32 };

/* How often to see whether a helper has answered where poll is refused. */
static const uint64_t refused_step_ns = 1000000;

const char *gtel_channel_start_fix(int error)
{
    switch (-error) {
    case EAGAIN:
        return "the number of processes is at its limit: raise TasksMax= of the unit, the limit "
               "of the user (ulimit -u), pids.max of the container, or kernel.pid_max";
    case EMFILE:
    case ENFILE:
    case ENOMEM:
        return gtel_fs_shortage_fix(error);
    case EACCES:
    case EPERM:
        return "see whether this user may run it: its mode, noexec of its file system, and what "
               "keeps the agent in (AppArmor, SELinux, seccomp)";
    case ENOEXEC:
        return "it is no program for this machine: install gtel there";
    default:
        return "install gtel there, or name it with the option Helper";
    }
}

const char *gtel_channel_hang_fix(void)
{
    return "see dmesg, and where it hangs while the agent runs gtel: pgrep -f 'gtel --lane' | "
           "xargs -I{} cat /proc/{}/wchan; a driver that hangs needs a reboot";
}

void gtel_channel_init(struct gtel_channel *channel)
{
    *channel = (struct gtel_channel){.fd = -1};
}

void gtel_channel_close(struct gtel_channel *channel)
{
    if (channel->fd >= 0)
        (void)close(channel->fd);
    channel->fd = -1;
}

bool gtel_channel_reap(struct gtel_channel *channel, int *ret_status)
{
    *ret_status = 0;
    if (channel->pid == 0)
        return true;
    pid_t r = waitpid(channel->pid, ret_status, WNOHANG);
    if (r == 0 || (r < 0 && errno == EINTR))
        return false;
    channel->pid = 0;
    return true;
}

void gtel_channel_death(int status, char *ret, size_t size)
{
    ret[0] = '\0';
    if (status != 0 && WIFSIGNALED(status))
        (void)snprintf(ret, size, " (signal %d)", WTERMSIG(status));
}

bool gtel_channel_kill(struct gtel_channel *channel)
{
    return kill(channel->pid, SIGKILL) == 0;
}

void gtel_channel_nap(uint64_t ns)
{
    struct timespec ts = {.tv_sec = (time_t)(ns / 1000000000u),
                          .tv_nsec = (long)(ns % 1000000000u)};
    (void)nanosleep(&ts, NULL); /* woken early: the caller checks again */
}

/*
 * Standard input and output lead nowhere, standard error to the front end's log, the socket is
 * fd 3, nothing else is handed on. text_fd is above it (gtel_helper_text_open).
 */
static int spawn_on(struct gtel_channel *channel, int fd, int text_fd, const char *path,
                    char *const *args)
{
    const int fds[HELPER_FD + 1] = {-1, -1, text_fd, fd};
    return gtel_spawn_posix(path, args, fds, HELPER_FD + 1, false, &channel->pid);
}

static int open_socket(int fd[2])
{
    int r = gtel_spawn_posix_sockets(fd);
    if (r < 0)
        return r;
    int flags = fcntl(fd[0], F_GETFL);
    if (flags < 0 || fcntl(fd[0], F_SETFL, flags | O_NONBLOCK) < 0) {
        int error = errno;
        (void)close(fd[0]);
        (void)close(fd[1]);
        return -error;
    }
    return 0;
}

int gtel_channel_start(struct gtel_channel *channel, struct gtel_helper_text *text,
                       const char *path, char *const *args)
{
    int fd[2];
    intptr_t text_fd;
    int r = open_socket(fd);
    if (r < 0)
        return r;
    r = gtel_helper_text_open(text, &text_fd);
    if (r == 0) {
        r = spawn_on(channel, fd[1], (int)text_fd, path, args);
        gtel_helper_text_end(text_fd);
    }
    (void)close(fd[1]);
    if (r == 0) {
        channel->fd = fd[0];
        return 0;
    }
    (void)close(fd[0]);
    channel->pid = 0; /* posix_spawn may have written to it */
    return r;
}

int gtel_channel_send(struct gtel_channel *channel, struct gtel_str text)
{
    ssize_t sent;
    do
        sent = send(channel->fd, text.p, text.n, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)text.n ? 0 : -EPIPE;
}

int64_t gtel_channel_receive(struct gtel_channel *channel, void *buf, size_t n)
{
    ssize_t got;
    do
        got = recv(channel->fd, buf, n, 0);
    while (got < 0 && errno == EINTR);
    if (got > 0)
        return got;
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? 0 : -EPIPE;
}

void gtel_channels_wait(struct gtel_channel *const *channels, size_t n, uint64_t wait_ns)
{
    struct pollfd fds[WAIT_MAX];
    nfds_t count = 0;
    for (size_t i = 0; i < n && count < WAIT_MAX; i++)
        fds[count++] = (struct pollfd){.fd = channels[i]->fd, .events = POLLIN};
    uint64_t ms = (wait_ns + 999999u) / 1000000u;
    int r = poll(fds, count, ms < 60000 ? (int)ms : 60000);
    if (r < 0 && errno != EINTR) /* refused: not at the full speed of a processor, then */
        gtel_channel_nap(wait_ns < refused_step_ns ? wait_ns : refused_step_ns);
}
