/* SPDX-License-Identifier: MIT */
/* Descriptors of DRM devices, the clients behind them, and what is kept open. */
#include "sources/clients/scan_inside.h"

#include "host/fs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { ROOM = 32 }; /* how many are closed at once when descriptors are out */

/* ---- what is kept open ---- */

void gtel_scan_close_dir(struct gtel_scan *scan, struct gtel_scan_process *process)
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
}

/* Directories go first: asking by path is cheaper than opening and closing a file. */
void gtel_scan_make_room(struct gtel_scan *scan)
{
    scan->kept_max = scan->kept > ROOM ? scan->kept - ROOM : 0;
    for (size_t i = scan->processes; i > 0 && scan->kept > scan->kept_max; i--)
        gtel_scan_close_dir(scan, &scan->process[i - 1]);
    for (size_t i = scan->slots; i > 0 && scan->kept > scan->kept_max; i--)
        close_file(scan, &scan->slot[i - 1]);
}

static bool is_too_many(int r)
{
    return r == -EMFILE || r == -ENFILE;
}

int gtel_scan_open(struct gtel_scan *scan, const char *path)
{
    int r = scan->env->ops->file_open(scan->env->arg, path);
    if (!is_too_many(r) || scan->kept == 0)
        return r;
    gtel_scan_make_room(scan);
    return scan->env->ops->file_open(scan->env->arg, path);
}

void gtel_scan_keep_dir(struct gtel_scan *scan, struct gtel_scan_process *process)
{
    char path[GTEL_FS_PATH_MAX];
    if (process->dir_plus_1 != 0 || scan->kept >= scan->kept_max)
        return;
    (void)gtel_fs_path(path, "proc/%" PRIu32 "/fd", process->pid);
    int r = gtel_env_dir_open(scan->env, path);
    if (r >= 0) {
        process->dir_plus_1 = r + 1;
        scan->kept++;
    } else if (is_too_many(r)) {
        gtel_scan_make_room(scan);
    }
}

int gtel_scan_read(struct gtel_scan *scan, int handle, struct gtel_str *ret)
{
    int64_t n = scan->env->ops->file_read(scan->env->arg, handle, scan->text, sizeof(scan->text));
    if (n < 0)
        return (int)n;
    /* A text that has been cut may lack what tells whose it is. */
    *ret = (struct gtel_str){scan->text, n < GTEL_SCAN_TEXT_MAX ? (size_t)n : 0};
    return 0;
}

/* ---- clients ---- */

static uint32_t *bucket_of(struct gtel_scan *scan, uint64_t key)
{
    return &scan->bucket[gtel_hash(GTEL_HASH_SEED, &key, sizeof(key)) % GTEL_SCAN_BUCKETS];
}

static uint32_t find_client(struct gtel_scan *scan, uint64_t key)
{
    uint32_t i = *bucket_of(scan, key);
    while (i != 0 && scan->client[i - 1].key != key)
        i = scan->client[i - 1].next;
    return i;
}

static bool grow(void **list, size_t *size, size_t n, size_t item, size_t max)
{
    if (n < *size)
        return true;
    size_t wanted = *size ? *size * 2 : 64;
    void *p = wanted <= max ? realloc(*list, wanted * item) : NULL;
    if (!p)
        return false;
    *list = p;
    *size = wanted;
    return true;
}

static uint32_t add_client(struct gtel_scan *scan, uint64_t key)
{
    uint32_t i = scan->free_client;
    if (i != 0) {
        scan->free_client = scan->client[i - 1].next;
    } else {
        void *list = scan->client;
        if (!grow(&list, &scan->clients_size, scan->clients, sizeof(*scan->client),
                  GTEL_SCAN_SLOTS_MAX))
            return 0;
        scan->client = list;
        i = (uint32_t)++scan->clients;
    }
    uint32_t *bucket = bucket_of(scan, key);
    scan->client[i - 1] = (struct gtel_scan_client){.key = key, .next = *bucket, .is_used = true};
    *bucket = i;
    scan->counts.clients++;
    return i;
}

