/* SPDX-License-Identifier: MIT */
/* Vendor libraries of a recorded machine. */
#include "harness/tree_library.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MACHINES = 4 }; /* that a process has at a time, and some more */

static struct machine {
    void *arg; /* of the env */
    const struct gtel_tree *tree;
    const char *folder;
} machines[MACHINES];
static size_t last;                         /* the machine that came last */
static const struct gtel_env_ops *tree_ops; /* of every env of a recorded machine */
static struct gtel_env_ops ops;

/* That of an env, at the present time. */
static const struct machine *machine_of(void *arg)
{
    size_t i = 0;
    (void)tree_ops->monotonic_ns(arg);
    while (machines[i].arg != arg && i < MACHINES - 1)
        i++;
    return &machines[i];
}

static int give(void *lib, const struct gtel_tree *tree)
{
    int (*fn)(const struct gtel_tree *tree);
    void *address = gtel_env_real_lib_symbol(lib, "gtel_play");
    memcpy(&fn, &address, sizeof(fn));
    return fn ? fn(tree) : -ENOSYS;
}

static int open_library(const struct machine *machine, const char *name, void **ret)
{
    char path[512];
    int n = snprintf(path, sizeof(path), "%s/%s", machine->folder, name);
    int r = n > 0 && n < (int)sizeof(path) ? gtel_env_real_lib_open(path, ret) : -ENAMETOOLONG;
    if (r < 0)
        return r;
    r = give(*ret, machine->tree);
    if (r < 0)
        gtel_env_real_lib_close(*ret);
    return r;
}

static int lib_open(void *arg, const char *const *names, void **ret)
{
    const struct machine *machine = machine_of(arg);
    for (size_t i = 0; names[i]; i++)
        if (gtel_tree_has_library(machine->tree, gtel_str_of(names[i])))
            return open_library(machine, names[i], ret);
    return -ENOENT;
}

static void *lib_symbol(void *arg, void *lib, const char *name)
{
    struct gtel_str text;
    bool is_missing = gtel_tree_call(machine_of(arg)->tree, gtel_str_of(name), &text) == 0 &&
                      gtel_str_eq(text, GTEL_STR("!nosymbol"));
    return is_missing ? NULL : gtel_env_real_lib_symbol(lib, name);
}

static void lib_close(void *arg, void *lib)
{
    (void)arg;
    (void)give(lib, NULL);
    gtel_env_real_lib_close(lib);
}

void tree_library_play(struct gtel_env *env, const struct gtel_tree *tree, const char *folder)
{
    size_t i = 0;
    while (i < MACHINES && machines[i].arg != env->arg)
        i++;
    if (i == MACHINES)
        i = last = (last + 1) % MACHINES;
    machines[i] = (struct machine){env->arg, tree, folder};
    if (env->ops != &ops)
        tree_ops = env->ops;
    ops = *tree_ops;
    ops.lib_open = lib_open;
    ops.lib_symbol = lib_symbol;
    ops.lib_close = lib_close;
    env->ops = &ops;
}
