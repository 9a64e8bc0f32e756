/* SPDX-License-Identifier: MIT */
/*
 * The part of the scrubber that knows files about processes and users: of each only what a reader
 * of it needs, with made-up ids of containers and pods, and names of containers and users.
 */
#ifndef GTEL_HOST_SCRUB_PROCESS_H
#define GTEL_HOST_SCRUB_PROCESS_H

#include "host/scrub.h"

/* Appends the file if it is of that kind: proc/PID/stat, proc/PID/cgroup, etc/passwd. Else false.
 */
bool gtel_scrub_process(struct gtel_scrub *scrub, struct gtel_str path, struct gtel_str text,
                        struct gtel_buf *out);

#endif
