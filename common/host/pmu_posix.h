/* SPDX-License-Identifier: MIT */
/*
 * Groups of perf counters of the machine, for env_posix.c only.
 *
 * Each counter is a descriptor of its own; the first one is the group's leader, whose read gives
 * the values of all.
 */
#ifndef GTEL_HOST_PMU_POSIX_H
#define GTEL_HOST_PMU_POSIX_H

#include "host/env.h"

enum { GTEL_PMU_GROUPS_MAX = 64 };

/* Zeroed: nothing is open. */
struct gtel_pmu_posix {
    struct {
        int *fd; /* room for size descriptors, kept for the next group */
        size_t size;
        size_t n; /* that are open; 0: the group is free */
    } group[GTEL_PMU_GROUPS_MAX];
};

/* Frees what is kept; all groups are closed. */
void gtel_pmu_posix_done(struct gtel_pmu_posix *pmu);

/* As the functions of gtel_env_ops. */
int gtel_pmu_posix_open(struct gtel_pmu_posix *pmu, uint32_t type, const uint64_t *configs,
                        size_t n, uint32_t cpu);
int gtel_pmu_posix_read(const struct gtel_pmu_posix *pmu, int handle, uint64_t *values, size_t n,
                        uint64_t *ret_enabled_ns);
void gtel_pmu_posix_close(struct gtel_pmu_posix *pmu, int handle);

#endif
