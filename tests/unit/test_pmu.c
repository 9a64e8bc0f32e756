/* SPDX-License-Identifier: MIT */
/*
 * Groups of perf counters: of this machine, and of recorded ones. A CPU as a whole may be counted
 * with a right only, the test's own process without any where perf_event_paranoid is at most 2;
 * what the machine refuses is reported, and test_pmu_exchange.c shows the rest without its leave.
 */
#include "host/env_posix.h"
#include "recording/tree.h"
#include "harness/refused.h"
#include "harness/test.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SOFTWARE = PERF_TYPE_SOFTWARE, CLOCK = PERF_COUNT_SW_CPU_CLOCK };

static void test_machine(void)
{
    static const uint64_t configs[2] = {CLOCK, CLOCK};
    struct gtel_env env;
    uint64_t first[2] = {0};
    uint64_t second[2] = {0};
    uint64_t first_ns = 0;
    uint64_t second_ns = 0;
    if (!CHECK(gtel_env_posix_init("/", &env) == 0))
        return;
    int r = gtel_env_pmu_open(&env, SOFTWARE, configs, 2, 0);
    if (r < 0) {
        CHECK(r == -EACCES || r == -EPERM || r == -EOPNOTSUPP || r == -ENOENT);
        test_refused("perf events of a whole CPU", -r);
    } else {
        CHECK_INT(env.ops->pmu_read(env.arg, r, first, 2, &first_ns), 0);
        CHECK_INT(env.ops->pmu_read(env.arg, r, second, 2, &second_ns), 0);
        CHECK(second_ns > first_ns);
        CHECK(second[0] > first[0] && second[1] > first[1]);
        CHECK_INT(env.ops->pmu_read(env.arg, r, first, 1, &first_ns), -EBADF);
        env.ops->pmu_close(env.arg, r);
        CHECK_INT(env.ops->pmu_read(env.arg, r, first, 2, &first_ns), -EBADF);
    }
    CHECK_INT(gtel_env_pmu_open(&env, SOFTWARE, configs, 0, 0), -EINVAL);
    CHECK_INT(env.ops->pmu_read(env.arg, -1, first, 2, &first_ns), -EBADF);
    env.ops->pmu_close(env.arg, 12);
    gtel_env_posix_done(&env);
    if (!CHECK(gtel_env_posix_init(TEST_DIR, &env) == 0))
        return;
    CHECK_INT(gtel_env_pmu_open(&env, SOFTWARE, configs, 2, 0), -EOPNOTSUPP);
    gtel_env_posix_done(&env);
}

/* A counter of this process and of its own work alone: what is read has the form of a CPU's. */
static int open_own(int leader)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof(attr));
    attr.size = sizeof(attr);
    attr.type = SOFTWARE;
    attr.config = PERF_COUNT_SW_TASK_CLOCK;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_GROUP;
    long fd = syscall(SYS_perf_event_open, &attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

static void work(void)
{
    volatile uint64_t left = 3000000;
    while (left > 0)
        left = left - 1;
}

static void test_own(void)
{
    struct gtel_env_posix pmu = {0};
    uint64_t first[2] = {0};
    uint64_t second[2] = {0};
    uint64_t first_ns = 0;
    uint64_t second_ns = 0;
    int leader = open_own(-1);
    int other = leader < 0 ? leader : open_own(leader);
    if (other < 0) {
        CHECK(other == -EACCES || other == -EPERM || other == -ENOSYS);
        test_refused("perf events of the test itself", -other);
        return;
    }
    pmu.group[0].fd = calloc(2, sizeof(int));
    if (!CHECK(pmu.group[0].fd))
        return;
    pmu.group[0].fd[0] = leader;
    pmu.group[0].fd[1] = other;
    pmu.group[0].n = 2;
    CHECK_INT(gtel_pmu_posix_read(&pmu, 0, first, 2, &first_ns), 0);
    work();
    CHECK_INT(gtel_pmu_posix_read(&pmu, 0, second, 2, &second_ns), 0);
    CHECK(second_ns > first_ns && second[0] > first[0] && second[1] > first[1]);
    /* A process cannot work longer than it runs. */
    CHECK(second[0] - first[0] <= second_ns - first_ns + 1000000);
    gtel_pmu_posix_close(&pmu, 0);
    CHECK_INT(gtel_pmu_posix_read(&pmu, 0, first, 2, &first_ns), -EBADF);
    gtel_pmu_posix_done(&pmu);
}

static const char machine[] = "file sys/bus/event_source/devices/i915/type\n| 12\n"
                              "pmu i915 0x1000 5 1e9\npmu i915 2 7 0\n"
                              "at 1s\npmu_error i915 EACCES\n"
                              "at 2s\npmu_error i915 none\npmu i915 0x1000 9 5e8\nend\n";

static void test_tree(void)
{
    static const uint64_t configs[2] = {0x1000, 2};
    static const uint64_t other[1] = {3};
    struct gtel_tree *tree;
    struct gtel_env env;
    char error[200];
    uint64_t value[2] = {0};
    uint64_t before_ns = 0;
    uint64_t now_ns = 0;
    if (!CHECK(gtel_tree_parse(gtel_str_of(machine), &tree, error, sizeof(error)) == 0))
        return;
    CHECK_INT(gtel_env_tree_init(tree, true, 0, &env), 0);
    int r = gtel_env_pmu_open(&env, 12, configs, 2, 0);
    CHECK(r >= 0);
    CHECK_INT(gtel_env_pmu_open(&env, 12, other, 1, 0), -ENODEV);
    CHECK_INT(gtel_env_pmu_open(&env, 13, configs, 2, 0), -ENOENT);
    CHECK_INT(env.ops->pmu_read(env.arg, r, value, 2, &before_ns), 0);
    CHECK(value[0] == 5 && value[1] == 7 && before_ns > 0);
    gtel_env_tree_step(&env, 1500000000);
    CHECK_INT(env.ops->pmu_read(env.arg, r, value, 2, &now_ns), 0);
    CHECK(value[0] == 1500000005 && value[1] == 7 && now_ns - before_ns == 1500000000);
    CHECK_INT(gtel_env_pmu_open(&env, 12, configs, 2, 0), -EACCES);
    gtel_env_tree_step(&env, 1500000000);
    CHECK_INT(env.ops->pmu_read(env.arg, r, value, 2, &now_ns), 0);
    CHECK_INT(value[0], 500000009);
    env.ops->pmu_close(env.arg, r);
    CHECK_INT(env.ops->pmu_read(env.arg, r, value, 2, &now_ns), -EBADF);
    CHECK(gtel_env_pmu_open(&env, 12, configs, 2, 0) >= 0);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
}

int main(void)
{
    test_machine();
    test_own();
    test_tree();
    return test_result();
}
