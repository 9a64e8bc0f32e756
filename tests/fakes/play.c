/* SPDX-License-Identifier: MIT */
/*
 * Recorded machines with their vendor libraries, tools and stall samples, for the program and the
 * plugins alike. A helper reports the memory that it really has, so that a library can make it
 * grow.
 */
#include "machine.h"

#include "harness/tree_child.h"
#include "harness/tree_library.h"
#include "harness/tree_stall.h"

#include <limits.h>
#include <string.h>

enum {
    OWN_MEMORY = INT_MAX - 1
}; /* the handle of the helper's own statm, which the tree never gives */

static struct {
    struct gtel_env real;
    int memory; /* handle there */
    const struct gtel_env_ops *played;
    struct gtel_env_ops ops;
} helper;

static int file_open(void *arg, const char *path)
{
    if (strcmp(path, "proc/self/statm") != 0)
        return helper.played->file_open(arg, path);
    helper.memory = helper.real.ops->file_open(helper.real.arg, path);
    return helper.memory < 0 ? helper.memory : OWN_MEMORY;
}

static int64_t file_read(void *arg, int handle, void *buf, size_t n)
{
    if (handle != OWN_MEMORY)
        return helper.played->file_read(arg, handle, buf, n);
    return helper.real.ops->file_read(helper.real.arg, helper.memory, buf, n);
}

static void file_close(void *arg, int handle)
{
    if (handle != OWN_MEMORY)
        helper.played->file_close(arg, handle);
    else
        helper.real.ops->file_close(helper.real.arg, helper.memory);
}

/* Keeps an env of the real machine until the process ends. */
static int add_own_memory(struct gtel_env *env)
{
#ifdef _WIN32
    int r = gtel_env_win32_init(&helper.real);
#else
    int r = gtel_env_posix_init("/", &helper.real);
#endif
    if (r < 0)
        return r;
    helper.played = env->ops;
    helper.ops = *env->ops;
    helper.ops.file_open = file_open;
    helper.ops.file_read = file_read;
    helper.ops.file_close = file_close;
    env->ops = &helper.ops;
    env->page_size = helper.real.page_size;
    return 0;
}

int gtel_machine_play(struct gtel_machine *machine, const struct gtel_machine_setup *setup,
                      char *problem, size_t size)
{
    static struct gtel_env_ops ops;
    bool is_helper = setup->epoch_ns > 0;
    int r = gtel_recorded_open(machine, setup, problem, size);
    if (r < 0)
        return r;
    tree_library_play(&machine->env, machine->tree, GTEL_PLAYED);
    tree_child_play(&machine->env, machine->tree, &ops);
    tree_stall_play(&machine->env, machine->tree);
    return is_helper ? add_own_memory(&machine->env) : 0;
}
