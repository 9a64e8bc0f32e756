/* SPDX-License-Identifier: MIT */
/* Rights beyond those of the user who starts the program: in processes that have some. */
#include "execd/privileges.h"
#include "harness/refused.h"
#include "harness/test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534, SETS = _LINUX_CAPABILITY_U32S_3 };

static bool refuses_drop;

int __wrap_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d);

int __wrap_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
    if (refuses_drop && option == PR_SET_NO_NEW_PRIVS) {
        errno = EPERM;
        return -1;
    }
    return (int)syscall(SYS_prctl, option, a, b, c, d);
}

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0000);
    bool is_written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        (void)close(fd);
    return is_written;
}

static void read_sets(struct __user_cap_data_struct *sets)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    CHECK_INT(syscall(SYS_capget, &header, sets), 0);
}

static bool has_any(bool is_effective)
{
    struct __user_cap_data_struct sets[SETS] = {{0}};
    uint32_t bits = 0;
    read_sets(sets);
    for (int i = 0; i < SETS; i++)
        bits |= is_effective ? sets[i].effective : sets[i].permitted | sets[i].inheritable;
    return bits != 0;
}

static bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    bool is_written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        (void)close(fd);
    return is_written;
}

/* A user namespace in which this user and its group stay what they are. */
static int enter_namespace(void)
{
    char uid_map[64];
    char gid_map[64];
    (void)snprintf(uid_map, sizeof(uid_map), "%u %u 1", (unsigned)getuid(), (unsigned)getuid());
    (void)snprintf(gid_map, sizeof(gid_map), "%u %u 1", (unsigned)getgid(), (unsigned)getgid());
    if (unshare(CLONE_NEWUSER) < 0)
        return errno;
    bool is_mapped = write_text("/proc/self/uid_map", uid_map) &&
                     write_text("/proc/self/setgroups", "deny") &&
                     write_text("/proc/self/gid_map", gid_map);
    return is_mapped ? 0 : EPERM;
}

static int leave_root(void)
{
    if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
        setresuid(NOBODY, NOBODY, NOBODY) < 0)
        return errno;
    return 0;
}

/* Makes this process one that has capabilities and is not root's. 0 or a positive errno. */
static int raise_rights(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[SETS] = {{0}};
    int error = getuid() == 0 ? leave_root() : enter_namespace();
    if (error != 0)
        return error;
    read_sets(sets);
    for (int i = 0; i < SETS; i++)
        sets[i].effective = sets[i].permitted;
    return syscall(SYS_capset, &header, sets) < 0 ? errno : 0;
}

static bool can_read(const char *path)
{
    int fd = open(path, O_RDONLY);
    if (fd >= 0)
        (void)close(fd);
    return fd >= 0;
}

static void test_raised(const char *secret)
{
    struct gtel_privileges privileges;
    CHECK_INT(setenv("ZE_ENABLE_ALT_DRIVERS", "/tmp/driver.so", 1), 0);
    CHECK_INT(gtel_privileges_init(&privileges), 0);
    CHECK(privileges.is_raised);
    CHECK(!getenv("ZE_ENABLE_ALT_DRIVERS"));
    CHECK(getenv("PATH") != NULL);
    CHECK_INT(setenv("PATH", "/bin", 1), 0); /* libraries may change what is there, too */
    CHECK_INT(setenv("OWN", "1", 1), 0);     /* as old loaders of Level Zero need */
    CHECK(getenv("OWN") != NULL);

    CHECK(can_read(secret));
    CHECK_INT(gtel_privileges_pause(&privileges), 0);
    CHECK(!has_any(true));
    CHECK(has_any(false));
    CHECK(!can_read(secret));
    CHECK_INT(gtel_privileges_resume(&privileges), 0);
    CHECK(can_read(secret));

    /* What could not be done to the end is said, so that nothing of the user is opened. */
    refuses_drop = true;
    CHECK_INT(gtel_privileges_drop(&privileges), -EPERM);
    CHECK(privileges.is_raised);
    refuses_drop = false;
    CHECK_INT(gtel_privileges_drop(&privileges), 0);
    CHECK(!privileges.is_raised);
    CHECK(!has_any(true));
    CHECK(!has_any(false));
    CHECK(!can_read(secret));
    CHECK_INT(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1);
    CHECK_INT(gtel_privileges_resume(&privileges), 0);
    CHECK(!has_any(true));
}

/* What was effective at the start is so again, and no more. */
static void test_permitted_only(void)
{
    struct gtel_privileges privileges;
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[SETS] = {{0}};
    read_sets(sets);
    for (int i = 0; i < SETS; i++)
        sets[i].effective = 0;
    CHECK_INT(syscall(SYS_capset, &header, sets), 0);
    CHECK_INT(gtel_privileges_init(&privileges), 0);
    CHECK(privileges.is_raised);
    CHECK_INT(gtel_privileges_pause(&privileges), 0);
    CHECK_INT(gtel_privileges_resume(&privileges), 0);
    CHECK(!has_any(true));
}

/* A user without any, or root: nothing changes. */
static void test_plain(void)
{
    struct gtel_privileges privileges;
    CHECK_INT(setenv("PLAIN", "1", 1), 0);
    CHECK_INT(gtel_privileges_init(&privileges), 0);
    CHECK(!privileges.is_raised);
    CHECK(getenv("PLAIN") != NULL);
    bool had = has_any(true);
    CHECK_INT(gtel_privileges_pause(&privileges), 0);
    CHECK_INT(gtel_privileges_drop(&privileges), 0);
    CHECK_INT(has_any(true), had);
}

/* As a set-user-ID program finds itself. */
static void test_set_id(void)
{
    struct gtel_privileges privileges;
    if (getuid() != 0)
        return; /* only root can play it */
    CHECK_INT(setresuid(NOBODY, 0, 0), 0);
    CHECK_INT(gtel_privileges_init(&privileges), -EPERM);
}

/* Each in a process of its own: what is given up does not come back. */
static void in_child(const char *label, void (*fn)(void *), void *arg)
{
    int status = -1;
    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        test_label = label;
        fn(arg);
        (void)fflush(stdout);
        _exit(test_has_failed() ? 1 : 0);
    }
    test_label = label;
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK_INT(status, 0);
}

static void run_raised(void *arg)
{
    int error = raise_rights();
    if (error != 0)
        test_refused("capabilities without being root", error);
    else
        test_raised(arg);
}

static void run_permitted_only(void *arg)
{
    (void)arg;
    if (raise_rights() == 0) /* else run_raised has said so */
        test_permitted_only();
}

static void run_plain(void *arg)
{
    (void)arg;
    test_plain();
}

static void run_set_id(void *arg)
{
    (void)arg;
    test_set_id();
}

int main(void)
{
    char dir[] = "/tmp/gtel-privileges-XXXXXX";
    char secret[sizeof(dir) + 16];
    if (!CHECK(mkdtemp(dir) != NULL))
        return test_result();
    CHECK_INT(chmod(dir, 0755), 0);
    (void)snprintf(secret, sizeof(secret), "%s/secret", dir);
    CHECK(write_file(secret, "secret\n"));
    in_child("raised", run_raised, secret);
    in_child("permitted only", run_permitted_only, NULL);
    in_child("plain", run_plain, NULL);
    in_child("set-user-ID", run_set_id, NULL);
    CHECK_INT(unlink(secret), 0);
    CHECK_INT(rmdir(dir), 0);
    return test_result();
}
