/* SPDX-License-Identifier: MIT */
/* Descriptors of DRM devices, the clients behind them, and what is kept open. */
#include "sources/clients/scan_state.h"

#include "base/grow.h"
#include "host/fs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS_MAX = 8 * GTEL_SCAN_PROCESS_SLOTS_MAX,
    FILES_MAX = 4096, /* kept open: some 4.5 KB of the kernel's memory each (fs/seq_file.c) */
    ROOM = 32,        /* how many are closed together when descriptors run out */
    AGAIN_MAX = 4     /* texts that are read twice in a gather */
};

static const uint64_t slow_ns = 100000; /* a read takes some microseconds */

/* ---- what is kept open ---- */

static void close_dir(struct gtel_scan *scan, struct gtel_scan_process *process)
{
    if (process->dir_plus_1 == 0)
        return;
    scan->env->ops->dir_close(scan->env->arg, process->dir_plus_1 - 1);
    process->dir_plus_1 = 0;
    scan->kept--;
}

static void close_file(struct gtel_scan *scan, struct gtel_scan_slot *slot)
{
    if (slot->file_plus_1 == 0)
        return;
    scan->env->ops->file_close(scan->env->arg, slot->file_plus_1 - 1);
    slot->file_plus_1 = 0;
    scan->kept--;
    scan->files--;
}

/* Directories first: asking by path is cheaper than opening and closing a file. */
void gtel_scan_make_room(struct gtel_scan *scan)
{
    scan->needs_room = false;
    scan->kept_max = scan->kept > ROOM ? scan->kept - ROOM : 0;
    for (size_t i = scan->processes; i > 0 && scan->kept > scan->kept_max; i--)
        close_dir(scan, &scan->process[i - 1]);
    for (size_t i = scan->slots; i > 0 && scan->kept > scan->kept_max; i--)
        close_file(scan, &scan->slot[i - 1]);
}

static bool is_too_many(int r)
{
    return r == -EMFILE || r == -ENFILE;
}

static void keep_dir(struct gtel_scan *scan, struct gtel_scan_process *process)
{
    if (process->dir_plus_1 != 0 || scan->kept >= scan->kept_max)
        return;
    int r = gtel_env_dir_open(scan->env, GTEL_FS_AT("proc/%" PRIu32 "/fd", process->pid));
    if (r >= 0) {
        process->dir_plus_1 = r + 1;
        scan->kept++;
    } else if (is_too_many(r)) {
        gtel_scan_make_room(scan);
    }
}

/* ---- slots and clients ---- */

static struct gtel_scan_client *client_of(const struct gtel_scan *scan, uint32_t slot)
{
    uint32_t client = scan->slot[slot - 1].client;
    return client != 0 ? &scan->client[client - 1] : NULL;
}

static bool leads(const struct gtel_scan *scan, uint32_t slot)
{
    const struct gtel_scan_client *client = client_of(scan, slot);
    return client && client->leader.slot == slot;
}

/* Takes the slot from its client. */
static void release(struct gtel_scan *scan, uint32_t slot)
{
    struct gtel_scan_client *client = client_of(scan, slot);
    if (!client)
        return;
    if (client->leader.slot == slot)
        client->leader.slot = 0;
    client->slots--;
    scan->slot[slot - 1].client = 0;
    scan->needs_election = true;
}

static struct gtel_scan_leader leader_of(const struct gtel_scan_process *process, uint32_t slot)
{
    return (struct gtel_scan_leader){
        .slot = slot, .owner = process->owner, .is_broker = process->role == GTEL_SCAN_BROKER};
}

/* Gives the slot to that client (0: to none). False: there is no room for it. */
static bool assign(struct gtel_scan *scan, const struct gtel_scan_process *process, uint32_t slot,
                   uint32_t number)
{
    if (scan->slot[slot - 1].client != number) {
        release(scan, slot);
        if (number == 0)
            return true;
        if (!gtel_grow_zeroed(&scan->client, &scan->clients, number, GTEL_SCAN_CLIENTS_MAX,
                              sizeof(*scan->client)))
            return false;
        scan->slot[slot - 1].client = number;
        scan->client[number - 1].slots++;
        scan->needs_election = true;
    }
    struct gtel_scan_client *client = client_of(scan, slot);
    if (client && client->leader.slot == 0)
        client->leader = leader_of(process, slot);
    return true;
}

