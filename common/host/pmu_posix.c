/* SPDX-License-Identifier: MIT */
/* Groups of perf counters of the machine: perf_event_open(2). */
#include "host/env_posix.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Counts on that CPU for every process; a PMU of a device takes no other form (perf_event_open(2)).
 */
static int open_event(uint32_t type, uint64_t config, uint32_t cpu, int leader)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof(attr));
    attr.size = sizeof(attr);
    attr.type = type;
    attr.config = config;
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_GROUP;
    long fd = syscall(SYS_perf_event_open, &attr, -1, (int)cpu, leader, PERF_FLAG_FD_CLOEXEC);
    if (fd >= 0)
        return (int)fd;
    return errno == ENOSYS ? -EOPNOTSUPP : -errno; /* a kernel without perf */
}

static void close_events(const int *fd, size_t n)
{
    while (n > 0)
        (void)close(fd[--n]); /* opened for reading: nothing can be lost */
}

/* A free group, or a negative errno. */
static int find_group(struct gtel_env_posix *env)
{
    int handle = 0;
    while (handle < GTEL_PMU_GROUPS_MAX && env->group[handle].n > 0)
        handle++;
    if (handle == GTEL_PMU_GROUPS_MAX)
        return -EMFILE;
    struct gtel_pmu_group *group = &env->group[handle];
    if (!group->fd)
        group->fd = malloc(GTEL_PMU_EVENTS_MAX * sizeof(*group->fd));
    return group->fd ? handle : -ENOMEM;
}

int gtel_pmu_posix_open(void *arg, uint32_t type, const uint64_t *configs, size_t n, uint32_t cpu)
{
    struct gtel_env_posix *env = arg;
    if (n == 0 || n > GTEL_PMU_EVENTS_MAX || cpu > INT32_MAX)
        return -EINVAL;
    int handle = find_group(env);
    if (handle < 0)
        return handle;
    int *fd = env->group[handle].fd;
    for (size_t i = 0; i < n; i++) {
        int r = open_event(type, configs[i], cpu, i > 0 ? fd[0] : -1);
        if (r < 0) {
            close_events(fd, i);
            return r;
        }
        fd[i] = r;
    }
    env->group[handle].n = n;
    return handle;
}

int gtel_pmu_posix_read(void *arg, int handle, uint64_t *values, size_t n, uint64_t *ret_enabled_ns)
{
    const struct gtel_env_posix *env = arg;
    uint64_t buf[2 + GTEL_PMU_EVENTS_MAX]; /* number, time enabled, values (perf_event_open(2)) */
    if (handle < 0 || handle >= GTEL_PMU_GROUPS_MAX || n == 0 || env->group[handle].n != n)
        return -EBADF;
    size_t size = (2 + n) * sizeof(buf[0]);
    ssize_t got;
    do {
        got = read(env->group[handle].fd[0], buf, size);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return -errno;
    if ((size_t)got != size || buf[0] != n)
        return -EIO;
    *ret_enabled_ns = buf[1];
    memcpy(values, buf + 2, n * sizeof(buf[0]));
    return 0;
}

void gtel_pmu_posix_close(void *arg, int handle)
{
    struct gtel_env_posix *env = arg;
    if (handle < 0 || handle >= GTEL_PMU_GROUPS_MAX)
        return;
    close_events(env->group[handle].fd, env->group[handle].n);
    env->group[handle].n = 0;
}

void gtel_pmu_posix_done(struct gtel_env_posix *env)
{
    for (int i = 0; i < GTEL_PMU_GROUPS_MAX; i++) {
        free(env->group[i].fd);
        env->group[i] = (struct gtel_pmu_group){0};
    }
}
