/* SPDX-License-Identifier: MIT */
/*
 * The DRM clients of all processes: each open file of a DRM device once, however many descriptors
 * of however many processes refer to it (dup, fork, SCM_RIGHTS). Pure: no input or output.
 *
 * A client is told by its device and its id; without an id (old kernels) by process and descriptor.
 * It belongs to one process: of those that are seen with it the one that began first, where that is
 * known, so that a forked child never takes its parent's; else the one that was seen with it first,
 * as long as it is. (Who looks reads a client through one descriptor as long as that is there:
 * scan.h.) It stays, with its counters, until it is removed. A steady set of clients allocates
 * nothing.
 */
#ifndef GTEL_SOURCES_CLIENTS_TABLE_H
#define GTEL_SOURCES_CLIENTS_TABLE_H

#include "pipeline/use.h"
#include "parse/pid.h"
#include "sources/clients/share.h"

#include <stddef.h>

enum {
    GTEL_CLIENTS_MAX = 65536,    /* more are dropped and counted */
    GTEL_CLIENT_ENGINES_MAX = 16 /* as its device numbers them */
};

struct gtel_client_key {
    uint64_t id;     /* the client's; without one the number of the descriptor */
    uint32_t device; /* as the caller numbers them */
    uint32_t pid;    /* 0: the client has an id */
};

/* A process as long as it lives, and no other one. */
struct gtel_client_process {
    uint32_t pid;
    uint64_t number; /* another one when the pid is used again */
    struct gtel_pid_birth birth;
};

struct gtel_client {
    struct gtel_client_key key;
    struct gtel_client_process owner;
    struct gtel_client_process first; /* of those that were seen with it in this gather */
    uint64_t gather;                  /* when it was seen last */
    bool is_owner_seen;               /* in this gather */
    bool is_below;                    /* a counter stands below its base; the caller's */
    bool was_read;                    /* ever; the caller's */
    bool has_worked;                  /* when it was read last, or may have; the caller's */
    /* What is known of its process and what it uses now; the caller's. */
    struct gtel_client_process start_of; /* whose start that is */
    uint64_t start;
    uint64_t t_ns; /* when its bases were taken; 0: it has none */
    struct gtel_use_memory memory;
    uint32_t has_engine; /* a bit per engine: it tells of it */
    uint32_t has_share;  /* a bit per engine: its share in this gather is known */
    double share_of[GTEL_CLIENT_ENGINES_MAX];
    struct gtel_share share[GTEL_CLIENT_ENGINES_MAX];
};

/* Zeroed: empty. */
struct gtel_client_table {
    struct gtel_client *client; /* in no order; moved by see() and remove() */
    size_t n;
    size_t size;
    uint32_t *slot; /* position + 1 in client; open addressing; slots is a power of two */
    size_t slots;
    uint64_t gather;
    uint64_t dropped; /* sights of clients beyond the limit */
};

void gtel_client_table_done(struct gtel_client_table *table);
/* Forgets all clients, keeps the memory. */
void gtel_client_table_reset(struct gtel_client_table *table);
/* A gather begins. */
void gtel_client_table_begin(struct gtel_client_table *table);
/* A number that stands for the key: never 0, and with 64 bits as good as unique. */
uint64_t gtel_client_hash(const struct gtel_client_key *key);
/*
 * A process was seen with a client. Returns 1 for the first sight in this gather, with *ret, whose
 * figures are to be read now; 0 for another one; -ENOSPC beyond the limit, -ENOMEM. *ret is valid
 * until the next see() or remove(). *ret_new: nothing was known of the client.
 */
int gtel_client_table_see(struct gtel_client_table *table, const struct gtel_client_key *key,
                          struct gtel_client_process process, struct gtel_client **ret,
                          bool *ret_new);
/*
 * All was seen: settles whose each client is. When the owner has gone and a counter went back, the
 * id was given to another client: its bases are forgotten.
 */
void gtel_client_table_end(struct gtel_client_table *table);
/* The client of that hash, or NULL. */
struct gtel_client *gtel_client_table_find(const struct gtel_client_table *table, uint64_t hash);
/* No process has the client any more. */
void gtel_client_table_remove(struct gtel_client_table *table, uint64_t hash);
/* Whether the client was seen in the gather that has just ended. */
bool gtel_client_is_seen(const struct gtel_client_table *table, const struct gtel_client *client);
/* Takes the bases of all clients of a device away: no share spans what happened to it. */
void gtel_client_table_forget_bases(struct gtel_client_table *table, uint32_t device);

#endif
