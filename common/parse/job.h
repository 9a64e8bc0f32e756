/* SPDX-License-Identifier: MIT */
/*
 * The batch job that a process belongs to, from the path of its cgroup and the title of Slurm's
 * daemon. Pure: no allocation, no input or output.
 *
 * Known are Slurm (cgroup v1, v2, several slurmd on a host, and SLUIDs of 26.05), PBS (OpenPBS and
 * PBS Pro), Torque, Flux, Gridware (Grid Engine) and OAR, each only in the folder of its scheduler:
 * anybody may name a cgroup job_1. The folder user@UID.service belongs to that user, who can make
 * any path below it: it has no jobs, but for those that Flux runs as a user of the system.
 *
 * Not known, on purpose: HTCondor's cgroups name a slot and Nomad's an allocation, which are no
 * jobs; of LSF and Univa Grid Engine no path is published.
 */
#ifndef GTEL_PARSE_JOB_H
#define GTEL_PARSE_JOB_H

#include "base/str.h"

/* All texts borrow from the path. */
struct gtel_job {
    /* As the scheduler's own commands name it; may have systemd's escapes. Empty: no job. */
    struct gtel_str id;
    /* With a SLUID as id: the path up to the job's step; empty otherwise. The daemon that runs the
       step has its processes in the cgroup "slurm" below it. */
    struct gtel_str step;
    bool is_sluid;
    /* The job is in the folder of that user; a process of the user itself proves nothing. 0: none
     */
    uint64_t manager_plus_1;
};

/* The innermost job of a cgroup's path, which begins with a slash and has no " (deleted)". */
struct gtel_job gtel_job_find(struct gtel_str path);
/*
 * The number of the job in the title of slurmstepd, as in /proc/PID/cmdline: "slurmstepd:
 * [3385.batch]". Anybody may have such a title: only root's is to be believed. False: it is none.
 */
bool gtel_job_title(struct gtel_str cmdline, struct gtel_str *ret);

#endif
