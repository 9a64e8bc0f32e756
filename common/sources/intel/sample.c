/* SPDX-License-Identifier: MIT */
/* The Intel GPUs of one driver: one sample. */
#include "sources/intel/sample.h"

#include "host/kernel.h"
#include "tables/intel_names.h"

#include <errno.h>
#include <string.h>

int gtel_intel_refresh(struct gtel_intel *intel, struct gtel_intel_gpu *gpu)
{
    bool is_asleep;
    int r = gtel_awake_look(intel->env, &gpu->card->awake, &is_asleep);
    if (r < 0)
        return r;
    if ((is_asleep && !gpu->card->cards->may_wake) ||
        gtel_rest_is_on(&gpu->rest, gtel_env_now(intel->env)))
        return 0;
    return gtel_intel_list(intel, gpu);
}

bool gtel_intel_is_free(const struct gtel_intel *intel, const struct gtel_attr *attr)
{
    return intel->has_pmu && attr->reading.metric == GTEL_M_FREQUENCY_ACTUAL;
}

/*
 * Whether a GPU that rests is used all the same: by the kernel's own count, or because a clock runs
 * that i915 tells only of a GPU in use (kernel: i915/gt/intel_rps.c).
 */
static bool is_used(const struct gtel_intel *intel, const struct gtel_intel_gpu *gpu)
{
    uint64_t value = 0;
    bool is_known =
        gtel_fs_is_open(&gpu->users) && gtel_fs_read_u64(intel->env, &gpu->users, &value) == 0;
    for (size_t i = 0; !is_known && value == 0 && i < gpu->attrs.n; i++)
        if (gtel_intel_is_free(intel, &gpu->attrs.attr[i]) &&
            gtel_fs_read_u64(intel->env, &gpu->attrs.attr[i].file, &value) < 0)
            value = 0;
    return value > 0;
}

/* Files count whole milliseconds, and are read a moment after the time of the sample. */
static const double idle_resolution_ns = 2e6;

/*
 * Records whether the GT slept for all, or almost all, of the time since the value before, except
 * for the time in which we kept it awake.
 */
static void record_idle(struct gtel_intel_sample *sample, const struct gtel_attr *attr,
                        const struct gtel_counter *before)
{
    const struct gtel_counter *now = &attr->state.counter;
    uint64_t gt = 0;
    if (!before->has_last || now->last_ns <= before->last_ns || now->last < before->last)
        return;
    uint64_t span_ns = now->last_ns - before->last_ns;
    bool has_gt = gtel_str_u64(attr->reading.dim[1], &gt) == 0 && gt < 32;
    uint32_t bit = has_gt ? 1U << gt : 0;
    uint64_t held_ns = (sample->gts_held & bit) != 0 ? sample->held_ns : 0;
    if (span_ns <= held_ns)
        return;
    double slept_ns = (double)(now->last - before->last) * attr->kind.scale * 1e9;
    double free_ns = (double)(span_ns - held_ns);
    bool is_idle = slept_ns >= 0.98 * free_ns;
    bool is_asleep = slept_ns + idle_resolution_ns >= free_ns;
    sample->idle_times++;
    sample->is_idle = sample->is_idle && (is_idle || is_asleep);
    if (is_asleep)
        sample->gts_idle |= bit;
    else
        sample->gts_busy |= bit;
    if (is_idle && !is_asleep)
        sample->gts_drowsy |= bit;
}

/* Reads all attributes. -ENODEV, the first error when nothing at all could be read, or 0. */
static int read_attrs(struct gtel_intel_gpu *gpu, struct gtel_intel_sample *sample)
{
    for (size_t i = 0; i < gpu->attrs.n; i++) {
        struct gtel_attr *attr = &gpu->attrs.attr[i];
        bool is_idle_time = attr->kind.metric == GTEL_M_FREQUENCY_IDLE_TIME;
        if (is_idle_time && gtel_intel_pmu_has_idle(&gpu->pmu, attr->reading.dim[1]))
            continue; /* counted there, finer, and without waking anything */
        const struct gtel_counter before = attr->state.counter;
        if (gtel_attr_read(&sample->attrs, attr) == -ENODEV)
            return -ENODEV;
        if (is_idle_time)
            record_idle(sample, attr, &before);
    }
    return sample->attrs.read > 0 ? 0 : sample->attrs.error;
}

