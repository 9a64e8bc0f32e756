/* SPDX-License-Identifier: MIT */
/* The machine that a front end reads under Windows: this one or a recorded one. */
#include "machine.h"

#include "base/error.h"
#include "base/str.h"
#include "host/system_win32.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A helper starts elsewhere, so it gets the whole path. */
static int open_root(struct gtel_machine *machine, const struct gtel_machine_setup *setup,
                     char *problem, size_t size)
{
    wchar_t *wide = malloc(GTEL_WIN32_PATH_MAX * sizeof(*wide));
    int r = wide ? gtel_win32_path(setup->root, wide) : -ENOMEM;
    char *path = r == 0 ? gtel_win32_utf8(wide) : NULL;
    free(wide);
    if (!path)
        return r < 0 ? r : -ENOMEM;
    bool is_whole = gtel_str_copy(machine->root, sizeof(machine->root), gtel_str_of(path));
    free(path);
    machine->helper_args[0] = "--root";
    machine->helper_args[1] = machine->root;
    return is_whole ? gtel_machine_play(machine, setup, problem, size) : -ENAMETOOLONG;
}

int gtel_machine_open(struct gtel_machine *machine, const struct gtel_machine_setup *setup,
                      char *error, size_t size)
{
    char problem[256] = "";
    bool is_here = !setup->root || !setup->root[0];
    *machine = (struct gtel_machine){0};
    int r = is_here ? gtel_env_win32_init(&machine->env)
                    : open_root(machine, setup, problem, sizeof(problem));
    if (r < 0)
        (void)snprintf(error, size, "%.150s: %s", is_here ? "/" : setup->root,
                       problem[0] ? problem : gtel_error_text(r));
    return r;
}

void gtel_machine_close(struct gtel_machine *machine)
{
    if (!machine->env.ops)
        return;
    if (machine->tree)
        machine->close_tree(machine);
    else
        gtel_env_win32_done(&machine->env);
}
