/* SPDX-License-Identifier: MIT */
/* Finds the descriptors of DRM devices that processes hold: what a gather does, in order. */
#include "sources/clients/scan_state.h"

#include "host/fs.h"
#include "host/process.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESSES_MAX = 1 << 17 };

static const uint64_t default_rotation_ns = 60000000000;
static const uint64_t default_walk_ns = 30000000;
/* Without numbers of descriptors: how long a new process is expected to open more. */
static const uint64_t young_ns = 10000000000;

/* ---- the list of processes ---- */

static int keep_pid(void *arg, uint32_t pid)
{
    struct gtel_scan *scan = arg;
    if (pid == scan->own_pid || pid == 0)
        return 0;
    if (scan->pids == scan->pids_size) {
        size_t size = scan->pids_size ? scan->pids_size * 2 : 512;
        uint32_t *p = size <= PROCESSES_MAX ? realloc(scan->pid, size * sizeof(*p)) : NULL;
        if (!p)
            return -ENOMEM;
        scan->pid = p;
        scan->pids_size = size;
    }
    scan->pid[scan->pids++] = pid;
    return 0;
}

static int list_pids(struct gtel_scan *scan)
{
    const struct gtel_env *env = scan->env;
    scan->pids = 0;
    int r = env->ops->dir_list_from(env->arg, "proc", 1, keep_pid, scan);
    if (r != -EMFILE && r != -ENFILE)
        return r;
    gtel_scan_make_room(scan);
    scan->pids = 0;
    return env->ops->dir_list_from(env->arg, "proc", 1, keep_pid, scan);
}

static bool is_as_listed(const struct gtel_scan *scan)
{
    if (scan->pids != scan->processes)
        return false;
    for (size_t i = 0; i < scan->pids; i++)
        if (scan->process[i].pid != scan->pid[i])
            return false;
    return true;
}

static int make_room_for(struct gtel_scan *scan, size_t n)
{
    if (n <= scan->processes_size)
        return 0;
    size_t size = scan->processes_size ? scan->processes_size : 256;
    while (size < n)
        size *= 2;
    struct gtel_scan_process *p = realloc(scan->process, size * sizeof(*p));
    if (!p)
        return -ENOMEM;
    scan->process = p;
    p = realloc(scan->spare, size * sizeof(*p));
    if (!p)
        return -ENOMEM;
    scan->spare = p;
    scan->processes_size = size;
    return 0;
}

static void reset_process(struct gtel_scan *scan, struct gtel_scan_process *process, uint32_t pid)
{
    *process =
        (struct gtel_scan_process){.pid = pid,
                                   .owner = {.number = ++scan->last_number, .birth = {.pid = pid}},
                                   .begin_ns = scan->gather > 1 ? scan->now_ns : 0,
                                   .is_due = true};
}

/* The processes become those that are listed. Both are in ascending order. */
static int update_processes(struct gtel_scan *scan)
{
    if (is_as_listed(scan))
        return 0;
    int r = make_room_for(scan, scan->pids);
    if (r < 0)
        return r;
    size_t old = 0;
    for (size_t i = 0; i < scan->pids; i++) {
        while (old < scan->processes && scan->process[old].pid < scan->pid[i])
            gtel_scan_forget(scan, &scan->process[old++]);
        if (old < scan->processes && scan->process[old].pid == scan->pid[i])
            scan->spare[i] = scan->process[old++];
        else
            reset_process(scan, &scan->spare[i], scan->pid[i]);
    }
    while (old < scan->processes)
        gtel_scan_forget(scan, &scan->process[old++]);
    struct gtel_scan_process *p = scan->process;
    scan->process = scan->spare;
    scan->spare = p;
    scan->processes = scan->pids;
    return 0;
}

/* ---- the number of descriptors ---- */

/* By its kept directory, which cannot become another process's, or by its path. */
static int stat_process(struct gtel_scan *scan, struct gtel_scan_process *process,
                        struct gtel_stat *ret)
{
    const struct gtel_env *env = scan->env;
    char path[GTEL_FS_PATH_MAX];
    if (process->dir_plus_1 != 0) {
        int r = env->ops->dir_stat(env->arg, process->dir_plus_1 - 1, "", ret);
        if (!gtel_scan_is_ended(r))
            return r;
        gtel_scan_forget(scan, process);
        process->is_ended = true; /* another process may have its number already */
    }
    (void)gtel_fs_path(path, "proc/%" PRIu32 "/fd", process->pid);
    return env->ops->stat(env->arg, path, ret);
}

/*
 * Whether the folder is another process's now. A new inode alone does not show it: the kernel drops
 * inodes of proc when memory is short, and numbers new ones (fs/proc/base.c, proc_pid_make_inode).
 */
static bool is_another(const struct gtel_scan *scan, const struct gtel_scan_process *process,
                       uint64_t ino)
{
    uint64_t start = 0;
    if (process->is_ended || process->ino == 0 || process->ino == ino)
        return process->is_ended;
    return process->owner.birth.start == 0 ||
           gtel_process_start(scan->env, process->pid, &start) < 0 ||
           start != process->owner.birth.start;
}

