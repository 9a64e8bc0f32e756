/* SPDX-License-Identifier: MIT */
/* What the kernel says of the telemetry that Level Zero reads. */
#ifndef GTEL_SOURCES_LEVEL_ZERO_SYSMAN_TELEMETRY_H
#define GTEL_SOURCES_LEVEL_ZERO_SYSMAN_TELEMETRY_H

#include "host/drm.h"

/* How many bits the memory counters of a tile of Ponte Vecchio have; 0: the kernel does not say. */
uint32_t gtel_sysman_counter_bits(const struct gtel_env *env, const struct gtel_drm_card *drm,
                                  uint32_t tile);

#endif
