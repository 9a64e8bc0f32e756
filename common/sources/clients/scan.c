/* SPDX-License-Identifier: MIT */
/*
 * What a gather does, in order: which processes there are, which descriptors of DRM devices they
 * have, and when that is checked again. What is found goes to scan_slots.c, which reads it.
 */
#include "sources/clients/scan_state.h"

#include "base/error.h"
#include "base/grow.h"
#include "host/fs.h"
#include "host/process.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROCESSES_MAX = 1 << 17,
    DRM_MAJOR = 226,   /* kernel: Documentation/admin-guide/devices.txt */
    ACCEL_MAJOR = 261, /* the same */
    CLOCK_EVERY = 8,   /* checked devices between two readings of the clock */
    FOUND_MAX = 128,   /* descriptors between two updates of the slots */
    FRESH_MAX = 1024,  /* new ones in a gather: all of them are read in it */
    RATE_LEAST = 8,    /* descriptors that rotation walks in a second, also on small machines */
    RATE_MOST = 800,   /* the same, of very many: some 3 ms of work */
    LIST_PARTS = 500   /* of its cost; the kernel's list comes that rarely: 50 ns per open file */
};

static const uint64_t second_ns = 1000000000;
static const uint64_t all = (uint64_t)UINT32_MAX + 1;
static const uint64_t retry_ns = 60000000000; /* after a failure of the list that may pass */
static const uint64_t default_rotation_ns = 60000000000;
static const uint64_t walk_ns = 30000000; /* how long a gather may walk */
/* Without numbers of descriptors: how long a new process is expected to open more. */
static const uint64_t young_ns = 10000000000;

/* ---- the list of processes ---- */

static int keep_pid(void *arg, uint32_t pid)
{
    struct gtel_scan *scan = arg;
    if (pid == scan->own_pid)
        return 0;
    if (scan->pids == PROCESSES_MAX) {
        scan->counts.dropped++;
        return 1;
    }
    if (!gtel_grow(&scan->pid, &scan->pids_size, scan->pids + 1, PROCESSES_MAX, sizeof(*scan->pid)))
        return -ENOMEM;
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

static bool make_room_for(struct gtel_scan *scan, size_t n)
{
    size_t size = scan->processes_size;
    return gtel_grow(&scan->spare, &size, n, SIZE_MAX, sizeof(*scan->spare)) &&
           gtel_grow(&scan->process, &scan->processes_size, n, SIZE_MAX, sizeof(*scan->process));
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
    if (!make_room_for(scan, scan->pids))
        return -ENOMEM;
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
        gtel_scan_forget(scan, process); /* another process may have its number already */
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
    if (gtel_scan_is_ended(r))
        gtel_scan_forget(scan, process);
    if (r < 0) /* not there, not to be seen (hidepid), or not now */
        return;
    if (is_another(scan, process, st.ino)) {
        gtel_scan_forget(scan, process);
        reset_process(scan, process, process->pid);
    }
    scan->counts.has_numbers = scan->counts.has_numbers || st.size > 0;
    bool is_young = process->begin_ns != 0 && scan->now_ns - process->begin_ns <= young_ns;
    bool may_differ = scan->counts.has_numbers ? process->size != st.size : is_young;
    bool is_slow = process->longs == GTEL_SCAN_LONGS_MAX; /* there may be more than are known */
    process->is_due = process->is_due || (process->ino != 0 && may_differ && !is_slow);
    process->ino = st.ino;
    process->size = st.size;
    scan->counts.dropped += process->slots == GTEL_SCAN_PROCESS_SLOTS_MAX; /* it may have more */
}

struct walk {
    struct gtel_scan *scan;
    struct gtel_scan_process *process;
    uint32_t from; /* the first descriptor that is not in the slots yet */
    uint32_t steps;
    size_t n;
    struct gtel_scan_found found[FOUND_MAX];
};

static bool is_over(const struct gtel_scan *scan)
{
    return scan->fresh >= FRESH_MAX || gtel_env_now(scan->env) >= scan->deadline_ns;
}

/*
 * What a file of a network or of a file system in user space answers when its server does not,
 * which the nodes of GPUs (devtmpfs) never do: such a descriptor is none, however often it is
 * asked.
 */
static bool is_elsewhere(int r)
{
    return r == -ENOTCONN || r == -ESTALE || r == -ETIMEDOUT || r == -EHOSTDOWN;
}

/* ---- whose process it is ---- */

/*
 * They open GPUs and pass the descriptors on, and hold one, too: the work is done by others
 * (systemd: org.freedesktop.login1(5), TakeDevice; logind's are kept by process 1 when it
 * restarts).
 */
static bool is_of_broker(struct gtel_str name)
{
    static const struct gtel_str names[] = {
        GTEL_STR_INIT("systemd-logind"), GTEL_STR_INIT("systemd"), GTEL_STR_INIT("elogind"),
        GTEL_STR_INIT("elogind-daemon"), GTEL_STR_INIT("seatd")};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(names); i++)
        if (gtel_str_eq(name, names[i]))
            return true;
    return false;
}

