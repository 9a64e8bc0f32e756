/* SPDX-License-Identifier: MIT */
/*
 * One GPU: what is known of it, and one reading of all its values.
 *
 * A gather asks for the rows that are due (gpu.c), makes readings of the answers (emit.c), and adds
 * what has windows or counters of its own: activity (gpm.c) and bytes on the link (pcie.c).
 */
#ifndef GTEL_SOURCES_NVIDIA_GPU_H
#define GTEL_SOURCES_NVIDIA_GPU_H

#include "parse/pci.h"
#include "pipeline/reading.h"
#include "sources/drm/awake.h"
#include "sources/nvidia/events.h"
#include "sources/nvidia/gpm.h"
#include "sources/nvidia/library.h"
#include "sources/nvidia/mig.h"
#include "sources/nvidia/nvlink.h"
#include "sources/nvidia/pcie.h"
#include "sources/nvidia/processes.h"
#include "sources/nvidia/rows.h"

/* Positions in the source's origins. */
enum {
    GTEL_NVML_ORIGIN_CALL,
    GTEL_NVML_ORIGIN_FIELD,
    GTEL_NVML_ORIGIN_SYSFS,
    GTEL_NVML_ORIGIN_GPM,
    GTEL_NVML_ORIGIN_EVENT
};

/* A little less than a minute, so that a clock's jitter does not skip a gather. */
#define GTEL_NVML_MINUTE_NS UINT64_C(59500000000)
/*
 * So often in the beginning what is read rarely comes in each gather: a single gather (--once)
 * shows its third.
 */
enum { GTEL_NVML_FIRST = 3 };

/* What one row yielded. */
struct gtel_nvml_answer {
    uint64_t u[GTEL_NVML_WORDS]; /* as integers; a negative one as its 64-bit pattern */
    size_t n;                    /* words in use */
    double f;                    /* the first one, with its sign */
};

/* What is known about one row on one GPU. */
struct gtel_nvml_slot {
    uint64_t due_ns;  /* when to ask next; UINT64_MAX: not before NVML is started again */
    uint32_t answers; /* so many */
    struct gtel_nvml_answer answer; /* without words: there is none */
};

struct gtel_nvml_gpu {
    struct gtel_nvml_device *handle; /* NULL: not found yet, asleep, or NVML is not running */
    struct gtel_device *device;
    struct gtel_awake awake; /* not open without PCI */
    bool is_found;           /* by the discovery that runs */
    bool is_unavailable;     /* answered that it is lost, needs a reset, or is not there */
    bool has_denied;         /* the hint about rights has been logged */
    bool may_suspend;        /* Linux may, and has or will; Windows may of any GPU */
    bool is_long;            /* this gather asks for what takes milliseconds, too */
    uint64_t long_ns;        /* of the last such gather */
    uint32_t longs;          /* so many since NVML was started */
    uint64_t turn_ns;        /* of a minute, cut off the first one: GPUs take turns */
    uint32_t failed;         /* readings of the present gather, or of the last one */
    const char *first;       /* the call behind the first of them, and its code */
    int first_code;
    struct gtel_nvml_gpu *parent; /* of a MIG instance, which has the next three; else NULL */
    unsigned gpu_instance;
    unsigned compute_instance;
    uint64_t identity; /* hash of its uuid and name */
    struct gtel_nvml_mig mig;
    struct gtel_nvml_gpm gpm;
    struct gtel_nvml_pcie pcie;
    struct gtel_nvml_links links;
    struct gtel_nvml_xids xids;
    struct gtel_nvml_processes processes;
    size_t chosen[GTEL_NVML_GROUP_COUNT]; /* row + 1 */
    struct gtel_nvml_slot slot[GTEL_NVML_ROWS_MAX];
};

/*
 * Appends all readings of a GPU or MIG instance that has a handle. Failures are counted in the
 * batch and logged. Sets gpu->is_unavailable or library->broken where a code says so.
 */
void gtel_nvml_gpu_sample(struct gtel_nvml_library *library, struct gtel_nvml_gpu *gpu,
                          struct gtel_batch *batch);
/* Says that it is lost: first_code is why, 0 when it is not listed any more. */
void gtel_nvml_gpu_log_lost(const struct gtel_env *env, const struct gtel_nvml_gpu *gpu);
/* Forgets which calls answer, and what they answered. */
void gtel_nvml_gpu_forget(struct gtel_nvml_gpu *gpu);
/* Under Windows source wddm has it. */
void gtel_nvml_add_awake(const struct gtel_nvml_gpu *gpu, struct gtel_batch *batch, uint64_t value);
/* All rows that have ever answered are due. */
void gtel_nvml_gpu_read_all(struct gtel_nvml_gpu *gpu);
/* Nothing ran in the last sample; a GPU without that value counts as busy. */
bool gtel_nvml_gpu_is_idle(const struct gtel_nvml_gpu *gpu);
/* emit.c: appends what the slots hold. */
void gtel_nvml_emit(unsigned driver, const struct gtel_nvml_gpu *gpu, struct gtel_batch *batch);

/*
 * ---- read.c: makes the call of a row. All bits set is the vendor's way to say "no value" where a
 * number has no better one ----
 */

/* An NVML code; *ret only with SUCCESS. Not for rows that are fields. */
int gtel_nvml_read(const struct gtel_nvml_calls *calls, struct gtel_nvml_device *device,
                   const struct gtel_nvml_row *row, struct gtel_nvml_answer *ret);
/*
 * Asks for the fields of n rows (numbers in gtel_nvml_rows) in one call. field has room for them.
 * An NVML code; with SUCCESS, each field has a code of its own.
 */
int gtel_nvml_read_fields(const struct gtel_nvml_calls *calls, struct gtel_nvml_device *device,
                          const size_t *row, struct gtel_nvml_field *field, size_t n);
/* The value of such a field. SUCCESS, its own code, or NO_DATA. */
int gtel_nvml_field_value(const struct gtel_nvml_field *field, struct gtel_nvml_answer *ret);

/* ---- info.c: the labels of gpu_info that only NVML knows ---- */

/*
 * Sets architecture, compute capability, CUDA version, firmware of the GPU system processor and
 * modes, as far as NVML answers; what it does not answer stays as it was. By each discovery: modes
 * can be changed while programs run. For a GPU with a handle.
 */
void gtel_nvml_label_info(const struct gtel_nvml_calls *call, struct gtel_registry *registry,
                          const struct gtel_nvml_gpu *gpu);

#endif
