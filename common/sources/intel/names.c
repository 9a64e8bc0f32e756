/* SPDX-License-Identifier: MIT */
/* Names of Intel GPUs by PCI device id. */
#include "sources/intel/names.h"

#include "base/compiler.h"

/*
 * Families by include/drm/intel/pciids.h of the kernel (INTEL_ADLS_IDS, INTEL_ADLP_IDS,
 * INTEL_DG2_IDS, INTEL_MTL_IDS, INTEL_LNL_IDS, INTEL_BMG_IDS, INTEL_PVC_IDS); market names of cards
 * as in pci.ids.
 */
static const struct {
    uint16_t id;
    const char *name;
} names[] = {
    {0x4680, "Intel Alder Lake-S UHD Graphics 770"},
    {0x4692, "Intel Alder Lake-S UHD Graphics 730"},
    {0x46a6, "Intel Alder Lake-P Iris Xe Graphics"},
    {0x56a0, "Intel Arc A770"},
    {0x56a1, "Intel Arc A750"},
    {0x56a2, "Intel Arc A580"},
    {0x56a5, "Intel Arc A380"},
    {0x56a6, "Intel Arc A310"},
    {0x56c0, "Intel Data Center GPU Flex 170"},
    {0x56c1, "Intel Data Center GPU Flex 140"},
    {0x7d55, "Intel Meteor Lake-P Arc Graphics"},
    {0x64a0, "Intel Lunar Lake Arc Graphics 130V/140V"},
    {0x0bd5, "Intel Data Center GPU Max 1550"},
    {0xe20b, "Intel Arc B580"},
    {0xe20c, "Intel Arc B570"},
};

const char *gtel_intel_name(uint16_t device_id)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(names); i++)
        if (names[i].id == device_id)
            return names[i].name;
    return NULL;
}
