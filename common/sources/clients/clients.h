/* SPDX-License-Identifier: MIT */
/*
 * The private state of the source drm_clients: who uses which GPU, from DRM fdinfo.
 *
 * Each gather: every device is checked (devices.c: present, awake, in a pause), descriptors are
 * found and read (scan.h), each text updates its client (texts.c: memory, shares of the engines
 * over the interval of the gather), and what the clients use is reported per process and, where
 * every process of the host could be read, per engine class of the device (clients.c).
 *
 * The device's engine use is reported as a share, never as a counter of busy time: nothing is known
 * of an interval in which the share of one client is not, and a counter would include it.
 *
 * memory.h defines what counts as memory of a client. A buffer that two clients share is counted
 * for both, and in what is shared.
 *
 * Work and memory of ROCm processes is known from KFD, too (kfd.c), and joined with their clients.
 */
#ifndef GTEL_SOURCES_CLIENTS_CLIENTS_H
#define GTEL_SOURCES_CLIENTS_CLIENTS_H

#include "processes/usage.h"
#include "sources/drm/awake.h"
#include "host/drm.h"
#include "host/process.h"
#include "sources/drm/rest.h"
#include "parse/fdinfo.h"
#include "parse/proc.h"
#include "sources/clients/memory.h"
#include "sources/clients/scan.h"
#include "sources/clients/table.h"
#include "sources/source.h"
#include "tables/engine.h"

enum {
    GTEL_CLIENT_DEVICES_MAX = 256,
    GTEL_CLIENT_ENGINE_NAME_MAX = 32,
    GTEL_CLIENT_KFD_MAX = 2048,     /* with more, any process may be one of them */
    GTEL_CLIENT_KFD_NODES_MAX = 128 /* GPUs and partitions; more are not known */
};

/* An engine name of a device. */
struct gtel_client_engine {
    char name[GTEL_CLIENT_ENGINE_NAME_MAX]; /* the driver's */
    enum gtel_engine_kind kind;
    uint32_t capacity;     /* the largest that a client has reported */
    uint64_t total;        /* all cycles, as a client of this gather showed them; 0: none did */
    uint64_t total_before; /* the same of the gather before */
    double used; /* in this gather: the sum of the clients' shares; NAN: one is not known */
};

/* How a driver counts the work of engines. */
enum gtel_client_counting {
    GTEL_COUNTS_LUMPS,    /* when it ends, or that of an unknown number of engines */
    GTEL_COUNTS_EXACTLY,  /* what the hardware measured: never more than the interval */
    GTEL_COUNTS_NO_ZEROS, /* in lumps; an engine that is not there has done nothing */
};

/* What is not in a driver's texts. */
struct gtel_client_driver {
    const char *name;        /* of the driver in sysfs; NULL: one that is not known here */
    const char *text;        /* drm-driver in its texts; NULL: the same */
    uint32_t omitted_memory; /* a bit per kind of memory (parse/fdinfo.h) omitted when it is 0 */
    uint32_t profiling;      /* time is counted while this bit is set in its file; 0: no file */
    /* Since which kernel it prints anything about them, and what came later; 0: always. */
    struct gtel_release clients;
    struct gtel_release engines;
    struct gtel_release memory;
    enum gtel_client_counting counting;
    bool wakes;   /* reading a text wakes the device and keeps it awake */
    bool has_kfd; /* takes work that is in no text of a client: see kfd.c */
};

/* What the texts of a device have shown of its driver so far. */
enum gtel_client_texts {
    GTEL_TEXTS_UNKNOWN,
    GTEL_TEXTS_SILENT, /* they have no lines of DRM: the driver is too old */
    GTEL_TEXTS_REPORT  /* a client had memory or engines */
};

/* The work of a device's clients in a gather; each includes those before. */
enum gtel_client_work {
    GTEL_WORK_UNREAD, /* no text was read */
    GTEL_WORK_NONE,
    GTEL_WORK_SOME /* a counter of a client has moved, or may have */
};

/* Which clients of a device are missing in a gather; each includes those before. */
enum gtel_client_gap {
    GTEL_GAP_NONE,
    GTEL_GAP_UNREAD,   /* a descriptor that nothing is known of was not read */
    GTEL_GAP_AMBIGUOUS /* a client may be of this device or of another one of the driver */
};

