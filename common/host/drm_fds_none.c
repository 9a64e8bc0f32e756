/* SPDX-License-Identifier: MIT */
/* The list of descriptors of DRM devices in a build without BPF: there is none. */
#include "host/drm_fds.h"

#include <errno.h>

int gtel_drm_fds_list(struct gtel_drm_fds *fds, gtel_drm_fd_fn fn, void *fn_arg)
{
    (void)fds;
    (void)fn;
    (void)fn_arg;
    return -EOPNOTSUPP;
}

void gtel_drm_fds_done(struct gtel_drm_fds *fds)
{
    (void)fds;
}
