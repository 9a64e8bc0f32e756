/* SPDX-License-Identifier: MIT */
/*
 * Attributes: kept files of an Intel GPU that become readings.
 *
 * i915 and xe differ in where files lie and what they are called, which is settled when the files
 * are listed (scan.h). From then on a file is an attribute: a prepared reading and the form of its
 * text. A cycle is one read per attribute.
 */
#ifndef GTEL_SOURCES_INTEL_ATTR_H
#define GTEL_SOURCES_INTEL_ATTR_H

#include "pipeline/reading.h"
#include "host/fs.h"

enum gtel_intel_form {
    GTEL_INTEL_INTEGER,   /* value × scale as integer */
    GTEL_INTEL_NUMBER,    /* value × scale, may be negative */
    GTEL_INTEL_LIMIT,     /* the same; 0 means "off": no reading */
    GTEL_INTEL_FLAG,      /* 0 or 1 */
    GTEL_INTEL_LEVEL,     /* a clock of the hardware in MHz: 0 and what no GPU reaches are none */
    GTEL_INTEL_MASK,      /* hexadecimal flags: whether the lowest is set */
    GTEL_INTEL_IDLE,      /* "gt-c0", "gt-c6"; anything else is no reading */
    GTEL_INTEL_PROFILE,   /* "base [power_saving]": whether that stands in brackets */
    GTEL_INTEL_COUNTER,   /* value × scale */
    GTEL_INTEL_COUNTER32, /* the same from 32 bits that wrap: carried on */
    GTEL_INTEL_ENERGY,    /* microjoule behind plausibility gates */
    GTEL_INTEL_FAN,       /* revolutions per minute; keeps its value while the driver says EAGAIN */
    GTEL_INTEL_LINK_SPEED, /* "16.0 GT/s PCIe" */
    GTEL_INTEL_LINK_WIDTH
};

/* A figure of measurement gpu that is a copy of another: the first one of a cycle is taken. */
enum gtel_intel_headline {
    GTEL_INTEL_NO_HEADLINE,
    GTEL_INTEL_HEAD_ENERGY,
    GTEL_INTEL_HEAD_LIMIT,
    GTEL_INTEL_HEAD_TEMPERATURE,
    GTEL_INTEL_HEAD_FREQUENCY,
    GTEL_INTEL_HEADLINES
};

/* Positions in the sources' list of origins. */
enum { GTEL_INTEL_SYSFS, GTEL_INTEL_HWMON };

struct gtel_intel_attr {
    struct gtel_fs_file file;
    uint8_t form;     /* enum gtel_intel_form */
    uint8_t headline; /* enum gtel_intel_headline */
    uint8_t origin;
    bool is_idle_time; /* its growth says how idle the GPU is */
    bool has_last;
    bool has_told;
    bool is_failing;      /* the failure has been logged */
    double scale;         /* base units = number in the file × scale */
    uint64_t last;        /* number in the file at last_ns */
    uint64_t last_ns;     /* batch time */
    uint64_t told;        /* ENERGY: number in the file at the last gather */
    uint64_t carry;       /* COUNTER32: added to the number; ENERGY: taken from it */
    uint64_t distrust_ns; /* ENERGY: no reading until then */
    struct gtel_str name; /* of the file, for messages */
    struct gtel_reading reading;
};

/* What one cycle over the attributes of a GPU has seen. */
struct gtel_intel_cycle {
    struct gtel_batch *batch;
    double limit_w; /* the largest power limit known, 0: none; kept from cycle to cycle */
    uint32_t heads; /* headlines taken so far, one bit each */
    uint32_t read;  /* attributes that gave a value or were quietly absent */
    uint32_t failed;
    uint32_t
        idle_times;    /* idle counters that have grown, and whether all grew by almost all time */
    uint32_t gts_idle; /* a bit per GT: whether it slept, or did not */
    uint32_t gts_busy;
    uint32_t gts_drowsy; /* of the busy ones: slept for almost all of the time */
    uint32_t gts_held;   /* those that were kept awake by us since the last cycle, for held_ns */
    uint64_t held_ns;
    bool is_idle;
    bool is_between; /* gathers: the readings are thrown away */
};

/*
 * The longest time that may pass between two readings of these attributes, or 0 for any. The kernel
 * extends hardware counters of 32 bits at each reading of the file, and no turn of one may go
 * unseen.
 */
uint64_t gtel_intel_keep(const struct gtel_intel_attr *attr, size_t n);
/* Whether an attribute is one of those that ask for it. */
bool gtel_intel_attr_is_kept(const struct gtel_intel_attr *attr);
/*
 * Reads one attribute into cycle->batch. Returns 0, also when it has nothing to say now; -ENODEV
 * when the device is gone; else the errno of a broken figure.
 */
int gtel_intel_attr_read(const struct gtel_env *env, struct gtel_intel_attr *attr,
                         struct gtel_intel_cycle *cycle);

#endif
