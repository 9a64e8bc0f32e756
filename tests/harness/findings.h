/* SPDX-License-Identifier: MIT */
/* What a source says that is missing, word by word. */
#ifndef GTEL_TESTS_HARNESS_FINDINGS_H
#define GTEL_TESTS_HARNESS_FINDINGS_H

#include "pipeline/finding.h"

/*
 * Checks that there are just these findings, in this order, each as "WHAT: ERROR: WHY: FIX" with
 * the error as a positive number. says has at most max of them and ends before that with a NULL.
 */
void check_findings(const struct gtel_findings *list, const char *const *says, size_t max);

#endif
