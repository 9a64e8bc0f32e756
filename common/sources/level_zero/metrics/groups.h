/* SPDX-License-Identifier: MIT */
/* The groups of metrics of a tile that we know, and their columns. */
#ifndef GTEL_SOURCES_LEVEL_ZERO_METRICS_GROUPS_H
#define GTEL_SOURCES_LEVEL_ZERO_METRICS_GROUPS_H

#include "sources/level_zero/metrics/state.h"

/* Enables metrics and finds the groups that we know, again where some failed. */
void gtel_l0m_set_up(struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu, struct gtel_l0m_tile *tile);

#endif
