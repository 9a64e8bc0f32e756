/* SPDX-License-Identifier: MIT */
/*
 * A buffer of performance counters as Windows gives it for all counters and instances of one set,
 * built block by block from the description (Microsoft: perflib.h; MS-PCQ 2.2.4).
 */
#ifndef GTEL_TESTS_HARNESS_PERF_BUFFER_H
#define GTEL_TESTS_HARNESS_PERF_BUFFER_H

#include <stddef.h>
#include <stdint.h>

struct perf_buffer {
    unsigned char *p; /* room of size bytes, the caller's */
    size_t size;
    size_t n;
    uint32_t counters;
    size_t instances; /* place of that block */
};

/* A number of width bytes at a place. */
void perf_buffer_set(struct perf_buffer *buffer, size_t at, size_t width, uint64_t value);
/* Headers of a set with counters 1 to n. */
void perf_buffer_begin(struct perf_buffer *buffer, uint32_t counters, uint64_t stamp,
                       uint64_t frequency);
/* Another instance with a value for each counter; sets all sizes and counts. */
void perf_buffer_add(struct perf_buffer *buffer, const char *name, const uint64_t *values);

#endif
