/* SPDX-License-Identifier: MIT */
/*
 * Performance counters of Windows about GPUs: the instances of a set and their values, from the
 * buffer that the system gives, or from text. Pure: no allocation, no input or output.
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

/* Where the sets of an env are, by their GUIDs: the system's buffers, or texts. */
#define GTEL_PERF_FOLDER "windows/counters/"

enum {
    GTEL_PERF_COUNTERS_MAX = 8, /* counters of a set; those of a higher number are skipped */
    GTEL_PERF_NAME_MAX = 200    /* characters of an instance's name; the rest is cut */
};

/* A set that is being read; borrows its data. */
struct gtel_perf_set {
    uint64_t clock_ns;    /* when the values were true */
    struct gtel_str rest; /* behind the instances that were read */
    struct gtel_str ids;  /* the system's numbers of the counters; p is NULL: this is text */
    uint32_t left;        /* instances that the system counts and that were not read yet */
};

struct gtel_perf_instance {
    struct gtel_str name;                   /* as the data has it; borrowed from there */
    uint32_t has;                           /* a bit per counter: it has a value */
    uint64_t value[GTEL_PERF_COUNTERS_MAX]; /* not written without its bit */
};

/* What a name says: a process on a GPU (GPU Process Memory), or on an engine of it (GPU Engine). */
struct gtel_perf_name {
    uint32_t pid;
    uint32_t adapter;     /* which of the linked ones of that LUID: phys_ */
    uint32_t engine;      /* UINT32_MAX: it is on no engine */
    uint64_t luid;        /* of the GPU, until it restarts */
    struct gtel_str type; /* of the engine, as its driver calls it: "Compute_0"; borrowed */
};

/*
 * Begins to read a set. 0; -EINVAL when it is not what the system describes; -ENODATA when it has
 * no counter; -EIO when the system says that it has no values. *ret is written on success.
 */
int gtel_perf_begin(struct gtel_str data, struct gtel_perf_set *ret);
/* The next instance; false behind the last, and where the data ends before it, when some are left.
 */
bool gtel_perf_next(struct gtel_perf_set *set, struct gtel_perf_instance *ret);
/*
 * Reads the name of an instance of the set, from which, or from text, ret's type borrows. 0, or
 * -EINVAL when it is no process on a GPU.
 */
int gtel_perf_name(const struct gtel_perf_set *set, const struct gtel_perf_instance *instance,
                   char text[GTEL_PERF_NAME_MAX], struct gtel_perf_name *ret);

/*
 * Prints a set as text with a NUL into buf of size bytes. 0; -E2BIG; -EINVAL when it is cut
 * off; or as gtel_perf_begin. *ret_n is written on success.
 */
int gtel_perf_print(struct gtel_str data, char *buf, size_t size, size_t *ret_n);

#endif