/* Checks whether a process is still the same and has the same number of descriptors. */
static void check_process(struct gtel_scan *scan, struct gtel_scan_process *process)
{
    struct gtel_stat st;
    int r = stat_process(scan, process, &st);
    if (gtel_scan_is_ended(r)) {
        gtel_scan_forget(scan, process);
        process->is_ended = true;
    }
    if (r < 0) /* not there, not to be seen (hidepid), or not now */
        return;
    if (is_another(scan, process, st.ino)) {
        gtel_scan_forget(scan, process);
        reset_process(scan, process, process->pid);
    }
    scan->counts.has_numbers = scan->counts.has_numbers || st.size > 0;
    bool is_young = process->begin_ns != 0 && scan->now_ns - process->begin_ns <= young_ns;
    bool may_differ = scan->counts.has_numbers ? process->size != st.size : is_young;
    process->is_due = process->is_due || (process->ino != 0 && may_differ);
    process->ino = st.ino;
    process->size = st.size;
}

/* ---- a gather ---- */

static void count(struct gtel_scan *scan)
{
    struct gtel_scan_counts *counts = &scan->counts;
    counts->visible = counts->unknown = counts->readable = counts->waiting = 0;
    counts->has_init = scan->own_pid == 1 || (scan->processes > 0 && scan->process[0].pid == 1);
    counts->is_first = !scan->is_through;
    counts->is_by_text = false;
    for (size_t i = 0; i < scan->processes; i++) {
        const struct gtel_scan_process *process = &scan->process[i];
        bool is_readable = process->is_walked && !process->is_unreadable && process->ino != 0;
        if (process->is_ended || process->is_ours)
            continue;
        counts->visible++;
        counts->unknown += process->is_walked ? 0 : 1;
        counts->readable += is_readable ? 1 : 0;
        counts->waiting += process->is_due || process->next_fd != 0 ? 1 : 0;
        counts->is_by_text = counts->is_by_text || (is_readable && process->is_by_text);
    }
}

int gtel_scan_gather(struct gtel_scan *scan, const struct gtel_scan_hooks *hooks)
{
    scan->hooks = hooks;
    scan->now_ns = gtel_env_now(scan->env);
    scan->gather++;
    scan->fresh = scan->again = 0;
    scan->counts.dropped = scan->counts.asleep = scan->counts.unread = 0;
    if (scan->own_pid == 0)
        gtel_scan_find_own(scan);
    int r = list_pids(scan);
    if (r < 0)
        return r;
    r = update_processes(scan);
    for (size_t i = 0; i < scan->processes; i++)
        check_process(scan, &scan->process[i]);
    gtel_scan_read(scan); /* known clients */
    gtel_scan_walk(scan);
    gtel_scan_read(scan); /* what was found */
    gtel_scan_close_clients(scan);
    count(scan);
    scan->hooks = NULL;
    return r;
}

const struct gtel_scan_counts *gtel_scan_counts(const struct gtel_scan *scan)
{
    return &scan->counts;
}

/* ---- making ---- */

int gtel_scan_new(const struct gtel_env *env, const struct gtel_scan_settings *settings,
                  struct gtel_scan **ret)
{
    struct gtel_scan *scan = calloc(1, sizeof(*scan));
    if (!scan)
        return -ENOMEM;
    scan->env = env;
    if (settings)
        scan->settings = *settings;
    if (scan->settings.rotation_ns == 0)
        scan->settings.rotation_ns = default_rotation_ns;
    if (scan->settings.walk_ns == 0)
        scan->settings.walk_ns = default_walk_ns;
    scan->kept_max = SIZE_MAX;
    gtel_scan_find_own(scan);
    *ret = scan;
    return 0;
}

void gtel_scan_read_again(struct gtel_scan *scan)
{
    for (size_t i = 0; i < scan->slots; i++)
        if (scan->slot[i].major != 0 && scan->slot[i].client == 0)
            scan->slot[i].is_due = true;
}

void gtel_scan_reset(struct gtel_scan *scan)
{
    for (size_t i = 0; i < scan->processes; i++)
        gtel_scan_forget(scan, &scan->process[i]);
    scan->processes = 0;
    scan->slots = 0;
    scan->free_slot = 0;
    if (scan->clients > 0)
        memset(scan->client, 0, scan->clients * sizeof(*scan->client));
    scan->kept_max = SIZE_MAX;
    scan->gather = 0;
    scan->walk_pid = 0;
    scan->is_through = false;
    scan->walked = 0;
    scan->round_ns = 0;
    scan->period_ns = 0;
    scan->list_due_ns = 0;
    scan->counts = (struct gtel_scan_counts){0};
}

void gtel_scan_free(struct gtel_scan *scan)
{
    if (!scan)
        return;
    gtel_scan_reset(scan);
    free(scan->process);
    free(scan->spare);
    free(scan->pid);
    free(scan->slot);
    free(scan->client);
    free(scan);
}
