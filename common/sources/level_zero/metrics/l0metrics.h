/* SPDX-License-Identifier: MIT */
/*
 * Inside of the source of Level Zero's metrics: its state and the parts that work on it.
 *
 * l0metrics.c is the source and decides when to measure; work.c tells whether a GPU works;
 * library.c opens and starts Level Zero; find.c joins its devices to the kernel's cards by PCI
 * address and looks for the metrics that we know; window.c measures; figures.c makes figures of
 * what was measured, and readings of these; diagnose.c says what is missing.
 *
 * No counter of ours can turn: values of a report are differences over its period of milliseconds,
 * which the vendor's library takes, and counts of stalls are those of one window.
 *
 * Functions that call Level Zero return its result codes, the others 0 or a negative errno.
 */
#ifndef GTEL_SOURCES_LEVEL_ZERO_METRICS_L0METRICS_H
#define GTEL_SOURCES_LEVEL_ZERO_METRICS_L0METRICS_H

#include "abi/zet_abi.h"
#include "host/dynlib.h"
#include "sources/level_zero/gts.h"
#include "sources/drm/rest.h"
#include "sources/level_zero/renewal.h"
#include "sources/source.h"

enum {
    GTEL_L0M_TILES_MAX = 8,
    GTEL_L0M_HANDLES_MAX = 64,  /* drivers, and devices of one */
    GTEL_L0M_GROUPS_MAX = 8192, /* what a driver lists beyond that is not looked at */
    GTEL_L0M_COLUMNS_MAX = 512, /* metrics of one group */
    GTEL_L0M_REASONS_MAX = 16,  /* of a stall */
    GTEL_L0M_NAME = 24
};

/* No code of theirs: the metrics that we know are not among those of the device. */
#define GTEL_L0M_NO_METRICS 0x6fffffffu
/* Nor this one: what was measured makes no sense. */
#define GTEL_L0M_NO_SENSE 0x6ffffffeu

/*
 * What is measured, one after the other: each has a stream of its own. Activity is of units, types
 * is by the types of data that instructions work on.
 */
enum gtel_l0m_kind { GTEL_L0M_ACTIVITY, GTEL_L0M_TYPES, GTEL_L0M_STALL, GTEL_L0M_KINDS };

/* What a column of the former two is; columns that are nothing to us are left out. */
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

/* A try and what is known of it. */
struct gtel_l0m_ask {
    uint64_t due_ns;   /* when to try next */
    uint64_t pause_ns; /* how long the wait after the next failure is */
    uint32_t code;     /* of the last time */
    const char *call;  /* that gave it */
    bool was_asked;
    bool is_noted; /* a failure has been logged, and nothing has worked since */
};

struct gtel_l0m_reason {
    char name[GTEL_L0M_NAME];
    uint32_t column;
    bool is_active; /* the unit worked: no reason of a stall */
    uint64_t count;
};

/* One kind of measurement on one tile. */
struct gtel_l0m_meter {
    struct gtel_l0m_ask ask;
    void *group; /* NULL: the device has none */
    uint32_t columns;
    uint32_t role[GTEL_L0M_ROLES]; /* column, or UINT32_MAX */
    struct gtel_l0m_reason reason[GTEL_L0M_REASONS_MAX];
    size_t reasons;
    /* The last result. */
    uint64_t result_ns; /* when its window ended; 0: none */
    bool is_told;
    uint64_t samples;
    double share[GTEL_L0M_ROLES]; /* negative: not known */
    bool has_dropped;
};

/* What is open for a measurement. */
struct gtel_l0m_open {
    void *context;
    void *stream; /* NULL: none */
    bool is_active;
    bool is_gone_by_close; /* the stream is no more once it was closed, whatever that answered */
};

struct gtel_l0m_tile {
    void *driver;
    void *handle;
    char text[12];             /* its number; empty when the GPU has one tile */
    struct gtel_l0m_ask setup; /* enabling, and looking for groups */
    bool is_enabled;           /* has to be disabled in the end */
    bool is_described;         /* some group that we know has been found */
    bool was_barred;           /* not all has been, while the kernel let nobody like us measure */
    struct gtel_l0m_meter meter[GTEL_L0M_KINDS];
    /* The measurement that runs. */
    uint64_t due_ns; /* when tick() has something to do; 0: nothing */
    size_t kind;
    struct gtel_l0m_open open;
    struct gtel_l0m_open left; /* of one that is over: could not be closed */
    unsigned left_tries;       /* in vain, when another one was to begin */
    bool has_dropped;
    uint64_t opened_ns;
    uint64_t held_ns; /* how long streams were open since the last look at the GPU */
    uint8_t *raw;
    size_t size;
    size_t n; /* bytes read */
};

