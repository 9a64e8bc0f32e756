/* SPDX-License-Identifier: MIT */
/* Lists that grow by doubling. */
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 8 };

bool gtel_grow(void *list, size_t *size, size_t n, size_t max, size_t bytes)
{
    char *p;
    size_t wanted = *size ? *size : FIRST;
    if (n <= *size)
        return true;
    while (wanted < n && wanted < max)
        wanted *= 2;
    wanted = wanted < max ? wanted : max;
    if (wanted < n)
        return false;
    memcpy(&p, list, sizeof(p)); /* a pointer to any type */
    p = realloc(p, wanted * bytes);
    if (!p)
        return false;
    memcpy(list, &p, sizeof(p));
    *size = wanted;
    return true;
}

bool gtel_grow_zeroed(void *list, size_t *size, size_t n, size_t max, size_t bytes)
{
    char *p;
    size_t before = *size;
    if (!gtel_grow(list, size, n, max, bytes))
        return false;
    memcpy(&p, list, sizeof(p));
    if (*size > before)
        memset(p + before * bytes, 0, (*size - before) * bytes);
    return true;
}
