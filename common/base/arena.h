/* SPDX-License-Identifier: MIT */
/*
 * Memory that is freed as a whole.
 *
 * What lives for one cycle, or as long as its owner, comes from an arena and is never freed by
 * itself. After a reset the memory is kept, so that a steady user allocates nothing more.
 */
#ifndef GTEL_BASE_ARENA_H
#define GTEL_BASE_ARENA_H

#include "base/str.h"

struct gtel_arena_chunk;

/* A zeroed struct is an empty arena. */
struct gtel_arena {
    struct gtel_arena_chunk *first;
    struct gtel_arena_chunk *at; /* the chunk in use */
};

/* n bytes, zeroed and aligned for any type, or NULL when memory is out. Valid until reset or done.
 */
void *gtel_arena_alloc(struct gtel_arena *arena, size_t n);
/* A copy of s, followed by a NUL that is not counted. On -ENOMEM *ret is untouched. */
int gtel_arena_str(struct gtel_arena *arena, struct gtel_str s, struct gtel_str *ret);
/* Forgets the content, keeps the memory. */
void gtel_arena_reset(struct gtel_arena *arena);
/* Frees everything; the arena may be used again. */
void gtel_arena_done(struct gtel_arena *arena);

#endif
