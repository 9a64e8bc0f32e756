/* SPDX-License-Identifier: MIT */
/*
 * The outside world of the device benchmark: every call costs what a system call of its size costs.
 *
 * Files are real ones below a scratch folder. What needs a GPU (perf counters, DRM queries,
 * uevents) answers what the recorded machine answers, and makes a bare system call of the same size
 * on a scratch file each time: one pread for the counters of a group, open, a pread for each ioctl
 * and close for a query (xe takes an ioctl that is refused and one for the length where that is not
 * known; host/drm_posix.c), one pread to check whether an uevent waits. The calls of one
 * cycle can be recorded and made again, alone: that is the floor.
 */
#ifndef GTEL_TESTS_BENCH_OUTSIDE_H
#define GTEL_TESTS_BENCH_OUTSIDE_H

#include "host/env.h"

enum outside_kind { OUTSIDE_FILE, OUTSIDE_COUNTERS, OUTSIDE_QUERY, OUTSIDE_UEVENT, OUTSIDE_KINDS };

/*
 * One at a time. files is an env on the scratch folder dir, and recorded the machine itself; both
 * outlive it. False, with a message, when the scratch file cannot be made.
 */
bool outside_init(const struct gtel_env *files, const struct gtel_env *recorded, const char *dir,
                  struct gtel_env *ret);
void outside_done(void);
/* Moves the clock on. */
void outside_step(uint64_t ns);
/* From now on calls are recorded, or not any more. */
void outside_record(bool is_on);
size_t outside_calls(enum outside_kind kind);
/*
 * Makes the recorded calls, and nothing else; with is_least, one pread for a query. False when one
 * failed.
 */
bool outside_replay(bool is_least);

#endif
