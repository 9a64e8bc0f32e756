/* SPDX-License-Identifier: MIT */
/* Clients of the GPU, and ways of a descriptor to other processes. */
#include "hands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

struct busy {
    uint32_t class;
    uint32_t parts;
};

/* DRM command 0x3f of the module. */
static int set_busy(int fd, uint32_t class, uint32_t parts)
{
    struct busy busy = {class, parts};
    return ioctl(fd, _IOW('d', 0x7f, struct busy), &busy);
}

void guest_set_busy(int fd, uint32_t class, uint32_t parts)
{
    if (set_busy(fd, class, parts) != 0)
        guest_fail("busy");
}

int guest_open_node(const char *path, uint32_t class, uint32_t parts)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || set_busy(fd, class, parts) == 0)
        return fd;
    if (errno != ENODEV) /* removed in between */
        guest_fail("busy");
    (void)close(fd);
    return -1;
}

void guest_pass_fd(int over, int fd)
{
    char control[CMSG_SPACE(sizeof(int))] = {0};
    char byte = 'x';
    struct iovec iov = {&byte, 1};
    struct msghdr message = {.msg_iov = &iov,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &fd, sizeof(fd));
    if (sendmsg(over, &message, 0) != 1)
        guest_fail("sendmsg");
}

void guest_take_fd(int from)
{
    char control[CMSG_SPACE(sizeof(int))];
    char byte;
    struct iovec iov = {&byte, 1};
    struct msghdr message = {.msg_iov = &iov,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    if (recvmsg(from, &message, 0) != 1)
        guest_fail("recvmsg");
}

/*
 * Two clients in three processes: one opened here, duplicated, inherited by a child and sent to
 * another process; and one that this process has to itself.
 */
_Noreturn void guest_run_clients(void)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        guest_fail("socketpair");
    pid_t receiver = fork();
    if (receiver == 0) {
        (void)prctl(PR_SET_NAME, "receiver");
        guest_take_fd(pair[1]);
        for (;;)
            (void)pause();
    }
    int shared = guest_open_node(GUEST_NODE, 0, 20);
    if (shared < 0 || dup(shared) < 0)
        guest_fail(GUEST_NODE);
    guest_pass_fd(pair[0], shared);
    pid_t heir = fork();
    if (heir == 0) {
        (void)prctl(PR_SET_NAME, "heir");
        for (;;)
            (void)pause();
    }
    if (guest_open_node(GUEST_NODE, 2, 40) < 0)
        guest_fail(GUEST_NODE);
    printf("clients owner=%d heir=%d receiver=%d\n", (int)getpid(), (int)heir, (int)receiver);
    (void)fflush(stdout);
    for (;;)
        (void)pause();
}
