/* SPDX-License-Identifier: MIT */
/* A device's uevent text. */
#include "parse/uevent.h"

#include <errno.h>

int gtel_uevent_get(struct gtel_str text, struct gtel_str key, struct gtel_str *ret)
{
    struct gtel_str line;
    while (gtel_str_line(&text, &line)) {
        size_t at = gtel_str_find(line, '=');
        if (at == line.n || !gtel_str_eq((struct gtel_str){line.p, at}, key))
            continue;
        *ret = gtel_str_trim(gtel_str_skip(line, at + 1));
        return 0;
    }
    return -ENOENT;
}

/* Exactly four hexadecimal digits. */
static int id(struct gtel_str s, uint16_t *ret)
{
    uint64_t v;
    if (s.n != 4 || gtel_str_find(s, 'x') < s.n || gtel_str_find(s, 'X') < s.n)
        return -EINVAL;
    int r = gtel_str_hex(s, &v);
    if (r < 0)
        return -EINVAL;
    *ret = (uint16_t)v;
    return 0;
}

int gtel_uevent_pci_id(struct gtel_str value, uint16_t *ret_vendor, uint16_t *ret_device)
{
    size_t colon = gtel_str_find(value, ':');
    uint16_t vendor;
    uint16_t device;
    if (colon == value.n || id((struct gtel_str){value.p, colon}, &vendor) < 0 ||
        id(gtel_str_skip(value, colon + 1), &device) < 0)
        return -EINVAL;
    *ret_vendor = vendor;
    *ret_device = device;
    return 0;
}
