/* SPDX-License-Identifier: MIT */
/* Paths below a directory that stands for a whole machine. */
#include "host/env_posix.h"

#ifdef __linux__

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* linux/openat2.h, which C libraries and headers of older kernels lack. */
struct how {
    uint64_t flags;
    uint64_t mode;
    uint64_t resolve;
};

enum {
    IN_ROOT = 0x10,  /* RESOLVE_IN_ROOT */
    TRIES_MAX = 100, /* of what says EAGAIN: a directory was moved meanwhile */
    PATH_BYTES = 4096
};

#ifndef SYS_openat2
#define SYS_openat2 437 /* of all architectures: include/uapi/asm-generic/unistd.h */
#endif

static int open_below(int root_fd, const char *path, int flags)
{
    const struct how how = {.flags = (uint64_t)(uint32_t)(flags | O_CLOEXEC), .resolve = IN_ROOT};
    long fd;
    int tries = 0;
    do {
        fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
    } while (fd < 0 && errno == EAGAIN && ++tries < TRIES_MAX);
    return fd < 0 ? -errno : (int)fd;
}

/* EXDEV: a link of /proc that is no text ("proc/5/fd/3"); what it says is below the root, too. */
int gtel_root_posix_open(int root_fd, const char *path, int flags)
{
    char target[PATH_BYTES];
    int fd = open_below(root_fd, path, flags);
    int link = fd == -EXDEV ? open_below(root_fd, path, O_PATH | O_NOFOLLOW) : -1;
    if (link < 0)
        return fd;
    ssize_t n = readlinkat(link, "", target, sizeof(target) - 1);
    (void)close(link);
    if (n < 0)
        return fd;
    target[n] = '\0';
    return open_below(root_fd, target, flags);
}

#else

int gtel_root_posix_open(int root_fd, const char *path, int flags)
{
    (void)root_fd;
    (void)path;
    (void)flags;
    return -ENOSYS;
}

#endif
