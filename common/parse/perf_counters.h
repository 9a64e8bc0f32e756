/* SPDX-License-Identifier: MIT */
/*
 * Performance counters of Windows about GPUs: from the buffer that the system gives to text, and
 * from text to values. Pure: no allocation, no input or output.
 *
 * The buffer is what PerfQueryCounterData gives for all counters and all instances of one set
 * (Microsoft: perflib.h, PERF_DATA_HEADER and what follows it; MS-PCQ 2.2.4). Every length in it
 * comes from another program. As text, which recorded machines keep, it is a line with the time,
 * then one for each instance: its values, each behind the number of its counter, and its name.
 *
 *     clock 81500000000
 *     1:50000000 2:0 pid_1234_luid_0x00000000_0x0000C85A_phys_0_eng_0_engtype_3D
 */
#ifndef GTEL_PARSE_PERF_COUNTERS_H
#define GTEL_PARSE_PERF_COUNTERS_H

#include "base/str.h"

enum {
    GTEL_PERF_COUNTERS_MAX = 16, /* counters of a set; those of a higher number are skipped */
    GTEL_PERF_NAME_MAX = 200     /* characters of an instance's name; the rest is cut */
};

/* An instance: a process on a GPU (GPU Process Memory), or on one engine of it (GPU Engine). */
struct gtel_perf_instance {
    uint32_t pid;
    uint32_t adapter;     /* which of the linked ones of that LUID: phys_ */
    uint32_t engine;      /* UINT32_MAX: it is on no engine */
    uint64_t luid;        /* of the GPU, until it restarts */
    struct gtel_str type; /* of the engine, as its driver calls it: "Compute_0"; borrowed */
    uint32_t has;         /* a bit per counter */
    uint64_t value[GTEL_PERF_COUNTERS_MAX];
};

/*
 * Prints a buffer of n bytes into buf of size bytes, without a NUL. 0; -EINVAL when it is not what
 * the system describes; -ENODATA when it has no counter; -EIO when the system says that it has no
 * values; -E2BIG. *ret_n is written on success.
 */
int gtel_perf_print(const void *data, size_t n, char *buf, size_t size, size_t *ret_n);

/* Cuts the line with the time off *text. 0 or -EINVAL. */
int gtel_perf_clock(struct gtel_str *text, uint64_t *ret_ns);
/*
 * Cuts the next instance off *text. 0; -EINVAL for one that is no process on a GPU; -ENODATA behind
 * the last. *ret is written on success.
 */
int gtel_perf_next(struct gtel_str *text, struct gtel_perf_instance *ret);

#endif
