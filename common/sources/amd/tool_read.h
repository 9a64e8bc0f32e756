/* SPDX-License-Identifier: MIT */
/*
 * What amd-smi and rocm-smi print with --json, in all their generations (ROCm 4.3 to 7): devices
 * and their values. Pure: no allocation, no input or output.
 *
 * Any key may be missing, of another type, or "N/A": then there is no value. So is one with another
 * unit than expected, or out of its range.
 */
#ifndef GTEL_SOURCES_AMD_TOOL_READ_H
#define GTEL_SOURCES_AMD_TOOL_READ_H

#include "parse/pci.h"
#include "tables/catalogue.h"

enum { GTEL_AMD_TOOL_DEVICES = 64, GTEL_AMD_TOOL_ROWS = 64 };

/* A partition of a GPU shows its own value, or that of all of it. */
enum gtel_amd_tool_of { GTEL_AMD_TOOL_PART, GTEL_AMD_TOOL_WHOLE };

/* A value that a tool prints, and what it is. */
struct gtel_amd_tool_row {
    const char *keys; /* names that lead to it, ">" between; alternatives have "|" between */
    const char *unit; /* that the tool may add; "" for none */
    double least;     /* below, or above the next: unknown */
    double most;
    double scale;       /* base unit = value × scale */
    unsigned char form; /* how it is written: tool_read.c */
    enum gtel_amd_tool_of of;
    enum gtel_metric metric;
    const char *part; /* of an error: its severity; NULL: of the whole GPU */
};

extern const struct gtel_amd_tool_row gtel_amd_tool_rows[];
extern const size_t gtel_amd_tool_rows_n; /* at most GTEL_AMD_TOOL_ROWS */

struct gtel_amd_tool_device {
    int64_t index; /* the tool's number of it; -1: not stated */
    struct gtel_pci pci;
    bool has_pci;
    char model[64];
    uint64_t has;                     /* which values, a bit each */
    uint64_t bad;                     /* of these, which had another unit */
    double value[GTEL_AMD_TOOL_ROWS]; /* as printed */
};

struct gtel_amd_tool_answer {
    struct gtel_amd_tool_device device[GTEL_AMD_TOOL_DEVICES];
    size_t n;
    size_t dropped;  /* devices beyond */
    char error[128]; /* what the tool says instead; or empty */
};

/*
 * Reads what a tool has printed: the first JSON text in it that has devices, whatever stands in
 * front. Where it is cut, the devices before the cut are there. memory: as for gtel_json_read. 0;
 * -EPROTO when it reports an error; -EBADMSG when it has no device.
 */
int gtel_amd_tool_read(struct gtel_str text, void *memory, struct gtel_amd_tool_answer *ret);

#endif
