/* SPDX-License-Identifier: MIT */
/*
 * Rights that this process has and the user who started it does not have.
 *
 * File capabilities (setcap) and ambient capabilities (systemd) give the program rights for reading
 * GPUs and processes. They are not for opening files that a user names on the command line: for
 * these, what that user may do decides. A program that root starts has no more rights than its
 * starter, and nothing here changes it.
 *
 * By the system calls themselves: two sets of bits need no library (libcap) in each installation.
 */
#ifndef GTEL_EXECD_PRIVILEGES_H
#define GTEL_EXECD_PRIVILEGES_H

#include <stdbool.h>
#include <stdint.h>

struct gtel_privileges {
    bool is_raised;        /* more rights than the real user */
    uint32_t effective[2]; /* capabilities at the start */
};

/*
 * To be called first. A process that has more rights than its starter loses the starter's
 * environment: vendor libraries obey variables. Returns 0; -EPERM for a program that is set-user-ID
 * or set-group-ID, which is not supported; or another negative errno.
 */
int gtel_privileges_init(struct gtel_privileges *privileges);
/* Until gtel_privileges_resume only the rights of the user count. 0 or a negative errno. */
int gtel_privileges_pause(const struct gtel_privileges *privileges);
int gtel_privileges_resume(const struct gtel_privileges *privileges);
/*
 * Gives all of them up for good, also for programs that are started from now on. Does nothing where
 * there are none. 0 or a negative errno.
 */
int gtel_privileges_drop(struct gtel_privileges *privileges);

#endif
