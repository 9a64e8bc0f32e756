/* SPDX-License-Identifier: MIT */
/* The loader of Level Zero under Windows. */
#include "sources/level_zero/level_zero.h"

#include <stdlib.h>

/*
 * Graphics drivers put it into the folder of the system, under this name (issues 142 and 495 of
 * oneapi-src/level-zero). The second is never there: recorded machines play one by that name.
 */
const char *const gtel_level_zero_names[] = {"ze_loader.dll", "libze_loader.so.1", NULL};

/* For the C library of this program and, through it, for the process. */
bool gtel_level_zero_switch_on(const char *variable)
{
    return _putenv_s(variable, "1") == 0;
}
