/* SPDX-License-Identifier: MIT */
/*
 * Finds the descriptors of DRM devices that processes hold, and reads their fdinfo texts.
 *
 * Looking at every descriptor of every process costs milliseconds to seconds, so it is not done in
 * each gather (the kernel tells the number of a process's descriptors as the size of
 * proc/PID/fd). A gather lists the processes and asks for these numbers; it looks through processes
 * that are new or whose number has changed, and, in rotation, through a few of the others, because
 * one descriptor can take the place of another. The texts of known clients are read from files that
 * are kept open. What looking costs is bounded: a first scan is spread over gathers.
 *
 * Opening something takes processor time. So a process without clients that has used none between
 * two turns, which it has each 5 s (in each gather where these are 2.5 s apart or more), is asked
 * at its turns only. The whole list of processes is read as often; in between, where the kernel
 * says which number it gave last, only those that are new.
 *
 * The same client can be held by many descriptors and processes (dup, fork, SCM_RIGHTS). One of
 * them stands for it: that of the process that began first, so that a forked child never takes the
 * place of its parent; but none of a process that opens devices for others, as systemd-logind,
 * while another process has it. The others are not read again while that one is there.
 *
 * What a text means is the caller's business: it gives each client a key. Nothing here is about
 * GPUs but the device numbers. The scan never looks at the process that it runs in.
 */
#ifndef GTEL_SOURCES_CLIENTS_SCAN_H
#define GTEL_SOURCES_CLIENTS_SCAN_H

#include "host/env.h"
#include "parse/pid.h"

struct gtel_scan; /* private */

/* A descriptor whose text was just read. */
struct gtel_scan_seen {
    uint32_t pid;
    uint32_t fd;
    uint64_t process;            /* of that pid: another one when the pid is used again; never 0 */
    struct gtel_pid_birth birth; /* of the process; its start may not be known yet */
    bool has_device; /* false where the process's descriptors cannot be asked (see counts) */
    uint32_t major;  /* of the device: 226 DRM, 261 accelerators */
    uint32_t minor;
    uint64_t t_ns;        /* when it was read */
    struct gtel_str text; /* of proc/PID/fdinfo/FD; valid during the call */
};

/* What may be read. */
struct gtel_scan_ask {
    uint64_t key; /* of the client; 0: not read before */
    bool has_device;
    uint32_t major;
    uint32_t minor;
};

/* Called during a gather. */
struct gtel_scan_hooks {
    void *arg;
    /*
     * Takes a text. Returns the client's key: the same whichever descriptor it is read from, and
     * another than that of every other client; or 0 when it is none. In one gather a client is
     * given once, and once more for each other descriptor of it that happens to be looked at: the
     * first call counts.
     */
    uint64_t (*seen)(void *arg, const struct gtel_scan_seen *seen);
    /*
     * Whether a text may be read now. What may not is neither seen nor gone, and is asked for again
     * in the next gather. NULL: always.
     */
    bool (*may_read)(void *arg, const struct gtel_scan_ask *ask);
    /* A text of which nothing is known could not be read; key is 0. NULL: of no interest. */
    void (*unread)(void *arg, const struct gtel_scan_ask *ask);
    /* No descriptor of that client is left. NULL: of no interest. */
    void (*gone)(void *arg, uint64_t key);
};

/* Zero is the default of each. */
struct gtel_scan_settings {
    uint64_t rotation_ns; /* by when every descriptor is looked at again; 60 s */
    uint64_t look_ns;     /* how long a gather may look through processes; 30 ms */
    uint64_t quiet_ns;    /* by when it is known that a process which did nothing does something, or
                             that one has ended; 5 s */
};

struct gtel_scan_counts {
    uint32_t visible;     /* processes, without our own */
    uint32_t unlooked;    /* of these: which were never looked at, so that the rest is not known */
    uint32_t readable;    /* of these: whose descriptors can be looked at, or that have none */
    uint32_t quiet;       /* did nothing for a while, and are not asked for their numbers */
    uint32_t waiting;     /* not yet looked through, or changed since: the next gathers' work */
    uint32_t holders;     /* processes with clients */
    uint32_t clients;     /* keys */
    uint32_t asleep;      /* descriptors (by text: processes) that might not be read */
    uint32_t unread;      /* descriptors that could not be read, and nothing is known of them */
    uint32_t dropped;     /* descriptors beyond what is kept: clients may be missing */
    uint64_t descriptors; /* of the readable processes; 0 where the kernel does not tell */
    uint64_t rotation_ns; /* by when each of them is looked at again here, or listed by the kernel;
                             0: not known yet */
    uint64_t round_ns;    /* how long that took last, with those that do nothing passed over */
    bool
        has_numbers; /* the kernel tells how many descriptors a process has (Linux 6.2 and newer) */
    bool is_begun;   /* the first scan goes on: not all could be looked at in the time */
    bool is_listed;  /* the kernel itself lists descriptors (GTEL_BPF): no rotation */
    bool has_first;  /* process 1 is visible */
    bool is_by_text; /* some processes can only be looked at by reading fdinfo (CAP_SYS_PTRACE) */
};

/* 0 or -ENOMEM. env outlives the scan; settings may be NULL. */
int gtel_scan_new(const struct gtel_env *env, const struct gtel_scan_settings *settings,
                  struct gtel_scan **ret);
/* Accepts NULL. */
void gtel_scan_free(struct gtel_scan *scan);
/*
 * Looks once. 0, -ENOMEM (what is known is kept), or another negative errno when processes cannot
 * be listed: then nothing is seen, and nothing is gone.
 */
int gtel_scan_gather(struct gtel_scan *scan, const struct gtel_scan_hooks *hooks);
/* Of the last gather. */
const struct gtel_scan_counts *gtel_scan_counts(const struct gtel_scan *scan);
/* Texts of devices that were no client's are read again by the next gather. */
void gtel_scan_read_again(struct gtel_scan *scan);
/* Forgets everything, as when the last GPU has gone: closes what is open and calls nothing. */
void gtel_scan_reset(struct gtel_scan *scan);

#endif
