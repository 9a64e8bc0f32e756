/* SPDX-License-Identifier: MIT */
/* PCI addresses. */
#include "parse/pci.h"

#include <errno.h>
#include <stdio.h>

/* A hexadecimal field of 1 to max digits, not above limit. */
static int field(struct gtel_str s, size_t max, uint64_t limit, uint64_t *ret)
{
    uint64_t v;
    if (s.n == 0 || s.n > max || gtel_str_find(s, 'x') < s.n)
        return -EINVAL;
    int r = gtel_str_hex(s, &v);
    if (r < 0 || v > limit)
        return -EINVAL;
    *ret = v;
    return 0;
}

int gtel_pci_parse(struct gtel_str text, struct gtel_pci *ret)
{
    struct gtel_str part[3];
    size_t n = 0;
    size_t dot = gtel_str_find(text, '.');
    if (dot == text.n)
        return -EINVAL;
    struct gtel_str rest = {text.p, dot};
    while (n < 3 && gtel_str_part(&rest, ':', &part[n]))
        n++;
    if (n < 2 || rest.n > 0)
        return -EINVAL;
    uint64_t domain = 0;
    uint64_t bus;
    uint64_t device;
    uint64_t function;
    int r = n == 3 ? field(part[0], 8, UINT32_MAX, &domain) : 0;
    if (r < 0 || field(part[n - 2], 2, 0xff, &bus) < 0 ||
        field(part[n - 1], 2, 0x1f, &device) < 0 ||
        field(gtel_str_skip(text, dot + 1), 1, 7, &function) < 0)
        return -EINVAL;
    *ret = (struct gtel_pci){(uint32_t)domain, (uint8_t)bus, (uint8_t)device, (uint8_t)function};
    return 0;
}

int gtel_pci_instance_parse(struct gtel_str text, uint16_t ret[2])
{
    static const struct gtel_str before[2] = {GTEL_STR_INIT("PCI\\VEN_"), GTEL_STR_INIT("&DEV_")};
    uint64_t id[2];
    for (size_t i = 0; i < 2; i++) {
        if (!gtel_str_starts(text, before[i]))
            return -EINVAL;
        text = gtel_str_skip(text, before[i].n);
        if (text.n < 4 || field((struct gtel_str){text.p, 4}, 4, 0xffff, &id[i]) < 0)
            return -EINVAL;
        text = gtel_str_skip(text, 4);
    }
    if (text.n > 0 && text.p[0] != '&' && text.p[0] != '\\')
        return -EINVAL;
    ret[0] = (uint16_t)id[0];
    ret[1] = (uint16_t)id[1];
    return 0;
}

void gtel_pci_print(char *buf, const struct gtel_pci *pci)
{
    (void)snprintf(buf, GTEL_PCI_TEXT_MAX, "%04x:%02x:%02x.%x", pci->domain, pci->bus, pci->device,
                   pci->function);
}
