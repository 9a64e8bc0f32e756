/* SPDX-License-Identifier: MIT */
/* The DRM cards of the machine, found once for all sources of a lane. */
#include "sources/drm/cards.h"

#include "host/kernel.h"
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

/* The machine's GPUs and accelerators, in the arena; none also where that is not known. */
static struct gtel_drm_devices list_all(const struct gtel_env *env, struct gtel_arena *arena)
{
    struct gtel_drm_devices list = {0};
    (void)gtel_drm_devices(env, arena, false, &list); /* else it stays empty */
    return list;
}

/* virtio: from Linux 6.12 on the device below the GPU's (kernel: virtio/virtgpu_drv.c). */
bool gtel_card_has_gpu(const struct gtel_drm_card *drm)
{
    static const char *const others[] = {"exynos-drm", "faux_driver", "loongson",   "omapdrm",
                                         "vgem",       "virtio-mmio", "virtio-pci", "virtio_gpu",
                                         "vkms",       "vmwgfx"};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(others); i++)
        if (strcmp(others[i], drm->driver) == 0)
            return false;
    return true;
}

bool gtel_cards_any(const struct gtel_env *env, const char *const *drivers)
{
    struct gtel_arena arena = {0};
    const struct gtel_drm_devices list = list_all(env, &arena);
    bool has_any = false;
    for (size_t i = 0; i < list.n; i++)
        for (size_t k = 0; drivers[k]; k++)
            has_any = has_any || strcmp(list.device[i].card.driver, drivers[k]) == 0;
    gtel_arena_done(&arena);
    return has_any;
}

bool gtel_cards_any_wanted(const struct gtel_env *env, gtel_card_fn is_wanted)
{
    struct gtel_arena arena = {0};
    const struct gtel_drm_devices list = list_all(env, &arena);
    bool has_any = false;
    for (size_t i = 0; i < list.n; i++)
        has_any = has_any || is_wanted(env, &list.device[i].card);
    gtel_arena_done(&arena);
    return has_any;
}

/*
 * Whether the device in that directory, with that PCI address, is a virtual function of one that
 * this machine has, too: in a virtual machine, a function looks like a device of its own. pf gets
 * the address of the physical one, *ret_number the function's number as xe counts them, from 1
 * (virtfn0 is 1). Only links are read, from the kernel's memory (kernel: drivers/pci/iov.c). 0,
 * -ENOENT for any other device, or the error of the check.
 */
static int find_physical(const struct gtel_env *env, const char *device_path, struct gtel_str key,
                         char *pf, uint32_t *ret_number)
{
    char buf[64];
    struct gtel_str name;
    struct gtel_pci pci;
    int r = gtel_fs_link_name(env, GTEL_FS_AT("%s/physfn", device_path), buf, sizeof(buf), &name);
    if (r < 0)
        return r == -EINVAL || r == -ENOTDIR ? -ENOENT : r;
    if (gtel_pci_parse(name, &pci) < 0)
        return -ENOENT;
    for (uint32_t i = 0; i < GTEL_FUNCTIONS_MAX; i++) {
        r = gtel_fs_link_name(env, GTEL_FS_AT("%s/physfn/virtfn%u", device_path, (unsigned)i), buf,
                              sizeof(buf), &name);
        if (r < 0)
            return r;
        if (!gtel_str_eq(name, key))
            continue;
        gtel_pci_print(pf, &pci);
        *ret_number = i + 1;
        return 0;
    }
    return -ENOENT;
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
    gtel_fs_path(path, "%s/%s/device", gtel_drm_folder(drm), drm->card);
    int r = drm->is_pci ? find_physical(env, path, gtel_str_of(drm->key), pf, &number) : -ENOENT;
    if (r == 0) {
        (void)snprintf(text, sizeof(text), "vf%u", (unsigned)number);
        gtel_device_label(registry, device, GTEL_LABEL_INSTANCE, gtel_str_of(text));
        gtel_device_label(registry, device, GTEL_LABEL_GPU, gtel_str_of(pf));
    } else if (r == -ENOENT) {
        gtel_device_label(registry, device, GTEL_LABEL_GPU, gtel_str_of(drm->key));
    }
}

/* ---- the cards of a lane ---- */

enum { RETRIES_MAX = 4 }; /* listings in a row after one that was not complete; then each Rescan */

void gtel_cards_init(struct gtel_cards *cards, const struct gtel_env *env,
                     const struct gtel_options *options)
{
    *cards = (struct gtel_cards){.env = env};
    cards->may_wake = gtel_option_is(options, GTEL_O_WAKE, "always");
}

