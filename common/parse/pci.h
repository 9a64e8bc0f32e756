/* SPDX-License-Identifier: MIT */
/*
 * PCI addresses. Pure: no allocation, no input or output.
 *
 * The one form used inside is the kernel's: 0000:03:00.0, lower case, four digits of domain (more
 * when the domain is larger).
 */
#ifndef GTEL_PARSE_PCI_H
#define GTEL_PARSE_PCI_H

#include "base/str.h"

struct gtel_pci {
    uint32_t domain;
    uint8_t bus;
    uint8_t device;   /* 0 to 31 */
    uint8_t function; /* 0 to 7 */
};

enum { GTEL_PCI_TEXT_MAX = 20 }; /* bytes of the longest text with its NUL */

/*
 * Parses dddd:bb:dd.f; the domain may have up to eight digits (NVML writes eight) or be missing,
 * and letters may be upper case. 0, -EINVAL.
 */
int gtel_pci_parse(struct gtel_str text, struct gtel_pci *ret);
/*
 * The ids of vendor and device in what Windows calls a PCI device:
 * PCI\VEN_8086&DEV_E20B&SUBSYS_11008086&REV_00\6&1A2B3C4D&0&00080008. 0, -EINVAL.
 */
int gtel_pci_instance_parse(struct gtel_str text, uint16_t ret[2]);
/* Writes the kernel's form into buf of GTEL_PCI_TEXT_MAX bytes. */
void gtel_pci_print(char *buf, const struct gtel_pci *pci);

#endif
