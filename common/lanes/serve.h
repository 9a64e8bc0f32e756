/* SPDX-License-Identifier: MIT */
/*
 * A lane as its helper process runs it: what `gtel --lane NAME` does.
 */
#ifndef GTEL_LANES_SERVE_H
#define GTEL_LANES_SERVE_H

#include "host/env.h"
#include "tables/options.h"

/*
 * Runs one lane as a helper until its socket fd closes. env's log is replaced by one that sends
 * messages to the front end. Returns 0, or a negative errno when the greeting could not be sent.
 */
int gtel_lane_serve(const char *lane, int fd, struct gtel_env *env,
                    const struct gtel_options *options);

#endif
