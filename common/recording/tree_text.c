/* SPDX-License-Identifier: MIT */
/* A recorded machine: reading the text. */
#include "base/buf.h"
#include "base/grow.h"
#include "recording/tree_node.h"
#include "parse/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EVENTS_MAX = 1 << 20,
    UEVENT_MAX = 4096,        /* bytes of a message; the kernel's own limit is half of that */
    WALL_DEFAULT = 1767225600 /* 2026-01-01 00:00:00 UTC */
};

static const char words_form[] = "expected: | WIDTH:VALUE…, at most 8 KiB in all";

struct reader;

/* A word that begins a line. */
struct row {
    struct gtel_str name;
    int (*read)(struct reader *reader, struct gtel_str args); /* NULL: it ends the text */
    const char *form;                                         /* of the line: what is expected */
    enum gtel_tree_kind kind;
    size_t names;     /* words that are the key of an answer, behind that of the row or a path */
    const char *good; /* of an answer that is an error: what ends it */
};

struct reader {
    struct gtel_tree *tree;
    const struct row *row; /* of the present line; a comment leaves it */
    struct gtel_str rest;
    size_t line;
    struct gtel_tree_event event; /* of that line: its kind, and its path where it has one */
    char key[GTEL_TREE_PATH_MAX]; /* of its answer: the node's path */
    size_t key_n;
    uint64_t t_ns;
    char *error;
    size_t error_size;
};

/*
 * Says where and what, and never what stands there: a file that is named by mistake, or on purpose,
 * may be another user's.
 */
static int fail(const struct reader *reader, const char *fmt, ...) GTEL_PRINTF(2, 3);

static int fail(const struct reader *reader, const char *fmt, ...)
{
    va_list args;
    int n = snprintf(reader->error, reader->error_size, "line %zu: ", reader->line);
    va_start(args, fmt);
    if (n > 0 && (size_t)n < reader->error_size)
        (void)vsnprintf(reader->error + n, reader->error_size - (size_t)n, fmt, args);
    va_end(args);
    return -EINVAL;
}

static int fail_form(const struct reader *reader)
{
    return fail(reader, "expected: %s", reader->row->form);
}

static int fail_error(const struct reader *reader)
{
    return fail(reader, "not an error that is known here (EIO, EACCES …)");
}

/* What a line asks for becomes one key. */
static int fail_words(const struct reader *reader)
{
    return fail(reader, "more than %d bytes of names in a line", GTEL_TREE_PATH_MAX - 1);
}

/* The next word, or none. */
static struct gtel_str next_word(struct gtel_str *args)
{
    struct gtel_str word = GTEL_STR_NONE;
    (void)gtel_str_word(args, &word);
    return word;
}

/* Adds the event of the line. */
static int add_event(struct reader *reader)
{
    struct gtel_tree *tree = reader->tree;
    if (tree->events == EVENTS_MAX)
        return fail(reader, "more than %d changes of files, links and answers", EVENTS_MAX);
    if (!gtel_grow(&tree->event, &tree->events_size, tree->events + 1, EVENTS_MAX,
                   sizeof(*tree->event)))
        return -ENOMEM;
    struct gtel_tree_event *added = &tree->event[tree->events++];
    *added = reader->event;
    added->t_ns = reader->t_ns;
    added->line = reader->line <= UINT32_MAX ? (uint32_t)reader->line : UINT32_MAX;
    return 0;
}

/* The lines beginning with '|' that follow, joined; each ends in a newline. */
static int read_content(struct reader *reader, struct gtel_str *ret)
{
    struct gtel_buf buf;
    gtel_buf_init(&buf, GTEL_TREE_CONTENT_MAX);
    bool is_long = false;
    while (!buf.has_failed && gtel_str_starts(reader->rest, GTEL_STR("|"))) {
        struct gtel_str line;
        (void)gtel_str_line(&reader->rest, &line); /* not empty: it begins with '|' */
        reader->line++;
        line = gtel_str_skip(line, 1);
        line = gtel_str_skip(line, gtel_str_starts(line, GTEL_STR(" ")));
        is_long = line.n >= GTEL_TREE_CONTENT_MAX - buf.n;
        gtel_buf_str(&buf, line);
        gtel_buf_char(&buf, '\n');
    }
    int r =
        is_long ? fail(reader, "more than %d bytes of content", GTEL_TREE_CONTENT_MAX) : -ENOMEM;
    if (!buf.has_failed)
        r = gtel_arena_str(&reader->tree->arena, gtel_buf_text(&buf), ret);
    gtel_buf_done(&buf);
    return r;
}

