/* SPDX-License-Identifier: MIT */
/* Removes from a recorded machine what identifies a machine or a person. */
#include "recording/scrub.h"

#include "base/compiler.h"
#include "base/grow.h"
#include "recording/scrub_rules.h"
#include "recording/tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SECRETS_MAX = 1 << 18,
    REAL_MAX = 256,   /* bytes of a secret that count */
    KEY = 3,          /* letters and digits by which a secret is found in a text */
    NAME_MIN = 3,     /* shorter names stay */
    NUMERAL_MIN = 6,  /* names of digits only; shorter ones stay */
    ANYWHERE_MIN = 8, /* numbers that are replaced inside words, too */
    SPREAD_MIN = 5    /* shorter numbers are replaced in their own place only */
};

/* A text that is scrubbed. */
struct work {
    struct gtel_scrub *scrub;
    struct gtel_buf *out;
    enum gtel_scrub_writer writer;
};

void gtel_scrub_done(struct gtel_scrub *scrub)
{
    free(scrub->secret);
    gtel_arena_done(&scrub->arena);
    *scrub = (struct gtel_scrub){0};
}

const char *gtel_scrub_kind_name(enum gtel_scrub_kind kind)
{
    static const char *const names[GTEL_SCRUB_KINDS] = {"serial and board numbers", "uuids and ids",
                                                        "names of hosts", "names of users",
                                                        "addresses"};
    return names[kind];
}

/* ---- secrets ---- */

/* Cuts the next character off *text, in lower case; '-' for what separates letters and digits. */
static char next_of(struct gtel_str *text)
{
    size_t separator = gtel_scrub_separator(*text);
    char c = separator > 0 ? '-' : gtel_lower(text->p[0]);
    *text = gtel_str_skip(*text, separator > 0 ? separator : 1);
    return c;
}

/* Lower case. Of names a separator becomes '-', of others it is omitted. */
static struct gtel_str fold(struct gtel_str text, bool is_name, char *buf)
{
    struct gtel_str ret = {buf, 0};
    while (text.n > 0 && ret.n < REAL_MAX) {
        char c = next_of(&text);
        if (is_name || gtel_is_alnum(c))
            buf[ret.n++] = c;
    }
    return ret;
}

/* The bucket of what begins with the same letters and digits, in any case. */
static uint32_t *bucket_of(struct gtel_scrub *scrub, struct gtel_str text)
{
    char key[KEY];
    size_t n = 0;
    while (text.n > 0 && n < KEY) {
        char c = next_of(&text);
        if (c != '-')
            key[n++] = c;
    }
    return &scrub->bucket[gtel_hash(GTEL_HASH_SEED, key, n) % GTEL_SCRUB_BUCKETS];
}

/* A sequence that depends on how many secrets came before, and on nothing in them. */
static char next_char(char c, bool is_hex, uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    uint32_t n = *state >> 16;
    if (gtel_is_digit(c))
        return (char)('0' + n % 10);
    if (gtel_is_letter(c))
        return (char)('a' + n % (is_hex ? 6 : 26));
    return c;
}

static int make_up(struct gtel_scrub *scrub, struct gtel_scrub_secret *secret)
{
    char *p = gtel_arena_alloc(&scrub->arena, secret->real.n + 1);
    uint32_t state = (uint32_t)(scrub->n + 1) * 2654435761u;
    bool is_hex = true;
    if (!p)
        return -1;
    for (size_t i = 0; i < secret->real.n; i++)
        is_hex = is_hex && gtel_is_hex(secret->real.p[i]);
    for (size_t i = 0; i < secret->real.n; i++)
        p[i] = next_char(secret->real.p[i], is_hex, &state);
    secret->made_up = (struct gtel_str){p, secret->real.n};
    return 0;
}

/*
 * The secret like that one, new if need be; its made-up text is of the same shape unless it has
 * one. NULL when there is no room for it.
 */
