/* SPDX-License-Identifier: MIT */
/* What a context remembers of each reading's key. */
#include "pipeline/series.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

void gtel_series_done(struct gtel_series_table *table)
{
    for (size_t i = 0; i < table->n; i++)
        free(table->sorted[i]);
    free(table->sorted);
    gtel_index_done(&table->index);
    *table = (struct gtel_series_table){0};
}

static uint64_t hash_of(const struct gtel_reading *reading)
{
    uint64_t h = gtel_hash(GTEL_HASH_SEED, &reading->metric, sizeof(reading->metric));
    uint32_t index = reading->device ? reading->device->index : UINT32_MAX;
    h = gtel_hash(h, &index, sizeof(index));
    for (size_t i = 0; i < GTEL_DIMS_MAX; i++)
        if (reading->dim[i].n > 0)
            h = gtel_hash(h ^ (i + 1), reading->dim[i].p, reading->dim[i].n);
    return h;
}

/* The series have moved. */
static void reindex(struct gtel_series_table *table)
{
    gtel_index_reset(&table->index);
    for (size_t i = 0; i < table->n; i++)
        gtel_index_put(&table->index, table->sorted[i]->hash, i);
}

static bool grow(struct gtel_series_table *table)
{
    return gtel_index_reserve(&table->index, table->n + 1) == 0 &&
           gtel_grow(&table->sorted, &table->size, table->n + 1, GTEL_SERIES_MAX,
                     sizeof(struct gtel_series *));
}

/* A series with its own copy of the dimensions behind it. */
static struct gtel_series *make(const struct gtel_reading *reading, uint64_t hash)
{
    size_t bytes = 0;
    for (size_t i = 0; i < GTEL_DIMS_MAX; i++)
        bytes += reading->dim[i].n;
    struct gtel_series *series = calloc(1, sizeof(*series) + bytes);
    if (!series)
        return NULL;
    char *p = (char *)(series + 1);
    series->now = *reading;
    series->hash = hash;
    for (size_t i = 0; i < GTEL_DIMS_MAX; i++) {
        size_t n = reading->dim[i].n;
        series->now.dim[i] = (struct gtel_str){n ? p : NULL, n};
        if (n > 0)
            memcpy(p, reading->dim[i].p, n);
        p += n;
    }
    return series;
}

static struct gtel_series *find_or_make(struct gtel_series_table *table,
                                        const struct gtel_reading *reading)
{
    uint64_t hash = hash_of(reading);
    size_t at = 0;
    int64_t i;
    while ((i = gtel_index_next(&table->index, hash, &at)) != GTEL_INDEX_NONE)
        if (table->sorted[i]->now.metric == reading->metric &&
            gtel_reading_is_same_part(&table->sorted[i]->now, reading))
            return table->sorted[i];
    struct gtel_series *series = grow(table) ? make(reading, hash) : NULL;
    if (!series) {
        table->dropped++;
        return NULL;
    }
    gtel_index_put(&table->index, hash, table->n);
    table->sorted[table->n++] = series;
    table->is_sorted = false;
    series->rank = UINT32_MAX;
    return series;
}

/* Copies what changes from reading to reading; the dimensions stay. */
static void take_reading(struct gtel_series *series, const struct gtel_reading *reading)
{
    series->now.t_ns = reading->t_ns;
    series->now.value = reading->value;
    series->now.value_type = reading->value_type;
    series->now.source = reading->source;
    series->now.origin = reading->origin;
    series->now.has_device_clock = reading->has_device_clock;
    series->now.is_derived = reading->is_derived;
    series->now.is_apart = reading->is_apart;
}

bool gtel_series_is_silent(const struct gtel_series *series, uint64_t gather)
{
    return gather > series->gather + GTEL_SERIES_AGE / 2;
}

bool gtel_series_mark_sent(struct gtel_series *series, uint64_t gather, uint64_t now_ns,
                           uint64_t max_age_ns)
{
    enum gtel_kind kind = gtel_metric_row((enum gtel_metric)series->now.metric)->kind;
    if ((kind != GTEL_KIND_STATE && kind != GTEL_KIND_COUNTER) || series->window.n == 0)
        return true;
    uint64_t value = series->now.value.u64; /* of a number with a fraction: its bits */
    bool has_moved = kind == GTEL_KIND_STATE && series->window.min < series->window.max;
    uint64_t gap = gather - series->seen_gather;
    bool was_away = gap > 1 && series->gap > 0 && gap > series->gap + series->gap / 2;
    uint64_t until_next_ns = now_ns - series->seen_ns; /* as long as since the last time */
    bool is_known = !has_moved && series->sent == value && !was_away && series->sent_ns > 0 &&
                    now_ns - series->sent_ns + until_next_ns <= max_age_ns;
    series->gap = series->seen_ns > 0 ? gap : 0;
    series->seen_gather = gather;
    series->seen_ns = now_ns;
    if (!is_known) {
        series->sent = value;
        series->sent_ns = has_moved ? 0 : now_ns;
    }
    return !is_known;
}

struct gtel_series *gtel_series_offer(struct gtel_series_table *table,
                                      const struct gtel_reading *reading, uint32_t rank,
                                      uint64_t section, uint64_t gather)
{
    struct gtel_series *series = find_or_make(table, reading);
    if (!series)
        return NULL;
    bool is_owner_silent = gtel_series_is_silent(series, gather);
    bool is_taken = series->section == section && rank >= series->rank;
    if (is_taken || (rank > series->rank && !is_owner_silent))
        return NULL;
    bool is_first = series->rank == UINT32_MAX;
    if (rank != series->rank) {
        series->delta.host_ns = 0; /* another source: no difference between the two */
        series->rank = rank;
    }
    take_reading(series, reading);
    series->now.gathers = is_first ? 0 : (uint16_t)(gather - series->gather);
    series->section = section;
    series->gather = gather;
    return series;
}

