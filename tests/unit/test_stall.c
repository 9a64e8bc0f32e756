/* SPDX-License-Identifier: MIT */
/* Sampling stalls of xe GPUs: of this machine as far as it goes, and of recorded ones. */
#include "recording/tree.h"
#include "parse/eu_stall.h"
#include "harness/test.h"
#include "harness/tree_stall.h"

#include <errno.h>

static const char node[] = "dev/dri/renderD128";

/* No machine that runs tests has such a GPU for sure; a node that is none answers no such call. */
static void test_machine(void)
{
    struct gtel_env env;
    if (!CHECK(gtel_env_posix_init("/", &env) == 0))
        return;
    CHECK_INT(gtel_env_stall_open(&env, "dev/null", 0, 1757), -EOPNOTSUPP);
    CHECK_INT(gtel_env_stall_open(&env, "dev/dri/none", 0, 1757), -ENOENT);
    gtel_env_posix_done(&env);
    if (!CHECK(gtel_env_posix_init(TEST_DIR, &env) == 0))
        return;
    CHECK_INT(gtel_env_stall_open(&env, node, 0, 1757), -EOPNOTSUPP);
    gtel_env_posix_done(&env);
}

static const char machine[] = "call stall dev/dri/renderD128 0 = xe2 | 1 2 3 4 5 6 7 8 9 10 | 255 "
                              "| next | lost | next | 0 1\n"
                              "call stall_error dev/dri/renderD128 1 = EACCES\n"
                              "call stall dev/dri/renderD128 2 = pvc | 1 2 3 4\n"
                              "at 1s\n"
                              "call stall dev/dri/renderD128 0 = xe2 | reset\n"
                              "call stall_error dev/dri/renderD128 1 = none\n"
                              "call stall dev/dri/renderD128 1 = xe3p\n"
                              "end\n";

/* The sums of one read, or what it says. */
static int64_t read_sums(const struct gtel_env *env, int handle, enum gtel_eu_stall_layout layout,
                         struct gtel_eu_stall_sums *sums)
{
    unsigned char bytes[1024];
    *sums = (struct gtel_eu_stall_sums){{0}};
    int64_t n = env->ops->stall_read(env->arg, handle, bytes, sizeof(bytes));
    if (n > 0)
        CHECK_INT(gtel_eu_stall_add(layout, bytes, (size_t)n, sums), 0);
    return n;
}

static void test_recorded(void)
{
    struct gtel_tree *tree;
    struct gtel_env env;
    struct gtel_eu_stall_sums sums;
    char error[100] = "";
    unsigned char bytes[100];
    if (!CHECK(gtel_tree_parse(gtel_str_of(machine), &tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0)) {
        printf("    %s\n", error);
        return;
    }
    CHECK_INT(gtel_env_stall_open(&env, node, 0, 1757), -EOPNOTSUPP); /* not by the program */
    tree_stall_play(&env, tree);
    int h = gtel_env_stall_open(&env, node, 0, 1757);
    CHECK(h >= 0);
    CHECK_INT(gtel_env_stall_open(&env, node, 0, 1757), -EBUSY);
    CHECK_INT(gtel_env_stall_open(&env, node, 1, 1757), -EACCES);
    CHECK_INT(gtel_env_stall_open(&env, node, 3, 1757), -EOPNOTSUPP);
    CHECK_INT(read_sums(&env, h, GTEL_EU_STALL_XE2, &sums), 128);
    CHECK_INT(sums.count[GTEL_EU_STALL_ACTIVE], 256);
    CHECK_INT(sums.count[GTEL_EU_STALL_PSDEP], 2);
    CHECK_INT(sums.count[GTEL_EU_STALL_INSTRFETCH], 10);
    CHECK_INT(read_sums(&env, h, GTEL_EU_STALL_XE2, &sums), -ENOBUFS);
    CHECK_INT(read_sums(&env, h, GTEL_EU_STALL_XE2, &sums), 64);
    CHECK_INT(read_sums(&env, h, GTEL_EU_STALL_XE2, &sums), 64);
    CHECK_INT(sums.count[GTEL_EU_STALL_PSDEP], 1);
    int pvc = gtel_env_stall_open(&env, node, 2, 251);
    CHECK_INT(read_sums(&env, pvc, GTEL_EU_STALL_PVC, &sums), 64);
    CHECK_INT(sums.count[GTEL_EU_STALL_PSDEP], 0);
    CHECK_INT(sums.count[GTEL_EU_STALL_CONTROL], 4);
    gtel_env_tree_step(&env, 1000000000);
    CHECK_INT(env.ops->stall_read(env.arg, h, bytes, sizeof(bytes)), -ENODEV);
    env.ops->stall_close(env.arg, h);
    CHECK_INT(env.ops->stall_read(env.arg, h, bytes, sizeof(bytes)), -EBADF);
    h = gtel_env_stall_open(&env, node, 1, 1757);
    CHECK(h >= 0);
    CHECK_INT(env.ops->stall_read(env.arg, h, bytes, sizeof(bytes)), 0);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
}

int main(void)
{
    test_machine();
    test_recorded();
    return test_result();
}
