/* SPDX-License-Identifier: MIT */
/*
 * The processes of a GPU: memory, and now and then their shares of its engines.
 *
 * NVML lists processes by kind of context (compute, graphics, MPS); one with both is in two lists,
 * with the same memory. The lists take 12 to 32 us each on an H200 (driver 580.159), but the shares
 * 2.0 to 3.9 ms, so these come in long gathers only (gpu.h). They are means over the time asked for
 * or, of a process that is new and alone, since it began (H100, driver 580.159.04). Nothing is
 * reported in WSL, where the numbers are those of Windows.
 */
#ifndef GTEL_SOURCES_NVIDIA_PROCESSES_H
#define GTEL_SOURCES_NVIDIA_PROCESSES_H

#include "pipeline/reading.h"
#include "sources/nvidia/library.h"

struct gtel_nvml_gpu;

enum { GTEL_NVML_PROCESSES_MAX = 8192 }; /* of one GPU; of more, the GPU has no process data */

struct gtel_nvml_process {
    uint32_t pid;
    uint32_t gpu_instance; /* UINT32_MAX without MIG */
    uint32_t compute_instance;
    uint64_t bytes; /* UINT64_MAX: not known */
    uint64_t start; /* of the process, in clock ticks since boot; 0: not known */
    /* Percent since the last time, as NVML orders them: SM, encoder, decoder, JPEG, OFA. Where the
     * first is above 100, they are not known. */
    uint8_t share[5];
};

/* What NVML gives, until it is started again. */
enum gtel_nvml_lists {
    GTEL_NVML_LISTS_NEW,      /* shares were not asked for yet */
    GTEL_NVML_LISTS_SHARES,   /* they were */
    GTEL_NVML_LISTS_NO_SHARES /* there are none */
};

struct gtel_nvml_process_list {
    struct gtel_nvml_process *process;
    size_t n;
    size_t size;
};

/* Of one GPU. */
struct gtel_nvml_processes {
    struct gtel_nvml_process_list now;    /* of this gather */
    struct gtel_nvml_process_list before; /* and of the one before */
    unsigned hidden;   /* further entries, of processes that have no number here */
    uint64_t seen_us;  /* time of the newest share, on the driver's clock */
    uint64_t asked_ns; /* when shares were asked for last */
    enum gtel_nvml_lists lists;
    uint64_t due_ns; /* when to ask for lists that were refused, or were not understood */
};

/* Whose numbers of processes NVML gives. */
enum gtel_nvml_pids {
    GTEL_NVML_PIDS_OURS,
    GTEL_NVML_PIDS_FOREIGN, /* a container's: its processes alone, without names */
    GTEL_NVML_PIDS_WINDOWS  /* in WSL: nothing is reported */
};

/* Room for what NVML answers, shared by all GPUs. */
struct gtel_nvml_process_room {
    enum gtel_nvml_pids pids;
    unsigned char *bytes;
    size_t entries; /* of the longest form */
};

/*
 * Reports the processes of a GPU that has a handle, through batch->usage. A failure counts as a
 * failed reading; then nothing is reported of processes in this gather.
 */
void gtel_nvml_processes_sample(struct gtel_nvml_library *library,
                                struct gtel_nvml_process_room *room, struct gtel_nvml_gpu *gpu,
                                struct gtel_batch *batch);
/* Asks for everything again: NVML was started again. */
void gtel_nvml_processes_forget(struct gtel_nvml_processes *processes);
/* Frees what a GPU has; it can be used again. */
void gtel_nvml_processes_done(struct gtel_nvml_processes *processes);

#endif
