/* SPDX-License-Identifier: MIT */
/* Numbers by hash: open addressing, at most half full. */
#include "base/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_MIN = 64 };

void gtel_index_done(struct gtel_index *index)
{
    free(index->slot);
    *index = (struct gtel_index){0};
}

void gtel_index_reset(struct gtel_index *index)
{
    if (index->n > 0)
        memset(index->slot, 0, index->size * sizeof(*index->slot));
    index->n = 0;
}

static void insert(struct gtel_index *index, struct gtel_index_slot pair)
{
    size_t at = pair.hash & (index->size - 1);
    while (index->slot[at].number_plus_1 != 0)
        at = (at + 1) & (index->size - 1);
    index->slot[at] = pair;
    index->n++;
}

int gtel_index_reserve(struct gtel_index *index, size_t n)
{
    if (n * 2 <= index->size)
        return 0;
    struct gtel_index wider = {.size = index->size ? index->size : SLOTS_MIN};
    while (wider.size < n * 2)
        wider.size *= 2;
    wider.slot = calloc(wider.size, sizeof(*wider.slot));
    if (!wider.slot)
        return -ENOMEM;
    for (size_t i = 0; i < index->size; i++)
        if (index->slot[i].number_plus_1 != 0)
            insert(&wider, index->slot[i]);
    free(index->slot);
    *index = wider;
    return 0;
}

void gtel_index_put(struct gtel_index *index, uint64_t hash, size_t number)
{
    insert(index, (struct gtel_index_slot){(uint32_t)hash, (uint32_t)number + 1});
}

int64_t gtel_index_next(const struct gtel_index *index, uint64_t hash, size_t *at)
{
    uint32_t want = (uint32_t)hash;
    while (index->size > 0 && *at < index->size) {
        struct gtel_index_slot pair = index->slot[(want + *at) & (index->size - 1)];
        if (pair.number_plus_1 == 0)
            break;
        ++*at;
        if (pair.hash == want)
            return (int64_t)pair.number_plus_1 - 1;
    }
    return GTEL_INDEX_NONE;
}
