/* SPDX-License-Identifier: MIT */
/*
 * The inside of the real machine's env, for the files of host/ alone that belong to it.
 *
 * A function whose first argument is called arg is the operation of that name of struct
 * gtel_env_ops; arg is a struct gtel_env_posix. All but those of directories are there only where
 * the root is that of this machine.
 */
#ifndef GTEL_HOST_ENV_POSIX_H
#define GTEL_HOST_ENV_POSIX_H

#include "host/env.h"

#include <errno.h>
#include <sys/types.h>

enum {
    GTEL_PMU_GROUPS_MAX = 64,
    GTEL_CHILDREN_MAX = 2 /* those that do not end included */
};

/* Zeroed but for root_fd: nothing is open. */
struct gtel_env_posix {
    struct gtel_env_ops ops;
    int root_fd;
    bool is_machine; /* the root is "/" */
    int shortage;    /* the last such error that has not been asked for */
    size_t page_size;
    /* Groups of perf counters, each of which is a descriptor of its own. The first one is the
       group's leader, whose read gives the values of all. */
    struct gtel_pmu_group {
        int *fd;  /* GTEL_PMU_EVENTS_MAX descriptors, kept for the next group; NULL: none yet */
        size_t n; /* that are open; 0: the group is free */
    } group[GTEL_PMU_GROUPS_MAX];
    struct gtel_child_posix {
        pid_t pid; /* 0: none */
        int fd;    /* what it writes; negative: closed */
    } child[GTEL_CHILDREN_MAX];
    struct {
        void *object; /* libbpf's; NULL: not loaded */
        void *link;
        int error; /* why it cannot be had: a negative errno */
    } drm_fds;
};

/* Passes on the negative errno of what was to be opened. */
static inline int gtel_env_posix_note(struct gtel_env_posix *env, int error)
{
    if (error == -EMFILE || error == -ENFILE || error == -ENOMEM)
        env->shortage = error;
    return error;
}

/* dir_posix.c: on Linux nothing is allocated, and descriptors are listed from any one on. */

/* Also of any open directory; "": of itself. */
int gtel_dir_posix_stat(void *arg, int handle, const char *path, struct gtel_stat *ret);
/* As dir_list, and dir_list_from of that path, for the directory that is open at fd. Close it. */
int gtel_dir_posix_names(int fd, gtel_dir_fn fn, void *fn_arg);
int gtel_dir_posix_numbers(int fd, const char *path, uint32_t first, gtel_number_fn fn,
                           void *fn_arg);

/*
 * root_posix.c. Such a directory may be another user's, so no link in it leads out of it: a link
 * that begins with a slash goes on at the directory, and ".." ends there (openat2(2), Linux 5.6).
 * Flags as of openat(2), for reading; O_CLOEXEC is added. Returns a descriptor or a negative errno:
 * -ENOSYS, or -EPERM of a filter of system calls, where the system has no such call.
 */
int gtel_root_posix_open(int root_fd, const char *path, int flags);

/* child_posix.c: programs that write text to their standard output. */

int gtel_child_posix_start(void *arg, const char *const *args);
int64_t gtel_child_posix_read(void *arg, int handle, void *buf, size_t n, uint64_t wait_ns);
int gtel_child_posix_end(void *arg, int handle);
/* Ends all of them. */
void gtel_child_posix_done(struct gtel_env_posix *env);

/* pmu_posix.c */

int gtel_pmu_posix_open(void *arg, uint32_t type, const uint64_t *configs, size_t n, uint32_t cpu);
int gtel_pmu_posix_read(void *arg, int handle, uint64_t *values, size_t n,
                        uint64_t *ret_enabled_ns);
void gtel_pmu_posix_close(void *arg, int handle);
/* Frees what is kept; all groups are closed. */
void gtel_pmu_posix_done(struct gtel_env_posix *env);

/*
 * drm_posix.c. The node is open for the time of a call: who holds one open is a client of the GPU,
 * and shows in the lists of other tools.
 */
int64_t gtel_drm_posix_query(void *arg, const char *node, enum gtel_drm_driver driver,
                             uint32_t item, void *buf, size_t n);
int gtel_drm_posix_stall_open(void *arg, const char *node, uint32_t gt, uint32_t clocks);
int64_t gtel_drm_posix_stall_read(void *arg, int handle, void *buf, size_t n);

/*
 * netlink_posix.c. A handle is the socket's descriptor. Kernel messages about devices need no
 * right: group 1 of NETLINK_KOBJECT_UEVENT is what the kernel itself sends, group 2 what udev makes
 * of it (netlink(7), kernel: lib/kobject_uevent.c).
 */
int gtel_netlink_posix_uevent_open(void *arg);
int64_t gtel_netlink_posix_uevent_read(void *arg, int handle, void *buf, size_t n);
int gtel_netlink_posix_ras_read(void *arg, const char *device, struct gtel_ras_counter *ret,
                                size_t max, size_t *ret_n);

/*
 * drm_fds_bpf.c, in a build with GTEL_BPF: by a BPF iterator over all open files
 * (host/bpf/drm_fds.bpf.c). Needs Linux 5.8 or newer with its types (CONFIG_DEBUG_INFO_BTF),
 * CAP_BPF and CAP_PERFMON. It is loaded at the first call, which takes about 15 ms, and stays; what
 * cannot be loaded once is not tried again.
 */
int gtel_drm_fds_list(void *arg, gtel_drm_fd_fn fn, void *fn_arg);
void gtel_drm_fds_done(struct gtel_env_posix *env);

#endif
