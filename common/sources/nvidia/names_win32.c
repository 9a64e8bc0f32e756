/* SPDX-License-Identifier: MIT */
/* NVML under Windows. */
#include "sources/nvidia/library.h"

/*
 * Drivers put it into the folder of the system, and older ones into one of their own (NVML API
 * reference, "Supported operating systems"). The last is never there: recorded machines play one
 * by that name.
 */
const char *const gtel_nvml_names[] = {
    "nvml.dll",
    "C:\\Program Files\\NVIDIA Corporation\\NVSMI\\nvml.dll",
    "libnvidia-ml.so.1",
    NULL,
};
