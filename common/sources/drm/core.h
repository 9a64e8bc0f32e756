/* SPDX-License-Identifier: MIT */
/*
 * Which device has a GPU's power state and clock.
 *
 * Mostly it is the one behind the DRM card. Some drivers make the card of a display controller or
 * of a device without hardware, and the GPU is a device of another driver: the state of the card
 * means nothing for it (kernel: msm/adreno/adreno_device.c, vc4/vc4_v3d.c, etnaviv/etnaviv_gpu.c).
 */
#ifndef GTEL_SOURCES_DRM_CORE_H
#define GTEL_SOURCES_DRM_CORE_H

#include "host/drm.h"

/*
 * Writes the path of the device into path: GTEL_FS_PATH_MAX bytes. 0; -ENOENT where there is none,
 * or several of which none stands for the GPU; or the error of the listing.
 */
int gtel_core_find(const struct gtel_env *env, const struct gtel_drm_card *drm, char *path);

#endif
