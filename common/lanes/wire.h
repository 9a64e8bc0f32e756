/* SPDX-License-Identifier: MIT */
/*
 * Frames between a front end and its helpers: a batch to bytes and back.
 *
 * A frame is a header (magic, type, payload length) and a payload, in the byte order of the
 * machine: both ends are on one host and, by the greeting, of one version. The reader believes
 * nothing: any bytes give a frame or -EPROTO, never a crash; ids, counts and lengths are checked.
 *
 *     helper -> front end   HELLO version, LOG level text, ANSWER (batch)
 *     front end -> helper   REQUEST number
 */
#ifndef GTEL_LANES_WIRE_H
#define GTEL_LANES_WIRE_H

#include "base/buf.h"
#include "pipeline/finding.h"
#include "pipeline/reading.h"

enum gtel_frame_type {
    GTEL_FRAME_HELLO = 1,
    GTEL_FRAME_LOG,
    GTEL_FRAME_ANSWER,
    GTEL_FRAME_REQUEST
};

enum {
    GTEL_FRAME_MAX = 16 << 20, /* bytes of a payload */
    GTEL_FRAME_HEADER = 12
};

struct gtel_frame {
    enum gtel_frame_type type;
    struct gtel_str payload;
};

/*
 * Checks the beginning of the bytes received so far. Returns 0 with the frame and its whole
 * length in *ret_used; -EAGAIN when more bytes are needed; -EPROTO when this is no frame.
 */
int gtel_frame_next(struct gtel_str bytes, struct gtel_frame *ret, size_t *ret_used);

/* What an answer says besides readings. */
struct gtel_answer {
    uint64_t request; /* the number of the request */
    uint64_t errors;  /* totals of the lane since its start */
    uint64_t dropped;
    uint64_t rss_bytes; /* resident memory of the helper; 0 inline */
    bool needs_restart; /* the helper asks for a restart */
};

void gtel_wire_hello(struct gtel_buf *buf, struct gtel_str version);
void gtel_wire_log(struct gtel_buf *buf, uint8_t level, struct gtel_str text);
/* with_findings: the answer shall have what is missing, too. */
void gtel_wire_request(struct gtel_buf *buf, uint64_t number, bool with_findings);
/*
 * Appends a whole answer: the devices when with_devices, the failures, the readings and the
 * findings of the batch. Sets buf->has_failed when it does not fit.
 */
void gtel_wire_answer(struct gtel_buf *buf, const struct gtel_answer *answer,
                      const struct gtel_registry *registry, bool with_devices,
                      const struct gtel_batch *batch);

int gtel_wire_read_request(struct gtel_str payload, uint64_t *ret_number, bool *ret_with_findings);
int gtel_wire_read_log(struct gtel_str payload, uint8_t *ret_level, struct gtel_str *ret_text);

/* Which device of the front end each device of a lane is. A zeroed struct is empty. */
struct gtel_wire_map {
    struct gtel_device *device[GTEL_DEVICES_MAX]; /* NULL: no room was left for it */
    bool is_present[GTEL_DEVICES_MAX];
    size_t n;
    /* By the front end's index: as reported last; 0: never; UINT32_MAX: by an earlier helper. */
    uint32_t arrivals[GTEL_DEVICES_MAX];
};

/* A new helper is started, which counts arrivals from 1. */
void gtel_wire_map_renew(struct gtel_wire_map *map);
/*
 * Reads an answer's payload: devices into registry and map, readings into batch (appended; their
 * strings borrow from payload), failures into batch->failed by the front end's device index, and
 * findings into batch->findings (copied) where that is there. 0, -EPROTO, or -ENOMEM. On an error
 * the batch may hold some of them: reset it.
 */
int gtel_wire_read_answer(struct gtel_str payload, struct gtel_registry *registry,
                          struct gtel_wire_map *map, struct gtel_batch *batch,
                          struct gtel_answer *ret);

#endif
