/* SPDX-License-Identifier: MIT */
/* Queries to the DRM drivers of the machine: i915's and xe's own ioctls. */
#include "host/drm_query_posix.h"

#include "abi/xe_uapi.h"

#include <errno.h>
#include <fcntl.h>
#include <i915_drm.h>
#include <string.h>
#include <unistd.h>
#include <xf86drm.h>

#define XE_DEVICE_QUERY                                                                            \
    DRM_IOWR(DRM_COMMAND_BASE + GTEL_XE_DEVICE_QUERY, struct gtel_xe_device_query)

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

int64_t gtel_drm_query_posix(int root_fd, const char *node, enum gtel_drm_driver driver,
                             uint32_t item, void *buf, size_t n)
{
    int fd = openat(root_fd, node, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    int64_t r = ask_driver(driver == GTEL_DRM_XE ? ask_xe : ask_i915, fd, item, buf, n);
    (void)close(fd); /* nothing was written */
    return r;
}
