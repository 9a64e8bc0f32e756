/* SPDX-License-Identifier: MIT */
/* What the perf PMUs of i915 and xe have in common. */
#include "sources/intel/perf.h"

#include "parse/pmu_desc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void gtel_intel_perf_dir(char dir[GTEL_INTEL_PERF_DIR_MAX], const char *driver, const char *key)
{
    int n = snprintf(dir, GTEL_INTEL_PERF_DIR_MAX, "sys/bus/event_source/devices/%s%s%s", driver,
                     key ? "_" : "", key ? key : "");
    if (n < 0 || n >= GTEL_INTEL_PERF_DIR_MAX)
        dir[0] = '\0'; /* no directory */
    for (char *p = dir; *p; p++)
        if (*p == ':')
            *p = '_';
}

int gtel_intel_perf_cpu(const struct gtel_env *env, const char *dir, uint32_t *ret)
{
    char path[GTEL_FS_PATH_MAX];
    char buf[1024];
    struct gtel_str text;
    gtel_fs_path(path, "%s/cpumask", dir);
    int r = gtel_fs_text(env, path, buf, sizeof(buf), &text);
    return r < 0 ? r : gtel_pmu_first_cpu(text, ret);
}

bool gtel_intel_perf_is_refusal(int r)
{
    return r == -EACCES || r == -EPERM;
}

/*
 * Levels above 2 are not the mainline's: Debian's kernels ask for CAP_SYS_ADMIN there, and refuse
 * CAP_PERFMON (seen in tests/guest: Linux 6.1 at level 3; at 2 it is enough).
 */
const char *gtel_intel_perf_fix(const struct gtel_env *env, char *buf, size_t size)
{
    char text[32];
    struct gtel_str level;
    int64_t number = 0;
    if (gtel_fs_text(env, "proc/sys/kernel/perf_event_paranoid", text, sizeof(text), &level) < 0)
        level = GTEL_STR("not known");
    if (gtel_str_i64(level, &number) == 0 && number > 2)
        (void)snprintf(buf, size,
                       "kernel.perf_event_paranoid is %.*s: run sysctl "
                       "kernel.perf_event_paranoid=2 and give the program CAP_PERFMON (above 2 "
                       "Debian's kernels ask for CAP_SYS_ADMIN)",
                       GTEL_STR_ARG(level));
    else
        (void)snprintf(buf, size,
                       "kernel.perf_event_paranoid is %.*s: give the program CAP_PERFMON "
                       "(CAP_SYS_ADMIN where that does not help), or run sysctl "
                       "kernel.perf_event_paranoid=0",
                       GTEL_STR_ARG(level));
    return buf;
}

void gtel_intel_perf_note(const struct gtel_env *env, const char *source, const char *key, int r,
                          bool *is_noted)
{
    char fix[256];
    if (*is_noted)
        return;
    *is_noted = true;
    bool is_refusal = gtel_intel_perf_is_refusal(r);
    gtel_log(&env->log, GTEL_LOG_WARNING, "%s: %s: engine use: %s; %s%sgoing on without it", source,
             key, strerror(-r), is_refusal ? gtel_intel_perf_fix(env, fix, sizeof(fix)) : "",
             is_refusal ? "; " : "");
}
