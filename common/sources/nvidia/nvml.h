/* SPDX-License-Identifier: MIT */
/*
 * State of the NVML source. Its files, from the top:
 *
 *     nvml.c      the source: who is read when
 *     diagnose.c  what is missing, and why
 *     find.c      finds GPUs: key, labels, handles
 *     info.c      what a GPU is and how it is set, for gpu_info
 *     sleep.c     does not touch sleeping GPUs, and lets idle ones sleep
 *     events.c    Xid errors and other events
 *     mig.c       MIG instances
 *     nvlink.c    links to other GPUs
 *     processes.c who uses a GPU
 *     gpu.c       one GPU: asks for what is due; with read.c, emit.c, gpm.c and pcie.c
 *     library.c   opens, starts and ends NVML, and what its result codes mean
 *     rows.c      the table of values
 */
#ifndef GTEL_SOURCES_NVIDIA_NVML_H
#define GTEL_SOURCES_NVIDIA_NVML_H

#include "sources/nvidia/gpu.h"
#include "sources/nvidia/library.h"
#include "sources/nvidia/sleep.h"
#include "sources/source.h"

/* GPUs that NVML counts, and that the last discovery could not look up. */
struct gtel_nvml_refusals {
    size_t n;
    size_t gone;   /* of them: answered as one that has fallen off the bus */
    int code;      /* of the first one */
    size_t logged; /* those that were not known to be lost */
};

struct gtel_nvml {
    const struct gtel_env *env;
    struct gtel_nvml_library library;
    uint64_t suspended_ns;          /* state of gtel_env_has_slept */
    struct gtel_backoff find_pause; /* after a discovery that was not complete */
    struct gtel_nvml_refusals refusals;
    struct gtel_nvml_sleep sleep;
    struct gtel_nvml_process_room room;
    struct gtel_nvml_event_set *events; /* NULL: none yet */
    uint64_t events_due_ns;             /* not before that time a set replaces one that fails */
    struct gtel_nvml_gpu *gpu[GTEL_NVML_GPUS_MAX];
    size_t n;
};

/* Starts NVML if it may, finds GPUs, registers and labels them, marks missing ones. */
void gtel_nvml_find(struct gtel_nvml *nvml, struct gtel_registry *registry);
/* Adds what NVML does not give, and why: struct gtel_source. */
void gtel_nvml_diagnose(void *state, struct gtel_registry *registry,
                        struct gtel_findings *findings);

#endif