static void remove_client(struct gtel_scan *scan, uint32_t i)
{
    struct gtel_scan_client *client = &scan->client[i - 1];
    uint32_t *at = bucket_of(scan, client->key);
    while (*at != i)
        at = &scan->client[*at - 1].next;
    *at = client->next;
    *client = (struct gtel_scan_client){.next = scan->free_client};
    scan->free_client = i;
    scan->counts.clients--;
}

void gtel_scan_bury(struct gtel_scan *scan)
{
    if (!scan->has_lost)
        return;
    scan->has_lost = false;
    for (uint32_t i = 1; i <= scan->clients; i++) {
        const struct gtel_scan_client *client = &scan->client[i - 1];
        uint64_t key = client->key;
        if (!client->is_used || client->slots > 0)
            continue;
        remove_client(scan, i);
        if (scan->hooks->gone)
            scan->hooks->gone(scan->hooks->arg, key);
    }
}

/* ---- slots ---- */

/* Takes the slot from its client. */
static void take_away(struct gtel_scan *scan, uint32_t slot)
{
    uint32_t i = scan->slot[slot - 1].client;
    scan->slot[slot - 1].client = 0;
    if (i == 0)
        return;
    struct gtel_scan_client *client = &scan->client[i - 1];
    client->slots--;
    if (client->leader == slot) {
        client->leader = 0;
        client->last_pid = scan->slot[slot - 1].birth.pid;
        scan->has_orphans = scan->has_orphans || client->slots > 0;
    }
    scan->has_lost = scan->has_lost || client->slots == 0;
}

/* Whether a has more right to a client than b: it did not open it for others, or began before. */
static bool is_before(const struct gtel_scan_slot *a, const struct gtel_scan_slot *b)
{
    if (a->is_broker != b->is_broker)
        return b->is_broker;
    return gtel_pid_is_older(&a->birth, &b->birth);
}

void gtel_scan_slot_appoint(struct gtel_scan *scan, uint32_t slot)
{
    uint32_t client = scan->slot[slot - 1].client;
    if (client == 0)
        return;
    uint32_t leader = scan->client[client - 1].leader;
    if (leader != 0 && !is_before(&scan->slot[slot - 1], &scan->slot[leader - 1]))
        return;
    if (leader != 0)
        close_file(scan, &scan->slot[leader - 1]);
    scan->client[client - 1].leader = slot;
}

void gtel_scan_slots_know(struct gtel_scan *scan, const struct gtel_scan_process *process)
{
    for (uint32_t i = process->first; i != 0; i = scan->slot[i - 1].next) {
        scan->slot[i - 1].birth = process->birth;
        scan->slot[i - 1].is_broker = process->is_broker;
        struct gtel_scan_client *client =
            gtel_scan_slot_leads(scan, i) ? &scan->client[scan->slot[i - 1].client - 1] : NULL;
        if (!client)
            gtel_scan_slot_appoint(scan, i);
        else if (client->slots > 1)
            scan->has_orphans = client->is_elected = true;
    }
}

/* Gives the slot to the client of that key (0: to none). False: there is no room for it. */
static bool give(struct gtel_scan *scan, uint32_t slot, uint64_t key)
{
    uint32_t old = scan->slot[slot - 1].client;
    if (old == 0 || scan->client[old - 1].key != key) {
        take_away(scan, slot);
        if (key == 0)
            return true;
        uint32_t i = find_client(scan, key);
        if (i == 0)
            i = add_client(scan, key);
        if (i == 0)
            return false;
        scan->slot[slot - 1].client = i;
        scan->client[i - 1].slots++;
    }
    gtel_scan_slot_appoint(scan, slot);
    return true;
}

bool gtel_scan_slot_leads(const struct gtel_scan *scan, uint32_t slot)
{
    uint32_t client = scan->slot[slot - 1].client;
    return client != 0 && scan->client[client - 1].leader == slot;
}

