/* SPDX-License-Identifier: MIT */
/*
 * DRM client text: what /proc/PID/fdinfo/FD says of a descriptor of a DRM device (kernel:
 * Documentation/gpu/drm-usage-stats.rst). Pure: no allocation, no input or output.
 *
 * The result is what the text says, in base units; what follows from it (shares of an interval,
 * who owns a client) is worked out elsewhere. All drivers are read by the same rules: keys are
 * `drm-` and words, names of engines and regions are the rest of the key, and whole. Keys that are
 * not known here (drm-curfreq-…, a driver's own) are skipped, and so is drm-maxfreq-…: cycles as
 * a part of those of the highest clock would be no share of time.
 *
 * A counter that is named twice is the sum of both, for amdgpu has several blocks of one name; of a
 * number that only describes (capacity, elapsed cycles) the larger one stays. Of
 * what names the client, the first one stays. A line whose value cannot be understood says nothing:
 * a size in an unknown unit is no size. Of sizes it is known that one was missed.
 */
#ifndef GTEL_PARSE_FDINFO_H
#define GTEL_PARSE_FDINFO_H

#include "base/str.h"

enum {
    GTEL_FDINFO_ENGINES_MAX = 16,
    GTEL_FDINFO_REGIONS_MAX = 16,
    GTEL_FDINFO_TEXT_MAX = 8192 /* bytes to read in one go; more is ignored */
};

/* One engine, or all engines of one name; each value is 0 unless it is there. */
struct gtel_fdinfo_engine {
    struct gtel_str name;  /* the driver's; see tables/engine.h */
    uint64_t busy_ns;      /* counter */
    uint64_t cycles;       /* counter of busy cycles */
    uint64_t total_cycles; /* counter of the same clock, busy or not */
    uint32_t capacity;     /* engines behind the name; 1 where it is not said */
    bool has_busy_ns;
    bool has_cycles;
    bool has_total_cycles;
};

/* What is counted of a region. */
enum gtel_fdinfo_kind {
    GTEL_FDINFO_TOTAL,     /* allocated, wherever it is now */
    GTEL_FDINFO_SHARED,    /* with other clients */
    GTEL_FDINFO_RESIDENT,  /* there now */
    GTEL_FDINFO_PURGEABLE, /* there, and the kernel may take it when memory runs short */
    GTEL_FDINFO_ACTIVE,    /* used by work that was submitted */
    GTEL_FDINFO_MEMORY,    /* amdgpu's older name for resident */
    GTEL_FDINFO_KINDS
};

/*
 * One memory region. The values overlap (total holds shared and resident, and so on): never add
 * them to each other.
 */
struct gtel_fdinfo_region {
    struct gtel_str name;              /* the driver's */
    uint32_t has;                      /* a bit per kind: it is known */
    uint64_t bytes[GTEL_FDINFO_KINDS]; /* 0 where it is not */
};

/* One client. Texts are borrowed from what was parsed. */
struct gtel_fdinfo {
    struct gtel_str driver;
    struct gtel_str pdev; /* "0000:03:00.0"; empty: no PCI device */
    uint64_t client_id;   /* unique for a device at least; 0 unless it is there */
    bool has_client_id;
    uint32_t missed; /* a bit per kind: a line of it had no usable value, or there was no room for
                        it, or the text was cut, and may have had one */
    size_t engines;
    size_t regions;
    struct gtel_fdinfo_engine engine[GTEL_FDINFO_ENGINES_MAX]; /* unset from number engines on */
    struct gtel_fdinfo_region region[GTEL_FDINFO_REGIONS_MAX]; /* the same */
};

/*
 * Parses a text; the last line needs no newline, but where the text has GTEL_FDINFO_TEXT_MAX bytes
 * or more, a line that does not end within them is not read. 0, or -ENODATA when no line of the
 * kernel names a DRM driver: some other file, or a device that was removed (from 6.16). *ret is
 * written on success only, and is valid as long as the text.
 */
int gtel_fdinfo_parse(struct gtel_str text, struct gtel_fdinfo *ret);

/*
 * How much of a region the client uses: resident, else memory, else total. False: not known, and
 * *ret is not written.
 */
bool gtel_fdinfo_region_used(const struct gtel_fdinfo_region *region, uint64_t *ret);

/* Where the memory of a region is. */
enum gtel_fdinfo_place {
    GTEL_FDINFO_DEVICE, /* the GPU's own: vram, vram0 …, local0 … */
    GTEL_FDINFO_HOST,   /* system, system0, gtt, cpu, memory */
    GTEL_FDINFO_APART,  /* in no sum: stolen, a device's small private memories */
    GTEL_FDINFO_UNKNOWN /* a name that is not known here */
};

/* By the driver's name, compared whole but for a number at its end. */
enum gtel_fdinfo_place gtel_fdinfo_region_place(struct gtel_str name);

#endif
