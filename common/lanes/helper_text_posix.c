/* SPDX-License-Identifier: MIT */
/* The pipe through which a helper's standard error comes. */
#include "lanes/helper_text.h"

#include "host/spawn_posix.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { FD_MIN = 4 /* the helper's standard files and its socket are below */ };

int gtel_helper_text_open(struct gtel_helper_text *text, intptr_t *ret_end)
{
    int fd[2];
    int r = gtel_spawn_posix_pipe(fd);
    if (r < 0)
        return r;
    /* O_NONBLOCK belongs to each end (pipe(2)), and the helper inherits it with its end. */
    int high = -1;
    if (fcntl(fd[0], F_SETFL, O_NONBLOCK) == 0 && fcntl(fd[1], F_SETFL, O_NONBLOCK) == 0)
        high = fcntl(fd[1], F_DUPFD_CLOEXEC, FD_MIN);
    int error = errno;
    (void)close(fd[1]);
    if (high < 0) {
        (void)close(fd[0]);
        return -error;
    }
    text->end = fd[0];
    text->n = 0;
    *ret_end = high;
    return 0;
}

int64_t gtel_helper_text_read(intptr_t end, void *buf, size_t n)
{
    return read((int)end, buf, n);
}

void gtel_helper_text_end(intptr_t end)
{
    (void)close((int)end); /* only read, or written by somebody else */
}
