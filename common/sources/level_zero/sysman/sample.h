/* SPDX-License-Identifier: MIT */
/* One sample of a GPU, and when it is left alone. */
#ifndef GTEL_SOURCES_LEVEL_ZERO_SYSMAN_SAMPLE_H
#define GTEL_SOURCES_LEVEL_ZERO_SYSMAN_SAMPLE_H

#include "sources/level_zero/sysman/state.h"

/* Whether the GPU may be asked now: it is there, awake, and not left alone so that it can sleep. */
bool gtel_sysman_may_ask(const struct gtel_sysman *sysman, struct gtel_sysman_gpu *gpu);
/* Asks everything that is due on one GPU. Failures are counted in the batch. */
void gtel_sysman_sample(struct gtel_sysman *sysman, struct gtel_sysman_gpu *gpu,
                        struct gtel_batch *batch);
/* Lost for so long after it has worked that only a restart of the helper may help. */
bool gtel_sysman_is_lost(const struct gtel_sysman *sysman, const struct gtel_sysman_gpu *gpu);
/*
 * Energy counters that wrap within minutes: when they are to be read again, if nobody asks for them
 * before; 0: not at all. And reads them, for the next sample; may_ask: the GPU may be asked now.
 */
uint64_t gtel_sysman_energy_due(const struct gtel_sysman_gpu *gpu);
void gtel_sysman_keep_energy(struct gtel_sysman *sysman, struct gtel_sysman_gpu *gpu,
                             struct gtel_batch *batch, bool may_ask);

#endif
