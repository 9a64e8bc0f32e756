/* SPDX-License-Identifier: MIT */
/* The process of the program: what differs by system. */
#ifndef GTEL_EXECD_SYSTEM_H
#define GTEL_EXECD_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>

/*
 * To be called first, before anything is written. A closed output is an answer from then on, no
 * reason to die. Under Windows the words of the command line become UTF-8, in memory that stays
 * until the end, bytes are not changed on their way in and out, and no window asks anything.
 * 0 or a negative errno.
 */
int gtel_system_init(int *argc, char ***argv);

/* The path of this program, by which helpers are started. 0 or a negative errno. */
int gtel_system_program(char *ret, size_t size);
/* Goes where nobody else may write. 0 or a negative errno. */
int gtel_system_leave_folder(void);
/* Whether standard output is one. */
bool gtel_system_is_terminal(void);

/* The descriptor of a helper's way to its front end (lanes/peer.h); negative: this is no helper. */
int gtel_system_helper_fd(void);
/*
 * Prepares a helper: as many open files as the host allows, and its end should the front end die.
 * 0 or a negative errno: a thread cannot be started.
 */
int gtel_system_begin_helper(int fd);

#endif
