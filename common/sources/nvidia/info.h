/* SPDX-License-Identifier: MIT */
/* What a GPU is and how it is set: the labels of gpu_info that only NVML knows. */
#ifndef GTEL_SOURCES_NVIDIA_INFO_H
#define GTEL_SOURCES_NVIDIA_INFO_H

#include "pipeline/device.h"
#include "sources/nvidia/gpu.h"

/*
 * Sets architecture, compute capability, CUDA version, firmware of the GPU system processor and
 * modes, as far as NVML answers; what it does not answer stays as it was. By each discovery: modes
 * can be changed while programs run. For a GPU with a handle.
 */
void gtel_nvml_label_info(const struct gtel_nvml_calls *call, struct gtel_registry *registry,
                          const struct gtel_nvml_gpu *gpu);

#endif
