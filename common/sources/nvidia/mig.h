/* SPDX-License-Identifier: MIT */
/*
 * MIG: instances of a GPU, each of which is a device to its users.
 *
 * One is a compute instance within a GPU instance, and a device with the label `instance`: mig1.0
 * is compute instance 0 of GPU instance 1. It is read like a GPU, but for the rows that are not of
 * instances (rows.h). Memory, errors and activity are of the GPU instance: the first of its compute
 * instances reports them, so that sums are right.
 *
 * Handles end when instances are destroyed, and numbers are used again for others. So all are
 * identified in each gather, by uuid and name (with the profile); another one of the same number is
 * a device that has been removed and has come back: no rate or mean reaches across.
 */
#ifndef GTEL_SOURCES_NVIDIA_MIG_H
#define GTEL_SOURCES_NVIDIA_MIG_H

#include "pipeline/reading.h"
#include "sources/nvidia/library.h"

struct gtel_nvml_gpu;

enum { GTEL_NVML_INSTANCES_MAX = 16 }; /* of one GPU; drivers allow 7 */

/* The instances of one GPU. */
struct gtel_nvml_mig {
    uint64_t due_ns; /* when to ask for the number of places; UINT64_MAX: the GPU has no MIG */
    unsigned places; /* for instances; 0: MIG is off */
    struct gtel_nvml_gpu *instance[GTEL_NVML_INSTANCES_MAX];
    size_t n;
};

/*
 * Finds the instances of a GPU that has a handle: adds and removes them. With MIG off one call in a
 * minute. Those without a handle must not be read in this gather.
 */
void gtel_nvml_mig_update(struct gtel_nvml_library *library, struct gtel_registry *registry,
                          struct gtel_nvml_gpu *gpu, struct gtel_batch *batch);
/* Appends the readings of an instance that has a handle, as gtel_nvml_gpu_sample does. */
void gtel_nvml_mig_sample(struct gtel_nvml_library *library, struct gtel_nvml_gpu *instance,
                          struct gtel_batch *batch);
/* Whether an instance reports what is of its GPU instance. */
bool gtel_nvml_mig_is_first(const struct gtel_nvml_gpu *instance);
/* Removes all instances, before NVML is ended; registry may be NULL when it ends as well. */
void gtel_nvml_mig_remove(const struct gtel_nvml_calls *call, struct gtel_registry *registry,
                          struct gtel_nvml_gpu *gpu);

#endif