static uint32_t *link_behind(struct gtel_scan *scan, struct gtel_scan_process *process,
                             uint32_t before)
{
    return before != 0 ? &scan->slot[before - 1].next : &process->first;
}

/* A new slot behind the slot `before` of the process (0: in front), or 0 when there is no room. */
static uint32_t add_slot(struct gtel_scan *scan, struct gtel_scan_process *process, uint32_t before,
                         uint32_t fd)
{
    uint32_t i = scan->free_slot;
    if (process->slots == GTEL_SCAN_PROCESS_SLOTS_MAX)
        return 0;
    if (i != 0) {
        scan->free_slot = scan->slot[i - 1].next;
    } else {
        if (!gtel_grow(&scan->slot, &scan->slots_size, scan->slots + 1, SLOTS_MAX,
                       sizeof(*scan->slot)))
            return 0;
        i = (uint32_t)++scan->slots;
    }
    uint32_t *link = link_behind(scan, process, before);
    scan->slot[i - 1] = (struct gtel_scan_slot){.next = *link, .fd = fd};
    *link = i;
    process->slots++;
    scan->fresh++;
    return i;
}

/* Removes the slot behind `before` (0: the first one). */
static void drop_slot(struct gtel_scan *scan, struct gtel_scan_process *process, uint32_t before)
{
    uint32_t *link = link_behind(scan, process, before);
    uint32_t i = *link;
    struct gtel_scan_slot *slot = &scan->slot[i - 1];
    release(scan, i);
    close_file(scan, slot);
    process->slots--;
    *link = slot->next;
    *slot = (struct gtel_scan_slot){.next = scan->free_slot};
    scan->free_slot = i;
}

void gtel_scan_forget(struct gtel_scan *scan, struct gtel_scan_process *process)
{
    while (process->first != 0)
        drop_slot(scan, process, 0);
    close_dir(scan, process);
    process->is_ended = true;
}

static void set_device(struct gtel_scan *scan, uint32_t i, const struct gtel_scan_found *found)
{
    struct gtel_scan_slot *slot = &scan->slot[i - 1];
    bool is_same = slot->major == found->major && slot->minor == found->minor;
    slot->major = found->major;
    slot->minor = found->minor;
    slot->is_due = slot->is_due || !is_same || !leads(scan, i);
}

void gtel_scan_update(struct gtel_scan *scan, struct gtel_scan_process *process, uint32_t from,
                      uint64_t to, const struct gtel_scan_found *found, size_t n)
{
    uint32_t before = 0;
    uint32_t i = process->first;
    if (to > UINT32_MAX && scan->counts.has_numbers)
        keep_dir(scan, process);
    for (; i != 0 && scan->slot[i - 1].fd < from; i = scan->slot[i - 1].next)
        before = i;
    for (size_t k = 0;;) {
        uint64_t fd = i != 0 ? scan->slot[i - 1].fd : UINT64_MAX;
        uint64_t found_fd = k < n ? found[k].fd : to;
        if (fd >= to && k == n)
            return;
        if (fd < found_fd) { /* it is not there any more */
            i = scan->slot[i - 1].next;
            drop_slot(scan, process, before);
            continue;
        }
        uint32_t at = fd == found_fd        ? i
                      : found[k].is_unknown ? 0
                                            : add_slot(scan, process, before, found[k].fd);
        if (at != 0 && !found[k].is_unknown)
            set_device(scan, at, &found[k]);
        if (at == 0 && !found[k].is_unknown) {
            scan->counts.dropped++;
            /* perhaps there is room later */
            process->is_due = process->is_due || process->slots < GTEL_SCAN_PROCESS_SLOTS_MAX;
        }
        before = at != 0 ? at : before;
        i = *link_behind(scan, process, before);
        k++;
    }
}

/* ---- elections ---- */

