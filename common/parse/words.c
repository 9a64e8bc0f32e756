/* SPDX-License-Identifier: MIT */
/* Binary data as words of a width and a value. */
#include "parse/words.h"

#include <errno.h>

static int parse_value(struct gtel_str text, uint64_t *ret)
{
    return gtel_str_starts(text, GTEL_STR("0x")) ? gtel_str_hex(text, ret)
                                                 : gtel_str_u64(text, ret);
}

static int parse_word(struct gtel_str word, uint64_t *ret_width, uint64_t *ret_value)
{
    struct gtel_str width;
    if (gtel_str_find(word, ':') == word.n || !gtel_str_part(&word, ':', &width))
        return -EINVAL;
    int r = gtel_str_u64(width, ret_width);
    if (r == 0)
        r = parse_value(word, ret_value);
    if (r < 0)
        return r;
    if (*ret_width == 0)
        return -EINVAL;
    return *ret_width < 8 && *ret_value >> (*ret_width * 8) != 0 ? -ERANGE : 0;
}

int gtel_words_pack(struct gtel_str text, unsigned char *buf, size_t size, size_t *ret_n)
{
    struct gtel_str word;
    size_t n = 0;
    while (gtel_str_word(&text, &word)) {
        uint64_t width;
        uint64_t value;
        int r = parse_word(word, &width, &value);
        if (r < 0)
            return r;
        if (width > size - n)
            return -E2BIG;
        for (uint64_t i = 0; i < width; i++) {
            buf[n++] = (unsigned char)(value & 0xff);
            value >>= 8;
        }
    }
    *ret_n = n;
    return 0;
}
