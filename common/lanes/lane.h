/* SPDX-License-Identifier: MIT */
/*
 * A lane as its front end sees it: a helper process behind a socket pair, or the same work inline.
 *
 * Nothing here waits for a helper but gtel_lanes_wait, which has a limit. One request is
 * outstanding per lane; a helper that does not answer is left alone until it does, and never gets a
 * second one beside it. A helper that died is started again at the next gather, and should that one
 * die soon, too, after 1, 2, 4 … 64 more, at most 64 s; likewise one that has said that it can do
 * no more. One that grows without end is restarted, too. A lane none of whose sources may find
 * anything on this machine is not started, and checked again each Rescan interval.
 *
 * While the program runs no helper is killed: SIGKILL inside a vendor's call has frozen GPUs. At
 * the end a helper that does not end by itself is killed; what even that does not end, since it
 * waits in the kernel (state D), is not waited for.
 */
#ifndef GTEL_LANES_LANE_H
#define GTEL_LANES_LANE_H

#include "base/backoff.h"
#include "lanes/channel.h"
#include "lanes/group.h"
#include "lanes/helper_text.h"
#include "lanes/wire.h"
#include "host/fs.h"

enum gtel_lane_state {
    GTEL_LANE_OFF,      /* no helper */
    GTEL_LANE_GREETING, /* started, has not said hello yet */
    GTEL_LANE_IDLE,
    GTEL_LANE_BUSY,    /* a request is out */
    GTEL_LANE_ANSWERED /* its answer was received and waits to be understood */
};

struct gtel_lane_setup {
    const char *name;
    const struct gtel_env *env;
    const struct gtel_options *options; /* Sources already narrowed to this front end */
    const char *helper;                 /* NULL: inline */
    const char *const *helper_args;     /* NULL at the end, or NULL */
};

struct gtel_lane {
    struct gtel_lane_setup setup;
    enum gtel_lane_state state;
    struct gtel_group group; /* inline only, else zeroed */
    struct gtel_channel channel;
    struct gtel_buf rx;           /* frames received, or made inline */
    size_t rx_used;               /* bytes of those already handed out */
    struct gtel_helper_text text; /* what it writes to its standard error */
    struct gtel_buf tx;
    struct gtel_wire_map map;
    uint64_t request;          /* number of the request that is out or was answered last, or of that
                                  in whose gather the helper was started */
    uint64_t request_ns;       /* when the gather of that request began, on the env's clock */
    uint64_t request_wall_ns;  /* the same as time of day */
    uint64_t started_ns;       /* when a helper was started last; 0: none was */
    uint64_t probe_ns;         /* when to check again whether there is anything to read */
    uint64_t tick_ns;          /* when the last gather began */
    uint64_t pause_ns;         /* the same of that in which the pause began */
    struct gtel_backoff pause; /* between starts, in gathers without a helper */
    uint64_t gathers;          /* the number of the last of them */
    uint64_t late;             /* gathers that ended without its answer */
    uint64_t missed;           /* the last request that was not answered in time */
    uint64_t restarts;
    struct gtel_answer answer; /* the last one: its totals, and what the helper uses */
    struct gtel_answer past;   /* totals of the helpers before this one */
    int shortage;              /* for want of what nothing was found to read, or 0 */
    int start_error;           /* why the helper could not be started the last time, or 0 */
    uint32_t answers;          /* of this helper */
    uint64_t settled_rss;      /* its resident memory after some answers; 0: not known */
    bool is_renewed;           /* the helper before this one asked for a restart */
    uint64_t said;             /* hash of what a helper has logged last; 0: nothing */
    bool is_late;              /* said so in the log, and no request was answered in time since */
    bool is_failing;           /* said so in the log */
};

/* setup and what it points to outlive the lane. 0 or -ENOMEM. */
int gtel_lane_init(struct gtel_lane *lane, const struct gtel_lane_setup *setup);
/* Closes the socket of a helper: it ends by itself. */
void gtel_lane_close(struct gtel_lane *lane);
/*
 * Closes the lanes, waits at most wait_ns for their helpers, kills those that have not ended, waits
 * as long again for these, then frees. A lane without a helper is fine, a zeroed one is not.
 */
void gtel_lanes_done(struct gtel_lane *lanes, size_t n, uint64_t wait_ns);

/* Starts the helper when that is due. number: of this gather's request. now_ns: the env's clock. */
void gtel_lane_tick(struct gtel_lane *lane, uint64_t number, uint64_t now_ns);
/*
 * Sends a request unless one is out or the helper has not greeted. now_ns, wall_ns: when its gather
 * began. with_findings: also for what is missing. Inline: does the work.
 */
void gtel_lane_request(struct gtel_lane *lane, uint64_t number, uint64_t now_ns, uint64_t wall_ns,
                       bool with_findings);
/*
 * Takes in what has come, without waiting. Returns 1 with an answer's payload, valid until the next
 * call, 0 when there is none. Messages go to the log; a helper that is gone or talks nonsense is
 * dropped.
 */
int gtel_lane_receive(struct gtel_lane *lane, struct gtel_str *ret_payload);
/* Called after an answer was understood (r 0) or not (r < 0: the helper is dropped). */
void gtel_lane_understood(struct gtel_lane *lane, int r);
/* Whether an answer or a greeting is awaited. */
bool gtel_lane_is_waiting(const struct gtel_lane *lane);
/* The gather ended without this lane's answer. */
void gtel_lane_missed(struct gtel_lane *lane, uint64_t now_ns, uint64_t waited_ns);

/* Sleeps until one of the awaited lanes has something to read, at most wait_ns. */
void gtel_lanes_wait(struct gtel_lane *lanes, size_t n, uint64_t wait_ns);

#endif
