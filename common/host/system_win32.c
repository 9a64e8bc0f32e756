/* SPDX-License-Identifier: MIT */
/* Between our strings and errors and those of Windows. */
#include "host/system_win32.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

int gtel_win32_error(unsigned long error)
{
    switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_MOD_NOT_FOUND: /* also a library that lacks one that it needs */
    case ERROR_INVALID_NAME:
    case ERROR_BAD_NETPATH:
        return -ENOENT;
    case ERROR_BAD_EXE_FORMAT: /* no program or library, or one for another processor */
    case ERROR_EXE_MACHINE_TYPE_MISMATCH:
        return -ENOEXEC;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
        return -EACCES;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
    case ERROR_COMMITMENT_LIMIT:
    case ERROR_NO_SYSTEM_RESOURCES:
        return -ENOMEM;
    case ERROR_BROKEN_PIPE:
    case ERROR_NO_DATA:
    case ERROR_PIPE_NOT_CONNECTED:
        return -EPIPE;
    case ERROR_DISK_FULL:
        return -ENOSPC;
    default:
        return -EIO;
    }
}

/*
 * "\\?\" lifts the limit of 260 characters (Microsoft: Maximum Path Length Limitation); such a path
 * must be whole, and has only backslashes.
 */
int gtel_win32_path(const char *path, wchar_t *ret)
{
    static const wchar_t prefix[] = L"\\\\?\\";
    enum { PREFIX = 4 };
    wchar_t *given = malloc(GTEL_WIN32_PATH_MAX * sizeof(*given));
    if (!given)
        return -ENOMEM;
    int r = -ENOENT;
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, given, GTEL_WIN32_PATH_MAX)) {
        DWORD room = GTEL_WIN32_PATH_MAX - PREFIX;
        DWORD n = GetFullPathNameW(given, room, ret + PREFIX, NULL);
        r = n == 0 ? gtel_win32_error(GetLastError()) : n >= room ? -ENAMETOOLONG : 0;
        if (r == 0 && ret[PREFIX] == L'\\') /* a share, or a device by its own name */
            memmove(ret, ret + PREFIX, (n + 1) * sizeof(*ret));
        else if (r == 0)
            memcpy(ret, prefix, PREFIX * sizeof(*ret));
    }
    free(given);
    return r;
}

char *gtel_win32_utf8(const wchar_t *text)
{
    int n = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
    char *ret = n > 0 ? malloc((size_t)n) : NULL;
    if (ret)
        (void)WideCharToMultiByte(CP_UTF8, 0, text, -1, ret, n, NULL, NULL); /* it has the room */
    return ret;
}
