/* SPDX-License-Identifier: MIT */
/* A recorded machine and the scan for clients on it, and what that handed out in a gather. */
#ifndef GTEL_TESTS_HARNESS_SCAN_WORLD_H
#define GTEL_TESTS_HARNESS_SCAN_WORLD_H

#include "base/buf.h"
#include "harness/env_fault.h"
#include "recording/tree.h"
#include "sources/clients/scan.h"

enum { SCAN_KEYS_MAX = 512 };

#define FDINFO(path, id) "file proc/" path "\n| drm-driver: x\n| drm-client-id:\t" id "\n"
#define CLIENT(pid, fd, id) "char proc/" pid "/fd/" fd " 226:128\n" FDINFO(pid "/fdinfo/" fd, id)
#define OTHER(pid, fd)                                                                             \
    "link proc/" pid "/fd/" fd " -> other\nfile proc/" pid "/fdinfo/" fd "\n| pos: 0\n"

/* What the scan has handed out in a gather. */
struct scan_world {
    struct gtel_tree *tree;
    struct gtel_env machine;
    struct env_fault fault;
    struct gtel_env env; /* what the scan gets */
    struct gtel_env_ops ops;
    struct gtel_scan *scan;
    struct gtel_scan_hooks hooks;
    size_t seen;  /* clients */
    size_t texts; /* of clients */
    bool is_read[SCAN_KEYS_MAX];
    uint32_t pid[SCAN_KEYS_MAX]; /* the owner of what was read; 0: it was not */
    uint64_t process[SCAN_KEYS_MAX];
    bool is_gone[SCAN_KEYS_MAX];
    bool is_asleep;   /* nothing of minor 129 may be read, nor of a device that is not known */
    uint64_t calls;   /* of the outside, but for clocks */
    uint64_t tick_ns; /* by how much the clock moves when it is read */
    uint64_t extra_ns;
    int open_max; /* 0: any number */
};

/* Env ops get the machine's own argument: the world whose clock they are, for those of a test. */
extern struct scan_world *scan_the_world;

/* The text is a whole machine; false, and why is printed, when it is none. */
bool scan_start(struct scan_world *world, const char *text, uint64_t rotation_ns);
/* The same of a buffer, which is freed. */
bool scan_start_buf(struct scan_world *world, struct gtel_buf *text, uint64_t rotation_ns);
void scan_stop(struct scan_world *world);
/* Own ops, which tests may change, and a clock that moves when it is read. */
void scan_set_clock(struct scan_world *world, uint64_t tick_ns);
int scan_gather(struct scan_world *world);
/* A second later. */
int scan_later(struct scan_world *world);
const struct gtel_scan_counts *scan_counts(const struct scan_world *world);

/* A process with so many descriptors of no interest, from 0 on. */
void scan_put_process(struct gtel_buf *out, unsigned pid, unsigned fds);
/* A descriptor of a client. */
void scan_put_client(struct gtel_buf *out, unsigned pid, unsigned fd, unsigned id);

#endif
