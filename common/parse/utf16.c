/* SPDX-License-Identifier: MIT */
/* UTF-16 to UTF-8. */
#include "parse/utf16.h"

#include <string.h>

static bool is_half(uint32_t unit, uint32_t base)
{
    return (unit & 0xfc00) == base;
}

/* The character at units[0], of n > 0 units; how many units it has. */
static size_t take(const uint16_t *units, size_t n, uint32_t *ret)
{
    uint32_t first = units[0];
    *ret = first;
    if (!is_half(first, 0xd800) && !is_half(first, 0xdc00))
        return 1;
    *ret = '?';
    if (!is_half(first, 0xd800) || n < 2 || !is_half(units[1], 0xdc00))
        return 1;
    *ret = 0x10000 + ((first & 0x3ff) << 10 | (units[1] & 0x3ffu));
    return 2;
}

/* How many bytes were written, at most 4. */
static size_t encode(uint32_t c, char out[4])
{
    static const uint8_t marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(marks[n > 1 ? n : 0] | c);
    return n;
}

struct gtel_str gtel_utf16_text(const uint16_t *units, size_t n, char *buf, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < n && units[i] != 0;) {
        char bytes[4];
        uint32_t c;
        i += take(units + i, n - i, &c);
        size_t length = encode(c, bytes);
        if (used + length >= size)
            break;
        memcpy(buf + used, bytes, length);
        used += length;
    }
    buf[used] = '\0';
    return (struct gtel_str){buf, used};
}
