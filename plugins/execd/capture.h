/* SPDX-License-Identifier: MIT */
/*
 * `gtel capture`: writes a recorded machine from the one that is read.
 *
 * Runs all sources inside this process on an env that records what they ask
 * (recording/record_env.h), for some gathers and for what `gtel doctor` reads. Serial numbers,
 * uuids and the names of host and user are replaced; what was replaced is logged.
 */
#ifndef GTEL_EXECD_CAPTURE_H
#define GTEL_EXECD_CAPTURE_H

#include "execd/pace.h"
#include "gtel.h"

struct gtel_capture {
    const struct gtel_env *env; /* the machine */
    const struct gtel_options *options;
    struct gtel_log log;                     /* for the user */
    const struct gtel_pace *pace;            /* SIGINT ends it early; NULL: nothing does */
    void (*go_to)(void *arg, uint64_t t_ns); /* lets time go on until then, on the env's clock */
    /* Writes what was appended, before success is reported: 0, or a negative errno, which it has
     * logged. NULL: nothing is written. */
    int (*write)(void *arg);
    void *arg;
    uint64_t grain_ns; /* times between two gathers are rounded down to it */
    uint64_t interval_ns;
    uint64_t count; /* gathers after the first discovery */
};

/*
 * Appends the recorded machine. 0, or what has been logged: -ENOMEM, -EINVAL for an option that the
 * core refuses, -EBADMSG when the text is not one that can be read back, which would be our
 * mistake, or what write returned.
 */
int gtel_capture_run(const struct gtel_capture *capture, struct gtel_buf *out);

#endif
