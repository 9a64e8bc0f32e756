/* SPDX-License-Identifier: MIT */
/*
 * Netlink sockets of the machine, for env_posix.c only. A handle is the socket's descriptor.
 *
 * Kernel messages about devices need no right: group 1 of NETLINK_KOBJECT_UEVENT is what the kernel
 * itself sends, group 2 what udev makes of it (netlink(7), kernel: lib/kobject_uevent.c).
 */
#ifndef GTEL_HOST_NETLINK_POSIX_H
#define GTEL_HOST_NETLINK_POSIX_H

#include "host/env.h"

/* As uevent_open and uevent_read of gtel_env_ops; closed with close(2). */
int gtel_netlink_uevent_open(void);
int64_t gtel_netlink_uevent_read(int handle, void *buf, size_t n);

/* As ras_read of gtel_env_ops. */
int gtel_netlink_ras_read(const char *device, struct gtel_ras_counter *ret, size_t max,
                          size_t *ret_n);

#endif
