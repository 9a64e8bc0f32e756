/* SPDX-License-Identifier: MIT */
/* Writes a recorded machine as real files. */
#include "harness/tree_files.h"

#include "base/buf.h"
#include "host/fs.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAMES_MAX = 4096 };

static int write_file(const char *path, struct gtel_str text)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return -errno;
    size_t n = text.n > 0 ? fwrite(text.p, 1, text.n, file) : 0;
    n += fwrite("\n", 1, 1, file);
    return fclose(file) == 0 && n == text.n + 1 ? 0 : -EIO;
}

static int expand_entry(const struct gtel_env *env, const char *from, const char *to)
{
    char text[GTEL_FS_TEXT_MAX];
    char target[GTEL_FS_PATH_MAX];
    struct gtel_str content;
    int64_t n = env->ops->link_read(env->arg, from, target, sizeof(target) - 1);
    if (n >= 0) {
        target[n] = '\0';
        return symlink(target, to) < 0 ? -errno : 0;
    }
    int r = gtel_fs_text(env, from, text, sizeof(text), &content);
    return r < 0 ? 0 : write_file(to, content); /* what cannot be read is not there */
}

static int expand_dir(const struct gtel_env *env, const char *from, const char *dir, int depth)
{
    struct gtel_arena arena = {0};
    struct gtel_str *names;
    size_t n;
    int r = gtel_fs_list(env, from, &arena, NAMES_MAX, &names, &n);
    for (size_t i = 0; r == 0 && i < n && depth < 32; i++) {
        char path[GTEL_FS_PATH_MAX];
        char to[2 * GTEL_FS_PATH_MAX];
        char probe[1];
        (void)gtel_fs_path(path, "%s%s%.*s", from, from[0] ? "/" : "", GTEL_STR_ARG(names[i]));
        (void)snprintf(to, sizeof(to), "%s/%s", dir, path);
        bool is_link = env->ops->link_read(env->arg, path, probe, sizeof(probe)) >= 0;
        int kind = is_link ? 0 : env->ops->file_open(env->arg, path);
        if (kind == -EISDIR) {
            r = mkdir(to, 0755) < 0 && errno != EEXIST ? -errno : 0;
            if (r == 0)
                r = expand_dir(env, path, dir, depth + 1);
        } else {
            r = expand_entry(env, path, to);
        }
    }
    gtel_arena_done(&arena);
    return r;
}

int expand_tree(const struct gtel_env *env, const char *dir)
{
    return expand_dir(env, "", dir, 0);
}
