/* SPDX-License-Identifier: MIT */
/* The DRM clients of all processes. */
#include "sources/clients/table.h"

#include "base/grow.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

void gtel_client_table_done(struct gtel_client_table *table)
{
    free(table->client);
    gtel_index_done(&table->index);
    *table = (struct gtel_client_table){0};
}

void gtel_client_table_reset(struct gtel_client_table *table)
{
    table->n = 0;
    table->free = 0;
    table->has_removed = false;
    gtel_index_reset(&table->index);
}

static uint64_t hash_of(const struct gtel_client_key *key)
{
    uint64_t h = gtel_hash(GTEL_HASH_SEED, &key->id, sizeof(key->id));
    h = gtel_hash(h, &key->device, sizeof(key->device));
    return gtel_hash(h, &key->pid, sizeof(key->pid));
}

static bool is_client(const struct gtel_client *client, const struct gtel_client_key *key)
{
    return client->key.id == key->id && client->key.device == key->device &&
           client->key.pid == key->pid;
}

/* 0: there is none. */
static uint32_t find(const struct gtel_client_table *table, const struct gtel_client_key *key)
{
    size_t at = 0;
    uint64_t hash = hash_of(key);
    int64_t i = gtel_index_next(&table->index, hash, &at);
    while (i != GTEL_INDEX_NONE && !is_client(&table->client[i], key))
        i = gtel_index_next(&table->index, hash, &at);
    return i != GTEL_INDEX_NONE ? (uint32_t)i + 1 : 0;
}

/* Without those that were removed. */
static void renew_index(struct gtel_client_table *table)
{
    table->has_removed = false;
    gtel_index_reset(&table->index);
    for (size_t i = 0; i < table->n; i++)
        if (table->client[i].key.device != GTEL_CLIENT_FREE)
            gtel_index_put(&table->index, hash_of(&table->client[i].key), i);
}

static bool grow(struct gtel_client_table *table)
{
    return gtel_index_reserve(&table->index, table->n + 1) == 0 &&
           gtel_grow(&table->client, &table->size, table->n + 1, GTEL_CLIENTS_MAX,
                     sizeof(*table->client));
}

/* A number for a new client, or 0. */
static uint32_t next_number(struct gtel_client_table *table)
{
    uint32_t number = table->free;
    if (table->has_removed)
        renew_index(table);
    if (number == 0)
        return grow(table) ? (uint32_t)++table->n : 0;
    table->free = table->client[number - 1].next_free;
    return number;
}

uint32_t gtel_client_table_add(struct gtel_client_table *table, const struct gtel_client_key *key)
{
    uint32_t number = find(table, key);
    if (number != 0)
        return number;
    number = next_number(table);
    if (number == 0) {
        table->dropped++;
        return 0;
    }
    table->client[number - 1] = (struct gtel_client){.key = *key};
    gtel_index_put(&table->index, hash_of(key), number - 1);
    return number;
}

void gtel_client_table_remove(struct gtel_client_table *table, uint32_t number)
{
    table->client[number - 1] =
        (struct gtel_client){.key.device = GTEL_CLIENT_FREE, .next_free = table->free};
    table->free = number;
    table->has_removed = true;
}

bool gtel_client_is_below(const struct gtel_client *client)
{
    for (size_t e = 0; e < GTEL_CLIENT_ENGINES_MAX; e++)
        if (client->share[e].below > 0)
            return true;
    return false;
}

void gtel_client_forget_bases(struct gtel_client *client)
{
    memset(client->share, 0, sizeof(client->share));
    client->has_share = 0;
    client->t_ns = 0;
}

void gtel_client_table_forget_bases(struct gtel_client_table *table, size_t device)
{
    for (size_t i = 0; i < table->n; i++)
        if (table->client[i].key.device == (int32_t)device)
            gtel_client_forget_bases(&table->client[i]);
}
