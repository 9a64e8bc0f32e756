/* SPDX-License-Identifier: MIT */
/* What was asked for of Level Zero's metrics and cannot be had, and why. */
#ifndef GTEL_SOURCES_LEVEL_ZERO_METRICS_DIAGNOSE_H
#define GTEL_SOURCES_LEVEL_ZERO_METRICS_DIAGNOSE_H

#include "sources/level_zero/metrics/state.h"

void gtel_l0m_diagnose(void *state, struct gtel_registry *registry, struct gtel_findings *findings);

#endif