static struct gtel_scrub_secret *learn(struct gtel_scrub *scrub,
                                       const struct gtel_scrub_secret *like)
{
    uint32_t *bucket = bucket_of(scrub, like->real);
    struct gtel_scrub_secret new = *like;
    for (uint32_t i = *bucket; i != 0; i = scrub->secret[i - 1].next) {
        struct gtel_scrub_secret *known = &scrub->secret[i - 1];
        if ((known->how == GTEL_SCRUB_NAME) != (like->how == GTEL_SCRUB_NAME) ||
            !gtel_str_eq(known->real, like->real))
            continue;
        known->how = known->how == GTEL_SCRUB_LOCAL ? like->how : known->how;
        return known;
    }
    if (!gtel_grow(&scrub->secret, &scrub->size, scrub->n + 1, SECRETS_MAX, sizeof(new)) ||
        gtel_arena_str(&scrub->arena, like->real, &new.real) < 0 ||
        (like->made_up.n > 0 ? gtel_arena_str(&scrub->arena, like->made_up, &new.made_up)
                             : make_up(scrub, &new)) < 0) {
        scrub->has_failed = true;
        return NULL;
    }
    new.next = *bucket;
    scrub->secret[scrub->n] = new;
    *bucket = (uint32_t)++scrub->n;
    return &scrub->secret[scrub->n - 1];
}

static bool has(struct gtel_str text, bool (*is)(char c))
{
    for (size_t i = 0; i < text.n; i++)
        if (is(text.p[i]))
            return true;
    return false;
}

/* A name that stands in a text as "host3". NULL when it is too short, or there is no room for it.
 */
static struct gtel_scrub_secret *learn_name(struct gtel_scrub *scrub, enum gtel_scrub_kind kind,
                                            struct gtel_str name)
{
    char buf[REAL_MAX];
    char made_up[32];
    bool is_user = kind == GTEL_SCRUB_USER;
    struct gtel_scrub_secret like = {
        .real = fold(name, true, buf), .kind = kind, .how = GTEL_SCRUB_NAME};
    if (like.real.n < (has(like.real, gtel_is_letter) ? (size_t)NAME_MIN : (size_t)NUMERAL_MIN))
        return NULL;
    int n = snprintf(made_up, sizeof(made_up), "%s%zu", is_user ? "user" : "host",
                     scrub->names[kind] + (is_user ? GTEL_SCRUB_PEOPLE_FROM : 1));
    like.made_up = (struct gtel_str){made_up, (size_t)n};
    size_t before = scrub->n;
    struct gtel_scrub_secret *secret = learn(scrub, &like);
    scrub->names[kind] += scrub->n > before;
    return secret;
}

static void learn_user(struct gtel_scrub *scrub, struct gtel_str name)
{
    if (!gtel_str_eq(name, GTEL_STR("root")) && !gtel_str_eq(name, GTEL_STR("nobody")))
        (void)learn_name(scrub, GTEL_SCRUB_USER, name); /* no room: has_failed says so */
}

/* Directory services call people DOMAIN\NAME (winbind) and NAME@DOMAIN (sssd): the name alone, too.
 */
void gtel_scrub_user(struct gtel_scrub *scrub, struct gtel_str name)
{
    struct gtel_str alone = gtel_str_head(name, gtel_str_find(name, '@'));
    size_t domain = gtel_str_find(alone, '\\');
    learn_user(scrub, name);
    if (domain < alone.n)
        alone = gtel_str_skip(alone, domain + 1);
    learn_user(scrub, alone);
}

/*
 * Each part of a host's name but the last one of several where it is everybody's, as "org". A host
 * without a domain says "(none)".
 */
