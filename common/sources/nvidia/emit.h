/* SPDX-License-Identifier: MIT */
/* Readings from the answers of a GPU's rows. */
#ifndef GTEL_SOURCES_NVIDIA_EMIT_H
#define GTEL_SOURCES_NVIDIA_EMIT_H

#include "sources/nvidia/gpu.h"

/* Appends what the slots hold. */
void gtel_nvml_emit(const struct gtel_nvml_gpu *gpu, struct gtel_batch *batch);

#endif
