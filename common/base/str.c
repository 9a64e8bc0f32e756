/* SPDX-License-Identifier: MIT */
/* Borrowed text and the numbers in it. */
#include "base/str.h"

#include <errno.h>
#include <math.h>
#include <string.h>

struct gtel_str gtel_str_of(const char *z)
{
    return (struct gtel_str){z, z ? strlen(z) : 0};
}

bool gtel_str_eq(struct gtel_str a, struct gtel_str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool gtel_str_same(struct gtel_str a, struct gtel_str b)
{
    size_t n = 0;
    while (n < a.n && n < b.n && gtel_lower(a.p[n]) == gtel_lower(b.p[n]))
        n++;
    return n == a.n && n == b.n;
}

int gtel_str_cmp(struct gtel_str a, struct gtel_str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;
    if (c != 0)
        return c;
    return (a.n > b.n) - (a.n < b.n);
}

bool gtel_str_starts(struct gtel_str s, struct gtel_str prefix)
{
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

bool gtel_str_ends(struct gtel_str s, struct gtel_str suffix)
{
    return s.n >= suffix.n &&
           (suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}

bool gtel_str_has(struct gtel_str s, struct gtel_str part)
{
    while (s.n > part.n && !gtel_str_starts(s, part))
        s = gtel_str_skip(s, 1);
    return gtel_str_starts(s, part);
}

bool gtel_str_between(struct gtel_str s, struct gtel_str prefix, struct gtel_str suffix,
                      struct gtel_str *ret)
{
    if (s.n <= prefix.n + suffix.n || !gtel_str_starts(s, prefix) || !gtel_str_ends(s, suffix))
        return false;
    *ret = (struct gtel_str){s.p + prefix.n, s.n - prefix.n - suffix.n};
    return true;
}

size_t gtel_str_find(struct gtel_str s, char c)
{
    const char *at = s.n ? memchr(s.p, c, s.n) : NULL;
    return at ? (size_t)(at - s.p) : s.n;
}

size_t gtel_str_behind(struct gtel_str s, char c)
{
    size_t n = s.n;
    while (n > 0 && s.p[n - 1] != c)
        n--;
    return n;
}

struct gtel_str gtel_str_skip(struct gtel_str s, size_t n)
{
    if (n > s.n)
        n = s.n;
    return (struct gtel_str){n ? s.p + n : s.p, s.n - n};
}

bool gtel_str_is_hex(struct gtel_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((s.p[i] < '0' || s.p[i] > '9') && (s.p[i] < 'a' || s.p[i] > 'f'))
            return false;
    return true;
}

struct gtel_str gtel_str_head(struct gtel_str s, size_t n)
{
    return (struct gtel_str){s.p, n < s.n ? n : s.n};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct gtel_str gtel_str_trim(struct gtel_str s)
{
    while (s.n > 0 && is_blank(s.p[s.n - 1]))
        s.n--;
    while (s.n > 0 && is_blank(s.p[0]))
        s = gtel_str_skip(s, 1);
    return s;
}

bool gtel_str_part(struct gtel_str *rest, char sep, struct gtel_str *ret_part)
{
    if (rest->n == 0)
        return false;
    size_t n = gtel_str_find(*rest, sep);
    *ret_part = (struct gtel_str){rest->p, n};
    *rest = gtel_str_skip(*rest, n + 1);
    return true;
}

bool gtel_str_line(struct gtel_str *rest, struct gtel_str *ret_line)
{
    return gtel_str_part(rest, '\n', ret_line);
}

bool gtel_str_value(struct gtel_str text, struct gtel_str key, char separator, struct gtel_str *ret)
{
    struct gtel_str line;
    while (gtel_str_line(&text, &line))
        if (line.n > key.n && line.p[key.n] == separator && gtel_str_starts(line, key)) {
            *ret = gtel_str_trim(gtel_str_skip(line, key.n + 1));
            return true;
        }
    return false;
}

bool gtel_str_word(struct gtel_str *rest, struct gtel_str *ret_word)
{
    struct gtel_str s = *rest;
    while (s.n > 0 && is_blank(s.p[0]))
        s = gtel_str_skip(s, 1);
    size_t n = 0;
    while (n < s.n && !is_blank(s.p[n]))
        n++;
    *rest = gtel_str_skip(s, n);
    if (n == 0)
        return false;
    *ret_word = (struct gtel_str){s.p, n};
    return true;
}

int gtel_str_u64(struct gtel_str s, uint64_t *ret)
{
    if (s.n == 0)
        return -EINVAL;
    uint64_t v = 0;
    bool is_over = false;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return -EINVAL;
        uint64_t digit = (uint64_t)(s.p[i] - '0');
        is_over = is_over || v > (UINT64_MAX - digit) / 10;
        v = v * 10 + digit;
    }
    if (is_over)
        return -ERANGE;
    *ret = v;
    return 0;
}

int gtel_str_i64(struct gtel_str s, int64_t *ret)
{
    bool is_negative = s.n > 0 && s.p[0] == '-';
    uint64_t v;
    int r = gtel_str_u64(gtel_str_skip(s, is_negative), &v);
    if (r < 0)
        return r;
    if (v > (uint64_t)INT64_MAX + is_negative)
        return -ERANGE;
    *ret = is_negative ? (int64_t)(0 - v) : (int64_t)v;
    return 0;
}

static int hex_digit(char c)
{
    if (!gtel_is_hex(c))
        return -1;
    return gtel_is_digit(c) ? c - '0' : gtel_lower(c) - 'a' + 10;
}

int gtel_str_hex(struct gtel_str s, uint64_t *ret)
{
    if (gtel_str_starts(s, GTEL_STR("0x")))
        s = gtel_str_skip(s, 2);
    if (s.n == 0)
        return -EINVAL;
    uint64_t v = 0;
    bool is_over = false;
    for (size_t i = 0; i < s.n; i++) {
        int digit = hex_digit(s.p[i]);
        if (digit < 0)
            return -EINVAL;
        is_over = is_over || v >> 60 != 0;
        v = v << 4 | (uint64_t)digit;
    }
    if (is_over)
        return -ERANGE;
    *ret = v;
    return 0;
}

/* Cuts leading digits off *s and adds them to *v as decimal places; returns how many. */
static size_t take_digits(struct gtel_str *s, double *v)
{
    size_t n = 0;
    for (; n < s->n && s->p[n] >= '0' && s->p[n] <= '9'; n++)
        *v = *v * 10 + (s->p[n] - '0');
    *s = gtel_str_skip(*s, n);
    return n;
}

static int take_exponent(struct gtel_str *s, int *ret)
{
    *ret = 0;
    if (s->n == 0 || (s->p[0] != 'e' && s->p[0] != 'E'))
        return 0;
    *s = gtel_str_skip(*s, 1);
    bool is_negative = s->n > 0 && s->p[0] == '-';
    if (s->n > 0 && (s->p[0] == '-' || s->p[0] == '+'))
        *s = gtel_str_skip(*s, 1);
    double e = 0;
    if (take_digits(s, &e) == 0)
        return -EINVAL;
    if (e > 400)
        return -ERANGE;
    *ret = is_negative ? -(int)e : (int)e;
    return 0;
}

int gtel_str_f64(struct gtel_str s, double *ret)
{
    bool is_negative = s.n > 0 && s.p[0] == '-';
    s = gtel_str_skip(s, is_negative);
    double v = 0;
    if (take_digits(&s, &v) == 0)
        return -EINVAL;
    size_t places = 0;
    if (s.n > 0 && s.p[0] == '.') {
        s = gtel_str_skip(s, 1);
        places = take_digits(&s, &v);
        if (places == 0)
            return -EINVAL;
    }
    int exponent;
    int r = take_exponent(&s, &exponent);
    if (r < 0)
        return r;
    if (s.n > 0)
        return -EINVAL;
    double shift = (double)exponent - (double)places;
    v = shift < 0 ? v / pow(10, -shift) : v * pow(10, shift);
    if (!isfinite(v))
        return -ERANGE;
    *ret = is_negative ? -v : v;
    return 0;
}

int gtel_str_duration(struct gtel_str s, uint64_t *ret_ns)
{
    static const struct {
        struct gtel_str name;
        double ns;
    } units[] = {
        {GTEL_STR_INIT("ns"), 1},  {GTEL_STR_INIT("us"), 1e3}, {GTEL_STR_INIT("ms"), 1e6},
        {GTEL_STR_INIT("s"), 1e9}, {GTEL_STR_INIT("m"), 60e9}, {GTEL_STR_INIT("h"), 3600e9},
        {GTEL_STR_INIT(""), 1e9},
    };
    size_t digits = s.n;
    while (digits > 0 && s.p[digits - 1] >= 'a' && s.p[digits - 1] <= 'z')
        digits--;
    struct gtel_str unit = gtel_str_skip(s, digits);
    double v;
    int r = gtel_str_f64((struct gtel_str){s.p, digits}, &v);
    if (r < 0)
        return r;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (!gtel_str_eq(unit, units[i].name))
            continue;
        double ns = v * units[i].ns;
        if (ns < 0)
            return -EINVAL;
        if (ns >= 9e18)
            return -ERANGE;
        *ret_ns = (uint64_t)(ns + 0.5);
        return 0;
    }
    return -EINVAL;
}

bool gtel_str_copy(char *buf, size_t size, struct gtel_str s)
{
    size_t n = s.n < size ? s.n : size - 1;
    if (n > 0)
        memcpy(buf, s.p, n);
    buf[n] = '\0';
    return n == s.n;
}

static bool is_continuation(struct gtel_str s, size_t i)
{
    return i < s.n && ((unsigned char)s.p[i] & 0xc0) == 0x80;
}

/* What the first byte says of the length of a sequence; 0 for a byte that begins none. */
static size_t utf8_lead(unsigned char lead)
{
    if (lead >= 0xc2 && lead <= 0xdf)
        return 2;
    if (lead >= 0xe0 && lead <= 0xef)
        return 3;
    return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

/* Unicode standard, table 3-7: which bytes may stand second. */
static bool utf8_second(unsigned char lead, unsigned char next)
{
    unsigned char low = 0x80;
    unsigned char high = 0xbf;
    if (lead == 0xc2 || lead == 0xe0)
        low = 0xa0;
    else if (lead == 0xf0)
        low = 0x90;
    if (lead == 0xed)
        high = 0x9f;
    else if (lead == 0xf4)
        high = 0x8f;
    return next >= low && next <= high;
}

size_t gtel_str_utf8(struct gtel_str s)
{
    size_t n = s.n > 1 ? utf8_lead((unsigned char)s.p[0]) : 0;
    if (n == 0 || !utf8_second((unsigned char)s.p[0], (unsigned char)s.p[1]))
        return 0;
    for (size_t i = 2; i < n; i++)
        if (!is_continuation(s, i))
            return 0;
    return n;
}

size_t gtel_str_shown(struct gtel_str s)
{
    unsigned char c = s.n > 0 ? (unsigned char)s.p[0] : 0;
    if (c < 0x80)
        return c >= ' ' && c < 0x7f ? 1 : 0;
    return gtel_str_utf8(s);
}

/* Whether s is the beginning of a character whose rest is missing. */
static bool is_cut_character(struct gtel_str s)
{
    if (s.n == 0 || s.n >= utf8_lead((unsigned char)s.p[0]))
        return false;
    if (s.n > 1 && !utf8_second((unsigned char)s.p[0], (unsigned char)s.p[1]))
        return false;
    return s.n < 3 || is_continuation(s, 2);
}

void gtel_str_clean(char *buf, size_t size, struct gtel_str s)
{
    size_t at = 0;
    while (s.n > 0) {
        size_t n = gtel_str_shown(s);
        if (n == 0 && is_cut_character(s))
            break;
        size_t width = n > 0 ? n : 1;
        if (at + width >= size)
            break;
        memcpy(buf + at, n > 0 ? s.p : "?", width);
        at += width;
        s = gtel_str_skip(s, width);
    }
    buf[at] = '\0';
}

uint64_t gtel_fnv(uint64_t h, const void *p, size_t n)
{
    const unsigned char *byte = p;
    for (size_t i = 0; i < n; i++)
        h = (h ^ byte[i]) * 1099511628211ull;
    return h;
}

static uint64_t hash_word(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9e3779b97f4a7c15ull; /* 2^64 divided by the golden ratio: Knuth, 6.4 */
    return h ^ h >> 32;                     /* what has gathered above comes down */
}

uint64_t gtel_hash(uint64_t h, const void *p, size_t n)
{
    const char *at = p;
    uint64_t word = 0;
    for (; n >= sizeof(word); n -= sizeof(word), at += sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        h = hash_word(h, word);
    }
    if (n == 0)
        return h;
    word = (uint64_t)n << 56; /* the last byte of the word, which a rest does not fill */
    memcpy(&word, at, n);
    return hash_word(h, word);
}
