/* SPDX-License-Identifier: MIT */
/*
 * Failures are logged once when they begin and once when they are over, however often the thing is
 * tried in between.
 */
#ifndef GTEL_HOST_FAILURE_H
#define GTEL_HOST_FAILURE_H

#include "base/error.h"
#include "host/env.h"

/*
 * Keeps the result r of a try in *error (0 at first) and logs a change: "<fmt>: <the error>; <fix>"
 * when it has begun to fail, "<fmt>: works again" when it has ended. What is not here is no failure
 * (base/error.h): it is kept without a message, or with its text when something broken became
 * absent. fix says what a user can do or what happens next; empty: nothing more.
 */
void gtel_failure_log(const struct gtel_log *log, int *error, int r, const char *fix,
                      const char *fmt, ...) GTEL_PRINTF(5, 6);

#endif
