/* SPDX-License-Identifier: MIT */
/*
 * Netlink: messages taken apart, and this machine: its list of families, and messages about a
 * device in a network namespace of the test's own. What the machine refuses is reported
 * (harness/refused.h); the exchange about hardware errors is in test_ras_exchange.c, without any
 * leave.
 */
#include "host/env.h"
#include "parse/netlink.h"
#include "parse/uevent.h"
#include "harness/refused.h"
#include "harness/test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A message of 16 + n bytes. */
static size_t put(char *buf, size_t at, uint16_t type, uint16_t flags, const char *payload,
                  size_t n)
{
    const struct nlmsghdr head = {.nlmsg_len = (uint32_t)(sizeof(head) + n),
                                  .nlmsg_type = type,
                                  .nlmsg_flags = flags,
                                  .nlmsg_seq = 7};
    memcpy(buf + at, &head, sizeof(head));
    memcpy(buf + at + sizeof(head), payload, n);
    return at + sizeof(head) + ((n + 3) & ~(size_t)3);
}

static void test_messages(void)
{
    char buf[256] = {0};
    /* The generic header, then attribute 2 "ab" (filled up), then attribute 1, the number 5. */
    static const char answer[] = "\1\1\0\0\7\0\2\0ab\0\0\10\0\1\0\5\0\0\0";
    const int32_t error = -ENOENT;
    struct gtel_netlink_message message;
    struct gtel_str text = GTEL_STR_NONE;
    uint32_t number = 0;
    uint16_t half = 0;
    size_t n = put(buf, 0, 20, NLM_F_MULTI, answer, sizeof(answer) - 1);
    n = put(buf, n, NLMSG_DONE, NLM_F_MULTI, "\0\0\0\0", 4);
    n = put(buf, n, NLMSG_ERROR, 0, (const char *)&error, sizeof(error));
    n = put(buf, n, NLMSG_NOOP, 0, "", 0);
    struct gtel_str rest = {buf, n};
    CHECK_INT(gtel_netlink_next(&rest, &message), 0);
    CHECK(message.kind == GTEL_NETLINK_PART && message.sequence == 7);
    CHECK_INT(gtel_netlink_u32(message.attrs, 1, &number), 0);
    CHECK_INT(number, 5);
    CHECK_INT(gtel_netlink_text(message.attrs, 2, &text), 0);
    CHECK_STR(text, "ab");
    CHECK_INT(gtel_netlink_u32(message.attrs, 2, &number), -EINVAL); /* another size */
    CHECK_INT(gtel_netlink_u16(message.attrs, 1, &half), -EINVAL);
    CHECK_INT(gtel_netlink_u32(message.attrs, 3, &number), -ENOENT);
    CHECK_INT(gtel_netlink_next(&rest, &message), 0);
    CHECK(message.kind == GTEL_NETLINK_END && message.error == 0);
    CHECK_INT(gtel_netlink_next(&rest, &message), 0);
    CHECK(message.kind == GTEL_NETLINK_END && message.error == -ENOENT);
    CHECK_INT(gtel_netlink_next(&rest, &message), 0);
    CHECK(message.kind == GTEL_NETLINK_OTHER);
    CHECK_INT(gtel_netlink_next(&rest, &message), -ENODATA);
    for (size_t cut = 1; cut < 16 + sizeof(answer) - 1; cut++) { /* never beyond the end */
        rest = (struct gtel_str){buf, cut};
        CHECK_INT(gtel_netlink_next(&rest, &message), -EINVAL);
    }
    static const char zero[] = "\0\0\1\0";
    CHECK_INT(gtel_netlink_attr((struct gtel_str){zero, 4}, 1, &text), -EINVAL);
    CHECK_INT(gtel_netlink_attr((struct gtel_str){zero, 3}, 1, &text), -EINVAL);
    CHECK_INT(gtel_netlink_attr(GTEL_STR_NONE, 1, &text), -ENOENT);
    static const char empty[] = "\4\0\1\0\4\0\2\0"; /* flags: their presence is what they say */
    CHECK_INT(gtel_netlink_attr((struct gtel_str){empty, 8}, 2, &text), 0);
    CHECK_INT(text.n, 0);
}

