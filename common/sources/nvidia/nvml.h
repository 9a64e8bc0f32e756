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
#include "sources/source.h"

/*
 * ---- sleep.c: sleeping GPUs are not touched, and idle ones may fall asleep ----
 *
 * A call of NVML wakes a runtime-suspended GPU, and an open handle keeps it awake for as long as it
 * is open (seen on laptops; after closing, the GPU sleeps in about 6 s). So sysfs is read first,
 * and NVML is closed when GPUs that may sleep have nothing to do. Servers are not concerned: their
 * GPUs are never suspended, and starting NVML again and again has caused driver trouble.
 */

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

/*
 * 0, or a negative errno when Plug and Play cannot list them: nobody knows who sleeps. Where they
 * may be woken, none counts as asleep.
 */
int gtel_nvml_pci_list(const struct gtel_env *env, bool may_wake, struct gtel_nvml_pci_gpus *ret);
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

/* ---- the source ---- */

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
