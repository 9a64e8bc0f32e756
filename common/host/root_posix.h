/* SPDX-License-Identifier: MIT */
/*
 * Paths below a directory that stands for a whole machine; for env_posix only.
 *
 * Such a directory may be another user's, so no link in it leads out of it: a link that begins with
 * a slash goes on at the directory, and ".." ends there. openat2(2) does so in one call, from Linux
 * 5.6 on, but for the links of /proc that are no text ("proc/5/fd/3"). Elsewhere, and on other
 * systems, the path is walked part by part, each directory opened without following links, which
 * also holds while somebody changes them.
 */
#ifndef GTEL_HOST_ROOT_POSIX_H
#define GTEL_HOST_ROOT_POSIX_H

#include <fcntl.h>

/* To enter a directory or ask about a file: O_PATH, of Linux alone, needs no right to read, and
 * touches no device. */
#ifdef O_PATH
#define GTEL_ROOT_PATH O_PATH
#else
#define GTEL_ROOT_PATH (O_RDONLY | O_NONBLOCK)
#endif

/*
 * Opens what is there (flags as of openat(2), for reading; O_CLOEXEC is added). With O_NOFOLLOW a
 * link at the end of the path is not followed. Returns a descriptor, or a negative errno: -ELOOP
 * after 40 links, -ENAMETOOLONG, -ENOENT ...
 */
int gtel_root_posix_open(int root_fd, const char *path, int flags);
/* The same by the second way, for tests. */
int gtel_root_posix_walk(int root_fd, const char *path, int flags);

#endif
