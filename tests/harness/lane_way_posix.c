/* SPDX-License-Identifier: MIT */
/* The way between a front end and a helper: a socket pair. */
#include "harness/lane_way.h"

#include "lanes/lane.h"
#include "lanes/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

const char lane_way_missing_fix[] = "install gtel there, or name it with the option Helper";

bool lane_way_open(struct gtel_channel *channel, intptr_t *ret_peer)
{
    int fd[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) < 0 ||
        fcntl(fd[0], F_SETFL, O_NONBLOCK) < 0)
        return false;
    channel->fd = fd[0];
    *ret_peer = fd[1];
    return true;
}

bool lane_way_send(intptr_t peer, struct gtel_str bytes)
{
    return send((int)peer, bytes.p, bytes.n, MSG_NOSIGNAL) == (ssize_t)bytes.n;
}

void lane_way_close(intptr_t peer)
{
    (void)close((int)peer); /* of a test's socket */
}

/* What follows the bytes is the end. */
int lane_way_serve(struct gtel_env *env, const struct gtel_options *options, struct gtel_str bytes,
                   char *ret, size_t size, size_t *ret_n)
{
    int fd[2];
    ssize_t got;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) < 0)
        return -errno;
    bool is_sent = lane_way_send(fd[0], bytes);
    (void)shutdown(fd[0], SHUT_WR);
    int r = is_sent ? gtel_lane_serve("clients", fd[1], env, options) : -EPIPE;
    (void)close(fd[1]);
    *ret_n = 0;
    while (*ret_n < size && (got = recv(fd[0], ret + *ret_n, size - *ret_n, 0)) > 0)
        *ret_n += (size_t)got;
    (void)close(fd[0]);
    return r;
}
