/* SPDX-License-Identifier: MIT */
/* The Intel GPUs of one driver: finding them and opening what they have. */
#include "sources/intel/gpu.h"

#include "sources/drm/hwmon.h"
#include "sources/drm/link.h"
#include "tables/intel_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const gtel_intel_origins[] = {"sysfs", "hwmon", NULL};

void gtel_intel_close_gpu(const struct gtel_env *env, void *own)
{
    struct gtel_intel_gpu *gpu = own;
    gtel_attrs_close(env, &gpu->attrs);
    gtel_intel_pmu_close(env, &gpu->pmu);
}

void gtel_intel_close(void *state)
{
    struct gtel_intel *intel = state;
    gtel_card_source_close(state);
    gtel_arena_done(&intel->texts.arena);
    gtel_arena_done(&intel->scan_arena);
    *intel = (struct gtel_intel){0};
}

int gtel_intel_scan_gpu(struct gtel_intel *intel, const struct gtel_intel_gpu *gpu,
                        struct gtel_attr_list *ret)
{
    *ret = (struct gtel_attr_list){
        .card = gpu->card, .texts = &intel->texts, .arena = &intel->scan_arena};
    int r = gtel_attr_list_init(ret);
    if (r < 0)
        return r;
    intel->source.work->add(ret);
    gtel_hwmon_add(ret);
    gtel_link_add(ret);
    return ret->error;
}

bool gtel_intel_is_free(const struct gtel_intel *intel, const struct gtel_attr *attr)
{
    return gtel_intel_has_pmu(intel) && attr->kind.metric == GTEL_M_FREQUENCY_ACTUAL;
}

static int list_attrs(struct gtel_intel *intel, struct gtel_intel_gpu *gpu)
{
    struct gtel_attr_list list;
    int r = gtel_intel_scan_gpu(intel, gpu, &list);
    if (r < 0)
        return r;
    r = gtel_attrs_update(&gpu->attrs, &list);
    bool is_watched = false;
    for (size_t i = 0; i < gpu->attrs.n; i++)
        is_watched = is_watched || gtel_intel_is_free(intel, &gpu->attrs.attr[i]);
    gtel_card_read_autosuspend(gpu->card, is_watched);
    return r;
}

int gtel_intel_list(struct gtel_intel *intel, struct gtel_intel_gpu *gpu)
{
    int r = list_attrs(intel, gpu);
    if (r == 0 && gtel_intel_has_pmu(intel))
        gtel_intel_pmu_refresh(intel->source.env, &intel->scan_arena, &gpu->card->drm,
                               intel->source.cards.n == 1, &gpu->pmu);
    return r;
}

enum { RETRIES_MAX = 4 }; /* discoveries soon after one that was not whole; then each Rescan */

void gtel_intel_retry(struct gtel_intel *intel, bool is_whole)
{
    intel->is_retry_due = !is_whole && intel->retries < RETRIES_MAX;
    intel->retries = is_whole ? 0 : intel->retries + intel->is_retry_due;
}

/* Lists a GPU that may be read now; one that sleeps is left alone. */
static int refresh(struct gtel_intel *intel, struct gtel_intel_gpu *gpu)
{
    int r = gtel_card_check_power(gpu->card);
    return r > 0 ? gtel_intel_list(intel, gpu) : r;
}

/* 0 when everything of it is open, 1 when more of it may come, or a negative errno. */
static int open_gpu(struct gtel_intel *intel, struct gtel_registry *registry, size_t i)
{
    struct gtel_intel_gpu *gpu = intel->source.cards.slot[i].own;
    int r = refresh(intel, gpu);
    if (r == -ENODEV) { /* its files are no more: the driver has been loaded again */
        gtel_card_leave(gpu->card, registry);
        r = gtel_card_list_discover(&intel->source.cards, registry);
        r = r < 0 ? r : refresh(intel, gpu);
    }
    /* A driver shows its card before its folders and its PMU: once more at the next gather. */
    bool is_back = intel->source.cards.slot[i].is_new && gpu->card->device->arrivals > 1;
    return r < 0 ? r : is_back || (gpu->attrs.attr && gpu->attrs.hash == 0);
}

int gtel_intel_discover(void *state, struct gtel_registry *registry)
{
    struct gtel_intel *intel = state;
    size_t fine = 0;
    for (size_t i = 0; i < intel->source.cards.n; i++) {
        const struct gtel_intel_gpu *gpu = intel->source.cards.slot[i].own;
        if (gpu->is_lost)
            gtel_card_leave(gpu->card, registry);
    }
    int first = gtel_card_list_discover(&intel->source.cards, registry);
    bool is_whole = first == 0;
    for (size_t i = 0; i < intel->source.cards.n; i++) {
        int r = open_gpu(intel, registry, i);
        fine += r >= 0 ? 1 : 0;
        first = first < 0 || r > 0 ? first : r;
        is_whole = is_whole && r == 0;
    }
    gtel_intel_retry(intel, is_whole);
    return fine > 0 ? 0 : first;
}
