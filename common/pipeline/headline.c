/* SPDX-License-Identifier: MIT */
/* What the core makes of a GPU's parts. */
#include "pipeline/headline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void gtel_headlines_done(struct gtel_headlines *headlines)
{
    free(headlines->device);
    *headlines = (struct gtel_headlines){0};
}

int gtel_headlines_begin(struct gtel_headlines *headlines, size_t devices)
{
    for (size_t i = 0; i < headlines->n; i++) {
        struct gtel_headline *headline = &headlines->device[i];
        bool has_waited = headline->has_waited || headline->idle;
        *headline = (struct gtel_headline){.has_waited = has_waited};
    }
    if (devices <= headlines->n)
        return 0;
    struct gtel_headline *p = realloc(headlines->device, devices * sizeof(struct gtel_headline));
    if (!p)
        return -ENOMEM;
    memset(p + headlines->n, 0, (devices - headlines->n) * sizeof(struct gtel_headline));
    headlines->device = p;
    headlines->n = devices;
    return 0;
}

/* NVIDIA's video engines alone say nothing of a GPU as a whole. */
static bool is_main(struct gtel_str engine)
{
    return gtel_str_eq(engine, GTEL_STR("render")) || gtel_str_eq(engine, GTEL_STR("compute"));
}

static void see_engine(struct gtel_headline *headline, const struct gtel_series *series,
                       struct gtel_headline_source from)
{
    if (series->now.dim[1].n > 0)
        return; /* of a part: one engine, or one function */
    bool is_better = !headline->engine || from.rank < headline->rank;
    if (!is_better && from.rank > headline->rank)
        return;
    if (is_better)
        headline->has_main = false;
    headline->has_main = headline->has_main || from.has_all_engines || is_main(series->now.dim[0]);
    headline->rank = from.rank;
    if (is_better ||
        gtel_reading_number(&series->now) > gtel_reading_number(&headline->engine->now))
        headline->engine = series;
}

static bool is_reason(const struct gtel_reading *reading)
{
    return reading->metric == GTEL_M_THROTTLE_ACTIVE || reading->metric == GTEL_M_THROTTLE_STATUS;
}

static void see_reason(struct gtel_headline *headline, const struct gtel_series *series)
{
    if (!headline->reason || gtel_reading_number(&series->now) > 0)
        headline->reason = series;
}

static void see_idle(struct gtel_headline *headline, const struct gtel_series *series)
{
    if (!headline->idle ||
        gtel_reading_number(&series->now) < gtel_reading_number(&headline->idle->now))
        headline->idle = series;
}

void gtel_headlines_see(struct gtel_headlines *headlines, const struct gtel_series *series,
                        struct gtel_headline_source from)
{
    const struct gtel_reading *now = &series->now;
    if (!now->device || now->device->index >= headlines->n)
        return;
    struct gtel_headline *headline = &headlines->device[now->device->index];
    if (now->metric == GTEL_M_ENGINE_BUSY) {
        see_engine(headline, series, from);
        return;
    }
    if (is_reason(now)) {
        see_reason(headline, series);
        return;
    }
    if (now->metric == GTEL_M_ENGINE_BUSY_TIME || now->metric == GTEL_M_ENGINE_TICKS)
        headline->is_counted = true;
    bool is_idle = now->metric == GTEL_M_FREQUENCY_IDLE;
    bool is_idle_time = now->metric == GTEL_M_FREQUENCY_IDLE_TIME;
    if ((!is_idle && !is_idle_time) || !gtel_str_eq(now->dim[0], GTEL_STR("graphics")))
        return;
    if (is_idle)
        see_idle(headline, series);
    else
        headline->has_slept = headline->has_slept || gtel_reading_number(now) > 0;
}

void gtel_headlines_miss(struct gtel_headlines *headlines, const struct gtel_series *series,
                         uint32_t source_rank)
{
    const struct gtel_reading *now = &series->now;
    if (!now->device || now->device->index >= headlines->n)
        return;
    struct gtel_headline *headline = &headlines->device[now->device->index];
    headline->lacks_reason = headline->lacks_reason || is_reason(now);
    if (now->metric != GTEL_M_ENGINE_BUSY || now->dim[1].n > 0)
        return;
    if (headline->engine && source_rank == headline->rank)
        headline->is_partial = true;
}

/* A reading of the whole GPU, made from that of a part. */
static struct gtel_reading whole(const struct gtel_series *series, enum gtel_metric metric)
{
    struct gtel_reading reading = series->now;
    reading.metric = (uint16_t)metric;
    reading.is_derived = true;
    for (size_t i = 0; i < GTEL_DIMS_MAX; i++)
        reading.dim[i] = GTEL_STR_NONE;
    return reading;
}

bool gtel_headlines_throttled(const struct gtel_headlines *headlines, size_t device,
                              struct gtel_reading *ret)
{
    const struct gtel_headline *headline = &headlines->device[device];
    if (!headline->reason)
        return false;
    *ret = whole(headline->reason, GTEL_M_GPU_THROTTLED);
    return gtel_reading_number(ret) > 0 || !headline->lacks_reason;
}

int gtel_headlines_get(const struct gtel_headlines *headlines, size_t device,
                       struct gtel_reading *ret)
{
    const struct gtel_headline *headline = &headlines->device[device];
    bool has_engine = headline->engine && headline->has_main && !headline->is_partial;
    bool has_idle =
        headline->idle && headline->has_slept && headline->has_waited && !headline->is_counted;
    if (!has_engine && !has_idle)
        return 0;
    const struct gtel_series *series = has_engine ? headline->engine : headline->idle;
    double value = gtel_reading_number(&series->now);
    *ret = whole(series, GTEL_M_GPU_BUSY);
    ret->value_type = GTEL_VALUE_F64;
    ret->value.f64 = has_engine ? value : 1 - value;
    if (has_engine)
        return 1;
    ret->source = GTEL_SOURCE_CORE;
    ret->origin = GTEL_HEADLINE_IDLE;
    return 2;
}
