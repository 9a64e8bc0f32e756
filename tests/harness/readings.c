/* SPDX-License-Identifier: MIT */
/* What was reported in one gather, for fault walks. */
#include "harness/readings.h"

#include "harness/test.h"

#include <math.h>

uint64_t gathered_key(const struct gtel_reading *reading, enum gtel_metric metric)
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

uint64_t gathered_add(struct gathered *gathered, const struct gtel_reading *reading)
{
    if (gathered->n >= GATHERED_MAX) {
        test_note(false, __FILE__, __LINE__, "there is room for what is reported");
        return 0;
    }
    enum gtel_metric metric = (enum gtel_metric)reading->metric;
    struct gathered_reading *new = &gathered->reading[gathered->n++];
    *new = (struct gathered_reading){.key = gathered_key(reading, metric),
                                     .metric = metric,
                                     .value = gtel_reading_number(reading)};
    if (reading->device)
        (void)gtel_str_copy(new->device, sizeof(new->device), gtel_str_of(reading->device->key));
    return new->key;
}

void gathered_take(struct gathered *gathered, const struct gtel_batch *batch)
{
    gathered->n = 0;
    for (size_t i = 0; i < batch->n; i++)
        (void)gathered_add(gathered, &batch->reading[i]);
}

const struct gathered_reading *gathered_find_near(const struct gathered *gathered, uint64_t key,
                                                  size_t near)
{
    for (size_t i = 0; i < gathered->n; i++) {
        const struct gathered_reading *reading = &gathered->reading[(near + i) % gathered->n];
        if (reading->key == key)
            return reading;
    }
    return NULL;
}

const struct gathered_reading *gathered_find(const struct gathered *gathered, uint64_t key)
{
    return gathered_find_near(gathered, key, 0);
}

double gathered_value(const struct gathered *gathered, uint64_t key)
{
    const struct gathered_reading *found = gathered_find(gathered, key);
    return found ? found->value : -1;
}

void gathered_print(const struct gtel_reading *reading)
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

/* The mean over the last gathers, longer and longer, as long as each of them reports its rate. */
static bool is_mean(const struct gathered_life *life, size_t gather, uint64_t key, double value)
{
    double sum = 0;
    double seconds = 0;
    for (size_t i = gather + 1; i > 0; i--) {
        const struct gathered_reading *rate = gathered_find(&life->gathered[i - 1], key);
        if (!rate)
            return false;
        sum += rate->value * life->seconds[i - 1];
        seconds += life->seconds[i - 1];
        if (is_near(value, sum / seconds))
            return true;
    }
    return false;
}

bool gathered_is_right(const struct gathered_life *life, size_t gather,
                       const struct gtel_reading *reading, uint64_t key, size_t near)
{
    const struct gathered_reading *want = gathered_find_near(&life->gathered[gather], key, near);
    double value = gtel_reading_number(reading);
    if (!want)
        return false;
    return is_near(value, want->value) ||
           (reading->is_derived && is_mean(life, gather, key, value));
}
