/* SPDX-License-Identifier: MIT */
/* What tests with real helpers need of the system that they run on. */
#ifndef GTEL_HARNESS_SYSTEM_H
#define GTEL_HARNESS_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>

enum { SYSTEM_PATH_MAX = 512 };

/* Makes an empty one with a name of its own; ret has SYSTEM_PATH_MAX bytes. */
bool system_scratch_folder(char *ret);
bool system_scratch_file(char *ret);
void system_remove_file(const char *path);
void system_remove_folder(const char *path);

/* Descriptors, or handles, that this process has open. */
size_t system_count_open(void);
/* Ends this process, as one that failed, should it still be there then. */
void system_end_after(unsigned seconds);
/* Runs that many threads beside each other: how many of them returned something else than NULL. */
size_t system_run_threads(size_t n, void *(*run)(void *arg), void *arg);

#endif
