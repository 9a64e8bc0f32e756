/* SPDX-License-Identifier: MIT */
/*
 * Names of PCI devices: the list pci.ids, the readable part of a name from there, and libdrm's list
 * of AMD's. Pure: no allocation, no input or output.
 *
 * pci.ids has lines of a vendor (`8086  Intel Corporation`), below it its devices, indented by a
 * tab, below these subsystems, indented by two; then classes, which begin with a C (pci.ids(5)).
 */
#ifndef GTEL_PARSE_PCI_IDS_H
#define GTEL_PARSE_PCI_IDS_H

#include "base/str.h"

/* The name of a device, as "DG2 [Arc A770]"; borrows from text. 0 or -ENOENT. */
int gtel_pci_ids_find(struct gtel_str text, uint16_t vendor, uint16_t device, struct gtel_str *ret);
/*
 * The name of an AMD GPU from libdrm's amdgpu.ids, lines "744C,\tC8,\tAMD Radeon RX 7900 XTX" of
 * device, revision and name; borrows from text. 0 or -ENOENT.
 */
int gtel_amd_ids_find(struct gtel_str text, uint16_t device, uint16_t revision,
                      struct gtel_str *ret);
/*
 * What of such a name a user knows, into buf, cut to size bytes with its NUL: what stands in
 * brackets when it has a number ("Arc A770"), else what stands before them too ("TigerLake-LP GT2
 * Iris Xe Graphics"); a name without brackets as it is. The vendor word is left away at the front
 * of both. 1 for a name with brackets, in which the market's name stands; 0 for one without, which
 * can be a code name ("AlderLake-S GT1"); -EINVAL when nothing is left.
 */
int gtel_pci_market_name(struct gtel_str name, struct gtel_str vendor, char *buf, size_t size);

#endif