/* Whether a has more right to a client than b: it did not open it for others, or began before. */
static bool is_before(const struct gtel_scan_leader *a, const struct gtel_scan_leader *b)
{
    if (a->is_broker != b->is_broker)
        return b->is_broker;
    return gtel_pid_is_older(&a->owner.birth, &b->owner.birth);
}

/* Where nothing is known of that, the leader stays, or else the client stays in its process. */
static unsigned rank(const struct gtel_scan_client *client, const struct gtel_scan_leader *a)
{
    if (a->slot == client->leader.slot)
        return 2;
    return a->owner.number == client->leader.owner.number ? 1 : 0;
}

static bool is_better(const struct gtel_scan_client *client, const struct gtel_scan_leader *a,
                      const struct gtel_scan_leader *b)
{
    return b->slot == 0 || is_before(a, b) ||
           (!is_before(b, a) && rank(client, a) > rank(client, b));
}

/* Of all descriptors of each client, the one with the most right to it leads. */
static void elect(struct gtel_scan *scan)
{
    scan->needs_election = false;
    for (size_t c = 0; c < scan->clients; c++)
        scan->client[c].next = (struct gtel_scan_leader){0};
    for (size_t p = 0; p < scan->processes; p++)
        for (uint32_t i = scan->process[p].first; i != 0; i = scan->slot[i - 1].next) {
            const struct gtel_scan_leader candidate = leader_of(&scan->process[p], i);
            struct gtel_scan_client *client = client_of(scan, i);
            if (client && is_better(client, &candidate, &client->next))
                client->next = candidate;
        }
    for (size_t c = 0; c < scan->clients; c++) {
        struct gtel_scan_client *client = &scan->client[c];
        if (client->slots == 0)
            continue;
        if (client->leader.slot != 0 && client->leader.slot != client->next.slot)
            close_file(scan, &scan->slot[client->leader.slot - 1]);
        client->leader = client->next;
    }
}

void gtel_scan_close_clients(struct gtel_scan *scan)
{
    scan->counts.clients = 0;
    for (size_t c = 0; c < scan->clients; c++) {
        struct gtel_scan_client *client = &scan->client[c];
        bool is_closed = client->slots == 0 && client->leader.owner.number != 0;
        scan->counts.clients += client->slots > 0 ? 1 : 0;
        if (!is_closed)
            continue;
        *client = (struct gtel_scan_client){0};
        if (scan->hooks->closed)
            scan->hooks->closed(scan->hooks->arg, (uint32_t)c + 1);
    }
}

const struct gtel_scan_owner *gtel_scan_owner(const struct gtel_scan *scan, uint32_t client)
{
    static const struct gtel_scan_owner nobody;
    return client - 1 < scan->clients ? &scan->client[client - 1].leader.owner : &nobody;
}

/* ---- reading ---- */

/* The text of a slot through its kept file, which is opened where there is none. */
static int read_text(struct gtel_scan *scan, const struct gtel_scan_process *process,
                     struct gtel_scan_slot *slot, struct gtel_str *ret)
{
    const struct gtel_env *env = scan->env;
    char path[GTEL_FS_PATH_MAX];
    if (slot->file_plus_1 == 0) {
        (void)gtel_fs_path(path, "proc/%" PRIu32 "/fdinfo/%" PRIu32, process->pid, slot->fd);
        int r = env->ops->file_open(env->arg, path);
        if (is_too_many(r) && scan->kept > 0) {
            gtel_scan_make_room(scan);
            r = env->ops->file_open(env->arg, path);
        }
        if (r < 0)
            return r;
        slot->file_plus_1 = r + 1;
        scan->kept++;
        scan->files++;
    }
    int64_t n =
        env->ops->file_read(env->arg, slot->file_plus_1 - 1, scan->text, sizeof(scan->text));
    if (n < 0)
        return (int)n;
    /* A text that has been cut may lack the line that names its client. */
    *ret = (struct gtel_str){scan->text, n < GTEL_SCAN_TEXT_MAX ? (size_t)n : 0};
    return 0;
}

