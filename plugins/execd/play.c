/* SPDX-License-Identifier: MIT */
/* The program plays recorded machines. */
#include "machine.h"

int gtel_machine_play(struct gtel_machine *machine, const struct gtel_machine_setup *setup,
                      char *problem, size_t size)
{
    return gtel_recorded_open(machine, setup, problem, size);
}
