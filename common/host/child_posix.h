/* SPDX-License-Identifier: MIT */
/* Programs that write text to their standard output, as an env starts them. */
#ifndef GTEL_HOST_CHILD_POSIX_H
#define GTEL_HOST_CHILD_POSIX_H

#include "host/env.h"

#include <sys/types.h>

enum { GTEL_CHILDREN_MAX = 2 }; /* of one env, those that do not end included */

struct gtel_children {
    struct gtel_child_posix {
        pid_t pid; /* 0: none */
        int fd;    /* what it writes; negative: closed */
    } child[GTEL_CHILDREN_MAX];
};

/* As child_start, child_read and child_end of struct gtel_env_ops. */
int gtel_child_posix_start(struct gtel_children *children, const char *const *args);
int64_t gtel_child_posix_read(struct gtel_children *children, int handle, void *buf, size_t n,
                              uint64_t wait_ns);
int gtel_child_posix_end(struct gtel_children *children, int handle);
/* Ends all of them. */
void gtel_child_posix_done(struct gtel_children *children);

#endif
