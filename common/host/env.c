/* SPDX-License-Identifier: MIT */
/* What all envs share: what one lacks, sleeps of the host, and messages. What is in them may come
 * from anywhere. */
#include "host/env.h"

#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

enum { MESSAGE_MAX = 500 };

/* The two clocks behind it are read one after the other, and we may lose the processor between. */
static const uint64_t suspend_min_ns = 100000000;

int gtel_env_dir_open(const struct gtel_env *env, const char *path)
{
    return env->ops->dir_open ? env->ops->dir_open(env->arg, path) : -EOPNOTSUPP;
}

int gtel_env_pmu_open(const struct gtel_env *env, uint32_t type, const uint64_t *configs, size_t n,
                      uint32_t cpu)
{
    return env->ops->pmu_open ? env->ops->pmu_open(env->arg, type, configs, n, cpu) : -EOPNOTSUPP;
}

int64_t gtel_env_drm_query(const struct gtel_env *env, const char *node,
                           enum gtel_drm_driver driver, uint32_t item, void *buf, size_t n)
{
    return env->ops->drm_query ? env->ops->drm_query(env->arg, node, driver, item, buf, n)
                               : -EOPNOTSUPP;
}

int gtel_env_stall_open(const struct gtel_env *env, const char *node, uint32_t gt, uint32_t clocks)
{
    return env->ops->stall_open ? env->ops->stall_open(env->arg, node, gt, clocks) : -EOPNOTSUPP;
}

int gtel_env_uevent_open(const struct gtel_env *env)
{
    return env->ops->uevent_open ? env->ops->uevent_open(env->arg) : -EOPNOTSUPP;
}

int gtel_env_ras_read(const struct gtel_env *env, const char *device, struct gtel_ras_counter *ret,
                      size_t max, size_t *ret_n)
{
    return env->ops->ras_read ? env->ops->ras_read(env->arg, device, ret, max, ret_n) : -EOPNOTSUPP;
}

int gtel_env_drm_fds(const struct gtel_env *env, gtel_drm_fd_fn fn, void *fn_arg)
{
    return env->ops->drm_fds ? env->ops->drm_fds(env->arg, fn, fn_arg) : -EOPNOTSUPP;
}

int gtel_env_child_start(const struct gtel_env *env, const char *const *args)
{
    return env->ops->child_start ? env->ops->child_start(env->arg, args) : -EOPNOTSUPP;
}

uint64_t gtel_env_suspended(const struct gtel_env *env)
{
    return env->ops->suspended_ns ? env->ops->suspended_ns(env->arg) : 0;
}

bool gtel_env_has_slept(const struct gtel_env *env, uint64_t *suspended_ns)
{
    uint64_t before_ns = *suspended_ns;
    *suspended_ns = gtel_env_suspended(env);
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
