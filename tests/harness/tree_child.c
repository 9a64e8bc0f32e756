/* SPDX-License-Identifier: MIT */
/* Programs of a recorded machine. */
#include "harness/tree_child.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct gtel_env_ops *played;
static const struct gtel_tree *tree;
static char running[512];   /* the program and its arguments; empty: none */
static const char *written; /* the line that was read last */

static int line_now(void *arg, const char *key, struct gtel_str *ret)
{
    (void)played->monotonic_ns(arg); /* takes the machine to the present time */
    return gtel_tree_call(tree, gtel_str_of(key), ret);
}

static int child_start(void *arg, const char *const *args)
{
    char key[sizeof(running)] = "";
    struct gtel_str line;
    size_t n = 0;
    for (size_t i = 0; args[i] && n < sizeof(key); i++)
        n += (size_t)snprintf(key + n, sizeof(key) - n, "%s%s", i > 0 ? " " : "", args[i]);
    if (line_now(arg, key, &line) < 0)
        return -EOPNOTSUPP;
    if (running[0] != '\0')
        return -EBUSY;
    memcpy(running, key, sizeof(key));
    written = NULL;
    return 0;
}

static int64_t child_read(void *arg, int handle, void *buf, size_t n, uint64_t wait_ns)
{
    struct gtel_str line;
    (void)handle;
    (void)wait_ns;
    int r = line_now(arg, running, &line);
    if (r < 0 || gtel_str_starts(line, GTEL_STR("!")))
        return 0;
    if (line.p == written || line.n >= n)
        return -EAGAIN;
    written = line.p;
    memcpy(buf, line.p, line.n);
    ((char *)buf)[line.n] = '\n';
    return (int64_t)line.n + 1;
}

static int child_end(void *arg, int handle)
{
    struct gtel_str line;
    uint64_t status;
    (void)handle;
    int r = line_now(arg, running, &line);
    running[0] = '\0';
    bool has_ended = r == 0 && gtel_str_u64(gtel_str_skip(line, 1), &status) == 0;
    return has_ended ? (int)status : 256 + 9; /* killed */
}

void tree_child_play(struct gtel_env *env, const struct gtel_tree *of, struct gtel_env_ops *ops)
{
    played = env->ops;
    tree = of;
    running[0] = '\0';
    *ops = *env->ops;
    ops->child_start = child_start;
    ops->child_read = child_read;
    ops->child_end = child_end;
    env->ops = ops;
}
