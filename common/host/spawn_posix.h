/* SPDX-License-Identifier: MIT */
/*
 * Starts a program without a shell, with a clean environment and no other files than those given.
 *
 * Nothing of the host agent's environment may steer a vendor's library or tool in a child that has
 * more rights than the user who started the agent. The loader guards against that only with file
 * capabilities and set-user-ID: ambient capabilities do not trigger the secure-execution mode of
 * ld.so(8), and LD_LIBRARY_PATH is obeyed (capabilities(7), "Ambient").
 */
#ifndef GTEL_HOST_SPAWN_POSIX_H
#define GTEL_HOST_SPAWN_POSIX_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * path: of the program; args: with its name first, NULL at the end. fd: what it gets as descriptors
 * 0 to n - 1; -1: /dev/null. Of two or more given ones, none has a number below n. With a group of
 * its own, kill(-pid) ends what it has started, too. 0 or a negative errno.
 */
int gtel_spawn_posix(const char *path, char *const *args, const int *fd, int n, bool has_own_group,
                     pid_t *ret);
/* A pipe, and two connected sockets, that no child gets unless it is given them. 0 or a negative
 * errno. */
int gtel_spawn_posix_pipe(int fd[2]);
int gtel_spawn_posix_sockets(int fd[2]);

#endif
