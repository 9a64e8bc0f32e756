/* SPDX-License-Identifier: MIT */
/*
 * Who a process is: its name, its user, its batch job, and the unit, container and pod that it runs
 * in.
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
#include "host/pods.h"
#include "host/slurm.h"
#include "parse/cgroup.h"

/* Bytes of two texts, with their NUL; the others are those of what they come from. */
enum { GTEL_PROCESS_NAME_MAX = 64, GTEL_USER_NAME_MAX = 33 };

/* Which texts are wanted, as bits. */
enum {
    GTEL_WHO_NAME = 1,
    GTEL_WHO_USER = 2,
    GTEL_WHO_UNIT = 4,
    GTEL_WHO_CONTAINER = 8,
    GTEL_WHO_POD = 16,
    GTEL_WHO_JOB = 32,
    GTEL_WHO_POD_NAME = 64,
    GTEL_WHO_NAMESPACE = 128
};

/* A process as long as it lives, and no other one. */
struct gtel_process_id {
    uint32_t pid;
    uint64_t start; /* clock ticks since the host booted; 0: not known */
};

/*
 * Names of the machine's users, from its file etc/passwd. It is kept in memory and read again when
 * it is some minutes old, or when a user is not in it. Users from elsewhere (LDAP, systemd's own)
 * have no name here: asking the C library would load foreign code and wait for a network.
 */
struct gtel_users {
    char *buf;
    struct gtel_str text; /* of the file, in buf */
    uint64_t read_ns;     /* when it was read last, or tried to, on the env's clock; 0: never */
    int error; /* of the last try: 0 or a negative errno; the text is an older one then */
};

/*
 * The name of a user, fit to be shown, or the number where none is known, into buf of
 * GTEL_USER_NAME_MAX bytes.
 */
void gtel_users_name(struct gtel_users *users, const struct gtel_env *env, uint32_t user,
                     char *buf);

/* What is remembered between processes. A zeroed struct knows nothing yet. */
struct gtel_process_book {
    struct gtel_users users;
    struct gtel_slurm_jobs jobs;
    struct gtel_pods pods;
};

/* Empty: not wanted, there is none, or it may not be read. */
struct gtel_process_who {
    char name[GTEL_PROCESS_NAME_MAX]; /* as the process calls itself, at most 15 bytes of it */
    char user[GTEL_USER_NAME_MAX];    /* the effective user's name, else the number */
    char unit[GTEL_CGROUP_UNIT_MAX];  /* see parse/cgroup.h for these */
    char container[GTEL_CGROUP_CONTAINER_MAX]; /* in Kubernetes its name where it is found */
    char pod[GTEL_CGROUP_POD_MAX];             /* its uid; Podman's id */
    char pod_name[GTEL_POD_NAME_MAX];          /* see host/pods.h for these two */
    char namespace_[GTEL_POD_NAMESPACE_MAX];
    char job[GTEL_CGROUP_JOB_MAX]; /* Slurm's number where it is found, else its SLUID */
};

void gtel_process_book_done(struct gtel_process_book *book);

/* Whose pids those in proc are. */
enum gtel_namespace { GTEL_NAMESPACE_UNKNOWN, GTEL_NAMESPACE_HOST, GTEL_NAMESPACE_OTHER };

enum gtel_namespace gtel_process_namespace(const struct gtel_env *env);

/*
 * When a process began, in clock ticks since the host booted. 0, -ESRCH when it has gone or is
 * hidden, or another negative errno.
 */
int gtel_process_start(const struct gtel_env *env, uint32_t pid, uint64_t *ret);

/*
 * What is wanted (GTEL_WHO_… bits) of a process. With a start in process, another process that got
 * the pid since is not confused with it. Returns 0; -ESRCH when the process has gone or is hidden,
 * *ret is untouched then; or another negative errno: what could not be read is empty then, the rest
 * is filled. What may not be read is empty, too, and no error.
 */
int gtel_process_who(const struct gtel_env *env, struct gtel_process_book *book,
                     struct gtel_process_id process, uint32_t wanted, struct gtel_process_who *ret);

#endif
