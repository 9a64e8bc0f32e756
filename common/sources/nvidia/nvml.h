/* SPDX-License-Identifier: MIT */
/*
 * Inside of the NVML source: its state, its table of figures, and the parts that work on them.
 *
 * nvml.c is the source; library.c opens, starts and ends NVML; identity.c finds GPUs; sleep.c
 * leaves sleeping ones alone; rows.c is the table of figures; pass.c reads one GPU by that table
 * and decides what a result code means; gpm.c reads activity counters; pcie.c counts bytes on the
 * link; emit.c turns what was read into readings.
 *
 * Functions that call NVML return its result codes (0 and above), the others 0 or a negative errno.
 */
#ifndef GTEL_SOURCES_NVIDIA_NVML_H
#define GTEL_SOURCES_NVIDIA_NVML_H

#include "abi/nvml_abi.h"
#include "host/dynlib.h"
#include "host/fs.h"
#include "parse/pci.h"
#include "sources/source.h"

enum {
    GTEL_NVML_GPUS_MAX = 64,
    GTEL_NVML_ROWS_MAX = 96,
    GTEL_NVML_WORDS =
        8, /* numbers that one row yields: fans of one card, or parts of a structure */
};

/* Positions in the source's origins. */
enum {
    GTEL_NVML_ORIGIN_CALL,
    GTEL_NVML_ORIGIN_FIELD,
    GTEL_NVML_ORIGIN_SYSFS,
    GTEL_NVML_ORIGIN_GPM
};

/* Alternatives for one figure: the first that answers is used until NVML is started again. */
enum gtel_nvml_group {
    GTEL_NVML_GROUP_NONE,
    GTEL_NVML_GROUP_POWER,
    GTEL_NVML_GROUP_MEMORY,
    GTEL_NVML_GROUP_TEMPERATURE,
    GTEL_NVML_GROUP_REASONS,
    GTEL_NVML_GROUP_FANS,
    GTEL_NVML_GROUP_REPLAYS,
    GTEL_NVML_GROUP_TIME_POWER,
    GTEL_NVML_GROUP_TIME_THERMAL,
    GTEL_NVML_GROUP_TIME_BOARD,
    GTEL_NVML_GROUP_COUNT
};

/* How often a row is read. Rows of one period come in one gather, so that the others are short. */
enum gtel_nvml_period {
    GTEL_NVML_EACH_GATHER,
    GTEL_NVML_EACH_MINUTE, /* and absent in between: an old counter would be a wrong rate */
    GTEL_NVML_SETTING      /* each minute, and repeated in between */
};

struct gtel_nvml;
struct gtel_nvml_gpu;
struct gtel_nvml_row;

/* What one row yielded. */
struct gtel_nvml_answer {
    uint64_t u[GTEL_NVML_WORDS]; /* as integers; a negative one as its 64-bit pattern */
    size_t n;                    /* words in use */
    double f;                    /* the first one, with its sign */
};

/* Makes the call of a row. An NVML code; *ret only with SUCCESS. */
typedef int (*gtel_nvml_read_fn)(const struct gtel_nvml *nvml, const struct gtel_nvml_gpu *gpu,
                                 const struct gtel_nvml_row *row, struct gtel_nvml_answer *ret);
/* Appends the readings of a row that need more than the row's metrics. */
typedef void (*gtel_nvml_emit_fn)(const struct gtel_nvml_gpu *gpu, const struct gtel_nvml_row *row,
                                  const struct gtel_nvml_answer *answer, struct gtel_batch *batch);

/* One call or field, and the metrics that it yields. */
struct gtel_nvml_row {
    const char *call;       /* for messages */
    size_t offset;          /* of the call in struct gtel_nvml_calls */
    gtel_nvml_read_fn read; /* NULL: a field, asked together with the others */
    gtel_nvml_emit_fn emit; /* NULL: value × scale for both metrics */
    unsigned of;            /* clock type, threshold, field id … */
    unsigned of_2;          /* scope of a field, ECC counter */
    enum gtel_nvml_group group;
    enum gtel_nvml_period period;
    enum gtel_metric metric;   /* with dim; or NONE */
    enum gtel_metric headline; /* without dim; or NONE */
    struct gtel_str dim[2];
    double scale;    /* base unit = value × scale */
    unsigned since;  /* driver from which on it means this (GTEL_NVML_DRIVER); 0: any */
    unsigned before; /* and from which on it does not; 0: none */
};

