/* SPDX-License-Identifier: MIT */
/* Bytes on the PCIe link, counted by us. */
#include "sources/nvidia/pcie.h"

#include "sources/nvidia/gpu.h"

#include <string.h>

static const uint64_t field_range = UINT64_C(1) << 32;
/* GPM counts headers as well (up to 1.07 of the payload on an H200), a clock jitters. */
static const double slack = 1.25;

double gtel_nvml_pcie_speed(unsigned gen, unsigned width)
{
    /* Bits per second and lane of generations 1 to 7, without what the encoding takes: no link is
     * faster (PCI Express Base Specification). */
    static const double bits_per_s[] = {0, 2.5e9, 5e9, 8e9, 16e9, 32e9, 64e9, 128e9};
    if (gen >= GTEL_ARRAY_LEN(bits_per_s) || width > 32)
        return 0;
    return bits_per_s[gen] * width / 8;
}

/* The field of one way, if it answered in this gather. */
static const struct gtel_nvml_slot *field_of(const struct gtel_nvml_gpu *gpu, size_t way)
{
    enum gtel_metric metric = way == GTEL_NVML_PCIE_TX ? GTEL_M_GPU_PCIE_TX : GTEL_M_GPU_PCIE_RX;
    for (size_t i = 0; i < gtel_nvml_rows_n; i++)
        if (gtel_nvml_rows[i].metric == metric)
            return gpu->slot[i].answer.n > 0 ? &gpu->slot[i] : NULL;
    return NULL;
}

/* The fields were read between begin_ns and now_ns. */
static struct gtel_nvml_pcie_step step_of_fields(struct gtel_nvml_gpu *gpu, uint64_t begin_ns,
                                                 uint64_t now_ns)
{
    struct gtel_nvml_pcie *pcie = &gpu->pcie;
    struct gtel_nvml_pcie_step step = {.kind = GTEL_NVML_STEP_NONE};
    const struct gtel_nvml_slot *slot[GTEL_NVML_PCIE_WAYS] = {field_of(gpu, GTEL_NVML_PCIE_TX),
                                                              field_of(gpu, GTEL_NVML_PCIE_RX)};
    if (!slot[GTEL_NVML_PCIE_TX] || !slot[GTEL_NVML_PCIE_RX])
        return step;
    step.kind = pcie->speed > 0 ? GTEL_NVML_STEP_BYTES : GTEL_NVML_STEP_HOLE;
    for (size_t way = 0; way < GTEL_NVML_PCIE_WAYS; way++) {
        struct gtel_counter *field = &pcie->field[way];
        uint64_t before = field->sum;
        field->range = field_range;
        field->most = pcie->speed;
        step.window_ns = now_ns - field->last_ns;
        if (gtel_counter_add(field, (uint32_t)slot[way]->answer.u[0], now_ns) != GTEL_COUNTER_STEP)
            step.kind = GTEL_NVML_STEP_HOLE;
        field->last_ns = begin_ns;
        step.bytes[way] = (double)(field->sum - before);
    }
    return step;
}

/* No more than the link can move, where that is known. */
static bool is_possible(const struct gtel_nvml_pcie_step *step, double speed)
{
    double most = speed * ((double)step->window_ns / 1e9) * slack;
    return speed <= 0 ||
           (step->bytes[GTEL_NVML_PCIE_TX] <= most && step->bytes[GTEL_NVML_PCIE_RX] <= most);
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

void gtel_nvml_pcie_sample(const struct gtel_env *env, struct gtel_nvml_gpu *gpu,
                           struct gtel_batch *batch)
{
    struct gtel_nvml_pcie *pcie = &gpu->pcie;
    const struct gtel_nvml_pcie_step field = step_of_fields(gpu, batch->t_ns, gtel_env_now(env));
    enum gtel_nvml_by by = choose(pcie, &field, &gpu->gpm.pcie);
    const struct gtel_nvml_pcie_step *step = by == GTEL_NVML_BY_GPM ? &gpu->gpm.pcie : &field;
    bool is_hole = step->kind == GTEL_NVML_STEP_HOLE || !is_possible(step, pcie->speed);
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
    gtel_batch_u64(batch, gpu->device, GTEL_M_GPU_PCIE_TX, GTEL_STR_NONE,
                   pcie->bytes[GTEL_NVML_PCIE_TX]);
    gtel_batch_u64(batch, gpu->device, GTEL_M_GPU_PCIE_RX, GTEL_STR_NONE,
                   pcie->bytes[GTEL_NVML_PCIE_RX]);
}

void gtel_nvml_pcie_forget(struct gtel_nvml_pcie *pcie)
{
    memset(pcie->field, 0, sizeof(pcie->field)); /* the next step of either is a hole */
}
