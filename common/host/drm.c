/* SPDX-License-Identifier: MIT */
/* GPUs that a DRM driver has. */
#include "host/drm.h"

#include "base/error.h"
#include "parse/uevent.h"

#include <errno.h>
#include <stdio.h>

/* Where cards are, and what their names begin with. */
static const struct {
    const char *path;
    struct gtel_str prefix;
} folders[] = {{"sys/class/drm", GTEL_STR_INIT("card")},
               {"sys/class/accel", GTEL_STR_INIT("accel")}};

static bool is_numbered(struct gtel_str name, struct gtel_str prefix)
{
    uint64_t number;
    return gtel_str_starts(name, prefix) &&
           gtel_str_u64(gtel_str_skip(name, prefix.n), &number) == 0;
}

bool gtel_drm_is_card(struct gtel_str name)
{
    return is_numbered(name, folders[0].prefix);
}

/* The driver: the link's target, else the line of the uevent text. 0 or -ENOENT, else broken. */
static int find_driver(const struct gtel_env *env, const char *folder, struct gtel_str uevent,
                       struct gtel_drm_card *card)
{
    char name[GTEL_DRM_NAME_MAX];
    struct gtel_str driver;
    if (gtel_uevent_get(uevent, GTEL_STR("DRIVER"), &driver) < 0) {
        int r = gtel_fs_link_name(env, GTEL_FS_AT("%s/%s/device/driver", folder, card->card), name,
                                  sizeof(name), &driver);
        if (r < 0)
            return r;
    }
    return gtel_str_copy(card->driver, sizeof(card->driver), driver) ? 0 : -E2BIG;
}

/* The device's own name: PCI_SLOT_NAME, else the name that the link `device` points to. */
static int find_key(const struct gtel_env *env, const char *folder, struct gtel_str uevent,
                    struct gtel_drm_card *card)
{
    char name[GTEL_DRM_NAME_MAX];
    struct gtel_str key;
    if (gtel_uevent_get(uevent, GTEL_STR("PCI_SLOT_NAME"), &key) < 0 || key.n == 0) {
        int r = gtel_fs_link_name(env, GTEL_FS_AT("%s/%s/device", folder, card->card), name,
                                  sizeof(name), &key);
        if (r < 0)
            return r;
    }
    card->is_pci = gtel_pci_parse(key, &card->pci) == 0;
    if (card->is_pci)
        gtel_pci_print(card->key, &card->pci);
    else if (!gtel_str_copy(card->key, sizeof(card->key), key))
        return -E2BIG;
    return 0;
}

/* One of the ids from its file in sysfs; left as it is where there is none. 0 or a negative errno.
 */
static int read_id(const struct gtel_env *env, const char *folder, const struct gtel_drm_card *card,
                   const char *name, uint16_t *id)
{
    uint64_t value = *id;
    int r = gtel_fs_hex(env, GTEL_FS_AT("%s/%s/device/%s", folder, card->card, name), &value);
    if (r < 0 && !gtel_error_is_no_path(r))
        return r;
    if (value > UINT16_MAX)
        return -ERANGE;
    *id = (uint16_t)value;
    return 0;
}

/*
 * The uevent text has the ids, else two files of their own: without them a GPU would get a name
 * that is not its own. They stay 0 where nothing has them. 0 or a negative errno.
 */
static int find_ids(const struct gtel_env *env, const char *folder, struct gtel_str uevent,
                    struct gtel_drm_card *card)
{
    struct gtel_str id;
    if (gtel_uevent_get(uevent, GTEL_STR("PCI_ID"), &id) == 0 &&
        gtel_uevent_pci_id(id, &card->vendor_id, &card->device_id) == 0)
        return 0;
    if (!card->is_pci)
        return 0;
    int r = read_id(env, folder, card, "vendor", &card->vendor_id);
    return r < 0 ? r : read_id(env, folder, card, "device", &card->device_id);
}

int gtel_drm_look(const struct gtel_env *env, const char *folder, struct gtel_str name,
                  struct gtel_str driver, struct gtel_drm_card *ret)
{
    char buf[GTEL_FS_TEXT_MAX];
    struct gtel_str uevent;
    *ret = (struct gtel_drm_card){.vendor_id = 0};
    if (!gtel_str_copy(ret->card, sizeof(ret->card), name))
        return -ENOENT;
    int r = gtel_fs_text(env, GTEL_FS_AT("%s/%s/device/uevent", folder, ret->card), buf,
                         sizeof(buf), &uevent);
    if (gtel_error_is_no_path(r))
        uevent = GTEL_STR_NONE; /* the links alone may be enough */
    else if (r < 0)
        return r;
    r = find_driver(env, folder, uevent, ret);
    if (r == 0 && driver.n > 0 && !gtel_str_eq(gtel_str_of(ret->driver), driver))
        return -ENOENT;
    if (r == 0)
        r = find_key(env, folder, uevent, ret);
    if (r == 0)
        r = find_ids(env, folder, uevent, ret);
    return gtel_error_is_no_path(r) ? -ENOENT : r;
}

