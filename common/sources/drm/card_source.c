/* SPDX-License-Identifier: MIT */
/* A source that does the same for each card of its drivers. */
#include "sources/drm/card_source.h"

#include "base/error.h"
#include "host/env.h"
#include "sources/drm/attr_source.h"

void gtel_card_source_init(struct gtel_card_source *source, const struct gtel_env *env,
                           const struct gtel_options *options, const struct gtel_source *row)
{
    source->env = env;
    source->options = options;
    source->work = *row->work;
    if (source->work.add)
        gtel_attr_source_complete(&source->work);
    source->cards = (struct gtel_card_list){.env = env,
                                            .drivers = row->drivers,
                                            .is_wanted = source->work.is_wanted,
                                            .own_size = source->work.own_size,
                                            .close = source->work.close};
}

int gtel_card_source_discover(void *state, struct gtel_registry *registry)
{
    struct gtel_card_source *source = state;
    int first = gtel_card_list_discover(&source->cards, registry);
    source->discoveries++;
    for (size_t i = 0; source->work.discover && i < source->cards.n; i++) {
        int r = source->work.discover(state, source->cards.slot[i].own);
        first = first < 0 ? first : r;
    }
    return first;
}

/* After a sample or tick. -ENODEV when that is new. */
static int end(const struct gtel_card_source *source, struct gtel_card_slot *slot, int r)
{
    bool was_lost = slot->is_lost;
    slot->is_lost = r == -ENODEV;
    if (!slot->is_lost)
        return 0;
    gtel_card_list_reopen(&source->cards, slot->own);
    gtel_card_check_return(*(struct gtel_card **)slot->own);
    return was_lost ? 0 : -ENODEV;
}

int gtel_card_source_sample(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    const struct gtel_card_source *source = state;
    int first = 0;
    (void)registry;
    for (size_t i = 0; i < source->cards.n; i++) {
        struct gtel_card_slot *slot = &source->cards.slot[i];
        const struct gtel_card *card = gtel_card_at(&source->cards, i);
        int r = card->device->is_present ? source->work.sample(state, slot->own, batch) : 0;
        if (r < 0 && r != -ENODEV)
            gtel_batch_failed(batch, card->device);
        if (r != -ENODEV && r != slot->error && source->work.failure)
            gtel_failure_log(&source->env->log, &slot->error, r, "", source->work.failure,
                             card->drm.key);
        r = end(source, slot, r);
        first = first < 0 ? first : r;
    }
    return first;
}

uint64_t gtel_card_source_due(const void *state)
{
    const struct gtel_card_source *source = state;
    uint64_t first = 0;
    for (size_t i = 0; i < source->cards.n; i++) {
        uint64_t due_ns = source->work.due_ns(source->cards.slot[i].own);
        first = due_ns > 0 && (first == 0 || due_ns < first) ? due_ns : first;
    }
    return first;
}

int gtel_card_source_tick(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    const struct gtel_card_source *source = state;
    int first = 0;
    (void)registry;
    for (size_t i = 0; i < source->cards.n; i++) {
        struct gtel_card_slot *slot = &source->cards.slot[i];
        uint64_t due_ns = source->work.due_ns(slot->own);
        if (due_ns == 0 || gtel_env_now(source->env) < due_ns)
            continue;
        int r = end(source, slot, source->work.tick(state, slot->own, batch));
        first = first < 0 ? first : r;
    }
    return first;
}

void gtel_card_source_diagnose(void *state, struct gtel_registry *registry,
                               struct gtel_findings *findings)
{
    const struct gtel_card_source *source = state;
    (void)registry;
    for (size_t i = 0; i < source->cards.n; i++)
        source->work.diagnose(state, source->cards.slot[i].own, findings);
}

void gtel_card_source_close(void *state)
{
    struct gtel_card_source *source = state;
    gtel_card_list_done(&source->cards);
    gtel_arena_done(&source->arena);
}
