/* SPDX-License-Identifier: MIT */
/*
 * The pipe through which a helper's standard error comes.
 *
 * Each of its ends has a wait mode of its own, which goes with the handle to the helper: without
 * waiting, a write to a full pipe succeeds with what fits, or nothing (Microsoft: Named
 * Pipe Type, Read, and Wait Modes; Wine does the same).
 */
#include "lanes/helper_text.h"

#include "host/system_win32.h"

#include <windows.h>

enum { PIPE_BYTES = 65536 };

static bool is_never_waiting(HANDLE end)
{
    DWORD mode = PIPE_READMODE_BYTE | PIPE_NOWAIT;
    return SetNamedPipeHandleState(end, &mode, NULL, NULL);
}

int gtel_helper_text_open(struct gtel_helper_text *text, intptr_t *ret_end)
{
    HANDLE ours;
    HANDLE theirs;
    if (!CreatePipe(&ours, &theirs, NULL, PIPE_BYTES))
        return gtel_win32_error(GetLastError());
    if (!is_never_waiting(ours) || !is_never_waiting(theirs) ||
        !SetHandleInformation(theirs, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT)) {
        int r = gtel_win32_error(GetLastError());
        (void)CloseHandle(ours);
        (void)CloseHandle(theirs);
        return r;
    }
    text->end = (intptr_t)ours;
    text->n = 0;
    *ret_end = (intptr_t)theirs;
    return 0;
}

int64_t gtel_helper_text_read(intptr_t end, void *buf, size_t n)
{
    DWORD got = 0;
    return ReadFile((HANDLE)end, buf, (DWORD)n, &got, NULL) ? (int64_t)got : -1;
}

void gtel_helper_text_end(intptr_t end)
{
    (void)CloseHandle((HANDLE)end); /* only read, or written by somebody else */
}
