/* SPDX-License-Identifier: MIT */
/* Programs that an env starts: what they get, what is read of them, and that they end. */
#include "host/env.h"
#include "harness/played_tool.h"
#include "harness/test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint64_t ms = 1000000;

/* Reads until the end or an error; how much came, or a negative errno. */
static int64_t read_all(const struct gtel_env *env, int handle, char *buf, size_t size,
                        uint64_t limit)
{
    size_t got = 0;
    uint64_t end = gtel_env_now(env) + limit;
    while (gtel_env_now(env) < end) {
        int64_t n = env->ops->child_read(env->arg, handle, buf + got, size - got, 20 * ms);
        if (n == 0)
            return (int64_t)got;
        if (n < 0 && n != -EAGAIN)
            return n;
        got += n > 0 ? (size_t)n : 0;
    }
    return -ETIMEDOUT;
}

/* What it does was said before. */
static int start_again(const struct gtel_env *env, const struct played_tools *tools)
{
    char path[TOOL_PATH_MAX];
    const char *const args[] = {played_tool(tools, "tool", path), "metric", "--json", NULL};
    return gtel_env_child_start(env, args);
}

static int start(const struct gtel_env *env, const struct played_tools *tools, const char *how,
                 const char *text)
{
    played_tool_says(tools, "tool", "metric", how, gtel_str_of(text));
    return start_again(env, tools);
}

static void test_modes(const struct gtel_env *env, const struct played_tools *tools)
{
    static const struct {
        const char *how;
        int64_t got;
        int status;
    } cases[] = {
        {"0 plain", 5, 0},           {"3 plain", 5, 3},
        {"0 hang", -ETIMEDOUT, 265}, {"0 close", -ETIMEDOUT, 265},
        {"0 stderr", 5, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char buf[100];
        test_label = cases[i].how;
        int handle = start(env, tools, cases[i].how, "hello");
        if (!CHECK(handle >= 0))
            continue;
        uint64_t limit = (cases[i].got < 0 ? 200 : 10000) * ms;
        CHECK_INT(read_all(env, handle, buf, sizeof(buf), limit), cases[i].got);
        CHECK_INT(env->ops->child_end(env->arg, handle), cases[i].status);
        CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD); /* nothing is left */
    }
    test_label = "";
}

/* More than a pipe holds, in small pieces. */
static void test_many(const struct gtel_env *env, const struct played_tools *tools)
{
    char buf[1000];
    size_t got = 0;
    int handle = start(env, tools, "0 many", "0123456789");
    while (handle >= 0 && got < 3000000) {
        int64_t n = env->ops->child_read(env->arg, handle, buf, sizeof(buf), 1000 * ms);
        if (!CHECK(n > 0))
            break;
        got += (size_t)n;
    }
    CHECK_INT(env->ops->child_end(env->arg, handle), 256 + SIGKILL);
}

/* A clean environment, no other descriptors, a group of its own. */
static void test_inside(const struct gtel_env *env, const struct played_tools *tools)
{
    char buf[4096];
    int extra = open("/dev/null", O_RDONLY); /* as an agent may have left one open */
    CHECK_INT(setenv("LD_PRELOAD_NOT", "x", 1), 0);
    int handle = start(env, tools, "0 inside", "");
    int64_t n = read_all(env, handle, buf, sizeof(buf), 10000 * ms);
    CHECK_INT(env->ops->child_end(env->arg, handle), 0);
    (void)close(extra);
    if (CHECK(n > 0))
        CHECK_STR(((struct gtel_str){buf, (size_t)n}),
                  "environment LC_ALL=C\nenvironment PATH=/usr/bin:/bin\n"
                  "argument metric\nargument --json\n"
                  "descriptor 0\ndescriptor 1\ndescriptor 2\ngroup own\n");
}

