/* SPDX-License-Identifier: MIT */
/* NVML where libraries are shared objects. */
#include "sources/nvidia/library.h"

/*
 * Never the name without a version: it belongs to development packages and may be a stub. The paths
 * are where WSL and some container platforms put the driver's libraries; the latter say so in
 * LD_LIBRARY_PATH, which a helper does not get.
 */
const char *const gtel_nvml_names[] = {
    "libnvidia-ml.so.1",
    "/usr/lib/wsl/lib/libnvidia-ml.so.1",
    "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
    "/run/opengl-driver/lib/libnvidia-ml.so.1", /* NixOS */
    NULL,
};