static int read_path(struct reader *reader, struct gtel_str *args)
{
    struct gtel_str *path = &reader->event.path;
    if (!gtel_str_word(args, path))
        return fail(reader, "a path is missing");
    if (path->p[0] == '/' || path->n >= GTEL_TREE_PATH_MAX)
        return fail(reader, "a path must be relative and below 512 bytes");
    return 0;
}

static int read_file(struct reader *reader, struct gtel_str args)
{
    unsigned char bytes[GTEL_TREE_BYTES_MAX];
    size_t n;
    (void)args;
    int r = read_content(reader, &reader->event.text);
    if (r == 0 && reader->event.kind == GTEL_TREE_BINARY &&
        gtel_words_pack(reader->event.text, 0, bytes, sizeof(bytes), &n) < 0)
        r = fail(reader, words_form);
    return r < 0 ? r : add_event(reader);
}

static int read_dir_or_gone(struct reader *reader, struct gtel_str args)
{
    (void)args;
    return add_event(reader);
}

static int read_link(struct reader *reader, struct gtel_str args)
{
    if (!gtel_str_eq(next_word(&args), GTEL_STR("->")) ||
        !gtel_str_word(&args, &reader->event.text))
        return fail_form(reader);
    return add_event(reader);
}

/* char PATH MAJOR:MINOR; the numbers are kept in start and per_second, which hold 32 bits exactly
 */
static int read_char(struct reader *reader, struct gtel_str args)
{
    struct gtel_str word = next_word(&args);
    struct gtel_str part;
    uint64_t major;
    uint64_t minor;
    if (!gtel_str_part(&word, ':', &part) || gtel_str_u64(part, &major) < 0 ||
        gtel_str_u64(word, &minor) < 0 || major > UINT32_MAX || minor > UINT32_MAX)
        return fail_form(reader);
    reader->event.start = (double)major;
    reader->event.per_second = (double)minor;
    return add_event(reader);
}

static bool take_growth(struct reader *reader, struct gtel_str args)
{
    return gtel_str_f64(next_word(&args), &reader->event.start) == 0 &&
           gtel_str_f64(next_word(&args), &reader->event.per_second) == 0;
}

/* START PER_SECOND */
static int read_growth(struct reader *reader, struct gtel_str args)
{
    return take_growth(reader, args) ? add_event(reader) : fail_form(reader);
}

static int read_error(struct reader *reader, struct gtel_str args)
{
    reader->event.error = gtel_tree_error_value(next_word(&args));
    return reader->event.error != 0 ? add_event(reader) : fail_error(reader);
}

static int add_answer(struct reader *reader, struct gtel_str answer)
{
    const struct gtel_str key = {reader->key, reader->key_n};
    reader->event.text = answer;
    int r = gtel_arena_str(&reader->tree->arena, key, &reader->event.path);
    return r < 0 ? r : add_event(reader);
}

/* Adds a word to the key. False: no room. */
static bool join(struct reader *reader, struct gtel_str word)
{
    if (reader->key_n + word.n + 1 >= sizeof(reader->key))
        return false;
    if (reader->key_n > 1)
        reader->key[reader->key_n++] = ' ';
    memcpy(reader->key + reader->key_n, word.p, word.n);
    reader->key_n += word.n;
    return true;
}

