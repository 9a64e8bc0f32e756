/* SPDX-License-Identifier: MIT */
/* The outside world of the device benchmark. */
#include "bench/outside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    CALLS_MAX = 65536,
    ANSWERS_MAX = 64,
    ANSWER_SIZE = 4096,
    SCRATCH_SIZE = 65536,
    PMUS_MAX = 64
};

/* What a driver has answered. */
struct answer {
    char node[64];
    uint32_t item;
    int64_t n; /* or a negative errno */
    unsigned char data[ANSWER_SIZE];
};

static struct {
    struct gtel_env_ops ops;
    const struct gtel_env *files;
    const struct gtel_env *recorded;
    char path[256]; /* of the scratch file */
    int fd;
    uint64_t step_ns;
    struct answer answer[ANSWERS_MAX];
    size_t answers;
    uint32_t pmu[PMUS_MAX]; /* types of PMUs that were opened */
    size_t pmus;
    bool is_recording;
    enum outside_kind kind[CALLS_MAX];
    int handle[CALLS_MAX];
    size_t size[CALLS_MAX];
    size_t n;
} outside;

static char buffer[SCRATCH_SIZE];

static void record(enum outside_kind kind, int handle, size_t size)
{
    if (!outside.is_recording || outside.n == CALLS_MAX)
        return;
    outside.kind[outside.n] = kind;
    outside.handle[outside.n] = handle;
    outside.size[outside.n++] = size;
}

/* The bare system calls of one call. */
static bool make(enum outside_kind kind, int handle, size_t size, void *buf)
{
    if (kind == OUTSIDE_FILE)
        return pread(handle, buf, size, 0) >= 0;
    if (kind != OUTSIDE_QUERY)
        return pread(outside.fd, buf, size, 0) >= 0;
    int fd = open(outside.path, O_RDONLY | O_CLOEXEC);
    bool is_fine = fd >= 0;
    for (int i = 1; i < handle; i++) /* a query's handle: how many ioctls it takes */
        is_fine = is_fine && pread(fd, buf, 40, 0) >= 0;
    is_fine = is_fine && pread(fd, buf, size, 0) >= 0;
    return close(fd) == 0 && is_fine;
}

static uint64_t monotonic_ns(void *arg)
{
    return outside.files->ops->monotonic_ns(arg) + outside.step_ns;
}

static int64_t file_read(void *arg, int handle, void *buf, size_t n)
{
    record(OUTSIDE_FILE, handle, n);
    return outside.files->ops->file_read(arg, handle, buf, n);
}

/* The machine is asked once per PMU: bursts between gathers must not spoil the caches of these. */
static int pmu_open(void *arg, uint32_t type, const uint64_t *configs, size_t n, uint32_t cpu)
{
    (void)arg;
    for (size_t i = 0; i < outside.pmus; i++)
        if (outside.pmu[i] == type)
            return (int)i;
    int r = gtel_env_pmu_open(outside.recorded, type, configs, n, cpu);
    if (r < 0 || outside.pmus == PMUS_MAX)
        return r < 0 ? r : -EMFILE;
    outside.recorded->ops->pmu_close(outside.recorded->arg, r);
    outside.pmu[outside.pmus] = type;
    return (int)outside.pmus++;
}

/* All counters grow by a quarter of the time. */
static int pmu_read(void *arg, int handle, uint64_t *values, size_t n, uint64_t *ret_enabled_ns)
{
    size_t size = 8 * (n + 2); /* their number, the time, the values */
    (void)handle;
    record(OUTSIDE_COUNTERS, 0, size);
    if (size > sizeof(buffer) || !make(OUTSIDE_COUNTERS, 0, size, buffer))
        return -EIO;
    *ret_enabled_ns = monotonic_ns(arg);
    for (size_t i = 0; i < n; i++)
        values[i] = *ret_enabled_ns / 4;
    return 0;
}

