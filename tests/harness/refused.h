/* SPDX-License-Identifier: MIT */
/*
 * What a test does when this machine refuses what it needs: it says so where it cannot be missed,
 * and fails where the machine ought to allow it.
 */
#ifndef GTEL_TESTS_HARNESS_REFUSED_H
#define GTEL_TESTS_HARNESS_REFUSED_H

/*
 * Reports that a part of the test proves nothing here: what was asked for, and the errno
 * (positive). A failed check as root where nothing may be omitted: with CI=true, or
 * GTEL_REQUIRE_ALL set, as contrib/check does.
 */
void test_refused(const char *what, int error);

#endif
