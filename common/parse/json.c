/* SPDX-License-Identifier: MIT */
/* Texts and numbers in a JSON text. */
#include "parse/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <yajl/yajl_parse.h>

enum { ALIGN = 16, FIXED = 16384 };

struct level {
    char key[GTEL_JSON_KEY_MAX];
    size_t n; /* elements so far */
    bool is_array;
};

struct reader {
    const struct gtel_json_visitor *visitor;
    struct gtel_json_path path;
    struct level level[GTEL_JSON_DEPTH];
    size_t depth; /* of open objects and arrays */
    char *memory;
    size_t size;
    size_t used;
};

/* ---- memory of yajl: what it gives back is not used again ---- */

static void *take(void *arg, size_t n)
{
    struct reader *reader = arg;
    size_t *head = (size_t *)(void *)(reader->memory + reader->used);
    size_t used = ALIGN + (n + ALIGN - 1) / ALIGN * ALIGN;
    if (used > reader->size - reader->used)
        return NULL; /* cannot be: see gtel_json_memory */
    *head = n;
    reader->used += used;
    return (char *)head + ALIGN;
}

static void *take_more(void *arg, void *old, size_t n)
{
    void *p = take(arg, n);
    if (p && old) {
        size_t kept = *(size_t *)(void *)((char *)old - ALIGN);
        memcpy(p, old, kept < n ? kept : n);
    }
    return p;
}

static void give_back(void *arg, void *p)
{
    (void)arg;
    (void)p;
}

/*
 * yajl keeps its state, a text or name with escapes, and one that the end has cut, these in buffers
 * that double from 2 KiB on until all of it fits (yajl: yajl_buf.c, yajl_lex.c): less than four
 * times the text in sum. Its first stack of 128 levels suffices for ours (yajl_bytestack.h).
 */
size_t gtel_json_memory(size_t n)
{
    return FIXED + 4 * n;
}

/* ---- what yajl finds ---- */

/* A value begins: its place in the path. */
static void enter(struct reader *reader)
{
    if (reader->depth == 0)
        return;
    struct level *level = &reader->level[reader->depth - 1];
    if (level->is_array)
        (void)snprintf(level->key, sizeof(level->key), "%zu", level->n++);
    reader->path.n = reader->depth;
    reader->path.key[reader->depth - 1] = gtel_str_of(level->key);
}

static int on_nothing(void *arg)
{
    enter(arg);
    return 1;
}

static int on_boolean(void *arg, int value)
{
    (void)value;
    return on_nothing(arg);
}

static int on_text(void *arg, const unsigned char *p, size_t n)
{
    struct reader *reader = arg;
    enter(reader);
    reader->visitor->value(reader->visitor->arg, &reader->path,
                           (struct gtel_str){(const char *)p, n});
    return 1;
}

static int on_number(void *arg, const char *p, size_t n)
{
    return on_text(arg, (const unsigned char *)p, n);
}

static int on_begin(struct reader *reader, bool is_array)
{
    enter(reader);
    if (reader->depth == GTEL_JSON_DEPTH)
        return 0;
    reader->level[reader->depth++] = (struct level){.is_array = is_array};
    return 1;
}

static int on_object(void *arg)
{
    return on_begin(arg, false);
}

static int on_array(void *arg)
{
    return on_begin(arg, true);
}

static int on_key(void *arg, const unsigned char *p, size_t n)
{
    struct reader *reader = arg;
    struct level *level = &reader->level[reader->depth - 1];
    if (!gtel_str_copy(level->key, sizeof(level->key), (struct gtel_str){(const char *)p, n}))
        level->key[0] = '\0';
    return 1;
}

static int on_end(void *arg)
{
    struct reader *reader = arg;
    reader->path.n = --reader->depth;
    reader->visitor->end(reader->visitor->arg, &reader->path);
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_nothing,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_text,
    .yajl_start_map = on_object,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end,
    .yajl_start_array = on_array,
    .yajl_end_array = on_end,
};

int gtel_json_read(struct gtel_str text, void *memory, const struct gtel_json_visitor *visitor)
{
    struct reader reader = {.visitor = visitor, .memory = memory, .size = gtel_json_memory(text.n)};
    yajl_alloc_funcs functions = {take, take_more, give_back, &reader};
    yajl_handle handle = yajl_alloc(&callbacks, &functions, &reader);
    (void)yajl_config(handle, yajl_dont_validate_strings,
                      1); /* names of products may be anything */
    (void)yajl_config(handle, yajl_allow_trailing_garbage, 1);
    yajl_status status = yajl_parse(handle, (const unsigned char *)text.p, text.n);
    if (status == yajl_status_ok)
        status = yajl_complete_parse(handle);
    if (status == yajl_status_ok)
        return 0;
    return status == yajl_status_client_canceled ? -E2BIG : -EBADMSG; /* by on_begin */
}

struct gtel_str gtel_json_find(struct gtel_str text)
{
    while (text.n > 0 && text.p[0] != '{' && text.p[0] != '[')
        text = gtel_str_skip(text, gtel_str_find(text, '\n') + 1);
    return text;
}
