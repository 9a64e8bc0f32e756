/* SPDX-License-Identifier: MIT */
/*
 * The release of a kernel, as "6.16.0-rc1-amd64". Pure: no allocation, no input or output.
 *
 * For saying why something is missing, and for counters that only some kernels feed; whether a file
 * is there is always asked of the machine itself.
 */
#ifndef GTEL_PARSE_RELEASE_H
#define GTEL_PARSE_RELEASE_H

#include "base/str.h"

struct gtel_release {
    uint32_t major;
    uint32_t minor;
};

/* The two leading numbers. 0, or -EINVAL. */
int gtel_release_parse(struct gtel_str text, struct gtel_release *ret);
bool gtel_release_is_at_least(const struct gtel_release *release, uint32_t major, uint32_t minor);

#endif
