/* SPDX-License-Identifier: MIT */
/* The way along a path, link by link as the kernel goes it; for playing and for recording. */
#ifndef GTEL_RECORDING_WAY_H
#define GTEL_RECORDING_WAY_H

#include "base/str.h"

enum { GTEL_WAY_MAX = 512 }; /* bytes of a path with its NUL */

/* Set link and arg; the rest is zero at first. */
struct gtel_way {
    char path[GTEL_WAY_MAX]; /* so far: no link above it, no "..", no slash at either end */
    size_t n;
    int links;
    /*
     * What is at the path: the length of the target in buf, of GTEL_WAY_MAX bytes, to go on at that
     * link; 0 for no link, or one that should not be followed; or a negative errno, which ends it.
     */
    int64_t (*link)(void *arg, const char *path, bool follows, char *buf);
    void *arg;
};

/* Goes on along path. 0, -ENAMETOOLONG, -ELOOP, or the errno of link(): path then is where it was.
 */
int gtel_way_go(struct gtel_way *way, struct gtel_str path, bool follows_last);
/* The path without its last part. */
struct gtel_str gtel_way_parent(struct gtel_str path);
/* Whether a directory is proc/PID/fd. */
bool gtel_way_is_descriptors(struct gtel_str path);

#endif
