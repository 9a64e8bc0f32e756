/* SPDX-License-Identifier: MIT */
/*
 * Engine classes from engine groups: time worked and time passed.
 *
 * A class is the mean over its single engines, as with the kernel's sources. Groups, which some
 * drivers average and others do not, count only where a class has no single engine. Decoding and
 * encoding are two names of one video engine, and a driver that knows codec engines means the same
 * ones.
 */
#include "sources/level_zero/sysman/rows.h"

/* No driver counts finer than in nanoseconds. */
static const double pace_max = 2;
enum { REJECTED_MAX = 2 };

/*
 * Both count in the same units, microseconds or ticks. Single readings in other units than their
 * neighbours have been seen: there the clock goes back, or faster than it can. Such a step is
 * skipped; when the new values stay, it goes on from there.
 */
bool gtel_sysman_activity_step(struct gtel_sysman_activity *activity,
                               const struct gtel_zes_engine_stats *now, uint64_t now_ns)
{
    struct gtel_sysman_activity last = *activity;
    double most = pace_max * (double)(now_ns - last.last_ns);
    bool is_fine = last.last_ns == 0 ||
                   (now->timestamp >= last.last_timestamp && now->active >= last.last_active &&
                    (double)(now->timestamp - last.last_timestamp) <= most);
    if (!is_fine && ++activity->rejected <= REJECTED_MAX)
        return false;
    activity->rejected = 0;
    activity->last_active = now->active;
    activity->last_timestamp = now->timestamp;
    activity->last_ns = now_ns;
    if (!is_fine)
        return false;
    activity->active += now->active - last.last_active;
    activity->passed += now->timestamp - last.last_timestamp;
    return true;
}

GTEL_SYSMAN_READ(engine)
{
    if (got->activity.timestamp == UINT64_MAX || got->activity.timestamp == 0)
        return GTEL_ZE_NO_VALUE;
    part->is.engine.has_value =
        gtel_sysman_activity_step(&part->is.engine.activity, &got->activity, pass->now);
    return GTEL_ZE_SUCCESS;
}

/* Kinds of one class in order of preference: the first that a GPU has counts. */
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

static bool is_single(uint8_t kind)
{
    return kind >= GTEL_ZES_ENGINE_COMPUTE && kind != GTEL_ZES_ENGINE_RENDER_ALL;
}

/*
 * The engines of a kind: those of tiles where there are such, else those of the card. False: there
 * are none. The rate of the hidden counter is worked time over passed time on the device's clock.
 */
static bool add_kind(const struct gtel_sysman_pass *pass, struct gtel_str class, uint8_t kind)
{
    const struct gtel_sysman_list *list = &pass->gpu->list[GTEL_SYSMAN_ENGINE];
    struct gtel_sysman_place place = {.dim = {class}};
    bool has_tiles = gtel_sysman_has_tiles(list, kind);
    uint64_t engines = 0;
    uint64_t values = 0;
    double active = 0;
    double passed = 0;
    for (size_t i = 0; i < list->n; i++) {
        const struct gtel_sysman_part *part = &list->part[i];
        if (part->use != GTEL_SYSMAN_USED || part->type != kind ||
            gtel_sysman_on_tile(part) != has_tiles)
            continue;
        engines++;
        values += part->ask[0].code == GTEL_ZE_SUCCESS && part->is.engine.has_value;
        active += (double)part->is.engine.activity.active;
        passed += (double)part->is.engine.activity.passed;
    }
    if (engines > 0 && is_single(kind))
        gtel_sysman_add_u64(pass, GTEL_M_ENGINE_CAPACITY, &place, engines);
    if (engines == 0 || values != engines) /* a mean of fewer would be another value */
        return engines > 0;
    place.t_us = (uint64_t)(passed / (double)engines + 0.5);
    gtel_sysman_add_f64(pass, GTEL_M_ENGINE_TICKS, &place, active / (double)engines * 1e-6);
    return true;
}

void gtel_sysman_add_engines(const struct gtel_sysman_pass *pass)
{
    const struct gtel_sysman_list *list = &pass->gpu->list[GTEL_SYSMAN_ENGINE];
    for (size_t i = 0; i < list->n; i++)
        if (list->part[i].use == GTEL_SYSMAN_UNDESCRIBED)
            return; /* one more engine would make a mean another counter */
    for (size_t c = 0; c < GTEL_ARRAY_LEN(classes); c++)
        for (size_t k = 0; k < KINDS_MAX && classes[c].kind[k] != NO_KIND; k++)
            if (add_kind(pass, classes[c].name, classes[c].kind[k]))
                break;
}
