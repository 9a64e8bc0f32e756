/* SPDX-License-Identifier: MIT */
/* Lines of ld.so.conf. */
#include "parse/ldso.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Cuts a word and the blanks behind it off the front. */
static bool take_word(struct gtel_str *text, struct gtel_str word)
{
    if (!gtel_str_starts(*text, word) || text->n == word.n || !is_blank(text->p[word.n]))
        return false;
    *text = gtel_str_trim(gtel_str_skip(*text, word.n));
    return true;
}

enum gtel_ldso_line gtel_ldso_parse(struct gtel_str line, struct gtel_str *ret)
{
    struct gtel_str text = line;
    text.n = gtel_str_find(text, '#');
    text = gtel_str_trim(text);
    if (take_word(&text, GTEL_STR("include"))) {
        *ret = text;
        return GTEL_LDSO_INCLUDE;
    }
    if (take_word(&text, GTEL_STR("hwcap")) || !gtel_str_starts(text, GTEL_STR("/")))
        return GTEL_LDSO_NOTHING;
    text.n = gtel_str_find(text, '='); /* "/lib=libc6", of old systems */
    text = gtel_str_trim(text);
    while (gtel_str_starts(text, GTEL_STR("/")))
        text = gtel_str_skip(text, 1);
    while (gtel_str_ends(text, GTEL_STR("/")))
        text.n--;
    if (text.n == 0)
        return GTEL_LDSO_NOTHING;
    *ret = text;
    return GTEL_LDSO_FOLDER;
}

/* After a mismatch the last star takes one byte more. */
bool gtel_ldso_matches(struct gtel_str pattern, struct gtel_str name)
{
    size_t p = 0;
    size_t n = 0;
    size_t star = pattern.n; /* none */
    size_t taken = 0;
    while (n < name.n) {
        if (p < pattern.n && pattern.p[p] == '*') {
            star = p++;
            taken = n;
        } else if (p < pattern.n && (pattern.p[p] == '?' || pattern.p[p] == name.p[n])) {
            p++;
            n++;
        } else if (star < pattern.n) {
            p = star + 1;
            n = ++taken;
        } else {
            return false;
        }
    }
    while (p < pattern.n && pattern.p[p] == '*')
        p++;
    return p == pattern.n;
}
