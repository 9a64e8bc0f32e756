/* SPDX-License-Identifier: MIT */
/* Groups of perf counters: of this machine where that is allowed, and of recorded ones. */
#include "host/tree.h"
#include "test.h"

#include <errno.h>
#include <string.h>

enum { SOFTWARE = 1 }; /* PERF_TYPE_SOFTWARE (perf_event_open(2)); config 0: the CPU's clock */

static void test_machine(void)
{
    static const uint64_t configs[2] = {0, 0};
    struct gtel_env env;
    uint64_t first[2] = {0};
    uint64_t second[2] = {0};
    uint64_t first_ns = 0;
    uint64_t second_ns = 0;
    if (!CHECK(gtel_env_posix_init("/", &env) == 0))
        return;
    int r = env.ops->pmu_open(env.arg, SOFTWARE, configs, 2, 0);
    if (r < 0) {
        CHECK(r == -EACCES || r == -EPERM || r == -EOPNOTSUPP || r == -ENOENT);
    } else {
        CHECK_INT(env.ops->pmu_read(env.arg, r, first, 2, &first_ns), 0);
        CHECK_INT(env.ops->pmu_read(env.arg, r, second, 2, &second_ns), 0);
        CHECK(second_ns > first_ns);
        CHECK(second[0] > first[0] && second[1] > first[1]);
        CHECK_INT(env.ops->pmu_read(env.arg, r, first, 1, &first_ns), -EBADF);
        env.ops->pmu_close(env.arg, r);
        CHECK_INT(env.ops->pmu_read(env.arg, r, first, 2, &first_ns), -EBADF);
    }
    CHECK_INT(env.ops->pmu_open(env.arg, SOFTWARE, configs, 0, 0), -EINVAL);
    CHECK_INT(env.ops->pmu_read(env.arg, -1, first, 2, &first_ns), -EBADF);
    env.ops->pmu_close(env.arg, 12);
    gtel_env_posix_done(&env);
    if (!CHECK(gtel_env_posix_init(TEST_DIR, &env) == 0))
        return;
    CHECK_INT(env.ops->pmu_open(env.arg, SOFTWARE, configs, 2, 0), -EOPNOTSUPP);
    gtel_env_posix_done(&env);
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
    int r = env.ops->pmu_open(env.arg, 12, configs, 2, 0);
    CHECK(r >= 0);
    CHECK_INT(env.ops->pmu_open(env.arg, 12, other, 1, 0), -ENODEV);
    CHECK_INT(env.ops->pmu_open(env.arg, 13, configs, 2, 0), -ENOENT);
    CHECK_INT(env.ops->pmu_read(env.arg, r, value, 2, &before_ns), 0);
    CHECK(value[0] == 5 && value[1] == 7 && before_ns > 0);
    gtel_env_tree_step(&env, 1500000000);
    CHECK_INT(env.ops->pmu_read(env.arg, r, value, 2, &now_ns), 0);
    CHECK(value[0] == 1500000005 && value[1] == 7 && now_ns - before_ns == 1500000000);
    CHECK_INT(env.ops->pmu_open(env.arg, 12, configs, 2, 0), -EACCES);
    gtel_env_tree_step(&env, 1500000000);
    CHECK_INT(env.ops->pmu_read(env.arg, r, value, 2, &now_ns), 0);
    CHECK_INT(value[0], 500000009);
    env.ops->pmu_close(env.arg, r);
    CHECK_INT(env.ops->pmu_read(env.arg, r, value, 2, &now_ns), -EBADF);
    CHECK(env.ops->pmu_open(env.arg, 12, configs, 2, 0) >= 0);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
}

int main(void)
{
    test_machine();
    test_tree();
    return test_result();
}
