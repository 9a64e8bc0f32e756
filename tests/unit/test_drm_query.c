/* SPDX-License-Identifier: MIT */
/* Queries to DRM drivers: of this machine as far as it goes, and of recorded ones. */
#include "host/drm.h"
#include "recording/tree.h"
#include "harness/test.h"

#include <errno.h>

static const char node[] = "dev/dri/renderD128";

/* No machine that runs tests has a GPU for sure; a node that is none answers no such call. */
static void test_machine(void)
{
    struct gtel_env env;
    unsigned char answer[64];
    if (!CHECK(gtel_env_posix_init("/", &env) == 0))
        return;
    CHECK_INT(gtel_env_drm_query(&env, "dev/null", GTEL_DRM_I915, 4, answer, 64), -ENOTTY);
    CHECK_INT(gtel_env_drm_query(&env, "dev/null", GTEL_DRM_XE, 0, answer, 64), -ENOTTY);
    CHECK_INT(gtel_env_drm_query(&env, "dev/dri/none", GTEL_DRM_XE, 0, answer, 64), -ENOENT);
    gtel_env_posix_done(&env);
    if (!CHECK(gtel_env_posix_init(TEST_DIR, &env) == 0))
        return;
    CHECK_INT(gtel_env_drm_query(&env, node, GTEL_DRM_XE, 0, answer, 64), -EOPNOTSUPP);
    gtel_env_posix_done(&env);
}

static const char machine[] = "query dev/dri/renderD128 xe 0\n"
                              "| 4:1 4:0\n"
                              "| 2:4 2:3 2:2 2:0 24:0\n"
                              "query dev/dri/renderD128 xe 1\n"
                              "| 4:1 4:0\n"
                              "| 2:1 2:1 4:4096 8:4096 8:1024 8:4096 8:1024 48:0\n"
                              "query dev/dri/renderD129 i915 4\n"
                              "| 4:1 12:0\n"
                              "| 2:1 2:0 4:0 8:4096 8:1024 8:4096 8:1024 48:0\n"
                              "at 1s\n"
                              "query_error dev/dri/renderD128 xe 1 ECANCELED\n"
                              "at 2s\n"
                              "query dev/dri/renderD128 xe 1\n"
                              "| 4:0 4:0\n"
                              "query dev/dri/renderD128 xe 0\n"
                              "query dev/dri/renderD129 i915 4\n"
                              "at 3s\n"
                              "query_error dev/dri/renderD128 xe 1 none\n"
                              "query dev/dri/renderD129 i915 4\n"
                              "| 8192:0\n"
                              "end\n";

static void check_first(const struct gtel_env *env)
{
    struct gtel_xe_engine engine[1] = {{0}};
    struct gtel_drm_regions regions = {0};
    size_t length = 0;
    size_t n = 0;
    CHECK_INT(gtel_drm_xe_engines(env, node, engine, 1, &n), 0);
    CHECK_INT(n, 1);
    CHECK(engine[0].engine_class == 4 && engine[0].instance == 3 && engine[0].gt == 2);
    CHECK_INT(gtel_drm_xe_engines(env, node, engine, 0, &n), -E2BIG);
    CHECK_INT(gtel_drm_xe_engines(env, "dev/dri/renderD129", engine, 1, &n), -ENOENT);
    CHECK_INT(gtel_drm_regions(env, node, GTEL_DRM_XE, &length, &regions), 0);
    CHECK(regions.n == 1 && regions.region[0].used == 1024);
    CHECK_INT(gtel_drm_regions(env, node, GTEL_DRM_I915, &length, &regions), -ENOENT);
    CHECK_INT(gtel_drm_regions(env, "dev/dri/renderD129", GTEL_DRM_I915, &length, &regions), 0);
    CHECK(regions.n == 1 && regions.region[0].used == 3072);
}

static void check_later(struct gtel_env *env)
{
    struct gtel_drm_regions regions = {0};
    size_t length = 0;
    struct gtel_xe_engine engine[1] = {{0}};
    size_t n = 0;
    gtel_env_tree_step(env, 1000000000);
    length = 40;
    CHECK_INT(gtel_drm_regions(env, node, GTEL_DRM_XE, &length, &regions), -ECANCELED);
    CHECK_INT(length, 0);
    gtel_env_tree_step(env, 1000000000); /* an answer does not end an error */
    CHECK_INT(gtel_drm_regions(env, node, GTEL_DRM_XE, &length, &regions), -ECANCELED);
    CHECK_INT(gtel_drm_regions(env, "dev/dri/renderD129", GTEL_DRM_I915, &length, &regions),
              -EINVAL);
    CHECK_INT(gtel_drm_xe_engines(env, node, engine, 1, &n), -EINVAL); /* an empty answer */
    gtel_env_tree_step(env, 1000000000);
    CHECK_INT(gtel_drm_regions(env, node, GTEL_DRM_XE, &length, &regions), 0);
    CHECK_INT(regions.n, 0);
    CHECK_INT(gtel_drm_regions(env, "dev/dri/renderD129", GTEL_DRM_I915, &length, &regions),
              -E2BIG);
}

static void test_tree(void)
{
    struct gtel_tree *tree;
    struct gtel_env env;
    char error[200];
    if (!CHECK(gtel_tree_parse(gtel_str_of(machine), &tree, error, sizeof(error)) == 0)) {
        printf("    %s\n", error);
        return;
    }
    CHECK_INT(gtel_env_tree_init(tree, true, 0, &env), 0);
    check_first(&env);
    check_later(&env);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
}

int main(void)
{
    test_machine();
    test_tree();
    return test_result();
}
