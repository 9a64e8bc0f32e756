/* SPDX-License-Identifier: MIT */
/* Writes a recorded machine. */
#include "recording/record.h"

#include "base/grow.h"
#include "host/fs.h"
#include "recording/tree.h"
#include "recording/way.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NODES_MAX = 1 << 18,
    CHANGES_MAX = 1 << 20,
    TEXT_MAX = 48 << 20,
    ANSWER_MAX = 1 << 16,
    CONTENT_MAX = GTEL_TREE_CONTENT_MAX / 2 /* of a file: made-up names may be longer */
};

struct gtel_record_node {
    struct gtel_str path;
    struct gtel_str text; /* content, target, name of an error, or lines */
    uint32_t next;        /* index + 1 in the bucket */
    uint32_t pending;     /* index + 1 of its change in the present state, 0: none */
    enum gtel_record_kind kind;
};

struct gtel_record_change {
    uint32_t node;              /* UINT32_MAX: text is the line */
    enum gtel_record_kind kind; /* GTEL_RECORD_NOTHING: it is gone */
    struct gtel_str text;
};

void gtel_record_init(struct gtel_record *record, struct gtel_scrub *scrub)
{
    *record = (struct gtel_record){.scrub = scrub};
    gtel_buf_init(&record->text, TEXT_MAX);
}

void gtel_record_done(struct gtel_record *record)
{
    free(record->node);
    free(record->change);
    gtel_arena_done(&record->arena);
    gtel_buf_done(&record->text);
    *record = (struct gtel_record){0};
}

/* ---- nodes and changes ---- */

static struct gtel_record_node *find(const struct gtel_record *record, struct gtel_str path)
{
    uint64_t hash = gtel_hash(GTEL_HASH_SEED, path.p, path.n);
    for (uint32_t i = record->bucket[hash % GTEL_RECORD_BUCKETS]; i != 0;
         i = record->node[i - 1].next)
        if (gtel_str_eq(record->node[i - 1].path, path))
            return &record->node[i - 1];
    return NULL;
}

/* The node of that path, new if need be; NULL when memory is out. */
static struct gtel_record_node *node_of(struct gtel_record *record, struct gtel_str path)
{
    struct gtel_record_node *node = find(record, path);
    struct gtel_str copy;
    if (node)
        return node;
    if (!gtel_grow(&record->node, &record->nodes_size, record->nodes + 1, NODES_MAX,
                   sizeof(*node)) ||
        gtel_arena_str(&record->arena, path, &copy) < 0) {
        record->text.has_failed = true;
        return NULL;
    }
    uint32_t *bucket =
        &record->bucket[gtel_hash(GTEL_HASH_SEED, path.p, path.n) % GTEL_RECORD_BUCKETS];
    node = &record->node[record->nodes++];
    *node = (struct gtel_record_node){.path = copy, .next = *bucket};
    *bucket = (uint32_t)record->nodes;
    return node;
}

static struct gtel_record_change *add_change(struct gtel_record *record, uint32_t node)
{
    if (!gtel_grow(&record->change, &record->changes_size, record->changes + 1, CHANGES_MAX,
                   sizeof(*record->change))) {
        record->text.has_failed = true;
        return NULL;
    }
    struct gtel_record_change *change = &record->change[record->changes++];
    *change = (struct gtel_record_change){.node = node};
    return change;
}

/* Directories above a path exist by themselves (recording/tree.h). */
static void save_parents(struct gtel_record *record, struct gtel_str path)
{
    for (path = gtel_way_parent(path); path.n > 0; path = gtel_way_parent(path)) {
        struct gtel_record_node *node = node_of(record, path);
        if (!node || node->kind == GTEL_RECORD_DIR)
            return;
        node->kind = GTEL_RECORD_DIR;
        node->text = GTEL_STR_NONE;
        node->pending = 0;
    }
}

void gtel_record_set(struct gtel_record *record, struct gtel_str path, enum gtel_record_kind kind,
                     struct gtel_str text)
{
    struct gtel_record_node *node =
        path.n > 0 ? node_of(record, path) : NULL; /* the root is there */
    struct gtel_str copy;
    if (!node || (node->kind == kind && gtel_str_eq(node->text, text)))
        return;
    if (gtel_arena_str(&record->arena, text, &copy) < 0) {
        record->text.has_failed = true;
        return;
    }
    struct gtel_record_change *change = node->pending > 0
                                            ? &record->change[node->pending - 1]
                                            : add_change(record, (uint32_t)(node - record->node));
    if (!change)
        return;
    node->pending = (uint32_t)(change - record->change) + 1;
    node->kind = kind;
    node->text = copy;
    change->kind = kind;
    change->text = copy;
    if (kind != GTEL_RECORD_ANSWER)
        save_parents(record, path);
}

void gtel_record_event(struct gtel_record *record, struct gtel_str line)
{
    struct gtel_record_change *change = add_change(record, UINT32_MAX);
    if (change && gtel_arena_str(&record->arena, line, &change->text) < 0)
        record->text.has_failed = true;
}