/* The words of the line that are the key of its answer. */
static int read_key(struct reader *reader, struct gtel_str *args)
{
    struct gtel_str word = reader->event.path;
    bool has_room = join(reader, reader->row->name) && (word.n == 0 || join(reader, word));
    for (size_t i = 0; i < reader->row->names; i++) {
        if (!gtel_str_word(args, &word))
            return fail_form(reader);
        has_room = has_room && join(reader, word);
    }
    return has_room ? 0 : fail_words(reader);
}

/* call NAME WORD… = ANSWER */
static int read_call(struct reader *reader, struct gtel_str args)
{
    struct gtel_str word;
    reader->event.kind = GTEL_TREE_CALL;
    while (gtel_str_word(&args, &word)) {
        if (gtel_str_eq(word, GTEL_STR("=")) && reader->key_n > 1)
            return add_answer(reader, gtel_str_trim(args));
        if (!join(reader, word))
            return fail_words(reader);
    }
    return fail_form(reader);
}

static int read_at(struct reader *reader, struct gtel_str args)
{
    uint64_t t_ns;
    if (gtel_str_duration(next_word(&args), &t_ns) < 0)
        return fail(reader, "not a time (as 1s, 500ms)");
    if (t_ns < reader->t_ns)
        return fail(reader, "times must grow");
    reader->t_ns = t_ns;
    return 0;
}

static int read_wall(struct reader *reader, struct gtel_str args)
{
    if (reader->tree->events > 0 || gtel_str_u64(next_word(&args), &reader->tree->wall_s) < 0 ||
        reader->tree->wall_s > 9000000000u)
        return fail(reader, "expected, before anything else: wall SECONDS");
    return 0;
}

/* pmu NAME CONFIG START PER_SECOND */
static int read_pmu(struct reader *reader, struct gtel_str args)
{
    char digits[20];
    uint64_t config;
    if (gtel_str_hex(next_word(&args), &config) < 0 || !take_growth(reader, args))
        return fail_form(reader);
    (void)snprintf(digits, sizeof(digits), "%" PRIx64, config);
    return join(reader, gtel_str_of(digits)) ? add_answer(reader, GTEL_STR_NONE)
                                             : fail_words(reader);
}

static int read_word(struct reader *reader, struct gtel_str args)
{
    return add_answer(reader, next_word(&args));
}

static int read_number(struct reader *reader, struct gtel_str args)
{
    uint64_t number;
    struct gtel_str answer = next_word(&args);
    return gtel_str_u64(answer, &number) == 0 && number <= UINT32_MAX ? add_answer(reader, answer)
                                                                      : fail_form(reader);
}

/* The name of an error, or the word that ends it. */
static int read_failure(struct reader *reader, struct gtel_str args)
{
    struct gtel_str answer = next_word(&args);
    bool is_known =
        gtel_tree_error_value(answer) != 0 || gtel_str_eq(answer, gtel_str_of(reader->row->good));
    return is_known ? add_answer(reader, answer) : fail_error(reader);
}

/* query NODE DRIVER ITEM */
static bool is_query(struct gtel_str key)
{
    uint64_t item;
    (void)next_word(&key);
    (void)next_word(&key);
    struct gtel_str word = next_word(&key);
    return (gtel_str_eq(word, GTEL_STR("i915")) || gtel_str_eq(word, GTEL_STR("xe"))) &&
           gtel_str_u64(gtel_str_trim(key), &item) == 0 && item <= UINT32_MAX;
}

/* The words become bytes here, so that answering cannot fail. */
static int read_query(struct reader *reader, struct gtel_str args)
{
    unsigned char bytes[GTEL_TREE_BYTES_MAX];
    struct gtel_str words;
    struct gtel_str answer;
    size_t n;
    (void)args;
    if (!is_query((struct gtel_str){reader->key, reader->key_n}))
        return fail_form(reader);
    int r = read_content(reader, &words);
    if (r < 0)
        return r;
    if (gtel_words_pack(words, -1, bytes, sizeof(bytes), &n) < 0)
        return fail(reader, words_form);
    r = gtel_arena_str(&reader->tree->arena, (struct gtel_str){(char *)bytes, n}, &answer);
    return r < 0 ? r : add_answer(reader, answer);
}

