/* SPDX-License-Identifier: MIT */
/* Directories of numbers, and what is known of a file, on a POSIX machine. */
#include "host/env_posix.h"

#include "host/numbers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#endif

#ifdef __linux__

/*
 * fstatat(2) of a descriptor of another process asks the file system that the file is on: one in
 * user space, or a server of the network, may never answer. With AT_STATX_DONT_SYNC the kernel
 * answers from what it has (fs/fuse/dir.c, fuse_update_get_attr; fs/nfs/inode.c, nfs_getattr;
 * fs/ceph/inode.c, ceph_getattr; fs/afs/inode.c, afs_getattr), which is enough here: the type of a
 * file and the number of a device never change. The files of /proc and /sys are as ever.
 */
static int stat_path(int root_fd, const char *path, struct stat *ret)
{
    const unsigned wanted = STATX_TYPE | STATX_SIZE | STATX_INO | STATX_UID;
    struct statx stx;
    if (statx(root_fd, path, AT_STATX_DONT_SYNC, wanted, &stx) < 0)
        return -1;
    ret->st_size = (off_t)stx.stx_size;
    ret->st_ino = stx.stx_ino;
    ret->st_uid = stx.stx_uid;
    ret->st_mode = stx.stx_mode;
    ret->st_rdev = makedev(stx.stx_rdev_major, stx.stx_rdev_minor);
    return 0;
}

#else

static int stat_path(int root_fd, const char *path, struct stat *ret)
{
    return fstatat(root_fd, path, ret, 0);
}

#endif

int gtel_dir_posix_stat(void *arg, int root_fd, const char *path, struct gtel_stat *ret)
{
    struct stat st;
    (void)arg;
    if ((path[0] ? stat_path(root_fd, path, &st) : fstat(root_fd, &st)) < 0)
        return -errno;
    *ret = (struct gtel_stat){.size = st.st_size > 0 ? (uint64_t)st.st_size : 0,
                              .ino = st.st_ino,
                              .uid = st.st_uid,
                              .is_char = S_ISCHR(st.st_mode)};
    if (ret->is_char) {
        ret->major = (uint32_t)major(st.st_rdev);
        ret->minor = (uint32_t)minor(st.st_rdev);
    }
    return 0;
}

int gtel_dir_posix_names(int fd, gtel_dir_fn fn, void *fn_arg)
{
    DIR *dir = fdopendir(fd);
    if (!dir) {
        int error = errno;
        (void)close(fd);
        return -error;
    }
    int r = 0;
    while (r == 0) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry) {
            r = -errno;
            break;
        }
        struct gtel_str name = gtel_str_of(entry->d_name);
        if (!gtel_str_eq(name, GTEL_STR(".")) && !gtel_str_eq(name, GTEL_STR("..")))
            r = fn(fn_arg, name);
    }
    (void)closedir(dir);
    return r;
}

/* A directory in any order. Closes fd. */
static int list_sorted(int fd, uint32_t first, gtel_number_fn fn, void *fn_arg)
{
    struct gtel_numbers numbers = {.first = first};
    int r = gtel_dir_posix_names(fd, gtel_numbers_add, &numbers);
    if (r == 0)
        r = gtel_numbers_each(&numbers, fn, fn_arg);
    gtel_numbers_done(&numbers);
    return r;
}

#ifdef __linux__

enum {
    PROC_MAGIC = 0x9fa0, /* PROC_SUPER_MAGIC of linux/magic.h */
    LEAST_PROCESS = 256, /* position of process 0, or one that is lower */
    CHUNK = 32768        /* bytes of a reading of names */
};

/* What getdents64(2) writes for each name. */
struct entry {
    uint64_t ino;
    int64_t off;
    uint16_t length; /* of all of it */
    uint8_t type;
    char name[];
};

static bool is_number(const char *name, uint32_t *ret)
{
    uint64_t value;
    if (gtel_str_u64(gtel_str_of(name), &value) < 0 || value > UINT32_MAX)
        return false;
    *ret = (uint32_t)value;
    return true;
}

static bool is_procfs(int fd)
{
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_MAGIC;
}

/*
 * Processes and descriptors come in ascending order. Descriptor N has position N + 2, process N
 * position N + 258, before Linux 3.17 N + 257 (kernel: fs/proc/fd.c, proc_readfd_common;
 * fs/proc/base.c, proc_pid_readdir, TGID_OFFSET).
 */
static int list_procfs(int fd, uint32_t first, gtel_number_fn fn, void *fn_arg)
{
    _Alignas(struct entry) char chunk[CHUNK];
    uint32_t number;
    for (;;) {
        long n = syscall(SYS_getdents64, fd, chunk, sizeof(chunk));
        if (n <= 0)
            return n < 0 ? -errno : 0;
        for (long at = 0; at < n;) {
            const struct entry *entry = (const struct entry *)(const void *)(chunk + at);
            at += entry->length;
            if (!is_number(entry->name, &number) || number < first)
                continue;
            int r = fn(fn_arg, number);
            if (r != 0)
                return r;
        }
    }
}

static bool is_descriptors(const char *path)
{
    struct gtel_str text = gtel_str_of(path);
    return gtel_str_ends(text, GTEL_STR("/fd")) || gtel_str_ends(text, GTEL_STR("/fdinfo"));
}

int gtel_dir_posix_numbers(int fd, const char *path, uint32_t first, gtel_number_fn fn,
                           void *fn_arg)
{
    if (!is_procfs(fd))
        return list_sorted(fd, first, fn, fn_arg);
    if (first > 1) /* those below that come all the same are passed over */
        (void)lseek(fd, (off_t)first + (is_descriptors(path) ? 2 : LEAST_PROCESS), SEEK_SET);
    int r = list_procfs(fd, first, fn, fn_arg);
    (void)close(fd);
    return r;
}

#else

int gtel_dir_posix_numbers(int fd, const char *path, uint32_t first, gtel_number_fn fn,
                           void *fn_arg)
{
    (void)path;
    return list_sorted(fd, first, fn, fn_arg);
}

#endif
