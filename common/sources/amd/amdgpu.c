/* SPDX-License-Identifier: MIT */
/* Source amdgpu: AMD GPUs of the driver amdgpu, through gpu_metrics, sysfs and hwmon. */
#include "sources/amd/gpu.h"

#include <errno.h>
#include <string.h>

/*
 * The first tables after a wake have been seen latched high for 9 to 15 s on Navi
 * (ROCm/rocm-systems pull request 8024). Chips without gpu_metrics are older.
 */
static const uint64_t settle_ns = 15 * UINT64_C(1000000000);

static const uint64_t not_known = UINT64_MAX;

/* What one sample has appended about a GPU. */
struct seen {
    const struct gtel_device *device;
    size_t first;
    double busy;       /* share; where it is not known: 0 if memory in use is, else 1 */
    uint64_t used[2];  /* memory, in bytes: vram, gtt; or not_known */
    uint64_t total[2]; /* 0: not known */
};

static void see(struct seen *seen, const struct gtel_amd_gpu *gpu, struct gtel_batch *batch)
{
    for (size_t i = seen->first; i < batch->n; i++) {
        struct gtel_reading *reading = &batch->reading[i];
        if (reading->metric == GTEL_M_GPU_BUSY && reading->device == seen->device)
            seen->busy = gtel_reading_number(reading);
        uint64_t *to = reading->metric == GTEL_M_MEMORY_TOTAL  ? seen->total
                       : reading->metric == GTEL_M_MEMORY_USED ? seen->used
                                                               : NULL;
        if (!to)
            continue;
        reading->is_apart = gpu->is_one_memory;
        to[gtel_str_eq(reading->dim[0], GTEL_STR("gtt"))] = reading->value.u64;
    }
    seen->first = batch->n;
}

/* Of an APU, both kinds are the host's memory, and together what it can use. */
static void put_memory(struct gtel_batch *batch, const struct gtel_amd_gpu *gpu,
                       const struct seen *seen)
{
    if (!gpu->is_apu || seen->used[0] == not_known || seen->used[1] == not_known ||
        seen->total[0] == 0 || seen->total[1] == 0)
        return;
    gtel_batch_u64(batch, seen->device, GTEL_M_GPU_MEMORY_USED, GTEL_STR_NONE,
                   seen->used[0] + seen->used[1]);
    gtel_batch_u64(batch, seen->device, GTEL_M_GPU_MEMORY_TOTAL, GTEL_STR_NONE,
                   seen->total[0] + seen->total[1]);
}

/* Free ones are the first of a list (files.c). */
static size_t count_free(const struct gtel_attrs *attrs)
{
    size_t n = 0;
    while (n < attrs->n && gtel_amd_is_free(attrs->attr[n].name))
        n++;
    return n;
}

/* From first up to end but those that are covered. -ENODEV, or 0: what failed is counted. */
static int read_attrs(struct gtel_attr_sample *sample, size_t first, size_t end,
                      const bool *is_covered)
{
    for (size_t i = first; i < end; i++)
        if (!(is_covered && is_covered[i]) &&
            gtel_attr_read(sample, &sample->attrs->attr[i]) == -ENODEV)
            return -ENODEV;
    return 0;
}

/* Which files need not be read, since the table has what they have. */
static void cover(struct gtel_amd_gpu *gpu)
{
    const struct gtel_attrs *attrs = &gpu->card.attrs;
    const struct gtel_amd_table_state *table = &gpu->table;
    for (size_t i = 0; gpu->given != table->given && i < attrs->n; i++)
        gpu->is_covered[i] =
            gtel_amd_table_has(table, attrs->attr[i].kind.metric, attrs->attr[i].dim[0]);
    gpu->given = table->given;
}

/* An APU's table has its NPU, too, where the host knows one (drm/npu.c). */
static void sample_npu(struct gtel_amd_gpu *gpu, struct gtel_batch *batch)
{
    const struct gtel_cards *cards = gpu->card.card->cards;
    for (size_t i = 0; gpu->is_apu && i < cards->n; i++)
        if (cards->card[i]->is_present && cards->card[i]->device &&
            strcmp(cards->card[i]->drm.driver, "amdxdna") == 0)
            gtel_amd_table_sample_npu(&gpu->table, cards->card[i]->device, batch);
}

/*
 * Whether the card, which is awake, has woken so lately that its values mean nothing. One that is
 * read while it sleeps has just been woken for each reading: its values are what there is.
 */
static bool is_settling(struct gtel_amd_gpu *gpu, uint64_t now_ns)
{
    const struct gtel_card *card = gpu->card.card;
    uint64_t before = gpu->suspended_plus_1;
    gpu->suspended_plus_1 = 1 + card->suspended_ns;
    bool has_woken = before > 0 && before != gpu->suspended_plus_1;
    if (has_woken)
        gtel_amd_table_break(&gpu->table);
    if (has_woken && !card->cards->may_wake &&
        gtel_fs_exists(card->cards->env, GTEL_FS_AT("%s/gpu_metrics", card->path)))
        gpu->settled_ns = now_ns + settle_ns;
    return now_ns < gpu->settled_ns;
}