/* Whether guests use a device through virtual functions. */
enum gtel_client_guests { GTEL_GUESTS_NONE, GTEL_GUESTS_LEFT, GTEL_GUESTS_PRESENT };

struct gtel_client_device {
    struct gtel_drm_card card;
    char path[GTEL_DRM_PATH_MAX];
    const struct gtel_client_driver *driver;
    struct gtel_device *device; /* NULL: not registered, for no client has reported yet */
    struct gtel_awake awake;
    struct gtel_rest rest;
    bool is_present;
    bool is_found;                  /* by the discovery that runs */
    struct gtel_fs_file vfs;        /* sriov_numvfs, of a device that can have virtual functions */
    bool wants_vfs;                 /* the file is looked for: after each discovery */
    enum gtel_client_guests guests; /* LEFT: since the gather before */
    enum gtel_client_place place;
    bool is_watched; /* for sleeps between two gathers, where the kernel counts them */
    bool is_asleep;
    bool is_read;          /* may be read in this gather */
    bool was_asleep;       /* since its clients were read last */
    uint64_t suspended_ns; /* for how long until the gather before, where that is known */
    bool has_closed;       /* since the last sums: a client that was at work, with its last work */
    enum gtel_client_work work;
    enum gtel_client_gap gap;
    enum gtel_client_texts texts;
    size_t engines;
    struct gtel_client_engine engine[GTEL_CLIENT_ENGINES_MAX];
};

/* A GPU, or a partition of one, as KFD has it. */
struct gtel_client_kfd_node {
    uint32_t id;
    uint32_t device; /* position in the list of devices */
};

enum gtel_client_kfd_file {
    GTEL_CLIENT_KFD_VRAM,
    GTEL_CLIENT_KFD_EVICTED,
    GTEL_CLIENT_KFD_UNITS,
    GTEL_CLIENT_KFD_FILES
};

/* What a process has of a node. */
struct gtel_client_kfd_use {
    struct gtel_fs_file file[GTEL_CLIENT_KFD_FILES];
    uint32_t absent; /* a bit per file: it is not there */
    int error;       /* of vram, in this gather */
    bool was_used;   /* in the gather before */
    uint64_t vram;   /* bytes */
};

enum gtel_client_kfd_queues { GTEL_QUEUES_NONE, GTEL_QUEUES_LEFT, GTEL_QUEUES_PRESENT };

struct gtel_client_kfd_process {
    uint32_t pid;
    uint32_t gathers;                   /* in which it was read */
    bool is_listed;                     /* in this gather … */
    bool was_listed;                    /* … and in the one before */
    enum gtel_client_kfd_queues queues; /* without VRAM; LEFT: since the gather before */
    struct gtel_client_kfd_use *use;    /* one per node */
};

struct gtel_client_kfd {
    struct gtel_client_kfd_node node[GTEL_CLIENT_KFD_NODES_MAX];
    size_t nodes;
    int nodes_error; /* why some, or whose pids there are, is not known; 0: all is */
    struct gtel_client_kfd_process process[GTEL_CLIENT_KFD_MAX]; /* by pid */
    size_t n;
    size_t passed; /* of these, while processes are listed */
    size_t listed; /* in this gather */
    size_t kept;   /* files that are open */
    size_t kept_max;
    int error;            /* why processes could not be listed; 0: they were, or there is no KFD */
    bool has_user_queues; /* amdgpu lets clients have queues of their own */
};

