/* SPDX-License-Identifier: MIT */
/* The Intel GPUs of one driver: one sample. */
#include "sources/intel/gpu.h"

#include "host/kernel.h"
#include "tables/intel_names.h"

#include <errno.h>
#include <string.h>

/* A clock that runs: i915 shows that only of a GPU in use (kernel: i915/gt/intel_rps.c). */
static bool has_clock(const struct gtel_intel *intel, const struct gtel_intel_gpu *gpu)
{
    uint64_t mhz = 0;
    bool has = false;
    for (size_t i = 0; !gtel_fs_is_open(&gpu->card->users) && !has && i < gpu->attrs.n; i++)
        has = gtel_intel_is_free(intel, &gpu->attrs.attr[i]) &&
              gtel_fs_read_u64(intel->source.env, &gpu->attrs.attr[i].file, &mhz) == 0 && mhz > 0;
    return has;
}

/* Files count whole milliseconds, and are read a moment after the time of the sample. */
static const double idle_resolution_ns = 2e6;

/*
 * Records whether the GT slept for all, or almost all, of the time since the value before, except
 * for the time in which we kept it awake. More than all of it is no answer: xe reads a counter that
 * began again, after D3cold or a suspend, as one that wrapped (kernel: xe/xe_gt_idle.c).
 */
static void record_idle(struct gtel_intel_sample *sample, const struct gtel_attr *attr,
                        const struct gtel_counter *before)
{
    const struct gtel_counter *now = &attr->state.counter;
    uint64_t gt = 0;
    if (before->last_ns == 0 || now->last_ns <= before->last_ns || now->last < before->last)
        return;
    uint64_t span_ns = now->last_ns - before->last_ns;
    bool has_gt = gtel_str_u64(attr->dim[1], &gt) == 0 && gt < 32;
    uint32_t bit = has_gt ? 1U << gt : 0;
    uint64_t held_ns = (sample->gts.held & bit) != 0 ? sample->gts.held_ns : 0;
    double slept_ns = (double)(now->last - before->last) * attr->kind.scale * 1e9;
    if (span_ns <= held_ns || slept_ns > 1.1 * (double)span_ns + idle_resolution_ns)
        return;
    double free_ns = (double)(span_ns - held_ns);
    bool is_idle = slept_ns >= 0.98 * free_ns;
    bool is_asleep = slept_ns + idle_resolution_ns >= free_ns;
    sample->idle_times++;
    sample->busy_times += is_idle || is_asleep ? 0 : 1;
    if (is_asleep)
        sample->gts.idle |= bit;
    else
        sample->gts.busy |= bit;
    if (is_idle && !is_asleep)
        sample->gts.nearly_idle |= bit;
}

/*
 * Reads all attributes; idle times mean nothing over a sleep. -ENODEV, the first error when nothing
 * at all could be read, or 0.
 */
static int read_attrs(struct gtel_intel_gpu *gpu, bool has_slept, struct gtel_intel_sample *sample)
{
    for (size_t i = 0; i < gpu->attrs.n; i++) {
        struct gtel_attr *attr = &gpu->attrs.attr[i];
        bool is_idle_time = attr->kind.metric == GTEL_M_FREQUENCY_IDLE_TIME;
        if (is_idle_time && gtel_intel_pmu_has_idle(&gpu->pmu, attr->dim[1]))
            continue; /* counted there, finer, and without waking anything */
        const struct gtel_counter before = attr->state.counter;
        if (gtel_attr_read(&sample->attrs, attr) == -ENODEV)
            return -ENODEV;
        if (is_idle_time && !has_slept)
            record_idle(sample, attr, &before);
    }
    return sample->attrs.read > 0 ? 0 : sample->attrs.error;
}

static struct gtel_intel_sample begin(struct gtel_intel_gpu *gpu, struct gtel_batch *batch)
{
    return (struct gtel_intel_sample){
        .attrs = {.card = gpu->card, .attrs = &gpu->attrs, .batch = batch}};
}

/* Engine use is an extra: without it the rest of the GPU is as good as before. */
static int read_pmu(struct gtel_intel *intel, struct gtel_intel_gpu *gpu,
                    struct gtel_intel_sample *sample)
{
    bool was_failing = gpu->pmu.is_failing;
    bool has_instances = gtel_option_is(intel->source.options, GTEL_O_ENGINE_INSTANCES, "on");
    int r = gtel_intel_pmu_read(intel->source.env, &gpu->card->drm, gpu->card->device, &gpu->pmu,
                                has_instances, sample);
    if (r == -ENODEV && gtel_card_is_removed(gpu->card))
        return r;
    if (r == -ENODEV)
        intel->is_retry_due = true; /* the driver is back under a new number */
    else if (r < 0)
        gtel_batch_failed(sample->attrs.batch, gpu->card->device);
    if (r < 0 && r != -ENODEV && !was_failing)
        intel->is_retry_due = true; /* its CPU was switched off: opened on another one */
    return 0;
}

