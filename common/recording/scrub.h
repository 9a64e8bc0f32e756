/* SPDX-License-Identifier: MIT */
/*
 * Removes from a recorded machine what identifies a machine or a person.
 *
 * All of its text passes through gtel_scrub_record: paths, links, contents, answers, messages and
 * comments. Twice: what is found to be a secret in the first run is replaced everywhere in the
 * second. The same secret always becomes the same text, so that relations stay:
 * - Names of the host, its domain and its users are replaced in upper and lower case and inside
 *   words, by "host1" or "user1000". Names below three bytes stay. In texts of the kernel
 *   (sys, dev, most of proc) a word that the kernel itself uses there (scrub_rules.c) stays, as
 *   do two letters and a number ("fb0") and a part of a hexadecimal number; in cgroups a word of
 *   systemd and container programs.
 * - Numbers, uuids and addresses are known by the file or key that has them, or by their form
 *   (scrub_rules.c), and keep it: letters stay letters, digits digits.
 * - User and group numbers from 1000 on are counted up from 1000.
 */
#ifndef GTEL_RECORDING_SCRUB_H
#define GTEL_RECORDING_SCRUB_H

#include "base/arena.h"
#include "base/buf.h"

enum gtel_scrub_kind {
    GTEL_SCRUB_SERIAL, /* serial, board and asset numbers, names of disks */
    GTEL_SCRUB_UUID,   /* also ids of pods and containers, and hashes */
    GTEL_SCRUB_HOST,   /* of hosts, domains, containers and who built the kernel */
    GTEL_SCRUB_USER,
    GTEL_SCRUB_ADDRESS, /* of networks and mail */
    GTEL_SCRUB_KINDS
};

/* Where a secret is replaced, and by what. */
enum gtel_scrub_how {
    GTEL_SCRUB_SPREAD, /* everywhere, by made-up letters and digits */
    GTEL_SCRUB_LOCAL,  /* the same, but only where its place says that it is a secret */
    GTEL_SCRUB_NAME,   /* inside words, too, by made_up as it is */
    GTEL_SCRUB_NUMBER  /* of a user or group: only found, never kept as such */
};

enum { GTEL_SCRUB_BUCKETS = 1024 };

struct gtel_scrub_secret {
    struct gtel_str real;    /* folded: lower case, without what separates letters and digits */
    struct gtel_str made_up; /* of the same length, or the text that stands for a name */
    uint32_t next;           /* index + 1 in the bucket */
    enum gtel_scrub_kind kind;
    enum gtel_scrub_how how;
    bool is_used; /* it stood in a text */
};

/* A zeroed struct knows of no secrets. */
struct gtel_scrub {
    struct gtel_scrub_secret *secret;
    size_t n;
    size_t size;
    uint32_t bucket[GTEL_SCRUB_BUCKETS];
    size_t names[GTEL_SCRUB_KINDS];
    size_t numbers;                    /* of users and groups */
    size_t replaced[GTEL_SCRUB_KINDS]; /* different ones of each kind that stood in a text */
    bool has_failed;                   /* too many, or memory is out: a text may hold a secret */
    struct gtel_arena arena;
};

void gtel_scrub_done(struct gtel_scrub *scrub);
/*
 * Names that are replaced from now on: of a host or a user, each with or without its domain. Empty
 * ones, those below three bytes and "localhost" are skipped.
 */
void gtel_scrub_host(struct gtel_scrub *scrub, struct gtel_str name);
void gtel_scrub_user(struct gtel_scrub *scrub, struct gtel_str name);
/*
 * The users in the text of etc/passwd: those with a number from 1000 on and those with a shell.
 * The others are named after programs, and stay.
 */
void gtel_scrub_users(struct gtel_scrub *scrub, struct gtel_str passwd);

/*
 * Appends what stays of the content of the file of that path, where it is one about processes or
 * users: no command lines, no members of groups, no real names, no addresses of memory, no mounts
 * but the kubelet's, nothing of descriptors but those of GPUs. Of other files all of it.
 */
void gtel_scrub_reduce(struct gtel_str path, struct gtel_str text, struct gtel_buf *out);
/* Appends a recorded machine (recording/tree.h), scrubbed; contents have been reduced before. */
void gtel_scrub_record(struct gtel_scrub *scrub, struct gtel_str text, struct gtel_buf *out);

/* "serial numbers", "uuids" … */
const char *gtel_scrub_kind_name(enum gtel_scrub_kind kind);

#endif
