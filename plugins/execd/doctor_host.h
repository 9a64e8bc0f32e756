/* SPDX-License-Identifier: MIT */
/* The parts of `gtel doctor` about the machine: sources, helpers, cards and PCI devices. */
#ifndef GTEL_EXECD_DOCTOR_HOST_H
#define GTEL_EXECD_DOCTOR_HOST_H

#include "execd/doctor.h"
#include "execd/doctor_fix.h"

/* Which sources have something to read here, and which are switched off. */
void gtel_doctor_write_sources(const struct gtel_doctor_case *about, struct gtel_buf *out);
/* Vendors' libraries that this machine's hardware could use: where they are, or what brings them.
 */
void gtel_doctor_write_libraries(const struct gtel_doctor_case *about, bool is_windows,
                                 struct gtel_buf *out);
/* Helpers that are late or could not start; nothing when all is well. */
void gtel_doctor_write_lanes(const struct gtel_doctor_case *about, struct gtel_doctor_fixes *fixes,
                             struct gtel_buf *out);
/* Graphics cards that no source reads, and PCI display devices without a driver. */
void gtel_doctor_write_cards(const struct gtel_doctor_case *about, struct gtel_doctor_fixes *fixes,
                             struct gtel_buf *out);

#endif
