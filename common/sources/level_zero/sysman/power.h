/* SPDX-License-Identifier: MIT */
/* Energy counters: which of them wrap within minutes, and a check of what is possible. */
#ifndef GTEL_SOURCES_LEVEL_ZERO_SYSMAN_POWER_H
#define GTEL_SOURCES_LEVEL_ZERO_SYSMAN_POWER_H

#include "sources/level_zero/sysman/state.h"

/* Whether the energy counters of the GPU wrap within minutes. */
bool gtel_sysman_wraps(const struct gtel_sysman_gpu *gpu);
/* The GPU was seen asleep: its counters may have restarted. */
void gtel_sysman_record_sleep(struct gtel_sysman_gpu *gpu);
/*
 * Takes one sample of an energy counter that wraps at wrap_uj (0: never); limit_w: the largest
 * sustained limit known, 0 for none. True when the counter has a value: total_uj at total_us.
 */
bool gtel_sysman_energy_step(struct gtel_sysman_energy *energy, const struct gtel_zes_energy *now,
                             uint64_t wrap_uj, double limit_w);

#endif