/* What it has started ends with it, also when it has ended itself. */
static void test_family(const struct gtel_env *env, const struct played_tools *tools)
{
    char path[TOOL_PATH_MAX];
    char text[32] = "";
    char buf[100];
    int handle = start(env, tools, "0 family", "hello");
    CHECK_INT(read_all(env, handle, buf, sizeof(buf), 500 * ms),
              -ETIMEDOUT); /* its output is held open */
    CHECK_INT(env->ops->child_end(env->arg, handle), 0);
    FILE *file = fopen(played_tool(tools, "tool.child", path), "r");
    CHECK(file && fgets(text, sizeof(text), file));
    if (file)
        (void)fclose(file);
    uint64_t pid = 0;
    CHECK_INT(gtel_str_u64(gtel_str_trim(gtel_str_of(text)), &pid), 0);
    bool is_gone = false;
    for (int i = 0; i < 200 && !is_gone; i++) { /* it is another process's to reap */
        char stat[64];
        char state[128] = "";
        (void)snprintf(stat, sizeof(stat), "/proc/%d/stat", (int)pid);
        file = fopen(stat, "r");
        is_gone = !file || !fgets(state, sizeof(state), file) || strstr(state, ") Z ");
        if (file)
            (void)fclose(file);
        (void)usleep(10000);
    }
    CHECK(is_gone);
}

/* What this process may hand down (capabilities(7), ambient) is gone before a program starts. */
static void test_rights(const struct gtel_env *env, const struct played_tools *tools)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{0}};
    CHECK_INT(syscall(SYS_capget, &head, data), 0);
    data[0].inheritable = data[0].permitted & 1u << CAP_NET_RAW;
    if (data[0].inheritable == 0) /* not root */
        return;
    CHECK_INT(syscall(SYS_capset, &head, data), 0);
    CHECK_INT(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0), 0);
    int handle = start_again(env, tools);
    CHECK(handle >= 0);
    CHECK_INT(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_NET_RAW, 0, 0), 0);
    (void)env->ops->child_end(env->arg, handle);
    data[0].inheritable = 0;
    CHECK_INT(syscall(SYS_capset, &head, data), 0);
}

static void test_none(const struct gtel_env *env, const struct played_tools *tools)
{
    char path[TOOL_PATH_MAX];
    const char *const args[] = {played_tool(tools, "missing", path), NULL};
    struct gtel_env other;
    CHECK_INT(gtel_env_child_start(env, args), -ENOENT);
    CHECK_INT(gtel_env_posix_init("/tmp", &other), 0);
    CHECK_INT(gtel_env_child_start(&other, args), -EOPNOTSUPP);
    gtel_env_posix_done(&other);
    int a = start(env, tools, "0 hang", "");
    int b = start_again(env, tools);
    CHECK(a >= 0 && b >= 0 && a != b);
    CHECK_INT(start_again(env, tools), -EBUSY);
    CHECK_INT(env->ops->child_end(env->arg, b), 256 + SIGKILL);
    /* The other ends with the env. */
}

/* No number of a file is left for the pipe, or one: nothing starts, and nothing stays open. */
static void test_shortage(const struct gtel_env *env, const struct played_tools *tools)
{
    struct rlimit limit;
    int lowest = dup(STDIN_FILENO);
    (void)close(lowest);
    if (!CHECK(lowest > 0) || !CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0))
        return;
    for (rlim_t left = 0; left < 2; left++) {
        const struct rlimit low = {.rlim_cur = (rlim_t)lowest + left, .rlim_max = limit.rlim_max};
        CHECK_INT(setrlimit(RLIMIT_NOFILE, &low), 0);
        CHECK_INT(start_again(env, tools), -EMFILE);
        CHECK_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
    }
    int next = dup(STDIN_FILENO);
    CHECK_INT(next, lowest);
    (void)close(next);
}

int main(void)
{
    struct played_tools tools;
    struct gtel_env env;
    if (!played_tools_init(&tools) || !CHECK(gtel_env_posix_init("/", &env) == 0))
        return 1;
    test_modes(&env, &tools);
    test_many(&env, &tools);
    test_inside(&env, &tools);
    test_family(&env, &tools);
    test_shortage(&env, &tools);
    test_rights(&env, &tools);
    test_none(&env, &tools);
    gtel_env_posix_done(&env);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    played_tools_done(&tools);
    return test_result();
}
