/* SPDX-License-Identifier: MIT */
/* All devices with DRM nodes. */
#include "host/drm_nodes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The number in a node's name is its minor number (kernel: drm_sysfs_minor_alloc in
 * drivers/gpu/drm/drm_sysfs.c names it by minor->index, which is the minor number, too).
 */
static const struct {
    const char *folder;
    struct gtel_str prefix;
    uint32_t major;
    bool takes_work;
} kinds[] = {
    {"sys/class/drm", GTEL_STR_INIT("card"), GTEL_DRM_MAJOR, false},
    {"sys/class/drm", GTEL_STR_INIT("renderD"), GTEL_DRM_MAJOR, true},
    {"sys/class/accel", GTEL_STR_INIT("accel"), GTEL_ACCEL_MAJOR, true},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

struct lister {
    size_t kind;
    struct gtel_drm_devices *list;
    size_t first; /* nodes of the kinds before */
};

static int keep_node(void *arg, struct gtel_str name)
{
    struct lister *lister = arg;
    struct gtel_str prefix = kinds[lister->kind].prefix;
    uint64_t number;
    if (!gtel_str_starts(name, prefix) ||
        gtel_str_u64(gtel_str_skip(name, prefix.n), &number) < 0 || number > UINT32_MAX)
        return 0;
    if (lister->list->nodes == GTEL_DRM_NODES_MAX) {
        lister->list->missed++;
        return 0;
    }
    lister->list->node[lister->list->nodes++] =
        (struct gtel_drm_node){.major = kinds[lister->kind].major, .minor = (uint32_t)number};
    return 0;
}

static int compare_nodes(const void *a, const void *b)
{
    const struct gtel_drm_node *left = a;
    const struct gtel_drm_node *right = b;
    return (left->minor > right->minor) - (left->minor < right->minor);
}

/* The device of that key and class of nodes, added when it is new. */
static uint32_t find_or_add(struct gtel_drm_devices *list, const struct gtel_drm_card *card,
                            size_t kind)
{
    for (size_t i = 0; i < list->n; i++)
        if (gtel_drm_is_accel(&list->device[i].card) == gtel_drm_is_accel(card) &&
            strcmp(list->device[i].card.key, card->key) == 0)
            return (uint32_t)i;
    struct gtel_drm_device *device = &list->device[list->n];
    *device = (struct gtel_drm_device){.card = *card};
    (void)snprintf(device->path, sizeof(device->path), "%s/%s/device", kinds[kind].folder,
                   card->card);
    return (uint32_t)list->n++;
}

/* Finds the devices of the nodes that were just listed; those without one are skipped. */
static void find_devices(const struct gtel_env *env, struct lister *lister)
{
    struct gtel_drm_devices *list = lister->list;
    struct gtel_drm_card card;
    char name[32];
    size_t kept = lister->first;
    for (size_t i = lister->first; i < list->nodes; i++) {
        struct gtel_drm_node node = list->node[i];
        (void)snprintf(name, sizeof(name), "%s%lu", kinds[lister->kind].prefix.p,
                       (unsigned long)node.minor);
        int r =
            gtel_drm_look(env, kinds[lister->kind].folder, gtel_str_of(name), GTEL_STR_NONE, &card);
        if (r < 0) {
            list->missed += r == -ENOENT ? 0 : 1;
            continue;
        }
        node.device = find_or_add(list, &card, lister->kind);
        list->device[node.device].has_work |= kinds[lister->kind].takes_work;
        list->node[kept++] = node;
    }
    list->nodes = kept;
}

int gtel_drm_devices(const struct gtel_env *env, struct gtel_arena *arena,
                     struct gtel_drm_devices *ret)
{
    struct gtel_drm_devices list = {0};
    int first = -ENOENT;
    list.node = gtel_arena_alloc(arena, GTEL_DRM_NODES_MAX * sizeof(*list.node));
    list.device = gtel_arena_alloc(arena, GTEL_DRM_NODES_MAX * sizeof(*list.device));
    if (!list.node || !list.device)
        return -ENOMEM;
    for (size_t kind = 0; kind < KINDS; kind++) {
        struct lister lister = {.kind = kind, .list = &list, .first = list.nodes};
        int r = env->ops->dir_list(env->arg, kinds[kind].folder, keep_node, &lister);
        if (r < 0 && r != -ENOENT)
            return r;
        first = r == 0 ? 0 : first;
        qsort(list.node + lister.first, list.nodes - lister.first, sizeof(*list.node),
              compare_nodes);
        find_devices(env, &lister);
    }
    if (first == 0)
        *ret = list;
    return first;
}