/*
 * Reads what may be read while the card is left alone. Returns 1 when its memory has changed since,
 * for then a client uses it; 0, or -ENODEV.
 */
static int sample_free(struct gtel_amd_gpu *gpu, struct gtel_attr_sample *sample, struct seen *seen)
{
    int r = read_attrs(sample, 0, count_free(sample->attrs), NULL);
    see(seen, gpu, sample->batch);
    put_memory(sample->batch, gpu, seen);
    /* SI has no busy share (kernel: amd/pm/legacy-dpm/si_dpm.c): a pause ends by memory alone. */
    if (seen->used[0] != not_known)
        seen->busy = 0;
    uint64_t used = seen->used[0] + seen->used[1];
    bool is_used = used != gpu->memory_used;
    gpu->memory_used = used;
    return r < 0 ? r : is_used;
}

static int sample_awake(struct gtel_amd_gpu *gpu, struct gtel_attr_sample *sample,
                        struct seen *seen, bool is_used)
{
    int table = gtel_amd_table_sample(&gpu->table, gpu->card.card, sample->batch);
    if (table == -ENODEV)
        return table;
    if (table == 0) {
        gpu->card.card->gpu_metrics = &gpu->table.file.metrics;
        sample_npu(gpu, sample->batch);
        cover(gpu);
    }
    int r = read_attrs(sample, count_free(sample->attrs), sample->attrs->n,
                       table == 0 ? gpu->is_covered : NULL);
    if (r < 0)
        return r;
    sample->batch->origin = GTEL_ATTR_SYSFS;
    if (gpu->is_level_due)
        gtel_amd_read_levels(gpu);
    gtel_amd_put_levels(gpu, sample->batch);
    see(seen, gpu, sample->batch);
    if (gpu->card.card->rest.delay_ns > 0)
        gtel_rest_note(&gpu->card.card->rest, seen->busy <= 0 && !is_used, sample->batch->t_ns);
    return sample->read > 0 || sample->attrs->n == 0 ? 0 : sample->error;
}

static int sample(void *state, void *own, struct gtel_batch *batch)
{
    struct gtel_amd_gpu *gpu = own;
    struct gtel_card *card = gpu->card.card;
    struct gtel_attr_sample sample = {.card = card, .attrs = &gpu->card.attrs, .batch = batch};
    enum gtel_card_power power;
    batch->origin = GTEL_ATTR_SYSFS;
    card->gpu_metrics = NULL;
    int r = gtel_card_begin(card, batch, &power);
    if (r < 0)
        return r;
    if (power == GTEL_CARD_ASLEEP) {
        gpu->suspended_plus_1 = UINT64_MAX; /* whatever it says next, it has slept */
        return 0;
    }
    bool is_settling_now = power == GTEL_CARD_AWAKE && is_settling(gpu, batch->t_ns);
    if (is_settling_now)
        card->device->is_left_alone = true; /* it may fall asleep again */
    else if (power == GTEL_CARD_AWAKE)
        r = gtel_attr_source_open(state, &gpu->card, batch->t_ns);
    if (r < 0)
        return r;
    struct seen seen = {
        .device = card->device, .first = batch->n, .busy = 1, .used = {not_known, not_known}};
    r = sample_free(gpu, &sample, &seen);
    if (r >= 0 && seen.used[0] == not_known && gtel_card_is_removed(card))
        return -ENODEV; /* files that are not the driver's stay */
    if (r < 0 || is_settling_now || (power == GTEL_CARD_PAUSES && r == 0))
        return r < 0 ? r : 0;
    if (power == GTEL_CARD_PAUSES) {
        gtel_card_end_pause(card, batch);
        card->device->is_left_alone = is_settling(gpu, batch->t_ns); /* it may have slept */
        if (card->device->is_left_alone)
            return 0;
    }
    return sample_awake(gpu, &sample, &seen, r > 0);
}

static void close_gpu(const struct gtel_env *env, void *own)
{
    struct gtel_amd_gpu *gpu = own;
    gpu->card.card->gpu_metrics = NULL;
    gtel_amd_table_close(env, &gpu->table);
    gtel_attr_source_close_card(env, own);
}

static const char *const drivers[] = {"amdgpu", NULL};

static const struct gtel_card_work work = {
    .add = gtel_amd_add,
    .own_size = sizeof(struct gtel_amd_gpu),
    .failure = "amdgpu: %s",
    .close = close_gpu,
    .sample = sample,
    .diagnose = gtel_amd_diagnose,
};

/* In the order of GTEL_ATTR_SYSFS … GTEL_AMD_TABLE_ORIGIN. */
static const char *const origins[] = {"sysfs", "hwmon", "gpu_metrics", NULL};

const struct gtel_source gtel_source_amdgpu = {
    .name = "amdgpu",
    .lane = "kernel",
    .vendor = "amd",
    .summary = "Use, memory, power, limits, temperatures, fans, voltages, clocks and PCIe link of "
               "AMD GPUs with the driver amdgpu",
    .needs = "Linux 5.4 or newer, 6.12 for video; no rights",
    .origins = origins,
    .drivers = drivers,
    .work = &work,
};
