/* SPDX-License-Identifier: MIT */
/*
 * The binary tables of amdgpu: gpu_metrics, partitions' xcp_metrics, and the boards' temperatures.
 *
 * One driver fills a dozen layouts of gpu_metrics, each with its own fields, and two forms of the
 * others. A table is accepted only when its revision is known and its size is the one of that
 * revision: fields move between revisions, so none is read "from at least 1.3 on". What cannot be
 * read as a known table is an error, and the caller uses the driver's other files.
 *
 * Which fields there are is amd_metrics.def, as the kernel names them. Values are raw: their units
 * differ by chip. All ones in the width of a field means "not available" and is no value.
 *
 * Layouts: kernel, drivers/gpu/drm/amd/include/kgd_pp_interface.h.
 */
#ifndef GTEL_PARSE_AMD_METRICS_H
#define GTEL_PARSE_AMD_METRICS_H

#include "base/str.h"

/* Which file it is: the tables' headers do not say. */
enum gtel_amd_table {
    GTEL_AMD_TABLE_GPU,       /* gpu_metrics: 1.0 to 1.9, 2.0 to 2.4, 3.0 */
    GTEL_AMD_TABLE_PARTITION, /* xcp/xcp_metrics: 1.0, 1.1 */
    GTEL_AMD_TABLE_GPUBOARD,  /* board/gpuboard_temp: 1.0, 1.1 */
    GTEL_AMD_TABLE_BASEBOARD  /* board/baseboard_temp: 1.0, 1.1 */
};

/* The first GTEL_AMD_ATTRIBUTES of them are the kernel's attribute ids of self-describing tables.
 */
enum gtel_amd_field {
#define GTEL_AMD_FIELD(id, ...) GTEL_AMD_##id,
#define GTEL_AMD_SENSOR(id, name) GTEL_AMD_##id,
#include "parse/amd_metrics.def"
    GTEL_AMD_FIELDS,
    GTEL_AMD_ATTRIBUTES = GTEL_AMD_SYSTEM_TEMP_IBC + 1
};

/* What a self-describing table says of a field's unit; other tables say NONE. */
enum gtel_amd_unit {
    GTEL_AMD_UNIT_NONE,
    GTEL_AMD_UNIT_MHZ,
    GTEL_AMD_UNIT_CELSIUS,
    GTEL_AMD_UNIT_WATT,
    GTEL_AMD_UNIT_NS,
    GTEL_AMD_UNIT_10NS,
    GTEL_AMD_UNIT_GT, /* GT/s */
    GTEL_AMD_UNIT_TENTH_GT,
    GTEL_AMD_UNIT_GB, /* GB/s */
    GTEL_AMD_UNIT_KB,
    GTEL_AMD_UNIT_PERCENT /* larger ones are not known */
};

/* Where a field lies in the table. */
struct gtel_amd_place {
    uint16_t offset; /* 0: this table has no such field */
    uint16_t count;  /* values of it: 1, or one per clock, link, engine … */
    uint8_t width;   /* bytes of one: 1, 2, 4 or 8 */
    uint8_t unit;    /* enum gtel_amd_unit, or larger */
    bool is_signed;
};

struct gtel_amd_metrics {
    const unsigned char *bytes; /* borrowed */
    const void *layout;         /* a fixed one, which need not be placed again; or NULL */
    uint16_t size;
    uint8_t format;
    uint8_t content;
    uint16_t parts;     /* the array of partitions has room for so many: 8; 0: no such array */
    uint16_t part_size; /* bytes from one of them to the next */
    uint16_t parts_at;  /* where the array begins */
    struct gtel_amd_place place[GTEL_AMD_FIELDS];
};

/* Whether a field lies in the array of partitions. */
static inline bool gtel_amd_metrics_is_per_part(const struct gtel_amd_metrics *metrics,
                                                enum gtel_amd_field field)
{
    unsigned at = metrics->place[field].offset;
    unsigned end = metrics->parts_at + (unsigned)metrics->parts * metrics->part_size;
    return at >= metrics->parts_at && at < end;
}

/* One temperature of a board. */
struct gtel_amd_sensor {
    const char *name; /* a constant: "node_retimer", "vr_vddcr_vdd0", "system_ubb_fpga" */
    double celsius;
};

enum { GTEL_AMD_SENSORS_MAX = 50 }; /* what a board's table can have */

/*
 * Finds the fields of a table of n bytes, as read from its file; more than its own size is padding.
 * *ret borrows bytes; before, it is zeroed or of an earlier call, whose layout may be kept. Returns
 * 0; -ENODATA for an empty file and for a table that nobody has filled (all zeros or all ones
 * behind a right header); -EPROTONOSUPPORT for a revision that is not known, or not in that size,
 * or with values of an unknown type; -EBADMSG when the bytes are fewer than its sizes say.
 */
int gtel_amd_metrics_parse(enum gtel_amd_table table, const void *bytes, size_t n,
                           struct gtel_amd_metrics *ret);

/*
 * The i-th value of a field of a partition, 0 and up (how many are in use is NUM_PARTITION), or,
 * with part -1, of one outside of the array of partitions, as it stands in the table; a signed one
 * is extended to 64 bits. False: the table has no such field there or not so many values of it, or
 * this one is not available.
 */
bool gtel_amd_metrics_part(const struct gtel_amd_metrics *metrics, int part,
                           enum gtel_amd_field field, unsigned i, uint64_t *ret);
/* The same outside of that array. */
static inline bool gtel_amd_metrics_get(const struct gtel_amd_metrics *metrics,
                                        enum gtel_amd_field field, unsigned i, uint64_t *ret)
{
    return gtel_amd_metrics_part(metrics, -1, field, i, ret);
}

/*
 * Adds the values of a field that are at most `most` to *sum: of a partition, or, with part -1, of
 * a field outside of that array. Returns how many there are.
 */
unsigned gtel_amd_metrics_add(const struct gtel_amd_metrics *metrics, int part,
                              enum gtel_amd_field field, uint64_t most, double *sum);

/*
 * The i-th temperature of a board's table, i below GTEL_AMD_SENSORS_MAX, in both forms of the
 * table. False: there is none at this position; the next position may have one.
 */
bool gtel_amd_metrics_sensor(const struct gtel_amd_metrics *metrics, unsigned i,
                             struct gtel_amd_sensor *ret);

#endif
