/* SPDX-License-Identifier: MIT */
/*
 * Where a process runs, from the text of its /proc/<pid>/cgroup: systemd unit, container, pod and
 * batch job (parse/job.h). Pure: no allocation, no input or output.
 *
 * Understood are cgroup v1, v2 and both beside each other; Docker, containerd, nerdctl, CRI-O and
 * Podman by their 64-digit ids, whatever manages the cgroups and whoever runs them; Kubernetes; LXC
 * and Incus, systemd-nspawn and what else registers with systemd-machined. Where one stands in
 * another the innermost counts: it is what the process itself would name. A process that only
 * watches a container (conmon, lxc.monitor, nspawn's supervisor) is not in it.
 *
 * Only names count, so whoever may make cgroups can make up containers; a job has to be where its
 * scheduler has its jobs, which takes root's rights, or those of somebody to whom root gave such a
 * folder. A runtime that names containers freely ("ctr run", Docker's builds) is not recognised.
 */
#ifndef GTEL_PARSE_CGROUP_H
#define GTEL_PARSE_CGROUP_H

#include "base/str.h"

/* Bytes of each text, with its NUL. */
enum {
    GTEL_CGROUP_UNIT_MAX = 128,
    GTEL_CGROUP_CONTAINER_MAX = 65,
    GTEL_CGROUP_POD_MAX = 64,
    GTEL_CGROUP_JOB_MAX = 64
};

/* Empty: none. All are fit to be shown, with systemd's escapes (\x2d) undone, and cut to fit. */
struct gtel_cgroup {
    /* The innermost unit that is no slice, of the system, a user or a container:
       "jellyfin.service", "session-2.scope", "docker-….scope" */
    char unit[GTEL_CGROUP_UNIT_MAX];
    /* The first 12 digits of the id, as `docker ps` shows it, or the name (LXC, machinectl) */
    char container[GTEL_CGROUP_CONTAINER_MAX];
    /* Kubernetes: the uid with dashes, as the API has it; Podman: the first 12 digits of the id */
    char pod[GTEL_CGROUP_POD_MAX];
    /* In a pod of Kubernetes: the 64 digits of the container that is directly in it; borrows from
       the text. is_pods_own: it is the innermost one, that of `container`. */
    struct gtel_str pod_container;
    bool is_pods_own;
    bool is_kubernetes; /* the pod is one of Kubernetes */
    /* The batch job as its scheduler's commands name it: that of the hierarchy that has the
       container, else of the first one that has any. */
    char job[GTEL_CGROUP_JOB_MAX];
    bool is_sluid;               /* Slurm's id of 26.05 and newer in place of the number */
    struct gtel_str job_step;    /* of such a job: the path of its step; borrows from the text */
    uint64_t job_manager_plus_1; /* no job of a process of that user (parse/job.h); 0: of none */
};

/* 0, or -ENODATA when no line of the text is that of a cgroup hierarchy. */
int gtel_cgroup_parse(struct gtel_str text, struct gtel_cgroup *ret);

#endif
