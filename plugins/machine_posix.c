/* SPDX-License-Identifier: MIT */
/* The machine that a front end reads. */
#include "machine.h"

#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A helper starts elsewhere, so it gets the whole path. */
static int resolve(struct gtel_machine *machine, const char *root, struct stat *ret)
{
    char *path = realpath(root, NULL);
    if (!path)
        return -errno;
    bool is_whole = gtel_str_copy(machine->root, sizeof(machine->root), gtel_str_of(path));
    free(path);
    machine->helper_args[0] = "--root";
    machine->helper_args[1] = machine->root;
    if (!is_whole)
        return -ENAMETOOLONG;
    return stat(machine->root, ret) < 0 ? -errno : 0;
}

static int open_root(struct gtel_machine *machine, const struct gtel_machine_setup *setup,
                     char *problem, size_t size)
{
    struct stat st;
    int r = resolve(machine, setup->root, &st);
    if (r < 0)
        return r;
    if (!S_ISDIR(st.st_mode))
        return gtel_machine_play(machine, setup, problem, size);
    if (!setup->is_stepped)
        return gtel_env_posix_init(machine->root, &machine->env);
    (void)snprintf(problem, size, "--stepped needs a recorded machine: --root FILE.tree");
    return -ENOTSUP;
}

int gtel_machine_open(struct gtel_machine *machine, const struct gtel_machine_setup *setup,
                      char *error, size_t size)
{
    char problem[256] = "";
    bool is_here = !setup->root || !setup->root[0];
    *machine = (struct gtel_machine){0};
    int r = is_here ? gtel_env_posix_init("/", &machine->env)
                    : open_root(machine, setup, problem, sizeof(problem));
    if (r < 0) {
        (void)snprintf(error, size, "%.150s: %s", is_here ? "/" : setup->root,
                       problem[0] ? problem : gtel_error_text(r));
        return r;
    }
    return 0;
}

void gtel_machine_close(struct gtel_machine *machine)
{
    if (!machine->env.ops)
        return;
    if (machine->tree)
        machine->close_tree(machine);
    else
        gtel_env_posix_done(&machine->env);
}