/* A driver version that can be compared: 580.82.07 is GTEL_NVML_DRIVER(580, 82). */
#define GTEL_NVML_DRIVER(major, minor) ((unsigned)(major) << 16 | (unsigned)(minor))

extern const struct gtel_nvml_row gtel_nvml_rows[];
extern const size_t gtel_nvml_rows_n; /* at most GTEL_NVML_ROWS_MAX */

/* What is known about one row on one GPU. */
struct gtel_nvml_slot {
    uint64_t due_ns; /* when to ask next; UINT64_MAX: not before NVML is started again */
    bool has_answer;
    uint32_t answers; /* so many */
    struct gtel_nvml_answer answer;
};

/* Activity counters are means between two samples: of windows that follow each other. */
enum { GTEL_NVML_GPM_FAST, GTEL_NVML_GPM_SLOW, GTEL_NVML_GPM_WINDOWS };

struct gtel_nvml_gpm_window {
    unsigned base;   /* the sample at its beginning */
    uint64_t t_ns;   /* when that was taken; 0: none yet */
    uint64_t due_ns; /* when it may end; 0: with the next sample */
    uint32_t means;  /* so many have ended */
};

/* PCIe bytes both ways: sent by the GPU, received by it. */
enum { GTEL_NVML_PCIE_TX, GTEL_NVML_PCIE_RX, GTEL_NVML_PCIE_WAYS };

/* What one gather adds to the PCIe bytes. */
struct gtel_nvml_pcie_step {
    enum {
        GTEL_NVML_STEP_NONE,  /* nothing was read: the next step covers this time as well */
        GTEL_NVML_STEP_BYTES, /* all bytes since the step before */
        GTEL_NVML_STEP_HOLE   /* the bytes since the step before are not known */
    } kind;
    uint64_t window_ns;
    double bytes[GTEL_NVML_PCIE_WAYS];
};

struct gtel_nvml_gpm {
    /* One more than there are windows: the newest. NULL: not allocated. */
    struct gtel_nvml_gpm_sample *sample[GTEL_NVML_GPM_WINDOWS + 1];
    struct gtel_nvml_gpm_window window[GTEL_NVML_GPM_WINDOWS];
    bool is_ready;                   /* the GPU has it, and the samples are allocated */
    bool has_worked;                 /* means came */
    int code;                        /* of the last failure, or SUCCESS */
    uint64_t due_ns;                 /* when to try again after one; UINT64_MAX: not on this GPU */
    struct gtel_nvml_pcie_step pcie; /* of the present gather */
};

enum gtel_nvml_by { GTEL_NVML_BY_NOTHING, GTEL_NVML_BY_FIELD, GTEL_NVML_BY_GPM };

/* The PCIe bytes of one GPU, counted by us: see pcie.c. */
struct gtel_nvml_pcie {
    uint64_t wrap_ns; /* in which the link could move 2^32 bytes; 0: not known */
    enum gtel_nvml_by by;
    bool is_counting; /* the sums are those since they were 0, without a hole */
    uint64_t bytes[GTEL_NVML_PCIE_WAYS];
    uint32_t last[GTEL_NVML_PCIE_WAYS]; /* of the fields */
    uint64_t last_ns;                   /* when they were read, at the earliest; 0: not yet */
};

