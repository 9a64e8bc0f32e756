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
/* In so many gathers after its end a helper is there again. */
unsigned helper_gathers_to_return(void);

#endif
