/* SPDX-License-Identifier: MIT */
/*
 * The one header of the core that a front end includes.
 *
 * A context owns devices, lanes, the memory between gathers and the options of one front end. There
 * is no state outside it: two contexts in one process do not see each other. One context is used by
 * one thread at a time. A gather is
 *
 *     discover, sample (in the lanes) -> merge -> delta -> window -> emit (to the sink)
 *
 * and waits for its lanes no longer than the deadline; what comes later goes out at the next gather
 * with its own time.
 */
#ifndef GTEL_GTEL_H
#define GTEL_GTEL_H

#include "base/version.h"
#include "host/env.h"
#include "lanes/serve.h"
#include "pipeline/sink.h"
#include "sources/source.h"
#include "tables/catalogue.h"
#include "tables/options.h"

struct gtel_context;

struct gtel_setup {
    const struct gtel_env *env;         /* outlives the context */
    const struct gtel_options *options; /* copied */
    const struct gtel_sink *sink;       /* outlives the context */
    const char *vendor;                 /* only the sources of this vendor; NULL: all */
    const char *helper; /* absolute path of the gtel program; NULL: all lanes inline */
    /* Extra words for the helper's command line, NULL at the end, or NULL: how to reach a root. */
    const char *const *helper_args;
    uint64_t interval_ns; /* time between gathers where it is known, else 0: learned */
};

/* 0, -ENOMEM, or -EINVAL for a Sources option that names no source (logged). *ret is ours to free.
 */
int gtel_context_new(const struct gtel_setup *setup, struct gtel_context **ret);
/*
 * Ends the helpers by closing their sockets, waits at most 200 ms for them, kills the rest, waits
 * at most 200 ms for these and frees the context. NULL is fine. Only a helper that waits in the
 * kernel (state D) may be left, and ends as soon as the kernel lets it.
 */
void gtel_context_free(struct gtel_context *context);

/*
 * Takes one sample from all lanes into the window, waiting at most wait_ns for their answers (0:
 * the Deadline option, never more than half the interval). The first sample of a counter gives no
 * rate: call it once at the start so that the first gather has rates. Nothing can fail that the
 * caller could fix: the self-telemetry has lanes that failed and readings that were dropped.
 */
void gtel_context_sample(struct gtel_context *context, uint64_t wait_ns);
/* Hands what has come in since the last call to the sink. */
void gtel_context_emit(struct gtel_context *context);
/* gtel_context_sample with the usual deadline, then gtel_context_emit. */
void gtel_context_gather(struct gtel_context *context);
/* Whether a lane that was started has never answered yet. */
bool gtel_context_is_starting(const struct gtel_context *context);
/*
 * Why it is not known which GPUs there are: the negative errno of a file that could not be opened,
 * or of a helper that could not be started, for want of descriptors or memory (host/fs.h:
 * gtel_fs_shortage_fix); or 0.
 */
int gtel_context_shortage(const struct gtel_context *context);
/*
 * How many processes are still to be scanned for the first time, as the last sample reported; 0
 * when all were. Until then it is not known who uses the GPUs.
 */
uint64_t gtel_context_processes_waiting(const struct gtel_context *context);
/*
 * When a source that runs inside this process asks to be called before the next gather, on the
 * env's monotonic clock; 0: none does. Helpers see to that themselves.
 */
uint64_t gtel_context_due(const struct gtel_context *context);
/* Calls the sources whose time has come. */
void gtel_context_tick(struct gtel_context *context);
/* The devices seen so far, gone ones included. */
const struct gtel_registry *gtel_context_registry(const struct gtel_context *context);

/* How a lane stands, for people. */
enum gtel_lane_health {
    GTEL_LANE_UNUSED,    /* no source of it has anything to read here, or it was not asked yet */
    GTEL_LANE_FINE,      /* its last answer was in time */
    GTEL_LANE_LATE,      /* a helper runs and does not answer */
    GTEL_LANE_UNSTARTED, /* the helper cannot be started: error says why */
    GTEL_LANE_BROKEN     /* the helper ended, or is of another version: the log says which */
};
struct gtel_lane_report {
    const char *name;
    enum gtel_lane_health health;
    int error;       /* a negative errno, or 0 */
    const char *fix; /* what to do about it; NULL: there is no error */
};

/*
 * From the next sample on, lanes also report what is missing and why: it is added to findings,
 * whose devices are the context's. NULL: no longer.
 */
void gtel_context_set_findings(struct gtel_context *context, struct gtel_findings *findings);
/* The lane of that number; false beyond the last one. */
bool gtel_context_lane(const struct gtel_context *context, size_t i, struct gtel_lane_report *ret);

/* The words of a reading's origin: "hwmon"; for a derived one, of the counter behind it. */
const char *gtel_reading_origin(const struct gtel_reading *reading);

#endif
