/* SPDX-License-Identifier: MIT */
/*
 * The headlines of a GPU beside what one source reads of it: what the context makes of the readings
 * of a batch is appended to it, as common/context.c does it from one sample to the next.
 */
#ifndef GTEL_TESTS_HARNESS_HEADLINES_H
#define GTEL_TESTS_HARNESS_HEADLINES_H

#include "pipeline/headline.h"

/* Zeroed: no sample yet. */
struct headlines {
    struct gtel_headlines made;
    struct gtel_series_table series;
    uint64_t gathers;
};

/* After each sample. Counters are not derived, so nothing is made of rates. */
void headlines_append(struct headlines *headlines, size_t devices, struct gtel_batch *batch);
void headlines_done(struct headlines *headlines);

#endif