static void test_requests(void)
{
    char buf[GTEL_NETLINK_REQUEST_MAX];
    char text[GTEL_NETLINK_REQUEST_MAX] = {0};
    struct gtel_netlink_request request = {.family = 20, .command = 1, .version = 1};
    CHECK_INT(gtel_netlink_write(&request, buf), 20);
    request.value = (struct gtel_str){text, 5};
    CHECK_INT(gtel_netlink_write(&request, buf), 32); /* 4 and 5, filled up */
    request.value.n = 101;
    CHECK_INT(gtel_netlink_write(&request, buf), 128);
    request.value.n = 102;
    CHECK_INT(gtel_netlink_write(&request, buf), 0);
    request.value.n = SIZE_MAX;
    CHECK_INT(gtel_netlink_write(&request, buf), 0);
}

/* The kernel's own list of families is read with the same code: its controller has number 16. */
static void test_families(void)
{
    char buf[32768];
    struct gtel_netlink_request request = {
        .family = 16, .command = 3, .version = 1, .is_dump = true, .sequence = 3};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
    size_t n = gtel_netlink_write(&request, buf);
    if (fd < 0 || send(fd, buf, n, 0) < 0) {
        test_refused("generic netlink", errno); /* a sandbox */
        if (fd >= 0)
            (void)close(fd);
        return;
    }
    bool has_controller = false;
    for (bool is_done = false; !is_done;) {
        ssize_t got = recv(fd, buf, sizeof(buf), 0);
        if (!CHECK(got > 0))
            break;
        struct gtel_str rest = {buf, (size_t)got};
        struct gtel_netlink_message message;
        while (gtel_netlink_next(&rest, &message) == 0) {
            struct gtel_str name;
            uint16_t id;
            is_done = is_done || message.kind == GTEL_NETLINK_END;
            has_controller = has_controller || (gtel_netlink_text(message.attrs, 2, &name) == 0 &&
                                                gtel_str_eq(name, GTEL_STR("nlctrl")) &&
                                                gtel_netlink_u16(message.attrs, 1, &id) == 0 &&
                                                id == 16 && message.sequence == 3);
        }
    }
    CHECK(has_controller);
    (void)close(fd);
}

static void test_ras(const struct gtel_env *env)
{
    struct gtel_ras_counter counter[GTEL_RAS_MAX];
    size_t n = 0;
    /* No such device, and usually no such family; a sandbox may refuse. */
    int r = gtel_env_ras_read(env, "ffff:ff:1f.7", counter, GTEL_RAS_MAX, &n);
    CHECK(r == -ENOENT || r == -EPERM || r == -EACCES || r == -EAFNOSUPPORT);
    if (r != -ENOENT)
        test_refused("the question for the family drm-ras", -r);
}

/* ---- messages about a device ---- */

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = write(fd, text, strlen(text));
    return close(fd) == 0 && n == (ssize_t)strlen(text);
}

/* A network namespace of our own, as its root, and its /sys at dir. 0 or a positive errno. */
static int enter_namespace(const char *dir)
{
    char map[64];
    unsigned uid = (unsigned)geteuid();
    (void)snprintf(map, sizeof(map), "0 %u 1\n", uid);
    /* First the user: the loopback device belongs to who is root when it is made. */
    if (uid != 0 && (unshare(CLONE_NEWUSER) < 0 || !write_file("/proc/self/uid_map", map)))
        return errno;
    if (unshare(CLONE_NEWNET | CLONE_NEWNS) < 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("sysfs", dir, "sysfs", 0, NULL) < 0)
        return errno;
    return 0;
}

/* What a process says to those who listen to the kernel must not be heard. */
static int send_as_process(void)
{
    static const char lie[] = "change@/devices/pci0000:00/0000:00:02.0/drm/card0\0RESET=1";
    struct sockaddr_nl all = {.nl_family = AF_NETLINK, .nl_groups = 1};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
    if (fd < 0)
        return errno;
    ssize_t n = sendto(fd, lie, sizeof(lie), 0, (const struct sockaddr *)&all, sizeof(all));
    int error = n < 0 ? errno : 0;
    (void)close(fd);
    return error;
}

