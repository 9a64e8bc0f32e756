/* SPDX-License-Identifier: MIT */
/* The Intel GPUs of one driver: finding them, opening what they have, and one sample. */
#include "sources/intel/gpu.h"

#include "sources/drm/hwmon.h"
#include "sources/drm/link.h"

#include <errno.h>

void gtel_intel_close_gpu(const struct gtel_env *env, void *own)
{
    struct gtel_intel_gpu *gpu = own;
    gtel_attr_source_close_card(env, own);
    gtel_intel_pmu_close(env, &gpu->pmu);
}

/*
 * The status file says that any reason holds, also one that has no file of its own; it is no reason
 * itself (gpu.throttled is made from it). Each kernel has more reasons than the one before
 * (crescent island in 6.19, pwrbrk in 7.3), so the directory says which there are. xe's `reasons`
 * is the same as a list and is skipped.
 */
void gtel_intel_add_throttle(struct gtel_attr_list *list, const struct gtel_str *gt,
                             const char *dir, struct gtel_str prefix, struct gtel_str status)
{
    static const struct gtel_attr_kind any = {GTEL_M_THROTTLE_STATUS, GTEL_ATTR_FLAG, 1};
    static const struct gtel_attr_kind one = {GTEL_M_THROTTLE_ACTIVE, GTEL_ATTR_FLAG, 1};
    struct gtel_str *names;
    size_t n;
    int r = gtel_fs_list(list->env, dir, list->arena, 128, &names, &n);
    gtel_attr_list_check(list, r);
    if (r < 0)
        return;
    for (size_t i = 0; i < n; i++) {
        bool is_status = gtel_str_eq(names[i], status);
        struct gtel_str reason = GTEL_STR_NONE;
        if (!is_status && gtel_str_starts(names[i], prefix))
            reason = gtel_attr_text(list, gtel_str_skip(names[i], prefix.n));
        const struct gtel_str dims[GTEL_ATTR_DIMS] = {reason, gt[GTEL_INTEL_GT]};
        if (is_status || reason.n > 0)
            gtel_attr_add(list, is_status ? &any : &one, dims, dir, names[i]);
    }
}

void gtel_intel_add_card(struct gtel_attr_list *list)
{
    gtel_hwmon_add(list);
    gtel_link_add(list);
}

/* Whether reading an attribute of a GPU that is awake does nothing to keep it awake. */
static bool is_free(const struct gtel_intel *intel, const struct gtel_attr *attr)
{
    return gtel_intel_has_pmu(intel) && attr->kind.metric == GTEL_M_FREQUENCY_ACTUAL;
}

/*
 * Lists what a GPU that is awake has to read, and opens it where that differs from what is open. 0
 * or -ENOMEM; a file that cannot be opened is logged and skipped until the next discovery.
 */
static int list_gpu(struct gtel_intel *intel, struct gtel_intel_gpu *gpu)
{
    struct gtel_card_source *source = &intel->source;
    int r = gtel_attr_source_update(&intel->source, &gpu->files);
    if (r < 0)
        return r;
    bool is_watched = false;
    for (size_t i = 0; i < gpu->files.attrs.n; i++)
        is_watched = is_watched || is_free(intel, &gpu->files.attrs.attr[i]);
    gtel_card_read_autosuspend(gpu->files.card, is_watched);
    bool has_sampled = gtel_option_is(source->options, GTEL_O_I915_SAMPLING, "on");
    if (gtel_intel_has_pmu(intel))
        gtel_intel_pmu_refresh(source->env, &source->arena, &gpu->files.card->drm,
                               source->cards.n == 1, has_sampled, &gpu->pmu);
    return 0;
}

enum { RETRIES_MAX = 4 }; /* discoveries soon after one that was not whole; then each Rescan */

/* After a discovery: one that is not whole is repeated soon, some times. */
static void retry(struct gtel_intel *intel, bool is_whole)
{
    intel->is_retry_due = !is_whole && intel->retries < RETRIES_MAX;
    intel->retries = is_whole ? 0 : intel->retries + intel->is_retry_due;
}

