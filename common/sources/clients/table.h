/* SPDX-License-Identifier: MIT */
/*
 * The DRM clients of all processes: each open file of a DRM device once, however many descriptors
 * of however many processes refer to it (dup, fork, SCM_RIGHTS). Pure: no input or output.
 *
 * A client is identified by its device and its id; without an id (old kernels) by process and
 * descriptor. It has a number, its position + 1, until it is removed, and keeps its counters as
 * long. A steady set of clients allocates nothing.
 */
#ifndef GTEL_SOURCES_CLIENTS_TABLE_H
#define GTEL_SOURCES_CLIENTS_TABLE_H

#include "base/index.h"
#include "pipeline/use.h"
#include "sources/clients/share.h"

enum {
    GTEL_CLIENTS_MAX = 65536,     /* more are dropped and counted */
    GTEL_CLIENT_ENGINES_MAX = 16, /* as its device numbers them */
    GTEL_CLIENT_NO_DEVICE = -1,   /* one of several devices */
    GTEL_CLIENT_FREE = -2         /* a number that is not in use */
};

struct gtel_client_key {
    uint64_t id;    /* the client's; without one the number of the descriptor */
    int32_t device; /* as the caller numbers them, or one of the above */
    uint32_t pid;   /* 0: the client has an id */
};

struct gtel_client {
    struct gtel_client_key key;
    uint32_t next_free; /* of one that is free: the next of these */
    uint64_t gather;    /* when it was read last */
    /* What it uses now; the caller's. */
    uint64_t owner;  /* its process's number; 0: not known yet */
    bool was_read;   /* ever */
    bool has_worked; /* when it was read last, or may have */
    uint64_t t_ns;   /* when its bases were taken; 0: it has none */
    struct gtel_use_memory memory;
    uint32_t has_engine; /* a bit per engine: it reports it */
    uint32_t has_share;  /* a bit per engine: its share in this gather is known */
    double share_of[GTEL_CLIENT_ENGINES_MAX];
    struct gtel_share share[GTEL_CLIENT_ENGINES_MAX];
};

/* Zeroed: empty. */
struct gtel_client_table {
    struct gtel_client *client; /* by number; some are free; moved by add() */
    size_t n;
    size_t size;
    uint32_t free; /* a free number; 0: none */
    struct gtel_index index;
    bool has_removed; /* since the index was made */
    uint64_t gather;  /* the caller counts them */
    uint64_t dropped; /* clients beyond the limit, each time they were read */
};

void gtel_client_table_done(struct gtel_client_table *table);
/* Forgets all clients, keeps the memory. */
void gtel_client_table_reset(struct gtel_client_table *table);
/* The number of that client, which is added where it is not known; 0: there is no room. */
uint32_t gtel_client_table_add(struct gtel_client_table *table, const struct gtel_client_key *key);
/* The client of a number that is in use. */
static inline struct gtel_client *gtel_client_table_get(const struct gtel_client_table *table,
                                                        uint32_t number)
{
    return &table->client[number - 1];
}
void gtel_client_table_remove(struct gtel_client_table *table, uint32_t number);
/* Whether the client was read in this gather. */
static inline bool gtel_client_is_read(const struct gtel_client_table *table,
                                       const struct gtel_client *client)
{
    return client->gather == table->gather;
}
/* Whether a counter stands below its base. */
bool gtel_client_is_below(const struct gtel_client *client);
/* No share spans what happened to this client, or to all clients of a device. */
void gtel_client_forget_bases(struct gtel_client *client);
void gtel_client_table_forget_bases(struct gtel_client_table *table, size_t device);

#endif
