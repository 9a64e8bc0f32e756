/* SPDX-License-Identifier: MIT */
/*
 * The inside of the scan, for scan*.c only: processes, their descriptors of DRM devices (slots),
 * and the clients behind these.
 *
 * scan.c orders a gather, knows processes and finds descriptors; scan_slots.c keeps and reads
 * them, and calls nothing of scan.c.
 *
 * Slots and clients are named by their index + 1 in arrays that can move; 0 is none.
 */
#ifndef GTEL_SOURCES_CLIENTS_SCAN_STATE_H
#define GTEL_SOURCES_CLIENTS_SCAN_STATE_H

#include "sources/clients/scan.h"

#include <errno.h>

enum {
    GTEL_SCAN_TEXT_MAX = 16384,
    GTEL_SCAN_LONGS_MAX = 4,
    GTEL_SCAN_PROCESS_SLOTS_MAX = 8192 /* an eighth: none takes the room of all others */
};

/* A descriptor of a DRM device, or one whose text is that of a client. */
struct gtel_scan_slot {
    uint32_t next; /* of the same process, by descriptor; of a free slot: the next free one */
    uint32_t fd;
    uint32_t client; /* 0: the text is of none */
    uint32_t gather; /* in which it was read last, or could not be */
    uint32_t major;  /* of the device; 0: not known */
    uint32_t minor;
    int file_plus_1; /* kept open; 0: not */
    bool is_due;     /* to be read, whether it leads or not */
};

/* A descriptor that stands for a client, or could. */
struct gtel_scan_leader {
    uint32_t slot; /* 0: none; the rest is then that of the last one */
    struct gtel_scan_owner owner;
    bool is_broker; /* its process opens devices for others */
};

struct gtel_scan_client {
    uint32_t slots; /* 0: nobody has this client */
    struct gtel_scan_leader leader;
    struct gtel_scan_leader next; /* in the election that runs; slot 0: nobody yet */
};

enum gtel_scan_role {
    GTEL_SCAN_USER,
    GTEL_SCAN_BROKER, /* opens devices for others */
    GTEL_SCAN_OURS    /* the program's own */
};

enum gtel_scan_walked { GTEL_SCAN_NEVER, GTEL_SCAN_REFUSED, GTEL_SCAN_READ };

struct gtel_scan_process {
    struct gtel_scan_owner owner;
    uint32_t pid;
    uint32_t first;                        /* slot */
    uint32_t slots;                        /* that it has */
    uint64_t ino;                          /* of proc/PID/fd; 0: not asked yet */
    uint64_t size;                         /* descriptors, when asked last */
    uint64_t begin_ns;                     /* when it was listed first; 0: in the first gather */
    uint32_t next_fd;                      /* where an unfinished walk goes on; 0: there is none */
    uint32_t checked;                      /* descriptors in the present walk so far */
    uint32_t refused;                      /* of these: which may not be checked */
    uint32_t long_fd[GTEL_SCAN_LONGS_MAX]; /* whose texts are too long to be a client's */
    uint32_t longs;
    int dir_plus_1;  /* proc/PID/fd, kept; 0: not */
    bool is_due;     /* wants a walk, or another one after an unfinished one */
    bool is_ended;   /* since processes were listed */
    bool is_by_text; /* descriptors may not be checked: their texts are read */
    enum gtel_scan_role role;
    enum gtel_scan_walked walked; /* when that was done last */
};

/* A descriptor that a walk has found. */
struct gtel_scan_found {
    uint32_t fd;
    bool is_unknown; /* the check failed: what it was before, it still is */
    uint32_t major;
    uint32_t minor;
};

struct gtel_scan {
    const struct gtel_env *env;
    struct gtel_scan_settings settings;
    const struct gtel_scan_hooks *hooks; /* during a gather */
    struct gtel_scan_counts counts;

    struct gtel_scan_process *process; /* by pid */
    struct gtel_scan_process *spare;   /* of the same size */
    size_t processes;
    size_t processes_size;
    uint32_t *pid; /* listed in this gather */
    size_t pids;
    size_t pids_size;

    struct gtel_scan_slot *slot;
    size_t slots; /* used so far */
    size_t slots_size;
    uint32_t free_slot;
    struct gtel_scan_client *client; /* by number */
    size_t clients;
    bool needs_election;
    bool needs_room; /* there were no descriptors */
    size_t kept;     /* files and directories that are open */
    size_t kept_max; /* as many as the limit of descriptors allows */
    size_t files;    /* of what is kept */
    uint32_t fresh;  /* slots that this gather found */
    uint32_t again;  /* texts that were read twice in this gather */

    uint64_t last_number;
    uint32_t gather;
    uint64_t now_ns;      /* when the gather began */
    uint64_t deadline_ns; /* of walking */
    uint32_t walk_pid;    /* where walking goes on */
    bool is_through;      /* each process was walked once */

    uint64_t walked;       /* descriptors in this round, or in the first scan */
    uint64_t round_ns;     /* when this round of the rotation began */
    uint64_t period_ns;    /* how long it is to take */
    size_t round_walked;   /* processes in it so far */
    uint32_t rotation_pid; /* where it goes on */
    uint64_t list_due_ns;  /* when to ask for the kernel's list; UINT64_MAX: there is none */

    uint32_t own_pid; /* 0: not known */
    uint32_t own_parent;
    char own_name[32]; /* empty: not known */
    char text[GTEL_SCAN_TEXT_MAX];
};

/* Closes some of what is kept, because there are no more descriptors. */
void gtel_scan_make_room(struct gtel_scan *scan);
/* A process has ended: drops its slots and closes its directory. */
void gtel_scan_forget(struct gtel_scan *scan, struct gtel_scan_process *process);
/*
 * A walk from one descriptor up to, but without, another one has found these n, in order. With the
 * last one, the process's directory is kept, where it reports numbers.
 */
void gtel_scan_update(struct gtel_scan *scan, struct gtel_scan_process *process, uint32_t from,
                      uint64_t to, const struct gtel_scan_found *found, size_t n);
/* Reads what leads or is due and was not read in this gather; each client gets a leader. */
void gtel_scan_read(struct gtel_scan *scan);
/* Reports the clients without slots as closed. */
void gtel_scan_close_clients(struct gtel_scan *scan);

static inline bool gtel_scan_may_read(const struct gtel_scan *scan, const struct gtel_scan_ask *ask)
{
    return !scan->hooks->may_read || scan->hooks->may_read(scan->hooks->arg, ask);
}

/* Whether an error means that the descriptor or its process is not there any more. */
static inline bool gtel_scan_is_ended(int r)
{
    return r == -ENOENT || r == -ESRCH || r == -ENODEV;
}

#endif
