/* SPDX-License-Identifier: MIT */
/* The capabilities of a process. */
#include "parse/capabilities.h"

#include <errno.h>

int gtel_capabilities_parse(struct gtel_str status, uint64_t *ret)
{
    static const struct gtel_str key = GTEL_STR_INIT("CapEff:");
    struct gtel_str line;
    while (gtel_str_line(&status, &line))
        if (gtel_str_starts(line, key))
            return gtel_str_hex(gtel_str_trim(gtel_str_skip(line, key.n)), ret);
    return -ENODATA;
}
