/* SPDX-License-Identifier: MIT */
/* Engine classes: time worked and time passed, behind a check of what is possible. */
#ifndef GTEL_SOURCES_LEVEL_ZERO_SYSMAN_ENGINES_H
#define GTEL_SOURCES_LEVEL_ZERO_SYSMAN_ENGINES_H

#include "sources/level_zero/sysman/ask.h"

/* Takes one sample at a time on our clock; true when it has a value. */
bool gtel_sysman_activity_step(struct gtel_sysman_activity *activity,
                               const struct gtel_zes_engine_stats *now, uint64_t now_ns);
/* Adds the classes of the engines that were just read. */
void gtel_sysman_add_engines(const struct gtel_sysman_pass *pass);

#endif
