/* SPDX-License-Identifier: MIT */
/* Files that a user names. */
#include "whole_file.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(int error, const char *what, char *problem, size_t size)
{
    (void)snprintf(problem, size, "%s", what);
    return -error;
}

static int fail_errno(int error, char *problem, size_t size)
{
    return fail(error, gtel_error_text(-error), problem, size);
}

/* 0 for a regular file. */
static int check_kind(mode_t mode, char *problem, size_t size)
{
    const char *what = "it is a socket";
    if (S_ISREG(mode))
        return 0;
    if (S_ISDIR(mode))
        return fail(EISDIR, "it is a directory", problem, size);
    if (S_ISFIFO(mode))
        what = "it is a FIFO";
    else if (S_ISCHR(mode) || S_ISBLK(mode))
        what = "it is a device";
    (void)snprintf(problem, size, "%s; only regular files are supported", what);
    return -EINVAL;
}

/*
 * Asks before it opens, because opening a device may do something, and again afterwards: it may be
 * another file by then. O_NONBLOCK: a FIFO that comes in between does not wait for its other end.
 * Returns a descriptor.
 */
static int open_regular(const char *path, int flags, struct stat *ret, char *problem, size_t size)
{
    if (stat(path, ret) == 0) {
        int r = check_kind(ret->st_mode, problem, size);
        if (r < 0)
            return r;
    }
    int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
    if (fd < 0)
        return fail_errno(errno, problem, size);
    int r = fstat(fd, ret) < 0 ? fail_errno(errno, problem, size)
                               : check_kind(ret->st_mode, problem, size);
    if (r == 0)
        return fd;
    (void)close(fd); /* nothing was written */
    return r;
}

static int fail_length(size_t limit, char *problem, size_t size)
{
    (void)snprintf(problem, size, "it is longer than %zu bytes", limit);
    return -EFBIG;
}

/* Until its end. */
static int read_all(int fd, struct gtel_buf *text, char *problem, size_t size)
{
    char chunk[16384];
    for (;;) {
        ssize_t n = read(fd, chunk, sizeof(chunk));
        if (n == 0)
            return 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_errno(errno, problem, size);
        if ((size_t)n > text->limit - text->n)
            return fail_length(text->limit, problem, size);
        gtel_buf_bytes(text, chunk, (size_t)n);
        if (text->has_failed)
            return fail_errno(ENOMEM, problem, size);
    }
}

/* A file of 0 bytes that is not empty is made by the kernel as it is read, and may never end. */
static int check_empty(int fd, char *problem, size_t size)
{
    char byte;
    if (read(fd, &byte, 1) == 0)
        return 0;
    return fail(EINVAL, "it has no length, as files in /proc; only regular files are supported",
                problem, size);
}

int gtel_whole_file_read(const char *path, struct gtel_buf *text, char *problem, size_t size)
{
    struct stat st;
    int r;
    int fd = open_regular(path, O_RDONLY, &st, problem, size);
    if (fd < 0)
        return fd;
    if (st.st_size == 0)
        r = check_empty(fd, problem, size);
    else if ((uint64_t)st.st_size > text->limit - text->n)
        r = fail_length(text->limit, problem, size);
    else
        r = read_all(fd, text, problem, size);
    (void)close(fd); /* only read */
    return r;
}

static int write_all(int fd, struct gtel_str text)
{
    while (text.n > 0) {
        ssize_t n = write(fd, text.p, text.n);
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n > 0)
            text = gtel_str_skip(text, (size_t)n);
    }
    return 0;
}

static int fail_exists(char *problem, size_t size)
{
    return fail(EEXIST, "it exists already; give another name", problem, size);
}

int gtel_whole_file_check(const char *path, char *problem, size_t size)
{
    struct stat st;
    char folder[PATH_MAX + 1]; /* stat(2) has refused a path that is longer */
    if (stat(path, &st) == 0) {
        int r = check_kind(st.st_mode, problem, size);
        return r == 0 ? fail_exists(problem, size) : r;
    }
    if (errno != ENOENT)
        return fail_errno(errno, problem, size);
    if (lstat(path, &st) == 0) /* a link to nothing */
        return fail_exists(problem, size);
    const char *slash = strrchr(path, '/');
    (void)snprintf(folder, sizeof(folder), "%.*s.", slash ? (int)(slash + 1 - path) : 0, path);
    return access(folder, W_OK | X_OK) < 0 ? fail_errno(errno, problem, size) : 0;
}

int gtel_whole_file_write(const char *path, struct gtel_str text, char *problem, size_t size)
{
    struct stat st;
    int fd = open_regular(path, O_WRONLY | O_CREAT | O_EXCL, &st, problem, size);
    if (fd < 0)
        return fd == -EEXIST ? fail_exists(problem, size) : fd;
    int r = write_all(fd, text);
    if (close(fd) < 0 && r == 0)
        r = -errno;
    if (r == 0)
        return 0;
    (void)unlink(path); /* a part of it is of no use, and would be in the way */
    return fail_errno(-r, problem, size);
}
