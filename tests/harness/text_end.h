/* SPDX-License-Identifier: MIT */
/* The end of a helper's standard error that the helper has (lanes/helper_text.h). */
#ifndef GTEL_HARNESS_TEXT_END_H
#define GTEL_HARNESS_TEXT_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How much was written; 0: it is full. -1: something else. */
int64_t text_end_write(intptr_t end, const void *bytes, size_t n);
/* Whether a process that is started gets, of the two, what it is to get. */
bool text_end_is_for(intptr_t helper, intptr_t front_end);

#endif