static void find_own(struct gtel_scan *scan)
{
    char buf[1024];
    struct gtel_str text;
    struct gtel_str word;
    struct gtel_pid_stat stat;
    uint64_t pid;
    if (gtel_fs_text(scan->env, "proc/self/stat", buf, sizeof(buf), &text) < 0 ||
        gtel_pid_stat(text, &stat) < 0 || !gtel_str_word(&text, &word) ||
        gtel_str_u64(word, &pid) < 0 || pid > UINT32_MAX)
        return;
    scan->own_pid = (uint32_t)pid;
    scan->own_parent = stat.parent;
    (void)gtel_str_copy(scan->own_name, sizeof(scan->own_name), stat.name);
}

/* Other helpers of this program open GPUs for a query. They have our parent and our name. */
static void identify(struct gtel_scan *scan, struct gtel_scan_process *process)
{
    char buf[1024];
    struct gtel_str text;
    struct gtel_pid_stat stat;
    int r = gtel_fs_text(scan->env, GTEL_FS_AT("proc/%" PRIu32 "/stat", process->pid), buf,
                         sizeof(buf), &text);
    if (r < 0 && !gtel_scan_is_ended(r))
        process->is_due = true; /* to be asked again */
    if (r < 0 || gtel_pid_stat(text, &stat) < 0)
        return;
    process->owner.birth.start = stat.start;
    process->owner.birth.parent = stat.parent;
    bool is_ours = scan->own_name[0] != '\0' && stat.parent == scan->own_parent &&
                   gtel_str_eq(stat.name, gtel_str_of(scan->own_name));
    process->role = is_ours                   ? GTEL_SCAN_OURS
                    : is_of_broker(stat.name) ? GTEL_SCAN_BROKER
                                              : GTEL_SCAN_USER;
    scan->needs_election = true;
}

