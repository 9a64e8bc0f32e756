/* SPDX-License-Identifier: MIT */
/*
 * NVLink: what all links together have moved, and the state of each, what it has moved and its
 * errors. Of the links to the CPU of one module, NVLink-C2C (c2c0 and so on), state and errors.
 *
 * On an H200 with driver 580.159 the sum of both ways takes 1 to 3 ms, all fields of one link as
 * much, and 18 links 15 ms: so long gathers (gpu.h) read the sum, and the first ones and then the
 * next after each minute all links. Both are exact there: of 3,221,225,472,000 bytes copied from
 * one GPU to another, 18 links had sent as many, and the others received them; GPM's rates were 2.4
 * % above. What nvmlDeviceGetNvLinkErrorCounter says is not used: its kinds 3 and 4 grow with
 * traffic on healthy links.
 */
#ifndef GTEL_SOURCES_NVIDIA_NVLINK_H
#define GTEL_SOURCES_NVIDIA_NVLINK_H

#include "pipeline/reading.h"
#include "sources/nvidia/library.h"

struct gtel_nvml_gpu;

enum { GTEL_NVML_LINKS_MAX = 36, GTEL_NVML_C2C_MAX = 14 };

enum gtel_nvml_links_state { GTEL_NVML_LINKS_UNCOUNTED, GTEL_NVML_LINKS_COUNTED };

/* Of one GPU. A zeroed struct has not been asked yet. */
struct gtel_nvml_links {
    unsigned n;      /* links; 0: none, or not known */
    unsigned c2c;    /* the same of those to the CPU */
    uint64_t due_ns; /* when all of them are read again */
    enum gtel_nvml_links_state state;
    uint32_t absent[3]; /* by what is asked for: a bit per field that it does not have */
};

/* Reads what is due and appends it. Failures count as failed readings. */
void gtel_nvml_links_sample(struct gtel_nvml_library *library, struct gtel_nvml_gpu *gpu,
                            struct gtel_batch *batch);

#endif
