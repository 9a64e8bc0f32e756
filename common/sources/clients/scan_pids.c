/* SPDX-License-Identifier: MIT */
/* Which processes there are: the whole list now and then, and what is new in between. */
#include "sources/clients/scan_inside.h"

#include <errno.h>
#include <stdlib.h>

/*
 * The number that the kernel gave last, to a process or a thread. Numbers are given in ascending
 * order, until they begin anew (kernel: kernel/pid.c, alloc_pid; kernel/pid_namespace.c,
 * pid_ns_ctl_handler; proc_sys_kernel(5), since Linux 3.3). It is that of our own process
 * namespace, so it is of use only where proc shows that one. proc/loadavg says the same, but is a
 * made-up file in many containers.
 */
static const char last_pid_path[] = "proc/sys/kernel/ns_last_pid";

/* ---- the whole list ---- */

static int keep_pid(void *arg, uint32_t pid)
{
    struct gtel_scan *scan = arg;
    if (pid == scan->own_pid || pid == 0)
        return 0;
    if (scan->pids == scan->pids_size) {
        size_t size = scan->pids_size ? scan->pids_size * 2 : 512;
        uint32_t *p =
            size <= GTEL_SCAN_PROCESSES_MAX ? realloc(scan->pid, size * sizeof(*p)) : NULL;
        if (!p)
            return -ENOMEM;
        scan->pid = p;
        scan->pids_size = size;
    }
    scan->pid[scan->pids++] = pid;
    return 0;
}

/* Processes of that number or above; those that are kept already stay. */
static int list_from(struct gtel_scan *scan, uint32_t first)
{
    const struct gtel_env *env = scan->env;
    size_t kept = scan->pids;
    int r = env->ops->dir_list_from(env->arg, "proc", first, keep_pid, scan);
    if (r != -EMFILE && r != -ENFILE)
        return r;
    gtel_scan_make_room(scan);
    scan->pids = kept;
    return env->ops->dir_list_from(env->arg, "proc", first, keep_pid, scan);
}

/* ---- what is new ---- */

static void close_last_pid(struct gtel_scan *scan)
{
    if (scan->last_pid_file_plus_1 != 0)
        scan->env->ops->file_close(scan->env->arg, scan->last_pid_file_plus_1 - 1);
    scan->last_pid_file_plus_1 = 0;
}

/* Tried once; the whole list does as well. */
static void open_last_pid(struct gtel_scan *scan)
{
    const struct gtel_env *env = scan->env;
    uint64_t cpu_ns;
    if (scan->has_tried_last_pid)
        return;
    scan->has_tried_last_pid = true;
    if (gtel_env_process_cpu(env, scan->own_pid, &cpu_ns) < 0)
        return; /* those in proc have other numbers */
    int file = env->ops->file_open(env->arg, last_pid_path);
    scan->last_pid_file_plus_1 = file >= 0 ? file + 1 : 0;
}

/* 0: not known. */
static uint32_t read_last_pid(struct gtel_scan *scan)
{
    char buf[32];
    uint64_t pid;
    if (scan->last_pid_file_plus_1 == 0)
        return 0;
    int64_t n =
        scan->env->ops->file_read(scan->env->arg, scan->last_pid_file_plus_1 - 1, buf, sizeof(buf));
    if (n <= 0 || (size_t)n >= sizeof(buf) ||
        gtel_str_u64(gtel_str_trim((struct gtel_str){buf, (size_t)n}), &pid) < 0 ||
        pid >= UINT32_MAX) {
        close_last_pid(scan);
        return 0;
    }
    return (uint32_t)pid;
}

/* Those up to that number which have not been found to have ended. */
static int keep_known(struct gtel_scan *scan, uint32_t last)
{
    int r = 0;
    for (size_t i = 0; i < scan->processes && scan->process[i].pid <= last && r == 0; i++)
        if (!scan->process[i].is_gone)
            r = keep_pid(scan, scan->process[i].pid);
    return r;
}

/*
 * A process has its number some time before it is in the list (kernel: kernel/fork.c, copy_process,
 * which may wait in between, as for a control group). So what is new is listed from the last number
 * of the gather before on, and once more in the next gather.
 */
int gtel_scan_pids(struct gtel_scan *scan)
{
    uint32_t before = scan->last_pid;
    uint32_t from = scan->listed_pid;
    open_last_pid(scan);
    uint32_t now = read_last_pid(scan);
    bool is_whole = from == 0 || before < from || now < before || /* they begin anew */
                    gtel_scan_is_due(scan, scan->whole_ns);
    scan->pids = 0;
    scan->last_pid = 0;
    scan->listed_pid = 0;
    int r = is_whole ? 0 : keep_known(scan, now == from ? UINT32_MAX : from);
    if (r == 0 && (is_whole || now != from))
        r = list_from(scan, is_whole ? 1 : from + 1);
    if (r < 0)
        return r;
    if (is_whole)
        scan->whole_ns = scan->now_ns + scan->settings.quiet_ns;
    scan->last_pid = now;
    scan->listed_pid = before;
    return 0;
}

void gtel_scan_pids_done(struct gtel_scan *scan)
{
    close_last_pid(scan);
    scan->has_tried_last_pid = false;
    scan->last_pid = 0;
    scan->listed_pid = 0;
    scan->whole_ns = 0;
}
