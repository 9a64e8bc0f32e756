/* SPDX-License-Identifier: MIT */
/*
 * What was reported in one gather, for fault walks: a life in which something fails is compared
 * with lives in which nothing does, reading by reading and value by value.
 *
 * A reading is known by the device's key, the metric and the dimensions; texts have the value 0.
 */
#ifndef GTEL_TESTS_HARNESS_READINGS_H
#define GTEL_TESTS_HARNESS_READINGS_H

#include "pipeline/reading.h"

enum { GATHERED_MAX = 256, LIFE_GATHERS_MAX = 32 };

struct gathered_reading {
    uint64_t key;
    enum gtel_metric metric;
    char device[24]; /* its key */
    double value;
};

struct gathered {
    struct gathered_reading reading[GATHERED_MAX];
    size_t n;
};

/* Of a reading with another metric instead, so that the fields of one line can be found. */
uint64_t gathered_key(const struct gtel_reading *reading, enum gtel_metric metric);
/* Returns its key. */
uint64_t gathered_add(struct gathered *gathered, const struct gtel_reading *reading);
void gathered_take(struct gathered *gathered, const struct gtel_batch *batch);
/* NULL when nothing was reported. near: its place, about, so that it is found soon. */
const struct gathered_reading *gathered_find(const struct gathered *gathered, uint64_t key);
const struct gathered_reading *gathered_find_near(const struct gathered *gathered, uint64_t key,
                                                  size_t near);
/* -1 when nothing was reported. */
double gathered_value(const struct gathered *gathered, uint64_t key);
/* In words: "0000:03:00.0 gpu_power_domain watts card". */
void gathered_print(const struct gtel_reading *reading);

/*
 * What is reported in a life in which nothing fails, and how long before each gather the last was.
 */
struct gathered_life {
    struct gathered gathered[LIFE_GATHERS_MAX];
    double seconds[LIFE_GATHERS_MAX];
    size_t gathers;
};

/*
 * Whether a reading of that gather is right: it is reported without a fault, too, with the same
 * value; or it is a rate, and the mean over the gathers since an earlier one, so that it covers a
 * time in which a counter could not be read. key: its own; near: see gathered_find_near().
 */
bool gathered_is_right(const struct gathered_life *life, size_t gather,
                       const struct gtel_reading *reading, uint64_t key, size_t near);

#endif
