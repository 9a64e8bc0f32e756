/* SPDX-License-Identifier: MIT */
/* UTF-16, the text of Windows, as UTF-8. Pure: no allocation, no input or output. */
#ifndef GTEL_PARSE_UTF16_H
#define GTEL_PARSE_UTF16_H

#include "base/str.h"

/*
 * Writes up to n units as UTF-8 into buf of size bytes (at least 1), with a NUL at the end: up to
 * the first NUL, or as many whole characters as fit. Half a surrogate pair becomes '?'. Returns
 * what was written.
 */
struct gtel_str gtel_utf16_text(const uint16_t *units, size_t n, char *buf, size_t size);

#endif
