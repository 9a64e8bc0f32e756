/* SPDX-License-Identifier: MIT */
/*
 * Engine classes from engine groups.
 *
 * A class is the mean over its single engines, as with the kernel's sources. Groups, which some
 * drivers average and others do not, are taken only where a class has no single engine. Decoding
 * and encoding are two names of one video engine, and a driver that knows codec engines means the
 * same ones.
 */
#include "sources/level_zero/sysman/sysman.h"

/* Kinds of one class in order of preference: the first that a GPU has is taken. */
enum { KINDS_MAX = 4, NO_KIND = 0xff };
static const struct {
    struct gtel_str name;
    uint8_t kind[KINDS_MAX];
} classes[] = {
    {GTEL_STR_INIT("render"),
     {GTEL_ZES_ENGINE_RENDER, GTEL_ZES_ENGINE_3D, GTEL_ZES_ENGINE_RENDER_ALL, NO_KIND}},
    {GTEL_STR_INIT("compute"),
     {GTEL_ZES_ENGINE_COMPUTE, GTEL_ZES_ENGINE_COMPUTE_ALL, NO_KIND, NO_KIND}},
    {GTEL_STR_INIT("copy"), {GTEL_ZES_ENGINE_COPY, GTEL_ZES_ENGINE_COPY_ALL, NO_KIND, NO_KIND}},
    {GTEL_STR_INIT("video"),
     {GTEL_ZES_ENGINE_CODEC, GTEL_ZES_ENGINE_DECODE, GTEL_ZES_ENGINE_ENCODE,
      GTEL_ZES_ENGINE_MEDIA_ALL}},
    {GTEL_STR_INIT("video-enhance"), {GTEL_ZES_ENGINE_ENHANCEMENT, NO_KIND, NO_KIND, NO_KIND}},
};

/* No driver counts finer than in nanoseconds. */
static const double pace_max = 2;
enum { PACE_FACTOR = 4, DOUBTS_MAX = 2 };

/*
 * Time worked and time passed count in the same units, microseconds or ticks. Single readings in
 * other units than their neighbours have been seen: there the clock goes back, or much faster than
 * it ever did. Such a step is left out; when the new figures stay, it goes on from there. A clock
 * that goes slowly is that of a GPU that slept.
 */
bool gtel_sysman_activity_step(struct gtel_sysman_activity *activity,
                               const struct gtel_zes_engine_stats *now, uint64_t now_ns)
{
    struct gtel_sysman_activity last = *activity;
    double most = last.pace > 0 ? last.pace * PACE_FACTOR : pace_max;
    double span = (double)(now_ns - last.last_ns);
    double passed = (double)(now->timestamp - last.last_timestamp);
    bool is_fine = !last.has_last || (now->timestamp >= last.last_timestamp &&
                                      now->active >= last.last_active && passed <= most * span);
    if (!is_fine && ++activity->doubts <= DOUBTS_MAX)
        return false;
    activity->has_last = true;
    activity->doubts = 0;
    activity->last_active = now->active;
    activity->last_timestamp = now->timestamp;
    activity->last_ns = now_ns;
    if (!is_fine) {
        activity->pace = 0;
        return false;
    }
    activity->active += now->active - last.last_active;
    activity->passed += now->timestamp - last.last_timestamp;
    if (last.has_last && span > 0 && passed > last.pace * span)
        activity->pace = passed / span;
    return true;
}

uint32_t gtel_sysman_read_engine(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_engine_stats got = {.timestamp = UINT64_MAX};
    uint32_t code = pass->sysman->call.zesEngineGetActivity(part->handle, &got);
    part->is.engine.has_value = false;
    if (code != GTEL_ZE_SUCCESS)
        return code;
    if (got.timestamp == UINT64_MAX || got.timestamp == 0)
        return GTEL_SYSMAN_NO_VALUE;
    part->is.engine.has_value =
        gtel_sysman_activity_step(&part->is.engine.activity, &got, pass->now);
    return GTEL_ZE_SUCCESS;
}

/* Sums up the engines of a kind: those of tiles where there are such, else those of the card. */
struct sum {
    uint64_t engines;
    uint64_t answers;
    double active;
    double timestamp;
};

static struct sum sum_of(const struct gtel_sysman_list *list, uint8_t kind)
{
    struct sum sum = {0};
    bool has_tiles = gtel_sysman_has_tiles(list, kind);
    for (size_t i = 0; i < list->n; i++) {
        const struct gtel_sysman_part *part = &list->part[i];
        if (!gtel_sysman_is_used(part) || part->type != kind || part->is_on_tile != has_tiles)
            continue;
        sum.engines++;
        if (!part->is.engine.has_value)
            continue;
        sum.answers++;
        sum.active += (double)part->is.engine.activity.active;
        sum.timestamp += (double)part->is.engine.activity.passed;
    }
    return sum;
}

/* The rate of the hidden counter is worked time over passed time on the device's clock. */
static void put_class(const struct gtel_sysman_pass *pass, size_t class, const struct sum *sum,
                      bool is_single)
{
    double n = (double)sum->engines;
    struct gtel_sysman_place place = {.dim = {classes[class].name}};
    if (is_single)
        gtel_sysman_put_u64(pass, GTEL_M_ENGINE_CAPACITY, &place, sum->engines);
    if (sum->answers != sum->engines)
        return; /* a mean of fewer engines would be another figure */
    place.t_us = (uint64_t)(sum->timestamp / n + 0.5);
    gtel_sysman_put_f64(pass, GTEL_M_ENGINE_TICKS, &place, sum->active / n * 1e-6);
}

static bool is_single(uint8_t kind)
{
    return kind >= GTEL_ZES_ENGINE_COMPUTE && kind != GTEL_ZES_ENGINE_RENDER_ALL;
}

void gtel_sysman_put_engines(const struct gtel_sysman_pass *pass)
{
    const struct gtel_sysman_list *list = &pass->gpu->list[GTEL_SYSMAN_ENGINE];
    for (size_t i = 0; i < list->n; i++)
        if (list->part[i].use == GTEL_SYSMAN_UNDESCRIBED)
            return; /* one more engine would make a mean another counter */
    for (size_t c = 0; c < GTEL_ARRAY_LEN(classes); c++)
        for (size_t k = 0; k < KINDS_MAX && classes[c].kind[k] != NO_KIND; k++) {
            struct sum sum = sum_of(list, classes[c].kind[k]);
            if (sum.engines == 0)
                continue;
            put_class(pass, c, &sum, is_single(classes[c].kind[k]));
            break;
        }
}
