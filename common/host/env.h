/* SPDX-License-Identifier: MIT */
/*
 * The outside world as a set of functions.
 *
 * Everything that is not this process goes through an env: clocks, files, vendor libraries, log.
 * The front end makes the real one (env_posix), `--root FILE.tree` a recorded one (env_tree), and
 * tests wrap either to count calls and make one of them fail. Nothing else in common/ reads a clock
 * or opens a file of the machine.
 *
 * Paths are relative to the root and do not begin with a slash: "sys/class/drm". One env is used by
 * one thread at a time.
 */
#ifndef GTEL_HOST_ENV_H
#define GTEL_HOST_ENV_H

#include "base/compiler.h"
#include "base/str.h"

enum { GTEL_PMU_EVENTS_MAX = 256 }; /* counters of one group */

/* Whose query is asked in drm_query. */
enum gtel_drm_driver { GTEL_DRM_I915, GTEL_DRM_XE };

enum gtel_log_level { GTEL_LOG_ERROR, GTEL_LOG_WARNING, GTEL_LOG_INFO, GTEL_LOG_DEBUG };

/* Where messages go. text is one line without a newline and is valid during the call only. */
struct gtel_log {
    void (*write)(void *arg, enum gtel_log_level level, const char *text);
    void *arg;
};

/* Gets each name of a directory; the name is valid during the call. Non-zero stops the listing. */
typedef int (*gtel_dir_fn)(void *arg, struct gtel_str name);
/* Gets each number that is a name in a directory. Non-zero stops the listing. */
typedef int (*gtel_number_fn)(void *arg, uint32_t number);

/*
 * A file that a Windows host has, and no other: "Version: 10.0.19045", "User: NT AUTHORITY\SYSTEM",
 * "Administrator: yes", each on a line where it is known.
 */
#define GTEL_HOST_FACTS "windows/system"
/* Another: what Windows Management Instrumentation knows of display devices; reading is slow. */
#define GTEL_WMI_CONTROLLERS "windows/wmi/Win32_VideoController"

/* What is known of a file without opening it. */
struct gtel_stat {
    uint64_t
        size; /* bytes; of proc/PID/fd the number of descriptors (Linux 6.2 and newer, else 0) */
    uint64_t ino; /* of proc/PID/fd another one when the pid is another process's */
    uint32_t uid;
    uint32_t major; /* of the device; 0 unless is_char */
    uint32_t minor;
    bool is_char; /* a character device */
};

enum { GTEL_RAS_MAX = 64, GTEL_RAS_NAME_MAX = 48 }; /* counters of a device, bytes with the NUL */

/* An error counter of a DRM driver. */
struct gtel_ras_counter {
    char node[GTEL_RAS_NAME_MAX]; /* "correctable-errors" */
    char name[GTEL_RAS_NAME_MAX]; /* "device-memory" */
    uint32_t value;
};

/* A descriptor of a DRM device. */
struct gtel_drm_fd {
    uint32_t pid;
    uint32_t fd;
    uint32_t major;
    uint32_t minor;
};

/* Gets each; valid during the call. Non-zero stops the listing. */
typedef int (*gtel_drm_fd_fn)(void *arg, const struct gtel_drm_fd *fd);

/*
 * What an env can do. Those marked "optional" may be NULL, with what belongs to the handles that
 * they give: callers ask through the functions below, which answer -EOPNOTSUPP then.
 */
struct gtel_env_ops {
    /* Nanoseconds on a clock that only goes forward and stands still while the host sleeps. */
    uint64_t (*monotonic_ns)(void *arg);
    /* Nanoseconds since 1970, UTC. */
    uint64_t (*wall_ns)(void *arg);
    /* Optional. Nanoseconds for which the host has slept since it booted; NULL: not known. */
    uint64_t (*suspended_ns)(void *arg);