/* Lists a GPU that may be read now; one that sleeps is left alone. */
static int refresh(struct gtel_intel *intel, struct gtel_intel_gpu *gpu)
{
    int r = gtel_card_check_power(gpu->files.card);
    return r > 0 ? list_gpu(intel, gpu) : r;
}

/* 0 when everything of it is open, 1 when more of it may come, or a negative errno. */
static int open_gpu(struct gtel_intel *intel, struct gtel_registry *registry, size_t i)
{
    struct gtel_card_list *cards = &intel->source.cards;
    struct gtel_intel_gpu *gpu = cards->slot[i].own;
    int r = refresh(intel, gpu);
    if (r == -ENODEV) { /* its files are no more: the driver has been loaded again */
        gtel_card_leave(gpu->files.card, registry);
        r = gtel_card_list_discover(cards, registry);
        r = r < 0 ? r : refresh(intel, gpu);
    }
    /* A driver shows its card before its folders and its PMU: once more at the next gather. */
    bool is_back = cards->slot[i].is_new && gpu->files.card->device->arrivals > 1;
    return r < 0 ? r : is_back || (gpu->files.attrs.attr && gpu->files.attrs.hash == 0);
}

int gtel_intel_discover(void *state, struct gtel_registry *registry)
{
    struct gtel_intel *intel = state;
    struct gtel_card_list *cards = &intel->source.cards;
    size_t fine = 0;
    for (size_t i = 0; i < cards->n; i++) {
        const struct gtel_intel_gpu *gpu = cards->slot[i].own;
        if (gpu->is_lost)
            gtel_card_leave(gpu->files.card, registry);
    }
    int first = gtel_card_list_discover(cards, registry);
    bool is_whole = first == 0;
    for (size_t i = 0; i < cards->n; i++) {
        int r = open_gpu(intel, registry, i);
        fine += r >= 0 ? 1 : 0;
        first = first < 0 || r > 0 ? first : r;
        is_whole = is_whole && r == 0;
    }
    retry(intel, is_whole);
    return fine > 0 ? 0 : first;
}

/* ---- one sample ---- */

/* A clock that runs: i915 shows that only of a GPU in use (kernel: i915/gt/intel_rps.c). */
static bool has_clock(const struct gtel_intel *intel, const struct gtel_intel_gpu *gpu)
{
    const struct gtel_attrs *attrs = &gpu->files.attrs;
    uint64_t mhz = 0;
    bool has = false;
    for (size_t i = 0; !gtel_fs_is_open(&gpu->files.card->awake.users) && !has && i < attrs->n; i++)
        has = is_free(intel, &attrs->attr[i]) &&
              gtel_fs_read_u64(intel->source.env, &attrs->attr[i].file, &mhz) == 0 && mhz > 0;
    return has;
}

/* Files count whole milliseconds, and are read a moment after the time of the sample. */
static const double idle_resolution_ns = 2e6;

/*
 * Records whether the GT slept for all, or almost all, of the time since the value before, except
 * for the time in which we kept it awake. More than all of it is no answer: xe reads a counter that
 * began again, after D3cold or a suspend, as one that wrapped (kernel: xe/xe_gt_idle.c).
 */
