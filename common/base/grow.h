/* SPDX-License-Identifier: MIT */
/* Lists that grow by doubling. */
#ifndef GTEL_BASE_GROW_H
#define GTEL_BASE_GROW_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes room for n entries, at most max, of so many bytes each. list: the address of the pointer to
 * the first entry (NULL at first); *size: how many there is room for. New entries are not set, so
 * that memory that is never used is never touched. False beyond the limit and when memory is out;
 * the list is as it was then.
 */
bool gtel_grow(void *list, size_t *size, size_t n, size_t max, size_t bytes);
/* The same, for entries that are found by number, and not added one behind the other. */
bool gtel_grow_zeroed(void *list, size_t *size, size_t n, size_t max, size_t bytes);

#endif
