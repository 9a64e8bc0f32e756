/* SPDX-License-Identifier: MIT */
/*
 * The whole exchange with the kernel about hardware errors, with the kernel played by this program:
 * the linker hands it the socket calls of the env. Its messages are built from the uapi headers of
 * netlink, and from the numbers of the family drm-ras (kernel: include/uapi/drm/drm_ras.h, 7.1).
 */
#include "host/env_posix.h"
#include "harness/test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FAMILY = 0x1d, QUEUE_MAX = 32, DATAGRAM_SIZE = 2048 };

/* What the played kernel does, and what it has seen. */
static struct {
    const char *label;
    int socket_error; /* positive; the same below */
    int send_error;
    int refused; /* the request, from 1, that is answered with refusal */
    int refusal;
    int silent;      /* the request that is not answered */
    int foreign;     /* the request before whose answer one to somebody else comes */
    int split;       /* the request whose answer comes in a datagram per message */
    int interrupted; /* the request before whose answer a signal comes */
    bool is_cut;     /* datagrams end in the middle */
    bool has_nodes;
    int missing;       /* the attribute, from 1, that no node or counter has */
    uint32_t id_extra; /* bytes that a later kernel adds to a counter */
    /* Seen. */
    int requests;
    int fd;
    bool is_open;
} kernel;

static struct {
    unsigned char data[DATAGRAM_SIZE];
    size_t n;
    bool is_signal;
} queue[QUEUE_MAX];
static size_t queued;
static size_t taken;

int __wrap_socket(int domain, int type, int protocol);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t n);
ssize_t __wrap_send(int fd, const void *buf, size_t n, int flags);
ssize_t __wrap_recv(int fd, void *buf, size_t n, int flags);

int __wrap_socket(int domain, int type, int protocol)
{
    CHECK_INT(domain, AF_NETLINK);
    CHECK_INT(protocol, NETLINK_GENERIC);
    CHECK((type & SOCK_CLOEXEC) != 0);
    if (kernel.socket_error > 0) {
        errno = kernel.socket_error;
        return -1;
    }
    kernel.fd = open("/dev/null", O_RDWR | O_CLOEXEC); /* the env closes it */
    return kernel.fd;
}

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t n)
{
    (void)value;
    (void)n;
    CHECK_INT(fd, kernel.fd);
    CHECK(level == SOL_SOCKET && name == SO_RCVTIMEO);
    return 0;
}

/* Messages of an answer, put together. */
struct answer {
    unsigned char data[DATAGRAM_SIZE];
    size_t n;
    uint32_t sequence;
    size_t message; /* where the last one begins */
    bool is_split;
};

static void put(struct answer *answer, const void *bytes, size_t n)
{
    size_t end = NLMSG_ALIGN(answer->n + n);
    if (!CHECK(end <= sizeof(answer->data)))
        return;
    memset(answer->data + answer->n, 0, end - answer->n);
    memcpy(answer->data + answer->n, bytes, n);
    answer->n = end;
}

static void flush(struct answer *answer)
{
    if (answer->n == 0 || !CHECK(queued < QUEUE_MAX))
        return;
    queue[queued].n = kernel.is_cut ? answer->n - 6 : answer->n;
    queue[queued].is_signal = false;
    memcpy(queue[queued++].data, answer->data, answer->n);
    answer->n = 0;
}

static void begin(struct answer *answer, uint16_t type, uint16_t flags)
{
    struct nlmsghdr header = {
        .nlmsg_type = type, .nlmsg_flags = flags, .nlmsg_seq = answer->sequence};
    if (answer->is_split)
        flush(answer);
    answer->message = answer->n;
    put(answer, &header, sizeof(header));
}

static void end(struct answer *answer)
{
    struct nlmsghdr header;
    memcpy(&header, answer->data + answer->message, sizeof(header));
    header.nlmsg_len = (uint32_t)(answer->n - answer->message);
    memcpy(answer->data + answer->message, &header, sizeof(header));
}

