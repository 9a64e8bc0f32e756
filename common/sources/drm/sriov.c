/* SPDX-License-Identifier: MIT */
/* Virtual functions of PCI devices. */
#include "sources/drm/sriov.h"

#include <errno.h>

int gtel_sriov_look(const struct gtel_env *env, const char *device_path, struct gtel_str key,
                    char *pf, uint32_t *ret_number)
{
    char buf[64];
    struct gtel_str name;
    struct gtel_pci pci;
    int r = gtel_fs_link_name(env, GTEL_FS_AT("%s/physfn", device_path), buf, sizeof(buf), &name);
    if (r < 0)
        return r == -EINVAL || r == -ENOTDIR ? -ENOENT : r;
    if (gtel_pci_parse(name, &pci) < 0)
        return -ENOENT;
    for (uint32_t i = 0; i < GTEL_SRIOV_MAX; i++) {
        r = gtel_fs_link_name(env, GTEL_FS_AT("%s/physfn/virtfn%u", device_path, (unsigned)i), buf,
                              sizeof(buf), &name);
        if (r < 0)
            return r;
        if (!gtel_str_eq(name, key))
            continue;
        gtel_pci_print(pf, &pci);
        *ret_number = i + 1;
        return 0;
    }
    return -ENOENT;
}
