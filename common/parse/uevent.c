/* SPDX-License-Identifier: MIT */
/* What the kernel says of a device. */
#include "parse/uevent.h"

#include <errno.h>

int gtel_uevent_get(struct gtel_str text, struct gtel_str key, struct gtel_str *ret)
{
    return gtel_str_value(text, key, '=', ret) ? 0 : -ENOENT;
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

int gtel_uevent_parse(struct gtel_str message, struct gtel_uevent *ret)
{
    struct gtel_str rest = message;
    struct gtel_str head;
    if (!gtel_str_part(&rest, '\0', &head))
        return -EINVAL;
    size_t at = gtel_str_find(head, '@');
    struct gtel_str devpath = gtel_str_skip(head, at + 1);
    if (at == 0 || at == head.n || !gtel_str_starts(devpath, GTEL_STR("/")))
        return -EINVAL;
    *ret = (struct gtel_uevent){{head.p, at}, devpath, rest};
    return 0;
}

int gtel_uevent_value(const struct gtel_uevent *event, struct gtel_str key, struct gtel_str *ret)
{
    struct gtel_str rest = event->values;
    struct gtel_str part;
    while (gtel_str_part(&rest, '\0', &part)) {
        size_t at = gtel_str_find(part, '=');
        if (at == part.n || !gtel_str_eq((struct gtel_str){part.p, at}, key))
            continue;
        *ret = gtel_str_skip(part, at + 1);
        return 0;
    }
    return -ENOENT;
}

int gtel_uevent_card(struct gtel_str devpath, struct gtel_str *ret_device)
{
    struct gtel_str last[3] = {GTEL_STR_NONE, GTEL_STR_NONE, GTEL_STR_NONE};
    struct gtel_str rest = devpath;
    struct gtel_str part;
    uint64_t number;
    while (gtel_str_part(&rest, '/', &part)) {
        last[0] = last[1];
        last[1] = last[2];
        last[2] = part;
    }
    if (last[0].n == 0 || !gtel_str_eq(last[1], GTEL_STR("drm")) ||
        !gtel_str_starts(last[2], GTEL_STR("card")) ||
        gtel_str_u64(gtel_str_skip(last[2], 4), &number) < 0)
        return -ENOENT;
    *ret_device = last[0];
    return 0;
}
