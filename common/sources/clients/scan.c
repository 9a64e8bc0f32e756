/* SPDX-License-Identifier: MIT */
/* Finds the descriptors of DRM devices that processes hold: what a gather does, in order. */
#include "sources/clients/scan_inside.h"

#include "host/fs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t default_rotation_ns = 60000000000;
static const uint64_t default_look_ns = 30000000;
static const uint64_t default_quiet_ns = 5000000000;

/* ---- the list of processes ---- */

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

static void forget_process(struct gtel_scan *scan, struct gtel_scan_process *process)
{
    gtel_scan_slots_clear(scan, process);
    gtel_scan_close_dir(scan, process);
}

static void reset_process(struct gtel_scan *scan, struct gtel_scan_process *process, uint32_t pid)
{
    bool is_first = scan->last_ns == 0;
    *process = (struct gtel_scan_process){.pid = pid,
                                          .id = ++scan->last_id,
                                          .since_ns = scan->now_ns,
                                          .birth = {.pid = pid},
                                          .wants_look = true};
    /* One that begins now will open its files in a moment. */
    if (!is_first)
        process->due_ns = scan->now_ns + 1;
}

/* Both are in ascending order. */
static int take_list(struct gtel_scan *scan)
{
    if (is_as_listed(scan))
        return 0;
    int r = make_room_for(scan, scan->pids);
    if (r < 0)
        return r;
    size_t old = 0;
    for (size_t i = 0; i < scan->pids; i++) {
        while (old < scan->processes && scan->process[old].pid < scan->pid[i])
            forget_process(scan, &scan->process[old++]);
        if (old < scan->processes && scan->process[old].pid == scan->pid[i])
            scan->spare[i] = scan->process[old++];
        else
            reset_process(scan, &scan->spare[i], scan->pid[i]);
    }
    while (old < scan->processes)
        forget_process(scan, &scan->process[old++]);
    struct gtel_scan_process *p = scan->process;
    scan->process = scan->spare;
    scan->spare = p;
    scan->processes = scan->pids;
    return 0;
}

/* ---- the number of descriptors ---- */

static bool is_ended(int r)
{
    return r == -ENOENT || r == -ESRCH;
}

static int ask_by_path(struct gtel_scan *scan, const struct gtel_scan_process *process,
                       struct gtel_stat *ret)
{
    char path[GTEL_FS_PATH_MAX];
    (void)gtel_fs_path(path, "proc/%" PRIu32 "/fd", process->pid);
    return scan->env->ops->stat(scan->env->arg, path, ret);
}

static int ask(struct gtel_scan *scan, struct gtel_scan_process *process, struct gtel_stat *ret)
{
    const struct gtel_env *env = scan->env;
    int r = -ENOENT;
    if (process->dir_plus_1 != 0) {
        r = env->ops->dir_stat(env->arg, process->dir_plus_1 - 1, "", ret);
        if (!is_ended(r))
            return r;
        forget_process(scan, process); /* its number may be another one's already */
        process->is_gone = true;
    }
    return ask_by_path(scan, process, ret);
}

/* Looks whether a process is still the same and has the same number of descriptors. */
static void check_number(struct gtel_scan *scan, struct gtel_scan_process *process)
{
    struct gtel_stat st;
    int r = ask(scan, process, &st);
    if (is_ended(r)) {
        forget_process(scan, process);
        process->is_gone = true;
    }
    if (r < 0) /* not there, not to be seen (hidepid), or not now */
        return;
    if (process->is_gone || (process->ino != 0 && process->ino != st.ino)) {
        forget_process(scan, process);
        reset_process(scan, process, process->pid);
    }
    scan->counts.has_numbers = scan->counts.has_numbers || st.size > 0;
    if (process->ino != 0 && process->size != st.size) {
        process->wants_look = true;
        process->has_changed = process->is_looking;
    }
    process->ino = st.ino;
    process->size = st.size;
    if (scan->counts.has_numbers)
        process->due_ns = 0;
    else if (process->due_ns != 0 && process->has_looked && scan->now_ns >= process->due_ns)
        process->wants_look = true;
    if (process->due_ns != 0 && scan->now_ns - process->since_ns > scan->settings.rotation_ns)
        process->due_ns = 0;
}

