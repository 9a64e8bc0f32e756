/* SPDX-License-Identifier: MIT */
/*
 * Counters to rates: the one place where differences are taken.
 *
 * No rate between two sources or paths of one value, across a reset (the counter went back),
 * across a gap (more than ten intervals: a suspend, a device that was away) or across almost
 * nothing (less than a tenth of an interval: a catch-up call).
 */
#ifndef GTEL_PIPELINE_DELTA_H
#define GTEL_PIPELINE_DELTA_H

#include "pipeline/reading.h"

struct gtel_delta_state {
    struct gtel_reading last; /* metric, value and t_ns of the sample that is the base */
    uint64_t host_ns;         /* when it was taken, on our clock; 0: there is none */
};

/*
 * Feeds one counter sample, taken at host_ns on our clock, and yields its growth per second since
 * the base; the time is the reading's own, so a device clock gives the device's rate. interval_ns
 * is the expected time between samples, 0 when it is not known. Returns 0; -EAGAIN for a first
 * sample, a gap or too short a time; -ERANGE when the counter or its clock went back.
 */
int gtel_delta_rate(struct gtel_delta_state *state, const struct gtel_reading *sample,
                    uint64_t host_ns, uint64_t interval_ns, double *ret_rate);

/*
 * A rate that becomes a share: up to 1.05 it is measurement noise and cut to 1, above it is no
 * share. Returns 0 or -ERANGE.
 */
int gtel_delta_share(double rate, double *ret);

#endif
