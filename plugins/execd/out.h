/* SPDX-License-Identifier: MIT */
/*
 * Standard output and standard error, as Telegraf reads them.
 *
 * A gather leaves with as few writes as the pipe allows, one in the normal case. A pipe that is
 * full blocks nothing for good: input and signals are taken in meanwhile, and the end is bounded.
 * Messages begin with a level that Telegraf knows; one that does not fit into a full pipe is
 * dropped.
 */
#ifndef GTEL_EXECD_OUT_H
#define GTEL_EXECD_OUT_H

#include "base/str.h"
#include "execd/pace.h"
#include "host/env.h"

/*
 * Makes sure that descriptors 0 to 2 are taken, by /dev/null where they were closed, so that no
 * other file gets their numbers. False when standard output was closed: there is nobody to talk to.
 */
bool gtel_out_init(void);
/*
 * Writes text, which consists of whole lines. 0; -EPIPE when nobody reads; -ETIMEDOUT when the end
 * came while the pipe stayed full; another negative errno. Lines of up to 4096 bytes are never cut.
 */
int gtel_out_write(struct gtel_pace *pace, struct gtel_str text);
/*
 * Waits at most half a second until the reader has taken everything, and closes standard output
 * and standard error. Telegraf drops what is still in the pipe when the program is gone. Nothing
 * can be logged after this.
 */
void gtel_out_close(void);
/* Writes a line to standard error. Under POSIX it is dropped where it would have to wait. */
void gtel_out_message(struct gtel_str line);
/* The log of this program: such lines. */
struct gtel_log gtel_out_log(void);

#endif
