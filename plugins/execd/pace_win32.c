/* SPDX-License-Identifier: MIT */
/* When to gather, and when to end: a thread at standard input, and the console's signals. */
#include "execd/pace.h"

#include "execd/pace_win32.h"
#include "host/env.h"

#include <errno.h>
#include <string.h>
#include <windows.h>

enum { STEP_MS = 50, BLOCKED_END_MS = 850 /* a second with all else */, THREAD_STACK = 65536 };

const char gtel_pace_call[] = "CreateEvent, CreateThread";
const char gtel_pace_fix[] = "";

/* What the threads have seen; only one pace in a process. */
static struct {
    HANDLE seen; /* an event: read the rest */
    volatile LONG has_newline;
    volatile LONG has_ended;
    volatile LONG is_stopped;
    volatile LONG is_writing;
} input;

uint64_t gtel_pace_now(void)
{
    return gtel_env_real_now();
}

void gtel_pace_writing(bool is_writing)
{
    (void)InterlockedExchange(&input.is_writing, is_writing);
}

/*
 * After the end of the input: a reader that does not read may hold it up within a second. A write
 * that waits cannot be asked for how long, so the thread that has nothing more to read looks.
 */
static void limit_end(void)
{
    for (DWORD ms = 0; ms < BLOCKED_END_MS;) {
        Sleep(STEP_MS);
        ms = input.is_writing ? ms + STEP_MS : 0;
    }
    (void)TerminateProcess(GetCurrentProcess(), 0); /* helpers end with their jobs */
}

static DWORD WINAPI read_input(void *handle)
{
    char bytes[4096];
    DWORD n;
    while (ReadFile(handle, bytes, sizeof(bytes), &n, NULL) && n > 0) {
        if (!memchr(bytes, '\n', n))
            continue;
        (void)InterlockedExchange(&input.has_newline, 1);
        (void)SetEvent(input.seen);
    }
    (void)InterlockedExchange(&input.has_ended, 1);
    (void)SetEvent(input.seen);
    limit_end();
    return 0;
}

/*
 * The second one ends the process in the system's way. What a service has started also hears of
 * each user who logs off (SetConsoleCtrlHandler, CTRL_LOGOFF_EVENT), and goes on.
 */
static BOOL WINAPI stop(DWORD type)
{
    if (type == CTRL_LOGOFF_EVENT)
        return TRUE;
    bool is_first = InterlockedExchange(&input.is_stopped, 1) == 0;
    (void)SetEvent(input.seen);
    return is_first;
}

/* A pipe, a socket or a console: something whose end somebody means. */
static bool is_held(HANDLE handle)
{
    DWORD mode;
    return GetFileType(handle) == FILE_TYPE_PIPE || GetConsoleMode(handle, &mode);
}

void gtel_pace_open(struct gtel_pace *pace, bool watches_input)
{
    HANDLE handle = GetStdHandle(STD_INPUT_HANDLE);
    input.seen = CreateEventW(NULL, FALSE, FALSE, NULL);
    if (!input.seen) {
        pace->error = -ENOMEM;
        return;
    }
    (void)SetConsoleCtrlHandler(stop, TRUE);
    if (!watches_input || (pace->interval_ns != 0 && !is_held(handle)))
        return;
    pace->in = 0;
    HANDLE thread = CreateThread(NULL, THREAD_STACK, read_input, handle, 0, NULL);
    if (!thread)
        pace->error = -EAGAIN;
    else
        (void)CloseHandle(thread);
}

/* The thread may still wait for input, and ends with the process. */
void gtel_pace_done(struct gtel_pace *pace)
{
    (void)pace;
    (void)SetConsoleCtrlHandler(stop, FALSE);
}

/* Standard output can always be written to: a write waits until its reader has room for it. */
bool gtel_pace_wait_any(struct gtel_pace *pace, uint64_t t_ns, bool wants_out)
{
    uint64_t now = gtel_pace_now();
    uint64_t left_ns = t_ns > now && !wants_out ? t_ns - now : 0;
    uint64_t ms = (left_ns + 999999) / 1000000;
    if (pace->error < 0)
        return false;
    (void)WaitForSingleObject(input.seen, t_ns == UINT64_MAX && !wants_out ? INFINITE
                                          : ms < INFINITE                  ? (DWORD)ms
                                                                           : INFINITE - 1);
    bool has_ended =
        pace->in >= 0 && input.has_ended != 0; /* before its last newline is asked for */
    if (InterlockedExchange(&input.has_newline, 0) != 0) {
        pace->is_pending = true;
        pace->newlines++;
    }
    if (has_ended) {
        pace->in = -1;
        gtel_pace_begin_end(pace, GTEL_PACE_INPUT_ENDED);
    }
    if (input.is_stopped)
        gtel_pace_begin_end(pace, GTEL_PACE_STOPPED);
    return wants_out;
}