/* Whether the card or the host has slept since the sample before. */
static bool has_slept(const struct gtel_env *env, struct gtel_intel_gpu *gpu)
{
    bool has_host = gtel_env_has_slept(env, &gpu->host_slept_ns);
    bool has_card = gpu->slept_ns != gpu->card->suspended_ns;
    gpu->slept_ns = gpu->card->suspended_ns;
    return has_host || has_card;
}

static int read_gpu(struct gtel_intel *intel, struct gtel_intel_gpu *gpu, struct gtel_batch *batch)
{
    struct gtel_intel_sample sample = begin(gpu, batch);
    if (!gpu->attrs.attr) {
        int r = gtel_intel_list(intel, gpu); /* it slept when it was found */
        if (!gpu->attrs.attr)
            return r;
        if (gpu->attrs.hash == 0)
            gtel_intel_retry(intel, false);
    }
    sample.gts = gpu->card->gts;
    int r = read_attrs(gpu, has_slept(intel->source.env, gpu), &sample);
    gpu->card->gts = sample.gts;
    gpu->card->gts.held = 0;
    gpu->card->gts.held_ns = 0;
    if (r != -ENODEV && read_pmu(intel, gpu, &sample) == -ENODEV)
        r = -ENODEV;
    if (gpu->card->rest.delay_ns > 0)
        gtel_rest_note(&gpu->card->rest, sample.idle_times > 0 && sample.busy_times == 0,
                       batch->t_ns);
    return r;
}

/*
 * What i915 counts is read in a pause, too: that keeps no GPU awake. When it shows work, the next
 * gather reads everything.
 */
static int read_pausing(struct gtel_intel *intel, struct gtel_intel_gpu *gpu,
                        struct gtel_batch *batch)
{
    struct gtel_intel_sample sample = begin(gpu, batch);
    int r = read_pmu(intel, gpu, &sample);
    if (r == 0 && sample.busy_times > 0)
        gtel_rest_end(&gpu->card->rest, batch->t_ns);
    return r;
}

/* Everything of one GPU, or little but its state while it sleeps or pauses. */
static int sample_gpu(struct gtel_intel *intel, struct gtel_intel_gpu *gpu,
                      struct gtel_batch *batch)
{
    enum gtel_card_power power;
    batch->origin = GTEL_ATTR_SYSFS;
    gpu->card->gts.idle = 0;
    gpu->card->gts.busy = 0;
    gpu->card->gts.nearly_idle = 0;
    int r = gtel_card_begin(gpu->card, batch, &power);
    if (r < 0)
        return r;
    if (power == GTEL_CARD_PAUSES && !has_clock(intel, gpu))
        return read_pausing(intel, gpu, batch);
    gpu->kept_ns = batch->t_ns;
    if (power == GTEL_CARD_ASLEEP)
        return 0;
    if (power == GTEL_CARD_PAUSES)
        gtel_card_end_pause(gpu->card, batch);
    return read_gpu(intel, gpu, batch);
}

int gtel_intel_sample(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct gtel_intel *intel = state;
    int first = 0;
    size_t fine = 0;
    bool is_lost = false;
    for (size_t i = 0; i < intel->source.cards.n; i++) {
        struct gtel_intel_gpu *gpu = intel->source.cards.slot[i].own;
        if (gpu->is_lost)
            continue;
        int r = sample_gpu(intel, gpu, batch);
        if (r == 0) {
            fine++;
            continue;
        }
        gtel_batch_failed(batch, gpu->card->device);
        gpu->is_lost = r == -ENODEV;
        gpu->card->device->is_left_alone = true;
        if (gpu->is_lost && gtel_card_is_removed(gpu->card))
            gtel_registry_lost(registry, gpu->card->device);
        is_lost = is_lost || gpu->is_lost;
        first = first < 0 ? first : r;
    }
    is_lost = is_lost || intel->is_retry_due;
    intel->is_retry_due = false;
    if (is_lost)
        return -ENODEV;
    return fine > 0 ? 0 : first;
}

uint64_t gtel_intel_due(const void *own)
{
    const struct gtel_intel_gpu *gpu = own;
    if (gpu->attrs.keep_ns == 0 || gpu->kept_ns == 0 || gpu->is_lost)
        return 0;
    return gpu->kept_ns + gpu->attrs.keep_ns;
}

/* A GPU that sleeps or pauses is left alone: its counters stand still, or nearly so. */
int gtel_intel_tick(void *state, void *own, struct gtel_batch *batch)
{
    struct gtel_intel_gpu *gpu = own;
    struct gtel_intel_sample sample = begin(gpu, batch);
    sample.attrs.is_between = true;
    batch->t_ns = gtel_env_now(((const struct gtel_intel *)state)->source.env);
    gpu->kept_ns = batch->t_ns;
    bool may_read = gtel_card_check_power(gpu->card) > 0;
    for (size_t i = 0; may_read && i < gpu->attrs.n; i++)
        if (gtel_attr_is_kept(&gpu->attrs.attr[i]))
            (void)gtel_attr_read(&sample.attrs, &gpu->attrs.attr[i]); /* the next sample reports */
    return 0;
}
