/* SPDX-License-Identifier: MIT */
/*
 * The kernel's own list of the descriptors of DRM devices, for env_posix.c only: by a BPF iterator
 * over all open files (host/bpf/drm_fds.bpf.c), where the program is built with GTEL_BPF.
 *
 * Needs Linux 5.8 or newer with its types (CONFIG_DEBUG_INFO_BTF), CAP_BPF and CAP_PERFMON. It is
 * loaded at the first call, which takes about 15 ms, and stays.
 */
#ifndef GTEL_HOST_DRM_FDS_H
#define GTEL_HOST_DRM_FDS_H

#include "host/env.h"

/* Zeroed: not loaded. */
struct gtel_drm_fds {
    void *object; /* libbpf's */
    void *link;
    int error; /* why it cannot be had: a negative errno */
};

/* As drm_fds of gtel_env_ops. What cannot be loaded once is not tried again. */
int gtel_drm_fds_list(struct gtel_drm_fds *fds, gtel_drm_fd_fn fn, void *fn_arg);
void gtel_drm_fds_done(struct gtel_drm_fds *fds);

#endif
