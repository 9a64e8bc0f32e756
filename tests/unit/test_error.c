/* SPDX-License-Identifier: MIT */
/* What errors are called: the same on each system. */
#include "base/error.h"

#include "base/compiler.h"
#include "base/str.h"
#include "harness/test.h"

#include <string.h>

/* From errno(3) and `errno -l` of Debian 12. */
static const struct error_case {
    int r;
    int number;
    const char *text;
} cases[] = {
    {-EPERM, 1, "Operation not permitted"},
    {-ENOENT, 2, "No such file or directory"},
    {-EIO, 5, "Input/output error"},
    {-E2BIG, 7, "Argument list too long"},
    {-ENOEXEC, 8, "Exec format error"},
    {-EAGAIN, 11, "Resource temporarily unavailable"},
    {-ENOMEM, 12, "Cannot allocate memory"},
    {-EACCES, 13, "Permission denied"},
    {-EBUSY, 16, "Device or resource busy"},
    {-ENODEV, 19, "No such device"},
    {-EINVAL, 22, "Invalid argument"},
    {-ERANGE, 34, "Numerical result out of range"},
    {-ENAMETOOLONG, 36, "File name too long"},
    {-ENODATA, 61, "No data available"},
    {-EPROTO, 71, "Protocol error"},
    {-EOPNOTSUPP, 95, "Operation not supported"},
    {-ENOTCONN, 107, "Transport endpoint is not connected"},
    {-ETIMEDOUT, 110, "Connection timed out"},
    {-EHOSTDOWN, 112, "Host is down"},
    {-ESTALE, 116, "Stale file handle"},
    {-ECANCELED, 125, "Operation canceled"},
};

int main(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        test_label = cases[i].text;
        CHECK_STR(gtel_str_of(gtel_error_text(cases[i].r)), cases[i].text);
        CHECK_INT(gtel_error_number(cases[i].r), cases[i].number);
    }
    test_label = "others";
    CHECK_INT(gtel_error_number(-EDOM), EDOM);
    CHECK(strlen(gtel_error_text(-EDOM)) > 0);
#ifdef __linux__ /* nothing of the table differs from the system's own */
    for (int number = 1; number < 134; number++) {
        char text[100]; /* the next call may free what the last one returned */
        (void)snprintf(text, sizeof(text), "%s", strerror(number));
        test_label = text;
        CHECK_STR(gtel_str_of(gtel_error_text(-number)), text);
        CHECK_INT(gtel_error_number(-number), number);
    }
#endif
    test_label = "";
    return test_result();
}
