/* SPDX-License-Identifier: MIT */
/*
 * A device's uevent text: lines of KEY=value. Pure: no allocation, no input or output.
 *
 * The kernel writes it from its own copy of the device's identity; reading it does not reach the
 * hardware.
 */
#ifndef GTEL_PARSE_UEVENT_H
#define GTEL_PARSE_UEVENT_H

#include "base/str.h"

/*
 * The value of the first line with exactly that key; it may be empty. Lines without `=` are passed
 * over. Returns 0 or -ENOENT. *ret borrows from text.
 */
int gtel_uevent_get(struct gtel_str text, struct gtel_str key, struct gtel_str *ret);
/*
 * The PCI ids of a value as "8086:56A0": four hexadecimal digits, a colon, four more. 0 or -EINVAL.
 */
int gtel_uevent_pci_id(struct gtel_str value, uint16_t *ret_vendor, uint16_t *ret_device);

#endif
