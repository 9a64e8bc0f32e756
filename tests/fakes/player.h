/* SPDX-License-Identifier: MIT */
/*
 * A shared object with a vendor library's names that answers from the `call` lines of a recorded
 * machine (recording/tree.h). Our program loads it as it loads the real one (env_tree.c), and so
 * can any other program.
 *
 * Which machine: the one that gtel_play was given, or, without that, the one in the file that the
 * variable GTEL_PLAY names, or else the one of GTEL_PLAY_FILE, where it is built with that: under
 * Windows no variable comes to helpers. In a file the machine stands still at time 0, and a pause
 * of the caller of 0.7 s begins its next second.
 *
 * What a call does before it answers:
 *
 *     call double NAME = crash       it ends the process
 *     call double NAME = hang 2500   it returns after so many milliseconds
 *     call double NAME = spin 2500   the same, at the full speed of a processor
 *     call double NAME = say TEXT    it writes the text and a newline to standard error
 *     call double NAME = leak 8      it keeps so many MiB
 *     call double NAME = stale       from then on all calls fail, in this process
 *     call double NAME = fail CODE N its N-th call answers that, and `fail CODE N M` M of them
 *     call NAME = !nosymbol          the library lacks the call; a program that does not open it
 *                                    through env_tree.c gets an error code
 *
 * The calls have no context argument, so there is one machine per process: whoever comes with
 * another one gets -EBUSY.
 */
#ifndef GTEL_TESTS_FAKES_PLAYER_H
#define GTEL_TESTS_FAKES_PLAYER_H

#include "base/compiler.h"
#include "recording/tree.h"

/* Starts to answer from the tree, which outlives that; NULL ends one start. */
GTEL_EXPORT int gtel_play(const struct gtel_tree *tree);

/*
 * Asks fn before each call: when it returns true, the call fails and does nothing else. NULL:
 * nobody is asked any more.
 */
GTEL_EXPORT void gtel_play_watch(bool (*fn)(void *arg, const char *name), void *arg);

/* ---- what a library's own files define ---- */

struct gtel_player_codes {
    uint32_t unknown; /* of a call after `stale` */
    uint32_t missing; /* of a call that the library lacks */
};
extern const struct gtel_player_codes gtel_player_codes;
/* Forgets what callers have opened; called before the first start. */
void gtel_player_reset(void);

/* ---- what they use ---- */

/* The present machine, or NULL. */
const struct gtel_tree *gtel_player_tree(void);
/* Before each exported call. 0, or the code that the call answers. */
uint32_t gtel_player_begin(const char *name);
/* After each: a pause of the caller begins here. */
void gtel_player_end(void);
void gtel_player_nap(uint64_t ms);

#endif
