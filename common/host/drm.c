/* SPDX-License-Identifier: MIT */
/* GPUs that a DRM driver has. */
#include "host/drm.h"

#include "abi/i915_uapi.h"
#include "abi/xe_uapi.h"
#include "base/error.h"
#include "parse/uevent.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The number in a node's name is its minor number (kernel: drm_sysfs_minor_alloc in
 * drivers/gpu/drm/drm_sysfs.c names it by minor->index, which is the minor number, too); major
 * numbers: Documentation/admin-guide/devices.txt.
 */
enum kind { CARD, RENDER, ACCEL, KINDS };

static const struct {
    const char *folder;
    struct gtel_str prefix;
    uint32_t major;
    bool takes_work;
} kinds[KINDS] = {
    [CARD] = {"sys/class/drm", GTEL_STR_INIT("card"), 226, false},
    [RENDER] = {"sys/class/drm", GTEL_STR_INIT("renderD"), 226, true},
    [ACCEL] = {"sys/class/accel", GTEL_STR_INIT("accel"), 261, true},
};

static bool is_numbered(struct gtel_str name, struct gtel_str prefix, uint64_t *ret)
{
    return gtel_str_starts(name, prefix) && gtel_str_u64(gtel_str_skip(name, prefix.n), ret) == 0 &&
           *ret <= UINT32_MAX;
}

bool gtel_drm_is_card(struct gtel_str name)
{
    uint64_t number;
    return is_numbered(name, kinds[CARD].prefix, &number);
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

/* What is behind one node. 0; -ENOENT when it has gone; else the check failed. */
static int look(const struct gtel_env *env, enum kind kind, uint32_t number,
                struct gtel_drm_card *ret)
{
    char buf[GTEL_FS_TEXT_MAX];
    struct gtel_str uevent;
    const char *folder = kinds[kind].folder;
    *ret = (struct gtel_drm_card){.vendor_id = 0};
    int n = snprintf(ret->card, sizeof(ret->card), "%s%" PRIu32, kinds[kind].prefix.p, number);
    if (n < 0 || (size_t)n >= sizeof(ret->card))
        return -ENOENT;
    int r = gtel_fs_text(env, GTEL_FS_AT("%s/%s/device/uevent", folder, ret->card), buf,
                         sizeof(buf), &uevent);
    if (gtel_error_is_no_path(r))
        uevent = GTEL_STR_NONE; /* the links alone may be enough */
    else if (r < 0)
        return r;
    r = find_driver(env, folder, uevent, ret);
    if (r == 0)
        r = find_key(env, folder, uevent, ret);
    if (r == 0)
        r = find_ids(env, folder, uevent, ret);
    return gtel_error_is_no_path(r) ? -ENOENT : r;
}

/* The nodes of one kind. */
struct numbers {
    enum kind kind;
    uint32_t number[GTEL_DRM_NODES_MAX];
    size_t n;
    size_t missed;
};

static int keep_number(void *arg, struct gtel_str name)
{
    struct numbers *numbers = arg;
    uint64_t number;
    if (!is_numbered(name, kinds[numbers->kind].prefix, &number))
        return 0;
    if (numbers->n < GTEL_DRM_NODES_MAX)
        numbers->number[numbers->n++] = (uint32_t)number;
    else
        numbers->missed++;
    return 0;
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a;
    uint32_t right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static int list_kind(const struct gtel_env *env, enum kind kind, struct numbers *ret)
{
    ret->kind = kind;
    int r = env->ops->dir_list(env->arg, kinds[kind].folder, keep_number, ret);
    qsort(ret->number, ret->n, sizeof(ret->number[0]), compare_numbers);
    return r;
}

/* The device of that key and class of nodes, added when it is new. */
static struct gtel_drm_device *find_or_add(struct gtel_drm_devices *list,
                                           const struct gtel_drm_card *card)
{
    for (size_t i = 0; i < list->n; i++)
        if (gtel_drm_is_accel(&list->device[i].card) == gtel_drm_is_accel(card) &&
            strcmp(list->device[i].card.key, card->key) == 0)
            return &list->device[i];
    struct gtel_drm_device *device = &list->device[list->n++];
    *device = (struct gtel_drm_device){.card = *card};
    (void)snprintf(device->path, sizeof(device->path), "%s/%s/device", gtel_drm_folder(card),
                   card->card);
    return device;
}

/* A node without a device is skipped. */
static void add_node(const struct gtel_env *env, struct gtel_drm_devices *list, enum kind kind,
                     uint32_t number)
{
    struct gtel_drm_card card;
    int r = list->nodes < GTEL_DRM_NODES_MAX ? look(env, kind, number, &card) : -E2BIG;
    list->missed += r < 0 && r != -ENOENT;
    if (r < 0)
        return;
    struct gtel_drm_device *device = find_or_add(list, &card);
    device->has_work |= kinds[kind].takes_work;
    list->node[list->nodes++] =
        (struct gtel_drm_node){kinds[kind].major, number, (uint32_t)(device - list->device)};
}

int gtel_drm_devices(const struct gtel_env *env, struct gtel_arena *arena, bool wants_render,
                     struct gtel_drm_devices *ret)
{
    struct gtel_drm_devices list = {0};
    struct numbers numbers[KINDS] = {0};
    int result = -ENOENT;
    size_t n = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        bool is_wanted = kind != RENDER || wants_render;
        int r = is_wanted ? list_kind(env, (enum kind)kind, &numbers[kind]) : -ENOENT;
        if (r != -ENOENT && (r < 0 || result == -ENOENT))
            result = r;
        list.missed += numbers[kind].missed;
        n += numbers[kind].n;
    }
    list.node = gtel_arena_alloc(arena, n * sizeof(*list.node));
    list.device = gtel_arena_alloc(arena, n * sizeof(*list.device));
    if (!list.node || !list.device)
        return -ENOMEM;
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < numbers[kind].n; i++)
            add_node(env, &list, (enum kind)kind, numbers[kind].number[i]);
    *ret = list;
    return result;
}

