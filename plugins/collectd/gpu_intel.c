/* SPDX-License-Identifier: MIT */
/* The plugin gpu_intel: Intel GPUs. */
#include "module.h"

const struct gtel_collectd_plugin gtel_collectd_plugin = {.name = "gpu_intel", .vendor = "intel"};
