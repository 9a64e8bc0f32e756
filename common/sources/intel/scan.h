/* SPDX-License-Identifier: MIT */
/* Lists what the GTs of an Intel GPU have to read: the form in which i915 and xe show them. */
#ifndef GTEL_SOURCES_INTEL_SCAN_H
#define GTEL_SOURCES_INTEL_SCAN_H

#include "sources/drm/attr_list.h"

/* Which GT it is. */
struct gtel_intel_gt {
    struct gtel_str domain; /* "graphics", "media" */
    struct gtel_str gt;
    struct gtel_str tile; /* empty on a GPU of one tile */
};

/* Adds n files below dir. */
void gtel_intel_add_files(struct gtel_attr_list *list, const struct gtel_intel_gt *gt,
                          const char *dir, const struct gtel_attr_file *files, size_t n);
/* Adds every file of dir that begins with prefix as a reason, and the status file. */
void gtel_intel_add_throttle(struct gtel_attr_list *list, const struct gtel_intel_gt *gt,
                             const char *dir, struct gtel_str prefix, struct gtel_str status);

#endif
