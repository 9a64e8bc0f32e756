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
    memset(p + *size * bytes, 0, (wanted - *size) * bytes);
    memcpy(list, &p, sizeof(p));
    *size = wanted;
    return true;
}
