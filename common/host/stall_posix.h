/* SPDX-License-Identifier: MIT */
/* Stall samples of the machine's xe GPUs, for env_posix.c only. As stall_open … of gtel_env_ops. */
#ifndef GTEL_HOST_STALL_POSIX_H
#define GTEL_HOST_STALL_POSIX_H

#include "host/env.h"

/* node is relative to the directory root_fd, and open for the time of the call only. */
int gtel_stall_posix_open(int root_fd, const char *node, uint32_t gt, uint32_t clocks);
int64_t gtel_stall_posix_read(int handle, void *buf, size_t n);
void gtel_stall_posix_close(int handle);

#endif
