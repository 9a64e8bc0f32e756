/* SPDX-License-Identifier: MIT */
/* Takes out of texts what identifies a machine or a person. */
#include "host/scrub.h"

#include "host/scrub_process.h"

#include <string.h>

void gtel_scrub_done(struct gtel_scrub *scrub)
{
    gtel_arena_done(&scrub->arena);
    *scrub = (struct gtel_scrub){0};
}

const char *gtel_scrub_kind_name(enum gtel_scrub_kind kind)
{
    static const char *const names[GTEL_SCRUB_KINDS] = {"serial and board numbers", "uuids",
                                                        "host names", "user names"};
    return names[kind];
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_word(char c)
{
    return is_digit(c) || is_lower(c) || is_upper(c) || c == '_';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* ---- made-up texts ---- */

/* A sequence that depends on how many secrets came before, and on nothing in them. */
static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

static char made_up_char(char c, bool is_hexadecimal, uint32_t *state)
{
    uint32_t n = next(state);
    if (is_digit(c))
        return (char)('0' + n % 10);
    if (is_lower(c))
        return (char)('a' + n % (is_hexadecimal ? 6 : 26));
    if (is_upper(c))
        return (char)('A' + n % (is_hexadecimal ? 6 : 26));
    return c;
}

static struct gtel_scrub_secret *find(struct gtel_scrub *scrub, struct gtel_str real)
{
    for (size_t i = 0; i < scrub->n; i++)
        if (gtel_str_eq(scrub->secret[i].real, real))
            return &scrub->secret[i];
    return NULL;
}

/*
 * The secret of that text, new if need be; NULL when there is no room for it. The first keep bytes
 * of the text are none.
 */
static struct gtel_scrub_secret *learn(struct gtel_scrub *scrub, enum gtel_scrub_kind kind,
                                       struct gtel_str real, size_t keep)
{
    struct gtel_scrub_secret *known = find(scrub, real);
    if (known)
        return known;
    struct gtel_scrub_secret secret = {.kind = kind};
    char *p = scrub->n < GTEL_SCRUB_MAX ? gtel_arena_alloc(&scrub->arena, real.n + 1) : NULL;
    if (!p || gtel_arena_str(&scrub->arena, real, &secret.real) < 0) {
        scrub->has_failed = true;
        return NULL;
    }
    uint32_t state = (uint32_t)(scrub->n + 1) * 2654435761u;
    bool is_hexadecimal = true;
    for (size_t i = keep; i < real.n; i++)
        is_hexadecimal =
            is_hexadecimal && (is_hex(real.p[i]) || real.p[i] == '_' || !is_word(real.p[i]));
    for (size_t i = 0; i < real.n; i++)
        p[i] = i < keep ? real.p[i] : made_up_char(real.p[i], is_hexadecimal, &state);
    secret.made_up = (struct gtel_str){p, real.n};
    scrub->secret[scrub->n] = secret;
    return &scrub->secret[scrub->n++];
}

void gtel_scrub_name(struct gtel_scrub *scrub, enum gtel_scrub_kind kind, struct gtel_str name)
{
    if (name.n >= 3)
        (void)learn(scrub, kind, name, 0); /* no room: has_failed says so */
}

/* ---- what is a secret ---- */

static char lower(char c)
{
    return (char)(is_upper(c) ? c - 'A' + 'a' : c);
}

static bool has_part(struct gtel_str text, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= text.n; i++) {
        size_t k = 0;
        while (k < n && lower(text.p[i + k]) == part[k])
            k++;
        if (k == n)
            return true;
    }
    return false;
}

/* Whether a file name or a key says that its value identifies something; which kind. */
static bool names_secret(struct gtel_str name, enum gtel_scrub_kind *ret)
{
    static const struct {
        const char *part;
        enum gtel_scrub_kind kind;
    } parts[] = {
        {"serial", GTEL_SCRUB_SERIAL},    {"asset_tag", GTEL_SCRUB_SERIAL},
        {"board_id", GTEL_SCRUB_SERIAL},  {"board_number", GTEL_SCRUB_SERIAL},
        {"unique_id", GTEL_SCRUB_SERIAL}, {"uuid", GTEL_SCRUB_UUID},
        {"machine-id", GTEL_SCRUB_UUID},  {"boot_id", GTEL_SCRUB_UUID},
        {"hostname", GTEL_SCRUB_HOST},    {"username", GTEL_SCRUB_USER},
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!has_part(name, parts[i].part))
            continue;
        *ret = parts[i].kind;
        return true;
    }
    return false;
}

