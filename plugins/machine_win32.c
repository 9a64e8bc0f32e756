/* SPDX-License-Identifier: MIT */
/* The machine that a front end reads under Windows: this one or a recorded one. */
#include "machine.h"

#include "host/system_win32.h"

#include <errno.h>
#include <stdlib.h>

static void close_env(struct gtel_machine *machine)
{
    gtel_env_win32_done(&machine->env);
}

int gtel_machine_open_here(struct gtel_machine *machine)
{
    machine->close = close_env;
    return gtel_env_win32_init(&machine->env);
}

int gtel_machine_resolve(const char *root, char **ret)
{
    wchar_t *wide = malloc(GTEL_WIN32_PATH_MAX * sizeof(*wide));
    int r = wide ? gtel_win32_path(root, wide) : -ENOMEM;
    *ret = r == 0 ? gtel_win32_utf8(wide) : NULL;
    free(wide);
    return r == 0 && !*ret ? -ENOMEM : r;
}

int gtel_machine_open_path(struct gtel_machine *machine, const struct gtel_machine_setup *setup,
                           char *problem, size_t size)
{
    return gtel_machine_play(machine, setup, problem, size);
}
