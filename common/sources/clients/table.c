/* SPDX-License-Identifier: MIT */
/* The DRM clients of all processes. */
#include "sources/clients/table.h"

#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_MIN = 64, FIRST_SIZE = 32 };

void gtel_client_table_done(struct gtel_client_table *table)
{
    free(table->client);
    free(table->slot);
    *table = (struct gtel_client_table){0};
}

void gtel_client_table_reset(struct gtel_client_table *table)
{
    table->n = 0;
    if (table->slots > 0)
        memset(table->slot, 0, table->slots * sizeof(*table->slot));
}

void gtel_client_table_begin(struct gtel_client_table *table)
{
    table->gather++;
}

static bool is_same_key(const struct gtel_client_key *a, const struct gtel_client_key *b)
{
    return a->id == b->id && a->device == b->device && a->pid == b->pid;
}

uint64_t gtel_client_hash(const struct gtel_client_key *key)
{
    uint64_t h = gtel_hash(GTEL_HASH_SEED, &key->id, sizeof(key->id));
    h = gtel_hash(h, &key->device, sizeof(key->device));
    h = gtel_hash(h, &key->pid, sizeof(key->pid));
    return h > 0 ? h : 1;
}

static size_t home_of_hash(const struct gtel_client_table *table, uint64_t hash)
{
    return (size_t)(hash ^ hash >> 32) & (table->slots - 1);
}

static size_t home_of(const struct gtel_client_table *table, const struct gtel_client_key *key)
{
    return home_of_hash(table, gtel_client_hash(key));
}

/* The slot of the key, or the empty one where it belongs. There is always an empty one. */
static size_t slot_of(const struct gtel_client_table *table, const struct gtel_client_key *key)
{
    size_t at = home_of(table, key);
    while (table->slot[at] != 0 && !is_same_key(&table->client[table->slot[at] - 1].key, key))
        at = (at + 1) & (table->slots - 1);
    return at;
}

static int grow_slots(struct gtel_client_table *table)
{
    size_t slots = table->slots > 0 ? table->slots * 2 : SLOTS_MIN;
    uint32_t *slot = calloc(slots, sizeof(*slot));
    if (!slot)
        return -ENOMEM;
    free(table->slot);
    table->slot = slot;
    table->slots = slots;
    for (size_t i = 0; i < table->n; i++)
        table->slot[slot_of(table, &table->client[i].key)] = (uint32_t)i + 1;
    return 0;
}

static int make_room(struct gtel_client_table *table)
{
    if (table->n >= GTEL_CLIENTS_MAX) {
        table->dropped++;
        return -ENOSPC;
    }
    if (table->n == table->size) {
        size_t size = table->size > 0 ? table->size * 2 : FIRST_SIZE;
        struct gtel_client *client = realloc(table->client, size * sizeof(*client));
        if (!client)
            return -ENOMEM;
        table->client = client;
        table->size = size;
    }
    return (table->n + 1) * 2 > table->slots ? grow_slots(table) : 0;
}

static bool is_same_process(struct gtel_client_process a, struct gtel_client_process b)
{
    return a.pid == b.pid && a.number == b.number;
}

static void hold(struct gtel_client *client, struct gtel_client_process process, bool is_first)
{
    if (is_first || gtel_pid_is_older(&process.birth, &client->first.birth))
        client->first = process;
    if (is_same_process(client->owner, process))
        client->is_owner_seen = true;
}

int gtel_client_table_see(struct gtel_client_table *table, const struct gtel_client_key *key,
                          struct gtel_client_process process, struct gtel_client **ret,
                          bool *ret_new)
{
    size_t at = table->slots > 0 ? slot_of(table, key) : 0;
    bool is_new = table->slots == 0 || table->slot[at] == 0;
    if (is_new) {
        int r = make_room(table);
        if (r < 0)
            return r;
        at = slot_of(table, key);
        table->client[table->n] = (struct gtel_client){.key = *key};
        table->slot[at] = (uint32_t)++table->n;
    }
    struct gtel_client *client = &table->client[table->slot[at] - 1];
    bool is_first = client->gather != table->gather;
    if (is_first) {
        client->gather = table->gather;
        client->is_owner_seen = false;
    }
    hold(client, process, is_first);
    *ret = client;
    *ret_new = is_new;
    return is_first;
}

/* Empties a slot, and moves those behind it up that would not be found any more. */
static void free_slot(struct gtel_client_table *table, size_t at)
{
    size_t mask = table->slots - 1;
    size_t hole = at;
    for (size_t i = (at + 1) & mask; table->slot[i] != 0; i = (i + 1) & mask) {
        size_t home = home_of(table, &table->client[table->slot[i] - 1].key);
        bool is_reached_over_hole = ((i - home) & mask) >= ((i - hole) & mask);
        if (!is_reached_over_hole)
            continue;
        table->slot[hole] = table->slot[i];
        hole = i;
    }
    table->slot[hole] = 0;
}

static void forget(struct gtel_client_table *table, size_t i)
{
    free_slot(table, slot_of(table, &table->client[i].key));
    size_t last = --table->n;
    if (i == last)
        return;
    table->slot[slot_of(table, &table->client[last].key)] = (uint32_t)i + 1;
    table->client[i] = table->client[last];
}

static void forget_bases(struct gtel_client *client)
{
    memset(client->share, 0, sizeof(client->share));
    client->has_share = 0;
    client->is_below = false;
    client->t_ns = 0;
}

static void settle(struct gtel_client *client)
{
    bool has_owner = client->owner.pid != 0;
    bool is_older = gtel_pid_is_older(&client->first.birth, &client->owner.birth);
    if (client->is_owner_seen && !is_older)
        return;
    if (has_owner && !client->is_owner_seen && client->is_below)
        forget_bases(client);
    client->owner = client->first;
}

void gtel_client_table_end(struct gtel_client_table *table)
{
    for (size_t i = 0; i < table->n; i++)
        if (table->client[i].gather == table->gather)
            settle(&table->client[i]);
}

struct gtel_client *gtel_client_table_find(const struct gtel_client_table *table, uint64_t hash)
{
    if (table->slots == 0)
        return NULL;
    for (size_t at = home_of_hash(table, hash); table->slot[at] != 0;
         at = (at + 1) & (table->slots - 1)) {
        struct gtel_client *client = &table->client[table->slot[at] - 1];
        if (gtel_client_hash(&client->key) == hash)
            return client;
    }
    return NULL;
}

void gtel_client_table_remove(struct gtel_client_table *table, uint64_t hash)
{
    const struct gtel_client *client = gtel_client_table_find(table, hash);
    if (client)
        forget(table, (size_t)(client - table->client));
}

bool gtel_client_is_seen(const struct gtel_client_table *table, const struct gtel_client *client)
{
    return client->gather == table->gather;
}

void gtel_client_table_forget_bases(struct gtel_client_table *table, uint32_t device)
{
    for (size_t i = 0; i < table->n; i++)
        if (table->client[i].key.device == device)
            forget_bases(&table->client[i]);
}