struct gtel_l0m;

struct gtel_l0m_gpu {
    struct gtel_card *card; /* first: see sources/drm/cards.h */
    struct gtel_l0m *owner; /* for the calls that put its tiles down */
    struct gtel_l0m_tile tile[GTEL_L0M_TILES_MAX];
    size_t n;
    struct gtel_gts gts;
    uint64_t seen_ns; /* the last look at them; 0: none */
    struct gtel_rest rest;
    uint64_t round_ns;  /* when the last measurements began */
    bool was_empty;     /* they saw nothing at work */
    bool leaves_stalls; /* another source samples them */
    uint64_t whole_ns;  /* when it was taken as one tile for want of an answer; 0: it was not */
    uint32_t failed;    /* tries since the last gather, for the batch */
};

enum gtel_l0m_start { GTEL_L0M_NEW, GTEL_L0M_NO_LIBRARY, GTEL_L0M_FAILED, GTEL_L0M_RUNS };

struct gtel_l0m {
    struct gtel_card_list cards; /* env, may_wake */
    struct gtel_dynlib dynlib;
    struct gtel_zet_calls call;
    enum gtel_l0m_start start;
    uint32_t start_code; /* of FAILED */
    struct gtel_renewal renewal;
    bool leaves_xe_stalls; /* to source xe_stall: the option XeStalls */
    bool is_by_variable;   /* metrics were enabled before the start, for all devices */
};

/* library.c */

/* Opens the loader and starts Level Zero unless that has been tried: a failed start stays so. */
void gtel_l0m_start_up(struct gtel_l0m *l0m);
/* What a code of the start means to a user. */
const char *gtel_l0m_advice(const struct gtel_l0m *l0m);

/* find.c */

/* Looks for the devices behind cards that have none yet. */
void gtel_l0m_find(struct gtel_l0m *l0m);
/* Enables metrics and looks for the groups that we know, again where some failed to tell. */
void gtel_l0m_set_up(struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu, struct gtel_l0m_tile *tile);
/* Nothing of a tile is open or enabled afterwards. */
void gtel_l0m_put_down(struct gtel_l0m *l0m, struct gtel_l0m_tile *tile);
/*
 * Decides what a result code means for the next try, and logs the first failure. A failure that is
 * neither a lack nor a refusal is counted.
 */
void gtel_l0m_settle(const struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu, struct gtel_l0m_ask *ask,
                     const char *call, uint32_t code);

/* Whether a stream was not opened because the kernel refuses: rights, or somebody else measures. */
bool gtel_l0m_is_refused(const struct gtel_l0m_ask *ask);

/* work.c */

/* What the GPU has done since the last look, apart from being measured. */
enum gtel_gts_state gtel_l0m_look(const struct gtel_env *env, struct gtel_l0m_gpu *gpu);

/* window.c */

/* The next step of a tile's measurements: opens, reads, closes. Sets its due_ns anew. */
void gtel_l0m_step(struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu, struct gtel_l0m_tile *tile);
/* Whether a measurement that cannot be ended keeps others from beginning, and not just once. */
bool gtel_l0m_is_stuck(const struct gtel_l0m_tile *tile);
/* Ends what is open without a result. */
void gtel_l0m_close_window(struct gtel_l0m *l0m, struct gtel_l0m_tile *tile);

/* figures.c */

/* Makes the result of n values, `columns` of each report. False when they make no sense. */
bool gtel_l0m_take_activity(struct gtel_l0m_meter *meter, const struct gtel_zet_value *value,
                            size_t n);
bool gtel_l0m_take_stalls(struct gtel_l0m_meter *meter, const struct gtel_zet_value *value,
                          size_t n);
/* Tells results that are new, or have been measured within the last second. */
void gtel_l0m_put(struct gtel_batch *batch, const struct gtel_l0m_gpu *gpu,
                  struct gtel_l0m_tile *tile);

/* diagnose.c */

/* Whether the kernel lets nobody with our rights measure on that GPU. */
bool gtel_l0m_is_barred(const struct gtel_env *env, const struct gtel_l0m_gpu *gpu);
void gtel_l0m_diagnose(void *state, struct gtel_registry *registry, struct gtel_findings *findings);
/*
 * What the failure of a try means in words, and what helps; both may be NULL. The driver gives one
 * code for all that the kernel refuses, so rights are looked at here.
 */
void gtel_l0m_explain(const struct gtel_env *env, const struct gtel_l0m_gpu *gpu,
                      const struct gtel_l0m_ask *ask, const char **ret_why, const char **ret_fix);

#endif
