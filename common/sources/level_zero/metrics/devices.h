/* SPDX-License-Identifier: MIT */
/* Level Zero's start for metrics, its devices, and their tiles. */
#ifndef GTEL_SOURCES_LEVEL_ZERO_METRICS_DEVICES_H
#define GTEL_SOURCES_LEVEL_ZERO_METRICS_DEVICES_H

#include "sources/level_zero/metrics/state.h"

/*
 * Opens and starts Level Zero unless that was done or a GPU sleeps, and finds the devices behind
 * cards that have none yet.
 */
void gtel_l0m_find_devices(struct gtel_l0m *l0m);

#endif
