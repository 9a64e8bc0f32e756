/* SPDX-License-Identifier: MIT */
/* What the failure of a step means, in logs and for `gtel doctor`. */
#ifndef GTEL_SOURCES_LEVEL_ZERO_METRICS_ASK_H
#define GTEL_SOURCES_LEVEL_ZERO_METRICS_ASK_H

#include "sources/level_zero/metrics/state.h"

/*
 * Records the outcome of a step: when it is tried next, and logs the first failure and the end of
 * failing. A failure that is neither a lack nor a refusal is counted.
 */
void gtel_l0m_record(const struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu, struct gtel_l0m_try *try,
                     const char *call, uint32_t code);
/* Whether the kernel lets nobody with our rights measure on that GPU: why, or NULL. ret_fix: what
 * helps, or NULL. */
const char *gtel_l0m_refusal(const struct gtel_env *env, const struct gtel_l0m_gpu *gpu,
                             const char **ret_fix);
/*
 * What a failure means in words, and what helps; both may be NULL. The driver gives one code for
 * all that the kernel refuses, so rights are checked here.
 */
void gtel_l0m_explain(const struct gtel_env *env, const struct gtel_l0m_gpu *gpu,
                      const struct gtel_l0m_try *try, const char **ret_why, const char **ret_fix);
/* What brings groups of metrics. */
extern const char gtel_l0m_libraries[];

#endif
