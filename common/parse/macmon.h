/* SPDX-License-Identifier: MIT */
/*
 * A line of `macmon pipe`: what an Apple GPU does, in all versions of its schema (0.5 to 0.8.2:
 * vladkens/macmon, src_lib/metrics.rs, changelog.md). Pure: no allocation, no input or output.
 *
 * Any key may be missing, of another type, or "N/A", and any value out of its range: then there is
 * none. Where a value has several names, the best in the line counts, be its value good or not.
 */
#ifndef GTEL_PARSE_MACMON_H
#define GTEL_PARSE_MACMON_H

#include "base/str.h"

enum gtel_macmon_value {
    GTEL_MACMON_BUSY,        /* ratio; see is_scaled */
    GTEL_MACMON_FREQUENCY,   /* Hz, the mean while the GPU was on; 0: it was off */
    GTEL_MACMON_TEMPERATURE, /* °C, mean of the GPU's sensors */
    GTEL_MACMON_RAM_TOTAL,   /* bytes of the machine: the GPU has no memory of its own */
    GTEL_MACMON_RAM_USED,
    GTEL_MACMON_POWER_GPU, /* W */
    GTEL_MACMON_POWER_ANE, /* the neural engine */
    GTEL_MACMON_POWER_ALL, /* CPU, GPU and neural engine */
    GTEL_MACMON_VALUES
};

enum { GTEL_MACMON_FANS = 8, GTEL_MACMON_NAME_MAX = 32, GTEL_MACMON_MODEL_MAX = 64 };

struct gtel_macmon {
    unsigned known; /* which values, a bit each */
    double value[GTEL_MACMON_VALUES];
    bool is_scaled; /* the ratio is busy time × clock / highest clock, not busy time */
    struct gtel_macmon_fan {
        char name[GTEL_MACMON_NAME_MAX]; /* macmon's, else its number from 1 on */
        double rpm;                      /* below 0: not known */
    } fan[GTEL_MACMON_FANS];             /* by their place in the line; others are dropped */
    char model[GTEL_MACMON_MODEL_MAX];   /* "Apple M2 Max"; empty: not stated */
};

/*
 * Reads the object at the beginning of line; what follows it is not read. memory: of
 * gtel_json_memory(line.n) bytes, aligned for any type. 0; -EBADMSG when it is no JSON or ends
 * early; -E2BIG when it is too deep; -ENODATA when it has no value. *ret is written on success.
 */
int gtel_macmon_parse(struct gtel_str line, void *memory, struct gtel_macmon *ret);

#endif
