/* SPDX-License-Identifier: MIT */
/*
 * What the DRM drivers of the machine are asked by ioctls of their own: queries of i915 and xe, and
 * the stall samples of xe's observation (kernel: xe_eu_stall.c).
 */
#include "host/env_posix.h"

#include "abi/xe_uapi.h"

#include <errno.h>
#include <fcntl.h>
#include <i915_drm.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <xf86drm.h>

#define XE_DEVICE_QUERY                                                                            \
    DRM_IOWR(DRM_COMMAND_BASE + GTEL_XE_DEVICE_QUERY, struct gtel_xe_device_query)
#define XE_OBSERVATION                                                                             \
    DRM_IOW(DRM_COMMAND_BASE + GTEL_XE_OBSERVATION, struct gtel_xe_observation_param)
#define XE_ENABLE _IO('i', GTEL_XE_OBSERVE_ENABLE)

static int open_node(const struct gtel_env_posix *env, const char *node)
{
    int fd = openat(env->root_fd, node, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

/* ---- queries ---- */

/* Asks once; *length is the room in buf (0: how much is needed), and then the length. */
typedef int (*ask_fn)(int fd, uint32_t item, void *buf, int32_t *length);

static int ask_i915(int fd, uint32_t item, void *buf, int32_t *length)
{
    struct drm_i915_query_item wanted = {
        .query_id = item, .length = *length, .data_ptr = (uintptr_t)buf};
    struct drm_i915_query query = {.num_items = 1, .items_ptr = (uintptr_t)&wanted};
    if (drmIoctl(fd, DRM_IOCTL_I915_QUERY, &query) < 0)
        return -errno;
    if (wanted.length < 0) /* the error of this item (kernel: i915_drm.h) */
        return wanted.length;
    *length = wanted.length;
    return 0;
}

static int ask_xe(int fd, uint32_t item, void *buf, int32_t *length)
{
    struct gtel_xe_device_query query = {
        .query = item, .size = (uint32_t)*length, .data = (uintptr_t)buf};
    if (drmIoctl(fd, XE_DEVICE_QUERY, &query) < 0)
        return -errno;
    if (query.size > INT32_MAX)
        return -E2BIG;
    *length = (int32_t)query.size;
    return 0;
}

/*
 * A driver reports the length when it is asked with none, and then fills a buffer of that length.
 */
static int64_t ask_length_first(ask_fn ask, int fd, uint32_t item, void *buf, size_t n)
{
    int32_t length = 0;
    int r = ask(fd, item, NULL, &length);
    if (r == -EINVAL)
        return -EOPNOTSUPP; /* before anything of ours could be wrong: an unknown item */
    if (r < 0 || length == 0)
        return r;
    if ((size_t)length > n)
        return -E2BIG;
    memset(buf, 0, (size_t)length); /* i915 takes its header for input, and wants zeros */
    r = ask(fd, item, buf, &length);
    if (r < 0)
        return r;
    return (size_t)length <= n ? length : -EIO;
}

/*
 * With the buffer as it is at first: i915 fills one that is large enough (i915_query.c,
 * copy_query_item), xe one of the answer's own length alone (xe_query.c); both refuse any other
 * with EINVAL, and then report the length.
 */
static int64_t ask_driver(ask_fn ask, int fd, uint32_t item, void *buf, size_t n)
{
    int32_t length = n < INT32_MAX ? (int32_t)n : 0;
    if (length > 0) {
        memset(buf, 0, n);
        int r = ask(fd, item, buf, &length);
        if (r == 0)
            return (size_t)length <= n ? length : -EIO;
        if (r != -EINVAL)
            return r;
    }
    return ask_length_first(ask, fd, item, buf, n);
}

int64_t gtel_drm_posix_query(void *arg, const char *node, enum gtel_drm_driver driver,
                             uint32_t item, void *buf, size_t n)
{
    int fd = open_node(arg, node);
    if (fd < 0)
        return fd;
    int64_t r = ask_driver(driver == GTEL_DRM_XE ? ask_xe : ask_i915, fd, item, buf, n);
    (void)close(fd); /* nothing was written */
    return r;
}

/* ---- stall samples ---- */

/* The stream does not block; it holds the driver, but not the node. */
static int open_stream(int fd, uint32_t gt, uint32_t clocks)
{
    struct gtel_xe_property property[] = {
        {.name = GTEL_XE_STALL_SET_PROPERTY, .property = GTEL_XE_STALL_GT, .value = gt},
        {.name = GTEL_XE_STALL_SET_PROPERTY, .property = GTEL_XE_STALL_RATE, .value = clocks},
        {.name = GTEL_XE_STALL_SET_PROPERTY, .property = GTEL_XE_STALL_WAIT, .value = 1},
    };
    property[0].next = (uintptr_t)&property[1];
    property[1].next = (uintptr_t)&property[2];
    struct gtel_xe_observation_param param = {
        .type = GTEL_XE_OBSERVE_EU_STALL, .op = GTEL_XE_OBSERVE_OPEN, .param = (uintptr_t)property};
    int stream = drmIoctl(fd, XE_OBSERVATION, &param);
    if (stream < 0) /* EINVAL: a type that the kernel does not know, or no such GT */
        return errno == EINVAL || errno == ENOTTY ? -EOPNOTSUPP : -errno;
    if (fcntl(stream, F_SETFD, FD_CLOEXEC) < 0 || fcntl(stream, F_SETFL, O_NONBLOCK) < 0 ||
        ioctl(stream, XE_ENABLE) < 0) {
        int error = errno;
        (void)close(stream);
        return -error;
    }
    return stream;
}

int gtel_drm_posix_stall_open(void *arg, const char *node, uint32_t gt, uint32_t clocks)
{
    int fd = open_node(arg, node);
    if (fd < 0)
        return fd;
    int r = open_stream(fd, gt, clocks);
    (void)close(fd); /* nothing was written */
    return r;
}

int64_t gtel_drm_posix_stall_read(void *arg, int handle, void *buf, size_t n)
{
    (void)arg;
    int64_t r = read(handle, buf, n);
    if (r >= 0)
        return r;
    if (errno == EAGAIN || errno == EINTR)
        return 0;
    return errno == EIO ? -ENOBUFS : -errno; /* EIO: lost (kernel: xe_drm.h) */
}
