/* SPDX-License-Identifier: MIT */
/*
 * Records of xe's EU stall sampling: at one instruction, how many samples found a unit active, and
 * how many found it waiting, by reason.
 *
 * Each record has 64 bytes: the address of the instruction, then counters of eight bits. Which bits
 * they are differs by hardware. Only sums over all instructions are of interest here.
 */
#ifndef GTEL_PARSE_EU_STALL_H
#define GTEL_PARSE_EU_STALL_H

#include "base/str.h"

enum { GTEL_EU_STALL_RECORD = 64 };

enum gtel_eu_stall_layout {
    GTEL_EU_STALL_PVC,  /* Ponte Vecchio */
    GTEL_EU_STALL_XE2,  /* Xe2 and Xe3: Lunar Lake, Battlemage, Panther Lake */
    GTEL_EU_STALL_XE3P, /* Crescent Island */
    GTEL_EU_STALL_LAYOUTS
};

enum gtel_eu_stall {
    GTEL_EU_STALL_ACTIVE, /* no stall */
    GTEL_EU_STALL_PSDEP,  /* not on Ponte Vecchio */
    GTEL_EU_STALL_OTHER,
    GTEL_EU_STALL_CONTROL,
    GTEL_EU_STALL_PIPE,
    GTEL_EU_STALL_SEND,
    GTEL_EU_STALL_DIST,
    GTEL_EU_STALL_SBID,
    GTEL_EU_STALL_SYNC,
    GTEL_EU_STALL_INSTRFETCH,
    GTEL_EU_STALL_KINDS
};

struct gtel_eu_stall_sums {
    uint64_t count[GTEL_EU_STALL_KINDS];
};

/* "send"; the same words as those of Level Zero's metrics. */
const char *gtel_eu_stall_name(enum gtel_eu_stall kind);
/* The position of a counter in a record, in bits, or -1 when the hardware has none. */
int gtel_eu_stall_bit(enum gtel_eu_stall_layout layout, enum gtel_eu_stall kind);
/* Adds the records of n bytes to the sums. 0, or -EINVAL when that is no number of records. */
int gtel_eu_stall_add(enum gtel_eu_stall_layout layout, const void *bytes, size_t n,
                      struct gtel_eu_stall_sums *sums);

#endif