/* The message as the kernel sends it: each part ends in a NUL (kernel: lib/kobject_uevent.c). */
static void write_uevent(struct gtel_buf *buf, struct gtel_str action, struct gtel_str devpath,
                         struct gtel_str values)
{
    struct gtel_str word;
    gtel_buf_printf(buf, "%.*s@%.*s%cACTION=%.*s%cDEVPATH=%.*s%c", GTEL_STR_ARG(action),
                    GTEL_STR_ARG(devpath), '\0', GTEL_STR_ARG(action), '\0', GTEL_STR_ARG(devpath),
                    '\0');
    while (gtel_str_word(&values, &word))
        gtel_buf_printf(buf, "%.*s%c", GTEL_STR_ARG(word), '\0');
}

/* uevent ACTION /DEVPATH KEY=VALUE…, or uevent lost */
static int read_uevent(struct reader *reader, struct gtel_str args)
{
    struct gtel_str action = next_word(&args);
    struct gtel_str devpath = next_word(&args);
    if (devpath.n == 0 && gtel_str_eq(action, GTEL_STR("lost"))) {
        reader->event.error = ENOBUFS;
        return add_event(reader);
    }
    if (devpath.n == 0 || devpath.p[0] != '/')
        return fail_form(reader);
    struct gtel_buf buf;
    gtel_buf_init(&buf, UEVENT_MAX);
    write_uevent(&buf, action, devpath, args);
    int r = buf.has_failed
                ? fail(reader, "more than %d bytes of a message", UEVENT_MAX)
                : gtel_arena_str(&reader->tree->arena, gtel_buf_text(&buf), &reader->event.text);
    gtel_buf_done(&buf);
    return r < 0 ? r : add_event(reader);
}

#define WORD(name) GTEL_STR_INIT(name)
static const struct row rows[] = {
    {WORD("file"), read_file, "file PATH", .kind = GTEL_TREE_FILE},
    {WORD("binary"), read_file, "binary PATH", .kind = GTEL_TREE_BINARY},
    {WORD("link"), read_link, "link PATH -> TARGET", .kind = GTEL_TREE_LINK},
    {WORD("char"), read_char, "char PATH MAJOR:MINOR", .kind = GTEL_TREE_CHAR},
    {WORD("owner"), read_number, "owner PATH UID", .kind = GTEL_TREE_CALL},
    {WORD("grow"), read_growth, "grow PATH START PER_SECOND", .kind = GTEL_TREE_GROWING},
    {WORD("dir"), read_dir_or_gone, "dir PATH", .kind = GTEL_TREE_DIR},
    {WORD("gone"), read_dir_or_gone, "gone PATH", .kind = GTEL_TREE_GONE},
    {WORD("error"), read_error, "error PATH ERROR", .kind = GTEL_TREE_FILE},
    {WORD("refuse"), read_error, "refuse PATH ERROR", .kind = GTEL_TREE_REFUSED},
    {WORD("call"), read_call, .form = "call NAME WORD… = ANSWER"},
    {WORD("at"), read_at, .form = "at TIME"},
    {WORD("wall"), read_wall, .form = "wall SECONDS, before anything else"},
    {WORD("library"), read_word, "library NAME, or library NAME gone", .kind = GTEL_TREE_CALL,
     .names = 1},
    {WORD("pmu"), read_pmu, "pmu NAME CONFIG START PER_SECOND", .kind = GTEL_TREE_CALL, .names = 1},
    {WORD("query"), read_query, "query NODE i915|xe ITEM", .kind = GTEL_TREE_CALL, .names = 3},
    {WORD("ras"), read_number, "ras DEVICE NODE NAME VALUE", .kind = GTEL_TREE_CALL, .names = 3},
    {WORD("uevent"), read_uevent, "uevent ACTION /DEVPATH KEY=VALUE…, or uevent lost",
     .kind = GTEL_TREE_UEVENT},
    {WORD("end"), .form = "end"},
    {WORD("pmu_error"), read_failure, "pmu_error NAME ERROR", .kind = GTEL_TREE_CALL, .names = 1,
     .good = "none"},
    {WORD("query_error"), read_failure, "query_error NODE i915|xe ITEM ERROR",
     .kind = GTEL_TREE_CALL, .names = 3, .good = "none"},
    {WORD("ras_error"), read_failure, "ras_error ERROR", .kind = GTEL_TREE_CALL, .good = "none"},
    {WORD("uevents"), read_failure, "uevents on, or uevents ERROR", .kind = GTEL_TREE_CALL,
     .good = "on"},
};

