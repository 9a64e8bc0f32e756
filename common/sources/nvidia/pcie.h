/* SPDX-License-Identifier: MIT */
/*
 * Bytes on the PCIe link, counted by us in one of two ways.
 *
 * Fields 197 and 198 count bytes, but "can be wrapped" (NVML API Reference, Field Value Enums): on
 * an H200 with driver 580.159 they are 32 bits wide, which a link of generation 5 with 16 lanes
 * fills 13 times a second. Two readings of them say how many bytes there were only where the link
 * cannot move 2^32 bytes in between; the difference modulo 2^32 is right for a wider counter, too.
 * Elsewhere GPM's mean rate times its window counts (gpm.h), where the GPU has it.
 *
 * The sums are 0 at the end of the first time that could have been counted, and again after a hole:
 * a counter that goes back is a restart for everybody who reads it, a hole would be a wrong rate.
 */
#ifndef GTEL_SOURCES_NVIDIA_PCIE_H
#define GTEL_SOURCES_NVIDIA_PCIE_H

#include "base/counter.h"
#include "host/env.h"
#include "pipeline/reading.h"

struct gtel_nvml_gpu;

/* Both ways: sent by the GPU, received by it. */
enum { GTEL_NVML_PCIE_TX, GTEL_NVML_PCIE_RX, GTEL_NVML_PCIE_WAYS };

/* What one gather adds. */
struct gtel_nvml_pcie_step {
    enum {
        GTEL_NVML_STEP_NONE,  /* nothing was read: the next step covers this time as well */
        GTEL_NVML_STEP_BYTES, /* all bytes since the step before */
        GTEL_NVML_STEP_HOLE   /* the bytes since the step before are not known */
    } kind;
    uint64_t window_ns;
    double bytes[GTEL_NVML_PCIE_WAYS];
};

enum gtel_nvml_by { GTEL_NVML_BY_NOTHING, GTEL_NVML_BY_FIELD, GTEL_NVML_BY_GPM };

/* The bytes of one GPU. */
struct gtel_nvml_pcie {
    double speed; /* bytes a second that the link can move at most; 0: not known */
    enum gtel_nvml_by by;
    bool is_counting; /* the sums are those since they were 0, without a hole */
    uint64_t bytes[GTEL_NVML_PCIE_WAYS];
    struct gtel_counter field[GTEL_NVML_PCIE_WAYS];
};

/* Bytes a second of a link of that generation and width; 0: not known. */
double gtel_nvml_pcie_speed(unsigned gen, unsigned width);
/* Counts what the gather has read since batch->t_ns, after GPM, and appends the sums. */
void gtel_nvml_pcie_sample(const struct gtel_env *env, struct gtel_nvml_gpu *gpu,
                           struct gtel_batch *batch);
/* Starts again: nothing is known of the time before. */
void gtel_nvml_pcie_forget(struct gtel_nvml_pcie *pcie);

#endif