struct gtel_nvml_gpu {
    struct gtel_nvml_device *handle; /* NULL: not found yet, asleep, or NVML is not running */
    struct gtel_device *device;
    char address[GTEL_PCI_TEXT_MAX]; /* empty without PCI */
    struct gtel_fs_file runtime_status;
    int fans;          /* their number; below 0: not known yet */
    bool is_seen;      /* by the discovery that runs */
    bool is_lost;      /* answered that it is lost, needs a reset, or is not there */
    bool is_failing;   /* some readings failed in the last pass */
    bool has_denied;   /* the hint about rights has been given */
    bool may_sleep;    /* the kernel may suspend it, and has done so since boot */
    uint32_t failed;   /* readings of the present pass */
    const char *first; /* the call behind the first of them, and its code */
    int first_code;
    struct gtel_nvml_gpm gpm;
    struct gtel_nvml_pcie pcie;
    size_t chosen[GTEL_NVML_GROUP_COUNT]; /* row + 1 */
    struct gtel_nvml_slot slot[GTEL_NVML_ROWS_MAX];
};

struct gtel_nvml {
    const struct gtel_env *env;
    bool may_wake; /* option Wake */
    struct gtel_dynlib dynlib;
    struct gtel_nvml_calls call;
    bool is_running;       /* nvmlInit_v2 has succeeded */
    unsigned driver;       /* its version (GTEL_NVML_DRIVER); 0: not known */
    uint64_t suspended_ns; /* for how long the host had slept at the last sample */
    bool is_find_due;      /* discovery was not complete */
    int broken;            /* a code that concerns all GPUs came up in this pass, else 0 */
    int said;              /* the state that was logged last, so that each is logged once */
    uint64_t retry_ns;     /* when to try to start again */
    uint64_t pause_ns;     /* how long the pause after the next failure is */
    uint64_t idle_ns;      /* since when all GPUs do nothing; 0: they do something */
    uint64_t rest_ns;      /* NVML was closed at this time to let them sleep; 0: it was not */
    uint64_t patience_ns;  /* how long they must be idle before that; 0: the default */
    struct gtel_nvml_gpu *gpu[GTEL_NVML_GPUS_MAX];
    size_t n;
};

/* library.c */

/*
 * Opens the library and starts NVML unless it runs or a pause is not over. 0, -EAGAIN during a
 * pause, or -ENOENT: not now (logged once per state).
 */
int gtel_nvml_start(struct gtel_nvml *nvml);
/* Ends NVML and closes the library: a new driver needs a newly loaded library. */
void gtel_nvml_stop(struct gtel_nvml *nvml);
/* Stops because of a code that concerns all GPUs. The first try to start again is due at once. */
void gtel_nvml_fail(struct gtel_nvml *nvml, int code);
/* Whether NVML should be there and does not work: its GPUs were known, or it answers an error. */
bool gtel_nvml_has_failed(const struct gtel_nvml *nvml);
/* Where a helper finds the library: struct gtel_source_library. */
bool gtel_nvml_find_library(const struct gtel_env *env, char *ret, size_t size);
/* Whether a code says that NVML itself is gone; whether it says that one GPU is. */
bool gtel_nvml_is_broken(int code);
bool gtel_nvml_is_lost(int code);

/* What keeps NVML from running, as it was logged last; of a CODE, *ret_code is NVML's. */
enum gtel_nvml_trouble {
    GTEL_NVML_TROUBLE_NONE,
    GTEL_NVML_TROUBLE_LIBRARY,
    GTEL_NVML_TROUBLE_CODE
};
enum gtel_nvml_trouble gtel_nvml_trouble(const struct gtel_nvml *nvml, int *ret_code);
/* What a code at the start of NVML means for a user. */
const char *gtel_nvml_advice(int code);

/* The version of a driver (GTEL_NVML_DRIVER), from "580.82.07"; 0: not of that form. */
unsigned gtel_nvml_driver_of(struct gtel_str text);

/* diagnose.c */

/* Says what NVML does not give, and why: struct gtel_source. */
void gtel_nvml_diagnose(void *state, struct gtel_registry *registry,
                        struct gtel_findings *findings);

/* identity.c */

/* Starts NVML if it may, finds GPUs, registers and labels them, marks missing ones as lost. */
void gtel_nvml_find(struct gtel_nvml *nvml, struct gtel_registry *registry);
/* The GPU of that key, new if need be. NULL: no room or memory. */
struct gtel_nvml_gpu *gtel_nvml_gpu_of(struct gtel_nvml *nvml, struct gtel_registry *registry,
                                       struct gtel_str key);