/* The lowest number: a device has one render node, unless a driver to come makes more. */
static int see_node(void *arg, struct gtel_str name)
{
    uint64_t *lowest = arg;
    uint64_t number;
    if (is_numbered(name, kinds[RENDER].prefix, &number) && number < *lowest)
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

/* ---- queries ---- */

enum {
    REGIONS_BYTES = 16 + GTEL_DRM_REGIONS_MAX * (int)sizeof(struct gtel_i915_region_record),
    ENGINES_BYTES = 8 + GTEL_XE_ENGINES_MAX * (int)sizeof(struct gtel_xe_engine_record)
};

int gtel_drm_regions(const struct gtel_env *env, const char *node, enum gtel_drm_driver driver,
                     size_t *length, struct gtel_drm_regions *ret)
{
    unsigned char answer[REGIONS_BYTES];
    bool is_xe = driver == GTEL_DRM_XE;
    uint32_t item = is_xe ? GTEL_XE_QUERY_MEM_REGIONS : GTEL_I915_QUERY_MEMORY_REGIONS;
    size_t room = *length > 0 && *length < sizeof(answer) ? *length : sizeof(answer);
    *length = 0;
    int64_t n = gtel_env_drm_query(env, node, driver, item, answer, room);
    if (n == -E2BIG && room < sizeof(answer)) /* it has grown */
        n = gtel_env_drm_query(env, node, driver, item, answer, sizeof(answer));
    if (n < 0)
        return (int)n;
    *length = (size_t)n;
    return is_xe ? gtel_xe_regions_parse(answer, (size_t)n, ret)
                 : gtel_i915_regions_parse(answer, (size_t)n, ret);
}

int gtel_drm_xe_engines(const struct gtel_env *env, const char *node, struct gtel_xe_engine *list,
                        size_t max, size_t *ret_n)
{
    unsigned char answer[ENGINES_BYTES];
    int64_t n =
        gtel_env_drm_query(env, node, GTEL_DRM_XE, GTEL_XE_QUERY_ENGINES, answer, sizeof(answer));
    if (n < 0)
        return (int)n;
    return gtel_xe_engines_parse(answer, (size_t)n, list, max, ret_n);
}