/* No path begins with a control character. */
#define ANSWER_KEY(words) gtel_str_of(GTEL_FS_AT("\1%s", words))

void gtel_record_answer(struct gtel_record *record, const char *words, struct gtel_str answer)
{
    struct gtel_buf line;
    if (words[0] == '\0')
        return; /* more than a line of the format can have */
    gtel_buf_init(&line, ANSWER_MAX);
    gtel_buf_printf(&line, "%s%s%.*s", words, gtel_str_starts(answer, GTEL_STR("\n")) ? "" : " ",
                    GTEL_STR_ARG(answer));
    record->text.has_failed = record->text.has_failed || line.has_failed;
    gtel_record_set(record, ANSWER_KEY(words), GTEL_RECORD_ANSWER, gtel_buf_text(&line));
    gtel_buf_done(&line);
}

bool gtel_record_is_answered(const struct gtel_record *record, const char *words)
{
    return gtel_record_find(record, ANSWER_KEY(words)) == GTEL_RECORD_ANSWER;
}

static size_t count_zeros(const unsigned char *bytes, size_t n)
{
    size_t zeros = 0;
    while (zeros < n && bytes[zeros] == 0)
        zeros++;
    return zeros;
}

void gtel_record_words(struct gtel_buf *out, const unsigned char *bytes, size_t n,
                       size_t line_words)
{
    for (size_t i = 0, words = 0; i < n; words++) {
        uint64_t value = 0;
        size_t width = n - i < 8 ? n - i : 8;
        size_t zeros = count_zeros(bytes + i, n - i);
        if (zeros >= 2 * sizeof(value))
            width = zeros - zeros % sizeof(value);
        for (size_t k = 0; k < width && k < sizeof(value); k++)
            value |= (uint64_t)bytes[i + k] << 8 * k;
        gtel_buf_printf(out, "%s%zu:0x%" PRIx64,
                        line_words > 0 && words % line_words == 0 ? "\n| " : " ", width, value);
        i += width;
    }
}

enum gtel_record_kind gtel_record_find(const struct gtel_record *record, struct gtel_str path)
{
    const struct gtel_record_node *node = find(record, path);
    return node ? node->kind : GTEL_RECORD_NOTHING;
}

static bool is_below(struct gtel_str path, struct gtel_str dir)
{
    return gtel_str_starts(path, dir) && path.n > dir.n && path.p[dir.n] == '/';
}

bool gtel_record_has_below(const struct gtel_record *record, struct gtel_str dir)
{
    for (size_t i = 0; i < record->nodes; i++)
        if (record->node[i].kind != GTEL_RECORD_NOTHING && is_below(record->node[i].path, dir))
            return true;
    return false;
}

void gtel_record_gone(struct gtel_record *record, struct gtel_str path)
{
    struct gtel_record_node *node = find(record, path);
    if (!node || node->kind == GTEL_RECORD_NOTHING)
        return;
    (void)add_change(record, (uint32_t)(node - record->node)); /* no room: text has failed */
    for (size_t i = 0; i < record->nodes; i++) {
        struct gtel_record_node *other = &record->node[i];
        if (other != node && !is_below(other->path, path))
            continue;
        other->kind = GTEL_RECORD_NOTHING;
        other->text = GTEL_STR_NONE;
        other->pending = 0;
    }
}

static int compare_names(const void *a, const void *b)
{
    return gtel_str_cmp(*(const struct gtel_str *)a, *(const struct gtel_str *)b);
}

void gtel_record_keep(struct gtel_record *record, struct gtel_str dir, struct gtel_str *names,
                      size_t n, bool is_numbers)
{
    uint64_t number;
    if (n > 0)
        qsort(names, n, sizeof(*names), compare_names);
    for (size_t i = 0; i < record->nodes; i++) {
        struct gtel_str path = record->node[i].path;
        enum gtel_record_kind kind = record->node[i].kind;
        if (kind == GTEL_RECORD_NOTHING || kind == GTEL_RECORD_ANSWER || !is_below(path, dir))
            continue;
        struct gtel_str name = gtel_str_skip(path, dir.n + 1);
        if (gtel_str_find(name, '/') == name.n &&
            (n == 0 || !bsearch(&name, names, n, sizeof(name), compare_names)) &&
            (!is_numbers || gtel_str_u64(name, &number) == 0))
            gtel_record_gone(record, path);
    }
}

/* ---- text ---- */

/* `| ` before each line; what is no text is replaced, so that a line stays a line. */
static void write_content(struct gtel_buf *out, struct gtel_str text)
{
    struct gtel_str line;
    while (gtel_str_line(&text, &line)) {
        gtel_buf_str(out, GTEL_STR("| "));
        for (size_t i = 0; i < line.n; i++) {
            unsigned char c = (unsigned char)line.p[i];
            gtel_buf_char(out, c < ' ' && c != '\t' ? '?' : (char)c);
        }
        gtel_buf_char(out, '\n');
    }
}

/* A NUL inside, which no text of sysfs has; some end in NULs. */
static bool is_binary(struct gtel_str path, struct gtel_str text)
{
    size_t n = text.n;
    while (n > 0 && text.p[n - 1] == '\0')
        n--;
    return n > 0 && memchr(text.p, '\0', n) && gtel_str_starts(path, GTEL_STR("sys/"));
}

