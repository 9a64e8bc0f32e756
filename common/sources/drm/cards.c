/* SPDX-License-Identifier: MIT */
/* The DRM cards that a source is about. */
#include "sources/drm/cards.h"

#include "host/kernel.h"
#include "sources/drm/sriov.h"
#include "tables/intel_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool gtel_cards_has_bad_energy(const struct gtel_env *env, const struct gtel_drm_card *drm)
{
    struct gtel_release release;
    return strcmp(drm->driver, "xe") == 0 &&
           gtel_intel_family(drm->device_id) == GTEL_INTEL_BATTLEMAGE &&
           !(gtel_kernel_release(env, &release) && gtel_release_is_at_least(&release, 6, 17));
}

bool gtel_cards_any(const struct gtel_env *env, const char *const *drivers)
{
    for (size_t i = 0; drivers[i]; i++)
        if (gtel_drm_has(env, gtel_str_of(drivers[i])))
            return true;
    return false;
}

void gtel_cards_identify(const struct gtel_env *env, struct gtel_registry *registry,
                         struct gtel_device *device, const struct gtel_drm_card *drm)
{
    char path[GTEL_FS_PATH_MAX];
    char pf[GTEL_PCI_TEXT_MAX];
    char text[16];
    uint32_t number;
    if (device->label[GTEL_LABEL_GPU][0] != '\0')
        return;
    gtel_fs_path(path, "sys/class/drm/%s/device", drm->card);
    int r = drm->is_pci ? gtel_sriov_look(env, path, gtel_str_of(drm->key), pf, &number) : -ENOENT;
    if (r == 0) {
        (void)snprintf(text, sizeof(text), "vf%u", (unsigned)number);
        gtel_device_label(registry, device, GTEL_LABEL_INSTANCE, gtel_str_of(text));
        gtel_device_label(registry, device, GTEL_LABEL_GPU, gtel_str_of(pf));
    } else if (r == -ENOENT) {
        gtel_device_label(registry, device, GTEL_LABEL_GPU, gtel_str_of(drm->key));
    }
}

static void close_card(const struct gtel_cards *cards, struct gtel_card *card)
{
    if (cards->close)
        cards->close(cards->env, card);
    gtel_awake_close(cards->env, &card->awake);
    card->is_new = true;
}

static struct gtel_card *find_or_add(struct gtel_cards *cards, const char *key)
{
    for (size_t i = 0; i < cards->n; i++)
        if (strcmp(cards->card[i]->drm.key, key) == 0)
            return cards->card[i];
    struct gtel_card **list = realloc(cards->card, (cards->n + 1) * sizeof(struct gtel_card *));
    if (!list)
        return NULL;
    cards->card = list;
    struct gtel_card *card = calloc(1, cards->state_size);
    if (!card)
        return NULL;
    card->is_new = true;
    cards->card[cards->n++] = card;
    return card;
}

static int take(struct gtel_cards *cards, struct gtel_registry *registry,
                const struct gtel_drm_card *drm)
{
    struct gtel_card *card = find_or_add(cards, drm->key);
    if (!card)
        return -ENOMEM;
    bool is_same =
        strcmp(card->drm.card, drm->card) == 0 && strcmp(card->drm.driver, drm->driver) == 0;
    if (card->drm.card[0] != '\0' && !is_same)
        close_card(cards, card);
    card->drm = *drm;
    card->is_found = true;
    int r = gtel_registry_add(registry, gtel_str_of(drm->key), &card->device);
    if (r < 0)
        return r;
    gtel_cards_identify(cards->env, registry, card->device, drm);
    gtel_device_label(registry, card->device, GTEL_LABEL_DRIVER, gtel_str_of(drm->driver));
    gtel_device_label(registry, card->device, GTEL_LABEL_CARD, gtel_str_of(drm->card));
    (void)snprintf(card->path, sizeof(card->path), "sys/class/drm/%s/device", drm->card);
    return card->awake.is_open ? 0 : gtel_awake_open(cards->env, &card->awake, card->path);
}

static void drop_missing(struct gtel_cards *cards, struct gtel_registry *registry)
{
    size_t kept = 0;
    for (size_t i = 0; i < cards->n; i++) {
        struct gtel_card *card = cards->card[i];
        if (card->is_found) {
            cards->card[kept++] = card;
            continue;
        }
        if (card->device && card->device->is_present)
            gtel_registry_lost(registry, card->device);
        close_card(cards, card);
        free(card);
    }
    cards->n = kept;
}

int gtel_cards_discover(struct gtel_cards *cards, struct gtel_registry *registry)
{
    int first = 0;
    bool is_whole = true;
    for (size_t i = 0; i < cards->n; i++)
        cards->card[i]->is_found = false;
    for (size_t d = 0; cards->drivers[d]; d++) {
        struct gtel_drm_card *list = NULL;
        size_t n = 0;
        size_t missed = 0;
        gtel_arena_reset(&cards->arena);
        int r = gtel_drm_list(cards->env, &cards->arena, gtel_str_of(cards->drivers[d]), &list, &n,
                              &missed);
        r = r == -ENOENT ? 0 : r;
        is_whole = is_whole && r == 0 && missed == 0;
        for (size_t i = 0; r == 0 && i < n; i++) {
            int taken = take(cards, registry, &list[i]);
            first = first < 0 ? first : taken;
        }
        first = first < 0 ? first : r;
    }
    for (size_t i = 0; i < cards->n && !is_whole; i++)
        cards->card[i]->is_found = true; /* not seen is not gone then */
    drop_missing(cards, registry);
    return first;
}

bool gtel_cards_may_read(const struct gtel_cards *cards, const struct gtel_card *card)
{
    bool is_asleep;
    if (!card->device || card->device->is_left_alone)
        return false;
    return gtel_awake_look(cards->env, &card->awake, &is_asleep) == 0 &&
           (!is_asleep || cards->may_wake);
}

const struct gtel_card *gtel_cards_awaited(const struct gtel_cards *cards)
{
    for (size_t i = 0; i < cards->n; i++)
        if (!gtel_cards_may_read(cards, cards->card[i]))
            return cards->card[i];
    return NULL;
}

void gtel_cards_reopen(const struct gtel_cards *cards, struct gtel_card *card)
{
    close_card(cards, card);
}

void gtel_cards_done(struct gtel_cards *cards)
{
    for (size_t i = 0; i < cards->n; i++) {
        close_card(cards, cards->card[i]);
        free(cards->card[i]);
    }
    free(cards->card);
    gtel_arena_done(&cards->arena);
    *cards = (struct gtel_cards){0};
}
