/* SPDX-License-Identifier: MIT */
/*
 * State of the source of Level Zero's metrics, and what its files do.
 *
 * The files in layers, in the order in which they stand below, each of which knows those before it;
 * on top l0metrics.c, the source, which decides when to measure.
 *
 * No counter of ours can wrap: values of a report are differences over its period of milliseconds,
 * which the vendor's library takes, and counts of stalls are those of one window.
 *
 * Functions that call Level Zero return its result codes, the others 0 or a negative errno.
 */
#ifndef GTEL_SOURCES_LEVEL_ZERO_METRICS_STATE_H
#define GTEL_SOURCES_LEVEL_ZERO_METRICS_STATE_H

#include "abi/zet_abi.h"
#include "sources/drm/rest.h"
#include "sources/level_zero/answer.h"
#include "sources/level_zero/gts.h"
#include "sources/level_zero/level_zero.h"

#include <string.h>

enum {
    GTEL_L0M_TILES_MAX = 8,
    GTEL_L0M_GROUPS_MAX = 8192, /* more are ignored */
    GTEL_L0M_COLUMNS_MAX = 512, /* metrics of one group */
    GTEL_L0M_REASONS_MAX = 16,  /* of a stall */
    GTEL_L0M_NAME = 24
};

/* No code of theirs: the metrics that we know are not among those of the device. */
#define GTEL_L0M_NO_METRICS 0x6ffffffcu
/* Nor this one: what was measured is not valid. */
#define GTEL_L0M_BAD_DATA 0x6ffffffdu

/*
 * What is measured, one after the other: each has a stream of its own. Activity is of units, types
 * is by the types of data that instructions work on.
 */
enum gtel_l0m_kind { GTEL_L0M_ACTIVITY, GTEL_L0M_TYPES, GTEL_L0M_STALL, GTEL_L0M_KINDS };

/* What a column of the former two is; other columns are ignored. */
enum gtel_l0m_role {
    GTEL_L0M_TIME, /* nanoseconds: the weight of a report */
    GTEL_L0M_EU_ACTIVE,
    GTEL_L0M_EU_STALL,
    GTEL_L0M_XMX,
    GTEL_L0M_ALU2,
    GTEL_L0M_XMX_BF16,
    GTEL_L0M_XMX_FP16,
    GTEL_L0M_XMX_INT8,
    GTEL_L0M_XMX_INT4,
    GTEL_L0M_FP16,
    GTEL_L0M_FP32,
    GTEL_L0M_FP64,
    GTEL_L0M_ROLES
};

/* A step that may fail, and its last outcome. */
struct gtel_l0m_try {
    struct gtel_backoff retry;
    uint32_t code;
    const char *call; /* that gave it */
    bool is_logged;   /* a failure has been, and nothing has worked since */
};

struct gtel_l0m_reason {
    char name[GTEL_L0M_NAME];
    uint32_t column;
    bool is_active; /* the unit worked: no reason of a stall */
    uint64_t count;
};

/* One kind of measurement on one tile. */
struct gtel_l0m_meter {
    struct gtel_l0m_try last;
    void *group; /* NULL: the device has none */
    uint32_t columns;
    uint32_t role[GTEL_L0M_ROLES]; /* column, or UINT32_MAX */
    struct gtel_l0m_reason reason[GTEL_L0M_REASONS_MAX];
    size_t reasons;
    /* The last result. */
    uint64_t result_ns; /* when its window ended; 0: none */
    bool is_reported;
    uint64_t samples;
    double share[GTEL_L0M_ROLES]; /* negative: not known */
    bool has_dropped;
};

/* What is open for a measurement. */
struct gtel_l0m_open {
    void *context;
    void *stream;
    bool is_active;
    bool is_deleted_by_close; /* whatever that answers */
    bool is_closing;          /* the measurement is over, and could not be closed */
};

struct gtel_l0m_tile {
    void *driver;
    void *handle;
    char text[12];             /* its number; empty when the GPU has one tile */
    struct gtel_l0m_try setup; /* enabling, and looking for groups */
    bool is_enabled;           /* has to be disabled in the end */
    bool was_barred;           /* not all has been, while the kernel let nobody like us measure */
    struct gtel_l0m_meter meter[GTEL_L0M_KINDS];
    /* The measurement that runs. */
    uint64_t due_ns; /* when tick() has something to do; 0: nothing */
    size_t kind;
    struct gtel_l0m_open open;
    unsigned failed_closes; /* when another measurement was to begin */
    bool has_dropped;
    uint64_t opened_ns;
    uint64_t held_ns; /* how long streams were open since the GPU was checked last */
    uint8_t *raw;
    size_t size;
    size_t n; /* bytes read */
};

