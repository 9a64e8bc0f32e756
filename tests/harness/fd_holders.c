/* SPDX-License-Identifier: MIT */
/* Real processes that hold descriptors of device nodes. */
#include "harness/fd_holders.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DRM_MAJOR = 226, FIRST_MINOR = 128, MINORS = 64 };

struct order {
    char what;
    int a;
    int b;
};

/* ---- nodes ---- */

static void node_path(const struct holders *holders, size_t node, char *buf, size_t size)
{
    (void)snprintf(buf, size, "%s/%zu", holders->dir, node);
}

/* The number behind a name in an fdinfo text. */
static uint64_t number_of(struct gtel_str text, struct gtel_str name)
{
    struct gtel_str line;
    uint64_t number = 0;
    while (gtel_str_line(&text, &line))
        if (gtel_str_starts(line, name))
            (void)gtel_str_u64(gtel_str_trim(gtel_str_skip(line, name.n)), &number);
    return number;
}

static uint64_t mount_of(const char *path)
{
    char own[64];
    char text[1024];
    int fd = open(path, O_PATH | O_CLOEXEC);
    (void)snprintf(own, sizeof(own), "/proc/self/fdinfo/%d", fd);
    int info = open(own, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(info, text, sizeof(text));
    (void)close(info);
    (void)close(fd);
    return n > 0 ? number_of((struct gtel_str){text, (size_t)n}, GTEL_STR("mnt_id:")) : 0;
}

bool holders_init(struct holders *holders, size_t n)
{
    char path[128];
    struct stat st;
    memset(holders, 0, sizeof(*holders));
    (void)snprintf(holders->dir, sizeof(holders->dir), "/tmp/gtel-nodes-XXXXXX");
    if (n > HOLDERS_NODES_MAX || !mkdtemp(holders->dir) || chmod(holders->dir, 0755) < 0)
        return false;
    for (; holders->nodes < n; holders->nodes++) {
        size_t node = holders->nodes + 1;
        node_path(holders, node, path, sizeof(path));
        if (mknod(path, S_IFCHR | 0600,
                  makedev(DRM_MAJOR, FIRST_MINOR + (unsigned)(node % MINORS))) < 0 ||
            stat(path, &st) < 0)
            return false;
        holders->ino[node - 1] = st.st_ino;
    }
    holders->mount = mount_of(path);
    return holders->mount != 0;
}

void holders_moved(struct holders *holders)
{
    char path[128];
    node_path(holders, 1, path, sizeof(path));
    holders->mount = mount_of(path);
}

void holders_done(struct holders *holders)
{
    char path[128];
    for (; holders->nodes > 0; holders->nodes--) {
        node_path(holders, holders->nodes, path, sizeof(path));
        (void)unlink(path);
    }
    (void)rmdir(holders->dir);
}

size_t holders_node(const struct holders *holders, struct gtel_str text)
{
    uint64_t ino = number_of(text, GTEL_STR("ino:")); /* Linux 5.14 and newer */
    if (ino == 0 || number_of(text, GTEL_STR("mnt_id:")) != holders->mount)
        return 0;
    for (size_t i = 0; i < holders->nodes; i++)
        if (holders->ino[i] == ino)
            return i + 1;
    return 0;
}

/* ---- orders ---- */

/* Sends bytes and, unless it is -1, a descriptor. */
static bool send_with(int socket, const void *bytes, size_t n, int fd)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec vec = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = n};
    struct msghdr message = {.msg_iov = &vec, .msg_iovlen = 1};
    if (fd >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof(control);
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(head), &fd, sizeof(fd));
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)n;
}

/* Receives n bytes and a descriptor, -1 when none came with them. */
static bool receive_with(int socket, void *bytes, size_t n, int *ret_fd)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec vec = {.iov_base = bytes, .iov_len = n};
    struct msghdr message = {.msg_iov = &vec,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    *ret_fd = -1;
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != (ssize_t)n)
        return false;
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head && head->cmsg_type == SCM_RIGHTS)
        memcpy(ret_fd, CMSG_DATA(head), sizeof(*ret_fd));
    return true;
}

static int move_to(int fd, int to)
{
    if (fd < 0)
        return -errno;
    if (fd == to)
        return 0;
    int r = dup2(fd, to) < 0 ? -errno : 0;
    (void)close(fd);
    return r;
}

