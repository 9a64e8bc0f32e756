/* SPDX-License-Identifier: MIT */
/* What NVML's result codes mean. */
#include "sources/nvidia/code.h"

#include "base/compiler.h"
#include "host/pnp.h"

#include <stddef.h>

enum gtel_nvml_meaning gtel_nvml_meaning(int code)
{
    switch (code) {
    case GTEL_NVML_SUCCESS:
        return GTEL_NVML_MEANS_FINE;
    case GTEL_NVML_NOT_FOUND:
    case GTEL_NVML_NO_DATA:
    case GTEL_NVML_NOT_READY:
        return GTEL_NVML_MEANS_NO_VALUE;
    case GTEL_NVML_INVALID_ARGUMENT:
    case GTEL_NVML_NOT_SUPPORTED:
    case GTEL_NVML_NO_PERMISSION:
    case GTEL_NVML_FUNCTION_NOT_FOUND:
    case GTEL_NVML_ARGUMENT_VERSION_MISMATCH: /* the older form is the next row of the group */
    case GTEL_NVML_DEPRECATED:
        return GTEL_NVML_MEANS_ABSENT;
    case GTEL_NVML_GPU_IS_LOST:
    case GTEL_NVML_RESET_REQUIRED:
    case GTEL_NVML_GPU_NOT_FOUND:
        return GTEL_NVML_MEANS_NO_GPU;
    case GTEL_NVML_UNINITIALIZED:
    case GTEL_NVML_DRIVER_NOT_LOADED:
    case GTEL_NVML_VERSION_MISMATCH:
        return GTEL_NVML_MEANS_BROKEN;
    default:
        return GTEL_NVML_MEANS_FAILURE;
    }
}

/* The last one is for all others. */
static const struct gtel_nvml_code texts[] = {
    {GTEL_NVML_DRIVER_NOT_LOADED, "the kernel driver is not loaded", "load it:\nmodprobe nvidia"},
    {GTEL_NVML_VERSION_MISMATCH,
     "library and kernel driver are of different versions: reload the driver or reboot",
     "load the driver of the library's version: reboot, or stop what uses the GPUs, then "
     "modprobe -r nvidia_uvm nvidia_drm nvidia_modeset nvidia; modprobe nvidia"},
    {GTEL_NVML_NO_PERMISSION,
     "this user may not open /dev/nvidiactl: let it read and write that file",
     "let this user read and write /dev/nvidiactl and /dev/nvidia0"},
    {GTEL_NVML_GPU_IS_LOST, "no GPU answers any more",
     "reboot; dmesg | grep Xid says what happened"},
    {GTEL_NVML_UNKNOWN, "in a container, are the device nodes there?",
     "nvidia-smi says whether the driver works; in a container, check the device nodes"},
    {0, "it may be a stub without a driver",
     "nvidia-smi says whether the driver works; in a container, check the device nodes"},
};

const struct gtel_nvml_code *gtel_nvml_code(int code)
{
    size_t i = 0;
    while (i + 1 < GTEL_ARRAY_LEN(texts) && texts[i].code != code)
        i++;
    return &texts[i];
}

const char *gtel_nvml_code_text(const struct gtel_env *env, int code)
{
    const char *text = gtel_nvml_code(code)->text;
    switch (code) {
    case GTEL_NVML_NO_PERMISSION:
        return gtel_pnp_word(env, "this user may not use the driver", text);
    case GTEL_NVML_UNKNOWN:
        return gtel_pnp_word(env, "nvidia-smi says whether the driver works", text);
    default:
        return text;
    }
}
