/* SPDX-License-Identifier: MIT */
/* The helper's end of a socket pair. */
#include "lanes/peer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

int gtel_peer_open(int fd)
{
    (void)fd;
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    return 0;
}

int gtel_peer_send(int fd, struct gtel_str text)
{
    while (text.n > 0) {
        ssize_t n = send(fd, text.p, text.n, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -EPIPE;
        text = gtel_str_skip(text, (size_t)n);
    }
    return 0;
}

int gtel_peer_wait(int fd, int ms)
{
    struct pollfd item = {.fd = fd, .events = POLLIN};
    int n = poll(&item, 1, ms);
    if (n < 0 && errno == EINTR)
        return 0; /* the caller computes it again */
    return n;     /* the end of the socket is for recv to see */
}

int64_t gtel_peer_receive(int fd, void *buf, size_t n)
{
    ssize_t got;
    do
        got = recv(fd, buf, n, 0);
    while (got < 0 && errno == EINTR);
    return got;
}