static uint32_t *link_behind(struct gtel_scan *scan, struct gtel_scan_process *process,
                             uint32_t before)
{
    return before != 0 ? &scan->slot[before - 1].next : &process->first;
}

uint32_t gtel_scan_slot_add(struct gtel_scan *scan, struct gtel_scan_process *process,
                            uint32_t before, uint32_t fd)
{
    uint32_t i = scan->free_slot;
    if (i != 0) {
        scan->free_slot = scan->slot[i - 1].next;
    } else {
        void *list = scan->slot;
        if (!grow(&list, &scan->slots_size, scan->slots, sizeof(*scan->slot), GTEL_SCAN_SLOTS_MAX))
            return 0;
        scan->slot = list;
        i = (uint32_t)++scan->slots;
    }
    uint32_t *link = link_behind(scan, process, before);
    scan->slot[i - 1] = (struct gtel_scan_slot){
        .next = *link, .fd = fd, .birth = process->birth, .is_broker = process->is_broker};
    *link = i;
    return i;
}

void gtel_scan_slot_drop(struct gtel_scan *scan, struct gtel_scan_process *process, uint32_t before)
{
    uint32_t *link = link_behind(scan, process, before);
    uint32_t i = *link;
    struct gtel_scan_slot *slot = &scan->slot[i - 1];
    take_away(scan, i);
    close_file(scan, slot);
    *link = slot->next;
    *slot = (struct gtel_scan_slot){.next = scan->free_slot};
    scan->free_slot = i;
}

void gtel_scan_slots_clear(struct gtel_scan *scan, struct gtel_scan_process *process)
{
    while (process->first != 0)
        gtel_scan_slot_drop(scan, process, 0);
}

/* ---- reading ---- */

static const uint64_t slow_ns = 100000; /* a read takes some microseconds */

/* Whether an error says that the descriptor or its process is not there any more. */
static bool is_ended(int r)
{
    return r == -ENOENT || r == -ESRCH || r == -ENODEV;
}

/* The text of a slot through its kept file, or through one that is open for this time only. */
static int read_text(struct gtel_scan *scan, const struct gtel_scan_process *process,
                     struct gtel_scan_slot *slot, struct gtel_str *ret)
{
    char path[GTEL_FS_PATH_MAX];
    if (slot->file_plus_1 != 0)
        return gtel_scan_read(scan, slot->file_plus_1 - 1, ret);
    (void)gtel_fs_path(path, "proc/%" PRIu32 "/fdinfo/%" PRIu32, process->pid, slot->fd);
    int handle = gtel_scan_open(scan, path);
    if (handle < 0)
        return handle;
    slot->file_plus_1 = handle + 1;
    scan->kept++;
    return gtel_scan_read(scan, handle, ret);
}

/*
 * The text, and when it was true: the clock is read next to it. Where another program ran in
 * between, the two do not belong together, and a client's share would be off by that; a read again
 * takes no time. Not more often than that, since a driver may make us wait for its locks.
 */
static int read_in_time(struct gtel_scan *scan, const struct gtel_scan_process *process,
                        struct gtel_scan_slot *slot, struct gtel_str *ret, uint64_t *ret_ns)
{
    for (;;) {
        uint64_t begin_ns = gtel_env_now(scan->env);
        int r = read_text(scan, process, slot, ret);
        *ret_ns = gtel_env_now(scan->env);
        if (r < 0 || *ret_ns - begin_ns <= slow_ns || scan->again == GTEL_SCAN_AGAIN_MAX)
            return r;
        scan->again++;
    }
}

static bool may_read(struct gtel_scan *scan, const struct gtel_scan_slot *slot)
{
    const struct gtel_scan_ask ask = {.key = slot->client != 0 ? scan->client[slot->client - 1].key
                                                               : 0,
                                      .has_device = slot->has_device,
                                      .major = slot->major,
                                      .minor = slot->minor};
    return !scan->hooks->may_read || scan->hooks->may_read(scan->hooks->arg, &ask);
}

