/* SPDX-License-Identifier: MIT */
/* Looks through the descriptors of one process. */
#include "sources/clients/scan_inside.h"

#include "host/fs.h"

#include <errno.h>
#include <inttypes.h>

enum {
    DRM_MAJOR = 226,   /* kernel: Documentation/admin-guide/devices.txt */
    ACCEL_MAJOR = 261, /* the same */
    CLOCK_EVERY = 8    /* descriptors between two looks at the clock */
};

struct look {
    struct gtel_scan *scan;
    struct gtel_scan_process *process;
    uint32_t before; /* the last slot below the present descriptor; 0: none */
    int64_t *work;
    uint32_t steps;
};

static bool is_refused(int r)
{
    return r == -EACCES || r == -EPERM;
}

static bool is_spent(struct look *look)
{
    if (*look->work <= 0)
        return true;
    return look->steps++ % CLOCK_EVERY == 0 && look->steps > 1 &&
           gtel_env_now(look->scan->env) >= look->scan->deadline_ns;
}

/*
 * What a file of a network or of a file system in user space answers when its server is gone, which
 * the nodes of GPUs (devtmpfs) never do: such a descriptor is none, however often it is asked.
 */
static bool is_elsewhere(int r)
{
    return r == -ENOTCONN || r == -ESTALE || r == -ETIMEDOUT || r == -EHOSTDOWN;
}

/* The slot of a descriptor, or 0; look->before is then where it would have to go. */
static uint32_t find_slot(struct look *look, uint32_t fd)
{
    const struct gtel_scan *scan = look->scan;
    for (;;) {
        uint32_t next =
            look->before != 0 ? scan->slot[look->before - 1].next : look->process->first;
        if (next == 0 || scan->slot[next - 1].fd > fd)
            return 0;
        if (scan->slot[next - 1].fd == fd)
            return next;
        look->before = next;
    }
}

static int stat_fd(struct look *look, uint32_t fd, struct gtel_stat *ret)
{
    const struct gtel_env *env = look->scan->env;
    char path[GTEL_FS_PATH_MAX];
    if (look->process->dir_plus_1 != 0) {
        (void)gtel_fs_path(path, "%" PRIu32, fd);
        return env->ops->dir_stat(env->arg, look->process->dir_plus_1 - 1, path, ret);
    }
    (void)gtel_fs_path(path, "proc/%" PRIu32 "/fd/%" PRIu32, look->process->pid, fd);
    return env->ops->stat(env->arg, path, ret);
}

/* ---- whose program it is ---- */

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

/* "PID (comm) STATE PPID …"; comm may hold anything (proc_pid_stat(5)). */
static void take_stat(const struct gtel_scan *scan, struct gtel_scan_process *process,
                      struct gtel_str stat)
{
    struct gtel_str name;
    struct gtel_str word;
    uint64_t parent;
    uint64_t start;
    size_t begin = gtel_str_find(stat, '(');
    size_t end = stat.n;
    while (end > begin && stat.p[end - 1] != ')')
        end--;
    if (end <= begin + 1)
        return;
    if (gtel_pid_stat(stat, &name, &start) == 0)
        process->birth.start = start;
    name = (struct gtel_str){stat.p + begin + 1, end - begin - 2};
    stat = gtel_str_skip(stat, end);
    process->is_broker = is_of_broker(name);
    if (!gtel_str_word(&stat, &word) || !gtel_str_word(&stat, &word) ||
        gtel_str_u64(word, &parent) < 0 || parent > UINT32_MAX)
        return;
    process->birth.parent = (uint32_t)parent;
    process->is_ours = scan->own_name[0] != '\0' &&
                       gtel_str_eq(name, gtel_str_of(scan->own_name)) && parent == scan->own_parent;
}

/*
 * Other helpers of this program open GPUs for the time of a query. They have our parent and our
 * name.
 */
static void learn_whose(struct look *look)
{
    char path[GTEL_FS_PATH_MAX];
    char buf[1024];
    struct gtel_str text;
    (void)gtel_fs_path(path, "proc/%" PRIu32 "/stat", look->process->pid);
    int r = gtel_fs_text(look->scan->env, path, buf, sizeof(buf), &text);
    if (r == 0)
        take_stat(look->scan, look->process, text);
    else if (r != -ENOENT && r != -ESRCH)
        look->process->has_changed = true; /* to be looked at again */
    if (r == 0)
        gtel_scan_slots_know(look->scan, look->process);
}

