/* SPDX-License-Identifier: MIT */
/* The Intel GPUs of one driver: one cycle. */
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

bool gtel_intel_is_free(const struct gtel_intel *intel, const struct gtel_intel_attr *attr)
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
    for (size_t i = 0; !is_known && value == 0 && i < gpu->n; i++)
        if (gtel_intel_is_free(intel, &gpu->attr[i]) &&
            gtel_fs_read_u64(intel->env, &gpu->attr[i].file, &value) < 0)
            value = 0;
    return value > 0;
}

/* Logs a broken figure once, until it works again. */
static void note(const struct gtel_intel *intel, const struct gtel_intel_gpu *gpu,
                 struct gtel_intel_attr *attr, int r)
{
    if (attr->is_failing == (r < 0))
        return;
    attr->is_failing = r < 0;
    gtel_log(&intel->env->log, r < 0 ? GTEL_LOG_WARNING : GTEL_LOG_INFO, "%s: %s: %.*s: %s",
             gpu->card->drm.driver, gpu->card->drm.key, GTEL_STR_ARG(attr->name),
             r < 0 ? strerror(-r) : "works again");
}

static void note_doubt(const struct gtel_intel *intel, struct gtel_intel_gpu *gpu,
                       const struct gtel_intel_attr *attr, uint64_t now_ns)
{
    if (gpu->is_doubtful || attr->distrust_ns <= now_ns)
        return;
    gpu->is_doubtful = true;
    gtel_log(&intel->env->log, GTEL_LOG_WARNING,
             "%s: %s: %.*s makes impossible steps, which are ignored", gpu->card->drm.driver,
             gpu->card->drm.key, GTEL_STR_ARG(attr->name));
}

/* Reads all attributes. -ENODEV, the first error when nothing at all could be read, or 0. */
static int read_attrs(const struct gtel_intel *intel, struct gtel_intel_gpu *gpu,
                      struct gtel_intel_cycle *cycle)
{
    int first = 0;
    for (size_t i = 0; i < gpu->n; i++) {
        struct gtel_intel_attr *attr = &gpu->attr[i];
        if (attr->is_idle_time && gtel_intel_pmu_has_idle(&gpu->pmu, attr->reading.dim[1]))
            continue; /* counted there, finer, and without waking anything */
        int r = gtel_intel_attr_read(intel->env, attr, cycle);
        if (r == -ENODEV)
            return r;
        if (GTEL_UNLIKELY(attr->is_failing || r < 0))
            note(intel, gpu, attr, r);
        if (GTEL_UNLIKELY(attr->distrust_ns != 0))
            note_doubt(intel, gpu, attr, cycle->batch->t_ns);
        if (r == 0) {
            cycle->read++;
            continue;
        }
        first = first < 0 ? first : r;
        gtel_batch_failed(cycle->batch, gpu->card->device);
    }
    return cycle->read > 0 ? 0 : first;
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
                    struct gtel_intel_cycle *cycle)
{
    bool was_failing = gpu->pmu.is_failing;
    int r = gtel_intel_pmu_read(intel->env, &gpu->card->drm, gpu->card->device, &gpu->pmu, cycle);
    if (r == -ENODEV && is_gone(intel, gpu))
        return r;
    if (r == -ENODEV)
        intel->is_retry_due = true; /* the driver is back under a new number */
    else if (r < 0)
        gtel_batch_failed(cycle->batch, gpu->card->device);
    if (r < 0 && r != -ENODEV && !was_failing)
        intel->is_retry_due = true; /* its CPU was switched off: opened on another one */
    return 0;
}

static int read_gpu(struct gtel_intel *intel, struct gtel_intel_gpu *gpu, struct gtel_batch *batch)
{
    struct gtel_intel_cycle cycle = {.batch = batch, .limit_w = gpu->limit_w, .is_idle = true};
    if (!gpu->attr) {
        int r = gtel_intel_list(intel, gpu); /* it slept when it was found */
        if (!gpu->attr)
            return r;
        if (gpu->hash == 0)
            gtel_intel_retry(intel, false);
    }
    cycle.held_ns = gpu->card->device->held_ns;
    cycle.gts_held = gpu->card->device->gts_held;
    int r = read_attrs(intel, gpu, &cycle);
    gpu->card->device->held_ns = 0;
    gpu->card->device->gts_held = 0;
    gpu->card->device->gts_idle = cycle.gts_idle;
    gpu->card->device->gts_busy = cycle.gts_busy;
    gpu->card->device->gts_drowsy = cycle.gts_drowsy;
    gpu->limit_w = cycle.limit_w;
    if (r != -ENODEV && read_pmu(intel, gpu, &cycle) == -ENODEV)
        r = -ENODEV;
    if (gpu->rest.delay_ns > 0)
        gtel_rest_note(&gpu->rest, cycle.idle_times > 0 && cycle.is_idle, batch->t_ns);
    return r;
}

/*
 * What i915 counts is read in a rest too: that keeps no GPU awake. When it tells of work, the next
 * gather reads everything.
 */
static int read_resting(struct gtel_intel *intel, struct gtel_intel_gpu *gpu,
                        struct gtel_batch *batch)
{
    struct gtel_intel_cycle cycle = {.batch = batch, .is_idle = true};
    if (is_gone(intel, gpu))
        return -ENODEV;
    int r = read_pmu(intel, gpu, &cycle);
    if (r == 0 && !cycle.is_idle)
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
    batch->origin = GTEL_INTEL_SYSFS;
    gpu->card->device->is_left_alone = true; /* until it is known that it may be read */
    gpu->card->device->gts_idle = 0;
    gpu->card->device->gts_busy = 0;
    gpu->card->device->gts_drowsy = 0;
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
    if (gpu->keep_ns == 0 || gpu->kept_ns == 0 || gpu->is_lost)
        return 0;
    return gpu->kept_ns + gpu->keep_ns;
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
    struct gtel_intel_cycle cycle = {.batch = batch, .limit_w = gpu->limit_w, .is_between = true};
    bool is_asleep;
    gpu->kept_ns = batch->t_ns;
    if (gtel_awake_look(intel->env, &gpu->card->awake, &is_asleep) < 0 ||
        (is_asleep && !gpu->card->cards->may_wake) || gtel_rest_is_on(&gpu->rest, batch->t_ns))
        return;
    for (size_t i = 0; i < gpu->n; i++)
        if (gtel_intel_attr_is_kept(&gpu->attr[i]))
            (void)gtel_intel_attr_read(intel->env, &gpu->attr[i],
                                       &cycle); /* the next cycle tells */
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
