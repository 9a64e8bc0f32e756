/* SPDX-License-Identifier: MIT */
/*
 * The inside of the scan, for scan*.c only: processes, their descriptors of DRM devices (slots),
 * and the clients behind these.
 *
 * Slots and clients are named by their index + 1 in arrays that can move; 0 is none.
 */
#ifndef GTEL_SOURCES_CLIENTS_SCAN_INSIDE_H
#define GTEL_SOURCES_CLIENTS_SCAN_INSIDE_H

#include "sources/clients/scan.h"

enum {
    GTEL_SCAN_PROCESSES_MAX = 1 << 17,
    GTEL_SCAN_SLOTS_MAX = 1 << 16,
    GTEL_SCAN_TEXT_MAX = 16384,
    GTEL_SCAN_BUCKETS = 4096,
    GTEL_SCAN_AGAIN_MAX = 4,
    /* What looking costs, in times of asking for one process's number of descriptors. */
    GTEL_SCAN_COST_PROCESS = 3,
    GTEL_SCAN_COST_FD = 2,
    GTEL_SCAN_COST_IDLE = 1,
    GTEL_SCAN_COST_TEXT = 4
};

/* A descriptor of a DRM device, or one whose text is that of a client. */
struct gtel_scan_slot {
    uint32_t next; /* of the same process, by descriptor; of a free slot: the next free one */
    uint32_t fd;
    uint32_t client; /* 0: the text is of none */
    uint32_t look;   /* in which it was seen last */
    uint32_t major;
    uint32_t minor;
    int file_plus_1;             /* kept open; 0: not */
    struct gtel_pid_birth birth; /* of its process */
    bool has_device;
    bool is_unread; /* it could not be read yet */
    bool is_asleep; /* it might not be read */
    bool is_broker; /* its process opens devices for others */
};

struct gtel_scan_client {
    uint64_t key;
    uint32_t next;   /* in the bucket, or the next free one */
    uint32_t leader; /* the slot that is read for it */
    uint32_t slots;
    bool is_used;
    uint32_t last_pid; /* that of the last leader */
    bool is_elected;   /* the leader is to be found again, or new and not read yet */
};

struct gtel_scan_process {
    uint32_t pid;
    uint32_t first; /* slot */
    uint64_t id;
    uint64_t ino;       /* of proc/PID/fd; 0: not asked yet */
    uint64_t size;      /* descriptors, when asked last */
    uint64_t since_ns;  /* when it was seen first */
    uint64_t looked_ns; /* when the last whole look began */
    uint64_t cpu_ns;    /* the processor time used before the last look began */
    uint64_t due_ns;    /* of another look where the kernel tells no numbers; 0: none */
    int dir_plus_1;     /* proc/PID/fd, kept; 0: not */
    uint32_t look;      /* number of the present look, or of the last one */
    uint32_t next_fd;   /* where the present look goes on */
    uint32_t found;     /* descriptors in the present look so far */
    uint32_t refused;   /* of these: which may not be asked */
    uint32_t fds;       /* found by the last look */
    struct gtel_pid_birth birth;
    bool is_gone; /* has ended since processes were listed */
    bool is_looking;
    bool wants_look;
    bool has_changed; /* during the present look */
    bool has_looked;
    bool has_cpu;
    bool is_by_text; /* descriptors may not be asked: their texts are read */
    bool is_unreadable;
    bool is_asleep; /* texts might not be read */
    bool is_ours;   /* the program's own */
    bool is_broker; /* opens devices for others */
    bool is_quiet;  /* has done nothing between its last two turns (scan.c) */
    bool has_turn;
    uint64_t turn_ns;     /* when it has its next turn; 0: not yet known */
    uint64_t turn_cpu_ns; /* the processor time used when it had its last turn */
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
    struct gtel_scan_client *client;
    size_t clients;
    size_t clients_size;
    uint32_t free_client;
    uint32_t bucket[GTEL_SCAN_BUCKETS];
    bool has_orphans; /* clients whose leader is gone */
    bool has_lost;    /* clients without slots */

