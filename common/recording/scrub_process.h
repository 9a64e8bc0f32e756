/* SPDX-License-Identifier: MIT */
/*
 * Reduces files about processes and users to what a reader of a recorded machine needs: no command
 * lines, no members of groups, no real names, no addresses of memory, no mounts but the kubelet's.
 */
#ifndef GTEL_RECORDING_SCRUB_PROCESS_H
#define GTEL_RECORDING_SCRUB_PROCESS_H

#include "base/buf.h"

enum { GTEL_SCRUB_PEOPLE_FROM = 1000 }; /* numbers of users (login.defs(5), UID_MIN) */

/*
 * Name and number of a line of passwd(5). Whether that is a person: it has a high number or a
 * shell; the others are named after programs.
 */
bool gtel_scrub_user_line(struct gtel_str line, struct gtel_str *ret_name, uint64_t *ret_number);
/* Appends what stays of the content of the file of that path; of other files all of it. */
void gtel_scrub_reduce(struct gtel_str path, struct gtel_str text, struct gtel_buf *out);

#endif
