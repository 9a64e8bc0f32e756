/* SPDX-License-Identifier: MIT */
/* What was told in one gather, for fault walks. */
#include "harness/readings.h"

#include "harness/test.h"

#include <math.h>

uint64_t told_key(const struct gtel_reading *reading, enum gtel_metric metric)
{
    const char *device = reading->device ? reading->device->key : "";
    uint64_t h = gtel_hash(GTEL_HASH_SEED, device, strlen(device));
    h = gtel_hash(h, &metric, sizeof(metric));
    for (size_t d = 0; d < GTEL_DIMS_MAX; d++) {
        h = gtel_hash(h, reading->dim[d].p, reading->dim[d].n);
        h = gtel_hash(h, "", 1);
    }
    return h;
}

uint64_t told_add(struct told *told, const struct gtel_reading *reading)
{
    if (told->n >= TOLD_MAX) {
        test_note(false, __FILE__, __LINE__, "there is room for what is told");
        return 0;
    }
    enum gtel_metric metric = (enum gtel_metric)reading->metric;
    struct told_reading *new = &told->reading[told->n++];
    *new = (struct told_reading){
        .key = told_key(reading, metric), .metric = metric, .value = gtel_reading_number(reading)};
    if (reading->device)
        (void)gtel_str_copy(new->device, sizeof(new->device), gtel_str_of(reading->device->key));
    return new->key;
}

void told_take(struct told *told, const struct gtel_batch *batch)
{
    told->n = 0;
    for (size_t i = 0; i < batch->n; i++)
        (void)told_add(told, &batch->reading[i]);
}

const struct told_reading *told_find_near(const struct told *told, uint64_t key, size_t near)
{
    for (size_t i = 0; i < told->n; i++) {
        const struct told_reading *reading = &told->reading[(near + i) % told->n];
        if (reading->key == key)
            return reading;
    }
    return NULL;
}

const struct told_reading *told_find(const struct told *told, uint64_t key)
{
    return told_find_near(told, key, 0);
}

double told_value(const struct told *told, uint64_t key)
{
    const struct told_reading *found = told_find(told, key);
    return found ? found->value : -1;
}

void told_print(const struct gtel_reading *reading)
{
    const struct gtel_metric_row *row = gtel_metric_row((enum gtel_metric)reading->metric);
    printf("    %s %.*s %.*s", reading->device ? reading->device->key : "",
           GTEL_STR_ARG(gtel_measurement_row(row->measurement)->name), GTEL_STR_ARG(row->field));
    for (size_t d = 0; d < GTEL_DIMS_MAX; d++)
        if (reading->dim[d].n > 0)
            printf(" %.*s", GTEL_STR_ARG(reading->dim[d]));
    printf(" = %.17g\n", gtel_reading_number(reading));
}

static bool is_near(double a, double b)
{
    double size = fabs(a) > fabs(b) ? fabs(a) : fabs(b);
    return fabs(a - b) <= 1e-9 * size;
}

/* The mean over the last gathers, longer and longer, as long as each of them tells its rate. */
static bool is_mean(const struct told_life *life, size_t gather, uint64_t key, double value)
{
    double sum = 0;
    double seconds = 0;
    for (size_t i = gather + 1; i > 0; i--) {
        const struct told_reading *rate = told_find(&life->told[i - 1], key);
        if (!rate)
            return false;
        sum += rate->value * life->seconds[i - 1];
        seconds += life->seconds[i - 1];
        if (is_near(value, sum / seconds))
            return true;
    }
    return false;
}

bool told_is_right(const struct told_life *life, size_t gather, const struct gtel_reading *reading,
                   uint64_t key, size_t near)
{
    const struct told_reading *want = told_find_near(&life->told[gather], key, near);
    double value = gtel_reading_number(reading);
    if (!want)
        return false;
    return is_near(value, want->value) ||
           (reading->is_derived && is_mean(life, gather, key, value));
}
