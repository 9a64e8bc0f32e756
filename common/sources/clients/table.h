/* SPDX-License-Identifier: MIT */
/*
 * The DRM clients of all processes: each open file of a DRM device once, however many descriptors
 * of however many processes refer to it (dup, fork, SCM_RIGHTS). Pure: no input or output.
 *
 * A client is told by its device and its id; without an id (old kernels) by process and descriptor.
 * It belongs to one process: the one that was seen with it first, as long as that one has it, else
 * the one with the lowest number that has it. A client that is not seen is kept for a few gathers,
 * with its counters, and then forgotten. A steady set of clients allocates nothing.
 */
#ifndef GTEL_SOURCES_CLIENTS_TABLE_H
#define GTEL_SOURCES_CLIENTS_TABLE_H

#include "host/process.h"
#include "sources/clients/share.h"

#include <stddef.h>

enum {
    GTEL_CLIENTS_MAX = 65536,     /* more are dropped and counted */
    GTEL_CLIENT_ENGINES_MAX = 16, /* as its device numbers them */
    GTEL_CLIENT_AGE = 3           /* gathers without a sight until a client is forgotten */
};

struct gtel_client_key {
    uint64_t id;     /* the client's; without one the number of the descriptor */
    uint32_t device; /* as the caller numbers them */
    uint32_t pid;    /* 0: the client has an id */
};

struct gtel_client {
    struct gtel_client_key key;
    struct gtel_process_id owner;
    struct gtel_process_id lowest; /* of the processes that were seen with it in this gather */
    uint64_t gather;               /* when it was seen last */
    uint64_t t_ns;                 /* when its counters were read last; the caller's */
    bool is_owner_seen;            /* in this gather */
    bool is_below;                 /* a counter stands below its base; the caller's */
    /* What it uses now; the caller's. */
    bool has_memory;
    bool has_shared;
    uint32_t has_share; /* a bit per engine: in this gather */
    uint64_t memory;
    uint64_t shared;
    float share_of[GTEL_CLIENT_ENGINES_MAX];
    struct gtel_share share[GTEL_CLIENT_ENGINES_MAX];
};

/* Zeroed: empty. */
struct gtel_client_table {
    struct gtel_client *client; /* in no order; moved by see() and end() */
    size_t n;
    size_t size;
    uint32_t *slot; /* position + 1 in client; open addressing; slots is a power of two */
    size_t slots;
    uint64_t gather;
    uint64_t dropped; /* sights of clients beyond the limit */
};

void gtel_client_table_done(struct gtel_client_table *table);
/* A gather begins. */
void gtel_client_table_begin(struct gtel_client_table *table);
/*
 * A process was seen with a client. Returns 1 for the first sight in this gather, with *ret, whose
 * figures are to be read now; 0 for another one; -ENOSPC beyond the limit, -ENOMEM. *ret is valid
 * until the next see() or end(). *ret_new: nothing was known of the client.
 */
int gtel_client_table_see(struct gtel_client_table *table, const struct gtel_client_key *key,
                          struct gtel_process_id process, struct gtel_client **ret, bool *ret_new);
/*
 * All was seen: settles whose each client is, and forgets those not seen for long. When the owner
 * has gone and a counter went back, the id was given to another client: its bases are forgotten.
 */
void gtel_client_table_end(struct gtel_client_table *table);
/* Whether the client was seen in the gather that has just ended. */
bool gtel_client_is_seen(const struct gtel_client_table *table, const struct gtel_client *client);
/* Takes the bases of all clients of a device away: no share spans what happened to it. */
void gtel_client_table_forget_bases(struct gtel_client_table *table, uint32_t device);

#endif
