/* SPDX-License-Identifier: MIT */
/* A recorded machine as that of a front end. */
#ifndef GTEL_RECORDED_H
#define GTEL_RECORDED_H

#include "machine.h"

/* As gtel_machine_play, without the vendor libraries of the machine. */
int gtel_recorded_open(struct gtel_machine *machine, const struct gtel_machine_setup *setup,
                       char *problem, size_t size);

#endif
