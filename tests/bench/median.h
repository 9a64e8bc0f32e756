/* SPDX-License-Identifier: MIT */
/* The median of what a benchmark has measured. */
#ifndef GTEL_TESTS_BENCH_MEDIAN_H
#define GTEL_TESTS_BENCH_MEDIAN_H

#include <stdlib.h>

static inline int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the n values. */
static inline double median(double *values, size_t n)
{
    qsort(values, n, sizeof(*values), compare_doubles);
    return values[n / 2];
}

#endif
