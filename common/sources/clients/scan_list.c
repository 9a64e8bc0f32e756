/* SPDX-License-Identifier: MIT */
/*
 * The kernel's own list of descriptors, where it can be had: which processes need a look, and which
 * need none.
 */
#include "sources/clients/scan_inside.h"

#include "host/env.h"

#include <errno.h>

/*
 * The list costs some 50 ns for each open file of the machine. So long a pause follows, in times of
 * that, that it takes no more than a 500th of a processor.
 */
enum { PAUSE_PARTS = 500 };
static const uint64_t retry_ns = 60000000000; /* after a failure that may pass */

/* The way through both lists, in the order of processes and their descriptors. */
struct compare {
    struct gtel_scan *scan;
    size_t at;     /* process */
    uint32_t slot; /* its next one to be compared; 0: none is left */
    bool has_any;  /* the kernel lists descriptors of it */
    bool differs;
};

/* Of a process whose descriptors may not be asked, devices are not known. */
static bool is_comparable(const struct gtel_scan_process *process,
                          const struct gtel_scan_slot *slot)
{
    return slot->has_device || process->is_by_text;
}

static void next_slot(struct compare *compare, uint32_t slot)
{
    const struct gtel_scan *scan = compare->scan;
    while (slot != 0 && !is_comparable(&scan->process[compare->at], &scan->slot[slot - 1]))
        slot = scan->slot[slot - 1].next;
    compare->slot = slot;
}

static void begin_process(struct compare *compare)
{
    compare->has_any = false;
    compare->differs = false;
    compare->slot = 0;
    if (compare->at < compare->scan->processes)
        next_slot(compare, compare->scan->process[compare->at].first);
}

/* A process without devices needs no look, however its descriptors have changed. */
static void spare_look(struct gtel_scan_process *process)
{
    process->wants_look = false;
    process->is_looking = false;
    process->has_looked = true;
    process->is_unreadable = false;
    process->is_asleep = false;
}

static void end_process(struct compare *compare)
{
    struct gtel_scan_process *process = &compare->scan->process[compare->at];
    bool has_slots = process->first != 0;
    compare->differs = compare->differs || compare->slot != 0;
    if (!compare->has_any && !has_slots && process->ino != 0 && !process->is_gone) {
        spare_look(process);
        if (compare->scan->counts.has_numbers)
            gtel_scan_keep_dir(compare->scan, process);
    } else if (compare->differs) {
        process->wants_look = true;
        process->has_changed = process->is_looking;
    }
    compare->at++;
    begin_process(compare);
}

static int see(void *arg, const struct gtel_drm_fd *fd)
{
    struct compare *compare = arg;
    struct gtel_scan *scan = compare->scan;
    while (compare->at < scan->processes && scan->process[compare->at].pid < fd->pid)
        end_process(compare);
    if (compare->at == scan->processes || scan->process[compare->at].pid != fd->pid)
        return 0; /* it came after processes were listed */
    compare->has_any = true;
    const struct gtel_scan_slot *slot = compare->slot ? &scan->slot[compare->slot - 1] : NULL;
    bool is_same = slot && slot->fd == fd->fd &&
                   (!slot->has_device || (slot->major == fd->major && slot->minor == fd->minor));
    if (is_same)
        next_slot(compare, slot->next);
    compare->differs = compare->differs || !is_same;
    return 0;
}

void gtel_scan_list(struct gtel_scan *scan)
{
    const struct gtel_env *env = scan->env;
    struct compare compare = {.scan = scan};
    if (scan->list_due_ns == UINT64_MAX || scan->now_ns < scan->list_due_ns)
        return;
    uint64_t begin_ns = gtel_env_now(env);
    begin_process(&compare);
    int r = gtel_env_drm_fds(env, see, &compare);
    while (r == 0 && compare.at < scan->processes)
        end_process(&compare);
    uint64_t took_ns = gtel_env_now(env) - begin_ns;
    bool may_pass = r == -EMFILE || r == -ENFILE || r == -ENOMEM || r == -EINTR;
    uint64_t pause_ns = took_ns * PAUSE_PARTS;
    if (pause_ns > scan->settings.rotation_ns)
        pause_ns = scan->settings.rotation_ns;
    scan->counts.is_listed = r == 0;
    if (r == 0) {
        scan->counts.rotation_ns = pause_ns;
        scan->counts.round_ns = 0;
        scan->list_due_ns = begin_ns + pause_ns;
    } else {
        scan->list_due_ns = may_pass ? begin_ns + retry_ns : UINT64_MAX;
    }
}
