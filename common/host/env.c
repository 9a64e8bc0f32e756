/* SPDX-License-Identifier: MIT */
/* What all envs share: sleeps of the host, and messages. What is in them may come from anywhere. */
#include "host/env.h"

#include <stdarg.h>
#include <stdio.h>

enum { MESSAGE_MAX = 500 };

/* The two clocks behind it are read one after the other, and we may lose the processor between. */
static const uint64_t suspend_min_ns = 100000000;

bool gtel_env_has_slept(const struct gtel_env *env, uint64_t *suspended_ns)
{
    uint64_t before_ns = *suspended_ns;
    *suspended_ns = env->ops->suspended_ns(env->arg);
    return *suspended_ns > before_ns + suspend_min_ns;
}

void gtel_log(const struct gtel_log *log, enum gtel_log_level level, const char *fmt, ...)
{
    char raw[MESSAGE_MAX];
    char text[MESSAGE_MAX];
    if (!log->write)
        return;
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(raw, sizeof(raw), fmt, args);
    va_end(args);
    if (n < 0)
        return;
    for (char *p = raw; *p; p++)
        if (*p == '\n' || *p == '\t')
            *p = ' '; /* a text of several lines stays readable */
    gtel_str_clean(text, sizeof(text), gtel_str_of(raw));
    log->write(log->arg, level, text);
}