void gtel_scrub_host(struct gtel_scrub *scrub, struct gtel_str name)
{
    struct gtel_str rest = gtel_str_trim(name);
    struct gtel_str part;
    for (bool is_first = true; gtel_str_part(&rest, '.', &part); is_first = false) {
        bool is_public = !is_first && rest.n == 0 && gtel_scrub_is_domain(part);
        if (!is_public && !gtel_str_eq(part, GTEL_STR("localhost")) &&
            !gtel_str_starts(part, GTEL_STR("(")))
            (void)learn_name(scrub, GTEL_SCRUB_HOST, part); /* no room: has_failed says so */
    }
}

/* A number of a user or group: those of people are counted up. */
static void write_number(struct work *work, struct gtel_str digits)
{
    enum { NOBODY = 65534 }; /* and 65535: no user (nobody in passwd(5)) */
    char real[32];
    char made_up[32];
    uint64_t number;
    struct gtel_scrub *scrub = work->scrub;
    if (gtel_str_u64(digits, &number) < 0 || number < GTEL_SCRUB_PEOPLE_FROM ||
        (number >= NOBODY && number <= UINT16_MAX) || number == UINT32_MAX) {
        gtel_buf_str(work->out, digits);
        return;
    }
    /* No text has a blank inside a secret, so this is found nowhere else. */
    (void)snprintf(real, sizeof(real), "# %" PRIu64, number);
    size_t numbers = scrub->numbers;
    (void)snprintf(made_up, sizeof(made_up), "%zu", numbers + GTEL_SCRUB_PEOPLE_FROM);
    const struct gtel_scrub_secret like = {.real = gtel_str_of(real),
                                           .made_up = gtel_str_of(made_up),
                                           .kind = GTEL_SCRUB_USER,
                                           .how = GTEL_SCRUB_LOCAL};
    size_t before = scrub->n;
    const struct gtel_scrub_secret *secret = learn(scrub, &like);
    scrub->numbers += scrub->n > before;
    if (secret)
        gtel_buf_str(work->out, secret->made_up);
}

void gtel_scrub_users(struct gtel_scrub *scrub, struct gtel_str passwd)
{
    struct gtel_str line;
    struct gtel_str name;
    uint64_t number;
    while (gtel_str_line(&passwd, &line))
        if (gtel_scrub_user_line(line, &name, &number))
            gtel_scrub_user(scrub, name);
}

/* ---- where a known secret stands ---- */

/* Bytes at the beginning of text that are the secret, however it is written there, or 0. */
static size_t match(const struct gtel_scrub_secret *secret, struct gtel_str text)
{
    bool is_name = secret->how == GTEL_SCRUB_NAME;
    struct gtel_str rest = text;
    for (size_t i = 0; i < secret->real.n;) {
        if (rest.n == 0)
            return 0;
        char c = next_of(&rest);
        if (c == secret->real.p[i])
            i++;
        else if (c != '-' || is_name || i == 0)
            return 0;
    }
    return text.n - rest.n;
}

/* The run of what is around a part of a text. */
static struct gtel_str around(struct gtel_str text, size_t at, size_t n, bool (*is)(char c))
{
    size_t end = at + n;
    while (at > 0 && is(text.p[at - 1]))
        at--;
    while (end < text.n && is(text.p[end]))
        end++;
    return (struct gtel_str){text.p + at, end - at};
}

/* Whether a name is part of a number as the kernel writes it: 0x10abe3, 8086:ADA5. */
static bool is_in_number(struct gtel_str text, size_t at, size_t n)
{
    struct gtel_str number = around(text, at, n, gtel_is_hex);
    for (size_t i = at; i < at + n; i++)
        if (!gtel_is_hex(text.p[i]))
            return false;
    bool has_mark = number.p > text.p && gtel_lower(number.p[-1]) == 'x';
    return has_mark || (number.n > n && has(number, gtel_is_digit));
}

