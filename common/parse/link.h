/* SPDX-License-Identifier: MIT */
/*
 * The text of a PCIe link in sysfs (current_link_speed, current_link_width). Pure: no allocation,
 * no input or output.
 *
 * Forms seen: "16.0 GT/s PCIe", "2.5 GT/s", "Unknown", "Unknown speed"; widths "16", "0".
 */
#ifndef GTEL_PARSE_LINK_H
#define GTEL_PARSE_LINK_H

#include "base/str.h"

/*
 * The generation (1 for 2.5 GT/s to 6 for 64 GT/s). 0, -ENODATA for an unknown link, -EINVAL for
 * text of another form, -ERANGE for a speed that no generation has.
 */
int gtel_link_speed(struct gtel_str text, uint64_t *ret_gen);
/* Lanes. 0, -ENODATA for 0, 63 or 255 (unknown), -EINVAL, -ERANGE for a width that no link has. */
int gtel_link_width(struct gtel_str text, uint64_t *ret_lanes);

#endif
