/* SPDX-License-Identifier: MIT */
/*
 * The end of what `gtel doctor` prints: what can be fixed, and the commands that do it.
 *
 * Each piece of advice is given once, with the groups of metrics that it would bring. Rights that
 * the advice names (CAP_PERFMON …, the group render) are followed by commands to copy.
 */
#ifndef GTEL_EXECD_DOCTOR_FIX_H
#define GTEL_EXECD_DOCTOR_FIX_H

#include "pipeline/finding.h"
#include "execd/host_facts.h"

enum { GTEL_DOCTOR_FIXES_MAX = 64 };

struct gtel_doctor_fixes {
    struct gtel_str fix[GTEL_DOCTOR_FIXES_MAX]; /* borrowed */
    size_t n;
    struct gtel_buf brings[GTEL_DOCTOR_FIXES_MAX]; /* "gpu_engine of 0000:03:00.0, …" */
};

void gtel_doctor_fixes_done(struct gtel_doctor_fixes *fixes);
/* Adds what a finding advises; returns its number from 1 on, or 0 when it advises nothing. */
size_t gtel_doctor_fixes_add(struct gtel_doctor_fixes *fixes, const struct gtel_finding *finding);
/* The same for advice that is not about values: brings says what it is good for. */
size_t gtel_doctor_fixes_text(struct gtel_doctor_fixes *fixes, struct gtel_str fix,
                              const char *brings);
/*
 * Appends the list and the commands; with is_script the same as a shell script for a person to read
 * and run, where the list is comments.
 */
void gtel_doctor_fixes_write(const struct gtel_doctor_fixes *fixes,
                             const struct gtel_host_facts *facts, bool is_script,
                             struct gtel_buf *out);

#endif
