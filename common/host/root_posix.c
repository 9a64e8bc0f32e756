/* SPDX-License-Identifier: MIT */
/* Paths below a directory that stands for a whole machine. */
#include "host/root_posix.h"

#include "base/str.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif

/* The kernel's own limits (path_resolution(7)). */
enum { PATH_BYTES = 4096, NAME_BYTES = 256, LINKS_MAX = 40 };

struct walk {
    int root_fd;
    int fd;                /* the directory that has been reached */
    char done[PATH_BYTES]; /* its path, without links and dots */
    size_t done_n;
    char way[PATH_BYTES]; /* the rest of the way is at its end */
    struct gtel_str rest;
    int links;
};

/* fd becomes the directory of that name in the one at from. */
static int enter(struct walk *walk, int from, const char *name)
{
    int fd = openat(from, name, GTEL_ROOT_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (walk->fd >= 0)
        (void)close(walk->fd); /* nothing was written */
    walk->fd = fd;
    return 0;
}

static int go_down(struct walk *walk, const char *name)
{
    size_t n = strlen(name);
    if (walk->done_n + n + 1 >= sizeof(walk->done))
        return -ENAMETOOLONG;
    int r = enter(walk, walk->fd, name);
    if (r < 0)
        return r;
    walk->done[walk->done_n++] = '/';
    memcpy(walk->done + walk->done_n, name, n);
    walk->done_n += n;
    return 0;
}

/* To the root, or from there again to a path that has been walked before. */
static int restart(struct walk *walk, size_t done_n)
{
    char name[NAME_BYTES];
    struct gtel_str part;
    struct gtel_str path = {walk->done, done_n};
    int r = enter(walk, walk->root_fd, ".");
    walk->done_n = 0; /* what follows writes the same bytes again, behind those it reads */
    while (r == 0 && gtel_str_part(&path, '/', &part)) {
        if (part.n > 0 && gtel_str_copy(name, sizeof(name), part))
            r = go_down(walk, name);
    }
    return r;
}

/* Not through "..": the directory may have been moved elsewhere since. */
static int go_up(struct walk *walk)
{
    size_t n = walk->done_n;
    while (n > 0 && walk->done[n - 1] != '/')
        n--;
    return restart(walk, n > 0 ? n - 1 : 0);
}

/* Goes on with the target of a link of n bytes, and then with the rest. */
static int follow(struct walk *walk, const char *target, size_t n)
{
    char rest[PATH_BYTES];
    if (++walk->links > LINKS_MAX)
        return -ELOOP;
    size_t rest_n = walk->rest.n;
    if (n + 1 + rest_n >= sizeof(walk->way))
        return -ENAMETOOLONG;
    memcpy(rest, walk->rest.n ? walk->rest.p : "", rest_n);
    memcpy(walk->way, target, n);
    walk->way[n] = '/';
    memcpy(walk->way + n + 1, rest, rest_n);
    walk->rest = (struct gtel_str){walk->way, n + (rest_n > 0 ? 1 + rest_n : 0)};
    return target[0] == '/' ? restart(walk, 0) : 0;
}

static bool is_dot(struct gtel_str part)
{
    return part.n == 0 || gtel_str_eq(part, GTEL_STR("."));
}

/* One part of the way. 1: it is the last one, and in name. */
static int step(struct walk *walk, struct gtel_str part, bool follows_last, char *name)
{
    char target[PATH_BYTES];
    if (is_dot(part))
        return 0;
    if (gtel_str_eq(part, GTEL_STR("..")))
        return go_up(walk);
    if (!gtel_str_copy(name, NAME_BYTES, part))
        return -ENAMETOOLONG;
    bool is_last = walk->rest.n == 0;
    ssize_t n = -1;
    if (!is_last || follows_last)
        n = readlinkat(walk->fd, name, target, sizeof(target));
    if (n > 0)
        return follow(walk, target, (size_t)n);
    return is_last ? 1 : go_down(walk, name);
}

static int open_last(struct walk *walk, int flags)
{
    char name[NAME_BYTES] = ".";
    struct gtel_str part;
    int r = restart(walk, 0);
    while (r == 0 && gtel_str_part(&walk->rest, '/', &part))
        r = step(walk, part, (flags & O_NOFOLLOW) == 0, name);
    if (r < 0)
        return r;
    /* It may end in dots or with a slash: the directory itself. */
    int fd = openat(walk->fd, r == 0 ? "." : name, flags | O_CLOEXEC | O_NOFOLLOW);
    return fd < 0 ? -errno : fd;
}

int gtel_root_posix_walk(int root_fd, const char *path, int flags)
{
    struct walk walk = {.root_fd = root_fd, .fd = -1};
    if (!path[0])
        return -ENOENT; /* as openat(2) */
    if (!gtel_str_copy(walk.way, sizeof(walk.way), gtel_str_of(path)))
        return -ENAMETOOLONG;
    walk.rest = gtel_str_of(walk.way);
    int r = open_last(&walk, flags);
    if (walk.fd >= 0)
        (void)close(walk.fd);
    return r;
}

#ifdef __linux__

/* linux/openat2.h, which C libraries and headers of older kernels lack. */
struct how {
    uint64_t flags;
    uint64_t mode;
    uint64_t resolve;
};

enum { IN_ROOT = 0x10 }; /* RESOLVE_IN_ROOT */

#ifndef SYS_openat2
#define SYS_openat2 437 /* of all architectures: include/uapi/asm-generic/unistd.h */
#endif

/* Whether the kernel, or a filter of system calls before it, has no opinion on the path itself. */
static bool is_undecided(int error)
{
    /* EXDEV: a link of /proc that is no text; EAGAIN: a directory was moved meanwhile. */
    return error == ENOSYS || error == EPERM || error == EXDEV || error == EAGAIN;
}

int gtel_root_posix_open(int root_fd, const char *path, int flags)
{
    const struct how how = {.flags = (uint64_t)(uint32_t)(flags | O_CLOEXEC), .resolve = IN_ROOT};
    long fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
    if (fd >= 0)
        return (int)fd;
    return is_undecided(errno) ? gtel_root_posix_walk(root_fd, path, flags) : -errno;
}

#else

int gtel_root_posix_open(int root_fd, const char *path, int flags)
{
    return gtel_root_posix_walk(root_fd, path, flags);
}

#endif
