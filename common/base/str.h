/* SPDX-License-Identifier: MIT */
/*
 * Borrowed text and the numbers in it.
 *
 * A gtel_str is a pointer and a length; it owns nothing and need not end in NUL. All parsing of
 * numbers in the project goes through here: no sign, blank, trailing byte or overflow passes
 * unless the function says so, and no locale can change the result.
 */
#ifndef GTEL_BASE_STR_H
#define GTEL_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gtel_str {
    const char *p; /* not NULL unless n is 0 */
    size_t n;
};

/* Of ASCII, whatever the locale. */
static inline bool gtel_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool gtel_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool gtel_is_alnum(char c)
{
    return gtel_is_digit(c) || gtel_is_letter(c);
}

static inline char gtel_lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static inline bool gtel_is_hex(char c)
{
    return gtel_is_digit(c) || (gtel_lower(c) >= 'a' && gtel_lower(c) <= 'f');
}

/* A string literal as gtel_str. */
#define GTEL_STR(literal) ((struct gtel_str){"" literal, sizeof(literal) - 1})
/* The same where a constant initialiser is needed. */
#define GTEL_STR_INIT(literal)                                                                     \
    {                                                                                              \
        "" literal, sizeof(literal) - 1                                                            \
    }
#define GTEL_STR_NONE ((struct gtel_str){NULL, 0})
/* For printf's "%.*s". */
#define GTEL_STR_ARG(s) (int)(s).n, (s).n ? (s).p : ""

/* The text of a NUL-terminated string; NULL gives the empty text. */
struct gtel_str gtel_str_of(const char *z);

bool gtel_str_eq(struct gtel_str a, struct gtel_str b);
/* The same, but that upper and lower case of ASCII are alike. */
bool gtel_str_same(struct gtel_str a, struct gtel_str b);
/* Below, at or above 0 as a sorts before, with or after b; by bytes. */
int gtel_str_cmp(struct gtel_str a, struct gtel_str b);
bool gtel_str_starts(struct gtel_str s, struct gtel_str prefix);
bool gtel_str_ends(struct gtel_str s, struct gtel_str suffix);
/* Whether part stands anywhere in s. */
bool gtel_str_has(struct gtel_str s, struct gtel_str part);
/*
 * What stands between prefix and suffix of s. False when they are not there, or nothing is between
 * them; *ret is not written then.
 */
bool gtel_str_between(struct gtel_str s, struct gtel_str prefix, struct gtel_str suffix,
                      struct gtel_str *ret);
/* Whether it has hexadecimal digits only, in lower case; true of the empty text. */
bool gtel_str_is_hex(struct gtel_str s);
/* Position of the first c, or s.n. */
size_t gtel_str_find(struct gtel_str s, char c);
/* Position behind the last c, or 0. */
size_t gtel_str_behind(struct gtel_str s, char c);
/* The text without its first n bytes (n may exceed the length). */
struct gtel_str gtel_str_skip(struct gtel_str s, size_t n);
/* Its first n bytes; all of it where it has fewer. */
struct gtel_str gtel_str_head(struct gtel_str s, size_t n);
/* Without blanks, tabs, CR and LF at both ends. */
struct gtel_str gtel_str_trim(struct gtel_str s);

/*
 * Cuts the next line off *rest, without its newline; a last line needs none. Returns false when
 * nothing is left.
 */
bool gtel_str_line(struct gtel_str *rest, struct gtel_str *ret_line);
/*
 * Cuts the next word (run of bytes other than blank, tab, CR, LF) off *rest. Returns false when
 * only blanks are left.
 */
bool gtel_str_word(struct gtel_str *rest, struct gtel_str *ret_word);
/* Cuts the text up to the next sep off *rest; the last part has none. False when *rest is used up.
 */
bool gtel_str_part(struct gtel_str *rest, char sep, struct gtel_str *ret_part);

/*
 * What stands behind key and separator in the first line that begins with them, without blanks at
 * its ends. False when there is none; *ret is not written then.
 */
bool gtel_str_value(struct gtel_str text, struct gtel_str key, char separator,
                    struct gtel_str *ret);

/* Decimal digits only. 0, -EINVAL for anything else, -ERANGE above 2^64 - 1. */
int gtel_str_u64(struct gtel_str s, uint64_t *ret);
/* The same with an optional '-'. */
int gtel_str_i64(struct gtel_str s, int64_t *ret);
/* Hexadecimal digits with an optional 0x. 0, -EINVAL, -ERANGE. */
int gtel_str_hex(struct gtel_str s, uint64_t *ret);
/*
 * Decimal number with an optional '-', fraction and exponent ("-1.5e3"); at least one digit before
 * the dot. 0, -EINVAL, or -ERANGE when it is not finite.
 */
int gtel_str_f64(struct gtel_str s, double *ret);
/*
 * A length of time: number and unit ns, us, ms, s, m or h ("500ms", "1.5s", "2m"); a number
 * without a unit is seconds. 0, -EINVAL, -ERANGE.
 */
int gtel_str_duration(struct gtel_str s, uint64_t *ret_ns);

/*
 * Copies s into a buffer of size bytes with a NUL at the end, cut where it does not fit.
 * Returns false when it was cut.
 */
bool gtel_str_copy(char *buf, size_t size, struct gtel_str s);

/*
 * Length of the well-formed UTF-8 sequence of two to four bytes at the beginning of s, or 0. ASCII
 * and the C1 control characters (U+0080 to U+009F) are none.
 */
size_t gtel_str_utf8(struct gtel_str s);
/*
 * Length of the character at the beginning of s that can be shown: ASCII from the blank to '~', or
 * UTF-8 as above. 0 for a control character (C0, DEL, C1), for a byte that is no UTF-8, and at the
 * end.
 */
size_t gtel_str_shown(struct gtel_str s);
/*
 * Copies foreign text so that it can be shown: a control character or a byte that is no UTF-8
 * becomes '?', a text that is too long is cut between two characters, and a character that was cut
 * in two at its end is omitted. buf of size bytes (at least 1) ends in NUL.
 */
void gtel_str_clean(char *buf, size_t size, struct gtel_str s);

#define GTEL_HASH_SEED 14695981039346656037ull
/* FNV-1a of n bytes, started with GTEL_HASH_SEED: the same everywhere, for what stands in names. */
uint64_t gtel_fnv(uint64_t h, const void *p, size_t n);
/*
 * 64-bit hash of n bytes, seeded with h: start with GTEL_HASH_SEED. For tables in memory alone: it
 * depends on the machine's order of bytes, and is no protection against those who choose the bytes.
 */
uint64_t gtel_hash(uint64_t h, const void *p, size_t n);

#endif
