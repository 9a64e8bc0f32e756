/* SPDX-License-Identifier: MIT */
/* NVML under Windows. */
#include "sources/nvidia/library.h"

#include "host/fs.h"

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

bool gtel_nvml_find_dll(const struct gtel_env *env, char *ret, size_t size)
{
    /* From the folder of Windows. */
    static const char *const paths[] = {"System32/nvml.dll",
                                        "../Program Files/NVIDIA Corporation/NVSMI/nvml.dll"};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(paths); i++)
        if (gtel_fs_exists(env, paths[i]))
            return gtel_str_copy(ret, size, gtel_str_of(paths[i]));
    return false;
}