static void record_idle(struct gtel_card_gts *gts, struct gtel_intel_sample *sample,
                        const struct gtel_attr *attr, const struct gtel_counter *before)
{
    const struct gtel_counter *now = &attr->state.counter;
    uint64_t gt = 0;
    if (before->last_ns == 0 || now->last_ns <= before->last_ns || now->last < before->last)
        return;
    uint64_t span_ns = now->last_ns - before->last_ns;
    bool has_gt = gtel_str_u64(attr->dim[1], &gt) == 0 && gt < 32;
    uint32_t bit = has_gt ? 1U << gt : 0;
    uint64_t held_ns = (gts->held & bit) != 0 ? gts->held_ns : 0;
    double slept_ns = (double)(now->last - before->last) * attr->kind.scale * 1e9;
    if (span_ns <= held_ns || slept_ns > 1.1 * (double)span_ns + idle_resolution_ns)
        return;
    double free_ns = (double)(span_ns - held_ns);
    bool is_idle = slept_ns >= 0.98 * free_ns;
    bool is_asleep = slept_ns + idle_resolution_ns >= free_ns;
    sample->idle_times++;
    sample->busy_times += is_idle || is_asleep ? 0 : 1;
    if (is_asleep)
        gts->idle |= bit;
    else
        gts->busy |= bit;
    if (is_idle && !is_asleep)
        gts->nearly_idle |= bit;
}

/*
 * Reads all attributes; idle times mean nothing over a sleep. -ENODEV, the first error when nothing
 * at all could be read, or 0.
 */
static int read_attrs(struct gtel_intel_gpu *gpu, bool has_slept, struct gtel_intel_sample *sample)
{
    const struct gtel_batch *batch = sample->attrs.batch;
    bool is_asleep = false; /* the GT whose state was read last, or perhaps */
    for (size_t i = 0; i < gpu->files.attrs.n; i++) {
        struct gtel_attr *attr = &gpu->files.attrs.attr[i];
        size_t n = batch->n;
        bool is_idle_time = attr->kind.metric == GTEL_M_FREQUENCY_IDLE_TIME;
        if (is_asleep && attr->kind.metric == GTEL_M_FREQUENCY_REQUESTED)
            continue;
        if (is_idle_time && gtel_intel_pmu_has_idle(&gpu->pmu, attr->dim[1]))
            continue; /* counted there, finer, and without waking anything */
        const struct gtel_counter before = attr->state.counter;
        if (gtel_attr_read(&sample->attrs, attr) == -ENODEV)
            return -ENODEV;
        if (attr->kind.form == GTEL_ATTR_IDLE)
            is_asleep = batch->n == n || batch->reading[n].value.u64 != 0;
        if (is_idle_time && !has_slept)
            record_idle(&gpu->files.card->gts, sample, attr, &before);
    }
    return sample->attrs.read > 0 ? 0 : sample->attrs.error;
}

static struct gtel_intel_sample begin(struct gtel_intel_gpu *gpu, struct gtel_batch *batch)
{
    return (struct gtel_intel_sample){
        .attrs = {.card = gpu->files.card, .attrs = &gpu->files.attrs, .batch = batch}};
}

/* Engine use is an extra: without it the rest of the GPU is as good as before. */
static int read_pmu(struct gtel_intel *intel, struct gtel_intel_gpu *gpu,
                    struct gtel_intel_sample *sample)
{
    bool was_failing = gpu->pmu.logged < 0;
    bool has_instances = gtel_option_is(intel->source.options, GTEL_O_ENGINE_INSTANCES, "on");
    int r = gtel_intel_pmu_read(intel->source.env, &gpu->files.card->drm, gpu->files.card->device,
                                &gpu->pmu, has_instances, sample);
    if (r == -ENODEV && gtel_card_is_removed(gpu->files.card))
        return r;
    if (r == -ENODEV)
        intel->is_retry_due = true; /* the driver is back under a new number */
    else if (r < 0)
        gtel_batch_failed(sample->attrs.batch, gpu->files.card->device);
    if (r < 0 && r != -ENODEV && !was_failing)
        intel->is_retry_due = true; /* its CPU was switched off: opened on another one */
    return 0;
}

/* Whether the card or the host has slept since the sample before. */
static bool has_slept(const struct gtel_env *env, struct gtel_intel_gpu *gpu)
{
    bool has_host = gtel_env_has_slept(env, &gpu->host_slept_ns);
    bool has_card = gpu->slept_ns != gpu->files.card->suspended_ns;
    gpu->slept_ns = gpu->files.card->suspended_ns;
    return has_host || has_card;
}

