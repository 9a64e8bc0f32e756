/* SPDX-License-Identifier: MIT */
/* What is known of Intel GPUs by PCI device id. */
#include "tables/intel_names.h"

#include "base/compiler.h"

/*
 * Families by include/drm/intel/pciids.h of the kernel (INTEL_ADLS_IDS, INTEL_ADLP_IDS,
 * INTEL_DG2_IDS, INTEL_MTL_IDS, INTEL_LNL_IDS, INTEL_BMG_IDS, INTEL_PVC_IDS); market names as
 * pci.ids has them (parse/pci_ids.h).
 */
static const struct {
    uint16_t id;
    const char *name;
} names[] = {
    {0x4680, "Intel UHD Graphics 770"},
    {0x4692, "Intel UHD Graphics 730"},
    {0x46a6, "Intel Alder Lake-P GT2 Iris Xe Graphics"},
    {0x5690, "Intel Arc A770M"},
    {0x5691, "Intel Arc A730M"},
    {0x5692, "Intel Arc A550M"},
    {0x5693, "Intel Arc A370M"},
    {0x5694, "Intel Arc A350M"},
    {0x5696, "Intel Arc A570M"},
    {0x5697, "Intel Arc A530M"},
    {0x56a0, "Intel Arc A770"},
    {0x56a1, "Intel Arc A750"},
    {0x56a2, "Intel Arc A580"},
    {0x56a5, "Intel Arc A380"},
    {0x56a6, "Intel Arc A310"},
    {0x56b0, "Intel Arc Pro A30M"},
    {0x56b1, "Intel Arc Pro A40/A50"},
    {0x56b3, "Intel Arc Pro A60"},
    {0x56c0, "Intel Data Center GPU Flex 170"},
    {0x56c1, "Intel Data Center GPU Flex 140"},
    {0x7d55, "Intel Meteor Lake-P Arc Graphics"},
    {0x64a0, "Intel Arc Graphics 130V / 140V"},
    {0x0bd5, "Intel Data Center GPU Max 1550"},
    {0x0bda, "Intel Data Center GPU Max 1100"},
    {0xe20b, "Intel Arc B580"},
    {0xe20c, "Intel Arc B570"},
    {0xe211, "Intel Arc Pro B60"},
    {0xe212, "Intel Arc Pro B50"},
};

/*
 * Platforms of include/drm/intel/pciids.h (7.x). The ids of a platform lie together; a range may
 * hold numbers that no device has.
 */
