/* SPDX-License-Identifier: MIT */
/* GPUs that a DRM driver has. */
#include "host/drm.h"

#include "base/error.h"
#include "parse/uevent.h"

#include <errno.h>
#include <stdio.h>

static const char class_path[] = "sys/class/drm";

bool gtel_drm_is_card(struct gtel_str name)
{
    uint64_t number;
    return gtel_str_starts(name, GTEL_STR("card")) &&
           gtel_str_u64(gtel_str_skip(name, 4), &number) == 0;
}

/* The driver: the link's target, else the line of the uevent text. 0 or -ENOENT, else broken. */
static int find_driver(const struct gtel_env *env, const char *folder, struct gtel_str uevent,
                       struct gtel_drm_card *card)
{
    char path[GTEL_FS_PATH_MAX];
    char name[GTEL_DRM_NAME_MAX];
    struct gtel_str driver;
    if (gtel_uevent_get(uevent, GTEL_STR("DRIVER"), &driver) < 0) {
        gtel_fs_path(path, "%s/%s/device/driver", folder, card->card);
        int r = gtel_fs_link_name(env, path, name, sizeof(name), &driver);
        if (r < 0)
            return r;
    }
    return gtel_str_copy(card->driver, sizeof(card->driver), driver) ? 0 : -E2BIG;
}

/* The device's own name: PCI_SLOT_NAME, else the name that the link `device` points to. */
static int find_key(const struct gtel_env *env, const char *folder, struct gtel_str uevent,
                    struct gtel_drm_card *card)
{
    char path[GTEL_FS_PATH_MAX];
    char name[GTEL_DRM_NAME_MAX];
    struct gtel_str key;
    if (gtel_uevent_get(uevent, GTEL_STR("PCI_SLOT_NAME"), &key) < 0 || key.n == 0) {
        gtel_fs_path(path, "%s/%s/device", folder, card->card);
        int r = gtel_fs_link_name(env, path, name, sizeof(name), &key);
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
    char path[GTEL_FS_PATH_MAX];
    uint64_t value = *id;
    gtel_fs_path(path, "%s/%s/device/%s", folder, card->card, name);
    int r = gtel_fs_hex(env, path, &value);
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
    char path[GTEL_FS_PATH_MAX];
    char buf[GTEL_FS_TEXT_MAX];
    struct gtel_str uevent;
    *ret = (struct gtel_drm_card){0};
    if (!gtel_str_copy(ret->card, sizeof(ret->card), name))
        return -ENOENT;
    gtel_fs_path(path, "%s/%s/device/uevent", folder, ret->card);
    int r = gtel_fs_text(env, path, buf, sizeof(buf), &uevent);
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
    size_t missed;
};

/* Card numbers in ascending order, found by insertion: there are few. */
static int keep_card(void *arg, struct gtel_str name)
{
    struct finder *finder = arg;
    if (!gtel_drm_is_card(name))
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
    for (; at > 0; at--) {
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
    int r = env->ops->dir_list(env->arg, class_path, keep_card, &finder);
    if (r < 0)
        return r;
    struct gtel_drm_card *cards = gtel_arena_alloc(arena, (finder.n + 1) * sizeof(*cards));
    if (!cards)
        return -ENOMEM;
    size_t n = 0;
    for (size_t i = 0; i < finder.n; i++) {
        r = gtel_drm_look(env, class_path, finder.names[i], driver, &cards[n]);
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
};

static int stop_at_card(void *arg, struct gtel_str name)
{
    const struct search *search = arg;
    struct gtel_drm_card card;
    return gtel_drm_is_card(name) &&
           gtel_drm_look(search->env, class_path, name, search->driver, &card) == 0;
}

bool gtel_drm_has(const struct gtel_env *env, struct gtel_str driver)
{
    struct search search = {env, driver};
    return env->ops->dir_list(env->arg, class_path, stop_at_card, &search) == 1;
}

struct node_search {
    uint64_t number;
    bool is_found;
};

/* The lowest number: a device has one render node, unless a driver to come makes more. */
static int see_node(void *arg, struct gtel_str name)
{
    struct node_search *search = arg;
    uint64_t number;
    if (!gtel_str_starts(name, GTEL_STR("renderD")) ||
        gtel_str_u64(gtel_str_skip(name, 7), &number) < 0 ||
        (search->is_found && number > search->number))
        return 0;
    search->number = number;
    search->is_found = true;
    return 0;
}

int gtel_drm_render_node(const struct gtel_env *env, const char *device_path,
                         char node[GTEL_DRM_NODE_MAX])
{
    char path[GTEL_FS_PATH_MAX];
    struct node_search search = {0};
    gtel_fs_path(path, "%s/drm", device_path);
    int r = env->ops->dir_list(env->arg, path, see_node, &search);
    if (r < 0)
        return r;
    if (!search.is_found || search.number > UINT32_MAX)
        return -ENOENT;
    (void)snprintf(node, GTEL_DRM_NODE_MAX, "dev/dri/renderD%lu", (unsigned long)search.number);
    return 0;
}
