/* SPDX-License-Identifier: MIT */
/* Who a process is. */
#include "host/process.h"

#include "host/fs.h"
#include "parse/pid.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* A line for each hierarchy: a dozen in version 1, with the same long path. */
enum { CGROUP_TEXT_MAX = 16384 };

/*
 * A file of a process that has gone is not there or, when it was open already, has no process any
 * more (kernel: fs/proc/base.c).
 */
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
    struct gtel_pid_stat stat;
    int r = read_file(env, pid, "stat", buf, sizeof(buf), &text);
    if (r == 0)
        r = gtel_pid_stat(text, &stat);
    if (r < 0)
        return r;
    *ret_start = stat.start;
    if (name)
        gtel_str_clean(name, GTEL_PROCESS_NAME_MAX, stat.name);
    return 0;
}

/*
 * The effective user is the owner of the folder, also of a process that may not be looked into, to
 * which the files in it do not belong (kernel: fs/proc/base.c, task_dump_owner).
 */
static int read_user(const struct gtel_env *env, struct gtel_users *users, uint32_t pid, char *buf)
{
    char path[GTEL_FS_PATH_MAX];
    struct gtel_stat folder;
    int r = env->ops->stat(env->arg, gtel_fs_path(path, "proc/%" PRIu32, pid), &folder);
    if (r < 0)
        return as_gone(r);
    gtel_users_name(users, env, folder.uid, buf);
    return 0;
}

int gtel_process_start(const struct gtel_env *env, uint32_t pid, uint64_t *ret)
{
    return read_stat(env, pid, NULL, ret);
}

static int read_cgroup(const struct gtel_env *env, uint32_t pid, uint32_t wanted,
                       struct gtel_process_who *who)
{
    char buf[CGROUP_TEXT_MAX];
    struct gtel_str text;
    struct gtel_cgroup cgroup;
    int r = read_file(env, pid, "cgroup", buf, sizeof(buf), &text);
    if (r == 0)
        r = gtel_cgroup_parse(text, &cgroup);
    if (r < 0)
        return r;
    if (wanted & GTEL_WHO_UNIT)
        memcpy(who->unit, cgroup.unit, sizeof(who->unit));
    if (wanted & GTEL_WHO_CONTAINER)
        memcpy(who->container, cgroup.container, sizeof(who->container));
    if (wanted & GTEL_WHO_POD)
        memcpy(who->pod, cgroup.pod, sizeof(who->pod));
    return 0;
}

/*
 * What may not be read, or is not there, is no failure: a kernel may be without cgroups. Its stat
 * shows whether the process is there.
 */
static int as_failure(int r)
{
    return r == -EACCES || r == -EPERM || r == -ENODATA || r == -ESRCH ? 0 : r;
}

int gtel_process_who(const struct gtel_env *env, struct gtel_users *users,
                     struct gtel_process_id process, uint32_t wanted, struct gtel_process_who *ret)
{
    const uint32_t places = GTEL_WHO_UNIT | GTEL_WHO_CONTAINER | GTEL_WHO_POD;
    struct gtel_process_who who = {0};
    uint64_t start = 0;
    int failed = 0;
    if (wanted & GTEL_WHO_USER)
        failed = as_failure(read_user(env, users, process.pid, who.user));
    if (wanted & places) {
        int r = as_failure(read_cgroup(env, process.pid, wanted, &who));
        failed = failed < 0 ? failed : r;
    }
    /* Last, so that the start vouches for what was read before. */
    int r = read_stat(env, process.pid, wanted & GTEL_WHO_NAME ? who.name : NULL, &start);
    if (r == -ESRCH || (r == 0 && process.start != 0 && start != process.start))
        return -ESRCH;
    if (r < 0 && process.start != 0)
        who = (struct gtel_process_who){0}; /* whoever it is */
    r = as_failure(r);
    *ret = who;
    return failed < 0 ? failed : r;
}
