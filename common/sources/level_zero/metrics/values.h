/* SPDX-License-Identifier: MIT */
/* From measured values to results, and from these to readings. */
#ifndef GTEL_SOURCES_LEVEL_ZERO_METRICS_VALUES_H
#define GTEL_SOURCES_LEVEL_ZERO_METRICS_VALUES_H

#include "sources/level_zero/metrics/state.h"

/* Makes the result of n values, `columns` of each report. False when they are not valid. */
bool gtel_l0m_read_activity(struct gtel_l0m_meter *meter, const struct gtel_zet_value *value,
                            size_t n);
bool gtel_l0m_read_stalls(struct gtel_l0m_meter *meter, const struct gtel_zet_value *value,
                          size_t n);
/* Adds results that are new, or have been measured within the last second. */
void gtel_l0m_add(struct gtel_batch *batch, const struct gtel_l0m_gpu *gpu,
                  struct gtel_l0m_tile *tile);

#endif
