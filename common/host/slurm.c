/* SPDX-License-Identifier: MIT */
/* The numbers of Slurm's jobs. */
#include "host/slurm.h"

#include "host/fs.h"
#include "parse/job.h"
#include "parse/proc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    PARENTS_MAX = 64, /* from a process up to its step's daemon */
    DAEMONS_MAX = 16  /* processes in the cgroup of one */
};

/*
 * By the real user and group, which stay root's while the daemon works for the user (slurm:
 * drop_privileges). Of a program that a user has started with root's rights, by any title, the
 * group is the user's: also of sudo, where only the user becomes root (sudo: set_perms.c).
 */
static bool is_roots(const struct gtel_env *env, uint32_t pid)
{
    char buf[16384]; /* with hundreds of groups (proc(5)) */
    struct gtel_str text;
    struct gtel_str user;
    struct gtel_str group;
    return gtel_fs_text(env, GTEL_FS_AT("proc/%" PRIu32 "/status", pid), buf, sizeof(buf), &text) ==
               0 &&
           gtel_str_value(text, GTEL_STR("Uid"), ':', &user) &&
           gtel_str_value(text, GTEL_STR("Gid"), ':', &group) &&
           gtel_str_starts(user, GTEL_STR("0\t")) && gtel_str_starts(group, GTEL_STR("0\t"));
}

/* Whether the process is a step's daemon; its number then. */
static bool read_title(const struct gtel_env *env, uint32_t pid, struct gtel_slurm_job *job)
{
    char buf[GTEL_FS_TEXT_MAX];
    struct gtel_str text;
    struct gtel_str number;
    if (!is_roots(env, pid) ||
        gtel_fs_text(env, GTEL_FS_AT("proc/%" PRIu32 "/cmdline", pid), buf, sizeof(buf), &text) <
            0 ||
        !gtel_job_title(text, &number) || !is_roots(env, pid)) /* still the same, not a next one */
        return false;
    (void)gtel_str_copy(job->number, sizeof(job->number), number);
    return true;
}

/* mount: of cgroup v2, alone or beside version 1 (man 5 systemd.mount-api; systemd's layouts). */
static bool search_step(const struct gtel_env *env, const char *mount, struct gtel_str step,
                        struct gtel_slurm_job *job)
{
    char buf[GTEL_FS_TEXT_MAX];
    struct gtel_str text;
    struct gtel_str line;
    if (gtel_fs_text(env, GTEL_FS_AT("%s%.*s/slurm/cgroup.procs", mount, GTEL_STR_ARG(step)), buf,
                     sizeof(buf), &text) < 0)
        return false;
    for (int i = 0; i < DAEMONS_MAX && gtel_str_line(&text, &line); i++) {
        uint64_t pid;
        if (gtel_str_u64(line, &pid) == 0 && pid > 0 && pid <= UINT32_MAX &&
            read_title(env, (uint32_t)pid, job))
            return true;
    }
    return false;
}

static void search_parents(const struct gtel_env *env, uint32_t pid, struct gtel_slurm_job *job)
{
    char buf[GTEL_FS_TEXT_MAX];
    for (int i = 0; i < PARENTS_MAX; i++) {
        struct gtel_str text;
        struct gtel_pid_stat stat;
        if (gtel_fs_text(env, GTEL_FS_AT("proc/%" PRIu32 "/stat", pid), buf, sizeof(buf), &text) <
                0 ||
            gtel_pid_stat(text, &stat) < 0)
            return;
        pid = stat.parent;
        if (pid <= 1 || read_title(env, pid, job))
            return;
    }
}

/* The entry of that key, or the one that was not used for longest. */
static struct gtel_slurm_job *entry_of(struct gtel_slurm_jobs *jobs, const char *key)
{
    struct gtel_slurm_job *oldest = &jobs->job[0];
    for (size_t i = 0; i < GTEL_SLURM_JOBS_MAX; i++) {
        struct gtel_slurm_job *job = &jobs->job[i];
        if (strcmp(job->key, key) == 0)
            return job;
        if (job->used < oldest->used)
            oldest = job;
    }
    *oldest = (struct gtel_slurm_job){.key = ""};
    return oldest;
}

const char *gtel_slurm_number(struct gtel_slurm_jobs *jobs, const struct gtel_env *env,
                              const struct gtel_slurm_process *process)
{
    char key[GTEL_SLURM_ID_MAX];
    if (process->sluid.n > 0)
        (void)gtel_str_copy(key, sizeof(key), process->sluid);
    else
        (void)snprintf(key, sizeof(key), "%" PRIu32 " %" PRIu64, process->pid, process->start);
    struct gtel_slurm_job *job = entry_of(jobs, key);
    bool is_known = job->key[0] != '\0';
    job->used = ++jobs->uses;
    if (is_known)
        return job->number;
    memcpy(job->key, key, sizeof(key));
    if (process->step.n == 0 || (!search_step(env, "sys/fs/cgroup", process->step, job) &&
                                 !search_step(env, "sys/fs/cgroup/unified", process->step, job)))
        search_parents(env, process->pid, job);
    return job->number;
}

size_t gtel_slurm_unknown(const struct gtel_slurm_jobs *jobs)
{
    size_t n = 0;
    for (size_t i = 0; i < GTEL_SLURM_JOBS_MAX; i++)
        n += jobs->job[i].key[0] == 's' && jobs->job[i].number[0] == '\0';
    return n;
}
