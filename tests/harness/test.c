/* SPDX-License-Identifier: MIT */
/* Counts the checks of all files of a test. */
#include "harness/test.h"

#include <stdatomic.h>
#include <stdlib.h>

static atomic_int checks; /* checks may run in several threads */
static atomic_int failures;
const char *test_label = "";
static unsigned long part;
static unsigned long parts = 1;
static unsigned long pieces;

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

void test_split(int *argc, char **argv)
{
    unsigned long of = *argc > 2 ? strtoul(argv[*argc - 1], NULL, 10) : 0;
    if (of == 0)
        return;
    part = strtoul(argv[*argc - 2], NULL, 10) - 1;
    parts = of;
    *argc -= 2;
}

bool test_is_mine(void)
{
    return pieces++ % parts == part;
}

int test_result(void)
{
    bool is_idle = part >= parts || (parts > 1 && part >= pieces);
    printf("%d checks, %d failed%s\n", checks, failures, is_idle ? "; this part did nothing" : "");
    return failures > 0 || checks == 0 || is_idle;
}