    /* Opens a file for reading. Returns a handle of 0 or more, or a negative errno. */
    int (*file_open)(void *arg, const char *path);
    /*
     * Reads up to n bytes from the beginning of the file, a binary file of sysfs beyond the page
     * that the kernel gives at a time. Returns their number, or a negative errno. A result of n
     * means that there may be more.
     */
    int64_t (*file_read)(void *arg, int handle, void *buf, size_t n);
    void (*file_close)(void *arg, int handle);
    /* Calls fn for each name but "." and "..", in any order. 0, fn's result, or a negative errno.
     */
    int (*dir_list)(void *arg, const char *path, gtel_dir_fn fn, void *fn_arg);
    /*
     * Optional. Keeps a directory for dir_stat, which costs less than stat with its path; no right
     * to list it is needed. Returns a handle of 0 or more, or a negative errno.
     */
    int (*dir_open)(void *arg, const char *path);
    /*
     * What is there under that name in a kept directory, links followed; "" is the directory
     * itself. 0 or a negative errno; -ENOENT also when the directory itself is gone, as proc/PID/fd
     * after the process has ended (its size is the number of descriptors).
     */
    int (*dir_stat)(void *arg, int handle, const char *name, struct gtel_stat *ret);
    void (*dir_close)(void *arg, int handle);
    /* The target of a symbolic link as text. Returns its length (at most n), or a negative errno.
     */
    int64_t (*link_read)(void *arg, const char *path, char *buf, size_t n);
    /* 0 when something is there, links followed, else a negative errno. */
    int (*exists)(void *arg, const char *path);
    /*
     * What is there, links followed: 0 or a negative errno. A file system that does not answer is
     * not waited for; it may answer with what it knew before. The same for dir_stat.
     */
    int (*stat)(void *arg, const char *path, struct gtel_stat *ret);
    /*
     * Calls fn for each name that is a number of first or more and below 2^32, the lowest first:
     * processes in "proc", descriptors in "proc/PID/fd". Beginning in the middle of many of these
     * costs no more than beginning in front. 0, fn's result, or a negative errno.
     */
    int (*dir_list_from)(void *arg, const char *path, uint32_t first, gtel_number_fn fn,
                         void *fn_arg);
    /*
     * Optional, and asked through gtel_process_start alone: the start that proc/PID/stat has, at
     * less than the cost of its text. 0; -ENOENT when the process has ended, or another negative
     * errno.
     */
    int (*process_start)(void *arg, uint32_t pid, uint64_t *ret);

    /*
     * Opens a vendor library: the first of the names (NULL at the end) that loads. Returns 0;
     * -ENOENT when none is there, or none loads and the system gives no reason; -EPERM where the
     * env forbids it. Windows gives a reason for the first that is there: -ENOEXEC when it is no
     * library, or one for another processor; -EACCES; -ENOMEM; else -EIO.
     */
    int (*lib_open)(void *arg, const char *const *names, void **ret);
    /* The address of a symbol, or NULL. */
    void *(*lib_symbol)(void *arg, void *lib, const char *name);
    void (*lib_close)(void *arg, void *lib);

    /*
     * Optional. Opens counters of a perf PMU on one CPU as a group that is read in one call, and
     * starts them. Returns a handle of 0 or more, or a negative errno: -EACCES or -EPERM without
     * the right to it, -EOPNOTSUPP where the env has no counters.
     */
    int (*pmu_open)(void *arg, uint32_t type, const uint64_t *configs, size_t n, uint32_t cpu);
    /*
     * The n values in the order of pmu_open, and for how long the group has counted, in
     * nanoseconds. 0 or a negative errno.
     */
    int (*pmu_read)(void *arg, int handle, uint64_t *values, size_t n, uint64_t *ret_enabled_ns);
    void (*pmu_close)(void *arg, int handle);

    /*
     * Optional. Asks a DRM driver through one of its nodes ("dev/dri/renderD128"), which is open
     * for the time of the call only. item: the number of a query of DRM_IOCTL_I915_QUERY, or of
     * DRM_IOCTL_XE_DEVICE_QUERY. The answer goes to buf, of n bytes, all of which may be written.
     * Where n is the answer's very length, one call is enough for xe, too. Returns the length, or a
     * negative errno: -ENOENT without such a node, -EACCES or -EPERM without the right to it,
     * -EOPNOTSUPP where the env or the driver knows no such query, -E2BIG when buf is too small,
     * -ENODEV when the GPU has gone, -ECANCELED when its driver has given it up (xe: wedged).
     */
    int64_t (*drm_query)(void *arg, const char *node, enum gtel_drm_driver driver, uint32_t item,
                         void *buf, size_t n);

