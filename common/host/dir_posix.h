/* SPDX-License-Identifier: MIT */
/*
 * Directories of numbers, and what is known of a file, on a POSIX machine; for env_posix only.
 *
 * On Linux nothing is allocated, and descriptors of a process are listed from any one on.
 */
#ifndef GTEL_HOST_DIR_POSIX_H
#define GTEL_HOST_DIR_POSIX_H

#include "host/env.h"

/* What gtel_env_ops.stat does, for a path below the open directory root_fd; "": for itself. */
int gtel_dir_posix_stat(int root_fd, const char *path, struct gtel_stat *ret);
/* What gtel_env_ops.dir_open does. */
int gtel_dir_posix_open(int root_fd, const char *path);
/* What gtel_env_ops.dir_list_from does, for the directory of that path, open at fd. Closes fd. */
int gtel_dir_posix_numbers(int fd, const char *path, uint32_t first, gtel_number_fn fn,
                           void *fn_arg);

#endif
