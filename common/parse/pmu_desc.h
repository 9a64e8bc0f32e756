/* SPDX-License-Identifier: MIT */
/*
 * The texts by which a perf PMU describes itself, below sys/bus/event_source/devices (kernel:
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-events). Pure: no allocation, no input
 * or output.
 */
#ifndef GTEL_PARSE_PMU_DESC_H
#define GTEL_PARSE_PMU_DESC_H

#include "base/str.h"

/*
 * The value of a term of an event: "config=0x1000" (i915), "event=0x02" (xe), several of them
 * joined by commas. Hexadecimal after 0x, else decimal; a term without a value is 1. 0, -ENOENT
 * when there is no such term, -EINVAL or -ERANGE when its value is no number.
 */
int gtel_pmu_term(struct gtel_str text, struct gtel_str name, uint64_t *ret);
/*
 * Which bits of the config a term takes: "config:12-19", "config:5". 0, -EINVAL for any other text,
 * also for bits of another word ("config1:0-7"), -ERANGE for bits that the config does not have.
 */
int gtel_pmu_format(struct gtel_str text, uint8_t *ret_first, uint8_t *ret_last);
/* Seconds in the unit of an event ("ns", "ms"). 0, or -EINVAL for any other unit. */
int gtel_pmu_unit_seconds(struct gtel_str text, double *ret);
/*
 * The first CPU of a mask in the form of a list, and how many are in it: "0", "0-3,8". Numbers must
 * grow. 0, -ENODATA for an empty list, -EINVAL, -ERANGE.
 */
int gtel_pmu_cpus(struct gtel_str text, uint32_t *ret_first, uint32_t *ret_n);
/*
 * How much of its unit one count of an event is: "2.3283064365386962890625e-10" (RAPL). 0, -EINVAL
 * for no number or one that is not above 0, -ERANGE.
 */
int gtel_pmu_scale(struct gtel_str text, double *ret);

#endif
