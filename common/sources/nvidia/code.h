/* SPDX-License-Identifier: MIT */
/* What NVML's result codes mean for a reader (NVML API Reference, nvmlReturn_t). */
#ifndef GTEL_SOURCES_NVIDIA_CODE_H
#define GTEL_SOURCES_NVIDIA_CODE_H

#include "abi/nvml_abi.h"
#include "host/env.h"

#include <stdbool.h>

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

#endif
