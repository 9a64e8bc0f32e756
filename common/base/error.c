/* SPDX-License-Identifier: MIT */
/* What errors are called. */
#include "base/error.h"

#include "base/compiler.h"

#include <string.h>

/* The numbers and words of Linux (asm-generic/errno.h, glibc); those of msvcrt end at 42. */
static const struct row {
    int error;
    int number;
    const char *text;
} rows[] = {
    {EPERM, 1, "Operation not permitted"},
    {ENOENT, 2, "No such file or directory"},
    {ESRCH, 3, "No such process"},
    {EINTR, 4, "Interrupted system call"},
    {EIO, 5, "Input/output error"},
    {ENXIO, 6, "No such device or address"},
    {E2BIG, 7, "Argument list too long"},
    {ENOEXEC, 8, "Exec format error"},
    {EBADF, 9, "Bad file descriptor"},
    {EAGAIN, 11, "Resource temporarily unavailable"},
    {ENOMEM, 12, "Cannot allocate memory"},
    {EACCES, 13, "Permission denied"},
    {EBUSY, 16, "Device or resource busy"},
    {EXDEV, 18, "Invalid cross-device link"},
    {ENODEV, 19, "No such device"},
    {ENOTDIR, 20, "Not a directory"},
    {EISDIR, 21, "Is a directory"},
    {EINVAL, 22, "Invalid argument"},
    {ENFILE, 23, "Too many open files in system"},
    {EMFILE, 24, "Too many open files"},
    {ENOTTY, 25, "Inappropriate ioctl for device"},
    {EFBIG, 27, "File too large"},
    {ENOSPC, 28, "No space left on device"},
    {EPIPE, 32, "Broken pipe"},
    {ERANGE, 34, "Numerical result out of range"},
    {ENAMETOOLONG, 36, "File name too long"},
    {ENOSYS, 38, "Function not implemented"},
    {ELOOP, 40, "Too many levels of symbolic links"},
    {ENODATA, 61, "No data available"},
    {EPROTO, 71, "Protocol error"},
    {EBADMSG, 74, "Bad message"},
    {EPROTONOSUPPORT, 93, "Protocol not supported"},
    {EOPNOTSUPP, 95, "Operation not supported"},
    {ENOBUFS, 105, "No buffer space available"},
    {ENOTCONN, 107, "Transport endpoint is not connected"},
    {ETIMEDOUT, 110, "Connection timed out"},
    {EHOSTDOWN, 112, "Host is down"},
    {ESTALE, 116, "Stale file handle"},
    {ECANCELED, 125, "Operation canceled"},
};

static const struct row *find(int r)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(rows); i++)
        if (rows[i].error == -r)
            return &rows[i];
    return NULL;
}

const char *gtel_error_text(int r)
{
    const struct row *row = find(r);
    return row ? row->text : strerror(-r);
}

int gtel_error_number(int r)
{
    const struct row *row = find(r);
    return row ? row->number : -r;
}