/* Length of the uuid at the beginning of text, or 0: 8-4-4-4-12 hexadecimal digits. */
static size_t uuid_length(struct gtel_str text)
{
    static const char shape[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    const size_t n = sizeof(shape) - 1;
    if (text.n < n || (text.n > n && is_word(text.p[n])))
        return 0;
    for (size_t i = 0; i < n; i++)
        if (shape[i] == '-' ? text.p[i] != '-' : !is_hex(text.p[i]))
            return 0;
    return n;
}

/* The known secret that stands by itself at the beginning of text, or NULL. The longest one. */
static struct gtel_scrub_secret *known_at(struct gtel_scrub *scrub, struct gtel_str text)
{
    struct gtel_scrub_secret *best = NULL;
    for (size_t i = 0; i < scrub->n; i++) {
        struct gtel_scrub_secret *secret = &scrub->secret[i];
        if (!gtel_str_starts(text, secret->real) ||
            (text.n > secret->real.n && is_word(text.p[secret->real.n])))
            continue;
        if (!best || secret->real.n > best->real.n)
            best = secret;
    }
    return best;
}

/* What is written for a secret. */
static struct gtel_str use(struct gtel_scrub *scrub, struct gtel_scrub_secret *secret)
{
    scrub->replaced[secret->kind] += secret->is_used ? 0 : 1;
    secret->is_used = true;
    return secret->made_up;
}

struct gtel_str gtel_scrub_made_up(struct gtel_scrub *scrub, enum gtel_scrub_kind kind,
                                   struct gtel_str real, size_t keep)
{
    struct gtel_scrub_secret *secret = learn(scrub, kind, real, keep);
    return secret ? use(scrub, secret) : GTEL_STR_NONE;
}

static void put_plain(struct gtel_scrub *scrub, struct gtel_str text, struct gtel_buf *out)
{
    bool is_inside = false; /* of a word */
    while (text.n > 0) {
        struct gtel_scrub_secret *secret = NULL;
        size_t uuid = is_inside ? 0 : uuid_length(text);
        if (uuid > 0)
            secret = learn(scrub, GTEL_SCRUB_UUID, (struct gtel_str){text.p, uuid}, 0);
        else if (!is_inside)
            secret = known_at(scrub, text);
        if (secret) {
            gtel_buf_str(out, use(scrub, secret));
            text = gtel_str_skip(text, secret->real.n);
            is_inside = true;
            continue;
        }
        is_inside = is_word(text.p[0]);
        gtel_buf_char(out, text.p[0]);
        text = gtel_str_skip(text, 1);
    }
}

/* Replaces every word of a value that is secret as a whole. */
static void put_secret(struct gtel_scrub *scrub, enum gtel_scrub_kind kind, struct gtel_str text,
                       struct gtel_buf *out)
{
    while (text.n > 0) {
        size_t n = 0;
        while (n < text.n && text.p[n] > ' ')
            n++;
        struct gtel_scrub_secret *secret =
            n > 0 ? learn(scrub, kind, (struct gtel_str){text.p, n}, 0) : NULL;
        if (secret)
            gtel_buf_str(out, use(scrub, secret));
        for (; n < text.n && text.p[n] <= ' '; n++)
            gtel_buf_char(out, text.p[n]);
        text = gtel_str_skip(text, n);
    }
}

/* KEY=VALUE or KEY: VALUE with a telling key: only the value is replaced. */
static void put_word(struct gtel_scrub *scrub, struct gtel_str word, struct gtel_buf *out)
{
    enum gtel_scrub_kind kind;
    size_t at = gtel_str_find(word, '=');
    if (at < word.n && names_secret((struct gtel_str){word.p, at}, &kind)) {
        gtel_buf_str(out, (struct gtel_str){word.p, at + 1});
        put_secret(scrub, kind, gtel_str_skip(word, at + 1), out);
        return;
    }
    put_plain(scrub, word, out);
}

static void put_line(struct gtel_scrub *scrub, struct gtel_str line, struct gtel_buf *out)
{
    enum gtel_scrub_kind kind;
    size_t colon = gtel_str_find(line, ':');
    if (colon < line.n && gtel_str_find(line, '=') == line.n &&
        names_secret((struct gtel_str){line.p, colon}, &kind)) {
        gtel_buf_str(out, (struct gtel_str){line.p, colon + 1});
        put_secret(scrub, kind, gtel_str_skip(line, colon + 1), out);
        return;
    }
    while (line.n > 0) {
        size_t n = 0;
        while (n < line.n && line.p[n] != ' ')
            n++;
        put_word(scrub, (struct gtel_str){line.p, n}, out);
        for (; n < line.n && line.p[n] == ' '; n++)
            gtel_buf_char(out, ' ');
        line = gtel_str_skip(line, n);
    }
}

void gtel_scrub_text(struct gtel_scrub *scrub, struct gtel_str text, struct gtel_buf *out)
{
    while (text.n > 0) {
        size_t n = gtel_str_find(text, '\n');
        put_line(scrub, (struct gtel_str){text.p, n}, out);
        if (n < text.n)
            gtel_buf_char(out, '\n');
        text = gtel_str_skip(text, n + 1);
    }
}

/* group(5) names people: only the groups that matter for devices are kept, without members. */
static void put_groups(struct gtel_str text, struct gtel_buf *out)
{
    struct gtel_str line;
    while (gtel_str_line(&text, &line)) {
        struct gtel_str rest = line;
        struct gtel_str name;
        struct gtel_str password;
        struct gtel_str gid;
        if (gtel_str_part(&rest, ':', &name) && gtel_str_part(&rest, ':', &password) &&
            gtel_str_part(&rest, ':', &gid) &&
            (gtel_str_eq(name, GTEL_STR("render")) || gtel_str_eq(name, GTEL_STR("video"))))
            gtel_buf_printf(out, "%.*s:x:%.*s:\n", GTEL_STR_ARG(name), GTEL_STR_ARG(gid));
    }
}

/* "proc/self/status", or with a number. */
static bool is_status(struct gtel_str path)
{
    return gtel_str_starts(path, GTEL_STR("proc/")) && gtel_str_ends(path, GTEL_STR("/status"));
}

/* Of a process only what says which rights it has (proc(5)). */
static void put_status(struct gtel_str text, struct gtel_buf *out)
{
    static const struct gtel_str keys[] = {
        GTEL_STR_INIT("Uid"),    GTEL_STR_INIT("Gid"),        GTEL_STR_INIT("Groups"),
        GTEL_STR_INIT("CapPrm"), GTEL_STR_INIT("CapEff"),     GTEL_STR_INIT("CapBnd"),
        GTEL_STR_INIT("CapAmb"), GTEL_STR_INIT("NoNewPrivs"), GTEL_STR_INIT("Seccomp")};
    struct gtel_str line;
    while (gtel_str_line(&text, &line)) {
        const struct gtel_str key = {line.p, gtel_str_find(line, ':')};
        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
            if (gtel_str_eq(key, keys[i]))
                gtel_buf_printf(out, "%.*s\n", GTEL_STR_ARG(line));
    }
}

void gtel_scrub_file(struct gtel_scrub *scrub, struct gtel_str path, struct gtel_str text,
                     struct gtel_buf *out)
{
    struct gtel_str name = path;
    enum gtel_scrub_kind kind;
    for (size_t i = 0; i < path.n; i++)
        if (path.p[i] == '/')
            name = gtel_str_skip(path, i + 1);
    if (gtel_scrub_process(scrub, path, text, out))
        return;
    if (gtel_str_eq(path, GTEL_STR("etc/group")))
        put_groups(text, out);
    else if (is_status(path))
        put_status(text, out);
    else if (names_secret(name, &kind))
        put_secret(scrub, kind, text, out);
    else
        gtel_scrub_text(scrub, text, out);
}