/*
 * The text, and when it was true: the clock is read next to it. Where another program ran in
 * between, the two do not belong together, and a client's share would be off by that; a read again
 * takes no time. Not more often than that, since a driver may make us wait for its locks.
 */
static int read_in_time(struct gtel_scan *scan, const struct gtel_scan_process *process,
                        struct gtel_scan_slot *slot, struct gtel_str *ret, uint64_t *ret_ns)
{
    const struct gtel_env *env = scan->env;
    for (;;) {
        uint64_t begin_ns = env->ops->monotonic_ns(env->arg);
        int r = read_text(scan, process, slot, ret);
        *ret_ns = env->ops->monotonic_ns(env->arg);
        if (r < 0 || ret->n == 0 || *ret_ns - begin_ns <= slow_ns || scan->again == AGAIN_MAX)
            return r;
        scan->again++;
    }
}

static uint32_t hand_out(const struct gtel_scan *scan, const struct gtel_scan_process *process,
                         const struct gtel_scan_slot *slot, struct gtel_str text, uint64_t t_ns)
{
    const struct gtel_scan_text read = {.owner = process->owner,
                                        .fd = slot->fd,
                                        .major = slot->major,
                                        .minor = slot->minor,
                                        .t_ns = t_ns,
                                        .text = text};
    return scan->hooks->read(scan->hooks->arg, &read);
}

/* False when the descriptor is not there any more, or of no interest. */
static bool read_slot(struct gtel_scan *scan, struct gtel_scan_process *process, uint32_t i)
{
    struct gtel_scan_slot *slot = &scan->slot[i - 1];
    const struct gtel_scan_ask ask = {slot->client, slot->major, slot->minor};
    bool was_walked = slot->is_due;
    struct gtel_str text = GTEL_STR_NONE;
    uint64_t t_ns = 0;
    slot->gather = scan->gather;
    if (!gtel_scan_may_read(scan, &ask)) {
        scan->counts.asleep++;
        return true;
    }
    int r = read_in_time(scan, process, slot, &text, &t_ns);
    if (r == 0) {
        slot->is_due = false;
        if (!assign(scan, process, i, hand_out(scan, process, slot, text, t_ns))) {
            slot->is_due = true;
            scan->counts.dropped++;
        }
    } else if (!gtel_scan_is_ended(r) && ask.client == 0) {
        slot->is_due = true;
        scan->counts.unread++;
        if (scan->hooks->failed)
            scan->hooks->failed(scan->hooks->arg, &ask);
    }
    /* Its process has closed or replaced it since the last walk, and perhaps others. */
    bool has_changed = gtel_scan_is_ended(r) || (ask.client != 0 && slot->client != ask.client);
    process->is_due = process->is_due || (has_changed && !was_walked);
    /* A file that cannot be read is opened again; only those that are read each time are kept. */
    bool is_full = scan->kept > scan->kept_max || scan->files > FILES_MAX;
    if (r < 0 || !leads(scan, i) || is_full)
        close_file(scan, slot);
    return !gtel_scan_is_ended(r) && (slot->client != 0 || slot->is_due || slot->major != 0);
}

static void read_process(struct gtel_scan *scan, struct gtel_scan_process *process)
{
    uint32_t before = 0;
    for (uint32_t i = process->first; i != 0;) {
        const struct gtel_scan_slot *slot = &scan->slot[i - 1];
        uint32_t next = slot->next;
        bool is_wanted = slot->gather != scan->gather && (slot->is_due || leads(scan, i));
        if (is_wanted && !read_slot(scan, process, i))
            drop_slot(scan, process, before);
        else
            before = i;
        i = next;
    }
}

/* A leader that is not there any more leaves its client to the next; the rest waits for a gather.
 */
void gtel_scan_read(struct gtel_scan *scan)
{
    enum { ROUNDS = 8 };
    if (scan->needs_room)
        gtel_scan_make_room(scan);
    for (int round = 0; round < ROUNDS; round++) {
        if (scan->needs_election)
            elect(scan);
        for (size_t i = 0; i < scan->processes; i++)
            read_process(scan, &scan->process[i]);
        if (!scan->needs_election)
            return;
    }
}
