/* SPDX-License-Identifier: MIT */
/* Names of a directory that are numbers, in ascending order. */
#include "host/numbers.h"

#include "base/grow.h"

#include <errno.h>
#include <stdlib.h>

enum { FIRST = 256 }; /* made again in each gather: mostly with one allocation */

int gtel_numbers_add(void *arg, struct gtel_str name)
{
    struct gtel_numbers *numbers = arg;
    uint64_t value;
    if (gtel_str_u64(name, &value) < 0 || value < numbers->first || value > UINT32_MAX)
        return 0;
    size_t wanted = numbers->n < FIRST ? FIRST : numbers->n + 1;
    if (!gtel_grow(&numbers->number, &numbers->size, wanted, UINT32_MAX, sizeof(*numbers->number)))
        return -ENOMEM;
    numbers->number[numbers->n++] = (uint32_t)value;
    return 0;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

int gtel_numbers_each(struct gtel_numbers *numbers, gtel_number_fn fn, void *fn_arg)
{
    int r = 0;
    if (numbers->n > 0)
        qsort(numbers->number, numbers->n, sizeof(*numbers->number), compare);
    for (size_t i = 0; i < numbers->n && r == 0; i++)
        r = fn(fn_arg, numbers->number[i]);
    return r;
}

void gtel_numbers_done(struct gtel_numbers *numbers)
{
    free(numbers->number);
    *numbers = (struct gtel_numbers){0};
}
