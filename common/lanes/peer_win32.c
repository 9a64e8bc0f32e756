/* SPDX-License-Identifier: MIT */
/* The helper's end of a pipe, which is its standard input. */
#include "lanes/peer.h"

#include "lanes/pipe_win32.h"

static struct gtel_pipe peer; /* for as long as the helper lives */

int gtel_peer_open(int fd)
{
    (void)fd;
    (void)SetConsoleCtrlHandler(NULL, TRUE); /* Ctrl-C is for the front end */
    return gtel_pipe_open(&peer, GetStdHandle(STD_INPUT_HANDLE));
}

int gtel_peer_send(int fd, struct gtel_str text)
{
    (void)fd;
    return gtel_pipe_write(&peer, text, INFINITE);
}

int gtel_peer_wait(int fd, int ms)
{
    (void)fd;
    if (gtel_pipe_is_ready(&peer))
        return 1;
    DWORD r = WaitForSingleObject(peer.read.hEvent, ms < 0 ? INFINITE : (DWORD)ms);
    return r == WAIT_OBJECT_0 ? 1 : r == WAIT_TIMEOUT ? 0 : -1;
}

int64_t gtel_peer_receive(int fd, void *buf, size_t n)
{
    while (gtel_peer_wait(fd, -1) > 0) {
        int64_t got = gtel_pipe_take(&peer, buf, n);
        if (got != 0)
            return got;
    }
    return -1;
}
