/* SPDX-License-Identifier: MIT */
/* Netlink sockets of the machine: netlink(7). */
#include "host/env_posix.h"

#include "parse/netlink.h"

#include <errno.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    KERNEL_GROUP = 1,
    FOREIGN_MAX = 64,         /* messages of others that are passed over in one call */
    RECEIVE_BUFFER = 1 << 20, /* bytes asked for; the kernel cuts it to net.core.rmem_max */
};

int gtel_netlink_posix_uevent_open(void *arg)
{
    (void)arg;
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

int64_t gtel_netlink_posix_uevent_read(void *arg, int handle, void *buf, size_t n)
{
    (void)arg;
    for (int foreign = 0; foreign < FOREIGN_MAX;) {
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
            foreign++;
            continue;
        }
        return (message.msg_flags & MSG_TRUNC) != 0 ? -E2BIG : got;
    }
    return -EAGAIN;
}

/*
 * Generic netlink. Its controller knows the numbers of families by their names (kernel:
 * include/uapi/linux/genetlink.h); drm-ras is in include/uapi/drm/drm_ras.h, 7.1 and newer.
 */
enum {
    CONTROLLER = 0x10, /* GENL_ID_CTRL */
    GET_FAMILY = 3,    /* CTRL_CMD_GETFAMILY */
    FAMILY_ID = 1,     /* CTRL_ATTR_FAMILY_ID */
    FAMILY_NAME = 2,   /* CTRL_ATTR_FAMILY_NAME */
    LIST_NODES = 1,    /* DRM_RAS_CMD_LIST_NODES */
    GET_COUNTERS = 2,  /* DRM_RAS_CMD_GET_ERROR_COUNTER */
    NODE_ID = 1,       /* DRM_RAS_A_NODE_ATTRS_NODE_ID, and …_ERROR_COUNTER_ATTRS_NODE_ID */
    NODE_DEVICE = 2,
    NODE_NAME = 3,
    COUNTER_NAME = 3, /* DRM_RAS_A_ERROR_COUNTER_ATTRS_ERROR_NAME */
    COUNTER_VALUE = 4,
    NODES_MAX = 64,
    ANSWERS_MAX = 1024, /* datagrams of one answer */
    ANSWER_SIZE = 16384
};

/* A conversation: what is asked, and who takes each answer; non-zero ends it. */
struct talk {
    int fd;
    uint32_t sequence;
    int (*take)(void *arg, struct gtel_str attrs);
    void *arg;
};

/* All messages of one datagram. 1 when the answer is complete, 0 when more follows. */
static int take_messages(const struct talk *talk, struct gtel_str rest)
{
    struct gtel_netlink_message message;
    int r;
    for (r = gtel_netlink_next(&rest, &message); r == 0; r = gtel_netlink_next(&rest, &message)) {
        if (message.sequence != talk->sequence)
            continue;
        if (message.kind == GTEL_NETLINK_END)
            return message.error < 0 ? message.error : 1;
        if (message.kind == GTEL_NETLINK_OTHER)
            continue;
        r = talk->take(talk->arg, message.attrs);
        if (r < 0)
            return r;
        if (message.kind == GTEL_NETLINK_ANSWER)
            return 1;
    }
    return r == -ENODATA ? 0 : r;
}

