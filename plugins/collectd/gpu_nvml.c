/* SPDX-License-Identifier: MIT */
/* The plugin gpu_nvml: NVIDIA GPUs (collectd itself owns the name gpu_nvidia). */
#include "module.h"

const struct gtel_collectd_plugin gtel_collectd_plugin = {.name = "gpu_nvml", .vendor = "nvidia"};
