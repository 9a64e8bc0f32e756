/* SPDX-License-Identifier: MIT */
/* The recorded machines of tests/fixtures, as texts. */
#ifndef GTEL_TESTS_HARNESS_FIXTURES_H
#define GTEL_TESTS_HARNESS_FIXTURES_H

#include <stddef.h>

enum { MACHINES_MAX = 256, MACHINE_NAME_MAX = 64 };

/* The names of all recorded machines, sorted. Returns their number; 0 when they cannot be listed.
 */
size_t machine_names(char names[MACHINES_MAX][MACHINE_NAME_MAX]);
/* The text of tests/fixtures/NAME.tree; freed by the caller. NULL when it is not there. */
char *machine_text(const char *name);

#endif
