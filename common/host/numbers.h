/* SPDX-License-Identifier: MIT */
/*
 * Names of a directory that are numbers, in ascending order, for envs whose directories come in any
 * order (env.h, dir_list_from).
 */
#ifndef GTEL_HOST_NUMBERS_H
#define GTEL_HOST_NUMBERS_H

#include "host/env.h"

/* A zeroed struct is empty. */
struct gtel_numbers {
    uint32_t first; /* the lowest that is wanted */
    uint32_t *number;
    size_t n;
    size_t size;
};

/*
 * Adds a name to a struct gtel_numbers; one that is no number of first or more and below 2^32 is
 * passed over. 0 or -ENOMEM. For dir_list.
 */
int gtel_numbers_add(void *arg, struct gtel_str name);
/* Calls fn for each, the lowest first, until it gives something other than 0; returns that, or 0.
 */
int gtel_numbers_each(struct gtel_numbers *numbers, gtel_number_fn fn, void *fn_arg);
void gtel_numbers_done(struct gtel_numbers *numbers);

#endif