struct gtel_clients {
    const struct gtel_env *env;
    /* In the order in which they came; never removed. */
    struct gtel_client_device *device[GTEL_CLIENT_DEVICES_MAX];
    size_t n;
    struct gtel_drm_node node[GTEL_DRM_NODES_MAX]; /* device: position in the list above */
    size_t nodes;
    struct gtel_arena arena; /* for the time of a discovery */
    struct gtel_scan *scan;
    const struct gtel_scan_counts *counts; /* of its last gather */
    struct gtel_client_table table;
    struct gtel_share_clock clock;
    enum gtel_share_span span; /* of this gather */
    uint64_t dt_ns;
    uint64_t t_ns;           /* when this gather began */
    uint64_t boot_before_ns; /* when the one before began, on the clock of processes' starts */
    struct gtel_registry *registry; /* during sample() */
    struct gtel_batch *batch;       /* the same */
    uint64_t nodes_sum;             /* of their names, while a device is missing */
    bool has_searched;              /* for devices that a text named, in this gather */
    bool needs_discovery;           /* a device was added or removed */
    bool is_incomplete;             /* the last discovery missed something */
    uint32_t missed;                /* gathers since it could */
    bool is_keeping;                /* between gathers: texts are read, and nothing reported */
    int scan_error;                 /* of the last gather */
    enum gtel_namespace namespace;  /* of pids: ours */
    struct gtel_client_kfd kfd;
    struct gtel_fdinfo fdinfo;
};

/* devices.c */

/* The driver of that name, or the one without a name. */
const struct gtel_client_driver *gtel_client_driver_find(const char *name);
/*
 * 0 when some device may have clients with texts, -ENOENT, or the error of the listing; wakes
 * nothing.
 */
int gtel_clients_any(const struct gtel_env *env);
/* Finds devices; registers those whose drivers are known to report clients. 0 or an error. */
int gtel_clients_discover(struct gtel_clients *state, struct gtel_registry *registry);
/*
 * While a device is missing: finds out, by the names of all nodes, whether one has come, so that it
 * is there in the first gather after its driver was bound again.
 */
void gtel_clients_find_returned(struct gtel_clients *state);
/* Before the texts of a gather are read: which devices are there, and may be read. */
void gtel_clients_check_devices(struct gtel_clients *state, struct gtel_batch *batch);
/* After it: which idle ones are left alone from now on. */
void gtel_clients_update_rests(struct gtel_clients *state);
/* Position of the device of a node, or -1, as of major 0. */
int64_t gtel_clients_node(const struct gtel_clients *state, uint32_t major, uint32_t minor);
/*
 * Position of the device that a text is about; GTEL_CLIENT_FREE: there is none; or
 * GTEL_CLIENT_NO_DEVICE: the text is without an address, and one of several, each of which is
 * missing a client then.
 */
int32_t gtel_clients_device(const struct gtel_clients *state, const struct gtel_fdinfo *fdinfo,
                            const struct gtel_scan_text *seen);
void gtel_clients_close_devices(struct gtel_clients *state);

static inline void gtel_clients_miss(struct gtel_client_device *device, enum gtel_client_gap gap)
{
    device->gap = device->gap < gap ? gap : device->gap;
}

/* kfd.c */

/*
 * At a discovery: KFD's nodes, and whether clients of amdgpu have queues of their own. hidden: why
 * our pid namespace is not known, or 0. False: something of it failed, and is to be tried again.
 */
bool gtel_clients_find_kfd(struct gtel_clients *state, int hidden);
/* When a gather begins: which processes have work that is in no text. */
void gtel_clients_read_kfd(struct gtel_clients *state);
/*
 * What a process uses of a present device as its clients have it: sets the classes in which it may
 * have such work, and omits the memory where a file of KFD failed, for there may be more.
 */
void gtel_clients_hide(const struct gtel_clients *state, const struct gtel_client_device *device,
                       uint32_t pid, struct gtel_use *use);
/* Whether any process may: then no sum over clients is the device's. */
bool gtel_clients_is_hidden(const struct gtel_clients *state,
                            const struct gtel_client_device *device);
/*
 * After all clients were reported: what processes use as KFD has it. Where a file of KFD failed,
 * the device has something that was not read.
 */
void gtel_clients_report_kfd(struct gtel_clients *state, struct gtel_batch *batch);
/* Forgets the processes of KFD, and closes their files. */
void gtel_clients_close_kfd(struct gtel_clients *state);

/* texts.c */

/* The hooks of the scan; arg is the state. */
uint32_t gtel_clients_read(void *arg, const struct gtel_scan_text *text);
bool gtel_clients_is_drm(void *arg, struct gtel_str text);
bool gtel_clients_may_read(void *arg, const struct gtel_scan_ask *ask);
void gtel_clients_failed(void *arg, const struct gtel_scan_ask *ask);
void gtel_clients_closed(void *arg, uint32_t number);

#endif
