/* SPDX-License-Identifier: MIT */
/*
 * Since which Linux version the drivers of Intel GPUs report what, for `gtel doctor`.
 *
 * The rows are in support.def; the documents print all of them. Here are only those that name the
 * families of cards which have a value.
 */
#ifndef GTEL_TABLES_SUPPORT_H
#define GTEL_TABLES_SUPPORT_H

#include "base/str.h"
#include "tables/intel_names.h"

/*
 * The first Linux version, "6.12; and conditions", in which a driver ("i915", "xe") reports a
 * measurement ("gpu_fan") of cards of that family; "any", or NULL: never, or the table does not
 * say. A constant.
 */
const char *gtel_support_since(struct gtel_str driver, struct gtel_str measurement,
                               enum gtel_intel_family family);

#endif
