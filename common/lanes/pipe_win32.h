/* SPDX-License-Identifier: MIT */
/* One end of a pipe between a front end and a helper; no call waits longer than it says. */
#ifndef GTEL_LANES_PIPE_WIN32_H
#define GTEL_LANES_PIPE_WIN32_H

#include "base/str.h"

#include <windows.h>

enum gtel_pipe_state {
    GTEL_PIPE_IDLE,
    GTEL_PIPE_READS, /* the system may write to in at any time */
    GTEL_PIPE_GONE   /* the other end is */
};

struct gtel_pipe {
    HANDLE handle; /* overlapped */
    HANDLE written;
    OVERLAPPED read; /* its event: something can be taken, or the other end is gone */
    enum gtel_pipe_state state;
    DWORD n; /* bytes in `in` */
    DWORD used;
    char in[16384];
};

/* Takes the handle over, on an error too. The struct must not move until it is closed. 0 or a
 * negative errno. */
int gtel_pipe_open(struct gtel_pipe *pipe, HANDLE handle);
void gtel_pipe_close(struct gtel_pipe *pipe);

/* Whether something can be taken now, or never again; if not, pipe->read.hEvent is set then. */
bool gtel_pipe_is_ready(struct gtel_pipe *pipe);
/* The number of bytes; 0 when there is nothing now; -EPIPE when the other end is gone. */
int64_t gtel_pipe_take(struct gtel_pipe *pipe, void *buf, size_t n);
/* All of it within wait_ms (INFINITE: for as long as it takes), or -EPIPE. */
int gtel_pipe_write(struct gtel_pipe *pipe, struct gtel_str text, DWORD wait_ms);

#endif