static void attr(struct answer *answer, uint16_t type, const void *value, size_t n)
{
    if (kernel.missing == type && kernel.requests > 1)
        return;
    struct nlattr header = {.nla_len = (uint16_t)(sizeof(header) + n), .nla_type = type};
    unsigned char bytes[256];
    if (!CHECK(sizeof(header) + n <= sizeof(bytes)))
        return;
    memcpy(bytes, &header, sizeof(header));
    memcpy(bytes + sizeof(header), value, n);
    put(answer, bytes, sizeof(header) + n);
}

static void attr_u32(struct answer *answer, uint16_t type, uint32_t value)
{
    attr(answer, type, &value, sizeof(value));
}

static void attr_text(struct answer *answer, uint16_t type, const char *text)
{
    attr(answer, type, text, strlen(text) + 1);
}

static void begin_generic(struct answer *answer, uint16_t family, uint8_t command, uint16_t flags)
{
    struct genlmsghdr generic = {.cmd = command, .version = 1};
    begin(answer, family, flags);
    put(answer, &generic, sizeof(generic));
}

static void put_done(struct answer *answer)
{
    int32_t error = 0;
    begin(answer, NLMSG_DONE, NLM_F_MULTI);
    put(answer, &error, sizeof(error));
    end(answer);
}

static void put_error(struct answer *answer, int error, const struct nlmsghdr *request)
{
    struct nlmsgerr body = {.error = -error, .msg = *request};
    begin(answer, NLMSG_ERROR, 0);
    put(answer, &body, sizeof(body));
    end(answer);
}

static void answer_family(struct answer *answer)
{
    uint16_t id = FAMILY;
    begin_generic(answer, GENL_ID_CTRL, CTRL_CMD_NEWFAMILY, 0);
    attr_text(answer, CTRL_ATTR_FAMILY_NAME, "drm-ras");
    attr(answer, CTRL_ATTR_FAMILY_ID, &id, sizeof(id));
    attr_u32(answer, CTRL_ATTR_VERSION, 1);
    end(answer);
}

/* Two nodes of the device, and one of another between them. */
static void answer_nodes(struct answer *answer)
{
    static const struct {
        const char *device;
        const char *name;
        uint32_t id;
    } nodes[] = {{"0000:03:00.0", "correctable-errors", 4},
                 {"0000:83:00.0", "correctable-errors", 6},
                 {"0000:03:00.0", "uncorrectable-errors", 5}};
    for (size_t i = 0; kernel.has_nodes && i < sizeof(nodes) / sizeof(nodes[0]); i++) {
        begin_generic(answer, FAMILY, 1, NLM_F_MULTI);
        attr_u32(answer, 1, nodes[i].id);
        attr_text(answer, 2, nodes[i].device);
        attr_text(answer, 3, nodes[i].name);
        attr_u32(answer, 4, 1);
        end(answer);
    }
    put_done(answer);
}

static void answer_counters(struct answer *answer, uint32_t node)
{
    static const char *const names[] = {"core-compute", "soc-internal", "device-memory"};
    static const unsigned char later[64];
    for (uint32_t i = 0; i < 3; i++) {
        begin_generic(answer, FAMILY, 2, NLM_F_MULTI);
        attr_u32(answer, 1, node);
        attr_u32(answer, 2, i + 1);
        attr_text(answer, 3, names[i]);
        attr_u32(answer, 4, node * 100 + i);
        if (kernel.id_extra > 0)
            attr(answer, 77, later, kernel.id_extra);
        end(answer);
    }
    put_done(answer);
}

/* The value of the request's only attribute. */
static uint32_t request_u32(const unsigned char *bytes, size_t n, uint16_t type)
{
    struct nlattr header;
    uint32_t value = 0;
    if (!CHECK(n >= sizeof(header) + sizeof(value)))
        return 0;
    memcpy(&header, bytes, sizeof(header));
    CHECK_INT(header.nla_type, type);
    CHECK_INT(header.nla_len, sizeof(header) + sizeof(value));
    memcpy(&value, bytes + sizeof(header), sizeof(value));
    return value;
}

