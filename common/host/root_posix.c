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

/* The kernel's own limits (path_resolution(7)), but for the depth. */
enum { PATH_BYTES = 4096, NAME_BYTES = 256, LINKS_MAX = 40, DEPTH_MAX = 64 };

struct walk {
    int root_fd;
    int fd[DEPTH_MAX]; /* the directories on the way down */
    size_t depth;
    char way[PATH_BYTES]; /* the rest of the way is at its end */
    struct gtel_str rest;
    int links;
};

/* The directory that has been reached. */
static int here(const struct walk *walk)
{
    return walk->depth > 0 ? walk->fd[walk->depth - 1] : walk->root_fd;
}

static int go_down(struct walk *walk, const char *name)
{
    if (walk->depth == DEPTH_MAX)
        return -ENAMETOOLONG;
    int fd = openat(here(walk), name, GTEL_ROOT_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    walk->fd[walk->depth++] = fd;
    return 0;
}

/* Not through "..": the directory may have been moved elsewhere since. */
static void go_up(struct walk *walk)
{
    if (walk->depth > 0)
        (void)close(walk->fd[--walk->depth]); /* nothing was written */
}

static void go_to_root(struct walk *walk)
{
    while (walk->depth > 0)
        go_up(walk);
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
    if (target[0] == '/')
        go_to_root(walk);
    return 0;
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
    if (gtel_str_eq(part, GTEL_STR(".."))) {
        go_up(walk);
        return 0;
    }
    if (!gtel_str_copy(name, NAME_BYTES, part))
        return -ENAMETOOLONG;
    bool is_last = walk->rest.n == 0;
    ssize_t n = -1;
    if (!is_last || follows_last)
        n = readlinkat(here(walk), name, target, sizeof(target));
    if (n > 0)
        return follow(walk, target, (size_t)n);
    return is_last ? 1 : go_down(walk, name);
}

static int open_last(struct walk *walk, int flags)
{
    char name[NAME_BYTES] = ".";
    struct gtel_str part;
    int r = 0;
    while (r == 0 && gtel_str_part(&walk->rest, '/', &part))
        r = step(walk, part, (flags & O_NOFOLLOW) == 0, name);
    if (r < 0)
        return r;
    /* It may end in dots or with a slash: the directory itself. */
    int fd = openat(here(walk), r == 0 ? "." : name, flags | O_CLOEXEC | O_NOFOLLOW);
    return fd < 0 ? -errno : fd;
}

int gtel_root_posix_walk(int root_fd, const char *path, int flags)
{
    struct walk walk = {.root_fd = root_fd};
    if (!path[0])
        return -ENOENT; /* as openat(2) */
    if (!gtel_str_copy(walk.way, sizeof(walk.way), gtel_str_of(path)))
        return -ENAMETOOLONG;
    walk.rest = gtel_str_of(walk.way);
    int r = open_last(&walk, flags);
    go_to_root(&walk);
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