struct finder {
    struct gtel_arena *arena;
    struct gtel_str names[GTEL_DRM_CARDS_MAX];
    size_t n;
    size_t first; /* in the folder that is listed */
    struct gtel_str prefix;
    size_t missed;
};

/* Card numbers in ascending order, found by insertion: there are few. */
static int keep_card(void *arg, struct gtel_str name)
{
    struct finder *finder = arg;
    if (!is_numbered(name, finder->prefix))
        return 0;
    if (finder->n == GTEL_DRM_CARDS_MAX) {
        finder->missed++;
        return 0;
    }
    struct gtel_str copy;
    int r = gtel_arena_str(finder->arena, name, &copy);
    if (r < 0)
        return r;
    size_t at = finder->n++;
    for (; at > finder->first; at--) {
        struct gtel_str left = finder->names[at - 1];
        if (left.n < copy.n || (left.n == copy.n && gtel_str_cmp(left, copy) < 0))
            break;
        finder->names[at] = left;
    }
    finder->names[at] = copy;
    return 0;
}

int gtel_drm_list(const struct gtel_env *env, struct gtel_arena *arena, struct gtel_str driver,
                  struct gtel_drm_card **ret, size_t *ret_n, size_t *ret_missed)
{
    struct finder finder = {.arena = arena};
    int r = -ENOENT;
    size_t accels = 0; /* where they begin */
    for (size_t i = 0; i < GTEL_ARRAY_LEN(folders); i++) {
        accels = finder.first = finder.n;
        finder.prefix = folders[i].prefix;
        int listed = env->ops->dir_list(env->arg, folders[i].path, keep_card, &finder);
        if (listed < 0 && listed != -ENOENT)
            return listed;
        r = listed == 0 ? 0 : r;
    }
    if (r < 0)
        return r;
    struct gtel_drm_card *cards = gtel_arena_alloc(arena, (finder.n + 1) * sizeof(*cards));
    if (!cards)
        return -ENOMEM;
    size_t n = 0;
    for (size_t i = 0; i < finder.n; i++) {
        r = gtel_drm_look(env, folders[i >= accels].path, finder.names[i], driver, &cards[n]);
        if (r == 0)
            n++;
        else if (r != -ENOENT)
            finder.missed++;
    }
    *ret = cards;
    *ret_n = n;
    *ret_missed = finder.missed;
    return 0;
}

struct search {
    const struct gtel_env *env;
    struct gtel_str driver;
    size_t folder;
};

static int stop_at_card(void *arg, struct gtel_str name)
{
    const struct search *search = arg;
    struct gtel_drm_card card;
    return is_numbered(name, folders[search->folder].prefix) &&
           gtel_drm_look(search->env, folders[search->folder].path, name, search->driver, &card) ==
               0;
}

bool gtel_drm_has(const struct gtel_env *env, struct gtel_str driver)
{
    bool has_it = false;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(folders) && !has_it; i++) {
        struct search search = {env, driver, i};
        has_it = env->ops->dir_list(env->arg, folders[i].path, stop_at_card, &search) == 1;
    }
    return has_it;
}

/* The lowest number: a device has one render node, unless a driver to come makes more. */
static int see_node(void *arg, struct gtel_str name)
{
    uint64_t *lowest = arg;
    uint64_t number;
    if (gtel_str_starts(name, GTEL_STR("renderD")) &&
        gtel_str_u64(gtel_str_skip(name, 7), &number) == 0 && number < *lowest)
        *lowest = number;
    return 0;
}

int gtel_drm_render_node(const struct gtel_env *env, const char *device_path,
                         char node[GTEL_DRM_NODE_MAX])
{
    uint64_t number = UINT64_MAX;
    int r = env->ops->dir_list(env->arg, GTEL_FS_AT("%s/drm", device_path), see_node, &number);
    if (r < 0)
        return r;
    if (number > UINT32_MAX)
        return -ENOENT;
    (void)snprintf(node, GTEL_DRM_NODE_MAX, "dev/dri/renderD%lu", (unsigned long)number);
    return 0;
}
