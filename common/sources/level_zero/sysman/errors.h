/* SPDX-License-Identifier: MIT */
/* Resets of the whole GPU. */
#ifndef GTEL_SOURCES_LEVEL_ZERO_SYSMAN_ERRORS_H
#define GTEL_SOURCES_LEVEL_ZERO_SYSMAN_ERRORS_H

#include "sources/level_zero/sysman/ask.h"

/* Adds their sum, of the sets of errors that were just read. */
void gtel_sysman_add_resets(const struct gtel_sysman_pass *pass);

#endif
