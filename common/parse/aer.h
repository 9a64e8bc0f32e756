/* SPDX-License-Identifier: MIT */
/*
 * The error counts of a PCIe device: aer_dev_correctable, aer_dev_nonfatal and aer_dev_fatal in
 * sysfs, lines of NAME and number with their sum at the end. Pure: no allocation, no input or
 * output.
 *
 * The files are made from counters in the kernel's memory (kernel: drivers/pci/pcie/aer.c,
 * aer_stats_dev_attr), so that reading them does not reach the device.
 */
#ifndef GTEL_PARSE_AER_H
#define GTEL_PARSE_AER_H

#include "base/str.h"

/*
 * The number of the last line that begins with that name ("TOTAL_ERR_COR"). 0, -ENODATA when there
 * is none, -EINVAL or -ERANGE.
 */
int gtel_aer_total(struct gtel_str text, struct gtel_str name, uint64_t *ret);

#endif
