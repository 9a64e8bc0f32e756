/* SPDX-License-Identifier: MIT */
/* The plugin gpu_drm: GPUs of every DRM driver that no other plugin reads. */
#include "module.h"

const struct gtel_collectd_plugin gtel_collectd_plugin = {.name = "gpu_drm", .vendor = "drm"};
