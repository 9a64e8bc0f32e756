/* SPDX-License-Identifier: MIT */
/* Who a process is. */
#include "host/process.h"

#include "host/fs.h"
#include "parse/proc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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
    return as_gone(gtel_fs_text(env, GTEL_FS_AT("proc/%" PRIu32 "/%s", pid, file), buf, size, ret));
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
static int read_owner(const struct gtel_env *env, uint32_t pid, uint32_t *ret)
{
    struct gtel_stat folder;
    int r = env->ops->stat(env->arg, GTEL_FS_AT("proc/%" PRIu32, pid), &folder);
    if (r == 0)
        *ret = folder.uid;
    return as_gone(r);
}

/* ---- users ---- */

static const uint64_t users_age_ns = 300000000000;  /* after which the file is read again */
static const uint64_t users_retry_ns = 60000000000; /* the same where it did not help */
enum { USERS_MAX = 4 << 20 };                       /* bytes of it */

/* Keeps what is there until there is something better. */
static int read_users(struct gtel_users *users, const struct gtel_env *env)
{
    struct gtel_str text;
    char *buf = malloc(USERS_MAX); /* touched only as far as the file goes */
    int r = buf ? gtel_fs_text(env, "etc/passwd", buf, USERS_MAX, &text) : -ENOMEM;
    if (r < 0) {
        free(buf);
        return r;
    }
    free(users->buf);
    users->buf = buf;
    users->text = text;
    return 0;
}

static bool are_users_due(const struct gtel_users *users, uint64_t now, bool has_helped)
{
    uint64_t wait = has_helped && users->error == 0 ? users_age_ns : users_retry_ns;
    return users->read_ns == 0 || now - users->read_ns >= wait;
}

static bool find_user(struct gtel_users *users, const struct gtel_env *env, uint32_t user,
                      struct gtel_str *ret)
{
    uint64_t now = gtel_env_now(env);
    bool is_found = gtel_passwd_find(users->text, user, ret) == 0;
    if (!are_users_due(users, now, is_found))
        return is_found;
    users->error = read_users(users, env);
    users->read_ns = now;
    return gtel_passwd_find(users->text, user, ret) == 0;
}

void gtel_users_name(struct gtel_users *users, const struct gtel_env *env, uint32_t user, char *buf)
{
    struct gtel_str name;
    if (find_user(users, env, user, &name))
        gtel_str_clean(buf, GTEL_USER_NAME_MAX, name);
    else
        (void)snprintf(buf, GTEL_USER_NAME_MAX, "%" PRIu32, user);
}

/* ---- places ---- */

/* Device numbers of the first pid namespace are fixed (kernel: include/linux/proc_ns.h). */
enum gtel_namespace gtel_process_namespace(const struct gtel_env *env)
{
    char buf[64];
    int64_t n = env->ops->link_read(env->arg, "proc/self/ns/pid", buf, sizeof(buf));
    if (n <= 0)
        return GTEL_NAMESPACE_UNKNOWN;
    bool is_first = gtel_str_eq((struct gtel_str){buf, (size_t)n}, GTEL_STR("pid:[4026531836]"));
    return is_first ? GTEL_NAMESPACE_HOST : GTEL_NAMESPACE_OTHER;
}

int gtel_process_start(const struct gtel_env *env, uint32_t pid, uint64_t *ret)
{
    return env->ops->process_start ? as_gone(env->ops->process_start(env->arg, pid, ret))
                                   : read_stat(env, pid, NULL, ret);
}

/* Slurm's daemon starts processes in its own unit where it tracks them without cgroups. */
static void find_job(const struct gtel_env *env, struct gtel_process_book *book,
                     struct gtel_process_id process, const struct gtel_cgroup *cgroup, char *job)
{
    uint32_t owner = 0;
    struct gtel_slurm_process wanted = {
        .step = cgroup->job_step, .pid = process.pid, .start = process.start};
    if (cgroup->job_manager_plus_1 > 0 &&
        (read_owner(env, process.pid, &owner) < 0 || owner == cgroup->job_manager_plus_1 - 1))
        return;
    memcpy(job, cgroup->job, GTEL_CGROUP_JOB_MAX);
    if (cgroup->is_sluid)
        wanted.sluid = gtel_str_of(cgroup->job);
    else if (cgroup->job[0] || strcmp(cgroup->unit, "slurmd.service") != 0)
        return;
    const char *number = gtel_slurm_number(&book->jobs, env, &wanted);
    if (number[0])
        (void)gtel_str_copy(job, GTEL_CGROUP_JOB_MAX, gtel_str_of(number));
}

/* A container within one of the pod keeps its own id. */
static void find_pod(const struct gtel_env *env, struct gtel_process_book *book, uint32_t pid,
                     const struct gtel_cgroup *cgroup, uint32_t wanted,
                     struct gtel_process_who *who)
{
    if (!cgroup->is_kubernetes)
        return;
    const struct gtel_pod *pod =
        gtel_pods_find(&book->pods, env, gtel_str_of(cgroup->pod), cgroup->pod_container, pid);
    if (!pod)
        return;
    if (wanted & GTEL_WHO_POD_NAME)
        memcpy(who->pod_name, pod->pod, sizeof(who->pod_name));
    if (wanted & GTEL_WHO_NAMESPACE)
        memcpy(who->namespace_, pod->namespace_, sizeof(who->namespace_));
    if ((wanted & GTEL_WHO_CONTAINER) && cgroup->is_pods_own && pod->container[0])
        memcpy(who->container, pod->container, sizeof(pod->container));
}

static int read_cgroup(const struct gtel_env *env, struct gtel_process_book *book,
                       struct gtel_process_id process, uint32_t wanted,
                       struct gtel_process_who *who)
{
    char buf[CGROUP_TEXT_MAX];
    struct gtel_str text;
    struct gtel_cgroup cgroup;
    int r = read_file(env, process.pid, "cgroup", buf, sizeof(buf), &text);
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
    if (wanted & (GTEL_WHO_POD_NAME | GTEL_WHO_NAMESPACE | GTEL_WHO_CONTAINER))
        find_pod(env, book, process.pid, &cgroup, wanted, who);
    if (wanted & GTEL_WHO_JOB)
        find_job(env, book, process, &cgroup, who->job);
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

void gtel_process_book_done(struct gtel_process_book *book)
{
    free(book->users.buf);
    gtel_pods_done(&book->pods);
    *book = (struct gtel_process_book){0};
}

int gtel_process_who(const struct gtel_env *env, struct gtel_process_book *book,
                     struct gtel_process_id process, uint32_t wanted, struct gtel_process_who *ret)
{
    const uint32_t places = ~(uint32_t)(GTEL_WHO_NAME | GTEL_WHO_USER);
    struct gtel_process_who who = {0};
    uint64_t start = 0;
    uint32_t owner = 0;
    int failed = 0;
    if (wanted & GTEL_WHO_USER) {
        int r = read_owner(env, process.pid, &owner);
        failed = as_failure(r);
        if (r == 0)
            gtel_users_name(&book->users, env, owner, who.user);
    }
    if (wanted & places) {
        int r = as_failure(read_cgroup(env, book, process, wanted, &who));
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