static void pmu_close(void *arg, int handle)
{
    (void)arg;
    (void)handle;
}

static struct answer *find_answer(const char *node, enum gtel_drm_driver driver, uint32_t item)
{
    for (size_t i = 0; i < outside.answers; i++)
        if (outside.answer[i].item == item && strcmp(outside.answer[i].node, node) == 0)
            return &outside.answer[i];
    if (outside.answers == ANSWERS_MAX)
        return NULL;
    struct answer *answer = &outside.answer[outside.answers++];
    (void)snprintf(answer->node, sizeof(answer->node), "%s", node);
    answer->item = item;
    answer->n = gtel_env_drm_query(outside.recorded, node, driver, item, answer->data,
                                   sizeof(answer->data));
    return answer;
}

static int64_t drm_query(void *arg, const char *node, enum gtel_drm_driver driver, uint32_t item,
                         void *buf, size_t n)
{
    const struct answer *answer = find_answer(node, driver, item);
    (void)arg;
    if (!answer || answer->n < 0 || (size_t)answer->n > n)
        return answer ? (answer->n < 0 ? answer->n : -E2BIG) : -ENOMEM;
    int ioctls = driver == GTEL_DRM_I915 || (size_t)answer->n == n ? 1 : 3;
    record(OUTSIDE_QUERY, ioctls, (size_t)answer->n);
    if (!make(OUTSIDE_QUERY, ioctls, (size_t)answer->n, buffer))
        return -EIO;
    memcpy(buf, answer->data, (size_t)answer->n);
    return answer->n;
}

static int uevent_open(void *arg)
{
    (void)arg;
    return 0;
}

static int64_t uevent_read(void *arg, int handle, void *buf, size_t n)
{
    (void)arg;
    (void)handle;
    (void)buf;
    (void)n;
    record(OUTSIDE_UEVENT, 0, 0);
    return make(OUTSIDE_UEVENT, 0, 0, buffer) ? -EAGAIN : -EIO;
}

static void uevent_close(void *arg, int handle)
{
    (void)arg;
    (void)handle;
}

bool outside_init(const struct gtel_env *files, const struct gtel_env *recorded, const char *dir,
                  struct gtel_env *ret)
{
    memset(&outside, 0, sizeof(outside));
    (void)snprintf(outside.path, sizeof(outside.path), "%s/outside", dir);
    outside.files = files;
    outside.recorded = recorded;
    outside.fd = open(outside.path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (outside.fd < 0 || pwrite(outside.fd, buffer, sizeof(buffer), 0) != sizeof(buffer)) {
        perror(outside.path);
        return false;
    }
    outside.ops = *files->ops;
    outside.ops.monotonic_ns = monotonic_ns;
    outside.ops.file_read = file_read;
    outside.ops.pmu_open = pmu_open;
    outside.ops.pmu_read = pmu_read;
    outside.ops.pmu_close = pmu_close;
    outside.ops.drm_query = drm_query;
    outside.ops.uevent_open = uevent_open;
    outside.ops.uevent_read = uevent_read;
    outside.ops.uevent_close = uevent_close;
    *ret = *files;
    ret->ops = &outside.ops;
    return true;
}

void outside_done(void)
{
    (void)close(outside.fd);
}

void outside_step(uint64_t ns)
{
    outside.step_ns += ns;
}

void outside_record(bool is_on)
{
    outside.is_recording = is_on;
}

size_t outside_calls(enum outside_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < outside.n; i++)
        n += outside.kind[i] == kind ? 1 : 0;
    return n;
}

bool outside_replay(bool is_least)
{
    for (size_t i = 0; i < outside.n; i++) {
        bool is_query = is_least && outside.kind[i] == OUTSIDE_QUERY;
        if (!make(is_query ? OUTSIDE_COUNTERS : outside.kind[i], outside.handle[i], outside.size[i],
                  buffer))
            return false;
    }
    return true;
}
