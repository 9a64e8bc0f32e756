/* SPDX-License-Identifier: MIT */
/* Readings and the batch that carries them. */
#include "pipeline/reading.h"

#include "base/grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void gtel_batch_done(struct gtel_batch *batch)
{
    free(batch->reading);
    gtel_arena_done(&batch->arena);
    *batch = (struct gtel_batch){0};
}

void gtel_batch_reset(struct gtel_batch *batch)
{
    batch->n = 0;
    batch->failed_sources = 0;
    gtel_arena_reset(&batch->arena);
    memset(batch->failed, 0, sizeof(batch->failed));
}

struct gtel_reading *gtel_batch_add(struct gtel_batch *batch, const struct gtel_reading *reading)
{
    if (batch->n == batch->size && !gtel_grow(&batch->reading, &batch->size, batch->n + 1,
                                              GTEL_BATCH_MAX, sizeof(*batch->reading))) {
        batch->dropped++;
        return NULL;
    }
    struct gtel_reading *copy = &batch->reading[batch->n++];
    *copy = *reading;
    if (copy->t_ns == 0)
        copy->t_ns = batch->t_ns;
    copy->source = batch->source;
    copy->origin = batch->origin;
    return copy;
}

void gtel_batch_put(struct gtel_batch *batch, const struct gtel_reading *reading)
{
    if (reading->value_type != GTEL_VALUE_F64 || isfinite(reading->value.f64))
        (void)gtel_batch_add(batch, reading); /* a loss is counted */
}

static struct gtel_reading *add(struct gtel_batch *batch, const struct gtel_device *device,
                                enum gtel_metric metric, struct gtel_str dim)
{
    struct gtel_reading *reading = gtel_batch_add(batch, &batch->blank);
    if (!reading)
        return NULL;
    reading->device = device;
    reading->metric = (uint16_t)metric;
    reading->dim[0] = dim;
    return reading;
}

void gtel_batch_u64(struct gtel_batch *batch, const struct gtel_device *device,
                    enum gtel_metric metric, struct gtel_str dim, uint64_t value)
{
    struct gtel_reading *reading = add(batch, device, metric, dim);
    if (reading)
        reading->value.u64 = value;
}

void gtel_batch_error(struct gtel_batch *batch, const struct gtel_device *device,
                      struct gtel_str kind, struct gtel_str severity, uint64_t count)
{
    struct gtel_reading *reading = add(batch, device, GTEL_M_ERROR_COUNT, kind);
    if (!reading)
        return;
    reading->dim[1] = severity;
    reading->value.u64 = count;
}

void gtel_batch_f64(struct gtel_batch *batch, const struct gtel_device *device,
                    enum gtel_metric metric, struct gtel_str dim, double value)
{
    struct gtel_reading *reading = isfinite(value) ? add(batch, device, metric, dim) : NULL;
    if (!reading)
        return;
    reading->value.f64 = value;
    reading->value_type = GTEL_VALUE_F64;
}

void gtel_batch_number(struct gtel_batch *batch, const struct gtel_device *device,
                       enum gtel_metric metric, struct gtel_str dim, double value)
{
    if (gtel_metric_row(metric)->type == GTEL_TYPE_INT)
        gtel_batch_u64(batch, device, metric, dim, (uint64_t)(value + 0.5));
    else
        gtel_batch_f64(batch, device, metric, dim, value);
}

void gtel_batch_like(struct gtel_batch *batch, const struct gtel_reading *like,
                     enum gtel_metric metric, double value)
{
    bool is_integer = gtel_metric_row(metric)->type == GTEL_TYPE_INT;
    struct gtel_reading reading = *like;
    reading.metric = (uint16_t)metric;
    reading.value_type = is_integer ? GTEL_VALUE_U64 : GTEL_VALUE_F64;
    if (is_integer)
        reading.value.u64 = (uint64_t)(value + 0.5);
    else
        reading.value.f64 = value;
    gtel_batch_put(batch, &reading);
}

void gtel_batch_failed(struct gtel_batch *batch, const struct gtel_device *device)
{
    if (device)
        batch->failed[device->index]++;
    else
        batch->failed_sources++;
}

struct gtel_str gtel_batch_text(struct gtel_batch *batch, struct gtel_str text)
{
    struct gtel_str copy = GTEL_STR_NONE;
    (void)gtel_arena_str(&batch->arena, text, &copy); /* out of memory: empty, as documented */
    return copy;
}

bool gtel_reading_is_same_part(const struct gtel_reading *a, const struct gtel_reading *b)
{
    if (a->device != b->device)
        return false;
    for (size_t i = 0; i < GTEL_DIMS_MAX; i++) {
        bool is_empty = a->dim[i].n == 0 && b->dim[i].n == 0; /* most are */
        if (!is_empty && !gtel_str_eq(a->dim[i], b->dim[i]))
            return false;
    }
    return true;
}

double gtel_reading_number(const struct gtel_reading *reading)
{
    if (reading->value_type == GTEL_VALUE_F64)
        return reading->value.f64;
    return reading->value_type == GTEL_VALUE_U64 ? (double)reading->value.u64 : 0;
}

bool gtel_reading_is_of(const struct gtel_reading *reading, uint32_t sources)
{
    return reading->source != GTEL_SOURCE_CORE && (sources >> reading->source & 1) != 0;
}
