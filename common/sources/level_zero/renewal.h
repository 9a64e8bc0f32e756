/* SPDX-License-Identifier: MIT */
/*
 * When a library that finds its devices once in the life of a process is to be started anew.
 *
 * Level Zero lists devices once per process, keeps the handles of those that have gone, and never
 * starts after a start that failed (level zero: zesInit, zeInit; intel/compute-runtime issue 1005).
 * Where that is in the way another process may do better: the source's helper is exchanged.
 */
#ifndef GTEL_SOURCES_LEVEL_ZERO_RENEWAL_H
#define GTEL_SOURCES_LEVEL_ZERO_RENEWAL_H

#include "sources/drm/cards.h"

struct gtel_renewal {
    const char *source; /* for messages */
    bool was_tried;     /* the library was started, or was to be: the source sets these two */
    uint64_t tried_ns;
    size_t most;         /* cards that were there at once */
    uint64_t missing_ns; /* since when there are fewer; 0: there are not */
};

/* Asks for another process, once, where that can be had. why: NULL says nothing. */
void gtel_renewal_ask(const struct gtel_renewal *renewal, const struct gtel_env *env,
                      struct gtel_registry *registry, const char *why);
/*
 * After gtel_cards_discover: looks for cards that the library cannot know of. is_in_vain: its start
 * has brought nothing; it may by now, and is tried again after ten minutes.
 */
void gtel_renewal_discovered(struct gtel_renewal *renewal, const struct gtel_card_list *cards,
                             struct gtel_registry *registry, bool is_in_vain);
/*
 * In each gather: whether the kernel's cards are those that they were. True when a discovery is
 * due: one has gone, and may come again at any time.
 */
bool gtel_renewal_look(const struct gtel_renewal *renewal, const struct gtel_card_list *cards,
                       struct gtel_registry *registry);

#endif