/* ---- one descriptor ---- */

static void drop_behind(struct look *look)
{
    gtel_scan_slot_drop(look->scan, look->process, look->before);
}

/* A descriptor that is a client's by what is known of it. False when there is no room. */
static uint32_t add_slot(struct look *look, uint32_t fd)
{
    uint32_t i = gtel_scan_slot_add(look->scan, look->process, look->before, fd);
    if (i == 0) {
        look->scan->counts.dropped++;
        look->process->has_changed = true; /* perhaps there is room later */
    } else
        look->scan->slot[i - 1].look = look->process->look;
    return i;
}

static void look_at_device(struct look *look, uint32_t fd, uint32_t slot)
{
    struct gtel_scan *scan = look->scan;
    struct gtel_stat st;
    *look->work -= GTEL_SCAN_COST_FD;
    int r = stat_fd(look, fd, &st);
    bool is_drm = r == 0 && st.is_char && (st.major == DRM_MAJOR || st.major == ACCEL_MAJOR);
    look->process->refused += is_refused(r) ? 1 : 0;
    if (r < 0 && !is_refused(r) && !is_elsewhere(r) && r != -ENOENT && r != -ESRCH) {
        look->process->has_changed = true; /* that is not known: to be looked at again */
        return;
    }
    if (!is_drm) {
        if (slot != 0)
            drop_behind(look);
        return;
    }
    if (look->process->first == 0 || look->process->birth.start == 0)
        learn_whose(look);
    if (look->process->is_ours)
        return;
    if (slot == 0)
        slot = add_slot(look, fd);
    if (slot == 0)
        return;
    scan->slot[slot - 1].has_device = true;
    scan->slot[slot - 1].major = st.major;
    scan->slot[slot - 1].minor = st.minor;
    *look->work -= GTEL_SCAN_COST_TEXT;
    if (!gtel_scan_slot_read(scan, look->process, slot))
        drop_behind(look);
}

/* Without the right to ask for devices, each text is read. */
static void look_at_text(struct look *look, uint32_t fd, uint32_t slot)
{
    struct gtel_scan *scan = look->scan;
    *look->work -= GTEL_SCAN_COST_TEXT;
    if (slot == 0)
        slot = add_slot(look, fd);
    if (slot == 0)
        return;
    bool is_only = look->process->first == slot && scan->slot[slot - 1].next == 0;
    bool is_there = gtel_scan_slot_read(scan, look->process, slot);
    if (is_there && is_only && scan->slot[slot - 1].client != 0)
        learn_whose(look);
    bool is_client = scan->slot[slot - 1].client != 0 || scan->slot[slot - 1].is_unread;
    if (!is_there || !is_client || look->process->is_ours)
        drop_behind(look);
}

static int look_at(void *arg, uint32_t fd)
{
    struct look *look = arg;
    struct gtel_scan *scan = look->scan;
    if (is_spent(look)) {
        look->process->next_fd = fd;
        return 1;
    }
    uint32_t slot = find_slot(look, fd);
    look->process->found++;
    if (slot != 0)
        scan->slot[slot - 1].look = look->process->look;
    if (slot != 0 && gtel_scan_slot_leads(scan, slot)) {
        if (look->process->birth.start == 0)
            learn_whose(look); /* it could not be read before */
        return 0;              /* the text has just been read */
    }
    if (look->process->is_by_text)
        look_at_text(look, fd, slot);
    else
        look_at_device(look, fd, slot);
    return look->process->is_ours ? 2 : 0;
}

/* ---- one process ---- */

static void begin(const struct gtel_scan *scan, struct gtel_scan_process *process)
{
    const struct gtel_env *env = scan->env;
    process->has_cpu = gtel_env_process_cpu(env, process->pid, &process->cpu_ns) == 0;
    process->looked_ns = scan->now_ns;
    process->is_looking = true;
    process->is_quiet = false;
    process->has_turn = false;
    process->has_changed = false;
    process->is_by_text = false; /* rights may have changed */
    process->look++;
    process->next_fd = 0;
    process->found = 0;
    process->refused = 0;
}

