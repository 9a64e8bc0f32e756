/* SPDX-License-Identifier: MIT */
/*
 * GPUs and NPUs that a DRM driver has: what lies below sys/class/drm, and accelerators, which are
 * DRM devices with nodes of another kind, below sys/class/accel (kernel: Documentation/accel).
 *
 * Finding a card reads links and the uevent text alone: both come from the kernel's memory, so that
 * a sleeping GPU stays asleep. Connectors ("card0-HDMI-A-1"), render nodes and control nodes are no
 * cards. Card numbers change between boots; the key is the identity.
 */
#ifndef GTEL_HOST_DRM_H
#define GTEL_HOST_DRM_H

#include "host/fs.h"
#include "parse/drm_regions.h"
#include "parse/pci.h"

enum {
    GTEL_DRM_NODES_MAX = 512, /* more are dropped and counted; the same for devices */
    GTEL_DRM_NAME_MAX = 64, /* bytes of a name with its NUL; a card with a longer one is omitted */
    GTEL_DRM_PATH_MAX = 64, /* the same of a device's path */
    GTEL_DRM_NODE_MAX = 32  /* and of a node's */
};

struct gtel_drm_card {
    char card[16];                  /* "card10", "accel0"; empty under Windows */
    char driver[GTEL_DRM_NAME_MAX]; /* "xe" */
    /* PCI address in the kernel's form, or the platform device's name. */
    char key[GTEL_DRM_NAME_MAX];
    bool is_pci;
    struct gtel_pci pci; /* when is_pci */
    uint16_t vendor_id;  /* 0: not known */
    uint16_t device_id;
};

/* Whether a name is "card" followed by a decimal number and nothing else. */
bool gtel_drm_is_card(struct gtel_str name);

/* Whether it is an accelerator. */
static inline bool gtel_drm_is_accel(const struct gtel_drm_card *card)
{
    return card->card[0] == 'a'; /* else "card…" or "renderD…" */
}

/* Below which the card's own folder is: "sys/class/drm" or "sys/class/accel". */
static inline const char *gtel_drm_folder(const struct gtel_drm_card *card)
{
    return gtel_drm_is_accel(card) ? "sys/class/accel" : "sys/class/drm";
}

/* A device with DRM nodes. */
struct gtel_drm_device {
    struct gtel_drm_card card;    /* its name: the first node's, "card0" or "accel0" */
    char path[GTEL_DRM_PATH_MAX]; /* "sys/class/drm/card0/device" */
    bool has_work; /* has a node that takes work: a render node or an accelerator's */
};

/* The numbers of a node show which device a descriptor belongs to. */
struct gtel_drm_node {
    uint32_t major;
    uint32_t minor;
    uint32_t device; /* position in the list */
};

struct gtel_drm_devices {
    struct gtel_drm_device *device; /* in the order of their first nodes, accelerators last */
    size_t n;
    struct gtel_drm_node *node;
    size_t nodes;
    size_t missed; /* nodes beyond the limit, or not checked: what is not here may be there */
};

/*
 * Lists the devices of all drivers, in the arena, by their cards and accelerators, and where that
 * is wanted by their render nodes, too. 0, -ENOENT where there are neither GPUs nor accelerators,
 * -ENOMEM, or the errno of a folder that cannot be listed: *ret has what is in the others then.
 * What vanishes meanwhile is omitted.
 */
int gtel_drm_devices(const struct gtel_env *env, struct gtel_arena *arena, bool wants_render,
                     struct gtel_drm_devices *ret);

/*
 * The render node of the device in that directory ("sys/class/drm/card0/device"), as a path below
 * the root: "dev/dri/renderD128". 0, -ENOENT when the device has none, or the errno of the listing.
 */
int gtel_drm_render_node(const struct gtel_env *env, const char *device_path,
                         char node[GTEL_DRM_NODE_MAX]);

/*
 * What i915 and xe answer about themselves: memory regions and engines. Each call opens the render
 * node, asks and closes it (the env's drm_query). It needs the right to the node, usually the group
 * render. A query wakes a GPU of xe, and opening a node may wake one of i915: only for GPUs that
 * may be read now (sources/drm/cards.h). Errors are those of drm_query, and -EINVAL for an answer
 * that makes no sense.
 */

/*
 * node: "dev/dri/renderD128", from gtel_drm_render_node. *length: of the answer
 * before, or 0; then that of this one. It usually does not change, and to know it saves a call.
 */
int gtel_drm_regions(const struct gtel_env *env, const char *node, enum gtel_drm_driver driver,
                     size_t *length, struct gtel_drm_regions *ret);

/*
 * The engines of an xe GPU, which do not change while its driver is bound. At most max, -E2BIG
 * beyond; *ret_n is written on success.
 */
int gtel_drm_xe_engines(const struct gtel_env *env, const char *node, struct gtel_xe_engine *list,
                        size_t max, size_t *ret_n);

#endif
