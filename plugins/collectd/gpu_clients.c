/* SPDX-License-Identifier: MIT */
/* The plugin gpu_clients: which processes use the GPUs, of all drivers of the kernel. */
#include "module.h"

const struct gtel_collectd_plugin gtel_collectd_plugin = {.name = "gpu_clients",
                                                          .vendor = "clients"};
