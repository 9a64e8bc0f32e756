/* SPDX-License-Identifier: MIT */
/* The machine that a front end reads: this one, a directory or a recorded one. */
#include "machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static void close_env(struct gtel_machine *machine)
{
    gtel_env_posix_done(&machine->env);
}

static int open_env(struct gtel_machine *machine, const char *root)
{
    machine->close = close_env;
    return gtel_env_posix_init(root, &machine->env);
}

int gtel_machine_open_here(struct gtel_machine *machine)
{
    return open_env(machine, "/");
}

int gtel_machine_resolve(const char *root, char **ret)
{
    *ret = realpath(root, NULL);
    return *ret ? 0 : -errno;
}

int gtel_machine_open_path(struct gtel_machine *machine, const struct gtel_machine_setup *setup,
                           char *problem, size_t size)
{
    struct stat st;
    if (stat(machine->root, &st) < 0)
        return -errno;
    if (!S_ISDIR(st.st_mode))
        return gtel_machine_play(machine, setup, problem, size);
    if (setup->is_stepped) {
        (void)snprintf(problem, size, "--stepped needs a recorded machine: --root FILE.tree");
        return -ENOTSUP;
    }
    int r = open_env(machine, machine->root);
    if (r == -ENOSYS)
        (void)snprintf(problem, size,
                       "a folder needs Linux 5.6 or newer, and openat2 allowed; a recorded machine "
                       "(--root FILE.tree) works everywhere");
    return r;
}
