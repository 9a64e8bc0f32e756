/* SPDX-License-Identifier: MIT */
/*
 * Why a value is missing, and what would bring it: what sources report to `gtel doctor`.
 *
 * Groups of metrics are the measurements of the catalogue. A source speaks only of what it has
 * looked for and not got; what it did get shows in its readings. Texts are copied.
 */
#ifndef GTEL_PIPELINE_FINDING_H
#define GTEL_PIPELINE_FINDING_H

#include "base/arena.h"
#include "base/compiler.h"
#include "pipeline/device.h"
#include "tables/catalogue.h"

struct gtel_finding {
    const struct gtel_device *device; /* NULL: the machine as a whole */
    struct gtel_str what;             /* the file, event, call or library that was asked for */
    struct gtel_str why;              /* the reason in words; empty: the error says it all */
    struct gtel_str fix;              /* what to do about it; commands stand on lines behind the
                                         first, which ends in "or:" where they are another way;
                                         empty: nothing can be done */
    uint8_t measurement;              /* enum gtel_measurement: the group that lacks values */
    uint8_t source;                   /* position in gtel_sources; set by the core */
    uint16_t lacks_plus_1;            /* the metric that is missing, for a finding that is moot only
                                         once any source gives that one; 0: a way to values of the
                                         group, moot once another way gives any */
    int error;                        /* the negative errno of the try, or 0 */
};

enum { GTEL_FINDINGS_MAX = 4096 }; /* more are dropped and counted */

/* A zeroed struct is an empty list. */
struct gtel_findings {
    struct gtel_finding *finding;
    size_t n;
    size_t size;
    size_t dropped;
    struct gtel_arena arena;
    uint8_t source; /* set by the core before it asks a source */
};

void gtel_findings_done(struct gtel_findings *findings);
/*
 * Adds a finding. Texts may be NULL for none. A finding that is already there (same device, group,
 * source and what) is not added again. Losses are counted in `dropped`.
 */
void gtel_finding_put(struct gtel_findings *findings, const struct gtel_device *device,
                      enum gtel_measurement measurement, int error, const char *const text[3]);
/* Where findings go, and what they are about. */
struct gtel_finding_place {
    struct gtel_findings *findings;
    const struct gtel_device *device;
    enum gtel_measurement measurement;
};
/* As gtel_finding_put without an errno; the reason is printed as why says, and cut at 319 bytes. */
void gtel_finding_say(const struct gtel_finding_place *at, const char *what, const char *fix,
                      const char *why, ...) GTEL_PRINTF(4, 5);
/* As gtel_finding_put, about one metric, which need not be of that group: see lacks_plus_1. */
void gtel_finding_put_lack(struct gtel_findings *findings, const struct gtel_device *device,
                           enum gtel_measurement measurement, enum gtel_metric metric, int error,
                           const char *const text[3]);
/* Adds a copy of a finding whose source and texts are given: one that came from another process. */
void gtel_finding_add(struct gtel_findings *findings, const struct gtel_finding *finding);

#endif
