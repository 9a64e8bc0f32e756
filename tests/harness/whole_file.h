/* SPDX-License-Identifier: MIT */
/* Reads whole files. */
#ifndef GTEL_HARNESS_WHOLE_FILE_H
#define GTEL_HARNESS_WHOLE_FILE_H

#include <stddef.h>

/* Reads a whole file. The text is the caller's to free; NULL when it cannot be read. */
char *read_whole_file(const char *path, size_t *ret_n);

#endif