static void answer_request(struct answer *answer, const struct nlmsghdr *header,
                           const unsigned char *bytes, size_t n)
{
    struct genlmsghdr generic;
    if (!CHECK(n >= sizeof(generic)))
        return;
    memcpy(&generic, bytes, sizeof(generic));
    CHECK(generic.version == 1 && generic.reserved == 0);
    CHECK_INT(header->nlmsg_pid, 0); /* of the sender: the kernel fills it in */
    bytes += sizeof(generic);
    n -= sizeof(generic);
    bool is_dump = (header->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
    if (header->nlmsg_type == GENL_ID_CTRL) {
        CHECK(generic.cmd == CTRL_CMD_GETFAMILY && !is_dump);
        CHECK(n >= 12 && memcmp(bytes + sizeof(struct nlattr), "drm-ras", 8) == 0);
        answer_family(answer);
        return;
    }
    CHECK_INT(header->nlmsg_type, FAMILY);
    CHECK(is_dump);
    CHECK(generic.cmd == 1 || generic.cmd == 2); /* never 3: that clears the counters */
    if (generic.cmd == 1)
        answer_nodes(answer);
    else
        answer_counters(answer, request_u32(bytes, n, 1));
}

static void queue_foreign(uint32_t sequence)
{
    struct answer foreign = {.sequence = sequence + 1000};
    answer_counters(&foreign, 99);
    flush(&foreign);
}

ssize_t __wrap_send(int fd, const void *buf, size_t n, int flags)
{
    struct nlmsghdr header;
    (void)flags;
    CHECK_INT(fd, kernel.fd);
    kernel.requests++;
    if (kernel.send_error > 0) {
        errno = kernel.send_error;
        return -1;
    }
    if (!CHECK(n >= sizeof(header)))
        return (ssize_t)n;
    memcpy(&header, buf, sizeof(header));
    CHECK_INT(header.nlmsg_len, n);
    CHECK((header.nlmsg_flags & NLM_F_REQUEST) != 0);
    struct answer answer = {.sequence = header.nlmsg_seq,
                            .is_split = kernel.split == kernel.requests};
    if (kernel.foreign == kernel.requests)
        queue_foreign(header.nlmsg_seq);
    if (kernel.interrupted == kernel.requests && CHECK(queued < QUEUE_MAX))
        queue[queued++].is_signal = true;
    if (kernel.silent == kernel.requests)
        return (ssize_t)n;
    if (kernel.refused == kernel.requests)
        put_error(&answer, kernel.refusal, &header);
    else
        answer_request(&answer, &header, (const unsigned char *)buf + sizeof(header),
                       n - sizeof(header));
    flush(&answer);
    return (ssize_t)n;
}

ssize_t __wrap_recv(int fd, void *buf, size_t n, int flags)
{
    (void)flags;
    CHECK_INT(fd, kernel.fd);
    if (taken == queued) { /* the time that setsockopt() has set is over */
        errno = EAGAIN;
        return -1;
    }
    if (queue[taken++].is_signal) {
        errno = EINTR;
        return -1;
    }
    size_t got = queue[taken - 1].n;
    CHECK(got <= n);
    memcpy(buf, queue[taken - 1].data, got);
    return (ssize_t)got;
}

static int exchange(struct gtel_ras_counter *counter, size_t max, size_t *ret_n)
{
    queued = taken = 0;
    kernel.requests = 0;
    kernel.fd = -1;
    int r = gtel_netlink_posix_ras_read(NULL, "0000:03:00.0", counter, max, ret_n);
    CHECK(kernel.fd < 0 || (fcntl(kernel.fd, F_GETFD) < 0 && errno == EBADF)); /* closed */
    return r;
}

static void check_counters(const struct gtel_ras_counter *counter, size_t n)
{
    static const struct gtel_ras_counter expected[] = {
        {"correctable-errors", "core-compute", 400},
        {"correctable-errors", "soc-internal", 401},
        {"correctable-errors", "device-memory", 402},
        {"uncorrectable-errors", "core-compute", 500},
        {"uncorrectable-errors", "soc-internal", 501},
        {"uncorrectable-errors", "device-memory", 502}};
    CHECK_INT(n, 6);
    for (size_t i = 0; i < n && i < 6; i++) {
        CHECK(strcmp(counter[i].node, expected[i].node) == 0);
        CHECK(strcmp(counter[i].name, expected[i].name) == 0);
        CHECK_INT(counter[i].value, expected[i].value);
    }
}

static void test_counters(void)
{
    struct gtel_ras_counter counter[GTEL_RAS_MAX];
    size_t n = 0;
    kernel.has_nodes = true;
    CHECK_INT(exchange(counter, GTEL_RAS_MAX, &n), 0);
    CHECK_INT(kernel.requests, 4); /* the family, its nodes, the counters of two */
    check_counters(counter, n);
    CHECK_INT(exchange(counter, 4, &n), 0); /* the rest has no room */
    CHECK_INT(n, 4);
    for (int request = 1; request <= 4; request++) {
        kernel.foreign = kernel.split = kernel.interrupted = request;
        kernel.id_extra = 40;
        CHECK_INT(exchange(counter, GTEL_RAS_MAX, &n), 0);
        check_counters(counter, n);
    }
    kernel.foreign = kernel.split = kernel.interrupted = 0;
    kernel.id_extra = 0;
}

/* Each call fails, and each request is refused or not answered: never a part of the counters. */
static void test_refusals(void)
{
    static const int refusals[] = {ENOENT, EPERM, EOPNOTSUPP, ENODEV, EINVAL};
    struct gtel_ras_counter counter[GTEL_RAS_MAX];
    size_t n = 77;
    kernel.socket_error = EPROTONOSUPPORT; /* a kernel without generic netlink */
    CHECK_INT(exchange(counter, GTEL_RAS_MAX, &n), -ENOENT);
    kernel.socket_error = EMFILE;
    CHECK_INT(exchange(counter, GTEL_RAS_MAX, &n), -EMFILE);
    kernel.socket_error = 0;
    kernel.send_error = ENOBUFS;
    CHECK_INT(exchange(counter, GTEL_RAS_MAX, &n), -ENOBUFS);
    kernel.send_error = 0;
    for (kernel.refused = 1; kernel.refused <= 4; kernel.refused++)
        for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
            kernel.refusal = refusals[i];
            CHECK_INT(exchange(counter, GTEL_RAS_MAX, &n), -refusals[i]);
        }
    kernel.refused = 0;
    for (kernel.silent = 1; kernel.silent <= 4; kernel.silent++)
        CHECK_INT(exchange(counter, GTEL_RAS_MAX, &n), -ETIMEDOUT);
    kernel.silent = 0;
    kernel.is_cut = true;
    CHECK_INT(exchange(counter, GTEL_RAS_MAX, &n), -EINVAL);
    kernel.is_cut = false;
    for (kernel.missing = 1; kernel.missing <= 3; kernel.missing++) /* of a node */
        CHECK_INT(exchange(counter, GTEL_RAS_MAX, &n), -EINVAL);
    kernel.missing = 4; /* the value of a counter; of a node nobody asks for it */
    CHECK_INT(exchange(counter, GTEL_RAS_MAX, &n), -EINVAL);
    kernel.missing = 0;
    kernel.has_nodes = false; /* a driver that counts none */
    CHECK_INT(exchange(counter, GTEL_RAS_MAX, &n), -ENOENT);
    kernel.has_nodes = true;
    CHECK_INT(n, 77);
}

int main(void)
{
    test_counters();
    test_refusals();
    return test_result();
}
