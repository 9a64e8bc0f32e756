/* SPDX-License-Identifier: MIT */
/*
 * Bytes on the PCIe link, counted by us in one of two ways.
 *
 * Fields 197 and 198 count bytes, but "can be wrapped" (NVML API Reference, Field Value Enums): on
 * an H200 with driver 580.159 they are 32 bits wide, which a link of generation 5 with 16 lanes
 * fills 13 times a second. Two readings of them say how many bytes there were only where the link
 * cannot move 2^32 bytes in between; the difference modulo 2^32 is right for a wider counter, too.
 * Elsewhere GPM's mean rate times its window counts (gpm.c), where the GPU has it.
 *
 * The sums are 0 at the end of the first time that could have been counted, and again after a hole:
 * a counter that goes back is a restart for everybody who reads it, a hole would be a wrong rate.
 */
#include "sources/nvidia/nvml.h"

#include <string.h>

static const struct gtel_str no_dim = {NULL, 0};

static const double field_bytes = 4294967296; /* 2^32 */
/* GPM counts headers as well (up to 1.07 of the payload on an H200), a clock jitters. */
static const double slack = 1.25;

uint64_t gtel_nvml_pcie_wrap_ns(unsigned gen, unsigned width)
{
    /* Bits per second and lane of generations 1 to 7, without what the encoding takes: no link is
     * faster (PCI Express Base Specification). */
    static const double bits_per_s[] = {0, 2.5e9, 5e9, 8e9, 16e9, 32e9, 64e9, 128e9};
    if (gen == 0 || gen >= GTEL_ARRAY_LEN(bits_per_s) || width == 0 || width > 32)
        return 0;
    return (uint64_t)(field_bytes * 8 / (bits_per_s[gen] * width) * 1e9);
}

/* Both fields, if they answered in this gather. */
static bool read_fields(const struct gtel_nvml_gpu *gpu, uint32_t *ret)
{
    static const unsigned ids[] = {[GTEL_NVML_PCIE_TX] = GTEL_NVML_FI_PCIE_TX_BYTES,
                                   [GTEL_NVML_PCIE_RX] = GTEL_NVML_FI_PCIE_RX_BYTES};
    unsigned ways = 0;
    for (size_t i = 0; i < gtel_nvml_rows_n; i++) {
        const struct gtel_nvml_slot *slot = &gpu->slot[i];
        for (size_t way = 0; way < GTEL_NVML_PCIE_WAYS && !gtel_nvml_rows[i].read; way++) {
            if (gtel_nvml_rows[i].of != ids[way] || !slot->has_answer)
                continue;
            ret[way] = (uint32_t)slot->answer.u[0];
            ways++;
        }
    }
    return ways == GTEL_NVML_PCIE_WAYS;
}

/* They were read between begin_ns and now_ns. */
static struct gtel_nvml_pcie_step step_of_fields(struct gtel_nvml_gpu *gpu, uint64_t begin_ns,
                                                 uint64_t now_ns)
{
    struct gtel_nvml_pcie *pcie = &gpu->pcie;
    struct gtel_nvml_pcie_step step = {.kind = GTEL_NVML_STEP_NONE};
    uint32_t count[GTEL_NVML_PCIE_WAYS];
    if (!read_fields(gpu, count))
        return step;
    bool is_whole = pcie->last_ns != 0 && now_ns - pcie->last_ns < pcie->wrap_ns;
    step.kind = is_whole ? GTEL_NVML_STEP_BYTES : GTEL_NVML_STEP_HOLE;
    step.window_ns = now_ns - pcie->last_ns;
    for (size_t way = 0; way < GTEL_NVML_PCIE_WAYS && is_whole; way++)
        step.bytes[way] = (uint32_t)(count[way] - pcie->last[way]);
    memcpy(pcie->last, count, sizeof(count));
    pcie->last_ns = begin_ns;
    return step;
}

/* No more than the link can move, where that is known. */
static bool is_possible(const struct gtel_nvml_pcie_step *step, uint64_t wrap_ns)
{
    if (wrap_ns == 0)
        return true;
    double most = field_bytes * ((double)step->window_ns / (double)wrap_ns) * slack;
    return step->bytes[GTEL_NVML_PCIE_TX] <= most && step->bytes[GTEL_NVML_PCIE_RX] <= most;
}

/* Which of both counts. Once GPM does it goes on: both read at different times. */
static enum gtel_nvml_by choose(const struct gtel_nvml_pcie *pcie,
                                const struct gtel_nvml_pcie_step *field,
                                const struct gtel_nvml_pcie_step *gpm)
{
    if (pcie->by == GTEL_NVML_BY_GPM)
        return GTEL_NVML_BY_GPM;
    if (field->kind == GTEL_NVML_STEP_BYTES)
        return GTEL_NVML_BY_FIELD;
    return gpm->kind == GTEL_NVML_STEP_BYTES ? GTEL_NVML_BY_GPM : pcie->by;
}

void gtel_nvml_pcie_pass(const struct gtel_nvml *nvml, struct gtel_nvml_gpu *gpu,
                         struct gtel_batch *batch)
{
    struct gtel_nvml_pcie *pcie = &gpu->pcie;
    const struct gtel_nvml_pcie_step field =
        step_of_fields(gpu, batch->t_ns, gtel_env_now(nvml->env));
    enum gtel_nvml_by by = choose(pcie, &field, &gpu->gpm.pcie);
    const struct gtel_nvml_pcie_step *step = by == GTEL_NVML_BY_GPM ? &gpu->gpm.pcie : &field;
    bool is_hole = step->kind == GTEL_NVML_STEP_HOLE || !is_possible(step, pcie->wrap_ns);
    if (is_hole || by != pcie->by)
        pcie->is_counting = false;
    if (by == GTEL_NVML_BY_NOTHING || is_hole || step->kind == GTEL_NVML_STEP_NONE)
        return;
    for (size_t way = 0; way < GTEL_NVML_PCIE_WAYS; way++)
        pcie->bytes[way] =
            pcie->is_counting ? pcie->bytes[way] + (uint64_t)(step->bytes[way] + 0.5) : 0;
    pcie->is_counting = true;
    pcie->by = by;
    batch->origin = by == GTEL_NVML_BY_GPM ? GTEL_NVML_ORIGIN_GPM : GTEL_NVML_ORIGIN_FIELD;
    gtel_batch_u64(batch, gpu->device, GTEL_M_GPU_PCIE_TX, no_dim, pcie->bytes[GTEL_NVML_PCIE_TX]);
    gtel_batch_u64(batch, gpu->device, GTEL_M_GPU_PCIE_RX, no_dim, pcie->bytes[GTEL_NVML_PCIE_RX]);
}

void gtel_nvml_pcie_forget(struct gtel_nvml_gpu *gpu)
{
    gpu->pcie.last_ns = 0;
    gpu->pcie.is_counting = false;
}
