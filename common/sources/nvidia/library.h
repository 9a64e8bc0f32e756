/* SPDX-License-Identifier: MIT */
/*
 * NVML in this process: opened, started and ended, with growing pauses between tries; and what its
 * result codes mean for a reader (NVML API Reference, nvmlReturn_t).
 *
 * Knows nothing of GPUs. Functions of this folder that call NVML return its codes (0 and above),
 * the others 0 or a negative errno.
 */
#ifndef GTEL_SOURCES_NVIDIA_LIBRARY_H
#define GTEL_SOURCES_NVIDIA_LIBRARY_H

#include "abi/nvml_abi.h"
#include "base/backoff.h"
#include "host/library.h"
#include "tables/options.h"

/* A driver version that can be compared: 580.82.07 is GTEL_NVML_DRIVER(580, 82). */
#define GTEL_NVML_DRIVER(major, minor) ((unsigned)(major) << 16 | (unsigned)(minor))

enum gtel_nvml_meaning {
    GTEL_NVML_MEANS_FINE,
    GTEL_NVML_MEANS_NO_VALUE, /* none this time */
    GTEL_NVML_MEANS_ABSENT,   /* not on this card or driver, or not for this user */
    GTEL_NVML_MEANS_FAILURE,  /* the next try may work */
    GTEL_NVML_MEANS_NO_GPU,   /* this GPU is lost, needs a reset, or is not there */
    GTEL_NVML_MEANS_BROKEN    /* NVML itself does not work: it has to be started again */
};

enum gtel_nvml_meaning gtel_nvml_meaning(int code);

/* A code at the start of NVML. */
struct gtel_nvml_code {
    int code;
    const char *text; /* what it says */
    const char *fix;  /* what a user can do about it */
};

const struct gtel_nvml_code *gtel_nvml_code(int code);
/* What it says on that host. */
const char *gtel_nvml_code_text(const struct gtel_env *env, int code);

enum {
    GTEL_NVML_NO_LIBRARY = -1,
    GTEL_NVML_FORBIDDEN = -2 /* the env opens no libraries, as that of a recorded machine */
};

/* Zeroed but for env and options: not open. */
struct gtel_nvml_library {
    const struct gtel_env *env;
    const struct gtel_options *options;
    struct gtel_dynlib dynlib;
    struct gtel_nvml_calls call;
    bool is_running; /* nvmlInit_v2 has succeeded */
    unsigned driver; /* its version (GTEL_NVML_DRIVER); 0: not known */
    int broken;      /* a BROKEN code, to be ended with gtel_nvml_fail; else 0 */
    int trouble;     /* what was logged last: 0, one of the above, or a code */
    struct gtel_backoff backoff;
};

/*
 * Opens the library and starts NVML unless it runs or a pause is not over. 0, -EAGAIN during a
 * pause, or -ENOENT: not now (logged once).
 */
int gtel_nvml_start(struct gtel_nvml_library *library);
/* Ends NVML and closes the library: a new driver needs a newly loaded library. */
void gtel_nvml_stop(struct gtel_nvml_library *library);
/* After a gather with it: a failure before that is over, which is logged. */
void gtel_nvml_works(struct gtel_nvml_library *library);
/* After gtel_nvml_stop, because of a code: logs it. The first try to start again may follow. */
void gtel_nvml_fail(struct gtel_nvml_library *library, int code);

/* What a code means; BROKEN is kept. */
enum gtel_nvml_meaning gtel_nvml_judge(struct gtel_nvml_library *library, int code);

/* Its names, in the order in which they are tried; NULL at the end. By system. */
extern const char *const gtel_nvml_names[];
/* Whether it is among the files of a Windows host, and where. */
bool gtel_nvml_find_dll(const struct gtel_env *env, char *ret, size_t size);
/* Where a helper finds the library: struct gtel_source_library. */
bool gtel_nvml_find_library(const struct gtel_env *env, char *ret, size_t size);

#endif
