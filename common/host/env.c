/* SPDX-License-Identifier: MIT */
/* What all envs share: formatting of messages. */
#include "host/env.h"

#include <stdarg.h>
#include <stdio.h>

enum { MESSAGE_MAX = 500 };

void gtel_log(const struct gtel_log *log, enum gtel_log_level level, const char *fmt, ...)
{
    char text[MESSAGE_MAX];
    if (!log->write)
        return;
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (n < 0)
        return;
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = ' ';
    log->write(log->arg, level, text);
}
