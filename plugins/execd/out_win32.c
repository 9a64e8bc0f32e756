/* SPDX-License-Identifier: MIT */
/* Standard output and standard error, as Telegraf reads them, under Windows. */
#include "execd/out.h"

#include "execd/pace_win32.h"
#include "host/system_win32.h"

#include <errno.h>
#include <string.h>
#include <windows.h>

enum { DRAIN_MS = 500, PART_MAX = 1 << 20, THREAD_STACK = 65536 };

static bool is_open(HANDLE handle)
{
    return handle && handle != INVALID_HANDLE_VALUE && GetFileType(handle) != FILE_TYPE_UNKNOWN;
}

bool gtel_out_init(void)
{
    return is_open(GetStdHandle(STD_OUTPUT_HANDLE));
}

/* 0 or a negative errno. */
static int write_all(HANDLE handle, struct gtel_str text)
{
    int r = 0;
    gtel_pace_writing(true);
    while (r == 0 && text.n > 0) {
        DWORD n = 0;
        DWORD part = text.n < PART_MAX ? (DWORD)text.n : PART_MAX;
        if (!WriteFile(handle, text.p, part, &n, NULL))
            r = gtel_win32_error(GetLastError());
        else if (n == 0) /* a helper's standard error is full (lanes/helper_text.h) */
            r = -EAGAIN;
        text = gtel_str_skip(text, n);
    }
    gtel_pace_writing(false);
    return r;
}

int gtel_out_write(struct gtel_pace *pace, struct gtel_str text)
{
    int r = gtel_pace_writable(pace);
    return r < 0 ? r : write_all(GetStdHandle(STD_OUTPUT_HANDLE), text);
}

/* Returns when the reader of the pipe has taken everything, or is gone. */
static DWORD WINAPI drain(void *handle)
{
    (void)FlushFileBuffers(handle);
    return 0;
}

void gtel_out_close(void)
{
    HANDLE out = GetStdHandle(STD_OUTPUT_HANDLE);
    HANDLE thread = NULL;
    if (is_open(out) && GetFileType(out) == FILE_TYPE_PIPE)
        thread = CreateThread(NULL, THREAD_STACK, drain, out, 0, NULL);
    if (thread) {
        (void)WaitForSingleObject(thread, DRAIN_MS);
        (void)CloseHandle(thread);
    }
}

/* A message that does not fit into a full pipe waits, for Telegraf always reads them. */
void gtel_out_message(struct gtel_str line)
{
    HANDLE handle = GetStdHandle(STD_ERROR_HANDLE);
    if (is_open(handle))
        (void)write_all(handle, line); /* gone: nobody reads it */
}
