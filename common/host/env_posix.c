/* SPDX-License-Identifier: MIT */
/* The real machine, or a directory that looks like one. */
#include "host/env_posix.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* To enter a directory or ask about a file: O_PATH, of Linux alone, needs no right to read, and
 * touches no device. */
#ifdef O_PATH
#define ROOT_PATH O_PATH
#else
#define ROOT_PATH (O_RDONLY | O_NONBLOCK)
#endif

static int shortage(void *arg)
{
    struct gtel_env_posix *env = arg;
    int error = env->shortage;
    env->shortage = 0;
    return error;
}

static uint64_t clock_ns(clockid_t id)
{
    struct timespec ts;
    if (clock_gettime(id, &ts) != 0)
        return 0;
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t gtel_env_real_now(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

uint64_t gtel_env_real_wall(void)
{
    return clock_ns(CLOCK_REALTIME);
}

static uint64_t monotonic_ns(void *arg)
{
    (void)arg;
    return gtel_env_real_now();
}

static uint64_t wall_ns(void *arg)
{
    (void)arg;
    return gtel_env_real_wall();
}

static uint64_t suspended_ns(void *arg)
{
    (void)arg;
#ifdef __APPLE__ /* clock_gettime(3) there: the second one stops while the system sleeps */
    uint64_t all = clock_ns(CLOCK_MONOTONIC_RAW);
    uint64_t awake = clock_ns(CLOCK_UPTIME_RAW);
#else /* CLOCK_BOOTTIME counts suspend, CLOCK_MONOTONIC does not (clock_gettime(2)) */
    uint64_t all = clock_ns(CLOCK_BOOTTIME);
    uint64_t awake = clock_ns(CLOCK_MONOTONIC);
#endif
    return all > awake ? all - awake : 0;
}

/* On this machine the kernel follows links; below another root none leads out of it. */
static int open_path(const struct gtel_env_posix *env, const char *path, int flags)
{
    if (!env->is_machine)
        return gtel_root_posix_open(env->root_fd, path, flags);
    int fd = openat(env->root_fd, path, flags | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/*
 * Part of the handle of a list of mounts, which comes in pieces of whole lines (kernel:
 * fs/proc_namespace.c, fs/seq_file.c): only a read that gets nothing is the end.
 */
enum { IS_PIECEWISE = 1 << 30 };

static int file_open(void *arg, const char *path)
{
    struct gtel_env_posix *env = arg;
    bool is_piecewise = gtel_str_ends(gtel_str_of(path), GTEL_STR("/mountinfo"));
    /* O_NONBLOCK: a FIFO in the place of a file must not hang us. */
    int fd = gtel_env_posix_note(env, open_path(env, path, O_RDONLY | O_NOCTTY | O_NONBLOCK));
    return fd >= 0 && is_piecewise ? fd | IS_PIECEWISE : fd;
}

/*
 * A binary file of sysfs comes a page at a time (kernel: fs/kernfs/file.c), amdgpu's list of bad
 * pages in whole lines of 28 bytes (amdgpu/amdgpu_ras.c): such a read is not the end. A text of
 * sysfs has less than a page, and would be made again by a second read.
 */
enum { SHORT_OF_PAGE_MAX = 64 };

static int64_t file_read(void *arg, int handle, void *buf, size_t n)
{
    const struct gtel_env_posix *env = arg;
    const int fd = handle & ~IS_PIECEWISE;
    size_t total = 0;
    const size_t last_max = fd != handle ? 0 : env->page_size - SHORT_OF_PAGE_MAX;
    ssize_t got;
    do {
        do {
            got = pread(fd, (char *)buf + total, n - total, (off_t)total);
        } while (got < 0 && errno == EINTR);
        if (got < 0)
            return -errno;
        total += (size_t)got;
    } while (total < n && (size_t)got > last_max);
    return (int64_t)total;
}

static void file_close(void *arg, int handle)
{
    (void)arg;
    (void)close(handle & ~IS_PIECEWISE); /* opened for reading: nothing can be lost */
}

static int dir_list(void *arg, const char *path, gtel_dir_fn fn, void *fn_arg)
{
    struct gtel_env_posix *env = arg;
    int fd = open_path(env, path, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return gtel_env_posix_note(env, fd);
    return gtel_dir_posix_names(fd, fn, fn_arg);
}

/* Of a descriptor that is no link, readlinkat(2) says ENOENT (kernel: fs/stat.c, do_readlinkat). */
static int64_t read_link_below(const struct gtel_env_posix *env, const char *path, char *buf,
                               size_t n)
{
    int fd = open_path(env, path, ROOT_PATH | O_NOFOLLOW);
    if (fd < 0)
        return fd;
    ssize_t got = readlinkat(fd, "", buf, n);
    int64_t result = got < 0 ? -(errno == ENOENT ? EINVAL : errno) : got;
    (void)close(fd);
    return result;
}

static int64_t link_read(void *arg, const char *path, char *buf, size_t n)
{
    struct gtel_env_posix *env = arg;
    if (!env->is_machine)
        return read_link_below(env, path, buf, n);
    ssize_t got = readlinkat(env->root_fd, path, buf, n);
    return got < 0 ? -errno : got;
}

static int stat_file(void *arg, const char *path, struct gtel_stat *ret)
{
    const struct gtel_env_posix *env = arg;
    if (env->is_machine)
        return gtel_dir_posix_stat(arg, env->root_fd, path, ret);
    int fd = open_path(env, path, ROOT_PATH);
    if (fd < 0)
        return fd;
    int r = gtel_dir_posix_stat(arg, fd, "", ret);
    (void)close(fd);
    return r;
}

static int exists(void *arg, const char *path)
{
    struct gtel_stat st;
    return stat_file(arg, path, &st);
}

/* On this machine alone: below another root a link in the directory would lead out of it. */
static int dir_open(void *arg, const char *path)
{
    return open_path(arg, path, ROOT_PATH | O_DIRECTORY);
}

#ifdef GTEL_HAVE_BPF
/* A proc of another process namespace gives us another number, or none (pid_namespaces(7)). */
static bool knows_us(int root_fd)
{
    char link[32];
    uint64_t pid;
    ssize_t n = readlinkat(root_fd, "proc/self", link, sizeof(link));
    return n > 0 && gtel_str_u64((struct gtel_str){link, (size_t)n}, &pid) == 0 &&
           pid == (uint64_t)getpid();
}
#endif

static int dir_list_from(void *arg, const char *path, uint32_t first, gtel_number_fn fn,
                         void *fn_arg)
{
    int fd = open_path(arg, path, O_RDONLY | O_DIRECTORY);
    return fd < 0 ? fd : gtel_dir_posix_numbers(fd, path, first, fn, fn_arg);
}

int gtel_env_real_lib_open(const char *name, void **ret)
{
    *ret = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    return *ret ? 0 : -ENOENT;
}

void *gtel_env_real_lib_symbol(void *lib, const char *name)
{
    return dlsym(lib, name);
}

void gtel_env_real_lib_close(void *lib)
{
    (void)dlclose(lib); /* a library that stays loaded is no harm */
}

static int lib_open(void *arg, const char *const *names, void **ret)
{
    struct gtel_env_posix *env = arg;
    if (!env->is_machine)
        return -EPERM;
    for (size_t i = 0; names[i]; i++)
        if (gtel_env_real_lib_open(names[i], ret) == 0)
            return 0;
    /* dlopen(3) has no number for why: whether it could have opened a file is seen by trying. */
    int fd = openat(env->root_fd, ".", O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    if (fd < 0)
        return gtel_env_posix_note(env, -errno);
    (void)close(fd);
    return -ENOENT;
}

static void *lib_symbol(void *arg, void *lib, const char *name)
{
    (void)arg;
    return gtel_env_real_lib_symbol(lib, name);
}

static void lib_close(void *arg, void *lib)
{
    (void)arg;
    gtel_env_real_lib_close(lib);
}

/* What a directory has, whichever it is. */
static const struct gtel_env_ops folder_ops = {
    .shortage = shortage,
    .monotonic_ns = monotonic_ns,
    .wall_ns = wall_ns,
    .suspended_ns = suspended_ns,
    .file_open = file_open,
    .file_read = file_read,
    .file_close = file_close,
    .dir_list = dir_list,
    .link_read = link_read,
    .exists = exists,
    .stat = stat_file,
    .dir_list_from = dir_list_from,
    .lib_open = lib_open,
    .lib_symbol = lib_symbol,
    .lib_close = lib_close,
};

/* And what only this machine has. */
static void add_machine(struct gtel_env_posix *env)
{
    struct gtel_env_ops *ops = &env->ops;
    ops->dir_open = dir_open;
    ops->dir_stat = gtel_dir_posix_stat;
    ops->dir_close = file_close;
    ops->child_start = gtel_child_posix_start;
    ops->child_read = gtel_child_posix_read;
    ops->child_end = gtel_child_posix_end;
#ifdef __linux__
    ops->pmu_open = gtel_pmu_posix_open;
    ops->pmu_read = gtel_pmu_posix_read;
    ops->pmu_close = gtel_pmu_posix_close;
    ops->drm_query = gtel_drm_posix_query;
    ops->stall_open = gtel_drm_posix_stall_open;
    ops->stall_read = gtel_drm_posix_stall_read;
    ops->stall_close = file_close;
    ops->uevent_open = gtel_netlink_posix_uevent_open;
    ops->uevent_read = gtel_netlink_posix_uevent_read;
    ops->uevent_close = file_close;
    ops->ras_read = gtel_netlink_posix_ras_read;
#endif
#ifdef GTEL_HAVE_BPF
    if (knows_us(env->root_fd))
        ops->drm_fds = gtel_drm_fds_list;
#endif
}

static void close_machine(struct gtel_env_posix *env)
{
    gtel_child_posix_done(env);
#ifdef __linux__
    gtel_pmu_posix_done(env);
#endif
#ifdef GTEL_HAVE_BPF
    gtel_drm_fds_done(env);
#endif
}

/* Whether the system can keep links below a root. */
static bool has_roots(int root_fd)
{
    int fd = gtel_root_posix_open(root_fd, ".", ROOT_PATH);
    if (fd >= 0)
        (void)close(fd);
    return fd != -ENOSYS && fd != -EPERM;
}

int gtel_env_posix_init(const char *root, struct gtel_env *ret)
{
    struct gtel_env_posix *env = calloc(1, sizeof(*env));
    if (!env)
        return -ENOMEM;
    env->is_machine = strcmp(root, "/") == 0;
    env->root_fd = open(root, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    int error = env->root_fd < 0 ? errno : 0;
    if (error == 0 && !env->is_machine && !has_roots(env->root_fd)) {
        (void)close(env->root_fd);
        error = ENOSYS;
    }
    if (error != 0) {
        free(env);
        return -error;
    }
    env->ops = folder_ops;
    if (env->is_machine)
        add_machine(env);
    long page = sysconf(_SC_PAGESIZE);
    env->page_size = page > 0 ? (size_t)page : 4096;
    *ret = (struct gtel_env){.ops = &env->ops,
                             .arg = env,
                             .uid = (uint32_t)geteuid(),
                             .page_size = env->is_machine && page > 0 ? (uint32_t)page : 0};
    return 0;
}

void gtel_env_posix_done(struct gtel_env *env)
{
    struct gtel_env_posix *posix = env->arg;
    if (posix) {
        (void)close(posix->root_fd);
        close_machine(posix);
        free(posix);
    }
    *env = (struct gtel_env){0};
}
