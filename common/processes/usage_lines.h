/* SPDX-License-Identifier: MIT */
/*
 * The lines of gpu_process: which of them are shown, so that series are few and stable.
 *
 * A device has ProcessLimit places. A name that is among the largest of a gather, by its share of
 * the memory that processes have there, or of the time of the engine class that it uses most, keeps
 * its place for ten minutes more, or gets one that is free. Names without a place are added to
 * "other". So there are never more than ProcessLimit new names in ten minutes, names of a similar
 * size do not take turns, and a name that comes back in that time has its place again.
 */
#ifndef GTEL_PROCESSES_USAGE_LINES_H
#define GTEL_PROCESSES_USAGE_LINES_H

#include "base/index.h"
#include "pipeline/device.h"
#include "processes/usage_names.h"
#include "pipeline/use.h"

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

void gtel_usage_lines_done(struct gtel_usage_lines *lines);
/* Begins a gather: nothing was added to any device. */
void gtel_usage_lines_begin(struct gtel_usage_lines *lines);
/* The device as of this gather; NULL: memory is out. */
struct gtel_usage_device *gtel_usage_lines_device(struct gtel_usage_lines *lines,
                                                  const struct gtel_device *device, uint8_t source,
                                                  uint8_t origin);
/* Whether something was added to the device of that index in this gather. */
bool gtel_usage_lines_has_device(const struct gtel_usage_lines *lines, size_t index);
/* Adds an amount to a line, or to "other" without tags (NULL), or when memory is out. */
void gtel_usage_lines_add(struct gtel_usage_lines *lines, const struct gtel_device *device,
                          const struct gtel_usage_tags *tags, const struct gtel_usage_sum *sum);
/* Chooses what is shown (lines->order) and adds the rest to "other". */
void gtel_usage_lines_choose(struct gtel_usage_lines *lines, uint64_t limit, uint64_t now_ns);
/* Ends a gather: forgets the names that are not there and have no place. Texts that are shown stay.
 */
void gtel_usage_lines_end(struct gtel_usage_lines *lines);

/*
 * Adds one amount to another. A value that one of them does not know is not known of both; what is
 * known of it is added all the same, to rank lines by. to->processes 0: nothing was added yet.
 */
void gtel_usage_sum_add(struct gtel_usage_sum *to, const struct gtel_usage_sum *sum);

#endif
