/* SPDX-License-Identifier: MIT */
/* The energy of a GPU, split among processes. */
#include "pipeline/attribution.h"

#include "base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void gtel_attribution_done(struct gtel_attribution *attribution)
{
    free(attribution->gpu);
    free(attribution->line);
    *attribution = (struct gtel_attribution){0};
}

/* ---- devices ---- */

static const char *name_of(const struct gtel_device *device)
{
    const char *gpu = device->label[GTEL_LABEL_GPU];
    return gpu[0] ? gpu : device->key;
}

/* Joins parts to their GPU: the first device of that name stands for all of them. */
static void join_parts(struct gtel_attribution *attribution, const struct gtel_registry *registry)
{
    for (size_t i = 0; i < registry->n; i++) {
        uint32_t at = 0;
        while (strcmp(name_of(registry->device[i]), name_of(registry->device[at])) != 0)
            at++;
        attribution->gpu[i].gpu = at;
    }
    attribution->generation = registry->generation;
}

static int begin(struct gtel_attribution *attribution, const struct gtel_registry *registry,
                 size_t series)
{
    if (!gtel_grow_zeroed(&attribution->gpu, &attribution->gpus, registry->n, GTEL_DEVICES_MAX,
                          sizeof(*attribution->gpu)) ||
        !gtel_grow_zeroed(&attribution->line, &attribution->size, series, GTEL_SERIES_MAX,
                          sizeof(*attribution->line)))
        return -ENOMEM;
    if (attribution->generation != registry->generation)
        join_parts(attribution, registry);
    for (size_t i = 0; i < attribution->gpus; i++) {
        struct gtel_attribution_gpu *gpu = &attribution->gpu[i];
        gpu->energy = NULL;
        gpu->busy = NULL;
        gpu->user = NULL;
        gpu->lines = 0;
        gpu->users = 0;
        gpu->ended = 0;
        gpu->measured = 0;
        gpu->shares = 0;
        gpu->sum = 0;
        gpu->is_incomplete = false;
        gpu->list = gpu->list == GTEL_LIST_NEVER ? GTEL_LIST_NEVER : GTEL_LIST_NONE;
    }
    attribution->lines = 0;
    return 0;
}

/* ---- collecting ---- */

/* The metrics of a line follow each other, its number of processes first. */
static void collect_process(struct gtel_attribution *attribution, const struct gtel_series *series)
{
    struct gtel_attribution_line *last =
        attribution->lines > 0 ? &attribution->line[attribution->lines - 1] : NULL;
    if (series->now.metric == GTEL_M_PROCESS_COUNT)
        attribution->line[attribution->lines++] =
            (struct gtel_attribution_line){.series = series, .share = -1};
    else if (series->now.metric == GTEL_M_PROCESS_BUSY && last &&
             !gtel_device_is_part(series->now.device) &&
             gtel_reading_is_same_part(&last->series->now, &series->now))
        last->share = gtel_reading_number(&series->now);
}

static void collect_list(struct gtel_attribution *attribution, const struct gtel_reading *now)
{
    struct gtel_attribution_gpu *part = &attribution->gpu[now->device->index];
    attribution->gpu[part->gpu].has_processes = true;
    part->list =
        gtel_reading_is_of(now, attribution->readers) ? GTEL_LIST_OF_READER : GTEL_LIST_OF_ALL;
}

static void collect_of_gpu(struct gtel_attribution *attribution, const struct gtel_series *series)
{
    const struct gtel_reading *now = &series->now;
    struct gtel_attribution_gpu *gpu = &attribution->gpu[attribution->gpu[now->device->index].gpu];
    if (now->metric == GTEL_M_GPU_ENERGY && !gpu->energy)
        gpu->energy = series;
    else if (now->metric == GTEL_M_GPU_BUSY && !gtel_device_is_part(now->device))
        gpu->busy = series;
    else if (now->metric == GTEL_M_ENGINE_BUSY && now->is_derived &&
             now->source != GTEL_SOURCE_CORE)
        gpu->measured |= 1u << now->source;
    else if (now->metric == GTEL_M_GPU_PROCESSES)
        collect_list(attribution, now);
    else
        collect_process(attribution, series);
}