/* Reads what stands for clients in a process, and what could not be read before. */
static void read_leaders(struct gtel_scan *scan, struct gtel_scan_process *process)
{
    uint32_t before = 0;
    for (uint32_t i = process->first; i != 0;) {
        uint32_t next = scan->slot[i - 1].next;
        uint32_t client = scan->slot[i - 1].client;
        bool is_due = scan->slot[i - 1].is_unread || gtel_scan_slot_leads(scan, i);
        bool is_there = !is_due || gtel_scan_slot_read(scan, process, i);
        const struct gtel_scan_slot *slot = &scan->slot[i - 1];
        bool is_of_use = slot->client != 0 || slot->is_unread || slot->has_device;
        scan->work += is_due ? 1 : 0;
        if (!is_there || (client != 0 && slot->client != client))
            process->wants_look = true; /* its descriptors are not what they were */
        if (!is_there || !is_of_use)
            gtel_scan_slot_drop(scan, process, before);
        else
            before = i;
        i = next;
    }
}

bool gtel_scan_is_due(const struct gtel_scan *scan, uint64_t due_ns)
{
    uint64_t interval_ns = scan->now_ns - scan->last_ns;
    return scan->last_ns == 0 || scan->now_ns + interval_ns - interval_ns / 4 > due_ns;
}

/* Each process has turns of its own, so that the gathers share them. */
static bool is_turn(const struct gtel_scan *scan, struct gtel_scan_process *process)
{
    uint64_t every_ns = scan->settings.quiet_ns;
    if (process->turn_ns == 0) {
        uint64_t spread = (uint32_t)(process->pid * UINT32_C(2654435769)); /* 2^32 / golden ratio */
        process->turn_ns = scan->now_ns + (every_ns >> 10) * (spread >> 22);
    }
    if (!gtel_scan_is_due(scan, process->turn_ns))
        return false;
    process->turn_ns = scan->now_ns + every_ns;
    return true;
}

/*
 * Whether a process need not be asked for its number in this gather: it has nothing to be read, and
 * has done nothing between its last two turns. At its turns it is asked all the same, for the
 * descriptors may be another one's, too (CLONE_FILES).
 */
static bool is_quiet(const struct gtel_scan *scan, struct gtel_scan_process *process)
{
    const struct gtel_env *env = scan->env;
    uint64_t cpu_ns = 0;
    if (process->first != 0 || process->wants_look || process->is_looking)
        return false;
    if (!is_turn(scan, process))
        return process->is_quiet;
    bool is_known = gtel_env_process_cpu(env, process->pid, &cpu_ns) == 0;
    process->is_quiet = is_known && process->has_turn && cpu_ns == process->turn_cpu_ns;
    process->has_turn = is_known;
    process->turn_cpu_ns = cpu_ns;
    return false;
}

static void check_processes(struct gtel_scan *scan)
{
    for (size_t i = 0; i < scan->processes; i++) {
        struct gtel_scan_process *process = &scan->process[i];
        if (is_quiet(scan, process))
            continue;
        check_number(scan, process);
        if (process->first != 0)
            read_leaders(scan, process);
    }
}

/* ---- looking ---- */

/* A process without descriptors (a thread of the kernel) needs no look. */
static bool has_nothing(const struct gtel_scan *scan, const struct gtel_scan_process *process)
{
    return scan->counts.has_numbers && process->ino != 0 && process->size == 0;
}

