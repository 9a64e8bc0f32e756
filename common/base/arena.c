/* SPDX-License-Identifier: MIT */
/* Memory that is freed as a whole. */
#include "base/arena.h"

#include <errno.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_SIZE = 16384 };

struct gtel_arena_chunk {
    struct gtel_arena_chunk *next;
    size_t size;
    size_t used;
    alignas(max_align_t) unsigned char bytes[];
};

static struct gtel_arena_chunk *chunk_with_room(struct gtel_arena *arena, size_t n)
{
    struct gtel_arena_chunk *last = NULL;
    for (struct gtel_arena_chunk *c = arena->at; c; c = c->next) {
        if (c->size - c->used >= n)
            return c;
        last = c;
    }
    size_t size = n > CHUNK_SIZE ? n : CHUNK_SIZE;
    struct gtel_arena_chunk *chunk = malloc(sizeof(*chunk) + size);
    if (!chunk)
        return NULL;
    chunk->next = NULL;
    chunk->size = size;
    chunk->used = 0;
    if (last)
        last->next = chunk;
    else
        arena->first = chunk;
    return chunk;
}

void *gtel_arena_alloc(struct gtel_arena *arena, size_t n)
{
    const size_t mask = alignof(max_align_t) - 1;
    if (n > SIZE_MAX / 2)
        return NULL;
    n = (n + mask) & ~mask;
    struct gtel_arena_chunk *chunk = chunk_with_room(arena, n);
    if (!chunk)
        return NULL;
    arena->at = chunk;
    void *p = chunk->bytes + chunk->used;
    chunk->used += n;
    memset(p, 0, n);
    return p;
}

int gtel_arena_str(struct gtel_arena *arena, struct gtel_str s, struct gtel_str *ret)
{
    char *p = gtel_arena_alloc(arena, s.n + 1);
    if (!p)
        return -ENOMEM;
    if (s.n > 0)
        memcpy(p, s.p, s.n);
    *ret = (struct gtel_str){p, s.n};
    return 0;
}

void gtel_arena_reset(struct gtel_arena *arena)
{
    for (struct gtel_arena_chunk *c = arena->first; c; c = c->next)
        c->used = 0;
    arena->at = arena->first;
}

void gtel_arena_done(struct gtel_arena *arena)
{
    struct gtel_arena_chunk *c = arena->first;
    while (c) {
        struct gtel_arena_chunk *next = c->next;
        free(c);
        c = next;
    }
    *arena = (struct gtel_arena){0};
}
