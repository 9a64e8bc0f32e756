/* SPDX-License-Identifier: MIT */
/* The release of a kernel. */
#include "parse/release.h"

#include <errno.h>

/* Cuts the digits at the front off *text. */
static int take_number(struct gtel_str *text, uint32_t *ret)
{
    uint64_t value;
    size_t n = 0;
    while (n < text->n && text->p[n] >= '0' && text->p[n] <= '9')
        n++;
    if (gtel_str_u64((struct gtel_str){text->p, n}, &value) < 0 || value > UINT32_MAX)
        return -EINVAL;
    *ret = (uint32_t)value;
    *text = gtel_str_skip(*text, n);
    return 0;
}

int gtel_release_parse(struct gtel_str text, struct gtel_release *ret)
{
    struct gtel_release release;
    int r = take_number(&text, &release.major);
    if (r < 0 || !gtel_str_starts(text, GTEL_STR(".")))
        return -EINVAL;
    text = gtel_str_skip(text, 1);
    r = take_number(&text, &release.minor);
    if (r == 0)
        *ret = release;
    return r;
}

bool gtel_release_is_at_least(const struct gtel_release *release, uint32_t major, uint32_t minor)
{
    return release->major > major || (release->major == major && release->minor >= minor);
}
