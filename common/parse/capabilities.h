/* SPDX-License-Identifier: MIT */
/*
 * The capabilities of a process, from the text of its /proc/<pid>/status.
 *
 * They say what a kernel that knows of no user namespace would allow. In a container the set can be
 * full and mean nothing outside: what the kernel really answers comes first.
 */
#ifndef GTEL_PARSE_CAPABILITIES_H
#define GTEL_PARSE_CAPABILITIES_H

#include "base/str.h"

/* Bits of the set (linux/capability.h). */
enum { GTEL_CAP_SYS_ADMIN = 21, GTEL_CAP_PERFMON = 38 };

/* The effective set, from the line CapEff. 0, -ENODATA without such a line, -EINVAL, -ERANGE. */
int gtel_capabilities_parse(struct gtel_str status, uint64_t *ret);

#endif
