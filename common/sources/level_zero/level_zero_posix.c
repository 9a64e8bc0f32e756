/* SPDX-License-Identifier: MIT */
/* The loader of Level Zero where libraries are shared objects. */
#include "sources/level_zero/level_zero.h"

#include <stdlib.h>

const char *const gtel_level_zero_names[] = {
    "libze_loader.so.1",
    "/usr/local/lib/libze_loader.so.1",
    "/run/opengl-driver/lib/libze_loader.so.1", /* NixOS */
    "libze_loader.so",                          /* where there is nothing else */
    NULL,
};

bool gtel_level_zero_switch_on(const char *variable)
{
    return setenv(variable, "1", 1) == 0;
}
