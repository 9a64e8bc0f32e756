/* SPDX-License-Identifier: MIT */
/*
 * Checks for the tests; no framework. A failed check prints where and what, is counted, and the
 * test goes on; main returns test_result().
 */
#ifndef GTEL_TESTS_HARNESS_TEST_H
#define GTEL_TESTS_HARNESS_TEST_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

extern const char *test_label; /* set it in a table's loop: it is printed with a failure */

/* Counts a check, in any file of a test and in any thread. */
void test_note(bool is_ok, const char *file, int line, const char *what);
bool test_has_failed(void);
/*
 * A long test is run in parts beside each other, each with the words PART PARTS, from 1, at the end
 * of its command line: test_split reads and removes them. test_is_mine, asked before each piece of
 * work in the same order, says whether this part does it. Without the words one part does all.
 */
void test_split(int *argc, char **argv);
bool test_is_mine(void);
/* For main to return: 0 when there were checks, all were right, and a part had work. */
int test_result(void);

/* Here, so that analyzers see what holds after `if (!CHECK(pointer)) return`. Returns is_ok. */
static inline bool test_report(bool is_ok, const char *file, int line, const char *what)
{
    test_note(is_ok, file, line, what);
    return is_ok;
}

#define CHECK(cond) test_report(cond, __FILE__, __LINE__, #cond)

#define CHECK_INT(got, want)                                                                       \
    do {                                                                                           \
        int64_t got_ = (int64_t)(got);                                                             \
        int64_t want_ = (int64_t)(want);                                                           \
        if (!test_report(got_ == want_, __FILE__, __LINE__, #got " == " #want))                    \
            printf("    got %" PRId64 ", want %" PRId64 "\n", got_, want_);                        \
    } while (0)

/* Within tolerance, both ends included. */
#define CHECK_NEAR(got, want, tolerance)                                                           \
    do {                                                                                           \
        double got_ = (got);                                                                       \
        double want_ = (want);                                                                     \
        double off_ = got_ > want_ ? got_ - want_ : want_ - got_;                                  \
        if (!test_report(off_ <= (tolerance), __FILE__, __LINE__, #got " near " #want))            \
            printf("    got %.17g, want %.17g\n", got_, want_);                                    \
    } while (0)

/* got: struct gtel_str; want: a string literal or char pointer. */
#define CHECK_STR(got, want)                                                                       \
    do {                                                                                           \
        struct gtel_str got_ = (got);                                                              \
        struct gtel_str want_ = gtel_str_of(want);                                                 \
        if (!test_report(gtel_str_eq(got_, want_), __FILE__, __LINE__, #got " == " #want))         \
            printf("    got  '%.*s'\n    want '%.*s'\n", GTEL_STR_ARG(got_), GTEL_STR_ARG(want_)); \
    } while (0)

#endif
