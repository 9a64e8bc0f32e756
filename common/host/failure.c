/* SPDX-License-Identifier: MIT */
/* Logs failures when they begin and when they are over. */
#include "host/failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void gtel_failure_log(const struct gtel_log *log, int *error, int r, const char *fix,
                      const char *fmt, ...)
{
    char what[256];
    bool was_broken = gtel_error_is_broken(*error);
    bool is_broken = gtel_error_is_broken(r);
    *error = r;
    if (was_broken == is_broken)
        return;
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(what, sizeof(what), fmt, args);
    va_end(args);
    if (n < 0)
        return;
    const char *state = r < 0 ? gtel_error_text(r) : "works again";
    if (is_broken)
        gtel_log(log, GTEL_LOG_WARNING, "%s: %s%s%s", what, state, fix[0] ? "; " : "", fix);
    else
        gtel_log(log, GTEL_LOG_INFO, "%s: %s", what, state);
}