static void skip_look(struct gtel_scan *scan, struct gtel_scan_process *process)
{
    gtel_scan_slots_clear(scan, process);
    process->is_looking = false;
    process->wants_look = false;
    process->has_looked = true;
    process->is_unreadable = false;
    process->fds = 0;
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

/* False when time is up. */
static bool look_until_through(struct gtel_scan *scan, struct gtel_scan_process *process)
{
    int64_t work = INT64_MAX;
    bool was_begun = process->is_looking; /* before it has changed */
    if (gtel_env_now(scan->env) >= scan->deadline_ns || !gtel_scan_look(scan, process, &work))
        return false;
    return !was_begun || !process->wants_look || gtel_scan_look(scan, process, &work);
}

/* False when time is up. */
static bool look_at_one(struct gtel_scan *scan, struct gtel_scan_process *process)
{
    if (!process->wants_look || process->is_gone || process->is_ours)
        return true;
    if (has_nothing(scan, process))
        skip_look(scan, process);
    else if (!look_until_through(scan, process))
        return false;
    if (scan->counts.has_numbers)
        gtel_scan_keep_dir(scan, process);
    return true;
}

/* Begins where time was up in the gather before, so that all come round. */
static void look_at_changed(struct gtel_scan *scan)
{
    size_t first = find_from(scan, scan->look_pid);
    for (size_t n = 0; n < scan->processes; n++) {
        struct gtel_scan_process *process = &scan->process[(first + n) % scan->processes];
        scan->look_pid = process->pid;
        if (!look_at_one(scan, process))
            return;
    }
    scan->look_pid = 0;
    scan->has_been_through = true;
}

/* What it costs to look at everything that can be looked at. */
static uint64_t cost_of_all(const struct gtel_scan *scan)
{
    uint64_t cost = 0;
    for (size_t i = 0; i < scan->processes; i++) {
        const struct gtel_scan_process *process = &scan->process[i];
        uint64_t each = process->is_by_text ? GTEL_SCAN_COST_TEXT : GTEL_SCAN_COST_FD;
        if (!process->is_ours && !has_nothing(scan, process))
            cost += GTEL_SCAN_COST_PROCESS + each * process->fds;
    }
    return cost;
}

/* The first process of that number or above that rotation can look at, or NULL. */
static struct gtel_scan_process *next_in_rotation(struct gtel_scan *scan, uint32_t pid)
{
    for (size_t i = find_from(scan, pid); i < scan->processes; i++) {
        struct gtel_scan_process *process = &scan->process[i];
        if (!process->wants_look && !process->is_gone && !process->is_ours &&
            !has_nothing(scan, process))
            return process;
    }
    return NULL;
}

/* What rotation may cost in this gather; 0: nothing. It says how long it takes, too. */
static int64_t allow_rotation(struct gtel_scan *scan, uint64_t target_ns)
{
    enum { LEAST = 16 }; /* so that it moves on at all */
    uint64_t passed_ns = scan->last_ns != 0 ? scan->now_ns - scan->last_ns : 0;
    uint64_t all = cost_of_all(scan);
    /* A tenth more, for what is found on the way. */
    double wanted = 1.1 * (double)all * (double)passed_ns / (double)target_ns;
    double most = (double)(scan->work > LEAST ? scan->work : LEAST);
    if (passed_ns == 0 || all == 0)
        return 0;
    scan->counts.rotation_ns =
        wanted <= most
            ? scan->settings.rotation_ns
            : (uint64_t)((double)all / (most - GTEL_SCAN_COST_PROCESS) * (double)passed_ns) +
                  scan->settings.quiet_ns; /* what is quiet was asked that long ago */
    if (wanted > most)
        return (int64_t)most;
    return wanted > LEAST ? (int64_t)wanted : LEAST;
}

/*
 * Looks at a part of what has not changed: as much as brings it round in time, but at no higher
 * cost than a list of processes, the number of each, and the texts of this gather.
 */
static void rotate(struct gtel_scan *scan)
{
    uint64_t pause_ns = scan->settings.rotation_ns / 16; /* from round to round, at least */
    int64_t work = allow_rotation(scan, scan->settings.rotation_ns - 2 * pause_ns);
    if (scan->rotation_pid == 0 && scan->round_ns != 0 && scan->now_ns - scan->round_ns < pause_ns)
        return; /* most had done nothing: no need to hurry */
    if (scan->rotation_pid == 0)
        scan->round_ns = scan->now_ns;
    while (work > 0 && gtel_env_now(scan->env) < scan->deadline_ns) {
        struct gtel_scan_process *process = next_in_rotation(scan, scan->rotation_pid);
        scan->rotation_pid = process ? process->pid : 0;
        if (!process) {
            scan->counts.round_ns = scan->now_ns - scan->round_ns;
            scan->kept_max = SIZE_MAX; /* perhaps there are descriptors again */
            return;
        }
        if (!gtel_scan_is_idle(scan, process, &work) && !gtel_scan_look(scan, process, &work))
            return; /* it goes on there in the next gather */
        scan->rotation_pid++;
    }
}

/* Who we are, by the /proc that is read: "PID (comm) STATE PPID …" (proc_pid_stat(5)). */
static void learn_own(struct gtel_scan *scan)
{
    char buf[1024];
    struct gtel_str text;
    struct gtel_str word;
    uint64_t pid;
    uint64_t parent;
    if (gtel_fs_text(scan->env, "proc/self/stat", buf, sizeof(buf), &text) < 0 ||
        !gtel_str_word(&text, &word) || gtel_str_u64(word, &pid) < 0 || pid > UINT32_MAX)
        return;
    scan->own_pid = (uint32_t)pid;
    size_t end = text.n;
    while (end > 0 && text.p[end - 1] != ')')
        end--;
    size_t begin = gtel_str_find(text, '(') + 1;
    if (end <= begin)
        return;
    struct gtel_str rest = gtel_str_skip(text, end);
    if (!gtel_str_word(&rest, &word) || !gtel_str_word(&rest, &word) ||
        gtel_str_u64(word, &parent) < 0)
        return;
    scan->own_parent = (uint32_t)parent;
    (void)gtel_str_copy(scan->own_name, sizeof(scan->own_name),
                        (struct gtel_str){text.p + begin, end - begin - 1});
}

/* ---- a gather ---- */

static void count_unread(struct gtel_scan *scan, const struct gtel_scan_slot *slot)
{
    const struct gtel_scan_ask ask = {
        .has_device = slot->has_device, .major = slot->major, .minor = slot->minor};
    if (!slot->is_unread || slot->is_asleep)
        return;
    scan->counts.unread++;
    if (scan->hooks->unread)
        scan->hooks->unread(scan->hooks->arg, &ask);
}

static void count_slots(struct gtel_scan *scan, const struct gtel_scan_process *process)
{
    bool is_holder = false;
    for (uint32_t i = process->first; i != 0; i = scan->slot[i - 1].next) {
        is_holder = is_holder || scan->slot[i - 1].client != 0;
        scan->counts.asleep += scan->slot[i - 1].is_asleep ? 1 : 0;
        count_unread(scan, &scan->slot[i - 1]);
    }
    scan->counts.holders += is_holder ? 1 : 0;
}

static void count(struct gtel_scan *scan)
{
    struct gtel_scan_counts *counts = &scan->counts;
    counts->visible = counts->readable = counts->waiting = counts->holders = 0;
    counts->asleep = counts->unread = counts->quiet = 0;
    counts->unlooked = 0;
    counts->descriptors = 0;
    counts->has_first = scan->own_pid == 1 || (scan->processes > 0 && scan->process[0].pid == 1);
    counts->is_begun = !scan->has_been_through;
    counts->is_by_text = false;
    for (size_t i = 0; i < scan->processes; i++) {
        const struct gtel_scan_process *process = &scan->process[i];
        bool is_readable = process->has_looked && !process->is_unreadable && process->ino != 0;
        if (process->is_gone || process->is_ours)
            continue;
        counts->visible++;
        counts->quiet += process->is_quiet ? 1 : 0;
        counts->unlooked += process->has_looked ? 0 : 1;
        counts->readable += is_readable ? 1 : 0;
        counts->waiting += process->wants_look ? 1 : 0;
        counts->descriptors += is_readable ? process->size : 0;
        counts->is_by_text = counts->is_by_text || (is_readable && process->is_by_text);
        counts->asleep += process->is_asleep ? 1 : 0;
        count_slots(scan, process);
    }
}

int gtel_scan_gather(struct gtel_scan *scan, const struct gtel_scan_hooks *hooks)
{
    scan->hooks = hooks;
    scan->now_ns = gtel_env_now(scan->env);
    scan->counts.dropped = 0;
    scan->again = 0;
    if (scan->own_pid == 0)
        learn_own(scan); /* it could not be read before */
    int r = gtel_scan_pids(scan);
    if (r < 0)
        return r;
    r = take_list(scan);
    if (r < 0)
        scan->listed_pid = 0; /* those that are new are not known: the whole list again */
    scan->work = 1 + scan->processes / 4 + scan->processes; /* listing, and their numbers */
    check_processes(scan);
    gtel_scan_promote(scan);
    uint64_t now_ns = gtel_env_now(scan->env);
    scan->deadline_ns = scan->now_ns + scan->settings.look_ns;
    if (scan->deadline_ns < now_ns + scan->settings.look_ns / 4)
        scan->deadline_ns = now_ns + scan->settings.look_ns / 4;
    gtel_scan_list(scan);
    look_at_changed(scan);
    if (!scan->counts.is_listed)
        rotate(scan);
    gtel_scan_promote(scan);
    gtel_scan_bury(scan);
    count(scan);
    scan->last_ns = scan->now_ns;
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
    if (scan->settings.look_ns == 0)
        scan->settings.look_ns = default_look_ns;
    if (scan->settings.quiet_ns == 0)
        scan->settings.quiet_ns = default_quiet_ns;
    scan->kept_max = SIZE_MAX;
    learn_own(scan);
    *ret = scan;
    return 0;
}

void gtel_scan_read_again(struct gtel_scan *scan)
{
    for (size_t i = 0; i < scan->processes; i++)
        for (uint32_t k = scan->process[i].first; k != 0; k = scan->slot[k - 1].next)
            if (scan->slot[k - 1].has_device && scan->slot[k - 1].client == 0)
                scan->slot[k - 1].is_unread = true;
}

void gtel_scan_reset(struct gtel_scan *scan)
{
    for (size_t i = 0; i < scan->processes; i++)
        forget_process(scan, &scan->process[i]);
    gtel_scan_pids_done(scan);
    scan->processes = 0;
    scan->slots = 0;
    scan->free_slot = 0;
    scan->clients = 0;
    scan->free_client = 0;
    memset(scan->bucket, 0, sizeof(scan->bucket));
    scan->has_orphans = false;
    scan->has_lost = false;
    scan->last_ns = 0;
    scan->has_been_through = false;
    scan->look_pid = 0;
    scan->rotation_pid = 0;
    scan->list_due_ns = 0;
    scan->round_ns = 0;
    scan->kept_max = SIZE_MAX;
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
