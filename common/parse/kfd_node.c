/* SPDX-License-Identifier: MIT */
/* The properties of a node of KFD's topology. */
#include "parse/kfd_node.h"

#include <errno.h>

/* The number behind a name at the beginning of a line. 0, -ENODATA, -EINVAL or -ERANGE. */
static int find_number(struct gtel_str text, struct gtel_str name, uint64_t *ret)
{
    struct gtel_str line;
    struct gtel_str word;
    while (gtel_str_line(&text, &line))
        if (gtel_str_word(&line, &word) && gtel_str_eq(word, name))
            return gtel_str_word(&line, &word) ? gtel_str_u64(word, ret) : -EINVAL;
    return -ENODATA;
}

/*
 * The bus in bits 15 to 8, the device in 7 to 3, the function in 2 to 0; from Linux 6.9 on, the
 * number of a partition in 31 to 28 (kernel: kfd_topology_add_device). The domain has a line since
 * 5.5, and was 0 before.
 */
int gtel_kfd_node_pci(struct gtel_str text, struct gtel_pci *ret)
{
    uint64_t domain = 0;
    uint64_t place = 0;
    int r = find_number(text, GTEL_STR("location_id"), &place);
    if (r < 0)
        return r;
    if (place == 0)
        return -ENODATA;
    r = find_number(text, GTEL_STR("domain"), &domain);
    if (r < 0 && r != -ENODATA)
        return r;
    if (domain > UINT32_MAX || place > UINT32_MAX)
        return -ERANGE;
    *ret = (struct gtel_pci){.domain = (uint32_t)domain,
                             .bus = (uint8_t)(place >> 8),
                             .device = place >> 3 & 0x1f,
                             .function = place & 7};
    return 0;
}

int gtel_kfd_node_render(struct gtel_str text, uint32_t *ret)
{
    uint64_t number;
    int r = find_number(text, GTEL_STR("drm_render_minor"), &number);
    if (r < 0)
        return r;
    if (number == 0 || number > UINT32_MAX)
        return number == 0 ? -ENODATA : -ERANGE;
    *ret = (uint32_t)number;
    return 0;
}

/* Heaps of a GPU: all of it is visible to the processor, or not (uapi: kfd_sysfs.h). */
int gtel_kfd_bank_bytes(struct gtel_str text, uint64_t *ret)
{
    enum { PUBLIC = 1, PRIVATE = 2 };
    uint64_t heap;
    uint64_t bytes;
    int r = find_number(text, GTEL_STR("heap_type"), &heap);
    if (r == 0)
        r = find_number(text, GTEL_STR("size_in_bytes"), &bytes);
    if (r < 0)
        return r;
    if ((heap != PUBLIC && heap != PRIVATE) || bytes == 0)
        return -ENODATA;
    *ret = bytes;
    return 0;
}
