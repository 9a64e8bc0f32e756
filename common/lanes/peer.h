/* SPDX-License-Identifier: MIT */
/* The helper's end of the way to its front end: what differs by system. */
#ifndef GTEL_LANES_PEER_H
#define GTEL_LANES_PEER_H

#include "base/str.h"

/*
 * POSIX: fd is the socket. Windows: the pipe is standard input, and fd only stands for it. The end
 * of the way ends the helper; signals to the whole group do not cut an answer. 0 or a negative
 * errno.
 */
int gtel_peer_open(int fd);
/* All of it, for as long as the front end takes; 0 or -EPIPE. */
int gtel_peer_send(int fd, struct gtel_str text);
/* Waits until there is something to receive, at most ms; -1: for ever. 1, 0, or negative: gone. */
int gtel_peer_wait(int fd, int ms);
/* The number of bytes, waiting for the first; 0 or negative: gone. */
int64_t gtel_peer_receive(int fd, void *buf, size_t n);

#endif