/* Remembers the PCI address of a GPU and looks at its power files. */
void gtel_nvml_set_address(struct gtel_nvml *nvml, struct gtel_nvml_gpu *gpu, const char *address);

/* sleep.c */

/* PCI addresses of GPUs. */
struct gtel_nvml_addresses {
    char text[GTEL_NVML_GPUS_MAX][GTEL_PCI_TEXT_MAX];
    size_t n;
};

/* What sysfs knows of GPUs with NVIDIA's driver; none at all where it knows nothing (WSL). */
void gtel_nvml_look(const struct gtel_nvml *nvml, struct gtel_nvml_addresses *ret_awake,
                    struct gtel_nvml_addresses *ret_asleep);
/* Whether the GPU is runtime suspended now; false where that is not known. */
bool gtel_nvml_is_asleep(const struct gtel_nvml *nvml, const struct gtel_nvml_gpu *gpu);
/* Closes NVML after a time without work on GPUs that may sleep: an open handle keeps them awake. */
void gtel_nvml_rest(struct gtel_nvml *nvml);
/* Whether NVML is closed for that reason and should stay so for now. */
bool gtel_nvml_is_resting(struct gtel_nvml *nvml);

/* pass.c */

/* Reads everything that is due on one GPU. Failures are counted in the batch. */
void gtel_nvml_pass(struct gtel_nvml *nvml, struct gtel_nvml_gpu *gpu, struct gtel_batch *batch);
/* Forgets which calls answer, and what they said. */
void gtel_nvml_forget(struct gtel_nvml_gpu *gpu);

/* gpm.c */

/* Samples the activity counters and appends the means since the last sample; sets gpu->gpm.pcie. */
void gtel_nvml_gpm_pass(struct gtel_nvml *nvml, struct gtel_nvml_gpu *gpu,
                        struct gtel_batch *batch);
/* Starts again: nothing is known of the time before. */
void gtel_nvml_gpm_forget(struct gtel_nvml_gpu *gpu);
/* Frees the samples, before NVML is ended. */
void gtel_nvml_gpm_done(const struct gtel_nvml *nvml, struct gtel_nvml_gpu *gpu);

/* pcie.c */

/* Time in which a link of that generation and width can move 2^32 bytes; 0: not known. */
uint64_t gtel_nvml_pcie_wrap_ns(unsigned gen, unsigned width);
/* Counts what the gather has read, after gtel_nvml_gpm_pass, and appends the sums. */
void gtel_nvml_pcie_pass(const struct gtel_nvml *nvml, struct gtel_nvml_gpu *gpu,
                         struct gtel_batch *batch);
/* Starts again: nothing is known of the time before. */
void gtel_nvml_pcie_forget(struct gtel_nvml_gpu *gpu);

/* emit.c */

/* Appends what the slots hold. */
void gtel_nvml_emit(const struct gtel_nvml_gpu *gpu, struct gtel_batch *batch);
/* The special cases of the table. */
void gtel_nvml_emit_utilization(const struct gtel_nvml_gpu *gpu, const struct gtel_nvml_row *row,
                                const struct gtel_nvml_answer *answer, struct gtel_batch *batch);
void gtel_nvml_emit_memory(const struct gtel_nvml_gpu *gpu, const struct gtel_nvml_row *row,
                           const struct gtel_nvml_answer *answer, struct gtel_batch *batch);
void gtel_nvml_emit_reasons(const struct gtel_nvml_gpu *gpu, const struct gtel_nvml_row *row,
                            const struct gtel_nvml_answer *answer, struct gtel_batch *batch);
void gtel_nvml_emit_memory_power(const struct gtel_nvml_gpu *gpu, const struct gtel_nvml_row *row,
                                 const struct gtel_nvml_answer *answer, struct gtel_batch *batch);