static void write_binary(struct gtel_buf *out, struct gtel_str path, struct gtel_str text)
{
    gtel_buf_printf(out, "binary %.*s", GTEL_STR_ARG(path));
    for (size_t i = 0; i < text.n; i++)
        gtel_buf_printf(out, "%s1:%u", i % 16 ? " " : "\n| ", (unsigned char)text.p[i]);
    gtel_buf_char(out, '\n');
}

static void write_file(struct gtel_record *record, struct gtel_str path, struct gtel_str text)
{
    struct gtel_buf reduced;
    if (is_binary(path, text)) {
        write_binary(&record->text, path, text);
        return;
    }
    gtel_buf_init(&reduced, TEXT_MAX);
    gtel_scrub_reduce(path, text, &reduced);
    if (gtel_str_eq(path, GTEL_STR("etc/passwd")))
        gtel_scrub_users(record->scrub, text);
    if (reduced.n <= CONTENT_MAX) {
        gtel_buf_printf(&record->text, "file %.*s\n", GTEL_STR_ARG(path));
        write_content(&record->text, gtel_buf_text(&reduced));
    } else {
        gtel_buf_printf(&record->text, "error %.*s E2BIG\n", GTEL_STR_ARG(path));
    }
    record->text.has_failed = record->text.has_failed || reduced.has_failed;
    gtel_buf_done(&reduced);
}

static void write_change(struct gtel_record *record, const struct gtel_record_change *change)
{
    static const struct {
        const char *word;
        const char *between; /* the path and the text */
    } forms[] = {[GTEL_RECORD_NOTHING] = {"gone", ""},    [GTEL_RECORD_DIR] = {"dir", ""},
                 [GTEL_RECORD_LINK] = {"link", " -> "},   [GTEL_RECORD_CHAR] = {"char", " "},
                 [GTEL_RECORD_REFUSED] = {"refuse", " "}, [GTEL_RECORD_BROKEN] = {"error", " "}};
    struct gtel_buf *out = &record->text;
    bool is_line = change->node == UINT32_MAX || change->kind == GTEL_RECORD_ANSWER;
    struct gtel_str path = is_line ? GTEL_STR_NONE : record->node[change->node].path;
    if (is_line)
        gtel_buf_printf(out, "%.*s\n", GTEL_STR_ARG(change->text));
    else if (change->kind == GTEL_RECORD_FILE)
        write_file(record, path, change->text);
    else
        gtel_buf_printf(out, "%s %.*s%s%.*s\n", forms[change->kind].word, GTEL_STR_ARG(path),
                        forms[change->kind].between, GTEL_STR_ARG(change->text));
}

static void write_time(struct gtel_buf *out, uint64_t t_ns)
{
    const uint64_t second_ns = 1000000000;
    const uint64_t millisecond_ns = 1000000;
    if (t_ns % second_ns == 0)
        gtel_buf_printf(out, "at %" PRIu64 "s\n", t_ns / second_ns);
    else if (t_ns % millisecond_ns == 0)
        gtel_buf_printf(out, "at %" PRIu64 "ms\n", t_ns / millisecond_ns);
    else
        gtel_buf_printf(out, "at %" PRIu64 "ns\n", t_ns);
}

static void finish_state(struct gtel_record *record)
{
    if (record->changes > 0 && record->t_ns > record->written_ns) {
        write_time(&record->text, record->t_ns);
        record->written_ns = record->t_ns;
    }
    for (size_t i = 0; i < record->changes; i++)
        write_change(record, &record->change[i]);
    record->changes = 0;
    for (size_t i = 0; i < record->nodes; i++)
        record->node[i].pending = 0;
}

void gtel_record_at(struct gtel_record *record, uint64_t t_ns)
{
    if (t_ns <= record->t_ns)
        return;
    finish_state(record);
    record->t_ns = t_ns;
}

int gtel_record_write(struct gtel_record *record, gtel_record_head_fn head, void *arg,
                      struct gtel_buf *out)
{
    struct gtel_buf *text = &record->text;
    struct gtel_buf clean;
    finish_state(record);
    if (record->t_ns > record->written_ns) /* how long it was observed */
        write_time(text, record->t_ns);
    gtel_buf_str(text, GTEL_STR("end\n"));
    gtel_buf_init(&clean, out->limit);
    gtel_scrub_record(record->scrub, gtel_buf_text(text), &clean);
    if (head) {
        struct gtel_buf first;
        gtel_buf_init(&first, TEXT_MAX);
        head(arg, &first);
        gtel_scrub_record(record->scrub, gtel_buf_text(&first), out);
        text->has_failed = text->has_failed || first.has_failed;
        gtel_buf_done(&first);
    }
    gtel_buf_str(out, gtel_buf_text(&clean));
    bool has_failed = text->has_failed || clean.has_failed || out->has_failed;
    gtel_buf_done(&clean);
    return has_failed || record->scrub->has_failed ? -ENOMEM : 0;
}