static int fork_idle(int socket)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid < 0 ? -errno : (int)pid;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)close(socket);
    for (;;)
        (void)pause();
}

static int obey(const struct holders *holders, int socket, const struct order *order, int fd)
{
    char path[128];
    switch (order->what) {
    case 'o':
        node_path(holders, (size_t)order->a, path, sizeof(path));
        return move_to(open(path, O_PATH), order->b);
    case 'e':
        return move_to(eventfd(0, 0), order->b);
    case 'd':
        return dup2(order->a, order->b) < 0 ? -errno : 0;
    case 'c':
        return close(order->a) < 0 ? -errno : 0;
    case 'f':
        return fork_idle(socket);
    case 'r':
        return move_to(fd, order->b);
    default:
        return -EINVAL;
    }
}

static void hold(const struct holders *holders, uid_t uid, int socket)
{
    struct rlimit limit;
    struct order order;
    int fd;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)prctl(PR_SET_NAME, "holder");
    (void)signal(SIGCHLD, SIG_IGN); /* children leave nothing behind */
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    socket = dup2(socket, HOLDERS_FDS_MAX);
    for (fd = 3; fd < HOLDERS_FDS_MAX; fd++)
        (void)close(fd);
    if (uid != 0 && (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 ||
                     setresuid(uid, uid, uid) < 0 || prctl(PR_SET_DUMPABLE, 1) < 0))
        _exit(1);
    int ready = 0;
    if (!send_with(socket, &ready, sizeof(ready), -1))
        _exit(1);
    while (receive_with(socket, &order, sizeof(order), &fd)) {
        int passed = order.what == 's' ? order.a : -1;
        int r = order.what == 's' ? 0 : obey(holders, socket, &order, fd);
        if (!send_with(socket, &r, sizeof(r), passed))
            break;
    }
    _exit(0);
}

bool holder_start(const struct holders *holders, uid_t uid, struct holder *ret)
{
    int pair[2];
    int ready;
    int fd;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return false;
    ret->socket = pair[0];
    ret->pid = fork();
    if (ret->pid == 0)
        hold(holders, uid, pair[1]);
    (void)close(pair[1]);
    return ret->pid > 0 && receive_with(ret->socket, &ready, sizeof(ready), &fd);
}

static int give_order(const struct holder *holder, char what, int a, int b)
{
    const struct order order = {what, a, b};
    int r;
    int fd;
    if (!send_with(holder->socket, &order, sizeof(order), -1) ||
        !receive_with(holder->socket, &r, sizeof(r), &fd))
        return -EPIPE;
    return r;
}

int holder_open(const struct holder *holder, size_t node, int fd)
{
    return give_order(holder, 'o', (int)node, fd);
}

int holder_other(const struct holder *holder, int fd)
{
    return give_order(holder, 'e', 0, fd);
}

int holder_dup(const struct holder *holder, int from, int to)
{
    return give_order(holder, 'd', from, to);
}

int holder_close(const struct holder *holder, int fd)
{
    return give_order(holder, 'c', fd, 0);
}

int holder_fork(const struct holder *holder, struct holder *ret)
{
    int r = give_order(holder, 'f', 0, 0);
    *ret = (struct holder){.pid = r > 0 ? r : 0, .socket = -1};
    return r < 0 ? r : 0;
}

int holder_pass(const struct holder *from, int fd, const struct holder *to, int to_fd)
{
    struct order order = {'s', fd, 0};
    int r;
    int passed;
    int none;
    if (!send_with(from->socket, &order, sizeof(order), -1) ||
        !receive_with(from->socket, &r, sizeof(r), &passed) || passed < 0)
        return -EPIPE;
    order = (struct order){'r', 0, to_fd};
    bool is_sent = send_with(to->socket, &order, sizeof(order), passed);
    (void)close(passed);
    return is_sent && receive_with(to->socket, &r, sizeof(r), &none) ? r : -EPIPE;
}

void holder_end(struct holder *holder)
{
    const struct timespec moment = {.tv_nsec = 200000};
    if (holder->pid > 0 && kill(holder->pid, SIGKILL) == 0)
        for (int i = 0; i < 25000 && kill(holder->pid, 0) == 0; i++) {
            (void)waitpid(holder->pid, NULL, WNOHANG);
            (void)nanosleep(&moment, NULL);
        }
    if (holder->socket >= 0)
        (void)close(holder->socket);
    *holder = (struct holder){.socket = -1};
}
