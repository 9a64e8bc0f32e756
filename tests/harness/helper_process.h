/* SPDX-License-Identifier: MIT */
/* Helper processes of this process. */
#ifndef GTEL_HARNESS_HELPER_PROCESS_H
#define GTEL_HARNESS_HELPER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* The pid of our own child that runs this lane, or 0. */
uint64_t helper_of(const char *lane);
bool helper_kill(uint64_t pid);
/* It gets no processor time until helper_go_on. */
bool helper_halt(uint64_t pid);
bool helper_go_on(uint64_t pid);
/* False once its status was collected, too. */
bool helper_is_there(uint64_t pid);
/* Whether any child is there, or its status was not collected. */
bool helper_is_left(void);

/* Whether it has its end of the way to us. */
bool helper_has_way(uint64_t pid);
/*
 * Opens and changes what a process that this one starts may inherit, and a helper must not: POSIX:
 * a descriptor and the signal mask; Windows: a handle. Until helper_gifts_close.
 */
bool helper_gifts_open(void);
bool helper_has_gift(uint64_t pid);
bool helper_gifts_close(void);

/* In so many gathers after its end a helper is there again. */
unsigned helper_gathers_to_return(void);

#endif