static int read_gpu(struct gtel_intel *intel, struct gtel_intel_gpu *gpu, struct gtel_batch *batch)
{
    struct gtel_intel_sample sample = begin(gpu, batch);
    struct gtel_card *card = gpu->files.card;
    if (!gpu->files.attrs.attr) {
        int r = list_gpu(intel, gpu); /* it slept when it was found */
        if (!gpu->files.attrs.attr)
            return r;
        if (gpu->files.attrs.hash == 0)
            retry(intel, false);
    }
    int r = read_attrs(gpu, has_slept(intel->source.env, gpu), &sample);
    card->gts.held = 0;
    card->gts.held_ns = 0;
    if (r != -ENODEV && read_pmu(intel, gpu, &sample) == -ENODEV)
        r = -ENODEV;
    if (card->rest.delay_ns > 0)
        gtel_rest_note(&card->rest, sample.idle_times > 0 && sample.busy_times == 0, batch->t_ns);
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
        gtel_rest_end(&gpu->files.card->rest, batch->t_ns);
    return r;
}

/* Everything of one GPU, or little but its state while it sleeps or pauses. */
static int sample_gpu(struct gtel_intel *intel, struct gtel_intel_gpu *gpu,
                      struct gtel_batch *batch)
{
    struct gtel_card *card = gpu->files.card;
    enum gtel_card_power power;
    batch->origin = GTEL_ATTR_SYSFS;
    card->gts.idle = 0;
    card->gts.busy = 0;
    card->gts.nearly_idle = 0;
    int r = gtel_card_begin(card, batch, &power);
    if (r < 0)
        return r;
    if (power == GTEL_CARD_PAUSES && !has_clock(intel, gpu))
        return read_pausing(intel, gpu, batch);
    gpu->kept_ns = batch->t_ns;
    if (power == GTEL_CARD_ASLEEP)
        return 0;
    if (power == GTEL_CARD_PAUSES)
        gtel_card_end_pause(card, batch);
    return read_gpu(intel, gpu, batch);
}

int gtel_intel_sample(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct gtel_intel *intel = state;
    const struct gtel_card_list *cards = &intel->source.cards;
    int first = 0;
    size_t fine = 0;
    bool is_lost = false;
    for (size_t i = 0; i < cards->n; i++) {
        struct gtel_intel_gpu *gpu = cards->slot[i].own;
        if (gpu->is_lost)
            continue;
        int r = sample_gpu(intel, gpu, batch);
        if (r == 0) {
            fine++;
            continue;
        }
        gtel_batch_failed(batch, gpu->files.card->device);
        gpu->is_lost = r == -ENODEV;
        gpu->files.card->device->is_left_alone = true;
        if (gpu->is_lost && gtel_card_is_removed(gpu->files.card))
            gtel_registry_lost(registry, gpu->files.card->device);
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
    if (gpu->files.attrs.keep_ns == 0 || gpu->kept_ns == 0 || gpu->is_lost)
        return 0;
    return gpu->kept_ns + gpu->files.attrs.keep_ns;
}

/* A GPU that sleeps or pauses is left alone: its counters stand still, or nearly so. */
int gtel_intel_tick(void *state, void *own, struct gtel_batch *batch)
{
    struct gtel_intel_gpu *gpu = own;
    struct gtel_intel_sample sample = begin(gpu, batch);
    sample.attrs.is_between = true;
    batch->t_ns = gtel_env_now(((const struct gtel_card_source *)state)->env);
    gpu->kept_ns = batch->t_ns;
    bool may_read = gtel_card_check_power(gpu->files.card) > 0;
    for (size_t i = 0; may_read && i < gpu->files.attrs.n; i++)
        if (gtel_attr_is_kept(&gpu->files.attrs.attr[i]))
            (void)gtel_attr_read(&sample.attrs,
                                 &gpu->files.attrs.attr[i]); /* the next sample reports */
    return 0;
}
