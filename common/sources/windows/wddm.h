/* SPDX-License-Identifier: MIT */
/*
 * The state of source wddm: the display devices of Windows.
 *
 * Plug and Play knows them without touching them (devices.c): which there are, where, their names,
 * and in which power state. The driver model's own calls (adapter.c) are made of a GPU in D0 alone.
 */
#ifndef GTEL_SOURCES_WINDOWS_WDDM_H
#define GTEL_SOURCES_WINDOWS_WDDM_H

#include "abi/wddm_abi.h"
#include "base/backoff.h"
#include "host/pnp.h"
#include "sources/source.h"
#include "tables/engine.h"

enum {
    GTEL_WDDM_GPUS_MAX = 32,
    GTEL_WDDM_NODES_MAX = 64,    /* of a GPU: what runs work, one engine or several */
    GTEL_WDDM_SEGMENTS_MAX = 32, /* of its memory */
    GTEL_WDDM_RETRIES = 3        /* of a search in which something was missing */
};

enum { GTEL_WDDM_ORIGIN_WDDM, GTEL_WDDM_ORIGIN_REGISTRY };

struct gtel_wddm_calls {
#define GTEL_WDDM_SYM(name, result, params) result(*name) params;
#include "abi/wddm_syms.def"
#undef GTEL_WDDM_SYM
};

struct gtel_wddm_node {
    enum gtel_engine_kind kind; /* GTEL_ENGINE_KINDS: not known */
    char name[16];              /* "node3" */
    char of[32];      /* the driver's name without a number: alike where that is the same */
    uint64_t running; /* at the last sample, 100 ns; UINT64_MAX: none yet */
    double counted;   /* of its like on average, as far as its class has it */
    bool has_moved;
    uint32_t backs; /* how often the running time went back since its class began */
};

enum gtel_wddm_state {
    GTEL_WDDM_CLOSED,
    GTEL_WDDM_OPEN,  /* the device is in D0 and answers */
    GTEL_WDDM_NO_GPU /* a renderer in software, a display without a GPU, another host's GPU */
};

/* An adapter of the driver model. */
struct gtel_wddm_adapter {
    enum gtel_wddm_state state;
    int error; /* why it could not be opened, or all of it be known */
    struct gtel_backoff backoff;
    uint32_t handle;
    struct gtel_luid luid;
    char modes[64]; /* version of the driver model and who schedules; empty: not known */
    uint32_t segments;
    uint32_t nodes;                 /* 0: the driver has no statistics */
    uint64_t total[2];              /* dedicated and shared memory; 0: not known */
    double temperature_warning;     /* degrees Celsius; 0: not known */
    double busy[GTEL_ENGINE_KINDS]; /* running time of each class, 100 ns */
    struct gtel_wddm_node node[GTEL_WDDM_NODES_MAX];
};

struct gtel_wddm_gpu {
    struct gtel_pnp_gpu pnp;
    struct gtel_device *device;
    uint32_t power;         /* 1 is D0 … 4 is D3; 0: not known */
    uint64_t registry_size; /* bytes of memory, as the driver's setup wrote it; 0: not known */
    uint64_t wmi_size;      /* the same as WMI has it, of source wmi alone */
    bool is_found;
    bool has_slept; /* at the last sample */
    struct gtel_wddm_adapter adapter;
};

struct gtel_wddm {
    const struct gtel_env *env;
    const struct gtel_options *options; /* NULL where no adapter is sampled */
    struct gtel_pnp pnp;
    struct gtel_dynlib library;
    struct gtel_wddm_calls call;
    struct gtel_wddm_gpu *gpu[GTEL_WDDM_GPUS_MAX];
    size_t n;
    unsigned retries; /* searches in a row in which something was missing */
};

/* ---- wddm.c ---- */

/* Opens Plug and Play and what there is of the calls; finds nothing yet. 0, or as gtel_pnp_open. */
int gtel_wddm_open(struct gtel_wddm *wddm, const struct gtel_env *env);
/* Accepts a zeroed struct. */
void gtel_wddm_close(struct gtel_wddm *wddm);

/* ---- devices.c ---- */

/*
 * Brings wddm->gpu and the registry up to date. 0, or a negative errno when devices cannot be
 * listed: all stays as it was.
 */
int gtel_wddm_find(struct gtel_wddm *wddm, struct gtel_registry *registry);
/* Forgets all GPUs, and closes what is open. */
void gtel_wddm_forget(struct gtel_wddm *wddm);

/* ---- adapter.c: of GPUs in D0 ---- */

/* Opens what is not open, unless that has just failed; adapter.error has the reason. */
void gtel_wddm_adapter_open(const struct gtel_wddm *wddm, struct gtel_wddm_gpu *gpu);
void gtel_wddm_adapter_close(const struct gtel_wddm *wddm, struct gtel_wddm_gpu *gpu);
/*
 * Whether a size is none: Intel's processors have no memory of their own, and their driver reports
 * some for old programs (Intel: FAQ for graphics memory on Windows 10). Its cards have 4 GiB or
 * more, in virtual machines on bus 0, too.
 */
bool gtel_wddm_is_invented(const struct gtel_wddm_gpu *gpu, uint64_t bytes);
/* 0, or -ENODEV when the adapter is no more. */
int gtel_wddm_adapter_sample(const struct gtel_wddm *wddm, struct gtel_wddm_gpu *gpu,
                             struct gtel_batch *batch);

#endif