/* A name of one word may be one that is used there for something else. */
static bool is_usual(enum gtel_scrub_writer writer, struct gtel_str text, size_t at, size_t n)
{
    struct gtel_str words = {text.p + at, n};
    struct gtel_str word;
    size_t letters = 0;
    size_t runs = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_letter = gtel_is_letter(words.p[i]);
        runs += is_letter && (i == 0 || !gtel_is_letter(words.p[i - 1]));
        letters += is_letter;
        if (is_letter && letters == 1)
            at += i;
    }
    word = around(text, at, 1, gtel_is_letter);
    /* "jd42" may be anybody's number in texts of the kernel, as "fb0". */
    bool is_short = word.n < NAME_MIN && writer != GTEL_SCRUB_PEOPLE && writer != GTEL_SCRUB_CGROUP;
    return runs == 1 && (is_short || gtel_scrub_is_usual(writer, word));
}

/* Whether what looks like a known secret, n bytes at that place, is one. */
static bool is_secret_here(const struct work *work, const struct gtel_scrub_secret *secret,
                           struct gtel_str text, size_t at, size_t n)
{
    struct gtel_str word = around(text, at, n, gtel_is_alnum);
    struct gtel_str numeral = around(text, at, n, gtel_is_digit);
    bool is_kernel = work->writer <= GTEL_SCRUB_VERSION;
    if (secret->how == GTEL_SCRUB_LOCAL)
        return false;
    if (secret->how == GTEL_SCRUB_SPREAD)
        return word.n == n || (n >= ANYWHERE_MIN && has(secret->real, gtel_is_letter));
    if (!has(secret->real, gtel_is_letter))
        return is_kernel ? word.n == n : numeral.n == n;
    return work->writer != GTEL_SCRUB_PUBLIC && !(is_kernel && is_in_number(text, at, n)) &&
           !is_usual(work->writer, text, at, n);
}

/* The known secret at that place of a text, or NULL. The longest one. */
static struct gtel_scrub_secret *known_at(const struct work *work, struct gtel_str text, size_t at,
                                          size_t *ret_n)
{
    struct gtel_scrub_secret *best = NULL;
    struct gtel_str rest = gtel_str_skip(text, at);
    if (work->scrub->n == 0 || !gtel_is_alnum(rest.p[0]))
        return NULL;
    *ret_n = 0;
    for (uint32_t i = *bucket_of(work->scrub, rest); i != 0; i = work->scrub->secret[i - 1].next) {
        struct gtel_scrub_secret *secret = &work->scrub->secret[i - 1];
        size_t n = match(secret, rest);
        if (n <= *ret_n || !is_secret_here(work, secret, text, at, n))
            continue;
        best = secret;
        *ret_n = n;
    }
    return best;
}

/* ---- texts ---- */

/* What stands for a secret that is written as text. */
static void write_made_up(struct work *work, struct gtel_scrub_secret *secret, struct gtel_str text)
{
    size_t at = 0;
    work->scrub->replaced[secret->kind] += secret->is_used ? 0 : 1;
    secret->is_used = true;
    if (secret->how == GTEL_SCRUB_NAME) {
        gtel_buf_str(work->out, secret->made_up);
        return;
    }
    while (text.n > 0) {
        struct gtel_str from = text;
        char c = secret->made_up.p[at % secret->made_up.n];
        bool is_upper = text.p[0] != gtel_lower(text.p[0]);
        bool is_made_up = gtel_is_alnum(next_of(&text));
        if (is_made_up)
            gtel_buf_char(work->out, is_upper && gtel_is_letter(c) ? (char)(c - 'a' + 'A') : c);
        else
            gtel_buf_str(work->out, gtel_str_head(from, from.n - text.n));
        at += is_made_up;
    }
}

