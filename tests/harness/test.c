/* SPDX-License-Identifier: MIT */
/* Counts the checks of all files of a test. */
#include "harness/test.h"

#include <stdatomic.h>

static atomic_int checks; /* checks may run in several threads */
static atomic_int failures;
const char *test_label = "";

void test_note(bool is_ok, const char *file, int line, const char *what)
{
    checks++;
    if (!is_ok) {
        failures++;
        printf("%s:%d: failed%s%s: %s\n", file, line, test_label[0] ? " in " : "", test_label,
               what);
    }
}

bool test_has_failed(void)
{
    return failures > 0;
}

int test_result(void)
{
    printf("%d checks, %d failed\n", checks, failures);
    return failures > 0 || checks == 0;
}
