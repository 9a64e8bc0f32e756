/* SPDX-License-Identifier: MIT */
/* Takes out of files about processes and users what identifies a machine or a person. */
#include "host/scrub_process.h"

#include "base/compiler.h"

enum { UID_LEN = 36, HASH_LEN = 32, ID_LEN = 64 };

static struct gtel_str head(struct gtel_str s, size_t n)
{
    return (struct gtel_str){s.p, n < s.n ? n : s.n};
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static bool is_alphanumeric(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* ---- cgroup ---- */

/* 8-4-4-4-12 digits, also with underscores for the dashes. */
static bool is_uid(struct gtel_str s)
{
    for (size_t i = 0; i < s.n; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_dash ? s.p[i] != '-' && s.p[i] != '_' : !is_hex(s.p[i]))
            return false;
    }
    return s.n == UID_LEN;
}

/* Length of the id of a pod or container at the beginning of text, or 0. */
static size_t id_length(struct gtel_str text)
{
    size_t n = 0;
    if (is_uid(head(text, UID_LEN)))
        n = UID_LEN;
    else
        while (n < text.n && is_hex(text.p[n]))
            n++;
    bool is_id = n == UID_LEN || n == HASH_LEN || n == ID_LEN;
    return is_id && (n == text.n || !is_alphanumeric(text.p[n])) ? n : 0;
}

/* Length of what keeps the beginning of text from being an id: the "pod" before a uid. */
static size_t mark_length(struct gtel_str text)
{
    static const struct gtel_str pod = GTEL_STR_INIT("pod");
    return gtel_str_starts(text, pod) ? pod.n : 0;
}

/* The name of a cgroup with its ids made up. False, and nothing written, when it has none. */
static bool put_ids(struct gtel_scrub *scrub, struct gtel_str name, struct gtel_buf *out)
{
    size_t done = 0;
    for (size_t i = 0; i < name.n; i++) {
        size_t at = i + mark_length(gtel_str_skip(name, i));
        size_t n = id_length(gtel_str_skip(name, at));
        if (n == 0 || (i > 0 && is_alphanumeric(name.p[i - 1])))
            continue;
        struct gtel_str id = {name.p + at, n};
        gtel_buf_str(out, gtel_str_skip(head(name, at), done));
        gtel_buf_str(out, gtel_scrub_made_up(scrub, GTEL_SCRUB_UUID, id, 0));
        done = at + n;
        i = done;
    }
    if (done > 0)
        gtel_buf_str(out, gtel_str_skip(name, done));
    return done > 0;
}

/*
 * Containers with names, as parse/cgroup.c knows them. What is learned as a secret begins with the
 * words that stay, so that a name that is an everyday word is not replaced elsewhere.
 */
static bool put_child(struct gtel_scrub *scrub, struct gtel_str parent, struct gtel_str name,
                      struct gtel_buf *out)
{
    static const struct gtel_str parents[] = {GTEL_STR_INIT("lxc"), GTEL_STR_INIT("lxc.payload"),
                                              GTEL_STR_INIT("lxc.monitor")};
    bool is_child = false;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(parents); i++)
        is_child = is_child || gtel_str_eq(parent, parents[i]);
    if (!is_child)
        return false;
    /* One text: between them stands the slash. */
    struct gtel_str both = {parent.p, parent.n + 1 + name.n};
    struct gtel_str made_up = gtel_scrub_made_up(scrub, GTEL_SCRUB_HOST, both, parent.n + 1);
    gtel_buf_str(out, gtel_str_skip(made_up, parent.n + 1));
    return true;
}