/* Nothing: pcie.c counts these. */
void gtel_nvml_emit_pcie(const struct gtel_nvml_gpu *gpu, const struct gtel_nvml_row *row,
                         const struct gtel_nvml_answer *answer, struct gtel_batch *batch);
void gtel_nvml_emit_fans(const struct gtel_nvml_gpu *gpu, const struct gtel_nvml_row *row,
                         const struct gtel_nvml_answer *answer, struct gtel_batch *batch);

/* read.c: one function per shape of call. */
int gtel_nvml_read_u32(const struct gtel_nvml *nvml, const struct gtel_nvml_gpu *gpu,
                       const struct gtel_nvml_row *row, struct gtel_nvml_answer *ret);
int gtel_nvml_read_u32_of(const struct gtel_nvml *nvml, const struct gtel_nvml_gpu *gpu,
                          const struct gtel_nvml_row *row, struct gtel_nvml_answer *ret);
int gtel_nvml_read_u64(const struct gtel_nvml *nvml, const struct gtel_nvml_gpu *gpu,
                       const struct gtel_nvml_row *row, struct gtel_nvml_answer *ret);
int gtel_nvml_read_u64_of2(const struct gtel_nvml *nvml, const struct gtel_nvml_gpu *gpu,
                           const struct gtel_nvml_row *row, struct gtel_nvml_answer *ret);
/* The first of two numbers: the second is a sampling period. */
int gtel_nvml_read_u32_pair(const struct gtel_nvml *nvml, const struct gtel_nvml_gpu *gpu,
                            const struct gtel_nvml_row *row, struct gtel_nvml_answer *ret);
int gtel_nvml_read_pstate(const struct gtel_nvml *nvml, const struct gtel_nvml_gpu *gpu,
                          const struct gtel_nvml_row *row, struct gtel_nvml_answer *ret);
/* Words: GPU, memory. */
int gtel_nvml_read_utilization(const struct gtel_nvml *nvml, const struct gtel_nvml_gpu *gpu,
                               const struct gtel_nvml_row *row, struct gtel_nvml_answer *ret);
/* Words: total, used, and reserved with the second form only. */
int gtel_nvml_read_memory(const struct gtel_nvml *nvml, const struct gtel_nvml_gpu *gpu,
                          const struct gtel_nvml_row *row, struct gtel_nvml_answer *ret);
int gtel_nvml_read_memory_v2(const struct gtel_nvml *nvml, const struct gtel_nvml_gpu *gpu,
                             const struct gtel_nvml_row *row, struct gtel_nvml_answer *ret);
int gtel_nvml_read_temperature_v(const struct gtel_nvml *nvml, const struct gtel_nvml_gpu *gpu,
                                 const struct gtel_nvml_row *row, struct gtel_nvml_answer *ret);
/* An unsigned number that the vendor means as signed degrees. */
int gtel_nvml_read_degrees(const struct gtel_nvml *nvml, const struct gtel_nvml_gpu *gpu,
                           const struct gtel_nvml_row *row, struct gtel_nvml_answer *ret);
int gtel_nvml_read_margin(const struct gtel_nvml *nvml, const struct gtel_nvml_gpu *gpu,
                          const struct gtel_nvml_row *row, struct gtel_nvml_answer *ret);
int gtel_nvml_read_violation(const struct gtel_nvml *nvml, const struct gtel_nvml_gpu *gpu,
                             const struct gtel_nvml_row *row, struct gtel_nvml_answer *ret);
/* One word per fan. */
int gtel_nvml_read_fans(const struct gtel_nvml *nvml, const struct gtel_nvml_gpu *gpu,
                        const struct gtel_nvml_row *row, struct gtel_nvml_answer *ret);
int gtel_nvml_read_fans_rpm(const struct gtel_nvml *nvml, const struct gtel_nvml_gpu *gpu,
                            const struct gtel_nvml_row *row, struct gtel_nvml_answer *ret);
/* A field's value by its own type. SUCCESS or NO_DATA. */
int gtel_nvml_read_field(const struct gtel_nvml_field *field, struct gtel_nvml_answer *ret);

#endif
