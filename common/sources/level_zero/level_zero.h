/* SPDX-License-Identifier: MIT */
/* The loader of Level Zero, as both sources that use it see it: its names, and what it says. */
#ifndef GTEL_SOURCES_LEVEL_ZERO_LEVEL_ZERO_H
#define GTEL_SOURCES_LEVEL_ZERO_LEVEL_ZERO_H

#include "sources/drm/cards.h"
#include "sources/source.h"

/*
 * Where distributions, Intel's own packages and graphics drivers put it, NULL at the end; the
 * loader's own name comes first.
 */
extern const char *const gtel_level_zero_names[];

/* Whether there is a loader that a helper finds; nothing is opened. */
bool gtel_level_zero_is_installed(const struct gtel_env *env);
/* The same for `gtel doctor`. */
extern const struct gtel_source_library gtel_level_zero_library;

/*
 * Switches something on in a loader that is not started yet and knows no call for it: sets that
 * variable of this process to 1. False when that fails.
 */
bool gtel_level_zero_switch_on(const char *variable);

/* What a result code of a failed start (GTEL_ZE_...) means to a user. */
const char *gtel_level_zero_advice(uint32_t code);

/* Findings about what a source would measure: the library cannot be opened. */
void gtel_level_zero_put_absent(enum gtel_measurement measurement, struct gtel_findings *findings);
/* Level Zero starts for all GPUs at once, and would wake those that sleep: for which one it waits.
 */
void gtel_level_zero_put_wait(const struct gtel_card_list *cards, enum gtel_measurement measurement,
                              struct gtel_findings *findings);

#endif
