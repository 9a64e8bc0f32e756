/* SPDX-License-Identifier: MIT */
/*
 * The Sysman source on recorded machines, with a spy between it and the played Level Zero: it
 * counts calls, makes one of them fail, and sees what comes before a start. One machine at a time.
 */
#ifndef GTEL_TESTS_HARNESS_SYSMAN_MACHINE_H
#define GTEL_TESTS_HARNESS_SYSMAN_MACHINE_H

#include "abi/zes_abi.h"
#include "harness/headlines.h"
#include "lanes/group.h"
#include "gtel.h"
#include "recording/tree.h"

struct sysman_spy {
    struct gtel_zes_calls real;
    const struct gtel_env_ops *ops;
    struct gtel_env_ops with_spy;
    unsigned calls;
    unsigned fail_at;     /* 0: never */
    const char *fail_all; /* each call of that name, from the time on at which it is set */
    uint32_t fail_code;
    const char *failed_name; /* the last one that did */
    unsigned opens;
    unsigned closes;
    const char *count_name;
    unsigned counted;
    bool is_started;
    unsigned early; /* calls before a successful start */
    unsigned logs[4];
    char last_log[512];
};

extern struct sysman_spy spy;

struct machine {
    struct gtel_tree *tree;
    struct gtel_env env;
    struct gtel_options options;
    struct gtel_group group;
    struct headlines headlines;
    struct gtel_context *context; /* in the group's place: see start_whole() */
};

#define CARD(card, address, driver, id)                                                            \
    "link sys/class/drm/" card " -> ../../devices/pci0000:00/" address "/drm/" card "\n"           \
    "link sys/devices/pci0000:00/" address "/drm/" card "/device -> ../../../" address "\n"        \
    "file sys/devices/pci0000:00/" address "/uevent\n| DRIVER=" driver "\n| PCI_ID=8086:" id       \
    "\n| PCI_SLOT_NAME=" address "\n"
#define XE CARD("card0", "0000:03:00.0", "xe", "56A0")
/* A card whose energy counters restart within minutes, on a kernel that reads them well. */
#define BATTLEMAGE                                                                                 \
    CARD("card0", "0000:03:00.0", "xe", "E20B") "file proc/sys/kernel/osrelease\n| 6.17.0\n"
#define I915 CARD("card1", "0000:04:00.0", "i915", "56A0")
/* A kernel whose i915 reports nothing of processes, and one of them. */
#define KERNEL                                                                                     \
    "file proc/sys/kernel/osrelease\n| 5.15.0-100-generic\nfile proc/7/comm\n| train.py\n"         \
    "file proc/7/stat\n| 7 (train.py) S 1 7 7 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 100 0 0\n"
#define LIBRARY "file usr/lib64/libze_loader.so.1\nlibrary libze_loader.so.1\ncall zesInit =\n"
/* The first call of the xe card says a code, and answers again. */
#define XE_SAYS(code) "call zesDeviceGetProperties 1 = !" code "\n"
#define XE_ANSWERS "call zesDeviceGetProperties 1 = 1 0x8086 0 000102030405060708090a0b0c0d0e0f\n"
#define POWER(card, what, value)                                                                   \
    "file sys/devices/pci0000:00/" card "/power/" what "\n| " value "\n"

/* The calls of the common machine. */
extern const char common_calls[];
/* The two GPUs of it. */
extern const char xe[];
extern const char i915[];

/*
 * The common machine (a card of xe, one of i915, and an NPU of another driver), or the parts of one
 * before its calls, and what differs; false when that is no tree.
 */
bool begin(struct machine *m, const char *text);
bool begin_with(struct machine *m, const char *head, const char *text);
/* A machine of that text alone, without a lane; and its end. */
bool begin_text(struct machine *m, const char *text);
void finish(struct machine *m);
void finish_text(struct machine *m);
/* A new lane on the same machine, and the spy as it was at first. */
void start_lane(struct machine *m);
/* The machine at its beginning again, for another lane. */
void rewind_machine(struct machine *m);
/* Goes on by some seconds, and takes a sample. */
void go_on(struct machine *m, unsigned seconds);
void gather(struct machine *m, unsigned seconds);
/* The spy as it was at first. */
void forget_calls(void);
/* sysman_whole.c: the same with a whole context around the lane, which works rates out; the spy as
 * it was at first.
 */
void start_whole(struct machine *m, const struct gtel_sink *sink);
void gather_whole(struct machine *m, unsigned seconds);
void end_whole(struct machine *m);

const struct gtel_reading *find(const struct machine *m, const char *gpu, enum gtel_metric metric,
                                const char *dim, const char *dim_2);
/* Of the xe card; -1 when there is no such reading. */
double value(const struct machine *m, enum gtel_metric metric, const char *dim, const char *dim_2);
size_t readings_of(const struct machine *m, const char *gpu);

#endif