    /*
     * Optional. Begins to sample why the execution units of a GT of an xe GPU stall, each so many
     * clocks (a multiple of 251 up to 1757), through one of its nodes. The GT is kept awake, and
     * nobody else can sample it, until it is closed. Returns a handle of 0 or more, or a negative
     * errno: -EBUSY when somebody else does, -EACCES without the right to it, -ENODEV for a GPU
     * that cannot, -EOPNOTSUPP where the env or the kernel has none.
     */
    int (*stall_open)(void *arg, const char *node, uint32_t gt, uint32_t clocks);
    /*
     * What has been sampled since: whole records (parse/eu_stall.h). Returns their length, 0 when
     * there are none; -ENOBUFS when samples were lost (the next call goes on behind them), -ENODEV
     * after a reset of the GPU, or another negative errno.
     */
    int64_t (*stall_read)(void *arg, int handle, void *buf, size_t n);
    void (*stall_close)(void *arg, int handle);

    /*
     * Optional. Begins to receive the messages of the kernel about devices (uevents). Returns a
     * handle of 0 or more, or a negative errno.
     */
    int (*uevent_open)(void *arg);
    /*
     * The next message that waits (parse/uevent.h). Returns its length, -EAGAIN when none waits,
     * -ENOBUFS when messages were lost here (the next call goes on behind them), -E2BIG for one
     * that was longer than n and is lost, or another negative errno.
     */
    int64_t (*uevent_read)(void *arg, int handle, void *buf, size_t n);
    void (*uevent_close)(void *arg, int handle);

    /*
     * Optional. The error counters that a DRM driver offers for the device of that PCI address
     * (generic netlink family drm-ras), at most max. 0; -ENOENT when kernel or driver have none,
     * -EPERM without CAP_NET_ADMIN, -EOPNOTSUPP where the env has none, or another negative errno.
     */
    int (*ras_read)(void *arg, const char *device, struct gtel_ras_counter *ret, size_t max,
                    size_t *ret_n);

    /*
     * Optional. Calls fn for each descriptor of a DRM device or accelerator (majors 226 and 261) in
     * any process, as the kernel itself lists them: processes and their descriptors in ascending
     * order. It costs some 50 ns for each open file of the machine. 0; fn's result; -EOPNOTSUPP
     * where the env has no such list, or the numbers in proc are not those of the kernel's
     * processes; -EPERM or -EACCES without CAP_BPF and CAP_PERFMON; or another negative errno.
     */
    int (*drm_fds)(void *arg, gtel_drm_fd_fn fn, void *fn_arg);

    /*
     * Optional. Starts a program of this machine: args[0] is its absolute path, NULL is at the end.
     * It gets no input, a clean environment and a process group of its own; its errors lead
     * nowhere. Returns a handle of 0 or more, or a negative errno: -ENOENT without such a program,
     * -EBUSY while former ones do not end although they were killed.
     */
    int (*child_start)(void *arg, const char *const *args);
    /*
     * What it has written since, for which at most wait_ns are waited. Returns the number of bytes;
     * 0 once it has ended and all was read; -EAGAIN when there is nothing yet; or another negative
     * errno.
     */
    int64_t (*child_read)(void *arg, int handle, void *buf, size_t n, uint64_t wait_ns);
    /*
     * Kills it and its group, should they not have ended. Returns its exit status, 256 + the signal
     * that ended it, or -EBUSY when it has not ended within 200 ms. The handle is no more.
     */
    int (*child_end)(void *arg, int handle);

    /*
     * -EMFILE, -ENFILE or -ENOMEM when a file, directory or library could not be opened for that
     * since the last question, else 0. NULL where that cannot be.
     */
    int (*shortage)(void *arg);
};

