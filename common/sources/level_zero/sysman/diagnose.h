/* SPDX-License-Identifier: MIT */
/* What Level Zero does not give, and why, for `gtel doctor`. */
#ifndef GTEL_SOURCES_LEVEL_ZERO_SYSMAN_DIAGNOSE_H
#define GTEL_SOURCES_LEVEL_ZERO_SYSMAN_DIAGNOSE_H

#include "sources/level_zero/sysman/state.h"

void gtel_sysman_diagnose(void *state, struct gtel_registry *registry,
                          struct gtel_findings *findings);

#endif