static int ask(struct talk *talk, struct gtel_netlink_request *request)
{
    char buf[ANSWER_SIZE];
    request->sequence = ++talk->sequence;
    size_t n = gtel_netlink_write(request, buf);
    if (n == 0)
        return -EINVAL;
    if (send(talk->fd, buf, n, 0) < 0)
        return -errno;
    for (int i = 0; i < ANSWERS_MAX; i++) {
        ssize_t got = recv(talk->fd, buf, sizeof(buf), 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno == EAGAIN ? -ETIMEDOUT : -errno;
        int r = take_messages(talk, (struct gtel_str){buf, (size_t)got});
        if (r != 0)
            return r < 0 ? r : 0;
    }
    return -EIO;
}

static int take_family(void *arg, struct gtel_str attrs)
{
    return gtel_netlink_u16(attrs, FAMILY_ID, arg);
}

struct ras_nodes {
    const char *device;
    struct {
        uint32_t id;
        char name[GTEL_RAS_NAME_MAX];
    } node[NODES_MAX];
    size_t n;
};

static int take_node(void *arg, struct gtel_str attrs)
{
    struct ras_nodes *nodes = arg;
    struct gtel_str device;
    struct gtel_str name;
    uint32_t id;
    if (gtel_netlink_u32(attrs, NODE_ID, &id) < 0 ||
        gtel_netlink_text(attrs, NODE_DEVICE, &device) < 0 ||
        gtel_netlink_text(attrs, NODE_NAME, &name) < 0)
        return -EINVAL;
    if (!gtel_str_eq(device, gtel_str_of(nodes->device)) || nodes->n == NODES_MAX)
        return 0;
    nodes->node[nodes->n].id = id;
    (void)gtel_str_copy(nodes->node[nodes->n].name, GTEL_RAS_NAME_MAX, name); /* cut if need be */
    nodes->n++;
    return 0;
}

struct ras_counters {
    const char *node;
    struct gtel_ras_counter *counter;
    size_t n;
    size_t max;
};

static int take_counter(void *arg, struct gtel_str attrs)
{
    struct ras_counters *counters = arg;
    struct gtel_str name;
    uint32_t value;
    if (gtel_netlink_text(attrs, COUNTER_NAME, &name) < 0 ||
        gtel_netlink_u32(attrs, COUNTER_VALUE, &value) < 0)
        return -EINVAL;
    if (counters->n == counters->max)
        return 0;
    struct gtel_ras_counter *counter = &counters->counter[counters->n++];
    (void)gtel_str_copy(counter->node, sizeof(counter->node), gtel_str_of(counters->node));
    (void)gtel_str_copy(counter->name, sizeof(counter->name), name); /* cut if need be */
    counter->value = value;
    return 0;
}

static int read_counters(struct talk *talk, uint16_t family, const struct ras_nodes *nodes,
                         struct ras_counters *counters)
{
    talk->take = take_counter;
    talk->arg = counters;
    int r = 0;
    for (size_t i = 0; i < nodes->n && r == 0; i++) {
        struct gtel_netlink_request request = {
            .family = family,
            .command = GET_COUNTERS,
            .version = 1,
            .is_dump = true,
            .attr_type = NODE_ID,
            .value = {(const char *)&nodes->node[i].id, sizeof(nodes->node[i].id)}};
        counters->node = nodes->node[i].name;
        r = ask(talk, &request);
    }
    counters->node = NULL; /* it does not outlive nodes */
    return r;
}

static int read_ras(int fd, const char *device, struct ras_counters *counters)
{
    static const char name[] = "drm-ras";
    struct ras_nodes nodes = {.device = device};
    uint16_t family = 0;
    struct gtel_netlink_request find = {.family = CONTROLLER,
                                        .command = GET_FAMILY,
                                        .version = 1,
                                        .attr_type = FAMILY_NAME,
                                        .value = {name, sizeof(name)}};
    struct talk talk = {.fd = fd, .take = take_family, .arg = &family};
    int r = ask(&talk, &find);
    if (r < 0)
        return r;
    struct gtel_netlink_request list = {
        .family = family, .command = LIST_NODES, .version = 1, .is_dump = true};
    talk.take = take_node;
    talk.arg = &nodes;
    r = ask(&talk, &list);
    if (r < 0)
        return r;
    return nodes.n > 0 ? read_counters(&talk, family, &nodes, counters) : -ENOENT;
}

int gtel_netlink_posix_ras_read(void *arg, const char *device, struct gtel_ras_counter *ret,
                                size_t max, size_t *ret_n)
{
    const struct timeval wait = {.tv_usec = 200000};
    struct ras_counters counters = {.counter = ret, .max = max};
    (void)arg;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
    if (fd < 0)
        return errno == EPROTONOSUPPORT ? -ENOENT : -errno;
    int r = setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) < 0 ? -errno : 0;
    if (r == 0)
        r = read_ras(fd, device, &counters);
    (void)close(fd); /* nothing can be lost */
    if (r == 0)
        *ret_n = counters.n;
    return r;
}
