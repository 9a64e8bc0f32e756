/* SPDX-License-Identifier: MIT */
/* Reads whole files. */
#include "harness/whole_file.h"

#include <stdio.h>
#include <stdlib.h>

char *read_whole_file(const char *path, size_t *ret_n)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t n = 0;
    if (!file)
        return NULL;
    for (size_t got = 1; got > 0; n += got) {
        char *more = realloc(text, n + 65536);
        if (!more)
            break;
        text = more;
        got = fread(text + n, 1, 65536, file);
    }
    (void)fclose(file); /* opened for reading */
    *ret_n = n;
    return text;
}
