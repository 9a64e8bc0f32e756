/* SPDX-License-Identifier: MIT */
/*
 * Queries to the DRM drivers of the machine, for env_posix.c only.
 *
 * The node is open for the time of the call: who holds one open is a client of the GPU, and shows
 * in the lists of other tools.
 */
#ifndef GTEL_HOST_DRM_QUERY_POSIX_H
#define GTEL_HOST_DRM_QUERY_POSIX_H

#include "host/env.h"

/* As drm_query of gtel_env_ops, with the node relative to the directory root_fd. */
int64_t gtel_drm_query_posix(int root_fd, const char *node, enum gtel_drm_driver driver,
                             uint32_t item, void *buf, size_t n);

#endif