/* Hands a text out. */
static void tell(struct gtel_scan *scan, const struct gtel_scan_process *process, uint32_t i,
                 struct gtel_str text, uint64_t t_ns)
{
    const struct gtel_scan_slot *slot = &scan->slot[i - 1];
    const struct gtel_scan_seen seen = {.pid = process->pid,
                                        .fd = slot->fd,
                                        .process = process->id,
                                        .birth = process->birth,
                                        .has_device = slot->has_device,
                                        .major = slot->major,
                                        .minor = slot->minor,
                                        .t_ns = t_ns,
                                        .text = text};
    if (!give(scan, i, scan->hooks->seen(scan->hooks->arg, &seen)))
        scan->counts.dropped++;
}

bool gtel_scan_slot_read(struct gtel_scan *scan, const struct gtel_scan_process *process,
                         uint32_t i)
{
    struct gtel_scan_slot *slot = &scan->slot[i - 1];
    struct gtel_str text;
    uint64_t t_ns = 0;
    int r = -EAGAIN;
    slot->is_asleep = !may_read(scan, slot);
    if (!slot->is_asleep)
        r = read_in_time(scan, process, slot, &text, &t_ns);
    if (is_ended(r))
        return false;
    slot->is_unread = r < 0 && slot->client == 0;
    if (r == 0)
        tell(scan, process, i, text, t_ns);
    else
        gtel_scan_slot_appoint(scan, i); /* to be asked again */
    /* A file that cannot be read is opened again; only those that are read each time are kept. */
    if ((r < 0 && !slot->is_asleep) || !gtel_scan_slot_leads(scan, i) ||
        scan->kept > scan->kept_max)
        close_file(scan, slot);
    return true;
}

/* Where nothing is known of that, a process keeps what it had. */
static bool is_better(const struct gtel_scan_client *client, const struct gtel_scan_slot *a,
                      const struct gtel_scan_slot *b)
{
    bool is_kept = a->birth.pid == client->last_pid && b->birth.pid != client->last_pid;
    return is_before(a, b) || (is_kept && !is_before(b, a));
}

/* Of all descriptors of each client without a leader, the one with the most right to it. */
static void elect(struct gtel_scan *scan)
{
    for (size_t p = 0; p < scan->processes; p++)
        for (uint32_t i = scan->process[p].first; i != 0; i = scan->slot[i - 1].next) {
            const struct gtel_scan_slot *slot = &scan->slot[i - 1];
            struct gtel_scan_client *client =
                slot->client != 0 ? &scan->client[slot->client - 1] : NULL;
            if (!client || (client->leader != 0 && !client->is_elected))
                continue;
            if (client->leader == 0 || is_better(client, slot, &scan->slot[client->leader - 1])) {
                if (client->leader != 0)
                    close_file(scan, &scan->slot[client->leader - 1]);
                client->leader = i;
            }
            client->is_elected = true;
        }
}

static void read_elected(struct gtel_scan *scan, struct gtel_scan_process *process)
{
    uint32_t before = 0;
    for (uint32_t i = process->first; i != 0;) {
        uint32_t next = scan->slot[i - 1].next;
        uint32_t client = scan->slot[i - 1].client;
        bool is_new = gtel_scan_slot_leads(scan, i) && scan->client[client - 1].is_elected;
        if (is_new)
            scan->client[client - 1].is_elected = false;
        if (is_new && !gtel_scan_slot_read(scan, process, i)) {
            process->wants_look = true;
            gtel_scan_slot_drop(scan, process, before);
        } else {
            before = i;
        }
        i = next;
    }
}

/* One that is not there any more leaves its client to the next; what is left waits for a gather. */
void gtel_scan_promote(struct gtel_scan *scan)
{
    enum { ROUNDS = 8 };
    for (int round = 0; scan->has_orphans && round < ROUNDS; round++) {
        scan->has_orphans = false;
        elect(scan);
        for (size_t i = 0; i < scan->processes; i++)
            read_elected(scan, &scan->process[i]);
    }
}