static void write_found(struct work *work, const struct gtel_scrub_find *found,
                        struct gtel_str text)
{
    char buf[REAL_MAX];
    struct gtel_scrub_secret *secret = NULL;
    struct gtel_scrub_secret like = {
        .kind = found->kind, .how = found->how, .real = fold(text, false, buf)};
    if (!has(like.real, gtel_is_digit) ||
        like.real.n < (has(like.real, gtel_is_letter) ? (size_t)SPREAD_MIN : ANYWHERE_MIN))
        like.how = GTEL_SCRUB_LOCAL;
    if (found->how == GTEL_SCRUB_NUMBER) {
        write_number(work, text);
        return;
    }
    if (found->how == GTEL_SCRUB_NAME)
        secret = learn_name(work->scrub, found->kind, text);
    else if (like.real.n > 0)
        secret = learn(work->scrub, &like);
    if (secret)
        write_made_up(work, secret, text);
    else
        gtel_buf_str(work->out, text); /* too short to be one, or has_failed */
}

/* Who built a kernel stands in its release: letters that no distribution has there are a name's. */
static bool find_builder(struct gtel_str text, size_t at, struct gtel_scrub_find *ret)
{
    struct gtel_str rest = gtel_str_skip(text, at);
    struct gtel_str letters = around(text, at, 1, gtel_is_letter);
    struct gtel_str word = around(text, at, 1, gtel_is_alnum);
    *ret = (struct gtel_scrub_find){
        .n = (size_t)(word.p + word.n - rest.p), .kind = GTEL_SCRUB_HOST, .how = GTEL_SCRUB_LOCAL};
    return gtel_is_letter(rest.p[0]) && letters.p == rest.p && letters.n > 1 &&
           !gtel_scrub_is_usual(GTEL_SCRUB_RELEASE, letters);
}

static void write_plain(struct work *work, struct gtel_str text)
{
    size_t at = 0;
    while (at < text.n) {
        struct gtel_scrub_find found;
        size_t n;
        bool has_form = gtel_scrub_find_form(text, at, work->writer, &found);
        struct gtel_scrub_secret *secret = has_form ? NULL : known_at(work, text, at, &n);
        if (!has_form && !secret && work->writer == GTEL_SCRUB_RELEASE)
            has_form = find_builder(text, at, &found);
        if (has_form) {
            gtel_buf_str(work->out, gtel_str_head(gtel_str_skip(text, at), found.at));
            write_found(work, &found, gtel_str_head(gtel_str_skip(text, at + found.at), found.n));
            at += found.at + found.n;
        } else if (secret) {
            write_made_up(work, secret, gtel_str_head(gtel_str_skip(text, at), n));
            at += n;
        } else {
            gtel_buf_char(work->out, text.p[at++]);
        }
    }
}

/* Replaces every word of a value that is secret as a whole. */
static void write_secret(struct work *work, const struct gtel_scrub_find *found,
                         struct gtel_str text)
{
    while (text.n > 0) {
        size_t n = 0;
        while (n < text.n && (unsigned char)text.p[n] > ' ')
            n++;
        if (n > 0)
            write_found(work, found, gtel_str_head(text, n));
        for (; n < text.n && (unsigned char)text.p[n] <= ' '; n++)
            gtel_buf_char(work->out, text.p[n]);
        text = gtel_str_skip(text, n);
    }
}

/*
 * KEY=VALUE, "KEY: VALUE" or "KEY VALUE" with a telling key: only the value is replaced. False: it
 * is no such text, and nothing is written.
 */
static bool write_value(struct work *work, struct gtel_str text, char separator)
{
    struct gtel_scrub_find found;
    size_t at = gtel_str_find(text, separator);
    if (at == text.n || !gtel_scrub_is_secret_key(gtel_str_head(text, at), &found))
        return false;
    gtel_buf_str(work->out, gtel_str_head(text, at + 1));
    write_secret(work, &found, gtel_str_skip(text, at + 1));
    return true;
}

