/* SPDX-License-Identifier: MIT */
/* The headlines of a GPU beside what one source reads of it. */
#include "harness/headlines.h"

/* Whether the source itself reads that of the whole GPU. */
static bool has(const struct gtel_batch *batch, const struct gtel_reading *headline)
{
    for (size_t i = 0; i < batch->n; i++)
        if (batch->reading[i].device == headline->device &&
            batch->reading[i].metric == headline->metric)
            return true;
    return false;
}

void headlines_append(struct headlines *headlines, size_t devices, struct gtel_batch *batch)
{
    struct gtel_series_table *table = &headlines->series;
    struct gtel_reading reading;
    uint32_t rank;
    headlines->gathers++;
    for (size_t i = 0; i < batch->n; i++)
        if (batch->reading[i].value_type != GTEL_VALUE_TEXT)
            (void)gtel_series_offer(table, &batch->reading[i], 1, headlines->gathers,
                                    headlines->gathers);   /* NULL: it stands there twice */
    (void)gtel_headlines_begin(&headlines->made, devices); /* no memory: no headlines */
    gtel_series_sort(table);
    for (size_t i = 0; i < table->n; i++) {
        const struct gtel_series *series = table->sorted[i];
        bool is_missing = series->section != headlines->gathers;
        if (!is_missing || !gtel_series_is_silent(series, headlines->gathers))
            gtel_headlines_add(&headlines->made, series, false, is_missing);
    }
    for (size_t d = 0; d < headlines->made.n; d++)
        for (size_t rule = 0; rule < GTEL_HEADLINE_RULES; rule++) {
            if (!gtel_headlines_get(&headlines->made, d, (enum gtel_headline_rule)rule, &reading,
                                    &rank) ||
                reading.is_derived || has(batch, &reading))
                continue;
            batch->source = reading.source;
            batch->origin = reading.origin;
            gtel_batch_put(batch, &reading);
        }
    gtel_series_age(table, headlines->gathers, headlines->gathers * GTEL_SERIES_AGE_NS);
}

void headlines_done(struct headlines *headlines)
{
    gtel_headlines_done(&headlines->made);
    gtel_series_done(&headlines->series);
}
