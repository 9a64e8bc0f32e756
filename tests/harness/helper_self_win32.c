/* SPDX-License-Identifier: MIT */
/* What a helper that a test plays does with itself. */
#include "harness/helper_self.h"

#include "lanes/peer.h"

#include <stdio.h>
#include <windows.h>

bool helper_self_open(void)
{
    return gtel_peer_open(HELPER_SELF_WAY) == 0;
}

void helper_self_hang_up(void)
{
    (void)CloseHandle(GetStdHandle(STD_INPUT_HANDLE));
}

void helper_self_kill(void)
{
    (void)TerminateProcess(GetCurrentProcess(), 1);
}

void helper_self_deafen(void)
{
    (void)SetConsoleCtrlHandler(NULL, TRUE);
}

/* A process cannot become another one: this one waits, and both are in the job of the helper. The
 * words have no quotes in them. */
int helper_self_become(const char *path, char **argv)
{
    char line[4096];
    size_t n = 0;
    DWORD code = 6;
    PROCESS_INFORMATION made;
    STARTUPINFOA start = {.cb = sizeof(start),
                          .dwFlags = STARTF_USESTDHANDLES,
                          .hStdInput = GetStdHandle(STD_INPUT_HANDLE),
                          .hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE),
                          .hStdError = GetStdHandle(STD_ERROR_HANDLE)};
    for (size_t i = 0; argv[i] && n < sizeof(line); i++)
        n += (size_t)snprintf(line + n, sizeof(line) - n, "%s\"%s\"", i ? " " : "", argv[i]);
    if (n >= sizeof(line) ||
        !CreateProcessA(path, line, NULL, NULL, TRUE, 0, NULL, NULL, &start, &made))
        return 6;
    (void)WaitForSingleObject(made.hProcess, INFINITE);
    (void)GetExitCodeProcess(made.hProcess, &code);
    (void)CloseHandle(made.hThread);
    (void)CloseHandle(made.hProcess);
    return (int)code;
}
