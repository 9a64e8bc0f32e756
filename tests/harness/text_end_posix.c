/* SPDX-License-Identifier: MIT */
/* The end of a helper's standard error that the helper has. */
#include "harness/text_end.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int64_t text_end_write(intptr_t end, const void *bytes, size_t n)
{
    ssize_t written = write((int)end, bytes, n);
    return written < 0 && errno == EAGAIN ? 0 : written;
}

/* posix_spawn gives it another number, which has not the flag; 0 to 3 are in use by then. */
bool text_end_is_for(intptr_t helper, intptr_t front_end)
{
    return helper > 3 && (fcntl((int)helper, F_GETFD) & FD_CLOEXEC) != 0 &&
           (fcntl((int)front_end, F_GETFD) & FD_CLOEXEC) != 0;
}
