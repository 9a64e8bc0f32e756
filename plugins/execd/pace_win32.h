/* SPDX-License-Identifier: MIT */
/* What the output reports to the pace under Windows. */
#ifndef GTEL_EXECD_PACE_WIN32_H
#define GTEL_EXECD_PACE_WIN32_H

#include <stdbool.h>

/* Around each write that may wait for its reader: after the end of the input, for a second only;
 * then the process ends. */
void gtel_pace_writing(bool is_writing);

#endif
