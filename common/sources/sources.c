/* SPDX-License-Identifier: MIT */
/* The ordered table of all sources. */
#include "sources/source.h"

extern const struct gtel_source gtel_source_nvml;

/* In order of preference: the first source to report a reading wins. */
const struct gtel_source *const gtel_sources[] = {
#ifdef GTEL_HAVE_NVML
    &gtel_source_nvml,
#endif
    NULL,
};

int gtel_source_find(struct gtel_str name)
{
    for (int i = 0; gtel_sources[i]; i++)
        if (gtel_str_eq(name, gtel_str_of(gtel_sources[i]->name)))
            return i;
    return -1;
}
