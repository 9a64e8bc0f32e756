/* SPDX-License-Identifier: MIT */
/*
 * The tags of processes: what gpu_process calls them, remembered by pid and start.
 *
 * Reading who a process is opens files of proc/PID, so it is done when a process is new, once more
 * a little later (a program names itself, or enters its container, soon after it began) and then
 * each minute or so; and for some hundred processes per gather at most: those whose turn has not
 * come have no tags yet. Which tags there are is the option ProcessTags.
 */
#ifndef GTEL_PROCESSES_USAGE_NAMES_H
#define GTEL_PROCESSES_USAGE_NAMES_H

#include "base/index.h"
#include "host/process.h"
#include "tables/catalogue.h"
#include "tables/options.h"

/* The values of all tags of gpu_process, one behind the other. */
struct gtel_usage_tags {
    const char *text;          /* borrowed */
    uint16_t n[GTEL_DIMS_MAX]; /* bytes of each; 0: no such tag */
    uint64_t hash;
};

struct gtel_usage_process {
    struct gtel_process_id id;
    uint64_t hash;
    uint64_t gather; /* in which it was asked for last */
    uint64_t due_ns; /* when to read again who it is */
    char *text;      /* of the tags; NULL: nothing known yet */
    size_t size;     /* bytes allocated */
    struct gtel_usage_tags tags;
};

struct gtel_usage_names {
    struct gtel_process_book book;
    struct gtel_usage_process *process;
    size_t n;
    size_t size;
    struct gtel_index index;
    uint64_t gather; /* number of this gather */
    uint64_t now_ns; /* when it began */
    uint32_t reads;  /* in it */
};

void gtel_usage_names_done(struct gtel_usage_names *names);
/*
 * Begins a gather, also one in which no process uses a GPU: who was not asked for in the one before
 * is forgotten. A number may be another process's then.
 */
void gtel_usage_names_begin(struct gtel_usage_names *names, uint64_t now_ns);
/*
 * The tags of a process, valid until the next call. False: it has none (yet), because it has ended
 * or may not be read, or it is called "other" itself.
 */
bool gtel_usage_names_of(struct gtel_usage_names *names, const struct gtel_env *env,
                         const struct gtel_options *options, struct gtel_process_id id,
                         struct gtel_usage_tags *ret);

#endif
