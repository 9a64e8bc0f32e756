/* SPDX-License-Identifier: MIT */
/*
 * What the program says of itself (measurement gtel), and of each device as a whole: up,
 * readings_failed and gpu_info with metrics_source. These come from no source: they follow from
 * what the lanes answered.
 */
#ifndef GTEL_LANES_SELF_H
#define GTEL_LANES_SELF_H

#include "lanes/wire.h"
#include "host/fs.h"
#include "sources/source.h"

/* Which lanes that answered know a device. */
enum gtel_self_answer {
    GTEL_SELF_NONE,
    GTEL_SELF_INDIRECT, /* none that asks sources which show whether the device answers */
    GTEL_SELF_DIRECT
};

/* Per device, by its index. */
struct gtel_self_device {
    uint64_t answered; /* the request that last had readings, not only indirect ones; 0: none */
    enum gtel_self_answer answer;       /* of this sample */
    enum gtel_self_answer reported;     /* in the last report */
    uint64_t request;                   /* the request of that report */
    uint64_t failed;                    /* failed readings since the start */
    uint32_t origins[GTEL_SOURCES_MAX]; /* bits: what has given readings in this interval of
                                           gpu_info, and in the one before */
    uint32_t origins_before[GTEL_SOURCES_MAX];
    bool is_destroyed; /* a part of a GPU that is gone, and reported so */
    bool is_busy_idle; /* its busy_percent is made from idle residency */
    uint64_t info_hash;
    uint64_t info_ns; /* when gpu_info was sent last; 0: never */
};

struct gtel_self {
    const struct gtel_env *env;
    struct gtel_self_device *device;
    size_t n;
    uint64_t request; /* of this sample or late answer */
    struct gtel_fs_file statm;
    char kernel[GTEL_LABEL_MAX];
    struct gtel_buf origins; /* scratch: kept, so that a gather allocates nothing */
    uint64_t readings;       /* in this sample, all devices */
    bool is_narrowed;        /* the user names the sources (option Sources) */
    size_t said_found;       /* devices at the last message, or a word for none (self.c) */
};

struct gtel_self_totals {
    uint64_t gather_ns;
    uint64_t dropped;
    uint64_t lanes_late;
    uint64_t lane_restarts;
    uint64_t errors;
    uint64_t rss_bytes; /* of the helpers */
};

void gtel_self_init(struct gtel_self *self, const struct gtel_env *env);
void gtel_self_done(struct gtel_self *self, const struct gtel_env *env);
/* A new sample begins, or the late answer to an earlier request is taken in; requests count from 1.
 */
void gtel_self_begin(struct gtel_self *self, uint64_t request);
/* A reading of a source came in, or a headline was made. */
void gtel_self_record(struct gtel_self *self, const struct gtel_reading *reading);
/* What metrics_source has for a busy_percent that is made from idle residency. */
extern const char gtel_self_idle_origin[];
/*
 * A lane answered: which devices it knows, and which readings failed. direct: a bit for each of its
 * sources whose readings show that a device of their drivers answers.
 */
void gtel_self_answered(struct gtel_self *self, const struct gtel_registry *registry,
                        const struct gtel_wire_map *map, const struct gtel_batch *batch,
                        uint32_t direct);
/*
 * Appends readings_failed of each device that a lane spoke of, up when it was such a one or
 * the device is gone, and gpu_info when it is due. Of a late answer only what no report has had
 * since its request.
 */
void gtel_self_report(struct gtel_self *self, const struct gtel_registry *registry,
                      const struct gtel_options *options, struct gtel_batch *batch);
/* Appends the measurement gtel. */
void gtel_self_totals(struct gtel_self *self, const struct gtel_registry *registry,
                      const struct gtel_self_totals *totals, struct gtel_batch *batch);
/*
 * Logs once that no GPU was found, and again when that changes. shortage: the negative errno for
 * which it is not known, or 0; that is logged likewise.
 */
void gtel_self_say_found(struct gtel_self *self, size_t devices, int shortage, uint64_t rescan_ns);

#endif
