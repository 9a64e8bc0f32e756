/* SPDX-License-Identifier: MIT */
/*
 * `gtel doctor`: what is there, what is missing, why, and what would bring it.
 *
 * A sink that notes which groups of metrics came from where, and a report for people that sets this
 * beside what the sources say of what they did not get (pipeline/finding.h). A group of metrics is
 * a measurement of the catalogue.
 */
#ifndef GTEL_EXECD_DOCTOR_H
#define GTEL_EXECD_DOCTOR_H

#include "gtel.h"

struct gtel_doctor_device; /* what came of one device */

struct gtel_doctor {
    /* What the report is about, for the caller to set; the context's sink is the doctor's. */
    const struct gtel_env *env;
    const struct gtel_options *options;
    struct gtel_context *context;
    struct gtel_doctor_device *device; /* GTEL_DEVICES_MAX of them, by index */
    struct gtel_buf messages;          /* warnings and errors, a line each */
    struct gtel_findings findings;     /* of the last sample */
};

/* 0 or -ENOMEM. */
int gtel_doctor_init(struct gtel_doctor *doctor);
void gtel_doctor_done(struct gtel_doctor *doctor);
/* Valid as long as doctor stays where it is. */
struct gtel_sink gtel_doctor_sink(struct gtel_doctor *doctor);
/* Keeps warnings and errors for the report, where they belong to a helper or an unknown cause. */
struct gtel_log gtel_doctor_log(struct gtel_doctor *doctor);
/*
 * Takes a last sample, at which the sources say what is missing, and emits it. Appends the report;
 * with is_script, commands instead. True when something is missing that could be fixed.
 */
bool gtel_doctor_report(struct gtel_doctor *doctor, bool is_script, struct gtel_buf *out);

#endif
