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
#include "parse/pci.h"

enum {
    GTEL_DRM_CARDS_MAX = 256, /* more are dropped and counted */
    GTEL_DRM_NAME_MAX = 64 /* bytes of a name with its NUL; a card with a longer one is omitted */
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

/*
 * What is behind one node below a class's folder ("sys/class/drm", "card0"), when its driver is
 * that one (empty: any). 0; -ENOENT when it is not, or has gone; else the check failed.
 */
int gtel_drm_look(const struct gtel_env *env, const char *folder, struct gtel_str name,
                  struct gtel_str driver, struct gtel_drm_card *ret);

/*
 * Cards of that driver (empty: any) in the order of their numbers, accelerators last, allocated in
 * the arena. *ret_n may be 0. *ret_missed counts cards beyond the limit and cards whose check
 * failed: what is not in the list may still be there. 0, -ENOENT without DRM, -ENOMEM, or the errno
 * of the listing. A card that vanishes meanwhile is omitted.
 */
int gtel_drm_list(const struct gtel_env *env, struct gtel_arena *arena, struct gtel_str driver,
                  struct gtel_drm_card **ret, size_t *ret_n, size_t *ret_missed);

enum { GTEL_DRM_NODE_MAX = 32 }; /* bytes of a node's path with its NUL */

/*
 * The render node of the device in that directory ("sys/class/drm/card0/device"), as a path below
 * the root: "dev/dri/renderD128". 0, -ENOENT when the device has none, or the errno of the listing.
 */
int gtel_drm_render_node(const struct gtel_env *env, const char *device_path,
                         char node[GTEL_DRM_NODE_MAX]);

/* Whether the machine has a card or accelerator of that driver; false also when it is not known. */
bool gtel_drm_has(const struct gtel_env *env, struct gtel_str driver);

#endif