/* Word by word where there are keys; otherwise a line stays one for what is known by form. */
static void write_line(struct work *work, struct gtel_str line)
{
    size_t equals = gtel_str_find(line, '=');
    if (work->writer == GTEL_SCRUB_KERNEL && gtel_scrub_is_about_versions(line))
        work->writer = GTEL_SCRUB_VERSION;
    if (equals == line.n) {
        /* "unique_id 123" (kernel: amdkfd/kfd_topology.c, node_show) */
        bool is_pair = work->writer == GTEL_SCRUB_KERNEL && write_value(work, line, ' ');
        if (!is_pair && !write_value(work, line, ':'))
            write_plain(work, line);
        return;
    }
    while (line.n > 0) {
        struct gtel_str word = gtel_str_head(line, gtel_str_find(line, ' '));
        if (!write_value(work, word, '='))
            write_plain(work, word);
        if (word.n < line.n)
            gtel_buf_char(work->out, ' ');
        line = gtel_str_skip(line, word.n + 1);
    }
}

/* Every number of a line that is one by itself is a user's or a group's. */
static void write_numbers(struct work *work, struct gtel_str line)
{
    for (size_t n; line.n > 0; line = gtel_str_skip(line, n)) {
        n = 0;
        while (n < line.n && gtel_is_digit(line.p[n]))
            n++;
        if (n > 0)
            write_number(work, gtel_str_head(line, n));
        else
            gtel_buf_char(work->out, line.p[n++]);
    }
}

/* ---- files ---- */

/*
 * "maria:x:1000:1000::/:" and "render:x:105:" have numbers behind the name and the password, a map
 * of user numbers (user_namespaces(7)) from its beginning.
 */
static bool has_numbers(struct gtel_str path, struct gtel_str line, size_t *ret_at)
{
    struct gtel_str rest = line;
    struct gtel_str part;
    struct gtel_str name = gtel_str_skip(path, gtel_str_behind(path, '/'));
    size_t colon = gtel_str_find(line, ':');
    struct gtel_str key = gtel_str_head(line, colon);
    bool is_process = gtel_str_starts(path, GTEL_STR("proc/"));
    bool is_map = is_process && gtel_str_eq(name, GTEL_STR("uid_map"));
    bool is_list =
        gtel_str_eq(path, GTEL_STR("etc/passwd")) || gtel_str_eq(path, GTEL_STR("etc/group"));
    *ret_at = is_map ? 0 : colon;
    if (is_list && gtel_str_part(&rest, ':', &part) && gtel_str_part(&rest, ':', &part))
        *ret_at = line.n - rest.n;
    return is_list || is_map ||
           (is_process && gtel_str_eq(name, GTEL_STR("status")) &&
            (gtel_str_eq(key, GTEL_STR("Uid")) || gtel_str_eq(key, GTEL_STR("Gid")) ||
             gtel_str_eq(key, GTEL_STR("Groups"))));
}

/* One line of the content of a file. */
static void write_content(struct work *work, struct gtel_str path, struct gtel_str line)
{
    struct gtel_scrub_find found;
    size_t numbers;
    work->writer = gtel_scrub_writer_of(path);
    if (has_numbers(path, line, &numbers)) {
        write_plain(work, gtel_str_head(line, numbers));
        write_numbers(work, gtel_str_skip(line, numbers));
    } else if (!gtel_scrub_is_secret_key(gtel_str_skip(path, gtel_str_behind(path, '/')), &found)) {
        if (gtel_str_find(line, ':') > gtel_str_find(line, '=') || !write_value(work, line, ':'))
            write_line(work, line);
    } else if (found.kind == GTEL_SCRUB_HOST) {
        gtel_scrub_host(work->scrub, line);
        work->writer = GTEL_SCRUB_PEOPLE;
        write_plain(work, line);
    } else {
        write_secret(work, &found, line);
    }
}

/* ---- recorded machines (recording/tree.h) ---- */

