/* SPDX-License-Identifier: MIT */
/*
 * The lines of gpu_process: which of them are shown, so that series are few and stable.
 *
 * A device shows at most ProcessLimit lines, those that use most of it: the larger of their share
 * of the memory that processes have there, and of the time of the engine class that they use most,
 * smoothed over half a minute. A line that is shown keeps its place until another one uses half as
 * much again.
 *
 * New names are let in by tokens, so that programs with ever new names make no endless series: a
 * device gives out ProcessLimit at once and one a minute from then on, but in the long run not more
 * than ten times as many and one in ten minutes, the later half of these only to names that were
 * there in the gather before, too. A name that was let in once needs no token when it comes again.
 */
#ifndef GTEL_PROCESSES_USAGE_LINES_H
#define GTEL_PROCESSES_USAGE_LINES_H

#include "base/index.h"
#include "pipeline/device.h"
#include "processes/usage_names.h"
#include "pipeline/use.h"

struct gtel_usage_sum {
    struct gtel_use use; /* a figure has its bit when all have told it; the amounts are of those */
    uint32_t any_share;  /* a bit per class that some have told, or may work in */
    uint64_t processes;
};

struct gtel_usage_line {
    const struct gtel_device *device;
    struct gtel_usage_tags tags;
    char *text;                /* of the tags */
    struct gtel_usage_sum sum; /* of this gather */
    uint64_t gather;           /* in which it was there last, plus 1 */
    uint64_t since;            /* the gather from which on it was there without a break */
    uint64_t seen_ns;
    double score;  /* smoothed */
    bool is_known; /* was let in */
    bool is_shown; /* in its last gather */
};

/* Tokens for new names. */
struct gtel_usage_bucket {
    uint64_t tokens;
    uint64_t filled_ns; /* when the last token came, or would have */
    bool is_used;
};

struct gtel_usage_device {
    const struct gtel_device *device; /* NULL: nothing was said of it ever */
    uint64_t gather;                  /* of which the sums are, plus 1; 0: none */
    bool is_complete;                 /* all processes are in them */
    struct gtel_usage_sum all;        /* of this gather */
    struct gtel_usage_sum other;
    uint8_t source; /* of the readings, and its origin */
    uint8_t origin;
    struct gtel_usage_bucket minute;
    struct gtel_usage_bucket long_run;
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
    uint64_t now_ns;
    uint64_t before_ns; /* of the gather before */
};

void gtel_usage_lines_done(struct gtel_usage_lines *lines);
/* Begins a gather: nothing was said of any device. */
void gtel_usage_lines_begin(struct gtel_usage_lines *lines);
/* The device as of this gather; NULL: memory is out. */
struct gtel_usage_device *gtel_usage_lines_device(struct gtel_usage_lines *lines,
                                                  const struct gtel_device *device, uint8_t source,
                                                  uint8_t origin);
/* Whether something was said of the device of that index in this gather. */
bool gtel_usage_lines_has_device(const struct gtel_usage_lines *lines, size_t index);
/* Adds an amount to a line, or to "other" without tags (NULL), or when memory is out. */
void gtel_usage_lines_add(struct gtel_usage_lines *lines, const struct gtel_device *device,
                          const struct gtel_usage_tags *tags, const struct gtel_usage_sum *sum);
/* Chooses what is shown (lines->order) and adds the rest to "other". */
void gtel_usage_lines_choose(struct gtel_usage_lines *lines, uint64_t limit, uint64_t now_ns);
/* Ends a gather: forgets what need not be remembered. The texts of lines shown stay. */
void gtel_usage_lines_end(struct gtel_usage_lines *lines);

/*
 * Adds one amount to another. A figure that one of them does not know is not known of both; what is
 * known of it is added all the same, to rank lines by. to->processes 0: nothing was added yet.
 */
void gtel_usage_sum_add(struct gtel_usage_sum *to, const struct gtel_usage_sum *sum);

#endif