struct gtel_l0m;

struct gtel_l0m_gpu {
    struct gtel_card *card; /* first: see sources/drm/cards.h */
    struct gtel_l0m *owner; /* for the calls that release its tiles */
    struct gtel_l0m_tile tile[GTEL_L0M_TILES_MAX];
    size_t n;
    struct gtel_gts gts;
    uint64_t seen_ns; /* when these were read last; 0: never */
    struct gtel_rest rest;
    uint64_t round_ns; /* when the last measurements began */
    bool was_empty;    /* they found nothing at work */
    bool is_new;       /* its tiles are being listed */
    uint32_t failed;   /* tries since the last gather, for the batch */
};

struct gtel_l0m {
    struct gtel_level_zero lz;
    struct gtel_zet_calls call;
};

/* Whether source xe_stall samples the stalls of that GPU. */
static inline bool gtel_l0m_leaves_stalls(const struct gtel_l0m_gpu *gpu)
{
    return strcmp(gpu->card->drm.driver, "xe") == 0 &&
           gtel_option_is(gpu->owner->lz.options, GTEL_O_XE_STALLS, "on");
}

/* ---- ask.c: what a failure means, in logs and for `gtel doctor` ---- */

/*
 * Records the outcome of a step: when it is tried next, and logs the first failure and the end of
 * failing. A failure that is neither a lack nor a refusal is counted.
 */
void gtel_l0m_record(const struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu, struct gtel_l0m_try *try,
                     const char *call, uint32_t code);
/* Whether the kernel lets nobody with our rights measure on that GPU: why, or NULL. ret_fix: what
 * helps, or NULL. */
const char *gtel_l0m_refusal(const struct gtel_env *env, const struct gtel_l0m_gpu *gpu,
                             const char **ret_fix);
/*
 * What a failure means in words, and what helps; both may be NULL. The driver gives one code for
 * all that the kernel refuses, so rights are checked here.
 */
void gtel_l0m_explain(const struct gtel_env *env, const struct gtel_l0m_gpu *gpu,
                      const struct gtel_l0m_try *try, const char **ret_why, const char **ret_fix);
/* What brings groups of metrics. */
extern const char gtel_l0m_libraries[];

/* ---- groups.c: the groups of metrics of a tile that we know, and their columns ---- */

/* Whether some group that we know has been found. */
bool gtel_l0m_has_group(const struct gtel_l0m_tile *tile);
/* Enables metrics and finds the groups that we know, again where some failed. */
void gtel_l0m_set_up(struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu, struct gtel_l0m_tile *tile);

/* ---- values.c: from measured values to results, and from these to readings ---- */

/* Makes the result of n values, `columns` of each report. False when they are not valid. */
bool gtel_l0m_read_activity(struct gtel_l0m_meter *meter, const struct gtel_zet_value *value,
                            size_t n);
bool gtel_l0m_read_stalls(struct gtel_l0m_meter *meter, const struct gtel_zet_value *value,
                          size_t n);
/* Adds results that are new, or have been measured within the last second. */
void gtel_l0m_add(struct gtel_batch *batch, const struct gtel_l0m_gpu *gpu,
                  struct gtel_l0m_tile *tile);

/* ---- window.c: one measurement of a tile ---- */

/* The next step of a tile's measurements: opens, reads, closes. Sets its due_ns. */
void gtel_l0m_step(struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu, struct gtel_l0m_tile *tile);
/* Whether a measurement that cannot be ended keeps others from beginning, and not just once. */
bool gtel_l0m_is_stuck(const struct gtel_l0m_tile *tile);
/* Nothing of a tile is open or enabled afterwards. */
void gtel_l0m_release(struct gtel_l0m *l0m, struct gtel_l0m_tile *tile);

/* ---- devices.c: Level Zero's start for metrics, its devices, and their tiles ---- */

/*
 * Opens and starts Level Zero unless that was done or a GPU sleeps, and finds the devices behind
 * cards that have none yet.
 */
void gtel_l0m_find_devices(struct gtel_l0m *l0m);

/* ---- diagnose.c: what was asked for and cannot be had, and why ---- */

void gtel_l0m_diagnose(void *state, struct gtel_registry *registry, struct gtel_findings *findings);

#endif
