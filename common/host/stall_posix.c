/* SPDX-License-Identifier: MIT */
/* Stall samples of the machine's xe GPUs: the observation ioctl of xe (kernel: xe_eu_stall.c). */
#include "host/stall_posix.h"

#include "abi/xe_uapi.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <xf86drm.h>

#define XE_OBSERVATION                                                                             \
    DRM_IOW(DRM_COMMAND_BASE + GTEL_XE_OBSERVATION, struct gtel_xe_observation_param)
#define XE_ENABLE _IO('i', GTEL_XE_OBSERVE_ENABLE)

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

int gtel_stall_posix_open(int root_fd, const char *node, uint32_t gt, uint32_t clocks)
{
    int fd = openat(root_fd, node, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    int r = open_stream(fd, gt, clocks);
    (void)close(fd); /* nothing was written */
    return r;
}

int64_t gtel_stall_posix_read(int handle, void *buf, size_t n)
{
    int64_t r = read(handle, buf, n);
    if (r >= 0)
        return r;
    if (errno == EAGAIN || errno == EINTR)
        return 0;
    return errno == EIO ? -ENOBUFS : -errno; /* EIO: lost (kernel: xe_drm.h) */
}

void gtel_stall_posix_close(int handle)
{
    (void)close(handle); /* opened for reading: nothing can be lost */
}
