/* SPDX-License-Identifier: MIT */
/* The process of the program under Windows. */
#include "execd/system.h"

#include "base/str.h"
#include "host/system_win32.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <windows.h>

/* The words of the command line, from the C library (msvcrt: __wgetmainargs; process.h has it in
 * newer SDKs only). */
struct start_info {
    int new_mode;
};
int __cdecl __wgetmainargs(int *argc, wchar_t ***argv, wchar_t ***env, int expands,
                           struct start_info *info);

static int read_words(int *argc, char ***argv)
{
    struct start_info info = {0};
    wchar_t **wide = NULL;
    wchar_t **env = NULL;
    int n = 0;
    if (__wgetmainargs(&n, &wide, &env, 0, &info) < 0 || n < 1)
        return -EIO;
    char **words = calloc((size_t)n + 1, sizeof(*words));
    for (int i = 0; words && i < n; i++) {
        words[i] = gtel_win32_utf8(wide[i]);
        if (!words[i])
            return -ENOMEM; /* the process ends */
    }
    if (!words)
        return -ENOMEM;
    *argc = n;
    *argv = words;
    return 0;
}

int gtel_system_init(int *argc, char ***argv)
{
    /* Also for helpers, which inherit it: a crash in a library must not wait for somebody. */
    (void)SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
    for (int fd = 0; fd <= 2; fd++)
        (void)_setmode(fd, _O_BINARY); /* one that is closed has no mode */
    return read_words(argc, argv);
}

int gtel_system_program(char *ret, size_t size)
{
    wchar_t wide[GTEL_WIN32_PATH_MAX];
    DWORD n = GetModuleFileNameW(NULL, wide, GTEL_WIN32_PATH_MAX);
    if (n == 0 || n >= GTEL_WIN32_PATH_MAX)
        return -EIO;
    n = (DWORD)WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, wide, -1, ret, (int)size, NULL,
                                   NULL);
    return n > 0 ? 0 : -ENAMETOOLONG;
}

int gtel_system_leave_folder(void)
{
    wchar_t folder[MAX_PATH];
    UINT n = GetSystemDirectoryW(folder, MAX_PATH);
    if (n == 0 || n >= MAX_PATH || !SetCurrentDirectoryW(folder))
        return gtel_win32_error(GetLastError());
    return 0;
}

bool gtel_system_is_terminal(void)
{
    DWORD mode;
    return GetConsoleMode(GetStdHandle(STD_OUTPUT_HANDLE), &mode);
}

/* The front end has made the pipe that is standard input, and writes to it, too. */
int gtel_system_helper_fd(void)
{
    return GetFileType(GetStdHandle(STD_INPUT_HANDLE)) == FILE_TYPE_PIPE ? 0 : -1;
}

/* The job in which it was born ends it with its front end (lanes/channel_win32.c). */
int gtel_system_begin_helper(int fd)
{
    (void)fd;
    return 0;
}
