/* SPDX-License-Identifier: MIT */
/* The parts of a GPU by family: lists of handles, and what each of them is. */
#ifndef GTEL_SOURCES_LEVEL_ZERO_SYSMAN_PARTS_H
#define GTEL_SOURCES_LEVEL_ZERO_SYSMAN_PARTS_H

#include "sources/level_zero/sysman/ask.h"

/* Lists the parts of a family where that is due. True: there are new ones to be asked. */
bool gtel_sysman_list_parts(struct gtel_sysman_pass *pass, enum gtel_sysman_family family);
/* The call that lists a family, for messages. */
const char *gtel_sysman_list_name(enum gtel_sysman_family family);

#endif
