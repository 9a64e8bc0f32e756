/* SPDX-License-Identifier: MIT */
/*
 * Makes one allocation fail: for programs linked with --wrap of malloc, calloc, realloc and free
 * (the CMake function gtel_test_allocations does that). Counted are the allocations of the whole
 * program.
 */
#ifndef GTEL_TESTS_HARNESS_ALLOC_FAULT_H
#define GTEL_TESTS_HARNESS_ALLOC_FAULT_H

#include <stdbool.h>
#include <stdint.h>

/* Counts from 0; the allocation fail_at, counted from 1, gives NULL. 0: none. */
void alloc_fault_arm(uint64_t fail_at);
/* Allocations since then. */
uint64_t alloc_fault_count(void);
/* Allocations less what was freed; what libraries allocate for themselves does not count. */
int64_t alloc_fault_live(void);

#endif
