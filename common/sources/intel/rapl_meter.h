/* SPDX-License-Identifier: MIT */
/*
 * The energy that an Intel CPU package counts for itself and for the GPU in it (RAPL), through the
 * perf PMU `power` or the powercap zones of the kernel.
 *
 * Reading either of them asks the CPU and never wakes the GPU. The PMU comes first: it counts 64
 * bits and needs the right that engine use needs, too. The zones wrap after some hours or minutes
 * and are for root alone. A machine with several packages has no meter: nothing says which of them
 * the GPU is part of.
 *
 *   perf power/energy-*   64 bits, 2^-32 J   never; the kernel's timer carries the hardware's 32 on
 *   powercap energy_uj    max_energy_range_uj, mostly 2^32 x 2^-14 J: 4.4 min at 1000 W; carried on
 *                         by read_zone(), which rapl.c calls each 2 min at least
 *
 * (kernel: arch/x86/events/rapl.c, drivers/powercap/intel_rapl_common.c)
 */
#ifndef GTEL_SOURCES_INTEL_RAPL_METER_H
#define GTEL_SOURCES_INTEL_RAPL_METER_H

#include "base/counter.h"
#include "host/fs.h"

enum gtel_rapl_domain { GTEL_RAPL_GPU, GTEL_RAPL_PACKAGE, GTEL_RAPL_DOMAINS };
/* How an open meter counts. */
enum gtel_rapl_way { GTEL_RAPL_CLOSED, GTEL_RAPL_PERF, GTEL_RAPL_POWERCAP, GTEL_RAPL_WAYS };

/* What counts one domain: a zone, or an event of the PMU. Zeroed: nothing does. */
struct gtel_rapl_counter {
    bool is_open;
    bool has_counted;           /* a zone: not always 0, as a register that does not exist is */
    double scale;               /* joules in a unit */
    struct gtel_fs_file file;   /* of a zone */
    struct gtel_counter energy; /* in units; its sum: since it was opened, or a step not known */
};

/* Zeroed: not open. */
struct gtel_rapl_meter {
    enum gtel_rapl_way way;
    bool is_suspect; /* not all events could be checked: opened again at the next refresh */
    struct gtel_rapl_counter counter[GTEL_RAPL_DOMAINS];
    /* The perf PMU. */
    struct gtel_fs_file type;
    uint64_t type_number;
    uint32_t cpu;
    int handle_plus_1;
    size_t n;
    enum gtel_rapl_domain event[GTEL_RAPL_DOMAINS]; /* in the order of the group */
    uint64_t suspended_ns; /* for how long the host had slept at the last read */
    /* Why there is no value of the GPU, by way: a negative errno, -ERANGE for several packages. */
    int error[GTEL_RAPL_WAYS];
    int pmu_error;      /* of the PMU itself: -ENOENT without it */
    int event_error;    /* of its event of the GPU */
    size_t packages;    /* zones of packages that powercap has */
    char zone_path[64]; /* of the GPU's zone, where there is one */
};

/*
 * Opens the meter where that is due: it is not open, or its PMU was registered again or has moved
 * to another CPU. What could not be had is in meter->error. arena is for passing use.
 */
void gtel_rapl_refresh(const struct gtel_env *env, struct gtel_arena *arena,
                       struct gtel_rapl_meter *meter);
/* Whether the open meter has that domain, and it does not read 0 for ever. */
bool gtel_rapl_has(const struct gtel_rapl_meter *meter, enum gtel_rapl_domain domain);
/*
 * Reads the counters at t_ns: joules that only grow, or start again at 0; NAN where there are none.
 * A powercap counter must be read at least each two minutes, or a turn of it is lost. 0, or a
 * negative errno: the meter is closed then.
 */
int gtel_rapl_read(const struct gtel_env *env, struct gtel_rapl_meter *meter, uint64_t t_ns,
                   double ret[GTEL_RAPL_DOMAINS]);
/* Keeps the errors. */
void gtel_rapl_close(const struct gtel_env *env, struct gtel_rapl_meter *meter);

#endif
