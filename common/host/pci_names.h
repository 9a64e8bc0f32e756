/* SPDX-License-Identifier: MIT */
/*
 * Names of PCI devices from what the machine has: udev's memory of the device, which has the name
 * from the hardware database, else the list pci.ids. Both are files that every user may read; the
 * list is large, so this is for new devices only.
 */
#ifndef GTEL_HOST_PCI_NAMES_H
#define GTEL_HOST_PCI_NAMES_H

#include "host/fs.h"

/*
 * The name of the device with that address and these ids as a user knows it, without the vendor
 * ("Arc A770"), into buf of size bytes. vendor is left away at its front. A market name wins over a
 * code name, and the list over udev's memory, which is not there yet in a young boot: a machine has
 * one name. 1 for a market name, 0 for another, -ENOENT when none is known, or -ENOMEM.
 */
int gtel_pci_name(const struct gtel_env *env, const char *key, const uint16_t ids[2],
                  struct gtel_str vendor, char *buf, size_t size);
/*
 * The same of an AMD GPU in that directory, without "AMD", from what knows more of it: its board,
 * else libdrm's list, which has the revision too ("Radeon RX 7900 XTX"). Touches no hardware
 * (kernel: amdgpu/amdgpu_fru_eeprom.c keeps the text). 0 or -ENOENT.
 */
int gtel_amd_name(const struct gtel_env *env, const char *device_path, uint16_t device, char *buf,
                  size_t size);

#endif