static bool put_named(struct gtel_scrub *scrub, struct gtel_str name, struct gtel_buf *out)
{
    static const struct {
        struct gtel_str begin;
        struct gtel_str end;
    } forms[] = {
        {GTEL_STR_INIT("lxc.payload."), GTEL_STR_INIT("")},
        {GTEL_STR_INIT("lxc.monitor."), GTEL_STR_INIT("")},
        {GTEL_STR_INIT("machine-"), GTEL_STR_INIT(".scope")},
        {GTEL_STR_INIT("systemd-nspawn@"), GTEL_STR_INIT(".service")},
        {GTEL_STR_INIT("container@"), GTEL_STR_INIT(".service")},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(forms); i++) {
        struct gtel_str begin = forms[i].begin;
        struct gtel_str end = forms[i].end;
        if (name.n <= begin.n + end.n || !gtel_str_starts(name, begin) || !gtel_str_ends(name, end))
            continue;
        struct gtel_str real = head(name, name.n - end.n);
        gtel_buf_str(out, gtel_scrub_made_up(scrub, GTEL_SCRUB_HOST, real, begin.n));
        gtel_buf_str(out, end);
        return true;
    }
    return false;
}

static void put_path(struct gtel_scrub *scrub, struct gtel_str path, struct gtel_buf *out)
{
    struct gtel_str parent = GTEL_STR_NONE;
    while (path.n > 0) {
        struct gtel_str name = head(path, gtel_str_find(path, '/'));
        if (!put_ids(scrub, name, out) && !put_child(scrub, parent, name, out) &&
            !put_named(scrub, name, out))
            gtel_scrub_text(scrub, name, out);
        if (name.n < path.n)
            gtel_buf_char(out, '/');
        path = gtel_str_skip(path, name.n + 1);
        parent = name;
    }
}

static void put_cgroup(struct gtel_scrub *scrub, struct gtel_str text, struct gtel_buf *out)
{
    struct gtel_str line;
    while (gtel_str_line(&text, &line)) {
        size_t path = gtel_str_find(line, '/');
        gtel_buf_str(out, head(line, path));
        put_path(scrub, gtel_str_skip(line, path), out);
        gtel_buf_char(out, '\n');
    }
}

/* ---- others ---- */

/* Up to the start of the process, field 22: behind it are addresses and signals (proc(5)). */
static void put_stat(struct gtel_scrub *scrub, struct gtel_str text, struct gtel_buf *out)
{
    enum { WORDS = 20 };
    size_t close = text.n;
    while (close > 0 && text.p[close - 1] != ')')
        close--;
    struct gtel_str rest = gtel_str_skip(text, close);
    struct gtel_str word;
    for (int i = 0; i < WORDS; i++)
        (void)gtel_str_word(&rest, &word); /* fewer words: all of them */
    gtel_scrub_text(scrub, head(text, text.n - rest.n), out);
    gtel_buf_char(out, '\n');
}

/* passwd(5) names people: each gets a name from its number. */
static void put_users(struct gtel_str text, struct gtel_buf *out)
{
    struct gtel_str line;
    while (gtel_str_line(&text, &line)) {
        struct gtel_str name;
        struct gtel_str password;
        struct gtel_str number;
        uint64_t user;
        if (!gtel_str_part(&line, ':', &name) || !gtel_str_part(&line, ':', &password) ||
            !gtel_str_part(&line, ':', &number) || gtel_str_u64(number, &user) < 0)
            continue;
        if (user == 0)
            gtel_buf_str(out, GTEL_STR("root:x:0:0::/:\n"));
        else
            gtel_buf_printf(out, "user%.*s:x:%.*s:%.*s::/:\n", GTEL_STR_ARG(number),
                            GTEL_STR_ARG(number), GTEL_STR_ARG(number));
    }
}

bool gtel_scrub_process(struct gtel_scrub *scrub, struct gtel_str path, struct gtel_str text,
                        struct gtel_buf *out)
{
    struct gtel_str rest = path;
    struct gtel_str folder;
    struct gtel_str pid;
    if (gtel_str_eq(path, GTEL_STR("etc/passwd"))) {
        put_users(text, out);
        return true;
    }
    if (!gtel_str_part(&rest, '/', &folder) || !gtel_str_eq(folder, GTEL_STR("proc")) ||
        !gtel_str_part(&rest, '/', &pid))
        return false;
    if (gtel_str_eq(rest, GTEL_STR("cgroup")))
        put_cgroup(scrub, text, out);
    else if (gtel_str_eq(rest, GTEL_STR("stat")))
        put_stat(scrub, text, out);
    else
        return false;
    return true;
}
