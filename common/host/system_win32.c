/* SPDX-License-Identifier: MIT */
/* Between our strings and errors and those of Windows. */
#include "host/system_win32.h"

#include <errno.h>
#include <stdio.h>
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

/* ---- facts ---- */

bool gtel_win32_function(const wchar_t *library, const char *name, void *ret)
{
    HMODULE module = LoadLibraryExW(library, NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
    FARPROC function = module ? GetProcAddress(module, name) : NULL;
    memcpy(ret, &function, sizeof(function));
    return function != NULL;
}

/* GetVersionEx says what the program is made for; this what it runs on (wdm.h, RtlGetVersion). */
static int write_version(char *ret, size_t size)
{
    LONG(WINAPI * get)(OSVERSIONINFOW *);
    OSVERSIONINFOW version = {.dwOSVersionInfoSize = sizeof(version)};
    if (!gtel_win32_function(L"ntdll.dll", "RtlGetVersion", &get) || get(&version) != 0)
        return 0;
    return snprintf(ret, size, "Version: %lu.%lu.%lu\n", version.dwMajorVersion,
                    version.dwMinorVersion, version.dwBuildNumber);
}

/* "NT AUTHORITY\SYSTEM": NameSamCompatible (secext.h). */
static int write_user(char *ret, size_t size)
{
    BOOLEAN(WINAPI * get)(int, wchar_t *, ULONG *);
    enum { SAM_COMPATIBLE = 2 };
    wchar_t name[256];
    ULONG length = sizeof(name) / sizeof(name[0]);
    bool is_there = gtel_win32_function(L"secur32.dll", "GetUserNameExW", &get);
    char *user = is_there && get(SAM_COMPATIBLE, name, &length) ? gtel_win32_utf8(name) : NULL;
    int n = user ? snprintf(ret, size, "User: %s\n", user) : 0;
    free(user);
    return n;
}

/* Of the process, not of the user: false where it is not elevated (shlobj.h, IsUserAnAdmin). */
static int write_administrator(char *ret, size_t size)
{
    BOOL(WINAPI * is)(void);
    return gtel_win32_function(L"shell32.dll", "IsUserAnAdmin", &is)
               ? snprintf(ret, size, "Administrator: %s\n", is() ? "yes" : "no")
               : 0;
}

int gtel_win32_facts(char *ret, size_t size)
{
    enum { LINE_MAX = 800 }; /* a name has 255 characters */
    if (size < (size_t)3 * LINE_MAX)
        return -ENOBUFS;
    int n = write_version(ret, LINE_MAX);
    n += write_user(ret + n, LINE_MAX);
    return n + write_administrator(ret + n, LINE_MAX);
}
