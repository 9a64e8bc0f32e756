/* SPDX-License-Identifier: MIT */
/*
 * What was told in one gather, for fault walks: a life in which something fails is compared with
 * lives in which nothing does, reading by reading and value by value.
 *
 * A reading is known by the device's key, the metric and the dimensions; texts have the value 0.
 */
#ifndef GTEL_TESTS_HARNESS_READINGS_H
#define GTEL_TESTS_HARNESS_READINGS_H

#include "pipeline/reading.h"

enum { TOLD_MAX = 256, TOLD_GATHERS_MAX = 32 };

struct told_reading {
    uint64_t key;
    enum gtel_metric metric;
    char device[24]; /* its key */
    double value;
};

struct told {
    struct told_reading reading[TOLD_MAX];
    size_t n;
};

/* Of a reading with another metric in its place, so that the fields of one line can be found. */
uint64_t told_key(const struct gtel_reading *reading, enum gtel_metric metric);
/* Returns its key. */
uint64_t told_add(struct told *told, const struct gtel_reading *reading);
void told_take(struct told *told, const struct gtel_batch *batch);
/* NULL when nothing was told. near: its place, about, so that it is found soon. */
const struct told_reading *told_find(const struct told *told, uint64_t key);
const struct told_reading *told_find_near(const struct told *told, uint64_t key, size_t near);
/* -1 when nothing was told. */
double told_value(const struct told *told, uint64_t key);
/* In words: "0000:03:00.0 gpu_power_domain watts card". */
void told_print(const struct gtel_reading *reading);

/* What is told in a life in which nothing fails, and how long before each gather the last was. */
struct told_life {
    struct told told[TOLD_GATHERS_MAX];
    double seconds[TOLD_GATHERS_MAX];
    size_t gathers;
};

/*
 * Whether a reading of that gather is right: it is told without a fault, too, with the same value;
 * or it is a rate, and the mean over the gathers since an earlier one, so that it covers a time in
 * which a counter could not be read. key: its own; near: see told_find_near().
 */
bool told_is_right(const struct told_life *life, size_t gather, const struct gtel_reading *reading,
                   uint64_t key, size_t near);

#endif
