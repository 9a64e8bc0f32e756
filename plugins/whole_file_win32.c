/* SPDX-License-Identifier: MIT */
/* Files that a user names, under Windows. */
#include "whole_file.h"

#include "base/error.h"
#include "host/system_win32.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

static int fail(int r, const char *what, char *problem, size_t size)
{
    (void)snprintf(problem, size, "%s", what);
    return r;
}

static int fail_last(char *problem, size_t size)
{
    int r = gtel_win32_error(GetLastError());
    return fail(r, gtel_error_text(r), problem, size);
}

static int fail_exists(char *problem, size_t size)
{
    return fail(-EEXIST, "it exists already; give another name", problem, size);
}

static int check_kind(HANDLE file, char *problem, size_t size)
{
    if (GetFileType(file) == FILE_TYPE_DISK)
        return 0;
    const char *what = GetFileType(file) == FILE_TYPE_PIPE ? "FIFO" : "device";
    (void)snprintf(problem, size, "it is a %s; only regular files are supported", what);
    return -EINVAL;
}

static int open_wide(const wchar_t *path, bool is_written, HANDLE *ret, char *problem, size_t size)
{
    DWORD kind = GetFileAttributesW(path);
    if (kind != INVALID_FILE_ATTRIBUTES && (kind & FILE_ATTRIBUTE_DIRECTORY) != 0)
        return fail(-EISDIR, "it is a directory", problem, size);
    *ret = CreateFileW(path, is_written ? GENERIC_WRITE : GENERIC_READ,
                       is_written ? FILE_SHARE_READ : FILE_SHARE_READ | FILE_SHARE_WRITE, NULL,
                       is_written ? CREATE_NEW : OPEN_EXISTING,
                       FILE_ATTRIBUTE_NORMAL | SECURITY_SQOS_PRESENT | SECURITY_ANONYMOUS, NULL);
    if (*ret == INVALID_HANDLE_VALUE)
        return GetLastError() == ERROR_FILE_EXISTS ? fail_exists(problem, size)
                                                   : fail_last(problem, size);
    int r = check_kind(*ret, problem, size);
    if (r < 0)
        (void)CloseHandle(*ret);
    return r;
}

static int open_regular(const char *path, bool is_written, HANDLE *ret, char *problem, size_t size)
{
    wchar_t *wide = malloc(GTEL_WIN32_PATH_MAX * sizeof(*wide));
    int r = wide ? gtel_win32_path(path, wide) : -ENOMEM;
    if (r < 0)
        (void)fail(r, gtel_error_text(r), problem, size);
    else
        r = open_wide(wide, is_written, ret, problem, size);
    free(wide);
    return r;
}

int gtel_whole_file_read(const char *path, struct gtel_buf *text, char *problem, size_t size)
{
    char chunk[16384];
    HANDLE file;
    DWORD n = 0;
    int r = open_regular(path, false, &file, problem, size);
    if (r < 0)
        return r;
    while (r == 0) {
        if (!ReadFile(file, chunk, sizeof(chunk), &n, NULL))
            r = fail_last(problem, size);
        else if (n == 0)
            break;
        else if (n > text->limit - text->n) {
            (void)snprintf(problem, size, "it is longer than %zu bytes", text->limit);
            r = -EFBIG;
        } else {
            gtel_buf_bytes(text, chunk, n);
            if (text->has_failed)
                r = fail(-ENOMEM, gtel_error_text(-ENOMEM), problem, size);
        }
    }
    (void)CloseHandle(file); /* only read */
    return r;
}

/* Who may write there is known when it is tried. */
int gtel_whole_file_check(const char *path, char *problem, size_t size)
{
    wchar_t *wide = malloc(GTEL_WIN32_PATH_MAX * sizeof(*wide));
    int r = wide ? gtel_win32_path(path, wide) : -ENOMEM;
    if (r < 0) {
        (void)fail(r, gtel_error_text(r), problem, size);
    } else {
        DWORD kind = GetFileAttributesW(wide);
        if (kind == INVALID_FILE_ATTRIBUTES && GetLastError() != ERROR_FILE_NOT_FOUND)
            r = fail_last(problem, size);
        else if (kind != INVALID_FILE_ATTRIBUTES && (kind & FILE_ATTRIBUTE_DIRECTORY) != 0)
            r = fail(-EISDIR, "it is a directory", problem, size);
        else if (kind != INVALID_FILE_ATTRIBUTES)
            r = fail_exists(problem, size);
    }
    free(wide);
    return r;
}

int gtel_whole_file_write(const char *path, struct gtel_str text, char *problem, size_t size)
{
    HANDLE file;
    int r = open_regular(path, true, &file, problem, size);
    if (r < 0)
        return r;
    while (r == 0 && text.n > 0) {
        DWORD n = 0;
        if (!WriteFile(file, text.p, text.n < 1u << 20 ? (DWORD)text.n : 1u << 20, &n, NULL))
            r = fail_last(problem, size);
        text = gtel_str_skip(text, n);
    }
    if (!CloseHandle(file) && r == 0)
        r = fail_last(problem, size);
    return r;
}
