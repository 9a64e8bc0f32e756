/* SPDX-License-Identifier: MIT */
/*
 * Sleeping GPUs are not touched, and idle ones may fall asleep.
 *
 * A call of NVML wakes a runtime-suspended GPU, and an open handle keeps it awake for as long as it
 * is open (seen on laptops; after closing, the GPU sleeps in about 6 s). So sysfs is read first,
 * and NVML is closed when GPUs that may sleep have nothing to do. Servers are not concerned: their
 * GPUs are never suspended, and starting NVML again and again has caused driver trouble.
 */
#ifndef GTEL_SOURCES_NVIDIA_SLEEP_H
#define GTEL_SOURCES_NVIDIA_SLEEP_H

#include "sources/nvidia/gpu.h"

enum { GTEL_NVML_GPUS_MAX = 64 };

/* GPUs with NVIDIA's driver that sysfs, or Plug and Play, shows; none where neither does (WSL). */
struct gtel_nvml_pci_gpus {
    struct {
        char address[GTEL_PCI_TEXT_MAX];
        bool is_asleep;
    } gpu[GTEL_NVML_GPUS_MAX];
    size_t n;
    size_t asleep; /* so many of them */
};

/* 0, or a negative errno when Plug and Play cannot list them: nobody knows who sleeps. */
int gtel_nvml_pci_list(const struct gtel_env *env, struct gtel_nvml_pci_gpus *ret);
/* Opens the power files of the GPU at that PCI address. */
void gtel_nvml_watch_sleep(const struct gtel_env *env, struct gtel_nvml_gpu *gpu,
                           const char *address);
/* Whether the GPU is suspended now; where that is not known, false, but under Windows true. */
bool gtel_nvml_is_asleep(const struct gtel_env *env, const struct gtel_nvml_gpu *gpu);

/* When NVML is closed so that GPUs can fall asleep. Zeroed: all GPUs work. */
struct gtel_nvml_sleep {
    uint64_t idle_ns;   /* since when no GPU does anything; 0: one does */
    uint64_t closed_ns; /* when NVML was closed to let them sleep; 0: it was not */
    uint64_t wait_ns;   /* how long they must be idle before that; 0: the default */
};

/* After a sample: whether NVML is to be closed now. is_idle: no GPU works, and all may suspend. */
bool gtel_nvml_sleep_begin(struct gtel_nvml_sleep *sleep, bool is_idle, uint64_t now_ns);
/* Whether NVML is closed for that reason and should stay so for now. */
bool gtel_nvml_sleep_is_on(struct gtel_nvml_sleep *sleep, uint64_t now_ns);

#endif
