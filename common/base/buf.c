/* SPDX-License-Identifier: MIT */
/* Output text with a limit, and number formats that no locale can change. */
#include "base/buf.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void gtel_buf_init(struct gtel_buf *buf, size_t limit)
{
    *buf = (struct gtel_buf){.limit = limit};
}

void gtel_buf_done(struct gtel_buf *buf)
{
    free(buf->p);
    *buf = (struct gtel_buf){.limit = buf->limit};
}

void gtel_buf_reset(struct gtel_buf *buf)
{
    gtel_buf_back(buf, 0);
}

void gtel_buf_back(struct gtel_buf *buf, size_t n)
{
    if (n < buf->n)
        buf->n = n;
    buf->has_failed = false;
}

bool gtel_buf_make_room(struct gtel_buf *buf, size_t n)
{
    if (buf->has_failed || n > buf->limit - buf->n) {
        buf->has_failed = true;
        return false;
    }
    if (buf->size - buf->n >= n)
        return true;
    size_t size = buf->size ? buf->size : 256;
    while (size - buf->n < n)
        size *= 2;
    size = size < buf->limit ? size : buf->limit; /* so that n <= size is n <= limit */
    char *p = realloc(buf->p, size);
    if (!p) {
        buf->has_failed = true;
        return false;
    }
    buf->p = p;
    buf->size = size;
    return true;
}

void gtel_buf_str(struct gtel_buf *buf, struct gtel_str s)
{
    gtel_buf_bytes(buf, s.p, s.n);
}

void gtel_buf_char(struct gtel_buf *buf, char c)
{
    gtel_buf_bytes(buf, &c, 1);
}

/* Writes the decimal digits of v so that they end at end; returns the first. */
static char *digits_before(char *end, uint64_t v)
{
    do {
        *--end = (char)('0' + v % 10);
        v /= 10;
    } while (v > 0);
    return end;
}

void gtel_buf_u64(struct gtel_buf *buf, uint64_t v)
{
    char text[20];
    char *end = text + sizeof(text);
    char *p = digits_before(end, v);
    gtel_buf_bytes(buf, p, (size_t)(end - p));
}

void gtel_buf_i64(struct gtel_buf *buf, int64_t v)
{
    if (v < 0)
        gtel_buf_char(buf, '-');
    gtel_buf_u64(buf, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

static double power_of_ten(int n)
{
    /* Powers up to 10^22 are exact in a double, so one multiplication rounds once. */
    static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    return n < (int)GTEL_ARRAY_LEN(exact) ? exact[n] : pow(10, n);
}

static double scale_ten(double v, int n)
{
    if (n > 300)
        return v * 1e300 * power_of_ten(n - 300);
    return n < 0 ? v / power_of_ten(-n) : v * power_of_ten(n);
}

/*
 * v > 0 as mantissa × 10^exponent, the mantissa an integer without trailing zeros and of at most
 * the given number of digits.
 */
static uint64_t decompose(double v, int digits, int *ret_exponent)
{
    int exponent = (int)floor(log10(v)) - (digits - 1);
    uint64_t limit = (uint64_t)power_of_ten(digits);
    uint64_t mantissa = (uint64_t)(scale_ten(v, -exponent) + 0.5);
    if (mantissa >= limit) { /* rounded up to one digit more */
        exponent++;
        mantissa = (uint64_t)(scale_ten(v, -exponent) + 0.5);
    }
    while (mantissa > 0 && mantissa % 10 == 0) {
        mantissa /= 10;
        exponent++;
    }
    *ret_exponent = exponent;
    return mantissa;
}

static void put_zeros(struct gtel_buf *buf, int n)
{
    for (int i = 0; i < n; i++)
        gtel_buf_char(buf, '0');
}

void gtel_buf_f64(struct gtel_buf *buf, double v, int digits)
{
    if (v == 0 || !isfinite(v)) {
        gtel_buf_char(buf, '0');
        return;
    }
    if (v < 0)
        gtel_buf_char(buf, '-');
    v = fabs(v);
    if (v < 1e9 && v == floor(v) && digits >= 9) { /* the common case, without logarithms */
        gtel_buf_u64(buf, (uint64_t)v);
        return;
    }
    int exponent;
    char text[20];
    char *end = text + sizeof(text);
    char *p = digits_before(end, decompose(v, digits, &exponent));
    int n = (int)(end - p);
    int point = n + exponent; /* digits before the decimal point */
    if (point > 21 || point < -6) {
        gtel_buf_char(buf, *p);
        if (n > 1)
            gtel_buf_char(buf, '.');
        gtel_buf_bytes(buf, p + 1, (size_t)(n - 1));
        gtel_buf_char(buf, 'e');
        gtel_buf_char(buf, point - 1 < 0 ? '-' : '+');
        gtel_buf_u64(buf, (uint64_t)(point - 1 < 0 ? 1 - point : point - 1));
    } else if (point <= 0) {
        gtel_buf_bytes(buf, "0.", 2);
        put_zeros(buf, -point);
        gtel_buf_bytes(buf, p, (size_t)n);
    } else if (point >= n) {
        gtel_buf_bytes(buf, p, (size_t)n);
        put_zeros(buf, point - n);
    } else {
        gtel_buf_bytes(buf, p, (size_t)point);
        gtel_buf_char(buf, '.');
        gtel_buf_bytes(buf, p + point, (size_t)(n - point));
    }
}

void gtel_buf_printf(struct gtel_buf *buf, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n < 0 || !gtel_buf_make_room(buf, (size_t)n + 1)) {
        buf->has_failed = true;
        return;
    }
    va_start(args, fmt);
    n = vsnprintf(buf->p + buf->n, (size_t)n + 1, fmt, args);
    va_end(args);
    buf->n += (size_t)n;
}

void gtel_buf_wrap(struct gtel_buf *buf, size_t at, size_t indent, struct gtel_str text)
{
    enum { WIDTH = 80 };
    struct gtel_str word;
    size_t column = at;
    bool is_first = true;
    while (gtel_str_word(&text, &word)) {
        if (!is_first && column + 1 + word.n > WIDTH) {
            gtel_buf_printf(buf, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!is_first) {
            gtel_buf_char(buf, ' ');
            column++;
        }
        gtel_buf_str(buf, word);
        column += word.n;
        is_first = false;
    }
    gtel_buf_char(buf, '\n');
}

void gtel_buf_clean(struct gtel_buf *buf)
{
    for (size_t i = 0; i < buf->n;) {
        struct gtel_str rest = {buf->p + i, buf->n - i};
        size_t n = gtel_str_shown(rest);
        if (n == 0 && buf->p[i] != '\n')
            buf->p[i] = '?';
        i += n > 0 ? n : 1;
    }
}

struct gtel_str gtel_buf_text(const struct gtel_buf *buf)
{
    return (struct gtel_str){buf->p, buf->n};
}
