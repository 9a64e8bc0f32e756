/* SPDX-License-Identifier: MIT */
/* What errors are called. */
#include "base/error.h"

#include "base/compiler.h"

#include <string.h>

/* Those of Linux (asm-generic/errno.h, glibc) that differ in msvcrt, whose words end at 42. */
static const struct row {
    int error;
    int number;
    const char *text;
} rows[] = {
    {E2BIG, 7, "Argument list too long"},
    {ENOMEM, 12, "Cannot allocate memory"},
    {EBUSY, 16, "Device or resource busy"},
    {ERANGE, 34, "Numerical result out of range"},
    {ENAMETOOLONG, 36, "File name too long"},
    {ENOSYS, 38, "Function not implemented"},
    {ENODATA, 61, "No data available"},
    {EPROTO, 71, "Protocol error"},
    {EBADMSG, 74, "Bad message"},
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
