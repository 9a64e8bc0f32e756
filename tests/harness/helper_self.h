/* SPDX-License-Identifier: MIT */
/* What a helper that a test plays does with itself; its way is that of lanes/peer.h. */
#ifndef GTEL_HARNESS_HELPER_SELF_H
#define GTEL_HARNESS_HELPER_SELF_H

#include <stdbool.h>

enum { HELPER_SELF_WAY = 3 };

/* Before the first byte either way; it goes on hearing signals. */
bool helper_self_open(void);
/* Closes its way, and lives on. */
void helper_self_hang_up(void);
/* Ends like one that was killed. */
void helper_self_kill(void);
/* From now on it hears nothing that can be ignored. */
void helper_self_deafen(void);
/* The program of that path runs instead, with these words and on this way. Returns its status. */
int helper_self_become(const char *path, char **argv);

#endif
