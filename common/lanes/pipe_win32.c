/* SPDX-License-Identifier: MIT */
/* One end of a pipe between a front end and a helper. */
#include "lanes/pipe_win32.h"

#include <errno.h>
#include <string.h>

int gtel_pipe_open(struct gtel_pipe *pipe, HANDLE handle)
{
    *pipe = (struct gtel_pipe){.handle = handle};
    pipe->read.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL);
    pipe->written = CreateEventW(NULL, TRUE, FALSE, NULL);
    if (pipe->read.hEvent && pipe->written)
        return 0;
    gtel_pipe_close(pipe);
    return -ENOMEM;
}

void gtel_pipe_close(struct gtel_pipe *pipe)
{
    DWORD n;
    if (pipe->state == GTEL_PIPE_READS) {
        (void)CancelIoEx(pipe->handle, &pipe->read); /* it may have ended just now */
        (void)GetOverlappedResult(pipe->handle, &pipe->read, &n, TRUE);
    }
    (void)CloseHandle(pipe->handle);
    if (pipe->read.hEvent)
        (void)CloseHandle(pipe->read.hEvent);
    if (pipe->written)
        (void)CloseHandle(pipe->written);
}

/* Looks whether the read that is under way has ended. */
static void end_read(struct gtel_pipe *pipe)
{
    DWORD n = 0;
    bool is_over = GetOverlappedResult(pipe->handle, &pipe->read, &n, FALSE);
    if (!is_over && GetLastError() == ERROR_IO_INCOMPLETE)
        return;
    pipe->state = is_over && n > 0 ? GTEL_PIPE_IDLE : GTEL_PIPE_GONE;
    pipe->n = is_over ? n : 0;
    pipe->used = 0;
}

bool gtel_pipe_is_ready(struct gtel_pipe *pipe)
{
    if (pipe->used < pipe->n)
        return true;
    if (pipe->state == GTEL_PIPE_IDLE) {
        bool has_begun = ReadFile(pipe->handle, pipe->in, sizeof(pipe->in), NULL, &pipe->read) ||
                         GetLastError() == ERROR_IO_PENDING;
        pipe->state = has_begun ? GTEL_PIPE_READS : GTEL_PIPE_GONE;
    }
    if (pipe->state == GTEL_PIPE_READS)
        end_read(pipe);
    return pipe->used < pipe->n || pipe->state == GTEL_PIPE_GONE;
}

int64_t gtel_pipe_take(struct gtel_pipe *pipe, void *buf, size_t n)
{
    if (!gtel_pipe_is_ready(pipe))
        return 0;
    size_t left = pipe->n - pipe->used;
    if (left == 0)
        return -EPIPE;
    if (left > n)
        left = n;
    memcpy(buf, pipe->in + pipe->used, left);
    pipe->used += (DWORD)left;
    return (int64_t)left;
}

int gtel_pipe_write(struct gtel_pipe *pipe, struct gtel_str text, DWORD wait_ms)
{
    while (text.n > 0) {
        OVERLAPPED write = {.hEvent = pipe->written};
        DWORD n = 0;
        DWORD part = text.n < (1u << 20) ? (DWORD)text.n : 1u << 20;
        if (!WriteFile(pipe->handle, text.p, part, NULL, &write) &&
            GetLastError() != ERROR_IO_PENDING)
            return -EPIPE;
        if (WaitForSingleObject(write.hEvent, wait_ms) != WAIT_OBJECT_0)
            (void)CancelIoEx(pipe->handle, &write); /* it may have ended just now */
        if (!GetOverlappedResult(pipe->handle, &write, &n, TRUE) || n == 0)
            return -EPIPE;
        text = gtel_str_skip(text, n);
    }
    return 0;
}