static const struct row *find_row(struct gtel_str word)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(rows); i++)
        if (gtel_str_eq(word, rows[i].name))
            return &rows[i];
    return NULL;
}

bool gtel_tree_has_path(struct gtel_str word)
{
    const struct row *row = find_row(word);
    return row && gtel_str_starts(gtel_str_of(row->form + word.n), GTEL_STR(" PATH"));
}

static bool is_ended(const struct reader *reader)
{
    return reader->row && !reader->row->read;
}

static int read_line(struct reader *reader, struct gtel_str line)
{
    struct gtel_str word;
    if (gtel_str_starts(line, GTEL_STR("#")) || !gtel_str_word(&line, &word))
        return 0;
    if (is_ended(reader))
        return fail(reader, "text after end");
    const struct row *row = find_row(word);
    if (!row)
        return fail(reader, "unknown word");
    reader->row = row;
    reader->event = (struct gtel_tree_event){.kind = row->kind};
    reader->key_n = 1;
    int r = gtel_tree_has_path(word) ? read_path(reader, &line) : 0;
    if (r == 0 && row->kind == GTEL_TREE_CALL)
        r = read_key(reader, &line);
    return r < 0 || !row->read ? r : row->read(reader, line);
}

/* Nonsense in the last line of a file without `end`: most likely the rest is missing. */
static void add_hint(const struct reader *reader)
{
    size_t n = strlen(reader->error);
    if (!is_ended(reader) && reader->rest.n == 0 && n < reader->error_size)
        (void)snprintf(reader->error + n, reader->error_size - n,
                       "; there the file ends without 'end': it has been cut");
}

static int read_all(struct reader *reader)
{
    struct gtel_str line;
    while (gtel_str_line(&reader->rest, &line)) {
        reader->line++;
        int r = read_line(reader, line);
        if (r == -EINVAL)
            add_hint(reader);
        if (r < 0)
            return r;
    }
    if (!is_ended(reader))
        return fail(reader, "the last line is not 'end': the file has been cut");
    return 0;
}

/* Plays the machine to its end and goes back: what does not fit into memory shows now. */
static int play_once(struct reader *reader)
{
    struct gtel_tree *tree = reader->tree;
    if (!gtel_tree_add_node(tree, GTEL_STR(""))) /* the root, also of an empty machine */
        return -ENOMEM;
    tree->node[0].kind = GTEL_TREE_DIR;
    gtel_tree_seek(tree, gtel_tree_duration(tree));
    if (tree->error == -E2BIG) {
        reader->line = tree->event[tree->applied - 1].line;
        return fail(reader, "more than %d files, directories, links and answers",
                    GTEL_TREE_NODES_MAX);
    }
    gtel_tree_seek(tree, 0);
    return tree->error;
}

int gtel_tree_parse(struct gtel_str text, struct gtel_tree **ret, char *error, size_t size)
{
    (void)snprintf(error, size, "out of memory");
    struct gtel_tree *tree = calloc(1, sizeof(*tree));
    struct reader reader = {.tree = tree, .error = error, .error_size = size, .key = "\001"};
    int r = -ENOMEM;
    if (!tree)
        goto out;
    tree->wall_s = WALL_DEFAULT;
    r = gtel_arena_str(&tree->arena, text, &reader.rest);
    if (r < 0)
        goto out;
    r = read_all(&reader);
    if (r == 0)
        r = play_once(&reader);
    if (r < 0)
        goto out;
    *ret = tree;
    tree = NULL;
out:
    gtel_tree_free(tree);
    return r;
}
