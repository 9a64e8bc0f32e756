/* SPDX-License-Identifier: MIT */
/*
 * Who uses the GPUs: from what sources know of single processes to the bounded series gpu_process.
 *
 * One per lane, reached by its sources as batch->usage. A source reports which devices' processes
 * are all known (gtel_usage_complete) and what each process uses (gtel_usage_add). After all
 * sources of the lane were sampled, the group calls gtel_usage_emit, which names the processes
 * (processes/usage_names.h), adds those of one name up to lines, chooses the lines of each device
 * that are shown, folds the others into one line called "other" and appends the readings. Every
 * amount that was added is in one line of its device, or in "other": whatever goes wrong with
 * names, limits or memory costs a name, never an amount.
 *
 * A device has ProcessLimit places, so that series are few and stable. A name that is among the
 * largest of a gather, by its share of the memory that processes have there, or of the time of the
 * engine class that it uses most, keeps its place for ten minutes more, or gets one that is free.
 * So there are never more than ProcessLimit new names in ten minutes, names of a similar size do
 * not take turns, and a name that comes back in that time has its place again.
 *
 * A value of a line is known when all that was added to it has that value: the sum of a part would
 * pass as that of the whole. So the sources of a lane that report the same device report the same
 * values.
 */
#ifndef GTEL_PROCESSES_USAGE_H
#define GTEL_PROCESSES_USAGE_H

#include "base/index.h"
#include "pipeline/reading.h"
#include "pipeline/use.h"
#include "processes/usage_names.h"

/* Processes × devices in one gather that are kept separate; those beyond are added to "other". */
enum { GTEL_USES_MAX = 16384 };

struct gtel_usage_sum {
    struct gtel_use use; /* a value has its bit when all know it; the amounts are of those */
    uint32_t any_share;  /* a bit per class that some know, or may work in */
    uint64_t processes;
};

struct gtel_usage_line {
    const struct gtel_device *device;
    struct gtel_usage_tags tags;
    char *text;                /* of the tags */
    struct gtel_usage_sum sum; /* of this gather */
    uint64_t gather;           /* in which it was there last, plus 1 */
    uint64_t until_ns;         /* when its place ends; 0: it has none */
    double score;              /* the larger one of both shares */
};

struct gtel_usage_device {
    const struct gtel_device *device; /* NULL: nothing was ever added */
    uint64_t gather;                  /* of which the sums are, plus 1; 0: none */
    bool is_complete;                 /* all processes are in them */
    struct gtel_usage_sum all;        /* of this gather */
    struct gtel_usage_sum other;
    uint64_t places; /* that are taken */
    uint8_t source;  /* of the readings, and its origin */
    uint8_t origin;
};

struct gtel_usage_lines {
    struct gtel_usage_line *line;
    size_t n;
    size_t size;
    struct gtel_index index;
    struct gtel_usage_line **order; /* room for size lines */
    size_t shown;                   /* the first lines of order are those that are shown */
    struct gtel_usage_device *device;
    size_t devices;
    uint64_t gather;
};

struct gtel_usage_entry {
    const struct gtel_device *device;
    struct gtel_process_id process;
    struct gtel_usage_sum sum;
};

struct gtel_usage {
    const struct gtel_env *env;
    const struct gtel_options *options;
    struct gtel_usage_entry *entry; /* of this gather */
    size_t n;
    size_t size;
    struct gtel_index index; /* of the entries */
    struct gtel_usage_names names;
    struct gtel_usage_lines lines;
    uint64_t dropped; /* amounts that were lost because memory was out */
};

/* Allocates nothing. env and options outlive it. */
void gtel_usage_init(struct gtel_usage *usage, const struct gtel_env *env,
                     const struct gtel_options *options);
/* Accepts a zeroed struct. */
void gtel_usage_done(struct gtel_usage *usage);

/* Forgets what was added since the last gather. */
void gtel_usage_begin(struct gtel_usage *usage);
/*
 * All processes of a device were searched for: gpu.processes is known, though it may be 0.
 * Without it there are only the lines of those that were added. source and origin: as in a reading;
 * the first to report a device has its name on all lines. usage may be NULL in these two.
 */
void gtel_usage_complete(struct gtel_usage *usage, const struct gtel_device *device, uint8_t source,
                         uint8_t origin);
/*
 * What a process uses of a device. Several calls for the same process add up; a value that one of
 * them does not have is not known of the process then.
 */
void gtel_usage_add(struct gtel_usage *usage, const struct gtel_device *device, uint8_t source,
                    uint8_t origin, struct gtel_process_id process, const struct gtel_use *use);
/*
 * The same for what is known of a process from elsewhere, and may have been added already: it is
 * not counted twice. NULL: there may be more than was added, so that no amount of it is known.
 * After all calls of gtel_usage_add for that device.
 */
void gtel_usage_join(struct gtel_usage *usage, const struct gtel_device *device, uint8_t source,
                     uint8_t origin, struct gtel_process_id process, const struct gtel_use *use);
/*
 * The same for processes together of which it is not known which they are: those beyond the ones
 * that were added, with the memory beyond theirs, are in "other".
 */
void gtel_usage_join_unnamed(struct gtel_usage *usage, const struct gtel_device *device,
                             uint8_t source, uint8_t origin, uint64_t processes,
                             const struct gtel_use *use);
/* Appends the readings of this gather. Their texts live until the next gtel_usage_emit. */
void gtel_usage_emit(struct gtel_usage *usage, struct gtel_batch *batch);

#endif
