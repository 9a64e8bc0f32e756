/* SPDX-License-Identifier: MIT */
/* Who a process is. */
#include "host/process.h"

#include "host/fs.h"
#include "parse/pid.h"

#include <errno.h>
#include <inttypes.h>

/* A file of a process that has gone is not there, or, when it was open already, has no process any
 * more (kernel: fs/proc/base.c). */
static int as_gone(int r)
{
    return r == -ENOENT ? -ESRCH : r;
}

/* A file of the process. 0, -ESRCH when the process has gone, or another negative errno. */
static int read_file(const struct gtel_env *env, uint32_t pid, const char *file, char *buf,
                     size_t size, struct gtel_str *ret)
{
    char path[GTEL_FS_PATH_MAX];
    return as_gone(
        gtel_fs_text(env, gtel_fs_path(path, "proc/%" PRIu32 "/%s", pid, file), buf, size, ret));
}

/* name may be NULL; else of GTEL_PROCESS_NAME_MAX bytes. */
static int read_stat(const struct gtel_env *env, uint32_t pid, char *name, uint64_t *ret_start)
{
    char buf[GTEL_FS_TEXT_MAX];
    struct gtel_str text;
    struct gtel_str comm;
    int r = read_file(env, pid, "stat", buf, sizeof(buf), &text);
    if (r == 0)
        r = gtel_pid_stat(text, &comm, ret_start);
    if (r == 0 && name)
        gtel_str_clean(name, GTEL_PROCESS_NAME_MAX, comm);
    return r;
}

static int read_user(const struct gtel_env *env, struct gtel_users *users, uint32_t pid, char *buf)
{
    char status[GTEL_FS_TEXT_MAX];
    struct gtel_str text;
    uint32_t user;
    int r = read_file(env, pid, "status", status, sizeof(status), &text);
    if (r == 0)
        r = gtel_pid_user(text, &user);
    if (r == 0)
        gtel_users_name(users, env, user, buf);
    return r;
}

int gtel_process_start(const struct gtel_env *env, uint32_t pid, uint64_t *ret)
{
    return read_stat(env, pid, NULL, ret);
}

int gtel_process_who(const struct gtel_env *env, struct gtel_users *users,
                     struct gtel_process_id process, uint32_t wanted, struct gtel_process_who *ret)
{
    struct gtel_process_who who = {0};
    uint64_t start = 0;
    int failed = 0;
    if (wanted & GTEL_WHO_USER)
        failed = read_user(env, users, process.pid, who.user);
    if (failed == -ESRCH)
        return -ESRCH;
    /* Last, so that the start vouches for what was read before. */
    int r = read_stat(env, process.pid, wanted & GTEL_WHO_NAME ? who.name : NULL, &start);
    if (r == -ESRCH || (r == 0 && process.start != 0 && start != process.start))
        return -ESRCH;
    *ret = who;
    return failed < 0 ? failed : r;
}
