/* SPDX-License-Identifier: MIT */
/* Binary data as words of a width and a value. */
#include "parse/words.h"

#include <errno.h>

static int parse_value(struct gtel_str text, uint64_t *ret)
{
    return gtel_str_starts(text, GTEL_STR("0x")) ? gtel_str_hex(text, ret)
                                                 : gtel_str_u64(text, ret);
}

/* By how much a counter has grown: rest is what stands behind its first value, or nothing. */
static int parse_growth(struct gtel_str rest, double seconds, uint64_t *ret)
{
    const double limit = 9.2e18; /* a little below 2^63 */
    double rate = 0;
    *ret = 0;
    if (rest.n == 0)
        return 0;
    if (seconds < 0 || gtel_str_f64(gtel_str_skip(rest, 1), &rate) < 0 || rate < 0)
        return -EINVAL;
    if (rate * seconds >= limit)
        return -ERANGE;
    *ret = (uint64_t)(rate * seconds);
    return 0;
}

static int parse_word(struct gtel_str word, double seconds, uint64_t *ret_width,
                      uint64_t *ret_value)
{
    struct gtel_str width;
    uint64_t growth = 0; /* GCC 12 does not see that a success sets it */
    if (gtel_str_find(word, ':') == word.n || !gtel_str_part(&word, ':', &width))
        return -EINVAL;
    size_t n = gtel_str_find(word, '+');
    int r = gtel_str_u64(width, ret_width);
    if (r == 0)
        r = parse_value((struct gtel_str){word.p, n}, ret_value);
    if (r == 0)
        r = parse_growth(gtel_str_skip(word, n), seconds, &growth);
    if (r < 0)
        return r;
    if (*ret_width == 0)
        return -EINVAL;
    if (*ret_width < 8 && *ret_value >> (*ret_width * 8) != 0)
        return -ERANGE;
    *ret_value += growth; /* writing cuts it to its width */
    return 0;
}

int gtel_words_pack(struct gtel_str text, double seconds, unsigned char *buf, size_t size,
                    size_t *ret_n)
{
    struct gtel_str word;
    size_t n = 0;
    while (gtel_str_word(&text, &word)) {
        uint64_t width;
        uint64_t value;
        int r = parse_word(word, seconds, &width, &value);
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
