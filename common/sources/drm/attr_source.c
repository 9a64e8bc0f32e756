/* SPDX-License-Identifier: MIT */
/* A source that reads its cards by attributes alone. */
#include "sources/drm/attr_source.h"

#include <errno.h>
#include <string.h>

const char *const gtel_attr_origins[] = {"sysfs", "hwmon", NULL};

void gtel_attr_source_close_card(const struct gtel_env *env, void *own)
{
    gtel_attrs_close(env, &((struct gtel_attr_card *)own)->attrs);
}

int gtel_attr_source_update(struct gtel_card_source *source, struct gtel_attr_card *own)
{
    uint64_t now_ns = gtel_env_now(own->card->cards->env);
    struct gtel_attr_list list = {.card = own->card, .arena = &source->arena, .own = own};
    int r = gtel_attr_list_init(&list);
    if (r < 0)
        return r;
    source->work.add(&list);
    r = gtel_attrs_update(&own->attrs, &list);
    if (own->attrs.hash != 0)
        own->retry = (struct gtel_backoff){0};
    else
        gtel_backoff_fail(&own->retry, now_ns, GTEL_BACKOFF_FIRST_NS, GTEL_BACKOFF_LAST_NS);
    return r;
}

int gtel_attr_source_open(struct gtel_card_source *source, struct gtel_attr_card *own,
                          uint64_t now_ns)
{
    /* It slept when it was found, or not all could be opened. */
    bool is_due = own->attrs.hash == 0 && !gtel_backoff_is_waiting(&own->retry, now_ns);
    return is_due ? gtel_attr_source_update(source, own) : 0;
}

/* Whether reading its files wakes nothing. */
static bool is_free(const struct gtel_card_source *source, const struct gtel_card *card)
{
    return source->work.asleep && strcmp(source->work.asleep, card->drm.driver) == 0;
}

int gtel_attr_source_discover(void *state, void *own)
{
    struct gtel_attr_card *card = own;
    bool may_read = gtel_card_may_read(card->card) || is_free(state, card->card);
    return may_read ? gtel_attr_source_update(state, card) : 0;
}

static int sample(void *state, void *own, struct gtel_batch *batch)
{
    struct gtel_attr_card *card = own;
    struct gtel_attr_sample sample = {.card = card->card, .attrs = &card->attrs, .batch = batch};
    enum gtel_card_power power;
    batch->origin = GTEL_ATTR_SYSFS;
    int r = gtel_card_begin(card->card, batch, &power);
    if (r < 0 || (power != GTEL_CARD_AWAKE && !is_free(state, card->card)))
        return r;
    if (gtel_card_is_removed(card->card))
        return -ENODEV; /* the files of the device stay */
    r = gtel_attr_source_open(state, card, batch->t_ns);
    return r < 0 ? r : gtel_attrs_read(&sample);
}

void gtel_attr_source_diagnose(const void *state, const void *own, struct gtel_findings *findings)
{
    static const char *const asleep[3] = {
        "power/runtime_status", "suspended: nothing is read, so that the GPU stays asleep", NULL};
    const struct gtel_card_source *source = state;
    const struct gtel_attr_card *card = own;
    struct gtel_arena arena = {0};
    struct gtel_attr_list list = {.card = card->card, .arena = &arena};
    if (card->card->device->is_asleep && !card->card->cards->may_wake &&
        !is_free(source, card->card)) {
        gtel_finding_put(findings, card->card->device, GTEL_MEASUREMENT_GPU, 0, asleep);
        return;
    }
    bool has_list =
        card->attrs.hash == 0 && gtel_card_may_read(card->card) && gtel_attr_list_init(&list) == 0;
    if (has_list)
        source->work.add(&list);
    gtel_attrs_diagnose(card->card->cards->env, &card->attrs, has_list ? &list : NULL, findings);
    gtel_arena_done(&arena);
}

void gtel_attr_source_complete(struct gtel_card_work *work)
{
    work->own_size = work->own_size ? work->own_size : sizeof(struct gtel_attr_card);
    work->close = work->close ? work->close : gtel_attr_source_close_card;
    work->discover = work->discover ? work->discover : gtel_attr_source_discover;
    work->sample = work->sample ? work->sample : sample;
    work->diagnose = work->diagnose ? work->diagnose : gtel_attr_source_diagnose;
}