void gtel_cards_done(struct gtel_cards *cards)
{
    for (size_t i = 0; i < cards->n; i++) {
        gtel_awake_close(cards->env, &cards->card[i]->awake);
        free(cards->card[i]);
    }
    free(cards->card);
    free(cards->texts.text);
    gtel_arena_done(&cards->texts.arena);
    gtel_arena_done(&cards->arena);
    *cards = (struct gtel_cards){0};
}

void gtel_cards_changed(struct gtel_cards *cards)
{
    cards->version++;
    cards->is_listed = false;
}

void gtel_card_leave(struct gtel_card *card, struct gtel_registry *registry)
{
    if (card->device)
        gtel_registry_lost(registry, card->device);
    gtel_awake_close(card->cards->env, &card->awake);
    card->rest = (struct gtel_rest){0};
    card->gts = (struct gtel_card_gts){0};
    card->node = 0;
    card->is_gone = false;
    card->is_registered = false;
    card->generation++;
    card->cards->version++;
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
    struct gtel_card *card = calloc(1, sizeof(*card));
    if (!card)
        return NULL;
    card->cards = cards;
    cards->card[cards->n++] = card;
    return card;
}

static int add(struct gtel_cards *cards, struct gtel_registry *registry,
               const struct gtel_drm_card *drm)
{
    struct gtel_card *card = find_or_add(cards, drm->key);
    if (!card)
        return -ENOMEM;
    if (card->listing == cards->listings)
        return 0; /* one device with two cards */
    bool is_known = card->drm.vendor_id != 0 && drm->vendor_id != 0;
    bool is_same = strcmp(card->drm.card, drm->card) == 0 &&
                   strcmp(card->drm.driver, drm->driver) == 0 &&
                   (!is_known || card->drm.device_id == drm->device_id);
    if (card->is_present && !is_same)
        gtel_card_leave(card, registry);
    cards->version += card->is_present ? 0 : 1;
    card->drm = *drm;
    card->is_present = true;
    card->listing = cards->listings;
    card->is_registered = false;
    (void)snprintf(card->path, sizeof(card->path), "%s/%s/device", gtel_drm_folder(drm), drm->card);
    return 0;
}

/* Under Windows. What its books had of a device is read again with each listing. */
static int add_pnp(struct gtel_cards *cards, struct gtel_registry *registry,
                   const struct gtel_pnp_gpu *gpu)
{
    struct gtel_drm_card drm = {.driver = "wddm",
                                .is_pci = true,
                                .pci = gpu->pci,
                                .vendor_id = gpu->pci_id[0],
                                .device_id = gpu->pci_id[1]};
    memcpy(drm.key, gpu->key, sizeof(gpu->key));
    int r = add(cards, registry, &drm);
    struct gtel_card *card = r == 0 ? find_or_add(cards, drm.key) : NULL;
    if (!card)
        return r;
    (void)snprintf(card->path, sizeof(card->path), "sys/bus/pci/devices/%s", gpu->key);
    gtel_awake_close(cards->env, &card->awake);
    return 0;
}

static int list_pnp(struct gtel_cards *cards, struct gtel_registry *registry, size_t *missed)
{
    struct gtel_pnp pnp = {0};
    struct gtel_pnp_gpu gpu;
    int r = cards->pnp_vendor != 0 ? gtel_pnp_open(cards->env, &pnp) : -ENOENT;
    if (r == 0)
        r = gtel_pnp_list(&pnp);
    for (uint32_t i = 0; r == 0; i++) {
        int got = gtel_pnp_get(&pnp, i, &gpu);
        if (got == 1)
            break;
        *missed += got == -EIO;
        if (got == 0 && gpu.pci_id[0] == cards->pnp_vendor)
            r = add_pnp(cards, registry, &gpu);
    }
    gtel_pnp_close(cards->env, &pnp);
    return r == -ENOENT ? 0 : r;
}

/* Once per gather. 0, also when it was not complete; -ENOMEM, or the error of the listing. */
static int list_cards(struct gtel_cards *cards, struct gtel_registry *registry)
{
    struct gtel_drm_devices list = {0};
    if (cards->is_listed)
        return 0;
    cards->is_listed = true;
    cards->listings++;
    gtel_arena_reset(&cards->arena);
    int r = gtel_drm_devices(cards->env, &cards->arena, false, &list);
    r = r == -ENOENT ? 0 : r;
    for (size_t i = 0; r == 0 && i < list.n; i++)
        r = add(cards, registry, &list.device[i].card);
    if (r == 0)
        r = list_pnp(cards, registry, &list.missed);
    cards->retries = r == 0 && list.missed == 0 ? 0 : cards->retries + 1;
    for (size_t i = 0; cards->retries == 0 && i < cards->n; i++) { /* else it may still be there */
        struct gtel_card *card = cards->card[i];
        if (card->listing == cards->listings || !card->is_present)
            continue;
        card->is_present = false;
        gtel_card_leave(card, registry);
    }
    return r;
}

