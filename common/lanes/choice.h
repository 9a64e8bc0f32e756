/* SPDX-License-Identifier: MIT */
/* Which sources a context uses: of its plugin, those that the option Sources names. */
#ifndef GTEL_LANES_CHOICE_H
#define GTEL_LANES_CHOICE_H

#include "host/env.h"
#include "sources/source.h"

struct gtel_choice {
    const char *vendor; /* of the plugin's sources; NULL: all */
    const struct gtel_options *options;
};

/*
 * The plugin of the processes has no counters of GPUs: to split their energy, it reads the kernel's
 * own, too, and emits nothing of them.
 */
bool gtel_choice_is_meter(const struct gtel_choice *choice, const struct gtel_source *source);
bool gtel_choice_is_wanted(const struct gtel_choice *choice, const struct gtel_source *source);
/*
 * Names in the option must exist, and one of them must be the plugin's: a typing error would look
 * like a machine without GPU. 0, or -EINVAL, which has been logged.
 */
int gtel_choice_check(const struct gtel_choice *choice, const struct gtel_log *log);

#endif