struct gtel_env {
    const struct gtel_env_ops *ops;
    void *arg;
    struct gtel_log log;
    uint32_t
        page_size; /* of memory, bytes; 0 where this process's own files are not below the root */
    uint32_t uid;  /* whose rights this process has; in a recorded machine root's, 0 */
};

static inline uint64_t gtel_env_now(const struct gtel_env *env)
{
    return env->ops->monotonic_ns(env->arg);
}

/* The optional operations, as struct gtel_env_ops says; -EOPNOTSUPP where the env lacks them. */
int gtel_env_dir_open(const struct gtel_env *env, const char *path);
int gtel_env_pmu_open(const struct gtel_env *env, uint32_t type, const uint64_t *configs, size_t n,
                      uint32_t cpu);
int64_t gtel_env_drm_query(const struct gtel_env *env, const char *node,
                           enum gtel_drm_driver driver, uint32_t item, void *buf, size_t n);
int gtel_env_stall_open(const struct gtel_env *env, const char *node, uint32_t gt, uint32_t clocks);
int gtel_env_uevent_open(const struct gtel_env *env);
int gtel_env_ras_read(const struct gtel_env *env, const char *device, struct gtel_ras_counter *ret,
                      size_t max, size_t *ret_n);
int gtel_env_drm_fds(const struct gtel_env *env, gtel_drm_fd_fn fn, void *fn_arg);
int gtel_env_child_start(const struct gtel_env *env, const char *const *args);
/* 0 where that is not known. */
uint64_t gtel_env_suspended(const struct gtel_env *env);

/*
 * Whether the host has slept since the call before. *suspended_ns holds the state from call to
 * call; 0 at first, when a sleep since the start of the machine counts.
 */
bool gtel_env_has_slept(const struct gtel_env *env, uint64_t *suspended_ns);

/*
 * Formats and writes one message; does nothing without a log. Cut at 500 bytes. Control characters
 * and what is no UTF-8 never come through, whatever the arguments hold.
 */
void gtel_log(const struct gtel_log *log, enum gtel_log_level level, const char *fmt, ...)
    GTEL_PRINTF(3, 4);
/*
 * Failures are logged once when they begin and once when they are over, however often the thing is
 * tried in between. Keeps the result r of a try in *error (0 at first) and logs a change: "<fmt>:
 * <the error>; <fix>" when it has begun to fail, "<fmt>: works again" when it has ended. What is
 * not here is no failure (base/error.h): it is kept without a message, or with its text when
 * something broken became absent. fix says what a user can do or what happens next; empty: nothing
 * more.
 */
void gtel_failure_log(const struct gtel_log *log, int *error, int r, const char *fix,
                      const char *fmt, ...) GTEL_PRINTF(5, 6);

/*
 * The real machine below the directory root ("/" in production). With any other root, vendor
 * libraries are refused (-EPERM), perf counters and DRM queries are not there, and the clocks stay
 * real. The env lives in *ret and is freed with gtel_env_posix_done; the log is left empty for the
 * caller to set. Returns 0 or a negative errno: -ENOSYS where the system cannot keep links below
 * another root.
 */
int gtel_env_posix_init(const char *root, struct gtel_env *ret);
void gtel_env_posix_done(struct gtel_env *env);
/*
 * The real machine under Windows: clocks and libraries. Libraries by a name alone are looked for in
 * the system's folder only, never in the current one, beside the program or along PATH; others by
 * their full path ("C:\\..."). The root is the folder of Windows: what is in it can be looked for
 * (exists) and not read; beside it there are the files of host/files_win32.h. Freed with
 * gtel_env_win32_done; 0 or a negative errno.
 */
int gtel_env_win32_init(struct gtel_env *ret);
void gtel_env_win32_done(struct gtel_env *env);
/* The real clocks, for an env that is partly real: monotonic, and since 1970; nanoseconds. */
uint64_t gtel_env_real_now(void);
uint64_t gtel_env_real_wall(void);
/* Real libraries for the same, as the operations lib_open, lib_symbol and lib_close. */
int gtel_env_real_lib_open(const char *name, void **ret);
void *gtel_env_real_lib_symbol(void *lib, const char *name);
void gtel_env_real_lib_close(void *lib);

#endif
