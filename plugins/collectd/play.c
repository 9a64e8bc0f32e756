/* SPDX-License-Identifier: MIT */
/* The plugins play no recorded machines. */
#include "machine.h"

#include <errno.h>
#include <stdio.h>

int gtel_machine_play(struct gtel_machine *machine, const struct gtel_machine_setup *setup,
                      char *problem, size_t size)
{
    (void)machine;
    (void)setup;
    (void)snprintf(problem, size, "not a directory; recorded machines are for the program gtel");
    return -ENOTDIR;
}