static void end(struct gtel_scan *scan, struct gtel_scan_process *process)
{
    process->is_looking = false;
    process->wants_look = process->has_changed;
    process->has_looked = true;
    process->fds = process->found;
    if (process->due_ns != 0) /* where the kernel tells no numbers: twice as late each time */
        process->due_ns = scan->now_ns + (scan->now_ns - process->since_ns);
}

/* What the look has not met is not there any more. */
static void drop_unseen(struct gtel_scan *scan, struct gtel_scan_process *process)
{
    uint32_t before = 0;
    for (uint32_t i = process->first; i != 0;) {
        uint32_t next = scan->slot[i - 1].next;
        if (scan->slot[i - 1].look != process->look)
            gtel_scan_slot_drop(scan, process, before);
        else
            before = i;
        i = next;
    }
}

static int list(struct gtel_scan *scan, struct gtel_scan_process *process, struct look *look)
{
    char path[GTEL_FS_PATH_MAX];
    const struct gtel_env *env = scan->env;
    (void)gtel_fs_path(path, "proc/%" PRIu32 "/%s", process->pid,
                       process->is_by_text ? "fdinfo" : "fd");
    return env->ops->dir_list_from(env->arg, path, process->next_fd, look_at, look);
}

/* Nothing of this process can be looked at. */
static void give_up(struct gtel_scan *scan, struct gtel_scan_process *process)
{
    end(scan, process);
    process->is_unreadable = true;
    gtel_scan_slots_clear(scan, process);
}

/* Whether nothing but texts may be read; the look begins again then. */
static bool turn_to_texts(const struct gtel_scan *scan, struct gtel_scan_process *process, int r)
{
    bool is_closed = r == 0 && process->found > 0 && process->refused == process->found;
    if (process->is_by_text || !(is_refused(r) || is_closed))
        return false;
    begin(scan, process);
    process->is_by_text = true;
    return true;
}

static bool may_read_any(const struct gtel_scan *scan)
{
    const struct gtel_scan_ask ask = {.key = 0};
    return !scan->hooks->may_read || scan->hooks->may_read(scan->hooks->arg, &ask);
}

/* As gtel_scan_look, in one way of looking. -EAGAIN: in the other way, at once. */
static int look_once(struct gtel_scan *scan, struct gtel_scan_process *process, int64_t *work)
{
    struct look look = {.scan = scan, .process = process, .work = work};
    process->is_asleep = process->is_by_text && !may_read_any(scan);
    if (process->is_asleep)
        return 0;
    *work -= GTEL_SCAN_COST_PROCESS;
    int r = list(scan, process, &look);
    if (r == 1)
        return 1;
    if (turn_to_texts(scan, process, r))
        return -EAGAIN;
    if (process->is_ours) {
        end(scan, process);
        gtel_scan_slots_clear(scan, process);
    } else if (is_refused(r)) {
        give_up(scan, process);
    } else if (r == 0) {
        drop_unseen(scan, process);
        end(scan, process);
        process->is_unreadable = false;
    } else {
        process->is_looking = false; /* in the next gather again, if it is still there */
        if (r == -EMFILE || r == -ENFILE)
            gtel_scan_make_room(scan);
    }
    return 0;
}

bool gtel_scan_look(struct gtel_scan *scan, struct gtel_scan_process *process, int64_t *work)
{
    if (!process->is_looking)
        begin(scan, process);
    int r = look_once(scan, process, work);
    if (r == -EAGAIN)
        r = look_once(scan, process, work);
    return r == 0;
}

/*
 * Descriptors change when their process does something, and that takes time. Not so where another
 * process shares them (CLONE_FILES), which is rare: so the answer is not believed for ever.
 */
bool gtel_scan_is_idle(struct gtel_scan *scan, const struct gtel_scan_process *process,
                       int64_t *work)
{
    enum { ROUNDS = 10 };
    const struct gtel_env *env = scan->env;
    uint64_t cpu_ns;
    if (!process->has_cpu || process->is_looking || !process->has_looked ||
        scan->now_ns - process->looked_ns >= ROUNDS * scan->settings.rotation_ns)
        return false;
    if (process->is_quiet && process->turn_cpu_ns == process->cpu_ns)
        return true; /* as was seen a moment ago */
    *work -= GTEL_SCAN_COST_IDLE;
    return gtel_env_process_cpu(env, process->pid, &cpu_ns) == 0 && cpu_ns == process->cpu_ns;
}
