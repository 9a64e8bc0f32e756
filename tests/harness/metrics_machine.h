/* SPDX-License-Identifier: MIT */
/*
 * The source of Level Zero's metrics on recorded machines, with a spy between it and the played
 * library: it counts calls, makes one of them fail, and knows what is open. One machine at a time.
 */
#ifndef GTEL_TESTS_HARNESS_METRICS_MACHINE_H
#define GTEL_TESTS_HARNESS_METRICS_MACHINE_H

#include "abi/zet_abi.h"
#include "lanes/group.h"
#include "gtel.h"
#include "recording/tree.h"

struct l0metrics_spy {
    struct gtel_zet_calls real;
    const struct gtel_env_ops *ops;
    struct gtel_env_ops with_spy;
    unsigned calls;
    unsigned fail_at;     /* 0: never */
    const char *fail_all; /* each call of that name, from the time on at which it is set */
    uint32_t fail_code;
    const char *failed_name; /* the last one that did */
    const char *count_name;
    unsigned counted;
    bool is_started;
    unsigned early; /* calls before a successful start */
    unsigned reads; /* of files */
    unsigned libraries;
    unsigned contexts; /* what is open now */
    unsigned streams;
    unsigned groups;
    unsigned enabled;
    unsigned dead; /* calls that close a stream which is no more */
    struct {
        const void *handle; /* NULL: none */
        bool is_of_stalls;
    } stream[16];
    unsigned windows; /* streams that were opened */
    unsigned logs[4];
    char last_log[512];
};

extern struct l0metrics_spy spy;

struct machine {
    struct gtel_tree *tree;
    struct gtel_env env;
    struct gtel_options options;
    struct gtel_group group;
    struct gtel_context *context; /* in the group's place: see start_whole() */
};

#define DEVICE "sys/devices/pci0000:00/0000:03:00.0/"
#define CARD(driver)                                                                               \
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:03:00.0/drm/card0\n"                \
    "link " DEVICE "drm/card0/device -> ../../../0000:03:00.0\n"                                   \
    "file " DEVICE "uevent\n| DRIVER=" driver "\n| PCI_ID=8086:E20B\n"                             \
    "| PCI_SLOT_NAME=0000:03:00.0\n"
#define LIBRARY "file usr/lib64/libze_loader.so.1\nlibrary libze_loader.so.1\n"
#define IDLE_FILE DEVICE "tile0/gt0/gtidle/idle_residency_ms"
#define POWER(what, value) "file " DEVICE "power/" what "\n| " value "\n"
#define PARANOID(value) "file proc/sys/dev/xe/observation_paranoid\n| " value "\n"

/*
 * A machine with one card of xe, Level Zero with both kinds of groups on it, and what differs;
 * false when that is no tree. The card works all the time unless the text has its idle time.
 */
bool begin(struct machine *m, const char *text);
/* The same with nothing of Level Zero but what the text says. */
bool begin_with(struct machine *m, const char *text);
/* A machine of that text alone, without a lane; and its end. */
bool begin_text(struct machine *m, const char *text);
void finish(struct machine *m);
void finish_text(struct machine *m);
void start_lane(struct machine *m);
/* The machine at its beginning again, for another lane. */
void rewind_machine(struct machine *m);
/* Goes on by some time, with what the source does in between, and takes a sample. */
void gather_ms(struct machine *m, unsigned ms);
void gather(struct machine *m, unsigned seconds);
/* The spy as it was at first. */
void forget_calls(void);
/* Goes on by some time, with a tick whenever one is due. */
void pass_ms(struct machine *m, unsigned ms, uint64_t (*due)(const struct machine *m),
             void (*tick)(struct machine *m));
/* l0metrics_whole.c: the same with a whole context around the lane; the spy as it was at first. */
void start_whole(struct machine *m, const struct gtel_sink *sink);
void gather_whole(struct machine *m, unsigned seconds);
void end_whole(struct machine *m);
/* Nothing is open but what stays enabled. */
bool is_all_closed(void);

/* The calls of that machine, with its card's folder and library before them. */
extern const char common_machine[];

/* -1 when there is no such reading. */
double value(const struct machine *m, enum gtel_metric metric, const char *dim);

#endif
