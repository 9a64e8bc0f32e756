/* SPDX-License-Identifier: MIT */
/*
 * Binary data as text that a person can read and write: words of a width and a value.
 *
 * "4:2 2:0x10 6:0" is the number 2 in four bytes, 16 in two, and six bytes of zero, all little
 * endian. "8:5+1.5" is a counter that stands at 5 and grows by 1.5 each second; it wraps at its
 * width. Recorded machines keep answers of drivers and binary files in this form.
 */
#ifndef GTEL_PARSE_WORDS_H
#define GTEL_PARSE_WORDS_H

#include "base/str.h"

/*
 * Words, separated by blanks and newlines, to bytes: at most size of them in buf. A width is 1 or
 * more; a value is decimal, or hexadecimal with 0x, and fits into its width (beyond eight bytes the
 * rest is zero). seconds: for how long counters have grown; negative: there may be none. 0, -EINVAL
 * for anything else, -ERANGE for a value above 64 bits or its width, -E2BIG when buf is too small.
 * *ret_n is written on success.
 */
int gtel_words_pack(struct gtel_str text, double seconds, unsigned char *buf, size_t size,
                    size_t *ret_n);

#endif