static struct gtel_intel_sample begin(struct gtel_intel_gpu *gpu, struct gtel_batch *batch)
{
    return (struct gtel_intel_sample){
        .attrs = {.card = gpu->card, .attrs = &gpu->attrs, .batch = batch}, .is_idle = true};
}

/*
 * Whether the driver has left the card: then its folder is gone, while that of the PCI device stays
 * and its runtime_status answers on (seen in tests/guest, Linux 6.1).
 */
static bool is_gone(const struct gtel_intel *intel, const struct gtel_intel_gpu *gpu)
{
    char path[GTEL_FS_PATH_MAX];
    gtel_fs_path(path, "sys/class/drm/%s", gpu->card->drm.card);
    return intel->env->ops->exists(intel->env->arg, path) == -ENOENT;
}

/* Engine use is an extra: without it the rest of the GPU is as good as before. */
static int read_pmu(struct gtel_intel *intel, struct gtel_intel_gpu *gpu,
                    struct gtel_intel_sample *sample)
{
    bool was_failing = gpu->pmu.is_failing;
    int r = gtel_intel_pmu_read(intel->env, &gpu->card->drm, gpu->card->device, &gpu->pmu, sample);
    if (r == -ENODEV && is_gone(intel, gpu))
        return r;
    if (r == -ENODEV)
        intel->is_retry_due = true; /* the driver is back under a new number */
    else if (r < 0)
        gtel_batch_failed(sample->attrs.batch, gpu->card->device);
    if (r < 0 && r != -ENODEV && !was_failing)
        intel->is_retry_due = true; /* its CPU was switched off: opened on another one */
    return 0;
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
    sample.held_ns = gpu->card->gts.held_ns;
    sample.gts_held = gpu->card->gts.held;
    int r = read_attrs(gpu, &sample);
    gpu->card->gts = (struct gtel_card_gts){
        .idle = sample.gts_idle, .busy = sample.gts_busy, .nearly_idle = sample.gts_drowsy};
    if (r != -ENODEV && read_pmu(intel, gpu, &sample) == -ENODEV)
        r = -ENODEV;
    if (gpu->rest.delay_ns > 0)
        gtel_rest_note(&gpu->rest, sample.idle_times > 0 && sample.is_idle, batch->t_ns);
    return r;
}

/*
 * What i915 counts is read in a rest too: that keeps no GPU awake. When it tells of work, the next
 * gather reads everything.
 */
static int read_resting(struct gtel_intel *intel, struct gtel_intel_gpu *gpu,
                        struct gtel_batch *batch)
{
    struct gtel_intel_sample sample = begin(gpu, batch);
    if (is_gone(intel, gpu))
        return -ENODEV;
    int r = read_pmu(intel, gpu, &sample);
    if (r == 0 && !sample.is_idle)
        gtel_rest_end(&gpu->rest, batch->t_ns);
    return r;
}

/* A sleep that no gather has met shows in this. */
static void report_suspended(const struct gtel_intel *intel, const struct gtel_intel_gpu *gpu,
                             struct gtel_batch *batch)
{
    uint64_t ns;
    if (gtel_awake_suspended(intel->env, &gpu->card->awake, &ns) == 0)
        gtel_batch_f64(batch, gpu->card->device, GTEL_M_GPU_SUSPENDED_TIME, GTEL_STR_NONE,
                       (double)ns / 1e9);
}

