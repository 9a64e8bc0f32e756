/* SPDX-License-Identifier: MIT */
/* A buffer of performance counters as Windows gives it. */
#include "harness/perf_buffer.h"

#include <stdlib.h>
#include <string.h>

void perf_buffer_set(struct perf_buffer *buffer, size_t at, size_t width, uint64_t value)
{
    if (at + width > buffer->size)
        abort(); /* the test has too little room */
    for (size_t i = 0; i < width; i++)
        buffer->p[at + i] = (unsigned char)(value >> 8 * i);
}

static void put(struct perf_buffer *buffer, size_t width, uint64_t value)
{
    perf_buffer_set(buffer, buffer->n, width, value);
    buffer->n += width;
}

static void set_sizes(struct perf_buffer *buffer)
{
    perf_buffer_set(buffer, 0, 4, buffer->n);
    perf_buffer_set(buffer, 48 + 8, 4, buffer->n - 48);
    perf_buffer_set(buffer, buffer->instances, 4, buffer->n - buffer->instances);
}

void perf_buffer_begin(struct perf_buffer *buffer, uint32_t counters, uint64_t stamp,
                       uint64_t frequency)
{
    buffer->n = 0;
    buffer->counters = counters;
    put(buffer, 4, 0); /* PERF_DATA_HEADER */
    put(buffer, 4, 1);
    put(buffer, 8, stamp);
    put(buffer, 8, 0);
    put(buffer, 8, frequency);
    put(buffer, 8, 0);
    put(buffer, 8, 0);
    put(buffer, 4, 0); /* PERF_COUNTER_HEADER of a set */
    put(buffer, 4, 6);
    put(buffer, 4, 0);
    put(buffer, 4, 0);
    put(buffer, 4, 8 + 4 * (uint64_t)counters); /* PERF_MULTI_COUNTERS */
    put(buffer, 4, counters);
    for (uint32_t id = 1; id <= counters; id++)
        put(buffer, 4, id);
    buffer->instances = buffer->n;
    put(buffer, 4, 0); /* PERF_MULTI_INSTANCES */
    put(buffer, 4, 0);
    set_sizes(buffer);
}

void perf_buffer_add(struct perf_buffer *buffer, const char *name, const uint64_t *values)
{
    size_t start = buffer->n;
    uint32_t before = 0;
    memcpy(&before, buffer->p + buffer->instances + 4, sizeof(before));
    perf_buffer_set(buffer, buffer->instances + 4, 4, before + 1);
    put(buffer, 4, 0); /* PERF_INSTANCE_HEADER */
    put(buffer, 4, before);
    for (size_t i = 0; i <= strlen(name); i++)
        put(buffer, 2, (unsigned char)name[i]);
    while ((buffer->n - start) % 8 != 0)
        put(buffer, 2, 0);
    perf_buffer_set(buffer, start, 4, buffer->n - start);
    for (uint32_t i = 0; i < buffer->counters; i++) {
        put(buffer, 4, 8); /* PERF_COUNTER_DATA */
        put(buffer, 4, 16);
        put(buffer, 8, values[i]);
    }
    set_sizes(buffer);
}
