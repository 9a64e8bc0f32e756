/* SPDX-License-Identifier: MIT */
/*
 * The energy of a GPU, split among the lines of gpu_process (option ProcessEnergy).
 *
 * It is an attribution, no measurement: what gpu.energy_joules has grown by since it was read
 * before (the base) is split by shares of busy time. With u the busy share of the GPU, the mean of
 * the runs since the base, and b that of a line, each at most 1, and B the sum of all b:
 *   a line         b × min(1, u / B)
 *   unattributed   max(0, u - B): work of nobody that is seen
 *   idle           the rest
 * A source that takes no mean over the interval may see nothing of work that was there, so that u
 * of such a one is min(1, B) at least, for the part of the runs that had a line. A line whose share
 * is not known gets u where all others are idle, in all runs from the base on, and all processes
 * are known; else no line gets anything, and u is unattributed. Where u is not known, all is
 * unattributed; after the GPU or the host has slept, all is idle. A share is a mean since the last
 * one, so where energy is read more rarely than shares, those of its run are about a part of the
 * time only: then all is unattributed, too. Every joule goes to one line, so that their sum grows
 * as the GPU's counter does; a step back of that counter, another counter, or a device that was
 * removed gives nothing.
 *
 * Nothing is attributed on a GPU of which no list of processes was ever there. Where the counter
 * counts more than the GPU (is_apart), all is unattributed.
 *
 * Lines of parts with an identity of their own (a MIG instance) belong to their GPU, and their
 * share of it is not known.
 */
#ifndef GTEL_PIPELINE_ATTRIBUTION_H
#define GTEL_PIPELINE_ATTRIBUTION_H

#include "pipeline/series.h"

/* A line of gpu_process, as of this sample. */
struct gtel_attribution_line {
    const struct gtel_series *series; /* of its number of processes */
    double share;                     /* below 0: not known */
};

/*
 * A list of processes, and whether its source is one of the readers below. NEVER: so far; those of
 * some parts are in the list of the GPU.
 */
enum gtel_attribution_list {
    GTEL_LIST_NEVER,
    GTEL_LIST_NONE,
    GTEL_LIST_OF_READER,
    GTEL_LIST_OF_ALL
};

/* Of a GPU; of a part of one, only the index of the GPU is used. */
struct gtel_attribution_gpu {
    uint32_t gpu;       /* index of the device that stands for it and its parts */
    bool has_processes; /* a list of its processes, or of a part's, was ever there */
    /* What the counter was, and of which counter. */
    double joules;
    uint8_t source;
    uint8_t origin;
    uint32_t arrivals;
    uint32_t sleeps;
    uint64_t until;  /* shares of the run after this one are about the time since then; 0: never */
    uint64_t alone;  /* hash of the line that has had it to itself since then; 0: none */
    double busy_sum; /* of the busy shares since then, and in how many runs */
    uint32_t busies;
    uint32_t runs;   /* since then */
    uint32_t listed; /* of these: in which it had a line */
    bool has_slept;  /* the host, since then */
    /* Of this sample. */
    const struct gtel_series *energy;
    const struct gtel_series *busy;
    const struct gtel_attribution_line *user; /* the last one that is not idle */
    size_t lines;
    size_t users;      /* of these: not known to be idle */
    size_t ended;      /* lines of the run before that are not there any more */
    uint32_t measured; /* a bit per source whose shares of engines are means over the interval */
    size_t shares;     /* so many of their shares are known */
    double sum;        /* of all; below 0: one of them is not known */
    enum gtel_attribution_list list; /* of the device itself: of its processes */
    bool is_incomplete;              /* not all processes of all parts are known */
};

/* Zeroed: nothing is known. */
struct gtel_attribution {
    /* A bit per source that may not see all processes, unless it may read all that are there. */
    uint32_t readers;
    struct gtel_attribution_gpu *gpu; /* by device index */
    size_t gpus;
    uint64_t generation; /* of the registry, when parts were joined */
    struct gtel_attribution_line *line;
    size_t lines;
    size_t size;
    uint64_t section;        /* of the last run */
    uint64_t section_before; /* and the one before that */
    uint64_t run;
};

/* The sample that is attributed. */
struct gtel_attribution_sample {
    const struct gtel_registry *registry;
    uint64_t section;
    uint64_t gather; /* 0: nothing was emitted yet, counters begin at 0 */
    bool has_slept;  /* the host has slept since the sample before */
};

void gtel_attribution_done(struct gtel_attribution *attribution);
/*
 * Attributes what the counters have grown by since they were read before, from the series that were
 * touched since: adds to the series PROCESS_JOULES of each line. 0, or -ENOMEM: the next run makes
 * up for it.
 */
int gtel_attribution_run(struct gtel_attribution *attribution, struct gtel_series_table *table,
                         const struct gtel_attribution_sample *sample);

#endif
