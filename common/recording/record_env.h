/* SPDX-License-Identifier: MIT */
/*
 * An env around another one that records what is asked and answered: what `gtel capture` does.
 *
 * Every file, link, directory and search for one, every group of counters, query of a driver and
 * message of the kernel passes through and is written down, with its error where it has one. Paths
 * are written as the kernel would resolve them, so that the links on the way are recorded, too; but
 * not what descriptors of processes lead to (proc/PID/fd/N), unless it is a character device.
 * A file that is too long for a record reads as E2BIG there; of the list of all PCI devices only
 * those of the machine are recorded.
 * Vendor libraries are not recorded: they are "not there", and that they were asked for is noted.
 */
#ifndef GTEL_RECORDING_RECORD_ENV_H
#define GTEL_RECORDING_RECORD_ENV_H

#include "host/env.h"
#include "recording/record.h"

struct gtel_record_env; /* private */

/*
 * inner and record outlive the env. The log of inner is taken over. 0 or -ENOMEM; ended with
 * gtel_record_env_done.
 */
int gtel_record_env_init(const struct gtel_env *inner, struct gtel_record *record,
                         struct gtel_env *ret);
void gtel_record_env_done(struct gtel_env *env);
/*
 * The vendor libraries that were asked for, with blanks between them: their answers are missing in
 * the record. Valid as long as the env.
 */
struct gtel_str gtel_record_env_libraries(const struct gtel_env *env);

#endif