/* Whether each process could be read, where that is known. */
static bool collect(struct gtel_attribution *attribution, const struct gtel_series_table *table)
{
    double visible = 0;
    double readable = 0;
    for (size_t i = 0; i < table->n; i++) {
        const struct gtel_series *series = table->sorted[i];
        const struct gtel_reading *now = &series->now;
        if (series->section <= attribution->section) {
            if (now->metric == GTEL_M_PROCESS_COUNT)
                attribution->gpu[attribution->gpu[now->device->index].gpu].ended +=
                    series->section > attribution->section_before;
            continue;
        }
        if (now->device)
            collect_of_gpu(attribution, series);
        else if (now->metric == GTEL_M_SELF_PROCESSES_VISIBLE)
            visible = gtel_reading_number(now);
        else if (now->metric == GTEL_M_SELF_PROCESSES_READABLE)
            readable = gtel_reading_number(now);
    }
    return visible == readable && visible > 0;
}

/* ---- splitting ---- */

/* What the lines of each GPU are together. */
static void sum_up(struct gtel_attribution *attribution, const struct gtel_registry *registry,
                   bool is_all_read)
{
    for (size_t i = 0; i < attribution->lines; i++) {
        const struct gtel_attribution_line *line = &attribution->line[i];
        uint32_t index = line->series->now.device->index;
        struct gtel_attribution_gpu *gpu = &attribution->gpu[attribution->gpu[index].gpu];
        gpu->lines++;
        gpu->users += line->share != 0;
        gpu->user = line->share != 0 ? line : gpu->user;
        gpu->shares += line->share >= 0;
        gpu->sum = gpu->sum < 0 || line->share < 0 ? -1 : gpu->sum + line->share;
    }
    for (size_t i = 0; i < registry->n; i++) {
        const struct gtel_attribution_gpu *part = &attribution->gpu[i];
        if (registry->device[i]->is_present &&
            (part->list == GTEL_LIST_NONE || (part->list == GTEL_LIST_OF_READER && !is_all_read)))
            attribution->gpu[part->gpu].is_incomplete = true;
    }
}

/* Adds to the counter of a line, of so many gathers; its device is that of the reading. */
static void add(struct gtel_series_table *table, const struct gtel_attribution_sample *sample,
                const struct gtel_reading *line, uint64_t gathers, double joules)
{
    struct gtel_reading reading = *line;
    reading.gathers = gathers < UINT16_MAX ? (uint16_t)gathers : UINT16_MAX;
    reading.metric = GTEL_M_PROCESS_JOULES;
    reading.value_type = GTEL_VALUE_F64;
    reading.value.f64 = joules;
    reading.source = GTEL_SOURCE_CORE;
    reading.origin = 0;
    reading.has_device_clock = false;
    reading.is_derived = true;
    (void)gtel_series_count(table, &reading, sample->section, sample->gather);
}

static void add_named(struct gtel_series_table *table, const struct gtel_attribution_sample *sample,
                      const struct gtel_series *energy, struct gtel_str name, uint64_t gathers,
                      double joules)
{
    struct gtel_reading line = {.device = energy->now.device, .t_ns = energy->now.t_ns};
    line.dim[0] = name;
    add(table, sample, &line, gathers, joules);
}

/* The busy share of the GPU since the base; below 0: not known. */
static double busy_of(const struct gtel_attribution *attribution,
                      const struct gtel_attribution_gpu *gpu)
{
    if (!gpu->busy)
        return -1;
    double busy = gpu->busy_sum / gpu->busies;
    uint32_t means = gpu->measured | attribution->readers;
    const struct gtel_reading *now = &gpu->busy->now;
    bool is_mean = now->source == GTEL_SOURCE_CORE || gtel_reading_is_of(now, means);
    double least = gpu->sum * gpu->listed / gpu->runs;
    busy = !is_mean && busy < least ? least : busy;
    return busy < 1 ? busy : 1;
}

/* What of 1 a joule each line gets. */
struct split {
    double factor; /* of each share */
    double alone;  /* of the only line, when its share is not known */
    double unattributed;
};

static struct split split_of(const struct gtel_attribution_gpu *gpu, double busy, bool was_asleep)
{
    if (was_asleep)
        return (struct split){.factor = 0};
    if (busy < 0)
        return (struct split){.unattributed = 1};
    if (gpu->sum < 0)
        return gpu->alone != 0 ? (struct split){.alone = busy}
                               : (struct split){.unattributed = busy};
    if (gpu->sum > busy)
        return (struct split){.factor = busy / gpu->sum};
    return (struct split){.factor = 1, .unattributed = busy - gpu->sum};
}

/* The line that has the GPU to itself in this run; 0: none. */
static uint64_t alone_of(const struct gtel_attribution_gpu *gpu)
{
    return gpu->users == 1 && !gpu->is_incomplete ? gpu->user->series->hash | 1 : 0;
}

