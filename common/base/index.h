/* SPDX-License-Identifier: MIT */
/*
 * Numbers by hash: finds the places of a table's entries.
 *
 * The index holds (hash, number) pairs and knows nothing of the entries: whoever asks compares the
 * entry of each number that comes back. Nothing is taken out by itself: when entries have moved or
 * gone, the index is reset and filled again. It allocates only to grow.
 */
#ifndef GTEL_BASE_INDEX_H
#define GTEL_BASE_INDEX_H

#include "base/str.h"

enum { GTEL_INDEX_NONE = -1 };

struct gtel_index_slot {
    uint32_t hash;
    uint32_t number_plus_1; /* 0: free */
};

/* A zeroed struct is an empty index. */
struct gtel_index {
    struct gtel_index_slot *slot;
    size_t size; /* a power of two, or 0 */
    size_t n;
};

void gtel_index_done(struct gtel_index *index);
/* Forgets everything, keeps the memory. */
void gtel_index_reset(struct gtel_index *index);
/* Room for n pairs; what is in stays in. 0 or -ENOMEM. */
int gtel_index_reserve(struct gtel_index *index, size_t n);
/* Adds a pair (number below 2^31), for which there must be room. hash: as of gtel_hash. */
void gtel_index_put(struct gtel_index *index, uint64_t hash, size_t number);
/*
 * The next number of that hash, GTEL_INDEX_NONE after the last. *at is 0 before the first call and
 * says from then on where the search goes on.
 */
int64_t gtel_index_next(const struct gtel_index *index, uint64_t hash, size_t *at);

#endif
