/* SPDX-License-Identifier: MIT */
/* What the perf PMUs of i915 and xe have in common. */
#include "sources/intel/perf.h"

#include "base/error.h"
#include "host/kernel.h"
#include "parse/pmu_desc.h"

#include <stdio.h>

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

int gtel_intel_perf_cpu(const struct gtel_env *env, const char *dir, uint32_t *ret, uint32_t *ret_n)
{
    uint32_t n;
    char buf[1024];
    struct gtel_str text;
    int r = gtel_fs_text(env, GTEL_FS_AT("%s/cpumask", dir), buf, sizeof(buf), &text);
    return r < 0 ? r : gtel_pmu_cpus(text, ret, ret_n ? ret_n : &n);
}

/*
 * Levels above 2 are not the mainline's: Debian's kernels ask for CAP_SYS_ADMIN there, and refuse
 * CAP_PERFMON (seen in tests/guest: Linux 6.1 at level 3; at 2 it is enough).
 */
static const char *fix_of_setting(const struct gtel_env *env, bool is_known, int64_t level)
{
    bool is_perfmon = gtel_kernel_has_capability(env, GTEL_CAP_PERFMON) == GTEL_YES;
    bool is_admin = gtel_kernel_has_capability(env, GTEL_CAP_SYS_ADMIN) == GTEL_YES;
    bool is_nested = gtel_kernel_is_nested(env);
    bool is_open = is_known && level <= 0;
    bool is_high = is_known && level > 2;
    if (is_nested && !is_open)
        return "rights in a container's user namespace do not count: run the program outside of "
               "the container, or on the host sysctl kernel.perf_event_paranoid=0";
    if (is_open || is_admin || (is_perfmon && !is_high))
        return "that and the program's rights are enough, so something else refuses, as a "
               "container's seccomp profile: let the program call perf_event_open";
    if (is_high)
        return is_perfmon ? "above 2 Debian's kernels want more than CAP_PERFMON: run sysctl "
                            "kernel.perf_event_paranoid=2"
                          : "run sysctl kernel.perf_event_paranoid=2 and give the program "
                            "CAP_PERFMON (above 2 Debian's kernels ask for CAP_SYS_ADMIN)";
    if (gtel_kernel_is_older(env, 5, 8)) /* capabilities(7) */
        return "give the program CAP_SYS_ADMIN (CAP_PERFMON from Linux 5.8 on), or run sysctl "
               "kernel.perf_event_paranoid=0";
    return "give the program CAP_PERFMON, or run sysctl kernel.perf_event_paranoid=0";
}

const char *gtel_intel_perf_fix(const struct gtel_env *env, char *buf, size_t size)
{
    char text[32];
    struct gtel_str level;
    int64_t number = 0;
    if (gtel_fs_text(env, "proc/sys/kernel/perf_event_paranoid", text, sizeof(text), &level) < 0)
        level = GTEL_STR("not known");
    bool is_known = gtel_str_i64(level, &number) == 0;
    (void)snprintf(buf, size, "kernel.perf_event_paranoid is %.*s: %s", GTEL_STR_ARG(level),
                   fix_of_setting(env, is_known, number));
    return buf;
}

void gtel_intel_perf_log(const struct gtel_env *env, const char *source, const char *key,
                         const char *what, int r, int *logged)
{
    static const char going_on[] = "going on without it";
    char why[256];
    char fix[sizeof(why) + sizeof(going_on)];
    bool is_new = gtel_error_is_refusal(r) && !gtel_error_is_broken(*logged);
    (void)snprintf(fix, sizeof(fix), "%s%s%s",
                   is_new ? gtel_intel_perf_fix(env, why, sizeof(why)) : "", is_new ? "; " : "",
                   going_on);
    gtel_failure_log(&env->log, logged, r, fix, "%s: %s: %s", source, key, what);
}
