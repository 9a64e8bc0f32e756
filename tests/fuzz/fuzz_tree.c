/* SPDX-License-Identifier: MIT */
/* Recorded machines: any bytes give a machine that can be walked at any time, or a message. */
#include "fuzz.h"

#include "host/fs.h"
#include "recording/tree.h"

#include <stdlib.h>

struct walk {
    struct gtel_env *env;
    size_t left;
};

static int see(void *arg, struct gtel_str name)
{
    struct walk *walk = arg;
    char path[GTEL_FS_PATH_MAX];
    char buf[64];
    struct gtel_str text;
    if (walk->left-- == 0)
        return 1;
    (void)gtel_fs_path(path, "%.*s", GTEL_STR_ARG(name));
    (void)gtel_fs_text(walk->env, path, buf, sizeof(buf), &text);
    (void)gtel_fs_link_name(walk->env, path, buf, sizeof(buf), &text);
    return 0;
}

static void ask(const struct gtel_env *env)
{
    unsigned char answer[100];
    int64_t n =
        gtel_env_drm_query(env, "dev/dri/renderD128", GTEL_DRM_XE, 1, answer, sizeof(answer));
    FUZZ_CHECK(n <= (int64_t)sizeof(answer));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gtel_tree *tree = NULL;
    struct gtel_env env;
    char error[64];
    struct gtel_str text = {(const char *)data, size};
    if (gtel_tree_parse(text, &tree, error, sizeof(error)) < 0)
        return 0;
    if (gtel_env_tree_init(tree, true, 0, &env) == 0) {
        for (int i = 0; i < 3; i++) {
            struct walk walk = {&env, 50};
            (void)env.ops->dir_list(env.arg, "", see, &walk);
            (void)env.ops->dir_list(env.arg, "a", see, &walk);
            ask(&env);
            gtel_env_tree_step(&env, 1500000000);
        }
        gtel_tree_seek(tree, 0);
        gtel_env_tree_done(&env);
    }
    gtel_tree_free(tree);
    return 0;
}
