/* SPDX-License-Identifier: MIT */
/*
 * Finds the descriptors of DRM devices that processes hold, and reads their fdinfo texts.
 *
 * Checking every descriptor of every process costs milliseconds to seconds, so it is not done in
 * each gather. The kernel reports the number of a process's descriptors as the size of proc/PID/fd
 * (Linux 6.2 and newer): a gather asks for these numbers and walks the descriptors of processes
 * that are new or whose number has changed. All others are walked in rotation, because one
 * descriptor can take the place of another. The texts of known clients are read from files that
 * are kept open. Walking has a time limit in each gather: a first scan is spread over gathers.
 *
 * The same client can be held by many descriptors and processes (dup, fork, SCM_RIGHTS). One of
 * them stands for it, its leader: that of the process that began first, so that a forked child
 * never takes the place of its parent; but none of a process that opens devices for others, as
 * systemd-logind, while another process has it. The others are not read while that one is there.
 *
 * What a text means is the caller's business: it gives each client a number. Nothing here is about
 * GPUs but the device numbers. The scan never reads the process that it runs in.
 */
#ifndef GTEL_SOURCES_CLIENTS_SCAN_H
#define GTEL_SOURCES_CLIENTS_SCAN_H

#include "host/env.h"
#include "parse/proc.h"

enum { GTEL_SCAN_CLIENTS_MAX = 1 << 16 };

struct gtel_scan; /* private */

/* A process as long as it lives, and no other one. */
struct gtel_scan_owner {
    uint64_t number;             /* another one when the pid is used again; never 0 */
    struct gtel_pid_birth birth; /* its start may not be known yet */
};

/* A descriptor whose text was just read. */
struct gtel_scan_text {
    struct gtel_scan_owner owner;
    uint32_t fd;
    /* Of the device: 226 DRM, 261 accelerators; 0: not known, for descriptors of the process may
     * not be checked (see counts). */
    uint32_t major;
    uint32_t minor;
    uint64_t t_ns;        /* when it was read */
    struct gtel_str text; /* of proc/PID/fdinfo/FD; valid during the call */
};

/* What may be read. */
struct gtel_scan_ask {
    uint32_t client; /* 0: not read before */
    uint32_t major;
    uint32_t minor;
};

/* Called during a gather. */
struct gtel_scan_hooks {
    void *arg;
    /*
     * Uses a text. Returns the client's number, from 1 to GTEL_SCAN_CLIENTS_MAX: the same whichever
     * descriptor it is read from, and another than that of every other client; 0 when it is none;
     * or UINT32_MAX when there is no room for it, and it is to be read again. In one gather a
     * client is read once, and once more for each other descriptor of it that happens to be walked.
     */
    uint32_t (*read)(void *arg, const struct gtel_scan_text *text);
    /*
     * Whether a text is one of a DRM device; asked where descriptors may not be checked. NULL: it
     * may be.
     */
    bool (*is_drm)(void *arg, struct gtel_str text);
    /*
     * Whether a text may be read now. What may not is neither read nor closed, and is asked for
     * again in the next gather. NULL: always.
     */
    bool (*may_read)(void *arg, const struct gtel_scan_ask *ask);
    /* A text of which nothing is known could not be read; client is 0. NULL: of no interest. */
    void (*failed)(void *arg, const struct gtel_scan_ask *ask);
    /* No descriptor of that client exists any more. NULL: of no interest. */
    void (*closed)(void *arg, uint32_t client);
};

/* Zero is the default of each. */
struct gtel_scan_settings {
    uint64_t rotation_ns; /* by when every descriptor is walked again; 60 s */
};

struct gtel_scan_counts {
    uint32_t visible;  /* processes, without our own */
    uint32_t unknown;  /* of these: which were never walked, so that the rest is not known */
    uint32_t readable; /* of these: whose descriptors can be walked, or that have none */
    uint32_t by_text;  /* of the readable: can only be walked by reading fdinfo (CAP_SYS_PTRACE) */
    uint32_t waiting;  /* not yet walked, or changed since: the next gathers' work */
    uint32_t clients;  /* numbers in use */
    uint32_t asleep;   /* descriptors (by text: processes) that might not be read */
    uint32_t unread;   /* descriptors that could not be read, and nothing is known of them */
    uint32_t dropped;  /* descriptors or processes beyond what is kept: clients may be missing */
    uint64_t rotation_ns; /* by when each descriptor is walked again here, or listed by the kernel;
                             0: not known yet */
    bool has_numbers;     /* the kernel reports how many descriptors a process has (Linux 6.2) */
    bool is_first;        /* the first scan goes on: not everything could be walked in the time */
    bool is_listed;       /* the kernel itself lists descriptors (GTEL_BPF): no rotation */
    bool has_init;        /* process 1 is visible */
};

/* 0 or -ENOMEM. env outlives the scan; settings may be NULL. */
int gtel_scan_new(const struct gtel_env *env, const struct gtel_scan_settings *settings,
                  struct gtel_scan **ret);
/* Accepts NULL. */
void gtel_scan_free(struct gtel_scan *scan);
/*
 * Scans once. 0, -ENOMEM (what is known is kept), or another negative errno when processes cannot
 * be listed: then nothing is read, and nothing is closed.
 */
int gtel_scan_gather(struct gtel_scan *scan, const struct gtel_scan_hooks *hooks);
/* Of the last gather; the address is the same as long as the scan lives. */
const struct gtel_scan_counts *gtel_scan_counts(const struct gtel_scan *scan);
/* Whose a client is that was not closed; valid until the next gather. */
const struct gtel_scan_owner *gtel_scan_owner(const struct gtel_scan *scan, uint32_t client);
/*
 * Since when a process is there, as the owner of its clients; the start is 0 where it cannot be
 * read. 0; -ESRCH when it was not listed in the last gather; -EAGAIN while clients of it may be
 * missing, because not all of its descriptors were walked or read so far.
 */
int gtel_scan_birth(struct gtel_scan *scan, uint32_t pid, struct gtel_pid_birth *ret);
/* Texts of devices that were no client's are read again by the next gather. */
void gtel_scan_read_again(struct gtel_scan *scan);
/* Forgets everything, as when the last GPU is removed: closes what is open and calls nothing. */
void gtel_scan_reset(struct gtel_scan *scan);

#endif
