/* SPDX-License-Identifier: MIT */
/* Netlink sockets of the machine: netlink(7). */
#include "host/netlink_posix.h"

#include <errno.h>

#ifdef __linux__

#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    KERNEL_GROUP = 1,
    STRANGERS_MAX = 64,       /* messages of others that are passed over in one call */
    RECEIVE_BUFFER = 1 << 20, /* bytes asked for; the kernel cuts it to net.core.rmem_max */
};

int gtel_netlink_uevent_open(void)
{
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
    if (fd < 0)
        return -errno;
    struct sockaddr_nl own;
    memset(&own, 0, sizeof(own));
    own.nl_family = AF_NETLINK;
    own.nl_groups = KERNEL_GROUP;
    int size = RECEIVE_BUFFER;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)); /* a smaller one works too */
    if (bind(fd, (const struct sockaddr *)&own, sizeof(own)) < 0) {
        int error = errno;
        (void)close(fd);
        return -error;
    }
    return fd;
}

int64_t gtel_netlink_uevent_read(int handle, void *buf, size_t n)
{
    for (int strangers = 0; strangers < STRANGERS_MAX;) {
        struct sockaddr_nl sender;
        struct iovec part = {.iov_base = buf, .iov_len = n};
        struct msghdr message = {
            .msg_name = &sender, .msg_namelen = sizeof(sender), .msg_iov = &part, .msg_iovlen = 1};
        memset(&sender, 0, sizeof(sender));
        ssize_t got = recvmsg(handle, &message, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno == EWOULDBLOCK ? -EAGAIN : -errno;
        /* The kernel's own port is 0; no process can have it (netlink(7)). */
        if (message.msg_namelen != sizeof(sender) || sender.nl_pid != 0) {
            strangers++;
            continue;
        }
        return (message.msg_flags & MSG_TRUNC) != 0 ? -E2BIG : got;
    }
    return -EAGAIN;
}

#else

int gtel_netlink_uevent_open(void)
{
    return -EOPNOTSUPP;
}

int64_t gtel_netlink_uevent_read(int handle, void *buf, size_t n)
{
    (void)handle;
    (void)buf;
    (void)n;
    return -EBADF;
}

#endif