void gtel_cards_begin(struct gtel_cards *cards, struct gtel_registry *registry)
{
    bool is_due = cards->retries > 0 && cards->retries <= RETRIES_MAX;
    for (size_t i = 0; i < cards->n; i++)
        is_due = is_due || (cards->card[i]->device && !cards->card[i]->is_present);
    cards->is_listed = false;
    if (is_due && list_cards(cards, registry) < 0)
        cards->is_listed = false; /* for a source to report */
}

static int enroll_pnp(struct gtel_card *card, struct gtel_registry *registry)
{
    int r = 0;
    memcpy(card->core_path, card->path, sizeof(card->path));
    if (!card->awake.is_open)
        r = gtel_awake_open(card->cards->env, &card->awake, card->path);
    card->is_registered = r == 0 && gtel_cards_label_pnp(&card->awake.pnp, registry, card->device,
                                                         &card->awake.gpu, false);
    return r;
}

/* Gives a card that a source asks for its device. What fails here is repeated. */
static int enroll(struct gtel_card *card, struct gtel_registry *registry)
{
    const struct gtel_env *env = card->cards->env;
    char path[GTEL_FS_PATH_MAX];
    if (card->is_registered)
        return 0;
    int r = gtel_registry_add(registry, gtel_str_of(card->drm.key), &card->device);
    if (r < 0)
        return r;
    if (card->drm.card[0] == '\0')
        return enroll_pnp(card, registry);
    gtel_cards_identify(env, registry, card->device, &card->drm);
    gtel_cards_label(env, registry, card->device, &card->drm);
    gtel_device_relabel(registry, card->device, GTEL_LABEL_DRIVER, gtel_str_of(card->drm.driver));
    gtel_device_relabel(registry, card->device, GTEL_LABEL_CARD, gtel_str_of(card->drm.card));
    r = gtel_card_core(env, &card->drm, path);
    (void)gtel_str_copy(card->core_path, sizeof(card->core_path), gtel_str_of(r < 0 ? "" : path));
    if (r == 0)
        (void)gtel_awake_watch(env, &card->awake, path); /* or at the next discovery */
    if (r == 0 && !card->awake.is_open)
        r = gtel_awake_open(env, &card->awake, path);
    r = r == -ENOENT ? 0 : r;
    card->is_registered = r == 0;
    return r;
}

bool gtel_card_may_read(const struct gtel_card *card)
{
    bool is_asleep;
    return card->is_present && !card->device->is_left_alone &&
           gtel_awake_look(card->cards->env, &card->awake, &is_asleep) == 0 &&
           (!is_asleep || card->cards->may_wake);
}

/* ---- power state and pauses ---- */

bool gtel_card_is_removed(const struct gtel_card *card)
{
    char path[GTEL_FS_PATH_MAX];
    gtel_fs_path(path, "%s/%s", gtel_drm_folder(&card->drm), card->drm.card);
    return card->cards->env->ops->exists(card->cards->env->arg, path) == -ENOENT;
}

void gtel_card_check_return(struct gtel_card *card)
{
    bool is_asleep;
    if (gtel_awake_look(card->cards->env, &card->awake, &is_asleep) != -ENODEV)
        return;
    gtel_awake_close(card->cards->env, &card->awake);
    card->is_registered = false; /* what could not be read now is opened by the next discovery */
}

int gtel_card_check_power(struct gtel_card *card)
{
    bool is_asleep;
    int r = gtel_awake_look(card->cards->env, &card->awake, &is_asleep);
    if (r < 0)
        return r;
    return (!is_asleep || card->cards->may_wake) &&
           !gtel_rest_is_on(&card->rest, gtel_env_now(card->cards->env));
}

/* A sleep between two gathers shows in the suspended time. */
void gtel_card_end_pause(struct gtel_card *card, struct gtel_batch *batch)
{
    gtel_rest_end(&card->rest, batch->t_ns);
    card->device->is_left_alone = false;
    if (gtel_awake_suspended(card->cards->env, &card->awake, &card->suspended_ns) == 0)
        gtel_batch_f64(batch, card->device, GTEL_M_GPU_SUSPENDED_TIME, GTEL_STR_NONE,
                       (double)card->suspended_ns / 1e9);
}

