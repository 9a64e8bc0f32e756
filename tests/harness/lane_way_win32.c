/* SPDX-License-Identifier: MIT */
/* The way between a front end and a helper: a named pipe. */
#include "harness/lane_way.h"

#include "lanes/lane.h"
#include "lanes/pipe_win32.h"
#include "lanes/serve.h"

#include <stdio.h>
#include <stdlib.h>

const char lane_way_missing_fix[] = "install gtel for this machine there";

enum { PIPE_BYTES = 65536 };

/* Two ends; only ours, or only theirs, is overlapped. */
static bool open_pipe(bool is_ours_overlapped, HANDLE *ret_ours, HANDLE *ret_theirs)
{
    static unsigned number;
    char name[96];
    DWORD overlapped = FILE_FLAG_OVERLAPPED;
    (void)snprintf(name, sizeof(name), "\\\\.\\pipe\\gtel-test-%lx-%u", GetCurrentProcessId(),
                   number++);
    *ret_ours = CreateNamedPipeA(name, PIPE_ACCESS_DUPLEX | (is_ours_overlapped ? overlapped : 0),
                                 PIPE_TYPE_BYTE | PIPE_WAIT, 1, PIPE_BYTES, PIPE_BYTES, 0, NULL);
    if (*ret_ours == INVALID_HANDLE_VALUE)
        return false;
    *ret_theirs = CreateFileA(name, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING,
                              is_ours_overlapped ? 0 : overlapped, NULL);
    if (*ret_theirs != INVALID_HANDLE_VALUE)
        return true;
    (void)CloseHandle(*ret_ours);
    return false;
}

bool lane_way_open(struct gtel_channel *channel, intptr_t *ret_peer)
{
    HANDLE ours;
    HANDLE theirs;
    struct gtel_pipe *pipe = malloc(sizeof(*pipe));
    if (!pipe || !open_pipe(true, &ours, &theirs) || gtel_pipe_open(pipe, ours) < 0) {
        free(pipe);
        return false;
    }
    channel->pipe = pipe;
    channel->fd = 0;
    *ret_peer = (intptr_t)theirs;
    return true;
}

bool lane_way_send(intptr_t peer, struct gtel_str bytes)
{
    DWORD n = 0;
    return bytes.n == 0 ||
           (WriteFile((HANDLE)peer, bytes.p, (DWORD)bytes.n, &n, NULL) && n == bytes.n);
}

void lane_way_close(intptr_t peer)
{
    (void)CloseHandle((HANDLE)peer); /* of a test's pipe */
}

/* A pipe cannot be closed in one direction: zeros, which are no frame, end the life. */
int lane_way_serve(struct gtel_env *env, const struct gtel_options *options, struct gtel_str bytes,
                   char *ret, size_t size, size_t *ret_n)
{
    static const char zeros[4096];
    HANDLE ours;
    HANDLE theirs;
    DWORD waiting = 0;
    DWORD got = 0;
    if (!open_pipe(false, &ours, &theirs))
        return -EIO;
    HANDLE before = GetStdHandle(STD_INPUT_HANDLE); /* a helper's way (lanes/peer_win32.c) */
    bool is_sent = lane_way_send((intptr_t)ours, bytes) &&
                   lane_way_send((intptr_t)ours, (struct gtel_str){zeros, sizeof(zeros)}) &&
                   SetStdHandle(STD_INPUT_HANDLE, theirs);
    int r = is_sent ? gtel_lane_serve("clients", 0, env, options) : -EPIPE;
    (void)SetStdHandle(STD_INPUT_HANDLE, before);
    *ret_n = 0;
    while (*ret_n < size && PeekNamedPipe(ours, NULL, 0, NULL, &waiting, NULL) && waiting > 0 &&
           ReadFile(ours, ret + *ret_n, (DWORD)(size - *ret_n), &got, NULL))
        *ret_n += got;
    (void)CloseHandle(theirs);
    (void)CloseHandle(ours);
    return r;
}
