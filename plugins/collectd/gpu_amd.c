/* SPDX-License-Identifier: MIT */
/* The plugin gpu_amd: AMD GPUs. */
#include "module.h"

const struct gtel_collectd_plugin gtel_collectd_plugin = {.name = "gpu_amd", .vendor = "amd"};
