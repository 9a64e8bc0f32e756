/* SPDX-License-Identifier: MIT */
/*
 * What the running kernel is, and where it puts us: for saying why something is missing and what
 * would bring it. Whether a file is there is always asked of the machine itself.
 */
#ifndef GTEL_HOST_KERNEL_H
#define GTEL_HOST_KERNEL_H

#include "host/fs.h"
#include "parse/proc.h"

/* Whether the kernel's release is known, and it. */
bool gtel_kernel_release(const struct gtel_env *env, struct gtel_release *ret);
/* Whether the kernel is older than that; false when it is not known. */
bool gtel_kernel_is_older(const struct gtel_env *env, uint32_t major, uint32_t minor);
/* Whether the kernel runs in a virtual machine; false when it is not known. */
bool gtel_kernel_is_guest(const struct gtel_env *env);

enum gtel_known { GTEL_NOT_KNOWN, GTEL_NO, GTEL_YES };

/*
 * Whether this process has the capability of that bit (parse/proc.h), as far as its own user
 * namespace goes.
 */
enum gtel_known gtel_kernel_has_capability(const struct gtel_env *env, unsigned bit);

/*
 * Whether this process is in a user namespace of a container, where rights count in there only;
 * false when it is not known.
 */
bool gtel_kernel_is_nested(const struct gtel_env *env);

#endif
