/* SPDX-License-Identifier: MIT */
/* Which loader of Level Zero this system has, and what a source has to say of it. */
#ifndef GTEL_TESTS_HARNESS_ZE_LOADER_H
#define GTEL_TESTS_HARNESS_ZE_LOADER_H

#include "host/env.h"

struct loader {
    bool has_driver;  /* of Intel's: then what it answers is no matter of the loader alone */
    const char *says; /* the log has this, once; NULL: that is the driver's matter */
    const char *text; /* for people */
};

/* real: an environment with the libraries of this system. */
struct loader loader_look(const struct gtel_env *real);

#endif
