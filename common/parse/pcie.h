/* SPDX-License-Identifier: MIT */
/*
 * Texts of a PCIe device in sysfs: its link (current_link_speed, current_link_width), and its error
 * counts (aer_dev_correctable, aer_dev_nonfatal and aer_dev_fatal: lines of NAME and number with
 * their sum at the end). Pure: no allocation, no input or output.
 *
 * Forms of speed seen: "16.0 GT/s PCIe", "2.5 GT/s", "Unknown", "Unknown speed"; widths "16", "0".
 * Error counts are made from counters in the kernel's memory (kernel: drivers/pci/pcie/aer.c,
 * aer_stats_dev_attr), so that reading them does not reach the device.
 */
#ifndef GTEL_PARSE_PCIE_H
#define GTEL_PARSE_PCIE_H

#include "base/str.h"

/* The generation: 1 for 2.5 GT/s to 6 for 64. 0, or -ERANGE for a speed that no generation has. */
int gtel_link_gen(double gts, uint64_t *ret_gen);
/* The same of a text. Also -ENODATA for an unknown link, -EINVAL for text of another form. */
int gtel_link_speed(struct gtel_str text, uint64_t *ret_gen);
/* Lanes. 0, -ENODATA for 0, 63 or 255 (unknown), -EINVAL, -ERANGE for a width that no link has. */
int gtel_link_width(struct gtel_str text, uint64_t *ret_lanes);
/*
 * The sum: the number of the last line whose name begins with "TOTAL_ERR_". 0, -ENODATA when there
 * is none, -EINVAL or -ERANGE.
 */
int gtel_aer_total(struct gtel_str text, uint64_t *ret);

#endif
