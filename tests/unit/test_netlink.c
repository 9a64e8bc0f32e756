/* SPDX-License-Identifier: MIT */
/* Listening to this machine: what can be tested without making a device speak. */
#include "host/env.h"
#include "parse/uevent.h"
#include "test.h"

#include <errno.h>

static void test_machine(void)
{
    struct gtel_env env;
    char buf[8192];
    if (!CHECK(0 == gtel_env_posix_init("/", &env)))
        return;
    int handle = env.ops->uevent_open(env.arg);
    /* A sandbox may refuse the socket, or have no such messages. */
    CHECK(handle >= 0 || handle == -EPERM || handle == -EACCES || handle == -EAFNOSUPPORT ||
          handle == -EPROTONOSUPPORT || handle == -EOPNOTSUPP);
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
    gtel_env_posix_done(&env);
}

/* A directory that looks like a machine has nothing to hear. */
static void test_directory(void)
{
    struct gtel_env env;
    if (!CHECK(0 == gtel_env_posix_init(TEST_DIR, &env)))
        return;
    CHECK_INT(env.ops->uevent_open(env.arg), -EOPNOTSUPP);
    gtel_env_posix_done(&env);
}

int main(void)
{
    test_machine();
    test_directory();
    return test_result();
}