/* Everything of one GPU, or little but its state while it sleeps or rests. */
static int sample_gpu(struct gtel_intel *intel, struct gtel_intel_gpu *gpu,
                      struct gtel_batch *batch)
{
    bool is_asleep;
    batch->t_ns = gtel_env_now(intel->env);
    batch->origin = GTEL_ATTR_SYSFS;
    gpu->card->device->is_left_alone = true; /* until it is known that it may be read */
    gpu->card->gts.idle = 0;
    gpu->card->gts.busy = 0;
    gpu->card->gts.nearly_idle = 0;
    int r = gtel_awake_look(intel->env, &gpu->card->awake, &is_asleep);
    if (r < 0)
        return r;
    gpu->card->device->is_asleep = is_asleep;
    gtel_batch_u64(batch, gpu->card->device, GTEL_M_GPU_AWAKE, GTEL_STR_NONE, !is_asleep);
    if (is_asleep) {
        gtel_rest_slept(&gpu->rest);
        gpu->kept_ns = batch->t_ns;
        if (!gpu->card->cards->may_wake)
            return is_gone(intel, gpu) ? -ENODEV : 0; /* nothing else is read that would tell */
    }
    if (gtel_rest_is_on(&gpu->rest, batch->t_ns)) {
        if (!is_used(intel, gpu))
            return read_resting(intel, gpu, batch);
        gtel_rest_end(&gpu->rest, batch->t_ns);
    }
    gpu->kept_ns = batch->t_ns;
    gpu->card->device->is_left_alone = false;
    report_suspended(intel, gpu, batch);
    return read_gpu(intel, gpu, batch);
}

int gtel_intel_sample(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct gtel_intel *intel = state;
    int first = 0;
    size_t fine = 0;
    bool is_lost = false;
    for (size_t i = 0; i < intel->gpus.n; i++) {
        struct gtel_intel_gpu *gpu = intel->gpus.slot[i].own;
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
        if (gpu->is_lost && is_gone(intel, gpu))
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

/* When the counters of a GPU are to be read at the latest; 0: no matter. */
static uint64_t keep_until(const struct gtel_intel_gpu *gpu)
{
    if (gpu->attrs.keep_ns == 0 || gpu->kept_ns == 0 || gpu->is_lost)
        return 0;
    return gpu->kept_ns + gpu->attrs.keep_ns;
}

uint64_t gtel_intel_due(const void *state)
{
    const struct gtel_intel *intel = state;
    uint64_t first = 0;
    for (size_t i = 0; i < intel->gpus.n; i++) {
        uint64_t due_ns = keep_until(intel->gpus.slot[i].own);
        first = due_ns > 0 && (first == 0 || due_ns < first) ? due_ns : first;
    }
    return first;
}

/* A GPU that sleeps or rests is left alone: its counters stand still, or nearly so. */
static void keep_gpu(struct gtel_intel *intel, struct gtel_intel_gpu *gpu, struct gtel_batch *batch)
{
    struct gtel_intel_sample sample = begin(gpu, batch);
    bool is_asleep;
    sample.attrs.is_between = true;
    gpu->kept_ns = batch->t_ns;
    if (gtel_awake_look(intel->env, &gpu->card->awake, &is_asleep) < 0 ||
        (is_asleep && !gpu->card->cards->may_wake) || gtel_rest_is_on(&gpu->rest, batch->t_ns))
        return;
    for (size_t i = 0; i < gpu->attrs.n; i++)
        if (gtel_attr_is_kept(&gpu->attrs.attr[i]))
            (void)gtel_attr_read(&sample.attrs, &gpu->attrs.attr[i]); /* the next sample reports */
}

int gtel_intel_tick(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct gtel_intel *intel = state;
    uint64_t now_ns = batch->t_ns;
    (void)registry;
    for (size_t i = 0; i < intel->gpus.n; i++) {
        struct gtel_intel_gpu *gpu = intel->gpus.slot[i].own;
        uint64_t due_ns = keep_until(gpu);
        if (due_ns == 0 || now_ns < due_ns)
            continue;
        batch->t_ns = gtel_env_now(intel->env);
        keep_gpu(intel, gpu, batch);
    }
    return 0;
}
