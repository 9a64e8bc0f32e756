/* SPDX-License-Identifier: MIT */
/*
 * What the perf PMUs of i915 and xe have in common: where they lie, on which CPU their events are
 * opened, and what to say when that is refused.
 */
#ifndef GTEL_SOURCES_INTEL_PERF_H
#define GTEL_SOURCES_INTEL_PERF_H

#include "host/fs.h"

enum { GTEL_INTEL_PERF_DIR_MAX = 128 }; /* bytes of a PMU's directory with its NUL */

/*
 * The directory of the PMU of a GPU that bears its PCI address: "i915_0000_03_00.0"; of the only
 * one of a driver with key NULL: "i915".
 */
void gtel_intel_perf_dir(char dir[GTEL_INTEL_PERF_DIR_MAX], const char *driver, const char *key);
/*
 * The CPU on which events of the PMU are opened: up to Linux 6.14 only that of its cpumask counts,
 * which changes when a CPU is switched off. ret_n: how many it has; NULL: not asked for. 0 or a
 * negative errno.
 */
int gtel_intel_perf_cpu(const struct gtel_env *env, const char *dir, uint32_t *ret,
                        uint32_t *ret_n);
/*
 * What helps where opening events is refused: the setting as it is, and the right. buf is of size
 * bytes; returns it.
 */
const char *gtel_intel_perf_fix(const struct gtel_env *env, char *buf, size_t size);
/*
 * gtel_failure_log of a try to count what ("engine use"), with what would help; *logged is the last
 * result.
 */
void gtel_intel_perf_log(const struct gtel_env *env, const char *source, const char *key,
                         const char *what, int r, int *logged);

#endif
