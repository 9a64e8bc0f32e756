/* SPDX-License-Identifier: MIT */
/*
 * All devices with DRM nodes, whatever their driver: GPUs below sys/class/drm, and accelerators
 * (NPUs) below sys/class/accel, which are DRM devices with nodes of another kind.
 *
 * Which device a descriptor belongs to, by the numbers of its node. Only links and uevent
 * texts are read, so that a sleeping device stays asleep.
 */
#ifndef GTEL_HOST_DRM_NODES_H
#define GTEL_HOST_DRM_NODES_H

#include "host/drm.h"

enum {
    GTEL_DRM_MAJOR = 226, /* kernel: Documentation/admin-guide/devices.txt */
    GTEL_ACCEL_MAJOR = 261,
    GTEL_DRM_PATH_MAX = 64,  /* bytes of a device's path with its NUL */
    GTEL_DRM_NODES_MAX = 512 /* more are dropped and counted; the same for devices */
};

struct gtel_drm_device {
    struct gtel_drm_card card;    /* its name: the first node's, "card0" or "accel0" */
    char path[GTEL_DRM_PATH_MAX]; /* "sys/class/drm/card0/device" */
    bool has_work; /* has a node that takes work: a render node or an accelerator's */
};

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
 * Lists all, in the arena. 0, -ENOENT where there are neither GPUs nor accelerators, -ENOMEM, or
 * the errno of the listing.
 */
int gtel_drm_devices(const struct gtel_env *env, struct gtel_arena *arena,
                     struct gtel_drm_devices *ret);

#endif