/* A run about the time since the base. */
static void record_run(struct gtel_attribution_gpu *gpu, bool has_slept)
{
    double busy = gpu->busy ? gtel_reading_number(&gpu->busy->now) : 0;
    gpu->runs++;
    gpu->listed += gpu->lines > 0;
    gpu->busies += gpu->busy != NULL;
    gpu->busy_sum += busy < 1 ? busy : 1;
    /* What a line did before it ended is not known, also of one that had been idle. */
    gpu->alone = alone_of(gpu) == gpu->alone && gpu->ended == 0 ? gpu->alone : 0;
    gpu->has_slept = gpu->has_slept || has_slept;
}

/* One without energy. Readers have shares of each gather, also of processes that have ended. */
static void advance_until(struct gtel_attribution_gpu *gpu, uint64_t run)
{
    if (gpu->until + 1 == run && gpu->shares == 0 && gpu->list != GTEL_LIST_OF_READER)
        gpu->until = run;
}

/*
 * The growth since the base, which becomes this run. 0 where that is nothing, or not known: it was
 * another counter, or began again.
 */
static double step(struct gtel_attribution_gpu *gpu, uint64_t run)
{
    const struct gtel_reading *now = &gpu->energy->now;
    double joules = gtel_reading_number(now);
    /* At first it has 0 arrivals, which no device has. */
    bool is_same = gpu->source == now->source && gpu->origin == now->origin &&
                   gpu->arrivals == now->device->arrivals && joules >= gpu->joules;
    double grown = is_same ? joules - gpu->joules : 0;
    gpu->joules = joules;
    gpu->source = now->source;
    gpu->origin = now->origin;
    gpu->arrivals = now->device->arrivals;
    gpu->until = run;
    gpu->sleeps = now->device->sleeps;
    gpu->alone = alone_of(gpu);
    gpu->busy_sum = 0;
    gpu->busies = gpu->runs = gpu->listed = 0;
    gpu->has_slept = false;
    return grown;
}

static void attribute(struct gtel_attribution *attribution, struct gtel_series_table *table,
                      const struct gtel_attribution_sample *sample, uint32_t index)
{
    struct gtel_attribution_gpu *gpu = &attribution->gpu[index];
    const struct gtel_device *device = gpu->energy->now.device;
    bool was_asleep = gpu->has_slept || device->is_asleep || gpu->sleeps != device->sleeps;
    struct split split = split_of(gpu, busy_of(attribution, gpu), was_asleep);
    if ((gpu->until + 1 != attribution->run && !was_asleep) || gpu->energy->now.is_apart)
        split = (struct split){.unattributed = 1};
    uint64_t gathers = gpu->runs;
    double joules = step(gpu, attribution->run);
    joules = sample->gather == 0 ? 0 : joules;
    double rest = joules;
    for (size_t i = 0; i < attribution->lines; i++) {
        const struct gtel_attribution_line *line = &attribution->line[i];
        if (attribution->gpu[line->series->now.device->index].gpu != index)
            continue;
        double share = line->share < 0 ? split.alone : line->share * split.factor;
        add(table, sample, &line->series->now, gathers, joules * share);
        rest -= joules * share;
    }
    double unattributed = joules * split.unattributed < rest ? joules * split.unattributed : rest;
    unattributed = unattributed > 0 ? unattributed : 0;
    rest = rest > unattributed ? rest - unattributed : 0;
    add_named(table, sample, gpu->energy, GTEL_STR("unattributed"), gathers, unattributed);
    add_named(table, sample, gpu->energy, GTEL_STR("idle"), gathers, rest);
}

int gtel_attribution_run(struct gtel_attribution *attribution, struct gtel_series_table *table,
                         const struct gtel_attribution_sample *sample)
{
    gtel_series_sort(table);
    int r = begin(attribution, sample->registry, table->n);
    if (r < 0)
        return r;
    attribution->run++;
    bool is_all_read = collect(attribution, table);
    sum_up(attribution, sample->registry, is_all_read);
    for (uint32_t i = 0; i < attribution->gpus; i++) {
        struct gtel_attribution_gpu *gpu = &attribution->gpu[i];
        if (!gpu->has_processes)
            continue;
        record_run(gpu, sample->has_slept);
        if (gpu->energy)
            attribute(attribution, table, sample, i);
        else
            advance_until(gpu, attribution->run);
    }
    attribution->section_before = attribution->section;
    attribution->section = sample->section;
    return 0;
}