/* The position of the first process of that number or above. */
static size_t find_from(const struct gtel_scan *scan, uint32_t pid)
{
    size_t low = 0;
    size_t high = scan->processes;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (scan->process[middle].pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int gtel_scan_birth(struct gtel_scan *scan, uint32_t pid, struct gtel_pid_birth *ret)
{
    size_t at = find_from(scan, pid);
    struct gtel_scan_process *process = &scan->process[at];
    if (at == scan->processes || process->pid != pid || process->is_ended)
        return -ESRCH;
    if (process->owner.birth.start == 0 && process->first == 0)
        identify(scan, process);
    bool is_waiting =
        process->is_due || process->next_fd != 0 || process->walked == GTEL_SCAN_NEVER;
    for (uint32_t i = process->first; i != 0; i = scan->slot[i - 1].next)
        is_waiting = is_waiting || scan->slot[i - 1].is_due;
    *ret = process->owner.birth;
    return is_waiting ? -EAGAIN : 0;
}

/* ---- one process ---- */

/* The slots become what was found up to that descriptor. */
static void update(struct walk *walk, uint64_t to)
{
    struct gtel_scan_process *process = walk->process;
    if (walk->n > 0 && process->owner.birth.start == 0)
        identify(walk->scan, process);
    if (process->role == GTEL_SCAN_OURS) {
        walk->n = 0;
        walk->from = 0;
    }
    gtel_scan_update(walk->scan, process, walk->from, to, walk->found, walk->n);
    walk->from = (uint32_t)to;
    walk->n = 0;
}

static void add(struct walk *walk, const struct gtel_scan_found *found)
{
    if (walk->n == FOUND_MAX)
        update(walk, found->fd);
    walk->found[walk->n++] = *found;
}

static void finish(struct gtel_scan_process *process, enum gtel_scan_walked walked)
{
    process->next_fd = 0;
    process->walked = walked;
}

static bool is_late(struct walk *walk, uint32_t fd)
{
    uint32_t every = walk->process->is_by_text ? 1 : CLOCK_EVERY; /* texts can take long */
    walk->scan->walked++;
    if (walk->steps++ % every != 0 || walk->steps == 1 || !is_over(walk->scan))
        return false;
    walk->process->next_fd = fd;
    return true;
}

static int stat_fd(const struct walk *walk, uint32_t fd, struct gtel_stat *ret)
{
    const struct gtel_env *env = walk->scan->env;
    char path[GTEL_FS_PATH_MAX];
    if (walk->process->dir_plus_1 != 0) {
        (void)gtel_fs_path(path, "%" PRIu32, fd);
        return env->ops->dir_stat(env->arg, walk->process->dir_plus_1 - 1, path, ret);
    }
    (void)gtel_fs_path(path, "proc/%" PRIu32 "/fd/%" PRIu32, walk->process->pid, fd);
    return env->ops->stat(env->arg, path, ret);
}

static int check_device(void *arg, uint32_t fd)
{
    struct walk *walk = arg;
    struct gtel_stat st = {0};
    if (is_late(walk, fd))
        return 1;
    int r = stat_fd(walk, fd, &st);
    bool is_drm = r == 0 && st.is_char && (st.major == DRM_MAJOR || st.major == ACCEL_MAJOR);
    bool is_unknown =
        r < 0 && !gtel_error_is_refusal(r) && !gtel_scan_is_ended(r) && !is_elsewhere(r);
    walk->process->checked++;
    walk->process->refused += gtel_error_is_refusal(r) ? 1 : 0;
    walk->process->is_due = walk->process->is_due || is_unknown;
    const struct gtel_scan_found found = {
        .fd = fd, .is_unknown = is_unknown, .major = st.major, .minor = st.minor};
    if (is_drm || is_unknown)
        add(walk, &found);
    return 0;
}

/*
 * No client's text is as long as that. The kernel makes those of inotify and epoll with all that
 * they watch in each read (fs/notify/fdinfo.c, fs/eventpoll.c), which takes milliseconds with
 * thousands: such a descriptor is skipped until its process is walked in rotation, and of many such
 * the whole process.
 */
static bool is_long(const struct gtel_scan_process *process, uint32_t fd)
{
    for (size_t i = 0; i < process->longs; i++)
        if (process->long_fd[i] == fd)
            return true;
    return false;
}

static void keep_long(struct gtel_scan_process *process, uint32_t fd)
{
    if (process->longs < GTEL_SCAN_LONGS_MAX && !is_long(process, fd))
        process->long_fd[process->longs++] = fd;
}

/* Without permission to check devices, each text is read. One that cannot be may be a client's. */
static int check_text(void *arg, uint32_t fd)
{
    struct walk *walk = arg;
    struct gtel_scan *scan = walk->scan;
    char path[GTEL_FS_PATH_MAX];
    struct gtel_str text;
    if (is_late(walk, fd))
        return 1;
    (void)gtel_fs_path(path, "proc/%" PRIu32 "/fdinfo/%" PRIu32, walk->process->pid, fd);
    int r = is_long(walk->process, fd)
                ? -E2BIG
                : gtel_fs_text(scan->env, path, scan->text, sizeof(scan->text), &text);
    bool is_drm = r == 0 && (!scan->hooks->is_drm || scan->hooks->is_drm(scan->hooks->arg, text));
    if (is_drm || (r < 0 && r != -E2BIG && !gtel_scan_is_ended(r)))
        add(walk, &(struct gtel_scan_found){.fd = fd});
    if (r == -E2BIG)
        keep_long(walk->process, fd);
    return 0;
}

static int list(struct walk *walk)
{
    const struct gtel_env *env = walk->scan->env;
    const struct gtel_scan_process *process = walk->process;
    char path[GTEL_FS_PATH_MAX];
    (void)gtel_fs_path(path, "proc/%" PRIu32 "/%s", process->pid,
                       process->is_by_text ? "fdinfo" : "fd");
    return env->ops->dir_list_from(env->arg, path, process->next_fd,
                                   process->is_by_text ? check_text : check_device, walk);
}

static void begin(struct gtel_scan_process *process, bool is_by_text)
{
    process->is_due = false;
    process->is_by_text = is_by_text;
    process->next_fd = 0;
    process->checked = 0;
    process->refused = 0;
}

/* One way of walking. -EACCES: nothing may be read in this way. */
static int walk_once(struct walk *walk)
{
    struct gtel_scan_process *process = walk->process;
    walk->from = process->next_fd;
    int r = list(walk);
    if (r >= 0)
        update(walk, r == 1 ? process->next_fd : all);
    if (gtel_error_is_refusal(r) && process->is_by_text) {
        walk->from = 0;
        walk->n = 0;
        update(walk, all);
    }
    bool is_closed = r == 0 && process->refused > 0 && process->refused == process->checked;
    return gtel_error_is_refusal(r) || is_closed ? -EACCES : r;
}

/* Walks a process, or goes on with that. False: the time is over. */
static bool walk_process(struct gtel_scan *scan, struct gtel_scan_process *process)
{
    struct walk walk = {.scan = scan, .process = process};
    if (process->next_fd == 0)
        begin(process, false); /* permissions may have changed */
    int r = process->is_by_text ? -EACCES : walk_once(&walk);
    if (r == -EACCES && !process->is_by_text)
        begin(process, true);
    /* A text of which nothing is known may be of a device that sleeps. */
    if (r == -EACCES && !gtel_scan_may_read(scan, &(struct gtel_scan_ask){0})) {
        begin(process, true);
        process->is_due = true;
        scan->counts.asleep++;
        return true;
    }
    if (r == -EACCES)
        r = walk_once(&walk);
    if (r == 0 || r == -EACCES) {
        finish(process, r < 0 ? GTEL_SCAN_REFUSED : GTEL_SCAN_READ);
    } else if (gtel_scan_is_ended(r)) {
        gtel_scan_forget(scan, process);
    } else if (r < 0) {
        process->next_fd = 0; /* in the next gather again */
        process->is_due = true;
        scan->needs_room = scan->needs_room || r == -EMFILE || r == -ENFILE;
    }
    return r != 1;
}

/* ---- the kernel's own list, where it can be had ---- */

static void end_listed(struct walk *walk)
{
    struct gtel_scan_process *process = walk->process;
    if (process->ino != 0 && !process->is_ended) {
        begin(process, false);
        update(walk, all);
        finish(process, GTEL_SCAN_READ);
    }
    walk->process++;
    walk->from = 0;
    walk->n = 0;
}

static int add_listed(void *arg, const struct gtel_drm_fd *fd)
{
    struct walk *walk = arg;
    const struct gtel_scan_process *end = walk->scan->process + walk->scan->processes;
    const struct gtel_scan_found found = {.fd = fd->fd, .major = fd->major, .minor = fd->minor};
    while (walk->process < end && walk->process->pid < fd->pid)
        end_listed(walk);
    if (walk->process < end && walk->process->pid == fd->pid)
        add(walk, &found); /* others came after processes were listed */
    return 0;
}

static void read_list(struct gtel_scan *scan)
{
    const struct gtel_env *env = scan->env;
    struct walk walk = {.scan = scan, .process = scan->process};
    if (scan->now_ns < scan->list_due_ns)
        return;
    uint64_t begin_ns = gtel_env_now(scan->env);
    int r = gtel_env_drm_fds(env, add_listed, &walk);
    while (r == 0 && walk.process < scan->process + scan->processes)
        end_listed(&walk);
    uint64_t pause_ns = (gtel_env_now(scan->env) - begin_ns) * LIST_PARTS;
    bool may_pass = r == -EMFILE || r == -ENFILE || r == -ENOMEM || r == -EINTR;
    if (pause_ns > scan->settings.rotation_ns)
        pause_ns = scan->settings.rotation_ns;
    scan->counts.is_listed = r == 0;
    if (r == 0)
        scan->counts.rotation_ns = pause_ns;
    scan->list_due_ns = r == 0 ? begin_ns + pause_ns : may_pass ? begin_ns + retry_ns : UINT64_MAX;
}

/* ---- what is walked in a gather ---- */

/* A process without descriptors (a thread of the kernel) needs no walk. */
static bool has_nothing(const struct gtel_scan *scan, const struct gtel_scan_process *process)
{
    return scan->counts.has_numbers && process->ino != 0 && process->size == 0;
}

/* False when the time is over. */
static bool walk_if_due(struct gtel_scan *scan, struct gtel_scan_process *process)
{
    bool is_due = process->is_due || process->next_fd != 0;
    if (!is_due || process->is_ended || process->role == GTEL_SCAN_OURS)
        return true;
    if (!has_nothing(scan, process))
        return !is_over(scan) && walk_process(scan, process);
    struct walk walk = {.scan = scan, .process = process};
    begin(process, false);
    update(&walk, all);
    finish(process, GTEL_SCAN_READ);
    return true;
}

/* Begins where the time was over in the gather before, so that each has its turn. */
static void walk_due(struct gtel_scan *scan)
{
    size_t first = find_from(scan, scan->walk_pid);
    for (size_t n = 0; n < scan->processes; n++) {
        struct gtel_scan_process *process = &scan->process[(first + n) % scan->processes];
        uint32_t from = process->next_fd;
        scan->walk_pid = process->pid;
        if (!walk_if_due(scan, process)) {
            scan->walk_pid += process->next_fd != from ? 1 : 0; /* it has had its turn */
            return;
        }
    }
    scan->walk_pid = 0;
    scan->is_through = true;
}

/* A round has ended, or the first scan: the next one begins. */
static void begin_round(struct gtel_scan *scan)
{
    uint64_t took_ns = scan->round_ns != 0 ? scan->now_ns - scan->round_ns : 0;
    uint64_t least_ns = scan->settings.rotation_ns;
    uint64_t fast_ns = scan->walked * (second_ns / RATE_MOST);
    uint64_t slow_ns = scan->walked * (second_ns / RATE_LEAST) + 1;
    uint64_t period_ns = least_ns - least_ns / 16; /* in time */
    period_ns = slow_ns < period_ns ? slow_ns : period_ns;
    scan->period_ns = fast_ns > least_ns ? fast_ns : period_ns;
    scan->counts.rotation_ns = fast_ns > least_ns ? fast_ns : least_ns;
    if (took_ns > scan->counts.rotation_ns)
        scan->counts.rotation_ns = took_ns;
    scan->round_ns = scan->now_ns;
    scan->round_walked = 0;
    scan->rotation_pid = 0;
    scan->walked = 0;
}

/* Walks as many of the others as brings all of them round in time. */
static void rotate(struct gtel_scan *scan)
{
    uint64_t passed_ns = scan->now_ns - scan->round_ns;
    double share = (double)passed_ns / (double)scan->period_ns;
    size_t wanted = share < 1 ? (size_t)(share * (double)scan->processes) : SIZE_MAX;
    while (scan->round_walked < wanted) {
        size_t at = find_from(scan, scan->rotation_pid);
        if (at == scan->processes) {
            if (share >= 1)
                begin_round(scan);
            scan->kept_max = SIZE_MAX; /* perhaps there are descriptors again */
            return;
        }
        struct gtel_scan_process *process = &scan->process[at];
        bool is_wanted = !process->is_due && !process->is_ended &&
                         process->role != GTEL_SCAN_OURS && !has_nothing(scan, process);
        if (is_wanted && is_over(scan))
            return;
        scan->rotation_pid = process->pid + 1;
        scan->round_walked++;
        process->longs = 0;
        if (is_wanted)
            (void)walk_process(scan, process); /* what is left of it is due in the next gather */
    }
}

static void walk_all(struct gtel_scan *scan)
{
    uint64_t now_ns = gtel_env_now(scan->env);
    scan->deadline_ns = scan->now_ns + walk_ns;
    if (scan->deadline_ns < now_ns + walk_ns / 4)
        scan->deadline_ns = now_ns + walk_ns / 4;
    read_list(scan);
    uint64_t end_ns = scan->deadline_ns;
    if (scan->period_ns != 0)
        scan->deadline_ns -= walk_ns / 16; /* the rotation has its turn, too */
    walk_due(scan);
    scan->deadline_ns = end_ns;
    if (scan->counts.is_listed)
        return;
    if (scan->period_ns != 0)
        rotate(scan);
    else if (scan->is_through)
        begin_round(scan);
}

/* ---- a gather ---- */

static void count(struct gtel_scan *scan)
{
    struct gtel_scan_counts *counts = &scan->counts;
    counts->visible = counts->unknown = counts->readable = counts->by_text = counts->waiting = 0;
    counts->has_init = scan->own_pid == 1 || (scan->processes > 0 && scan->process[0].pid == 1);
    for (size_t i = 0; i < scan->processes; i++) {
        const struct gtel_scan_process *process = &scan->process[i];
        bool is_readable = process->walked == GTEL_SCAN_READ && process->ino != 0;
        if (process->is_ended || process->role == GTEL_SCAN_OURS)
            continue;
        counts->visible++;
        counts->unknown += process->walked == GTEL_SCAN_NEVER ? 1 : 0;
        counts->readable += is_readable ? 1 : 0;
        counts->waiting += process->is_due || process->next_fd != 0 ? 1 : 0;
        counts->by_text += is_readable && process->is_by_text ? 1 : 0;
    }
    scan->is_through = scan->is_through || counts->unknown == 0;
    counts->is_first = !scan->is_through;
}

int gtel_scan_gather(struct gtel_scan *scan, const struct gtel_scan_hooks *hooks)
{
    scan->hooks = hooks;
    scan->now_ns = gtel_env_now(scan->env);
    scan->gather++;
    scan->fresh = scan->again = 0;
    scan->counts.dropped = scan->counts.asleep = scan->counts.unread = 0;
    if (scan->own_pid == 0)
        find_own(scan);
    int r = list_pids(scan);
    if (r < 0)
        return r;
    r = update_processes(scan);
    for (size_t i = 0; i < scan->processes; i++)
        check_process(scan, &scan->process[i]);
    gtel_scan_read(scan); /* known clients */
    walk_all(scan);
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
    scan->kept_max = SIZE_MAX;
    find_own(scan);
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
