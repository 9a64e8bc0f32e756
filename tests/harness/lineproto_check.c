/* SPDX-License-Identifier: MIT */
/* A strict reader of line protocol for tests. */
#include "harness/lineproto_check.h"

#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Decodes one character of two or more bytes by value; 0 when malformed. */
static size_t wide_character(struct gtel_str s, uint32_t *ret)
{
    static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char lead = (unsigned char)s.p[0];
    size_t n = lead >= 0xf8 ? 0 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 0;
    if (n == 0 || n > s.n)
        return 0;
    uint32_t v = (uint32_t)(lead & (0xff >> (n + 1)));
    for (size_t i = 1; i < n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if ((c & 0xc0) != 0x80)
            return 0;
        v = v << 6 | (c & 0x3f);
    }
    *ret = v;
    return v < lowest[n] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000) ? 0 : n;
}

static const char *check_characters(struct gtel_str s)
{
    while (s.n > 0) {
        uint32_t v = (unsigned char)s.p[0];
        size_t n = v < 0x80 ? 1 : wide_character(s, &v);
        if (n == 0)
            return "malformed UTF-8";
        if (v < 0x20 || (v >= 0x7f && v < 0xa0))
            return "control character";
        s = gtel_str_skip(s, n);
    }
    return NULL;
}

/*
 * Cuts a name off *rest up to an unescaped byte of stops. A backslash may stand only before a byte
 * of escapable. False when the name is empty or escaped in another way.
 */
static bool take_name(struct gtel_str *rest, const char *stops, const char *escapable,
                      struct gtel_str *ret)
{
    size_t n = 0;
    while (n < rest->n && !strchr(stops, rest->p[n])) {
        if (rest->p[n] == '\\' && (n + 1 >= rest->n || !strchr(escapable, rest->p[++n])))
            return false;
        n++;
    }
    *ret = (struct gtel_str){rest->p, n};
    *rest = gtel_str_skip(*rest, n);
    return n > 0;
}

static bool take_byte(struct gtel_str *rest, char c)
{
    if (rest->n == 0 || rest->p[0] != c)
        return false;
    *rest = gtel_str_skip(*rest, 1);
    return true;
}

static size_t count_digits(struct gtel_str s)
{
    size_t n = 0;
    while (n < s.n && is_digit(s.p[n]))
        n++;
    return n;
}

static const char *check_integer(struct gtel_str s)
{
    int64_t v;
    struct gtel_str digits = s;
    (void)take_byte(&digits, '-');
    if (digits.n > 1 && digits.p[0] == '0')
        return "integer with a leading zero";
    return gtel_str_i64(s, &v) == 0 ? NULL : "no 64-bit integer";
}

static const char *check_float(struct gtel_str s)
{
    double v;
    struct gtel_str rest = s;
    (void)take_byte(&rest, '-');
    size_t n = count_digits(rest);
    if (n == 0 || (n > 1 && rest.p[0] == '0'))
        return "no number";
    rest = gtel_str_skip(rest, n);
    if (take_byte(&rest, '.')) {
        n = count_digits(rest);
        if (n == 0)
            return "no digit behind the dot";
        rest = gtel_str_skip(rest, n);
    }
    if (take_byte(&rest, 'e')) {
        if (!take_byte(&rest, '-'))
            (void)take_byte(&rest, '+');
        n = count_digits(rest);
        if (n == 0)
            return "no digit in the exponent";
        rest = gtel_str_skip(rest, n);
    }
    if (rest.n > 0)
        return "bytes behind a number";
    return gtel_str_f64(s, &v) == 0 ? NULL : "number out of range";
}

static const char *take_string(struct gtel_str *rest, struct gtel_str *ret)
{
    size_t n = 1;
    while (n < rest->n && rest->p[n] != '"') {
        if (rest->p[n] == '\\' && (++n >= rest->n || !strchr("\"\\", rest->p[n])))
            return "escape in a string that is none";
        n++;
    }
    if (n >= rest->n)
        return "string without an end";
    *ret = (struct gtel_str){rest->p, n + 1};
    *rest = gtel_str_skip(*rest, n + 1);
    return NULL;
}