    uint64_t last_id;
    uint64_t now_ns;       /* when the gather began */
    uint64_t last_ns;      /* when the one before began; 0: none */
    uint64_t deadline_ns;  /* of looking */
    uint64_t work;         /* of this gather but for looking, in costs of a process, if each process
                              were asked */
    bool has_been_through; /* everything was looked at once */
    uint32_t look_pid;     /* where looking goes on */
    uint32_t rotation_pid; /* where rotation goes on */
    uint64_t list_due_ns;  /* when to ask for the kernel's list; UINT64_MAX: there is none */
    uint64_t round_ns;     /* when this round of it began */
    size_t kept;           /* files and directories that are open */
    size_t kept_max;       /* as many as the limit of descriptors allows */
    uint32_t again;        /* texts that were read twice in this gather */

    uint32_t last_pid;   /* that the kernel had given when processes were listed; 0: not known */
    uint32_t listed_pid; /* the same, a gather before */
    uint64_t whole_ns;   /* when all processes are to be listed again */
    int last_pid_file_plus_1;
    bool has_tried_last_pid;

    uint32_t own_pid;
    uint32_t own_parent;
    char own_name[32]; /* comm; empty: not known */
    char text[GTEL_SCAN_TEXT_MAX];
};

/* ---- scan.c ---- */

/*
 * Whether what is to be done by that time has to be done in this gather: the next one may come too
 * late, by more than a quarter of an interval.
 */
bool gtel_scan_is_due(const struct gtel_scan *scan, uint64_t due_ns);

/* ---- scan_pids.c ---- */

/*
 * Puts the processes into scan->pid, in ascending order: the whole list each settings.quiet_ns; in
 * between, where the kernel says which number it gave last, those that are new and those that are
 * known, of which some may have ended. 0 or a negative errno.
 */
int gtel_scan_pids(struct gtel_scan *scan);
void gtel_scan_pids_done(struct gtel_scan *scan);

/* ---- scan_slots.c ---- */

/* Opens a file to be read once or kept; makes room when there are too many. Handle or error. */
int gtel_scan_open(struct gtel_scan *scan, const char *path);
/* Closes some of what is kept, because there are no more descriptors. */
void gtel_scan_make_room(struct gtel_scan *scan);
/* Reads a text through an open file. 0 and the text in *ret, which borrows from the scan. */
int gtel_scan_read(struct gtel_scan *scan, int handle, struct gtel_str *ret);
void gtel_scan_keep_dir(struct gtel_scan *scan, struct gtel_scan_process *process);
void gtel_scan_close_dir(struct gtel_scan *scan, struct gtel_scan_process *process);

/* A new slot behind the slot `before` of the process (0: in front), or 0 when there is no room. */
uint32_t gtel_scan_slot_add(struct gtel_scan *scan, struct gtel_scan_process *process,
                            uint32_t before, uint32_t fd);
/* Removes the slot behind `before` (0: the first one). */
void gtel_scan_slot_drop(struct gtel_scan *scan, struct gtel_scan_process *process,
                         uint32_t before);
void gtel_scan_slots_clear(struct gtel_scan *scan, struct gtel_scan_process *process);
bool gtel_scan_slot_leads(const struct gtel_scan *scan, uint32_t slot);
/* Makes the slot stand for its client when none does, or one with less right to it. */
void gtel_scan_slot_appoint(struct gtel_scan *scan, uint32_t slot);
/* A process is identified now: its slots record it, and their clients are assigned again. */
void gtel_scan_slots_know(struct gtel_scan *scan, const struct gtel_scan_process *process);
/*
 * Reads the slot's text and hands it out. False when the descriptor is not there any more; the slot
 * is still there then.
 */
bool gtel_scan_slot_read(struct gtel_scan *scan, const struct gtel_scan_process *process,
                         uint32_t slot);
/* Clients without a leader get one, which is read. */
void gtel_scan_promote(struct gtel_scan *scan);
/* Clients without slots are told to be gone. */
void gtel_scan_bury(struct gtel_scan *scan);

/* ---- scan_look.c ---- */

/*
 * Looks through a process, or goes on with that, until *work is used up or the deadline has come.
 * True when it is through, or nothing more can be done in this gather.
 */
bool gtel_scan_look(struct gtel_scan *scan, struct gtel_scan_process *process, int64_t *work);
/* Whether a process has done nothing since it was looked at. Costs are taken from *work. */
bool gtel_scan_is_idle(struct gtel_scan *scan, const struct gtel_scan_process *process,
                       int64_t *work);

/* ---- scan_list.c ---- */

/*
 * Compares what is known with the kernel's own list of descriptors, when that is due: processes
 * that differ get a look, those without devices none. With counts.is_listed, nothing is left for
 * rotation to find.
 */
void gtel_scan_list(struct gtel_scan *scan);

#endif
