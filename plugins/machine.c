/* SPDX-License-Identifier: MIT */
/* The machine that a front end reads: what is the same on all systems. */
#include "machine.h"

#include "base/error.h"
#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* A helper starts elsewhere, so it gets the whole path. */
static int open_root(struct gtel_machine *machine, const struct gtel_machine_setup *setup,
                     char *problem, size_t size)
{
    char *path = NULL;
    int r = gtel_machine_resolve(setup->root, &path);
    if (r < 0)
        return r;
    bool is_whole = gtel_str_copy(machine->root, sizeof(machine->root), gtel_str_of(path));
    free(path);
    machine->helper_args[0] = "--root";
    machine->helper_args[1] = machine->root;
    return is_whole ? gtel_machine_open_path(machine, setup, problem, size) : -ENAMETOOLONG;
}

int gtel_machine_open(struct gtel_machine *machine, const struct gtel_machine_setup *setup,
                      char *error, size_t size)
{
    char problem[256] = "";
    bool is_here = !setup->root || !setup->root[0];
    *machine = (struct gtel_machine){0};
    int r = is_here ? gtel_machine_open_here(machine)
                    : open_root(machine, setup, problem, sizeof(problem));
    if (r < 0)
        (void)snprintf(error, size, "%.150s: %s", is_here ? "/" : setup->root,
                       problem[0] ? problem : gtel_error_text(r));
    return r;
}

void gtel_machine_close(struct gtel_machine *machine)
{
    if (machine->close)
        machine->close(machine);
}
