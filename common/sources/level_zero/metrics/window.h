/* SPDX-License-Identifier: MIT */
/* One measurement of a tile: opens a stream, reads it, closes it. */
#ifndef GTEL_SOURCES_LEVEL_ZERO_METRICS_WINDOW_H
#define GTEL_SOURCES_LEVEL_ZERO_METRICS_WINDOW_H

#include "sources/level_zero/metrics/state.h"

/* The next step of a tile's measurements: opens, reads, closes. Sets its due_ns. */
void gtel_l0m_step(struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu, struct gtel_l0m_tile *tile);
/* Whether a measurement that cannot be ended keeps others from beginning, and not just once. */
bool gtel_l0m_is_stuck(const struct gtel_l0m_tile *tile);
/* Nothing of a tile is open or enabled afterwards. */
void gtel_l0m_release(struct gtel_l0m *l0m, struct gtel_l0m_tile *tile);

#endif
