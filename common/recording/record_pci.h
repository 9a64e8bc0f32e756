/* SPDX-License-Identifier: MIT */
/*
 * The list of all PCI devices (parse/pci_ids.h), reduced to those that the recorded machine has:
 * the whole list has 1.5 MiB, and each distribution has it.
 */
#ifndef GTEL_RECORDING_RECORD_PCI_H
#define GTEL_RECORDING_RECORD_PCI_H

#include "base/buf.h"

/* A zeroed struct knows of no devices. */
struct gtel_record_pci {
    unsigned char device[(UINT16_MAX + 1) / 8]; /* bits by id, of any vendor */
};

/* Adds the id of the device in what was read of a file: sysfs has it in `uevent` and `device`. */
void gtel_record_pci_learn(struct gtel_record_pci *pci, struct gtel_str path, struct gtel_str text);
/* Whether the file of that path is the list. */
bool gtel_record_pci_is_list(struct gtel_str path);
/* Appends the lines of the known devices and of their vendors, without subsystems. */
void gtel_record_pci_reduce(const struct gtel_record_pci *pci, struct gtel_str text,
                            struct gtel_buf *out);

#endif
