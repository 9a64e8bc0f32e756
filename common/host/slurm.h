/* SPDX-License-Identifier: MIT */
/*
 * The numbers of Slurm's jobs where the cgroup has none: a SLUID stands there since 26.05, and
 * nothing where Slurm tracks processes without cgroups.
 *
 * The daemon slurmstepd of each step has the number in its title. It is found in the cgroup "slurm"
 * of the step, else among the parents of the process, and believed only when root has started it:
 * anybody may have such a title. What was found, or not found, is remembered, so that the id of a
 * running job never changes; the least recently used is forgotten.
 */
#ifndef GTEL_HOST_SLURM_H
#define GTEL_HOST_SLURM_H

#include "host/env.h"

enum { GTEL_SLURM_JOBS_MAX = 256, GTEL_SLURM_ID_MAX = 40 };

struct gtel_slurm_job {
    char key[GTEL_SLURM_ID_MAX]; /* the SLUID, or a process; empty: none */
    char number[12];             /* empty: not found */
    uint64_t used;
};

/* A zeroed struct remembers nothing. */
struct gtel_slurm_jobs {
    struct gtel_slurm_job job[GTEL_SLURM_JOBS_MAX];
    uint64_t uses;
};

/* Of whom the number is wanted. */
struct gtel_slurm_process {
    struct gtel_str sluid; /* of its job; empty: not known */
    struct gtel_str step;  /* the cgroup of its step; empty: not known */
    uint32_t pid;
    uint64_t start;
};

/* The number of the job of a process, valid until the next call; empty: not found. */
const char *gtel_slurm_number(struct gtel_slurm_jobs *jobs, const struct gtel_env *env,
                              const struct gtel_slurm_process *process);
/* Of how many SLUIDs that were asked for the number is not known. */
size_t gtel_slurm_unknown(const struct gtel_slurm_jobs *jobs);

#endif