static const struct {
    uint16_t first;
    uint16_t last;
    const char *name;
} platforms[] = {
    {0x0102, 0x0126, "Intel Sandy Bridge"},  {0x0152, 0x016a, "Intel Ivy Bridge"},
    {0x0402, 0x042e, "Intel Haswell"},       {0x0a02, 0x0a2e, "Intel Haswell"},
    {0x0a84, 0x0a84, "Intel Apollo Lake"},   {0x0b69, 0x0b6e, "Intel Ponte Vecchio"},
    {0x0bd4, 0x0be5, "Intel Ponte Vecchio"}, {0x0c02, 0x0c2e, "Intel Haswell"},
    {0x0d02, 0x0d2e, "Intel Haswell"},       {0x0f30, 0x0f33, "Intel Bay Trail"},
    {0x1602, 0x163e, "Intel Broadwell"},     {0x1902, 0x193d, "Intel Skylake"},
    {0x1a84, 0x1a85, "Intel Apollo Lake"},   {0x22b0, 0x22b3, "Intel Cherry Trail"},
    {0x3184, 0x3185, "Intel Gemini Lake"},   {0x3e90, 0x3e9c, "Intel Coffee Lake"},
    {0x3ea0, 0x3ea4, "Intel Whiskey Lake"},  {0x3ea5, 0x3ea9, "Intel Coffee Lake"},
    {0x4541, 0x4571, "Intel Elkhart Lake"},  {0x4626, 0x462a, "Intel Alder Lake-P"},
    {0x4680, 0x4693, "Intel Alder Lake-S"},  {0x46a0, 0x46c3, "Intel Alder Lake-P"},
    {0x46d0, 0x46d4, "Intel Alder Lake-N"},  {0x4905, 0x4909, "Intel DG1"},
    {0x4c80, 0x4c9a, "Intel Rocket Lake"},   {0x4e51, 0x4e71, "Intel Jasper Lake"},
    {0x5690, 0x56bf, "Intel DG2"},           {0x56c0, 0x56c2, "Intel ATS-M"},
    {0x5902, 0x593b, "Intel Kaby Lake"},     {0x5a40, 0x5a5c, "Intel Cannon Lake"},
    {0x5a84, 0x5a85, "Intel Apollo Lake"},   {0x6420, 0x6420, "Intel Lunar Lake"},
    {0x64a0, 0x64b0, "Intel Lunar Lake"},    {0x674c, 0x6750, "Intel Crescent Island"},
    {0x7d40, 0x7d40, "Intel Meteor Lake"},   {0x7d41, 0x7d41, "Intel Arrow Lake"},
    {0x7d45, 0x7d45, "Intel Meteor Lake"},   {0x7d51, 0x7d51, "Intel Arrow Lake"},
    {0x7d55, 0x7d60, "Intel Meteor Lake"},   {0x7d67, 0x7d67, "Intel Arrow Lake"},
    {0x7dd1, 0x7dd1, "Intel Arrow Lake"},    {0x7dd5, 0x7dd5, "Intel Meteor Lake"},
    {0x87c0, 0x87ca, "Intel Amber Lake"},    {0x8a50, 0x8a71, "Intel Ice Lake"},
    {0x9a40, 0x9af8, "Intel Tiger Lake"},    {0x9b21, 0x9bf6, "Intel Comet Lake"},
    {0xa720, 0xa721, "Intel Raptor Lake-P"}, {0xa780, 0xa78b, "Intel Raptor Lake-S"},
    {0xa7a0, 0xa7ad, "Intel Raptor Lake-P"}, {0xb080, 0xb0b0, "Intel Panther Lake"},
    {0xb640, 0xb640, "Intel Arrow Lake"},    {0xd740, 0xd74b, "Intel Nova Lake-S"},
    {0xd750, 0xd75f, "Intel Nova Lake-P"},   {0xe202, 0xe223, "Intel Battlemage"},
    {0xfd80, 0xfd81, "Intel Wildcat Lake"},
};

const char *gtel_intel_name(uint16_t device_id)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(names); i++)
        if (names[i].id == device_id)
            return names[i].name;
    return NULL;
}

const char *gtel_intel_code_name(uint16_t device_id)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(platforms); i++)
        if (device_id >= platforms[i].first && device_id <= platforms[i].last)
            return platforms[i].name;
    return NULL;
}

enum gtel_intel_family gtel_intel_family(uint16_t device_id)
{
    static const struct {
        uint16_t first;
        uint16_t last;
        enum gtel_intel_family family;
    } families[] = {
        {0x0b69, 0x0b6e, GTEL_INTEL_PONTE_VECCHIO},
        {0x0bd4, 0x0be5, GTEL_INTEL_PONTE_VECCHIO},
        {0x4905, 0x4909, GTEL_INTEL_DG1},
        {0x5690, 0x56bf, GTEL_INTEL_DG2},
        {0x56c0, 0x56c2, GTEL_INTEL_FLEX},
        {0xe202, 0xe223, GTEL_INTEL_BATTLEMAGE},
        {0x674c, 0x6750, GTEL_INTEL_CRESCENT_ISLAND},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(families); i++)
        if (device_id >= families[i].first && device_id <= families[i].last)
            return families[i].family;
    return GTEL_INTEL_OTHER;
}