struct gtel_series *gtel_series_count(struct gtel_series_table *table,
                                      const struct gtel_reading *reading, uint64_t section,
                                      uint64_t gather)
{
    struct gtel_series *series = find_or_make(table, reading);
    if (!series)
        return NULL;
    double before = series->rank == 0 ? series->now.value.f64 : 0;
    take_reading(series, reading);
    series->now.gathers = reading->gathers;
    series->now.value.f64 += before;
    series->rank = 0;
    series->section = section;
    series->gather = gather;
    gtel_window_add(&series->window, &series->now);
    return series;
}

static int compare(const void *pa, const void *pb)
{
    const struct gtel_reading *a = &(*(struct gtel_series *const *)pa)->now;
    const struct gtel_reading *b = &(*(struct gtel_series *const *)pb)->now;
    uint32_t device_a = a->device ? a->device->index : UINT32_MAX;
    uint32_t device_b = b->device ? b->device->index : UINT32_MAX;
    if (device_a != device_b)
        return device_a < device_b ? -1 : 1;
    enum gtel_measurement ma = gtel_metric_row((enum gtel_metric)a->metric)->measurement;
    enum gtel_measurement mb = gtel_metric_row((enum gtel_metric)b->metric)->measurement;
    if (ma != mb)
        return ma < mb ? -1 : 1;
    for (size_t i = 0; i < GTEL_DIMS_MAX; i++) {
        int c = gtel_str_cmp(a->dim[i], b->dim[i]);
        if (c != 0)
            return c;
    }
    return (a->metric > b->metric) - (a->metric < b->metric);
}

void gtel_series_sort(struct gtel_series_table *table)
{
    if (!table->is_sorted && table->n > 0) {
        qsort(table->sorted, table->n, sizeof(struct gtel_series *), compare);
        reindex(table);
    }
    table->is_sorted = true;
}

static bool is_over(const struct gtel_series *series, uint64_t gather, uint64_t now_ns)
{
    bool is_counted = series->now.metric == GTEL_M_PROCESS_JOULES;
    return gather - series->gather > GTEL_SERIES_AGE &&
           now_ns - series->gather_ns >
               (is_counted ? GTEL_SERIES_COUNT_AGE_NS : GTEL_SERIES_AGE_NS);
}

void gtel_series_age(struct gtel_series_table *table, uint64_t gather, uint64_t now_ns)
{
    size_t kept = 0;
    for (size_t i = 0; i < table->n; i++) {
        struct gtel_series *series = table->sorted[i];
        if (series->gather == gather)
            series->gather_ns = now_ns;
        if (is_over(series, gather, now_ns))
            free(series);
        else
            table->sorted[kept++] = series;
    }
    if (kept == table->n)
        return;
    table->n = kept;
    reindex(table);
}

void gtel_series_forget_bases(struct gtel_series_table *table)
{
    for (size_t i = 0; i < table->n; i++)
        table->sorted[i]->delta.host_ns = 0;
}

/* The list of a device is before its lines, and the count of each line before its shares. */
void gtel_series_add_absences(struct gtel_series_table *table, uint32_t sources)
{
    const struct gtel_series *list = NULL;
    const struct gtel_series *line = NULL;
    for (size_t i = 0; i < table->n; i++) {
        struct gtel_series *series = table->sorted[i];
        const struct gtel_reading *now = &series->now;
        if (now->metric == GTEL_M_GPU_PROCESSES)
            list = series;
        else if (now->metric == GTEL_M_PROCESS_COUNT)
            line = series;
        else if (now->metric >= GTEL_M_PROCESS_BUSY && now->metric <= GTEL_M_PROCESS_OTHER &&
                 list && line && list->now.device == now->device &&
                 gtel_reading_is_of(now, sources) && series->window.n > 0 &&
                 list->window.n > line->window.n) {
            series->window.n += list->window.n - line->window.n;
            series->window.min = 0;
        }
    }
}

/* ---- the window ---- */

void gtel_window_reset(struct gtel_window *window)
{
    *window = (struct gtel_window){0};
}

void gtel_window_add(struct gtel_window *window, const struct gtel_reading *sample)
{
    double v = gtel_reading_number(sample);
    window->min = window->n == 0 || v < window->min ? v : window->min;
    window->max = window->n == 0 || v > window->max ? v : window->max;
    window->sum += v;
    window->n++;
}

static void put(const struct gtel_sink *sink, const struct gtel_reading *last, double value,
                enum gtel_aspect aspect)
{
    struct gtel_reading folded = *last;
    folded.value_type = GTEL_VALUE_F64;
    folded.value.f64 = value;
    sink->put(sink->arg, &folded, aspect);
}

void gtel_window_emit(const struct gtel_window *window, const struct gtel_reading *last,
                      const struct gtel_sink *sink)
{
    if (window->n == 0)
        return;
    enum gtel_kind kind = gtel_metric_row((enum gtel_metric)last->metric)->kind;
    bool is_flag = last->metric == GTEL_M_GPU_UP; /* and no state, which may be omitted */
    bool is_mean =
        window->n > 1 && !is_flag && (kind == GTEL_KIND_GAUGE || kind == GTEL_KIND_RATIO);
    if (is_mean)
        put(sink, last, window->sum / window->n, GTEL_ASPECT_VALUE);
    else
        sink->put(sink->arg, last, GTEL_ASPECT_VALUE);
    if (!is_mean && (window->n == 1 || (kind != GTEL_KIND_STATE && !is_flag)))
        return;
    put(sink, last, window->min, GTEL_ASPECT_MIN);
    put(sink, last, window->max, GTEL_ASPECT_MAX);
}
