/* SPDX-License-Identifier: MIT */
/*
 * Who a process is: its name, its user, and the unit, container and pod that it runs in.
 *
 * Read below proc/PID, which every user may read unless the system hides the processes of others
 * (mount option hidepid): those are like ended ones. Each wanted text costs files to open, so
 * callers ask once for a process and remember the answer, by pid and start: a pid alone is
 * given to another process later. Nothing here touches the process's files, memory or GPU.
 *
 * All texts are fit to be shown: control characters and what is no UTF-8 became '?', and long ones
 * were cut between two characters. A container's inside is not looked into: names of users are
 * those of the host.
 */
#ifndef GTEL_HOST_PROCESS_H
#define GTEL_HOST_PROCESS_H

#include "host/env.h"
#include "host/users.h"
#include "parse/cgroup.h"

/* Bytes of each text, with its NUL. */
enum {
    GTEL_PROCESS_NAME_MAX = 64,
    GTEL_PROCESS_USER_MAX = GTEL_USER_NAME_MAX,
    GTEL_PROCESS_UNIT_MAX = GTEL_CGROUP_UNIT_MAX,
    GTEL_PROCESS_CONTAINER_MAX = GTEL_CGROUP_CONTAINER_MAX,
    GTEL_PROCESS_POD_MAX = GTEL_CGROUP_POD_MAX
};

/* Which texts are wanted, as bits. */
enum {
    GTEL_WHO_NAME = 1,
    GTEL_WHO_USER = 2,
    GTEL_WHO_UNIT = 4,
    GTEL_WHO_CONTAINER = 8,
    GTEL_WHO_POD = 16
};

/* A process as long as it lives, and no other one. */
struct gtel_process_id {
    uint32_t pid;
    uint64_t start; /* clock ticks since the host booted; 0: not known */
};

/* Empty: not wanted, there is none, or it may not be read. */
struct gtel_process_who {
    char name[GTEL_PROCESS_NAME_MAX]; /* as the process calls itself, at most 15 bytes of it */
    char user[GTEL_PROCESS_USER_MAX]; /* the effective user's name, else the number */
    char unit[GTEL_PROCESS_UNIT_MAX]; /* see parse/cgroup.h for these three */
    char container[GTEL_PROCESS_CONTAINER_MAX];
    char pod[GTEL_PROCESS_POD_MAX];
};

/*
 * When a process began, in clock ticks since the host booted. 0, -ESRCH when it has gone or is
 * hidden, or another negative errno.
 */
int gtel_process_start(const struct gtel_env *env, uint32_t pid, uint64_t *ret);

/*
 * What is wanted (GTEL_WHO_… bits) of a process. With a start in process, another process that got
 * the pid since is not confused with it. users: names of users; NULL: numbers. Returns 0; -ESRCH
 * when the process has gone or is hidden, *ret is untouched then; or another negative errno: what
 * could not be read is empty then, the rest is filled. What may not be read is empty, too, and no
 * error.
 */
int gtel_process_who(const struct gtel_env *env, struct gtel_users *users,
                     struct gtel_process_id process, uint32_t wanted, struct gtel_process_who *ret);

#endif
