/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the host of the made-up GPU counts: a module of its own, host.ko, loaded beside i915 or xe.
 * Energy of the CPU package and of the GPU in it, as RAPL's perf PMU and as zones of powercap, and
 * hardware errors, as the generic netlink family drm-ras of Linux 7.1. Test-only.
 *
 * Energy is a power times the monotonic time since the module was loaded, to the microjoule.
 */
#ifndef HOST_H
#define HOST_H

#include <linux/types.h>

/* In eighths of a watt, which are exact in binary and in decimal: 12.5 W of 40 W. */
enum { HOST_GPU_WATTS8 = 100, HOST_PACKAGE_WATTS8 = 320 };

u64 host_age_ns(void);

int host_power_register(void);
void host_power_unregister(void);

int host_zones_register(void);
void host_zones_unregister(void);

/* Corrected errors of the part core-compute; the others are constant (ras.c). */
extern unsigned int host_errors;
int host_ras_register(void);
void host_ras_unregister(void);

#endif
