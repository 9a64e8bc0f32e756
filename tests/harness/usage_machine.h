/* SPDX-License-Identifier: MIT */
/*
 * A machine of processes for tests of processes/usage.h: a clock that is set, a proc folder that is
 * made up when it is read, and look-ups in what was emitted.
 */
#ifndef GTEL_TESTS_HARNESS_USAGE_MACHINE_H
#define GTEL_TESTS_HARNESS_USAGE_MACHINE_H

#include "processes/usage.h"

enum { MACHINE_PIDS = 65536, MACHINE_DEVICES = 4 };

struct machine_process {
    bool is_there;
    uint64_t start;
    uint32_t uid;
    char name[64];
    const char *cgroup; /* the text of the file; NULL: empty */
};

struct machine {
    struct gtel_env env;
    struct gtel_options options;
    struct gtel_device device[MACHINE_DEVICES];
    struct gtel_usage usage;
    struct gtel_batch batch;
    uint64_t now_ns;
    uint64_t opened; /* files */
    struct {
        uint32_t pid;
        char file[16];
    } open[8];
    struct machine_process process[MACHINE_PIDS];
};

/* limit and tags: of the options; tags may be "". */
struct machine *machine_new(const char *limit, const char *tags);
void machine_free(struct machine *machine);
/* A process begins, with its pid as start unless it had one already: then one more. */
struct gtel_process_id machine_begin(struct machine *machine, uint32_t pid, const char *name);
void machine_end(struct machine *machine, uint32_t pid);
struct gtel_process_id machine_id(const struct machine *machine, uint32_t pid);
/* A process that has memory, and with share 0 or more a share of the render engine. */
void machine_add(struct machine *machine, size_t device, uint32_t pid, uint64_t memory,
                 double share);
/* Emits what was added and lets the time pass. */
void machine_gather(struct machine *machine, double seconds);
/* The value in the last gather of the line of that process tag; -1: none. */
double machine_get(const struct machine *machine, size_t device, enum gtel_metric metric,
                   const char *name);
/* The sum over all lines of a device. */
double machine_sum(const struct machine *machine, size_t device, enum gtel_metric metric);
/* How many lines a device has, "other" included. */
size_t machine_lines(const struct machine *machine, size_t device);

#endif