/* The loopback device of the namespace reports a change when it is asked to. */
static void hear_change(const struct gtel_env *env, const char *dir)
{
    char path[512];
    char buf[8192];
    struct gtel_uevent event = {0};
    struct gtel_str subsystem = GTEL_STR_NONE;
    int handle = gtel_env_uevent_open(env);
    if (!CHECK(handle >= 0))
        return;
    CHECK_INT(env->ops->uevent_read(env->arg, handle, buf, sizeof(buf)), -EAGAIN);
    CHECK_INT(send_as_process(), 0);
    (void)snprintf(path, sizeof(path), "%s/class/net/lo/uevent", dir);
    CHECK(write_file(path, "change"));
    int64_t n = -EAGAIN;
    for (int i = 0; i < 200 && n == -EAGAIN; i++) {
        (void)poll(NULL, 0, 10);
        n = env->ops->uevent_read(env->arg, handle, buf, sizeof(buf));
    }
    if (CHECK(n > 0) && CHECK(gtel_uevent_parse((struct gtel_str){buf, (size_t)n}, &event) == 0)) {
        CHECK_STR(event.action, "change");
        CHECK_STR(event.devpath, "/devices/virtual/net/lo");
        CHECK_INT(gtel_uevent_value(&event, GTEL_STR("SUBSYSTEM"), &subsystem), 0);
        CHECK_STR(subsystem, "net");
    }
    CHECK_INT(env->ops->uevent_read(env->arg, handle, buf, sizeof(buf)), -EAGAIN);
    env->ops->uevent_close(env->arg, handle);
}

enum { HEARD, NOT_HEARD, REFUSED };

/* In a process of its own, which is left in the namespace: its status, and the errno beside it. */
static int hear_in_namespace(const char *dir, int *ret_error)
{
    int ends[2];
    int status = 0;
    int error = 0;
    if (pipe(ends) < 0)
        return NOT_HEARD;
    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        struct gtel_env env;
        error = enter_namespace(dir);
        if (write(ends[1], &error, sizeof(error)) != (ssize_t)sizeof(error))
            _exit(NOT_HEARD);
        if (error != 0)
            _exit(REFUSED);
        if (CHECK(gtel_env_posix_init("/", &env) == 0))
            hear_change(&env, dir);
        (void)fflush(stdout);
        _exit(test_has_failed() ? NOT_HEARD : HEARD);
    }
    (void)close(ends[1]);
    if (read(ends[0], ret_error, sizeof(*ret_error)) != (ssize_t)sizeof(*ret_error))
        *ret_error = 0;
    (void)close(ends[0]);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return NOT_HEARD;
    return WEXITSTATUS(status);
}

static void test_change(void)
{
    char dir[] = "/tmp/gtel-netlink-XXXXXX";
    int error = 0;
    if (!CHECK(mkdtemp(dir)))
        return;
    int heard = hear_in_namespace(dir, &error);
    if (heard == REFUSED)
        test_refused("a network namespace with its own /sys", error);
    else
        CHECK_INT(heard, HEARD);
    (void)rmdir(dir);
}

static void test_machine(void)
{
    struct gtel_env env;
    char buf[8192];
    if (!CHECK(0 == gtel_env_posix_init("/", &env)))
        return;
    int handle = gtel_env_uevent_open(&env);
    /* A sandbox may refuse the socket, or have no such messages. */
    CHECK(handle >= 0 || handle == -EPERM || handle == -EACCES || handle == -EAFNOSUPPORT ||
          handle == -EPROTONOSUPPORT || handle == -EOPNOTSUPP);
    if (handle < 0)
        test_refused("messages about devices", -handle);
    for (int i = 0; i < 100000 && handle >= 0; i++) {
        struct gtel_uevent event;
        int64_t n = env.ops->uevent_read(env.arg, handle, buf, sizeof(buf));
        if (n < 0) {
            CHECK(n == -EAGAIN || n == -ENOBUFS);
            break;
        }
        CHECK_INT(gtel_uevent_parse((struct gtel_str){buf, (size_t)n}, &event), 0);
    }
    if (handle >= 0)
        env.ops->uevent_close(env.arg, handle);
    test_ras(&env);
    gtel_env_posix_done(&env);
}

/* A directory that looks like a machine has nothing to hear. */
static void test_directory(void)
{
    struct gtel_env env;
    if (!CHECK(0 == gtel_env_posix_init(TEST_DIR, &env)))
        return;
    size_t n;
    CHECK_INT(gtel_env_uevent_open(&env), -EOPNOTSUPP);
    CHECK_INT(gtel_env_ras_read(&env, "", NULL, 0, &n), -EOPNOTSUPP);
    gtel_env_posix_done(&env);
}

int main(void)
{
    test_messages();
    test_requests();
    test_families();
    test_machine();
    test_change();
    test_directory();
    return test_result();
}