int gtel_card_begin(struct gtel_card *card, struct gtel_batch *batch, enum gtel_card_power *ret)
{
    const struct gtel_env *env = card->cards->env;
    bool is_asleep;
    batch->t_ns = gtel_env_now(env);
    card->device->is_left_alone = true; /* until it is known that it may be read */
    int r = gtel_awake_look(env, &card->awake, &is_asleep);
    if (r < 0)
        return r;
    card->device->is_asleep = is_asleep;
    gtel_batch_u64(batch, card->device, GTEL_M_GPU_AWAKE, GTEL_STR_NONE, !is_asleep);
    if (is_asleep)
        gtel_rest_slept(&card->rest);
    if (is_asleep && !card->cards->may_wake)
        *ret = GTEL_CARD_ASLEEP;
    else if (gtel_awake_rests(env, &card->awake, &card->rest, batch->t_ns))
        *ret = GTEL_CARD_PAUSES;
    else
        *ret = GTEL_CARD_AWAKE;
    if (*ret != GTEL_CARD_AWAKE)
        return gtel_card_is_removed(card) ? -ENODEV : 0; /* nothing else is read that shows it */
    gtel_card_end_pause(card, batch);
    return 0;
}

void gtel_card_read_autosuspend(struct gtel_card *card, bool is_watched)
{
    card->rest.delay_ns =
        card->cards->may_wake
            ? 0
            : gtel_awake_rest_delay(card->cards->env, &card->awake, card->core_path, is_watched);
}

/* ---- the cards of a source ---- */

void gtel_card_list_reopen(const struct gtel_card_list *list, void *own)
{
    struct gtel_card *card = *(struct gtel_card **)own;
    if (list->close)
        list->close(list->env, own);
    memset(own, 0, list->own_size);
    *(struct gtel_card **)own = card;
}

static bool is_wanted(const struct gtel_card_list *list, const struct gtel_card *card)
{
    if (!card->is_present || !list->drivers)
        return card->is_present && list->is_wanted(list->env, &card->drm);
    for (size_t d = 0; list->drivers[d]; d++)
        if (strcmp(card->drm.driver, list->drivers[d]) == 0)
            return true;
    return false;
}

/* The place of a card in the list, made if needed; NULL without memory. */
static struct gtel_card_slot *slot_of(struct gtel_card_list *list, struct gtel_card *card)
{
    for (size_t i = 0; i < list->n; i++)
        if (gtel_card_at(list, i) == card)
            return &list->slot[i];
    struct gtel_card_slot *slots = realloc(list->slot, (list->n + 1) * sizeof(*slots));
    if (!slots)
        return NULL;
    list->slot = slots;
    struct gtel_card_slot *slot = &slots[list->n];
    *slot = (struct gtel_card_slot){.own = calloc(1, list->own_size)};
    if (!slot->own)
        return NULL;
    *(struct gtel_card **)slot->own = card;
    slot->generation = card->generation - 1; /* not opened */
    list->n++;
    return slot;
}

static void drop(struct gtel_card_list *list, const struct gtel_card_slot *slot)
{
    if (list->close)
        list->close(list->env, slot->own);
    free(slot->own);
}

static void drop_unwanted(struct gtel_card_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->n; i++) {
        struct gtel_card_slot slot = list->slot[i];
        if (is_wanted(list, gtel_card_at(list, i)))
            list->slot[kept++] = slot;
        else
            drop(list, &slot);
    }
    list->n = kept;
}

static int attach(struct gtel_card_list *list, struct gtel_card *card,
                  struct gtel_registry *registry)
{
    int r = enroll(card, registry);
    if (!card->device)
        return r;
    struct gtel_card_slot *slot = slot_of(list, card);
    if (!slot)
        return -ENOMEM;
    slot->is_new = slot->generation != card->generation;
    if (slot->is_new)
        gtel_card_list_reopen(list, slot->own);
    slot->generation = card->generation;
    return r;
}

int gtel_card_list_discover(struct gtel_card_list *list, struct gtel_registry *registry)
{
    struct gtel_cards *cards = registry->cards;
    if (list->pnp_vendor != 0)
        cards->pnp_vendor = list->pnp_vendor;
    int first = list_cards(cards, registry);
    drop_unwanted(list);
    for (size_t i = 0; i < cards->n; i++) {
        int r = is_wanted(list, cards->card[i]) ? attach(list, cards->card[i], registry) : 0;
        first = first < 0 ? first : r;
    }
    return first;
}

const struct gtel_card *gtel_card_list_awaited(const struct gtel_card_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        if (!gtel_card_may_read(gtel_card_at(list, i)))
            return gtel_card_at(list, i);
    return NULL;
}

void gtel_card_list_done(struct gtel_card_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        drop(list, &list->slot[i]);
    free(list->slot);
    *list = (struct gtel_card_list){0};
}
