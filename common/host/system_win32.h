/* SPDX-License-Identifier: MIT */
/* Between our strings and errors and those of Windows. */
#ifndef GTEL_HOST_SYSTEM_WIN32_H
#define GTEL_HOST_SYSTEM_WIN32_H

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

/* UTF-16 units of a path with its NUL; the longest that Windows takes (fileapi.h, CreateFileW). */
enum { GTEL_WIN32_PATH_MAX = 32768 };

/* A negative errno for an error of Windows (winerror.h). */
int gtel_win32_error(unsigned long error);
/* A path as a user gives it, in UTF-8, for the calls of Windows: whole, and of any length. 0 or a
 * negative errno. ret has GTEL_WIN32_PATH_MAX units. */
int gtel_win32_path(const char *path, wchar_t *ret);
/* What GTEL_HOST_FACTS has (host/env.h), as far as Windows answers. Bytes, or a negative errno. */
int gtel_win32_facts(char *ret, size_t size);
/* A function of a library of the system's, which stays loaded, into a pointer of its type. */
bool gtel_win32_function(const wchar_t *library, const char *name, void *ret);
/* A string of Windows in UTF-8, allocated; what is no UTF-16 becomes U+FFFD. NULL: no memory. */
char *gtel_win32_utf8(const wchar_t *text);

#endif
