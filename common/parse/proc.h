/* SPDX-License-Identifier: MIT */
/*
 * Texts about processes, users and the kernel: files of /proc/<pid>, /proc/sys/kernel/osrelease and
 * /etc/passwd. Pure: no allocation, no input or output.
 */
#ifndef GTEL_PARSE_PROC_H
#define GTEL_PARSE_PROC_H

#include "base/str.h"

/* From the text of a process's file stat. */
struct gtel_pid_stat {
    struct gtel_str name; /* as the program chose: with blanks, newlines, parentheses; borrowed */
    uint32_t parent;      /* its pid; 0: none, or in another pid namespace */
    uint64_t start;       /* clock ticks since the host booted; with the pid, who the process is */
};

/* 0, -EINVAL or -ERANGE. */
int gtel_pid_stat(struct gtel_str text, struct gtel_pid_stat *ret);

/* When a process began, and what distinguishes two that began in the same tick. */
struct gtel_pid_birth {
    uint64_t start; /* clock ticks since the host booted; 0: not known */
    uint32_t pid;
    uint32_t parent; /* its pid */
};

/*
 * Whether a began before b, as far as that is known. A lower number does not show it: the kernel
 * starts again at low numbers when it has used them all.
 */
bool gtel_pid_is_older(const struct gtel_pid_birth *a, const struct gtel_pid_birth *b);

/* Bits of the set of capabilities (linux/capability.h). */
enum { GTEL_CAP_SYS_ADMIN = 21, GTEL_CAP_PERFMON = 38 };

/*
 * The effective set, from the line CapEff of the file status: what a kernel that knows of no user
 * namespace would allow. In a container it can be full and mean nothing outside: what the kernel
 * really answers comes first. 0, -ENODATA without such a line, -EINVAL, -ERANGE.
 */
int gtel_capabilities_parse(struct gtel_str status, uint64_t *ret);

/* The release of a kernel, as "6.16.0-rc1-amd64". */
struct gtel_release {
    uint32_t major;
    uint32_t minor;
};

/* The two leading numbers. 0, or -EINVAL. */
int gtel_release_parse(struct gtel_str text, struct gtel_release *ret);
bool gtel_release_is_at_least(const struct gtel_release *release, uint32_t major, uint32_t minor);

/*
 * The name of the first user with that number in the list of users (man 5 passwd). 0 or -ENOENT.
 * *ret borrows from text.
 */
int gtel_passwd_find(struct gtel_str text, uint32_t user, struct gtel_str *ret);

#endif
