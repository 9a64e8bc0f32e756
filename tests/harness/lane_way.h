/* SPDX-License-Identifier: MIT */
/* The way between a front end and a helper, with a test at one of its ends. */
#ifndef GTEL_HARNESS_LANE_WAY_H
#define GTEL_HARNESS_LANE_WAY_H

#include "lanes/channel.h"
#include "tables/options.h"

#include <stdbool.h>

/* What the log advises when a helper's program is not there. */
extern const char lane_way_missing_fix[];

/* Opens the channel of a helper that the test plays; *ret_peer is the helper's end. */
bool lane_way_open(struct gtel_channel *channel, intptr_t *ret_peer);
/* Bytes at the helper's end: whether all of them were taken. */
bool lane_way_send(intptr_t peer, struct gtel_str bytes);
void lane_way_close(intptr_t peer);

/*
 * One life of a helper of the lane clients (lanes/serve.h) that hears these bytes, and then nothing
 * sound. *ret_n: what it has said, in ret. Its result.
 */
int lane_way_serve(struct gtel_env *env, const struct gtel_options *options, struct gtel_str bytes,
                   char *ret, size_t size, size_t *ret_n);

#endif
