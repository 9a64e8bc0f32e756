/* SPDX-License-Identifier: MIT */
/*
 * The perf PMU of an xe GPU (Linux 6.15 and newer): what it is called, how its events are numbered,
 * and which engines it knows.
 *
 * Any open event of it holds a runtime-PM reference, and an event of an engine also the forcewake
 * of its GT: the GPU cannot enter D3, nor the GT C6 (kernel: xe/xe_pmu.c). So nothing here opens an
 * event but gtel_xe_engines_list, which closes each one again.
 */
#ifndef GTEL_SOURCES_INTEL_XE_PERF_H
#define GTEL_SOURCES_INTEL_XE_PERF_H

#include "host/drm.h"
#include "parse/engine_name.h"
#include "sources/intel/perf.h"

enum {
    GTEL_XE_LIST_MAX = 64, /* engines; more are skipped */
    GTEL_XE_GTS_MAX = 32   /* GTs are numbered over all tiles; each is a bit of a mask */
};

/* The terms of a config; in the order of the list of their format files in xe_perf.c. */
enum gtel_xe_term {
    GTEL_XE_EVENT,
    GTEL_XE_INSTANCE,
    GTEL_XE_CLASS,
    GTEL_XE_FUNCTION, /* 0: the GPU, or the physical function of one with VFs; 1…: that VF */
    GTEL_XE_GT,
    GTEL_XE_TERMS
};

/* Zeroed: not open. */
struct gtel_xe_perf {
    char dir[GTEL_INTEL_PERF_DIR_MAX];
    struct gtel_fs_file type; /* goes away when the driver leaves the device */
    uint32_t type_number;
    uint32_t cpu;
    uint8_t first[GTEL_XE_TERMS]; /* lowest and highest bit of each term */
    uint8_t last[GTEL_XE_TERMS];
    uint64_t active; /* numbers of the events engine-active-ticks and engine-total-ticks */
    uint64_t total;
};

/*
 * Reads how the PMU of the GPU with that PCI address describes itself; opens no event. 0, -ENOENT
 * when there is none or it has no events of engines, or another negative errno.
 */
int gtel_xe_perf_open(const struct gtel_env *env, const char *key, struct gtel_xe_perf *perf);
void gtel_xe_perf_close(const struct gtel_env *env, struct gtel_xe_perf *perf);
/* Whether the PMU is still the one that was opened. */
bool gtel_xe_perf_is_current(const struct gtel_env *env, const struct gtel_xe_perf *perf);
/* The config of an event (perf->active or perf->total) of an engine, as counted for a function. */
uint64_t gtel_xe_perf_config(const struct gtel_xe_perf *perf, uint64_t event,
                             const struct gtel_xe_engine *engine, uint32_t function);

/* What a GPU has. Zeroed: not known. */
struct gtel_xe_engines {
    uint32_t gts;                            /* a bit per GT */
    uint8_t tile[GTEL_XE_GTS_MAX];           /* of each GT */
    uint32_t class_gts[GTEL_ENGINE_CLASSES]; /* the GTs with engines of a class */
    struct gtel_xe_engine engine[GTEL_XE_LIST_MAX];
    size_t n;
    bool is_listed; /* engine and n are filled in */
};

/*
 * Looks for GTs and for their engine classes below the device's directory. 0 or a negative errno.
 */
int gtel_xe_engines_scan(const struct gtel_env *env, const char *device_path,
                         struct gtel_xe_engines *engines);
/*
 * Fills the list, for a GPU that is awake: by asking the driver through the render node or, without
 * the right to that, by opening one event of each engine that there may be: of one that is not
 * there it fails with ENOENT. 0, or the errno of a try that was refused.
 */
int gtel_xe_engines_list(const struct gtel_env *env, const char *device_path,
                         const struct gtel_xe_perf *perf, struct gtel_xe_engines *engines);

#endif