static const char *take_value(struct gtel_str *rest, struct gtel_str *ret)
{
    if (rest->n > 0 && rest->p[0] == '"')
        return take_string(rest, ret);
    size_t n = 0;
    while (n < rest->n && rest->p[n] != ',' && rest->p[n] != ' ')
        n++;
    *ret = (struct gtel_str){rest->p, n};
    *rest = gtel_str_skip(*rest, n);
    if (gtel_str_ends(*ret, GTEL_STR("i")))
        return check_integer((struct gtel_str){ret->p, n - 1});
    return check_float(*ret);
}

static bool has_key(const struct lp_pair *pair, size_t n, struct gtel_str key)
{
    for (size_t i = 0; i < n; i++)
        if (gtel_str_eq(pair[i].key, key))
            return true;
    return false;
}

static const char *take_tags(struct gtel_str *rest, struct lp_line *line)
{
    while (take_byte(rest, ',')) {
        struct lp_pair *tag = &line->tag[line->ntags];
        if (line->ntags >= LP_TAGS_MAX)
            return "too many tags";
        if (!take_name(rest, ",= ", ",= ", &tag->key) || !take_byte(rest, '='))
            return "tag without a key or a value";
        if (!take_name(rest, ",= ", ",= ", &tag->value))
            return "tag with an empty or wrongly escaped value";
        if (gtel_str_eq(tag->key, GTEL_STR("time")))
            return "tag named time";
        if (line->ntags > 0 && gtel_str_cmp(line->tag[line->ntags - 1].key, tag->key) >= 0)
            return "tags not sorted, or one twice";
        line->ntags++;
    }
    return NULL;
}

static const char *take_fields(struct gtel_str *rest, struct lp_line *line)
{
    do {
        struct lp_pair *field = &line->field[line->nfields];
        if (line->nfields >= LP_FIELDS_MAX)
            return "too many fields";
        if (!take_name(rest, ",= ", ",= ", &field->key) || !take_byte(rest, '='))
            return "field without a key or a value";
        const char *error = take_value(rest, &field->value);
        if (error)
            return error;
        if (gtel_str_eq(field->key, GTEL_STR("time")) ||
            has_key(line->field, line->nfields, field->key) ||
            has_key(line->tag, line->ntags, field->key))
            return "field name used before";
        line->nfields++;
    } while (take_byte(rest, ','));
    return NULL;
}

const char *lp_line(struct gtel_str text, struct lp_line *ret)
{
    *ret = (struct lp_line){.measurement = {NULL, 0}};
    const char *error = check_characters(text);
    if (error)
        return error;
    if (text.n == 0 || text.p[0] == '#')
        return "no measurement";
    if (!take_name(&text, ", ", ", ", &ret->measurement))
        return "empty or wrongly escaped measurement";
    error = take_tags(&text, ret);
    if (error)
        return error;
    if (!take_byte(&text, ' '))
        return "no blank before the fields";
    error = take_fields(&text, ret);
    if (error)
        return error;
    if (!take_byte(&text, ' '))
        return "no blank before the timestamp";
    int64_t t_ns = 0;
    if (gtel_str_i64(text, &t_ns) < 0 || t_ns < 0 || t_ns == INT64_MAX)
        return "no timestamp";
    ret->t_ns = (uint64_t)t_ns;
    return NULL;
}

const char *lp_text(struct gtel_str text, size_t *ret_lines)
{
    struct lp_line line;
    *ret_lines = 0;
    if (text.n > 0 && text.p[text.n - 1] != '\n')
        return "last line without a newline";
    struct gtel_str one;
    while (gtel_str_line(&text, &one)) {
        const char *error = lp_line(one, &line);
        if (error)
            return error;
        ++*ret_lines;
    }
    return NULL;
}

static struct gtel_str find(const struct lp_pair *pair, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (gtel_str_eq(pair[i].key, gtel_str_of(key)))
            return pair[i].value;
    return GTEL_STR_NONE;
}

struct gtel_str lp_tag(const struct lp_line *line, const char *key)
{
    return find(line->tag, line->ntags, key);
}

struct gtel_str lp_field(const struct lp_line *line, const char *key)
{
    return find(line->field, line->nfields, key);
}

const char *lp_plain(char *buf, struct gtel_str value)
{
    size_t n = 0;
    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] == '\\' && i + 1 < value.n)
            i++;
        buf[n++] = value.p[i];
    }
    buf[n] = '\0';
    return buf;
}

const char *lp_string(char *buf, struct gtel_str value)
{
    if (value.n < 2 || value.p[0] != '"')
        return "no string";
    return lp_plain(buf, (struct gtel_str){value.p + 1, value.n - 2});
}
