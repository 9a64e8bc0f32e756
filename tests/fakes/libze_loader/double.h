/* SPDX-License-Identifier: MIT */
/*
 * A shared object with the Level Zero loader's names that plays a recorded machine
 * (recording/replay_zes.h), for programs that are not ours and for our own as they are shipped.
 *
 * Which machine: that of the tree that gtel_double_play was given, or, without that, that of the
 * file which the variable GTEL_DOUBLE names, by a clock that starts at the first call.
 *
 * Beyond what the replay knows it answers the calls that pyzes knows and we never make. Those that
 * set something succeed and change nothing that is read:
 *
 *     call zesDeviceEccConfigurable 0 = 1
 *     call zesDeviceSetEccState 0 = CURRENT PENDING ACTION
 *     call zesFrequencyGetAvailableClocks 0 0 = 300 350 …
 *     call zesFrequencySetRange 0 0 =
 *     call zesPowerSetLimitsExt 0 0 =
 *     call zesPowerGetUsage 0 0 = INSTANT AVERAGE   after 100 ms, as with the real driver
 *
 * What a call does beside answering:
 *
 *     call double NAME = crash       it ends the process
 *     call double NAME = hang 2500   it returns after so many milliseconds
 *     call double NAME = spin 2500   the same, at the full speed of a processor
 *     call double NAME = say TEXT    it writes the text and a newline to standard error
 *     call double NAME = leak 8      it keeps so many MiB
 *     call double NAME = stale       from then on all calls fail with UNKNOWN, in this process
 *     call double NAME = fail CODE N its N-th call answers that, and `fail CODE N M` M of them
 */
#ifndef GTEL_TESTS_FAKES_DOUBLE_H
#define GTEL_TESTS_FAKES_DOUBLE_H

#include "base/compiler.h"
#include "recording/tree.h"

/* tree outlives the library, or is taken back with NULL. */
GTEL_EXPORT int gtel_double_play(const struct gtel_tree *tree);

#endif