/* Whether a path, or what a link leads to, is named by the kernel or a distribution. */
static enum gtel_scrub_writer names_path(struct gtel_str path)
{
    static const struct gtel_str folders[] = {GTEL_STR_INIT("sys/"), GTEL_STR_INIT("proc"),
                                              GTEL_STR_INIT("dev/"), GTEL_STR_INIT("etc/"),
                                              GTEL_STR_INIT("../")};
    path = gtel_str_skip(path, gtel_str_starts(path, GTEL_STR("/")));
    if (gtel_scrub_writer_of(path) == GTEL_SCRUB_PUBLIC)
        return GTEL_SCRUB_PUBLIC;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(folders); i++)
        if (gtel_str_starts(path, folders[i]))
            return GTEL_SCRUB_KERNEL;
    return gtel_str_find(path, '/') == path.n ? GTEL_SCRUB_KERNEL : GTEL_SCRUB_PEOPLE;
}

/* WORD PATH… of the format; its first word stays. *ret_file is the path when contents follow. */
static void write_entry(struct work *work, struct gtel_str line, struct gtel_str *ret_file)
{
    struct gtel_str word = gtel_str_head(line, gtel_str_find(line, ' '));
    struct gtel_str rest = gtel_str_skip(line, word.n + 1);
    struct gtel_str path =
        gtel_str_head(rest, gtel_tree_has_path(word) ? gtel_str_find(rest, ' ') : 0);
    gtel_buf_str(work->out, gtel_str_head(line, word.n + 1));
    *ret_file = gtel_str_eq(word, GTEL_STR("file")) ? path : GTEL_STR_NONE;
    work->writer = names_path(path);
    write_plain(work, path);
    rest = gtel_str_skip(rest, path.n);
    /* Of Windows: 31.0.15.255 is the version of a driver. */
    work->writer = gtel_str_eq(word, GTEL_STR("call")) ? GTEL_SCRUB_VERSION : GTEL_SCRUB_KERNEL;
    if (gtel_str_eq(word, GTEL_STR("owner"))) {
        write_numbers(work, rest);
    } else if (gtel_str_eq(word, GTEL_STR("link"))) {
        size_t at = gtel_str_behind(rest, ' ');
        struct gtel_str target = gtel_str_skip(rest, at);
        gtel_buf_str(work->out, gtel_str_head(rest, at));
        work->writer = names_path(target);
        write_plain(work, target);
    } else {
        write_line(work, rest);
    }
}

/* "# kernel 6.8.0-45-generic" has a release, any other comment what people say. */
static void write_comment(struct work *work, struct gtel_str line)
{
    static const struct gtel_str kernel = GTEL_STR_INIT("# kernel ");
    bool is_release = gtel_str_starts(line, kernel);
    size_t n = is_release ? kernel.n : 0;
    gtel_buf_str(work->out, gtel_str_head(line, n));
    work->writer = is_release ? GTEL_SCRUB_RELEASE : GTEL_SCRUB_PEOPLE;
    write_plain(work, gtel_str_skip(line, n));
}

static void write_record(struct work *work, struct gtel_str text)
{
    struct gtel_str file = GTEL_STR_NONE;
    struct gtel_str line;
    while (gtel_str_line(&text, &line)) {
        struct gtel_str content = gtel_str_skip(line, 2);
        if (gtel_str_starts(line, GTEL_STR("| "))) {
            gtel_buf_str(work->out, gtel_str_head(line, 2));
            write_content(work, file.n > 0 ? file : GTEL_STR("sys/"), content);
        } else if (gtel_str_starts(line, GTEL_STR("#"))) {
            write_comment(work, line);
        } else {
            write_entry(work, line, &file);
        }
        gtel_buf_char(work->out, '\n');
    }
}

void gtel_scrub_record(struct gtel_scrub *scrub, struct gtel_str text, struct gtel_buf *out)
{
    struct gtel_buf draft;
    struct work work = {.scrub = scrub, .out = &draft};
    gtel_buf_init(&draft, out->limit);
    write_record(&work, text);
    scrub->has_failed = scrub->has_failed || draft.has_failed;
    gtel_buf_done(&draft);
    work.out = out;
    write_record(&work, text);
}
